"""``sphericalpca compress``: a few bytes for each row, in a folder."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sphericalpca.cli import console
from sphericalpca.cli.console import COUNT, FOLDER, common_options, counted, examples, write_line
from sphericalpca.cli.outputs import check_folder
from sphericalpca.cli.reading import open_files, reading_options, showing_rows, split_names
from sphericalpca.cli.tables import print_table

if TYPE_CHECKING:
    from sphericalpca.codec import ByteChoice, BytePoint

__all__ = ["compress", "print_curve", "write_csv"]


@click.command(
    short_help="Encode the rows of files in a few bytes each.",
    epilog=examples(
        "sphericalpca compress vectors.npy --bytes 96 --out codes",
        "sphericalpca compress texts.parquet --column embedding --recall 0.9 --out codes",
        "sphericalpca search codes queries.npy -k 10 -o found.csv",
    ),
)
@click.argument("files", metavar="IN...", nargs=-1, required=True)
@click.option("--bytes", "n_bytes", type=COUNT, help="Bytes of each code.")
@click.option(
    "--recall",
    type=console.Number(0, 1, min_open=True, max_open=True),
    help="Use the fewest bytes that keep this share of the 10 nearest neighbours.",
)
@click.option("--out", type=FOLDER, required=True, help="Folder to write.")
@click.option("--queries", type=click.IntRange(min=2), default=1000, help="Rows to hold out.")
@click.option("--keep", help="Other columns of a table to keep, separated by commas; default all.")
@reading_options
@common_options("seed", "force", "json", "quiet")
def compress(
    files: tuple[str, ...], n_bytes: int | None, recall: float | None, out: Path, **options: Any
) -> None:
    """Encode the rows of files in a few bytes each, keeping nearest neighbours.

    The folder contains the codec, the codes (a table if the input is one), checksums, and a program
    that decodes them using only NumPy.
    """
    if (n_bytes is None) == (recall is None):
        raise click.UsageError("Pass either --bytes or --recall.")
    from sphericalpca import SphericalCodec  # noqa: PLC0415 - slow to import
    from sphericalpca.codec import choose_bytes  # noqa: PLC0415
    from sphericalpca.codec.folder import FILES, write_folder  # noqa: PLC0415

    check_folder(out, FILES, force=options["force"])
    source, seed, choice = open_files(files, options), options["seed"], None
    status = console.showing_status("Fitting ...", quiet=options["quiet"])
    with console.printing_warnings(), status as show:
        if n_bytes is None:

            def tell(point: BytePoint) -> None:
                if show is not None:
                    show(f"{point.n_bytes} bytes: {point.recall:.3f}")

            settings = {"queries": options["queries"], "random_state": seed, "progress": tell}
            choice = choose_bytes(source, recall=recall, **settings)
            n_bytes = choice.n_bytes
        codec = SphericalCodec(n_bytes or 1, random_state=seed).fit(source)
    with showing_rows(source.shape[0], quiet=options["quiet"]) as watch:
        keep, then = split_names(options["keep"]), partial(_write_curve, choice)
        zero = write_folder(codec, source, out, keep=keep, then=then, watch=watch)
    if options["as_json"]:
        names = ("n_bytes", "n_components", "distortion", "fingerprint")
        found = {"out": str(out), "n_samples": source.shape[0], "zero_rows": zero}
        found |= {name: getattr(codec, f"{name}_") for name in names}
        click.echo(json.dumps(found | ({"curve": choice.to_dict()} if choice else {})))
        return
    if choice is not None:
        print_curve(choice)
    each = f"{counted(codec.n_bytes_, 'byte')} each in place of {4 * source.shape[1]:,} in float32"
    write_line(f"{out}: {counted(source.shape[0], 'row')} of {each}.")


def print_curve(choice: ByteChoice) -> None:
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


def write_csv(path: Path, header: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """A table of lines, under the names of its columns."""
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def _write_curve(choice: ByteChoice | None, folder: Path) -> None:
    if choice is None:
        return
    write_csv(folder / "curve.csv", choice.curve[0]._fields, choice.curve)
    from sphericalpca.plotting.style import new_figure, save_picture  # noqa: PLC0415

    try:
        figure = new_figure((6.4, 4.0))
    except ImportError:  # without matplotlib there is no picture
        return
    ax = figure.add_subplot()
    for kind in ("codes", "int8", "float16", "float32"):
        _, x, y, low, high, second = zip(*(p for p in choice.curve if p.kind == kind), strict=True)
        ax.plot(x, y, marker="o", label=kind)
        ax.fill_between(x, low, high, alpha=0.2)
        ax.plot(x, second, linestyle=":", color=ax.lines[-1].get_color())
    ax.set(xscale="log", xlabel="bytes", ylim=(0, 1.02))
    ax.set_ylabel(f"recall@{choice.k} (dotted: re-ranked)")
    ax.legend()
    save_picture(figure, folder / "curve.png")
