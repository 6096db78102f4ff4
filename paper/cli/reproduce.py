"""``python -m paper reproduce``: the paper's figures and tables, rows first, then the page."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from paper.cli.folders import not_left_empty
from sphericalpca.cli.console import Names, counted, examples, write_line
from sphericalpca.cli.outputs import check_folder
from sphericalpca.exceptions import DataError, printable

if TYPE_CHECKING:
    from paper.plan import ExperimentPlan, Trial
    from paper.reproduction import Reproduction
    from paper.runner import Failure

__all__ = ["reproduce"]

PARTS = {
    "figures": ("toy",),
    "newsgroups": ("newsgroups", "rank", "starts", "constants"),
    "embeddings": ("embeddings",),
    "uci": ("uci",),
    "lsa": ("lsa",),
}
PARTS["all"] = tuple(experiment for part in PARTS.values() for experiment in part)

FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command(
    epilog=examples(
        "python -m paper reproduce figures --out reproduction",
        "python -m paper reproduce all --quick --out quick",
        "python -m paper reproduce all --data-home DATA --out mine --jobs 2",
        "python -m paper reproduce report --out reproduction    # draw the page again",
    )
)
@click.argument("part", metavar="PART", type=Names([*PARTS, "report"]))
@click.option(
    "--data-home", type=FOLDER, help="Folder of the data; see 'python -m paper datasets'."
)
@click.option(
    "--out",
    type=FOLDER,
    default=Path("reproduction"),
    show_default=True,
    help="Folder for rows, figures, tables and the page.",
)
@click.option(
    "--repetitions",
    type=click.IntRange(min=1),
    help="Number of draws of documents, or of k-means seeds where the data are fixed.  "
    "[default: 40 and 10, with --quick 2]",
)
@click.option(
    "--jobs", type=click.IntRange(min=1), help="Number of processes.  [default: one per core]"
)
@click.option("--quick", is_flag=True, help="Run a small part of everything, in about a minute.")
@click.option("--embedded", is_flag=True, help="Use bundled data, which need no files.")
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

    PART is figures (Figs. 1 to 3), newsgroups (Table 1, and how it depends on the dimension, the
    start and the constants of Algorithm 1), uci (Table 2), lsa (Table 3, ours), embeddings (Table
    4, ours), all of them, or report, which only draws the page from existing rows.

    Finished rows are saved immediately: to resume an interrupted run, run the same command again.
    With --quick and no --data-home, missing data files are replaced by data bundled with the
    dependencies, and the page says so.
    """
    for package in ("jinja2", "matplotlib", "pandas"):
        _require(package)  # before hours are spent on what the report could not show
    from paper.report import write_report  # noqa: PLC0415 - slow to import

    failures: list[Failure] = []
    if part != "report":
        check_folder(out, ["rows.csv"], force=True)  # rows are added to
        work = _prepare(PARTS[part], data_home, out, repetitions, quick=quick, embedded=embedded)
        with not_left_empty(out):
            failures = _run(work, out, jobs or _cores())
    report = write_report(out)
    for line in report.headlines:
        write_line(f"- {line.label} {line.text}")
    write_line(f"The page: {report.page}")
    if failures:
        raise click.ClickException(printable(_describe(failures)))


def _require(package: str) -> None:
    try:
        importlib.import_module(package)
    except ImportError:
        raise ImportError(
            f"The report needs {package}, which is not installed: run 'make demo' once, or "
            "'pip install --editable .[cli,pages] --group paper'"
        ) from None


def _prepare(
    experiments: tuple[str, ...],
    data_home: Path | None,
    out: Path,
    repetitions: int | None,
    *,
    quick: bool,
    embedded: bool,
) -> Reproduction:
    """Prepare the work, on bundled data if requested, or if --quick finds no data files."""
    from paper.datasets import get_data_home, has_minilm  # noqa: PLC0415
    from paper.plan import ExperimentPlan  # noqa: PLC0415
    from paper.reproduction import Reproduction, embed  # noqa: PLC0415

    plan = ExperimentPlan.quick() if quick else ExperimentPlan()
    plan = plan if repetitions is None else plan.with_repetitions(repetitions)
    if embedded:
        return Reproduction(embed(plan), experiments, out, data_home)
    if "embeddings" in experiments and not has_minilm(data_home):
        plan = _without_embeddings(plan, experiments, data_home)
    work = Reproduction(plan, experiments, out, data_home)
    absent = work.missing_data()
    if not absent:
        return work
    missing = f"No data files, or damaged ones, for {', '.join(absent)}"
    # A folder that was named must have the files; without one, --quick runs without any.
    if data_home is not None or not quick:
        home = get_data_home(data_home)
        there = "" if home.exists() else ", which does not exist"
        raise DataError(
            f"{missing} in {home}{there}",
            remedy=f"run 'python -m paper datasets fetch {' '.join(absent)} --data-home {home}', "
            "name another folder with --data-home, or use --embedded",
        )
    write_line(f"{missing}: using data that ship with the dependencies instead.")
    return Reproduction(embed(plan), experiments, out, None)


def _without_embeddings(
    plan: ExperimentPlan, experiments: tuple[str, ...], data_home: Path | None
) -> ExperimentPlan:
    """Leave out experiments without their vectors; raise an error if nothing else is left."""
    from paper.datasets import get_data_home  # noqa: PLC0415
    from paper.datasets.vectors import MINILM_FILE  # noqa: PLC0415

    missing = f"No {MINILM_FILE} in {get_data_home(data_home)}"
    if experiments == ("embeddings",):
        raise DataError(missing, remedy="choose another PART, or put the file there")
    write_line(f"{missing}: Table 4 (embeddings) is skipped.")
    return plan.without_embeddings()


def _run(work: Reproduction, out: Path, jobs: int) -> list[Failure]:
    work.open_folder()
    left = work.todo()
    if left.foreign:
        write_line(
            f"{left.foreign} rows in {out / 'rows.csv'} were made by another commit, machine "
            "or version and are kept; remove the file to measure them again."
        )
    processes = counted(jobs, "process", "processes")
    write_line(f"{left.finished} of {len(work.trials)} trials are done; {processes}.")
    try:
        return _watch(work, jobs)
    except KeyboardInterrupt:
        there = (out / "rows.csv").exists()
        state = f"finished rows are in {out}" if there else "no row was finished"
        raise KeyboardInterrupt(f"Interrupted; {state}. Run the same command to resume.") from None


def _describe(failures: list[Failure]) -> str:
    shown = "; ".join(map(str, failures[:3]))
    more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
    return (
        f"{counted(len(failures), 'trial')} failed, without rows: {shown}{more}. "
        "Run the same command to try again."
    )


def _cores() -> int:
    """Number of cores that this process may use, which may be fewer than the machine has."""
    from joblib import cpu_count  # noqa: PLC0415

    return int(cpu_count())


def _watch(work: Reproduction, jobs: int) -> list[Failure]:
    """Show a bar that counts expected seconds, not trials, for a reliable estimate."""
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

        def done(trial: Trial) -> None:
            what = f"{trial.experiment} {trial.dataset} {trial.groups}"
            progress.update(bar, advance=trial.expected_seconds, description=what)

        def say(what: str) -> None:
            progress.update(bar, description=what)

        return work.run(jobs=jobs, done=done, say=say)
