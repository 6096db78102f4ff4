"""``sphericalpca search``: neighbours of queries among codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from sphericalpca.cli import console
from sphericalpca.cli.compress import write_csv
from sphericalpca.cli.console import COUNT, FILE, FOLDER, common_options, counted, examples
from sphericalpca.cli.outputs import check_output
from sphericalpca.cli.reading import open_files, reading_options

__all__ = ["search"]


@click.command(
    short_help="Find the nearest rows of queries among codes.",
    epilog=examples(
        "sphericalpca search codes queries.npy -k 10 -o found.csv",
        "sphericalpca search codes queries.parquet --column embedding -o found.parquet",
    ),
)
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.argument("files", metavar="QUERIES...", nargs=-1, required=True)
@click.option("-k", type=COUNT, default=10, help="Rows to find for each query.")
@click.option("-o", "--output", type=FILE, required=True, help="File to write: .csv or .parquet.")
@reading_options
@common_options("force", "json", "quiet")
def search(folder: Path, files: tuple[str, ...], k: int, output: Path, **options: Any) -> None:
    """Find the rows with the largest cosine to each query, in a folder written by compress.

    Each line of the output is a neighbour: the numbers of query, rank and row, counted from 0, the
    estimated cosine, a 95% interval of the true cosine, and the other columns of the table, if any
    (with an underscore, as in "row_", if a name is taken).
    """
    import numpy as np  # noqa: PLC0415 - slow to import

    from sphericalpca.codec.folder import open_folder  # noqa: PLC0415
    from sphericalpca.exceptions import import_extra  # noqa: PLC0415
    from sphericalpca.files import replacing  # noqa: PLC0415
    from sphericalpca.rows.reading import load_rows  # noqa: PLC0415
    from sphericalpca.transforming import check_width  # noqa: PLC0415

    if output.suffix not in (".csv", ".parquet"):
        wrong = f"{str(output)!r} is not a .csv or .parquet file."
        raise click.BadParameter(wrong, param_hint="'-o'")
    check_output(output, force=options["force"], reads=files)
    codec, codes, table = open_folder(folder)
    source = open_files(files, options, model=codec)
    check_width(codec, source)
    found: Any = codec.search(load_rows(source, source.shape[0]), codes, k, return_interval=True)
    n, k = found.ids.shape
    names = ("query", "rank", "row", "cosine", "lower", "upper")
    numbers = [np.ravel(part).tolist() for part in (*np.indices((n, k)), *found)]
    columns: dict[str, Any] = dict(zip(names, numbers, strict=True))
    if table is not None:
        carried = table.take(columns["row"]).to_pydict()
        columns |= {f"{name}{'_' * (name in names)}": values for name, values in carried.items()}
    with replacing(output) as file:
        if output.suffix == ".csv":
            write_csv(file, columns, zip(*columns.values(), strict=True))
        else:
            wanted = ("A Parquet file", "pyarrow", "files")
            arrow = import_extra("pyarrow", *wanted).table(columns)
            import_extra("pyarrow.parquet", *wanted).write_table(arrow, file)
    facts = {"output": str(output), "n_queries": n, "k": k, "n_samples": len(codes)}
    asked = counted(n, "query", "queries")
    line = f"{output}: {counted(k, 'row')} of {len(codes):,} for each of {asked}."
    console.write_line(json.dumps(facts) if options["as_json"] else line)
