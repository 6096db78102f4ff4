"""``sphericalpca bench``: how fast it is here, on the user's own rows."""

from __future__ import annotations

import dataclasses
import json
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from sphericalpca.cli.console import examples, open_console, say
from sphericalpca.cli.reading import named, open_files, reading_options
from sphericalpca.cli.tables import print_table
from sphericalpca.cli.wording import SEED, TOLERANCE, telling_warnings

if TYPE_CHECKING:
    from sphericalpca.evaluation import Lap

__all__ = ["bench"]

COUNT = click.IntRange(min=1)
# Of generated rows.
FEATURES = 384


@click.command(
    short_help="Time it beside scikit-learn's TruncatedSVD and PCA.",
    epilog=examples(
        "sphericalpca bench",
        "sphericalpca bench vectors.npy -r 64",
        "sphericalpca bench 'parts/*.parquet' --column embedding -r 128 --rows 50000 --json",
    ),
)
@click.argument("files", metavar="[IN]...", nargs=-1)
@click.option("-r", "--components", type=COUNT, default=64, show_default=True, help="Dimension.")
@click.option(
    "--rows", type=COUNT, default=20_000, show_default=True, help="Take the first so many rows."
)
@click.option("--rounds", type=COUNT, default=3, show_default=True, help="Fits of each method.")
@click.option(
    "--tol",
    type=TOLERANCE,
    default=1e-4,
    show_default=True,
    help="Residual at which ours stops.",
)
@reading_options
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of what is random.")
@click.option("--json", "as_json", is_flag=True, help="Tell the result as JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def bench(files: tuple[str, ...], components: int, rows: int, **options: Any) -> None:
    """Time Spherical PCA beside scikit-learn's TruncatedSVD and PCA, on this machine.

    Without IN on generated rows like those of a text encoder.  Rows are loaded into memory and
    scaled to unit length first; the methods take turns, and medians are told.  A ratio
    below 1 means that Spherical PCA is the faster one.  Passes count reads that make both
    products with the data.
    """
    from sphericalpca.evaluation import race  # noqa: PLC0415 - slow to import

    X, data = _rows(files, rows, options)
    console = open_console(stderr=True)
    quiet = options["quiet"] or not console.is_terminal
    what = f"{X.shape[0]:,} x {X.shape[1]:,} to {components} components"
    shown = nullcontext() if quiet else console.status(f"Fitting {what} ...")
    with telling_warnings(), shown:
        laps = race(
            X,
            components,
            tol=options["tol"],
            rounds=options["rounds"],
            random_state=options["seed"],
        )
    if options["as_json"]:
        found = {"data": data, "n_samples": X.shape[0], "n_features": X.shape[1]}
        found |= {"n_components": components, "methods": [dataclasses.asdict(lap) for lap in laps]}
        click.echo(json.dumps(found))
    else:
        _tell(laps, f"{data}: {what}, {X.dtype}.")


def _rows(files: tuple[str, ...], limit: int, options: dict[str, Any]) -> tuple[Any, str]:
    """The first rows, in memory, and what to call them."""
    if files:
        from sphericalpca.rows.reading import load_rows  # noqa: PLC0415 - slow to import

        return load_rows(open_files(files, options), limit), named(files)
    from sphericalpca.datasets import make_embeddings  # noqa: PLC0415 - slow to import

    return make_embeddings(limit, FEATURES, random_state=options["seed"])[0], "generated rows"


def _tell(laps: list[Lap], title: str) -> None:
    say(title)
    header = ("method", "seconds", "passes", "mean cosine", "our time / its")
    lines = [
        (
            lap.method,
            f"{lap.seconds:.3g}",
            "" if lap.passes is None else f"{lap.passes:g}",
            f"{lap.mean_cosine:.5f}",
            f"{lap.ratio:.2f}",
        )
        for lap in laps
    ]
    print_table(header, lines, numbers=header[1:], spare=("passes",))
