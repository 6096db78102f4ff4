"""``sphericalpca compress`` and ``search``: a few bytes for each row, and neighbours among them."""

from __future__ import annotations

import csv
import itertools
import json
from pathlib import Path
from typing import Any

import click

import sphericalpca
from sphericalpca.cli import console
from sphericalpca.cli.console import FILE, FOLDER, common_options, counted, examples, write_line
from sphericalpca.cli.outputs import check_folder, check_output
from sphericalpca.cli.reading import open_files, reading_options, showing_rows, split_names
from sphericalpca.cli.tables import print_table
from sphericalpca.exceptions import import_extra
from sphericalpca.files import replacing, replacing_folder

__all__ = ["compress", "print_curve", "search"]


@click.command(
    epilog=examples(
        "sphericalpca compress vectors.npy --bytes 96 --out codes",
        "sphericalpca compress texts.parquet --column embedding --recall 0.9 --out codes",
    ),
)
@click.argument("files", metavar="IN...", nargs=-1, required=True)
@click.option("--bytes", "n_bytes", type=console.COUNT, help="Bytes of each code.")
@click.option("--recall", type=console.SHARE, help="Recall@10 to keep with the fewest bytes.")
@click.option("--out", type=FOLDER, required=True, help="Folder to write.")
@common_options("queries")
@click.option("--keep", help="Other columns of a table to keep, separated by commas; default all.")
@reading_options
@common_options("seed", "force", "json", "quiet")
def compress(
    files: tuple[str, ...], n_bytes: int | None, recall: float | None, out: Path, **options: Any
) -> None:
    """Encode the rows of files in a few bytes each.

    Codes keep the nearest neighbours by cosine.  The folder contains the codec, the codes (a table
    if the input is one), checksums, and a program that decodes them using only NumPy.
    """
    if (n_bytes is None) == (recall is None):
        raise click.UsageError("Pass either --bytes or --recall.")
    from sphericalpca.codec import files as room  # noqa: PLC0415 - slow to import

    check_folder(out, room.FILES, force=options["force"])
    source, quiet, choice = open_files(files, options), options["quiet"], None
    seed = options["seed"]
    with replacing_folder(out, room.FILES) as folder:
        with console.printing_warnings(), console.showing_status("Fitting ...", quiet=quiet):
            if recall is not None:
                settings = {"queries": options["queries"], "random_state": seed}
                choice = sphericalpca.codec.choose_bytes(source, recall=recall, **settings)
                n_bytes = choice.n_bytes
                _write_curve(choice, folder)
            codec = sphericalpca.SphericalCodec(n_bytes or 1, random_state=seed).fit(source)
        with showing_rows(source.shape[0], quiet=quiet) as watch:
            found = room.write_folder(codec, source, folder, split_names(options["keep"]), watch)
    if options["as_json"]:
        found = {"out": str(out), **found}
        click.echo(json.dumps(found | ({"curve": choice.to_dict()} if choice else {})))
        return
    if choice is not None:
        print_curve(choice)
    each = f"{counted(codec.n_bytes_, 'byte')} each in place of {4 * source.shape[1]:,} in float32"
    write_line(f"{out}: {counted(source.shape[0], 'row')} of {each}.")


def print_curve(choice: Any) -> None:
    """A table of representations, by bytes."""
    header = ("", "bytes", "as", "recall", "95 % interval", "re-ranked")
    lines = [
        (
            "*" if (point.kind, point.n_bytes) == ("codes", choice.n_bytes) else "",
            *(f"{point.n_bytes:,}", point.kind, f"{point.recall:.3f}"),
            *(f"{point.low:.3f} to {point.high:.3f}", f"{point.reranked:.3f}"),
        )
        for point in choice.curve
    ]
    print_table(header, lines, numbers=("bytes", "recall", "95 % interval", "re-ranked"))
    rest = f"{4 * choice.k} candidates by their full vectors"
    write_line(f"Recall of {choice.k} neighbours; re-ranked: after ranking {rest}.")


def _write_csv(path: Path, header: Any, rows: Any) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def _write_curve(choice: Any, folder: Path) -> None:
    _write_csv(folder / "curve.csv", choice.curve[0]._fields, choice.curve)
    style = sphericalpca.plotting.style
    try:
        ax = style.new_figure((6.4, 4.0)).add_subplot()
    except ImportError:
        return  # without matplotlib only the table
    for kind in sorted({point.kind for point in choice.curve}):
        _, x, y, low, high, second = zip(*(p for p in choice.curve if p.kind == kind), strict=True)
        ax.plot(x, y, marker="o", label=kind)
        ax.fill_between(x, low, high, alpha=0.2)
        ax.plot(x, second, linestyle=":", color=ax.lines[-1].get_color())
    ax.set(xlabel="bytes", ylim=(0, 1.02), ylabel=f"recall@{choice.k} (dotted: re-ranked)")
    style.ticks_at(ax, [b for i in range(20) if ax.dataLim.x0 <= (b := 2**i) <= ax.dataLim.x1])
    ax.legend(loc="lower right")  # where recalls are seldom
    style.save_picture(ax.figure, folder / "curve.png")


@click.command(
    epilog=examples(
        "sphericalpca search codes queries.npy -k 10 -o found.csv",
        "sphericalpca search codes queries.parquet --column embedding -o found.parquet",
    ),
)
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.argument("files", metavar="QUERIES...", nargs=-1, required=True)
@click.option("-k", type=console.COUNT, default=10, help="Rows to find for each query.")
@click.option("-o", "--output", type=FILE, required=True, help="File to write: .csv or .parquet.")
@reading_options
@common_options("force", "json", "quiet")
def search(folder: Path, files: tuple[str, ...], k: int, output: Path, **options: Any) -> None:
    """Find the encoded rows nearest to each query.

    Searches a folder that compress wrote for the rows with the largest cosines.  Each line of the
    output is one neighbour: query, rank and row (numbered from 0), the estimated cosine, a 95%
    interval for the true cosine, and the other columns of the table, if any (with an underscore,
    as in "row_", if a name is taken).
    """
    from sphericalpca.codec.files import open_folder  # noqa: PLC0415

    if output.suffix not in (".csv", ".parquet"):
        wrong = f"{str(output)!r} is not a .csv or .parquet file."
        raise click.BadParameter(wrong, param_hint="'-o'")
    check_output(output, force=options["force"], reads=files)
    codec, codes, table = open_folder(folder)
    source = open_files(files, options, model=codec)
    sphericalpca.transforming.check_width(codec, source)
    queries = sphericalpca.rows.reading.load_rows(source, source.shape[0])
    found: Any = codec.search(queries, codes, k, return_interval=True)
    n, k = found.ids.shape
    columns: dict[str, Any] = {"query": [i for i in range(n) for _ in range(k)]}
    columns["rank"] = [*range(k)] * n
    for name, part in zip(("row", "cosine", "lower", "upper"), found, strict=True):
        columns[name] = part.ravel().tolist()
    if table is not None:
        carried = table.take(columns["row"])
        for name, part in zip(carried.column_names, carried.columns, strict=True):
            free = next(new for i in itertools.count() if (new := name + "_" * i) not in columns)
            columns[free] = part if output.suffix == ".parquet" else part.to_pylist()
    with replacing(output) as file:
        if output.suffix == ".csv":
            _write_csv(file, columns, zip(*columns.values(), strict=True))
        else:
            wanted = ("A Parquet file", "pyarrow", "files")
            arrow = import_extra("pyarrow", *wanted).table(columns)
            import_extra("pyarrow.parquet", *wanted).write_table(arrow, file)
    facts = {"output": str(output), "n_queries": n, "k": k, "n_samples": len(codes)}
    asked = counted(n, "query", "queries")
    line = f"{output}: {counted(k, 'row')} of {len(codes):,} for each of {asked}."
    write_line(json.dumps(facts) if options["as_json"] else line)
