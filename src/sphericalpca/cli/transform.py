"""``sphericalpca transform``: files in, unit vectors out."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import click

from sphericalpca.cli.console import examples, write_line
from sphericalpca.cli.outputs import check_output
from sphericalpca.cli.reading import (
    load_model,
    open_files,
    reading_options,
    showing_rows,
    split_names,
)
from sphericalpca.cli.wording import counted
from sphericalpca.registry.formats import joined, writable_suffixes

__all__ = ["transform"]


@click.command(
    short_help="Write the unit vectors of the rows of files.",
    epilog=examples(
        "sphericalpca transform model.safetensors vectors.npy -o small.npy",
        "sphericalpca transform model.safetensors 'parts/*.parquet' -o small.parquet",
        "sphericalpca transform model.safetensors texts.parquet --keep id,title -o small.parquet",
    ),
)
@click.argument("model", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("files", metavar="IN...", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help=f"Output file: {joined(writable_suffixes(), 'or')}.",
)
@reading_options
@click.option("--name", default="vector", show_default=True, help="Column of the new vectors.")
@click.option(
    "--keep", help="Other columns to carry over, separated by commas; default: all; '': none."
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@click.option("--json", "as_json", is_flag=True, help="Tell the result as JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def transform(
    model: Path, files: tuple[str, ...], output: Path, name: str, keep: str | None, **options: Any
) -> None:
    """Write the unit vectors that a model makes of the rows of files.

    Rows stream by: memory stays the same however many there are.  If the model was fitted to
    named columns, these are read, wherever they are in a Parquet or Arrow file.  Its other columns
    (identifiers, texts) are carried over to Parquet and Arrow outputs.
    """
    from sphericalpca.transforming import transform_file  # noqa: PLC0415 - slow to import

    check_output(output, force=options["force"], reads=[model, *files])
    fitted = load_model(model)
    rows = open_files(files, options, model=fitted)
    kept = split_names(keep)
    with showing_rows(rows.shape[0], quiet=options["quiet"]) as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows without a direction are told below
        n_zero = transform_file(fitted, rows, output, name=name, keep=kept, watch=watch)
    found = {
        "output": str(output),
        "n_samples": rows.shape[0],
        "n_components": len(fitted.components_),
        "n_without_direction": n_zero,
    }
    if n_zero:
        told = "row has no direction and is" if n_zero == 1 else "rows have no direction and are"
        write_line(f"Warning: {n_zero:,} {told} zero in {output}.", err=True)
    vectors = counted(rows.shape[0], "unit vector")
    line = f"{output}: {vectors} of {counted(len(fitted.components_), 'number')}."
    write_line(json.dumps(found) if options["as_json"] else line)
