"""``python -m paper datasets``: list, fetch and check the data files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from paper.cli.folders import not_left_empty
from sphericalpca.cli.console import Commands, Number, examples, open_console, say, write_line
from sphericalpca.cli.tables import print_table
from sphericalpca.exceptions import DataError

if TYPE_CHECKING:
    from paper.datasets.fetching import NamedProgress
    from paper.datasets.integrity import FileState
    from paper.datasets.registry import Dataset

__all__ = ["data_home_option", "datasets"]

data_home_option: Callable[..., Any] = click.option(
    "--data-home",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of the data files.  [default: $SPHERICALPCA_DATA_HOME, else the cache folder]",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def _known(ctx: click.Context, param: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:  # noqa: ARG001
    from paper.datasets.registry import find  # noqa: PLC0415 - loads scikit-learn

    try:
        return tuple(dict.fromkeys(find(name).name for name in names))
    except DataError as error:
        raise click.BadParameter(str(error)) from None


names_argument = click.argument("names", nargs=-1, metavar="[NAME]...", callback=_known)


@click.group(
    cls=Commands,
    short_help="List, fetch and check data files of the experiments.",
    epilog=examples(
        "python -m paper datasets list",
        "python -m paper datasets fetch glass mfeat",
        "python -m paper datasets check --data-home DIR",
    ),
)
def datasets() -> None:
    """List, fetch and check the data files of the experiments."""


@datasets.command(
    "list",
    epilog=examples(
        "python -m paper datasets list",
        "python -m paper datasets list --json",
    ),
)
@data_home_option
@json_option
def list_(data_home: Path | None, as_json: bool) -> None:
    """List the data sets and the state of their files."""
    from paper.datasets.registry import DATASETS  # noqa: PLC0415
    from sphericalpca.datasets.bundled import BUNDLED  # noqa: PLC0415

    home, found = _look(tuple(DATASETS), data_home)
    bundled = [*BUNDLED, "docstrings"]
    if as_json:
        _print_json(home, found, bundled=bundled)
        return
    print_table(
        ["name", "rows x features", "classes", "size", "state", "source"],
        [
            [r.name, r.shape, str(len(r.classes)), _size(f.size), f.state, r.source.label]
            for r, f in found
        ],
        numbers=["rows x features", "classes", "size"],
        spare=["classes"],
    )
    write_line(f"Data home: {home}")
    say(f"Bundled with the dependencies: {', '.join(bundled)}")


@datasets.command(
    short_help="Download data sets from their publishers.",
    epilog=examples(
        "python -m paper datasets fetch",
        "python -m paper datasets fetch glass mfeat mfeat-pix",
        "python -m paper datasets fetch isolet --force --data-home DIR",
    ),
)
@names_argument
@data_home_option
@click.option("--force", is_flag=True, help="Download existing files again.")
@click.option(
    "--tries",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Number of attempts.",
)
@click.option(
    "--timeout",
    type=Number(min=0, min_open=True),
    default=30.0,
    show_default=True,
    help="Seconds to wait for an answer.",
)
def fetch(
    names: tuple[str, ...], data_home: Path | None, force: bool, tries: int, timeout: float
) -> None:
    """Download data sets from their publishers; without a NAME, all of them.

    Files that exist and pass the check are not downloaded again.  scikit-learn downloads
    newsgroups, diabetes and isolet, and keeps a copy of the last two.
    """
    from paper.datasets.fetching import batches  # noqa: PLC0415
    from paper.datasets.fetching import fetch as fetch_files  # noqa: PLC0415
    from paper.datasets.home import get_data_home  # noqa: PLC0415
    from paper.datasets.registry import DATASETS  # noqa: PLC0415

    home = get_data_home(data_home)
    get = partial(fetch_files, data_home=data_home, force=force, tries=tries, timeout=timeout)
    failures = []
    # If one source is down, the others are still fetched.
    for batch in batches(names or DATASETS):
        try:
            with not_left_empty(home), _progress_bar() as progress:
                found = get(batch, progress=progress)
        except DataError as error:
            failures.append(error)
            continue
        for name, path, fresh in found:
            write_line(f"{name}: {'fetched' if fresh else 'already there'}, {path}")
    for failure in failures[:-1]:
        write_line(f"Error: {failure}", err=True)
    if failures:
        raise failures[-1]


@datasets.command(
    epilog=examples(
        "python -m paper datasets check",
        "python -m paper datasets check newsgroups --json",
    )
)
@names_argument
@data_home_option
@json_option
def check(names: tuple[str, ...], data_home: Path | None, as_json: bool) -> None:
    """Check existing files by sha256 or by content.

    The exit code is 1 if a file is damaged, or if a NAME is given and its file is absent.
    """
    from paper.datasets.home import fetch_command  # noqa: PLC0415
    from paper.datasets.registry import DATASETS  # noqa: PLC0415

    home, found = _look(names or tuple(DATASETS), data_home)
    if as_json:
        _print_json(home, found)
    else:
        print_table(
            ["name", "file", "state", "detail"], [[r.name, r.file, *f[:2]] for r, f in found]
        )
        write_line(f"Data home: {home}")
    bad = [r.name for r, f in found if f.state == "damaged" or (names and f.state == "absent")]
    if bad:
        again = fetch_command(bad, home)
        raise DataError(
            f"Damaged or absent in {home}: {', '.join(bad)}", remedy=f"get it with '{again}'"
        )


def _look(names: tuple[str, ...], data_home: Path | None) -> tuple[Path, list[tuple[Any, Any]]]:
    from paper.datasets.home import get_data_home  # noqa: PLC0415
    from paper.datasets.integrity import examine  # noqa: PLC0415
    from paper.datasets.registry import find  # noqa: PLC0415

    home = get_data_home(data_home)
    return home, [(find(name), examine(find(name), home)) for name in names]


def _print_json(home: Path, found: list[tuple[Dataset, FileState]], **more: object) -> None:
    rows = [
        {
            "name": record.name,
            "file": record.file,
            "what": record.what,
            "rows": record.rows,
            "features": record.features,
            "classes": dict(record.classes),
            "state": finding.state,
            "detail": finding.detail,
            "bytes": finding.size,
            "sha256": record.sha256,
            "source": record.source.address,
            "origin": record.origin,
            "licence": record.licence,
        }
        for record, finding in found
    ]
    click.echo(json.dumps({"data_home": str(home), "datasets": rows, **more}, indent=2))


def _size(size: int | None) -> str:
    if size is None:
        return "-"
    return f"{size / 1e3:.1f} kB" if size < 1e5 else f"{size / 1e6:.2f} MB"


@contextmanager
def _progress_bar() -> Iterator[NamedProgress | None]:
    """Show a progress bar, which disappears at the end; nothing if there is no terminal."""
    console = open_console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        task = bars.add_task("", total=None)

        def show(name: str, received: int, total: int | None) -> None:
            bars.update(task, description=name, completed=received, total=total)

        yield show
