"""``sphericalpca export``: a model where people search."""

from __future__ import annotations

import json
from pathlib import Path

import click

from sphericalpca.cli.console import examples, write_line
from sphericalpca.cli.outputs import check_output
from sphericalpca.cli.reading import load_model

__all__ = ["TARGETS", "export"]

# Those of sphericalpca.export, which is slow to import; a test compares them.
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
    )
)
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--to", "target", type=click.Choice(TARGETS), required=True, help="The target.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="A file; a folder for sentence-transformers.",
)
@click.option("--index", help="For faiss: what is behind the model.  [default: Flat]")
@click.option("--force", is_flag=True, help="Overwrite an existing file, or an older export.")
@click.option("--json", "as_json", is_flag=True, help="Tell the result as JSON.")
def export(
    model: Path, target: str, output: Path, index: str | None, *, force: bool, as_json: bool
) -> None:
    """Write a model for another program.

    A model is one matrix and a normalisation, so the target computes what transform does, up
    to float32 rounding.  For pgvector, Qdrant and LanceDB it is a short text, with the
    operator that suits unit vectors.
    """
    if index is not None and target != "faiss":
        raise click.UsageError(f"--index is for faiss, not for {target}.")
    if output.is_dir() and target != "sentence-transformers":
        raise IsADirectoryError(f"{output} is a folder, but a file is written: choose a name.")
    check_output(output, force=force, reads=[model])
    from sphericalpca.export import export_model  # noqa: PLC0415 - slow to import

    fitted = load_model(model)
    hint = export_model(fitted, output, target, index=index, model_file=str(model), force=force)
    if as_json:
        told = {"model": str(model), "to": target, "output": str(output), "hint": hint}
        click.echo(json.dumps(told))
    else:
        write_line(f"{output}: {hint}")
