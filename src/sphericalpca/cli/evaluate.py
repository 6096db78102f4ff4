"""``sphericalpca evaluate``: a model beside its rivals, told, and as a page and rows."""

from __future__ import annotations

import importlib
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sphericalpca.cli.console import examples, open_console, say, write_line
from sphericalpca.cli.outputs import check_folder
from sphericalpca.cli.reading import (
    load_model,
    named,
    open_files,
    reading_options,
    tell_of_cut,
)
from sphericalpca.cli.wording import SEED, telling_warnings
from sphericalpca.exceptions import DataError, MissingExtraError

if TYPE_CHECKING:
    from sphericalpca import SphericalPCA
    from sphericalpca.evaluation import Evaluation
    from sphericalpca.rows import RowSource

__all__ = ["evaluate"]

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
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the page and the rows; needs the extra 'reproduce'.",
)
@click.option(
    "--queries",
    type=click.IntRange(min=2),
    default=1000,
    show_default=True,
    help="Rows to hold out.",
)
@click.option(
    "--at", default="1,10,100", show_default=True, help="Numbers of neighbours, with commas."
)
@reading_options
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the draw of queries.")
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@click.option("--json", "as_json", is_flag=True, help="Tell the result as JSON.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def evaluate(model: Path, files: tuple[str, ...], out: Path | None, **options: Any) -> None:
    """Compare a model's nearest neighbours with the true ones, beside its rivals.

    Some rows are held out as queries.  The rivals (SVD, centred PCA, the first coordinates, a
    random projection) and a second Spherical PCA are fitted to the others; the model is
    taken as it is.  The mean cosine of the rows is compared with that at the model's fit.  If the
    model was fitted to named columns of a table, these are read.
    """
    at = _numbers(options["at"])
    if out is not None:
        check_folder(out, (PAGE, ROWS, NUMBERS), force=options["force"])
    fitted = load_model(model)
    source = open_files(files, options, model=fitted)
    _check_width(fitted, source)
    if out is not None:
        for package in ("jinja2", "matplotlib"):
            _require(package)
    found = _evaluate(fitted, source, at, options)
    if out is not None:
        _write(found, out, model=model.name, data=named(files))
    if options["as_json"]:
        click.echo(json.dumps(found.to_dict()))
    else:
        _tell(found, out)


def _numbers(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) >= 1 for part in parts):
        raise click.BadParameter(f"{text!r} is not a list such as 1,10,100.", param_hint="'--at'")
    return tuple(map(int, parts))


def _require(package: str) -> None:
    try:
        importlib.import_module(package)
    except ImportError:
        raise MissingExtraError("The page", package, "pages") from None


def _evaluate(
    fitted: SphericalPCA, source: RowSource, at: tuple[int, ...], options: dict[str, Any]
) -> Evaluation:
    from sphericalpca import evaluation  # noqa: PLC0415 - slow to import

    with telling_warnings(), _showing(quiet=options["quiet"]) as tell:
        # Where only one of the two has names of columns there is nothing to compare.
        warnings.filterwarnings("ignore", message="X .* feature names, but")
        found = evaluation.evaluate(
            fitted,
            source,
            at=at,
            queries=options["queries"],
            random_state=options["seed"],
            progress=tell,
        )
    tell_of_cut(options["queries"], found.n_queries)
    return found


def _check_width(model: SphericalPCA, rows: RowSource) -> None:
    if rows.shape[1] != model.n_features_in_:
        raise DataError(
            f"{rows.name} has {rows.shape[1]} columns, but the model was fitted on "
            f"{model.n_features_in_}: pass vectors of the same kind."
        )


@contextmanager
def _showing(*, quiet: bool) -> Iterator[Any]:
    console = open_console(stderr=True)
    if quiet or not console.is_terminal:
        yield None
        return
    with console.status("Reading ...") as status:
        yield lambda what: status.update(f"Now: {what}")


def _write(found: Evaluation, out: Path, *, model: str, data: str) -> None:
    """The page comes last: where it is, the numbers are."""
    from sphericalpca.evaluation.page import render  # noqa: PLC0415 - slow to import
    from sphericalpca.files import write_whole  # noqa: PLC0415

    page = render(found, model=model, data=data)
    write_whole(out / ROWS, found.to_csv().encode())
    write_whole(out / NUMBERS, json.dumps(found.to_dict(), indent=1).encode())
    write_whole(out / PAGE, page.encode())


def _tell(found: Evaluation, out: Path | None) -> None:
    from sphericalpca.evaluation.findings import findings  # noqa: PLC0415 - slow to import

    for sentence in findings(found):
        say(f"- {sentence}")
    if out is not None:
        write_line(f"The page: {out / PAGE}")
