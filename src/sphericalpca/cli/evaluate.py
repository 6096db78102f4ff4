"""``sphericalpca evaluate``: compare a model with other methods, on stdout, a page and CSV."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import sphericalpca
from sphericalpca.cli import console
from sphericalpca.cli.compress import print_curve
from sphericalpca.cli.console import FOLDER, common_options, examples
from sphericalpca.cli.info import facts_of
from sphericalpca.cli.outputs import check_folder
from sphericalpca.cli.reading import load_model, named, open_files, reading_options, tell_of_cut
from sphericalpca.exceptions import FeatureNamesWarning, import_extra

__all__ = ["evaluate"]

SIZES = (16, 32, 64, 96, 128, 192)  # bytes of codes; float32, float16 and int8 are added
PAGE, ROWS, NUMBERS = "evaluation.html", "rows.csv", "evaluation.json"


@click.command(
    short_help="Compare a model's neighbours with the true ones.",
    epilog=examples(
        "sphericalpca evaluate model.safetensors vectors.npy",
        "sphericalpca evaluate model.safetensors vectors.npy --out evaluation",
        "sphericalpca evaluate model.safetensors new.npy --out drift --queries 500 --json",
    ),
)
@click.argument("model", metavar="MODEL", type=click.Path(path_type=Path))
@click.argument("files", metavar="IN...", nargs=-1, required=True)
@click.option(
    "--out", type=FOLDER, help="Folder for an HTML page and CSV rows; needs the extra 'pages'."
)
@common_options("queries")
@click.option("--at", default="1,10,100", help="Numbers of neighbours, separated by commas.")
@reading_options
@common_options("seed", "force", "json", "quiet")
def evaluate(model: Path, files: tuple[str, ...], out: Path | None, **options: Any) -> None:
    """Compare a model's nearest neighbours with the true ones, and with other methods.

    Some rows are held out as queries.  The other methods (SVD, centred PCA, the first coordinates,
    a random projection) and a second Spherical PCA are fitted to the rest; the model itself is
    not refitted.  To detect drift, the mean cosine of the rows is compared with that of the
    training rows.  If the model was fitted to named columns of a table, the same columns are read.
    """
    at = _numbers(options["at"])
    if out is not None:
        check_folder(out, (PAGE, ROWS, NUMBERS), force=options["force"])
    fitted = load_model(model)
    source = open_files(files, options, model=fitted)
    sphericalpca.transforming.check_width(fitted, source)
    if out is not None:
        for package in ("jinja2", "matplotlib"):
            import_extra(package, "The page", package, "pages")
    settings = {"queries": options["queries"], "random_state": options["seed"]}
    found = _evaluate(fitted, source, options["quiet"], at=at, **settings)
    tell_of_cut(options["queries"], found.n_queries)
    with console.printing_warnings():
        sizes = sphericalpca.codec.choose_bytes(source, sizes=SIZES, k=found.k, **settings)
    numbers = found.to_dict() | {"bytes": sizes.to_dict()}
    if out is not None:
        from sphericalpca.evaluation.page import render  # noqa: PLC0415 - an optional package

        bound = facts_of(model)["certificate"]
        page = render(found, model=model.name, data=named(files), certificate=bound)
        texts = {ROWS: found.to_csv(), NUMBERS: json.dumps(numbers, indent=1), PAGE: page}
        for name, text in texts.items():  # the page last: if it exists, so do the numbers
            sphericalpca.files.write_whole(out / name, text.encode())
    if options["as_json"]:
        click.echo(json.dumps(numbers))
        return
    print_curve(sizes)
    console.say(str(found))
    if out is not None:
        console.write_line(f"The page: {out / PAGE}")


def _numbers(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) >= 1 for part in parts):
        rule = "must be positive integers, such as 1,10,100"
        raise click.BadParameter(f"{text!r} {rule}.", param_hint="'--at'")
    return tuple(map(int, parts))


def _evaluate(model: Any, source: Any, quiet: bool, **settings: Any) -> sphericalpca.Evaluation:
    shown = console.showing_status("Reading ...", quiet=quiet)
    with console.printing_warnings(), shown as show:
        # If only the model, or only the file, has names, they cannot be compared.
        warnings.simplefilter("ignore", FeatureNamesWarning)
        tell = None if show is None else lambda what: show(f"Now: {what}")
        evaluate: Callable[..., sphericalpca.Evaluation] = sphericalpca.evaluation.evaluate
        return evaluate(model, source, progress=tell, **settings)
