"""``sphericalpca bench``: its speed on this machine, on the user's own rows."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import click

from sphericalpca.cli.console import (
    COUNT,
    common_options,
    examples,
    printing_warnings,
    say,
    showing_status,
)
from sphericalpca.cli.reading import named, open_files, reading_options
from sphericalpca.cli.tables import print_table

if TYPE_CHECKING:
    from sphericalpca.evaluation import Lap

__all__ = ["bench"]

FEATURES = 384  # of generated rows


@click.command(
    short_help="Compare its speed with scikit-learn's TruncatedSVD and PCA.",
    epilog=examples(
        "sphericalpca bench",
        "sphericalpca bench vectors.npy -r 64",
        "sphericalpca bench 'parts/*.parquet' --column embedding -r 128 --rows 50000 --json",
    ),
)
@click.argument("files", metavar="[IN]...", nargs=-1)
@click.option("-r", "--components", type=COUNT, default=64, help="Number of components.")
@click.option("--rows", type=COUNT, default=20_000, help="Use only the first N rows.")
@click.option("--rounds", type=COUNT, default=3, help="Fits of each method.")
@reading_options
@common_options("tol", "seed", "json", "quiet")
def bench(files: tuple[str, ...], components: int, rows: int, **options: Any) -> None:
    """Compare the speed of Spherical PCA with scikit-learn's TruncatedSVD and PCA.

    Without IN it uses generated rows that resemble text embeddings.  Rows are loaded into memory
    and scaled to unit length first; the methods take turns, and medians are printed.  A ratio
    below 1 means that Spherical PCA is faster.  A pass reads the data for both products.
    """
    from sphericalpca.evaluation import race  # noqa: PLC0415 - slow to import

    X, data = _rows(files, rows, options)
    what = f"{X.shape[0]:,} x {X.shape[1]:,} to {components} components"
    chosen = {"tol": options["tol"], "rounds": options["rounds"], "random_state": options["seed"]}
    shown = showing_status(f"Fitting {what} ...", quiet=options["quiet"])
    with printing_warnings(), shown:
        laps = race(X, components, **chosen)
    if options["as_json"]:
        found = {"data": data, "n_samples": X.shape[0], "n_features": X.shape[1]}
        found |= {"n_components": components, "methods": [dataclasses.asdict(lap) for lap in laps]}
        click.echo(json.dumps(found))
    else:
        _print(laps, f"{data}: {what}, {X.dtype}.")


def _rows(files: tuple[str, ...], limit: int, options: dict[str, Any]) -> tuple[Any, str]:
    """The first rows, in memory, and what to call them."""
    if files:
        from sphericalpca.rows.reading import load_rows  # noqa: PLC0415 - slow to import

        return load_rows(open_files(files, options), limit), named(files)
    from sphericalpca.datasets import make_embeddings  # noqa: PLC0415 - slow to import

    return make_embeddings(limit, FEATURES, random_state=options["seed"])[0], "generated rows"


def _print(laps: list[Lap], title: str) -> None:
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
