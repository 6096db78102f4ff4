"""``sphericalpca transform``: reduce the rows of files to unit vectors."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import click

import sphericalpca
from sphericalpca.cli import console, reading
from sphericalpca.cli.console import FILE, common_options, counted, examples, warn, write_line
from sphericalpca.cli.outputs import check_output
from sphericalpca.registry.formats import joined, writable_suffixes

__all__ = ["transform"]


@click.command(
    short_help="Reduce the rows of files to unit vectors.",
    epilog=examples(
        "sphericalpca transform model.safetensors vectors.npy -o small.npy",
        "sphericalpca transform model.safetensors 'parts/*.parquet' -o small.parquet",
        "sphericalpca transform model.safetensors texts.parquet --keep id,title -o small.parquet",
    ),
)
@click.argument("model", type=FILE)
@click.argument("files", metavar="IN...", nargs=-1, required=True)
@console.output_option(f"Output file: {joined(writable_suffixes(), 'or')}.")
@reading.reading_options
@click.option("--name", default="vector", help="Name of the new column of vectors.")
@click.option(
    "--keep", help="Other columns to copy, separated by commas.  Default: all; '' for none."
)
@common_options("force", "json", "quiet")
def transform(
    model: Path, files: tuple[str, ...], output: Path, name: str, keep: str | None, **options: Any
) -> None:
    """Reduce the rows of files to unit vectors.

    Rows are streamed, so memory use does not grow with their number.  If the model was fitted to
    named columns, they are read from Parquet and Arrow files, in any order.  Other columns
    (identifiers, texts) are copied to Parquet and Arrow outputs.
    """
    check_output(output, force=options["force"], reads=[model, *files])
    fitted = reading.load_model(model)
    rows = reading.open_files(files, options, model=fitted)
    chosen: dict[str, Any] = {"name": name, "keep": reading.split_names(keep)}
    shown = reading.showing_rows(rows.shape[0], quiet=options["quiet"])
    with shown as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows without a direction are counted below
        write = sphericalpca.transforming.transform_file
        n_zero = write(fitted, rows, output, watch=watch, **chosen)
    found = {"output": str(output), "n_samples": rows.shape[0]}
    found |= {"n_components": len(fitted.components_), "n_without_direction": n_zero}
    if n_zero:
        are = "row has no direction and is" if n_zero == 1 else "rows have no direction and are"
        warn(f"{n_zero:,} {are} zero in {output}.")
    vectors = counted(rows.shape[0], "unit vector")
    line = f"{output}: {vectors} of {counted(len(fitted.components_), 'number')}."
    write_line(json.dumps(found) if options["as_json"] else line)
