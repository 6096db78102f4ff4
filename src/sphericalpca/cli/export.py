"""``sphericalpca export``: a model for another program."""

from __future__ import annotations

import json
from pathlib import Path

import click

import sphericalpca
from sphericalpca.cli.console import Names, common_options, examples, output_option, write_line
from sphericalpca.cli.outputs import check_output
from sphericalpca.cli.reading import load_model
from sphericalpca.exceptions import IsFolderError

__all__ = ["TARGETS", "export"]

# As in sphericalpca.export, which is slow to import; a test compares the two.
TARGETS = (
    *("faiss", "onnx", "sentence-transformers", "npy", "npz", "json"),
    *("pgvector", "qdrant", "lancedb"),
)


@click.command(
    epilog=examples(
        "sphericalpca export model.safetensors --to faiss -o reducer.faiss",
        "sphericalpca export model.safetensors --to faiss --index IVF256,PQ16 -o reducer.faiss",
        "sphericalpca export model.safetensors --to onnx -o reducer.onnx",
        "sphericalpca export model.safetensors --to sentence-transformers -o reducer",
        "sphericalpca export model.safetensors --to pgvector -o items.sql",
        "sphericalpca export codes --to faiss -o codes.faiss    # a folder that compress wrote",
    )
)
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--to", "target", type=Names(TARGETS), required=True, help="Program or format.")
@output_option("Output file; for sentence-transformers, a folder.", click.Path(path_type=Path))
@click.option(
    "--index", help="faiss index factory string to use after the reduction.  [default: Flat]"
)
@common_options("force", "json")
def export(
    model: Path, target: str, output: Path, index: str | None, *, force: bool, as_json: bool
) -> None:
    """Write a model for another program.

    A model is one matrix and a normalisation, so the target computes what transform does, up
    to float32 rounding.  For pgvector, Qdrant and LanceDB the output is a short script that uses
    the operator for unit vectors.
    """
    if index is not None and target != "faiss":
        raise click.UsageError(f"--index is for faiss, not for {target}: leave it out.")
    if output.is_dir() and target != "sentence-transformers":
        raise IsFolderError(f"{output} is a folder", remedy="choose the name of a file")
    check_output(output, force=force, reads=[] if model.is_dir() else [model])
    if model.is_dir():
        hint = _export_codes(model, target, output)
    else:
        names = {"index": index, "model_file": str(model), "force": force}
        hint = sphericalpca.export.export_model(load_model(model), output, target, **names)
    found = {"model": str(model), "to": target, "output": str(output), "hint": hint}
    write_line(json.dumps(found) if as_json else f"{output}: {hint}")


def _export_codes(folder: Path, target: str, output: Path) -> str:
    """The codes in a folder that compress wrote."""
    from sphericalpca.codec.files import open_folder  # noqa: PLC0415 - slow to import

    if target != "faiss":
        raise click.UsageError(f"Codes are exported to faiss only, not to {target}.")
    codec, codes, _ = open_folder(folder)
    index = sphericalpca.codec.codes_to_faiss(codec, codes)
    import faiss  # noqa: PLC0415 - said to be missing above

    sphericalpca.files.write_whole(output, faiss.serialize_index(index).tobytes())
    return "Load it with faiss.read_index; decoded vectors are not scaled to unit length there."
