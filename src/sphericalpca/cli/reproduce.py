"""``sphericalpca reproduce``: the paper's figures and tables, rows first, then the page."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sphericalpca.cli.console import examples
from sphericalpca.exceptions import DataError, MissingExtraError

if TYPE_CHECKING:
    from sphericalpca.experiments.plan import Plan
    from sphericalpca.experiments.reproduction import Reproduction

__all__ = ["reproduce"]

PARTS = {
    "figures": ("toy",),
    "newsgroups": ("newsgroups", "rank"),
    "uci": ("uci",),
    "lsa": ("lsa",),
}
PARTS["all"] = tuple(experiment for part in PARTS.values() for experiment in part)

FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command(
    epilog=examples(
        "sphericalpca reproduce figures --out results",
        "sphericalpca reproduce all --quick --out quick",
        "sphericalpca reproduce all --data-home DATA --out results --jobs 2",
        "sphericalpca reproduce report --out results    # draw the page again",
    )
)
@click.argument("part", type=click.Choice([*PARTS, "report"]))
@click.option("--data-home", type=FOLDER, help="Folder of the data; see 'sphericalpca datasets'.")
@click.option(
    "--out",
    type=FOLDER,
    default=Path("results"),
    show_default=True,
    help="Folder for rows, figures, tables and the page.",
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    help="Draws, or k-means seeds, of each table.  [default: 10, with --quick 2]",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Processes.  [default: one per core]")
@click.option("--quick", is_flag=True, help="A small part of everything, within three minutes.")
@click.option(
    "--embedded", is_flag=True, help="Use data that come with the dependencies; needs no files."
)
def reproduce(  # noqa: PLR0917 - click passes them by name
    part: str,
    data_home: Path | None,
    out: Path,
    repetitions: int | None,
    jobs: int | None,
    quick: bool,
    embedded: bool,
) -> None:
    """Run the paper's experiments and write a report.

    PART is figures (Figs. 1 to 3), newsgroups (Table 1), uci (Table 2), lsa (Table 3, ours), all of
    them, or report, which only draws the page from the rows that are there.

    Every finished row is kept at once: interrupt it as you like, and give the same command
    again to go on.  With --quick, where data files are missing, data that come with the
    dependencies take their place; the page says so.
    """
    for package in ("jinja2", "matplotlib", "pandas"):
        _require(package)  # before hours are spent on what the report could not show
    from sphericalpca.experiments.report import write_report  # noqa: PLC0415 - slow to import

    if part != "report":
        plan = _plan(PARTS[part], data_home, repetitions, quick=quick, embedded=embedded)
        _run(plan, PARTS[part], data_home, out, jobs or os.cpu_count() or 1)
    report = write_report(out)
    for line in report.headlines:
        click.echo(f"- {line.label} {line.text}")
    click.echo(f"The page: {report.page}")


def _require(package: str) -> None:
    try:
        importlib.import_module(package)
    except ImportError:
        raise MissingExtraError("The report", package, "reproduce") from None


def _plan(
    experiments: tuple[str, ...],
    data_home: Path | None,
    repetitions: int | None,
    *,
    quick: bool,
    embedded: bool,
) -> Plan:
    from sphericalpca.experiments.plan import Plan  # noqa: PLC0415
    from sphericalpca.experiments.reproduction import embed, missing_data  # noqa: PLC0415

    plan = Plan.quick() if quick else Plan()
    absent = [] if embedded else missing_data(plan, experiments, data_home)
    if absent and not quick:
        raise DataError(
            f"No data files for {', '.join(absent)}: run 'sphericalpca datasets fetch "
            f"{' '.join(absent)}', name their folder with --data-home, or use --embedded."
        )
    if absent:
        click.echo(f"No data files for {', '.join(absent)}: embedded data take their place.")
    plan = embed(plan) if absent or embedded else plan
    return plan if repetitions is None else plan.with_repetitions(repetitions)


def _run(
    plan: Plan, experiments: tuple[str, ...], data_home: Path | None, out: Path, jobs: int
) -> None:
    from sphericalpca.experiments.reproduction import Reproduction  # noqa: PLC0415

    work = Reproduction(plan, experiments, out, data_home)
    left = work.todo()
    if left.foreign:
        click.echo(
            f"{left.foreign} rows in {out / 'rows.csv'} were made by other versions and are kept; "
            "remove the file to measure them again."
        )
    click.echo(f"{left.finished} of {len(work.trials)} trials are done; {jobs} processes.")
    try:
        _watch(work, jobs)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"Interrupted; finished rows are in {out}. Give the same command to go on."
        ) from None


def _watch(work: Reproduction, jobs: int) -> None:
    """A bar that counts expected seconds, not trials, so that its estimate can be trusted."""
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description:<32}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(elapsed_when_finished=False),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, speed_estimate_period=600) as progress:
        missing = work.todo().missing
        bar = progress.add_task("starting", total=sum(t.expected_seconds for t in missing))
        work.run(
            jobs=jobs,
            done=lambda trial: progress.update(
                bar,
                advance=trial.expected_seconds,
                description=f"{trial.experiment} {trial.dataset} {trial.groups}",
            ),
        )
