"""``sphericalpca choose``: how many bytes and dimensions keep the neighbours."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import click

import sphericalpca
from sphericalpca.cli import console
from sphericalpca.cli.compress import print_curve
from sphericalpca.cli.console import COUNT, FILE, SHARE, common_options, counted, examples
from sphericalpca.cli.outputs import check_apart, check_model_output, check_picture
from sphericalpca.cli.reading import open_files, reading_options, tell_of_cut
from sphericalpca.cli.tables import print_table
from sphericalpca.registry.formats import PICTURE_FORMATS, joined

__all__ = ["choose"]


@click.command(
    short_help="Find the bytes and dimensions that keep the neighbours.",
    epilog=examples(
        "sphericalpca choose vectors.npy --recall 0.95 --k 10",
        "sphericalpca choose vectors.npy --recall 0.9 -o model.safetensors --plot curve.png",
        "sphericalpca choose 'parts/*.parquet' --column embedding --largest 512 --json",
    ),
)
@click.argument("files", metavar="IN...", nargs=-1, required=True)
@click.option("--recall", type=SHARE, default=0.95, help="Target recall.")
@click.option("--k", type=COUNT, default=10, help="Number of neighbours of each query.")
@common_options("queries")
@click.option("--largest", type=COUNT, help="Maximum number of components.")
@click.option("-o", "--output", type=FILE, help="Model file to write, fitted without the queries.")
@click.option("--plot", type=FILE, help=f"Picture of the curve: {joined(PICTURE_FORMATS, 'or')}.")
@reading_options
@common_options("tol", "seed", "force", "json", "quiet")
def choose(files: tuple[str, ...], output: Path | None, plot: Path | None, **options: Any) -> None:
    """Find the fewest bytes and the fewest dimensions that keep the nearest neighbours by cosine.

    The first table compares codes (see "compress"), int8, float16 and float32 by their bytes; the
    second compares numbers of dimensions in float32.  Some rows are held out as queries, a model
    is fitted to the others, and the queries' nearest rows are compared with those in the full
    space.  The lower end of the 95 % interval of the recall must reach the target.

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
        style = sphericalpca.plotting.style
        figure = style.new_figure((6.4, 4.0))
        choice.plot(ax=figure.add_subplot())
        style.save_picture(figure, plot)
    if options["as_json"]:
        click.echo(json.dumps(choice.to_dict() | {"bytes": sizes.to_dict()}))
        return
    print_curve(sizes)
    _print(choice)
    if output is not None:
        console.write_line(
            f"{output}: {counted(choice.n_components, 'component')}, fitted to the "
            f"{choice.n_base:,} rows that were not held out as queries."
        )


def _choose(files: tuple[str, ...], options: dict[str, Any]) -> tuple[Any, Any]:
    """Choose the number of dimensions, and the number of bytes."""
    source = open_files(files, options)
    shown = console.showing_status("True neighbours ...", quiet=options["quiet"])
    common = {name: options[name] for name in ("recall", "k", "queries")}
    common["random_state"] = options["seed"]
    with console.collecting_warnings() as warned, shown as show:

        def tell(point: Any) -> None:
            if show is not None:
                show(f"{point.n_components} dimensions keep {point.recall:.3f}")

        sizes = sphericalpca.codec.choose_bytes(source, **common)
        more = {"largest": options["largest"], "tol": options["tol"], "progress": tell}
        choice = sphericalpca.dimensions.choose_components(source, **common, **more)
    tell_of_cut(options["queries"], choice.n_queries)
    console.warn(*warned)
    return choice, sizes


def _print(choice: Any) -> None:
    from rich.filesize import decimal  # noqa: PLC0415 - slow to import

    sizes = ("mean cosine", "bytes each", "in all")
    header = ("", "dimensions", "recall", "95 % interval", "SVD", *sizes)
    lines = [
        (
            "*" if p.n_components == choice.n_components else "",
            *(f"{p.n_components}", f"{p.recall:.3f}", p.interval),
            "" if math.isnan(p.svd_recall) else f"{p.svd_recall:.3f}",
            *(f"{p.mean_cosine:.4f}", f"{p.bytes_per_vector:,}", decimal(p.index_bytes)),
        )
        for p in choice.curve
    ]
    print_table(header, lines, numbers=header[1:], spare=("in all", "mean cosine", "SVD"))
    click.echo()
    console.say(f"{choice}")
