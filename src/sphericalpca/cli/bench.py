"""``sphericalpca bench``: speed on this machine, on the user's own rows."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import click

import sphericalpca
from sphericalpca.cli import console
from sphericalpca.cli.console import COUNT, common_options, examples
from sphericalpca.cli.reading import named, open_files, reading_options
from sphericalpca.cli.tables import print_table

__all__ = ["bench"]

FEATURES = 384  # of generated rows


@click.command(
    short_help="Compare the speed with scikit-learn's TruncatedSVD and PCA.",
    epilog=examples(
        "sphericalpca bench",
        "sphericalpca bench vectors.npy -r 64",
        "sphericalpca bench 'parts/*.parquet' --column embedding -r 128 --rows 50000 --json",
    ),
)
@click.argument("files", metavar="[IN]...", nargs=-1)
@click.option("-r", "--components", type=COUNT, default=64, help="Number of components.")
@click.option("--rows", type=COUNT, default=20_000, help="Use only the first N rows.")
@click.option("--rounds", type=COUNT, default=3, help="Number of fits of each method.")
@reading_options
@common_options("tol", "seed", "json", "quiet")
def bench(files: tuple[str, ...], components: int, rows: int, **options: Any) -> None:
    """Compare the speed of Spherical PCA with scikit-learn's TruncatedSVD and PCA.

    Without IN it uses generated rows that resemble text embeddings.  Rows are loaded into memory
    and scaled to unit length first; the methods are fitted in turn, and medians are printed.  A
    ratio below 1 means that Spherical PCA is faster.  A pass consists of one product with the data
    and one with their transpose.
    """
    X, data = _rows(files, rows, options)
    what = f"{X.shape[0]:,} x {X.shape[1]:,} to {components} components"
    chosen = {"tol": options["tol"], "rounds": options["rounds"], "random_state": options["seed"]}
    shown = console.showing_status(f"Fitting {what} ...", quiet=options["quiet"])
    with console.printing_warnings(), shown:
        laps = sphericalpca.evaluation.race(X, components, **chosen)
    if options["as_json"]:
        found = {"data": data, "n_samples": X.shape[0], "n_features": X.shape[1]}
        found |= {"n_components": components, "methods": [dataclasses.asdict(lap) for lap in laps]}
        click.echo(json.dumps(found))
        return
    console.say(f"{data}: {what}, {X.dtype}.")
    header = ("method", "seconds", "passes", "mean cosine", "our time / its")
    lines = [
        (
            *(lap.method, f"{lap.seconds:.3g}", "" if lap.passes is None else f"{lap.passes:g}"),
            *(f"{lap.mean_cosine:.5f}", f"{lap.ratio:.2f}"),
        )
        for lap in laps
    ]
    print_table(header, lines, numbers=header[1:], spare=("passes",))


def _rows(files: tuple[str, ...], limit: int, options: dict[str, Any]) -> tuple[Any, str]:
    """Load the first rows of the files, or generate rows; with a title for them."""
    if files:
        return sphericalpca.rows.reading.load_rows(open_files(files, options), limit), named(files)
    make = sphericalpca.datasets.make_embeddings
    return make(limit, FEATURES, random_state=options["seed"])[0], "generated rows"
