"""``sphericalpca choose``: how many dimensions keep the neighbours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sphericalpca.cli.compress import print_curve
from sphericalpca.cli.console import (
    COUNT,
    FILE,
    Number,
    collecting_warnings,
    common_options,
    counted,
    examples,
    say,
    showing_status,
    warn,
    write_line,
)
from sphericalpca.cli.outputs import check_apart, check_model_output, check_picture
from sphericalpca.cli.reading import open_files, reading_options, tell_of_cut
from sphericalpca.cli.tables import print_table
from sphericalpca.registry.formats import PICTURE_FORMATS, joined

if TYPE_CHECKING:
    from sphericalpca.codec import ByteChoice
    from sphericalpca.dimensions import CurvePoint, DimensionChoice

__all__ = ["choose"]

SHARE = Number(0, 1, min_open=True, max_open=True)
QUERIES = click.IntRange(min=2)


@click.command(
    short_help="Find the bytes and dimensions that keep the neighbours.",
    epilog=examples(
        "sphericalpca choose vectors.npy --recall 0.95 --k 10",
        "sphericalpca choose vectors.npy --recall 0.9 -o model.safetensors --plot curve.png",
        "sphericalpca choose 'parts/*.parquet' --column embedding --largest 512 --json",
    ),
)
@click.argument("files", metavar="IN...", nargs=-1, required=True)
@click.option("--recall", type=SHARE, default=0.95, help="Recall to keep.")
@click.option("--k", type=COUNT, default=10, help="Neighbours of each query.")
@click.option("--queries", type=QUERIES, default=1000, help="Rows to hold out.")
@click.option("--largest", type=COUNT, help="Maximum number of components.")
@click.option("-o", "--output", type=FILE, help="Model file to write, fitted without the queries.")
@click.option("--plot", type=FILE, help=f"Picture of the curve: {joined(PICTURE_FORMATS, 'or')}.")
@reading_options
@common_options("tol", "seed", "force", "json", "quiet")
def choose(files: tuple[str, ...], output: Path | None, plot: Path | None, **options: Any) -> None:
    """Find the fewest bytes, and dimensions, that keep the nearest neighbours by cosine.

    Codes (see "compress"), int8, float16 and float32 come first, by bytes; then dimensions in
    float32.  Some rows are held out as queries, a model is fitted to the others, and the queries'
    nearest rows are compared with those in the full space.  The lower end of the 95 % interval
    of the recall must reach the target.

    The model that -o saves is not fitted to the held-out rows.  To fit to all rows, run
    "sphericalpca fit" with the number of components found here.
    """
    check_apart(output=output, plot=plot)
    if output is not None:
        check_model_output(output, force=options["force"], reads=files)
    if plot is not None:
        check_picture(plot, force=options["force"], reads=files)
    choice, sizes = _choose(files, options)
    if output is not None:
        choice.model.save(output)
    if plot is not None:
        _draw(choice, plot)
    if options["as_json"]:
        click.echo(json.dumps(choice.to_dict() | {"bytes": sizes.to_dict()}))
    else:
        print_curve(sizes)
        _print(choice)
        if output is not None:
            write_line(
                f"{output}: {counted(choice.n_components, 'component')}, fitted to the "
                f"{choice.n_base:,} rows that were not held out as queries."
            )


def _choose(files: tuple[str, ...], options: dict[str, Any]) -> tuple[DimensionChoice, ByteChoice]:
    from sphericalpca.codec import choose_bytes  # noqa: PLC0415 - slow to import
    from sphericalpca.dimensions import choose_components  # noqa: PLC0415 - slow to import

    names = ("recall", "k", "queries", "largest", "tol")
    source = open_files(files, options)
    shown = showing_status("True neighbours ...", quiet=options["quiet"])
    with collecting_warnings() as warned, shown as show:
        common = {name: options[name] for name in ("recall", "k", "queries")}
        sizes = choose_bytes(source, random_state=options["seed"], **common)
        choice = choose_components(
            source,
            random_state=options["seed"],
            progress=None if show is None else lambda point: show(_line(point)),
            **{name: options[name] for name in names},
        )
    tell_of_cut(options["queries"], choice.n_queries)
    for message in warned:
        warn(message)
    return choice, sizes


def _line(point: CurvePoint) -> str:
    return f"{point.n_components} dimensions keep {point.recall:.3f}"


def _print(choice: DimensionChoice) -> None:
    sizes = ("mean cosine", "bytes each", "in all")
    header = ("", "dimensions", "recall", "95 % interval", "SVD", *sizes)
    lines = [
        (
            "*" if point.n_components == choice.n_components else "",
            f"{point.n_components}",
            f"{point.recall:.3f}",
            point.interval,
            f"{point.svd_recall:.3f}" if point.svd_recall == point.svd_recall else "",
            f"{point.mean_cosine:.4f}",
            f"{point.bytes_per_vector:,}",
            _size(point.index_bytes),
        )
        for point in choice.curve
    ]
    print_table(header, lines, numbers=header[1:], spare=("in all", "mean cosine", "SVD"))
    click.echo()
    say(f"{choice}")


def _size(size: float) -> str:
    """Bytes in words: 4.6 MB."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:,.3g} TB"


def _draw(choice: DimensionChoice, path: Path) -> None:
    from sphericalpca.plotting.style import new_figure, save_picture  # noqa: PLC0415

    figure = new_figure((6.4, 4.0))
    choice.plot(ax=figure.add_subplot())
    save_picture(figure, path)
