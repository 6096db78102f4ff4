"""From a plan to a folder of files: rows first, then what the figures need."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from paper.datasets import DATASETS, get_data_home
from paper.datasets.integrity import examine
from paper.journal import Journal, alone_in, write_table
from paper.plan import ExperimentPlan, Trial
from paper.runner import Failure, Todo, run, todo
from paper.solver_runs import longest_run, solver_runs
from paper.toy import toy_points, typical_draw
from sphericalpca.datasets import load_docstrings

__all__ = ["Reproduction", "embed"]


class Reproduction:
    """Some experiments of a plan, in a folder.

    Parameters
    ----------
    plan : ExperimentPlan
    experiments : sequence of str
        "toy" includes the files of Figs. 2 and 3.
    out : Path
        Created if it does not exist; rows of an earlier run are kept.
    data_home : Path or None
        Where the data files are; None for the usual places.
    """

    def __init__(
        self, plan: ExperimentPlan, experiments: Sequence[str], out: Path, data_home: Path | None
    ) -> None:
        self.plan = plan
        self.trials = [trial for name in experiments for trial in plan.trials(name)]
        self._figures = "toy" in experiments
        self._out = out
        self._data_home = data_home

    def todo(self) -> Todo:
        """The remaining work."""
        return todo(self.trials, self._journal())

    def missing_data(self) -> list[str]:
        """Names of the data sets that are still needed, but missing or damaged."""
        wanted = dict.fromkeys(_file_name(trial.dataset) for trial in self.todo().missing)
        home = get_data_home(self._data_home)
        files = [DATASETS[name] for name in wanted if name in DATASETS]
        return [file.name for file in files if examine(file, home).state != "present"]

    def open_folder(self) -> None:
        """Create the folder and check that it is writable, before any work."""
        self._out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=self._out).close()

    def run(
        self, *, jobs: int, done: Callable[[Trial], None], say: Callable[[str], None]
    ) -> list[Failure]:
        """Run the missing trials.

        Parameters
        ----------
        jobs : int
            Number of processes.
        done : callable
            Called with each trial that ends.
        say : callable
            Called with other messages.

        Returns
        -------
        list of Failure
            Trials that could not be run.
        """
        self.open_folder()
        with alone_in(self._out):
            if self._figures:
                say("Fig. 3: solvers, step by step")
                self._run_solvers()
            journal = self._journal()
            home = self._data_home
            failures = run(self.trials, journal, data_home=home, jobs=jobs, done=done)
            if self._figures and not any(f.trial.experiment == "toy" for f in failures):
                write_table(self._out / "toy.csv", toy_points(typical_draw(journal)))
        return failures

    def _run_solvers(self) -> None:
        """Run the solvers of Fig. 3, unless there are runs of at least as many steps."""
        made = self._out / "solvers.csv"
        if made.exists() and longest_run(made) >= self.plan.solver_steps:
            return
        iterations, runs = solver_runs(self.plan.solver_steps)
        write_table(self._out / "convergence.csv", iterations)
        write_table(made, runs)  # last: it marks both files as complete

    def _journal(self) -> Journal:
        return Journal(self._out / "rows.csv")


def _file_name(dataset: str) -> str:
    """The name in the registry of the data of a trial."""
    return "newsgroups" if dataset == "20newsgroups" else dataset


def embed(plan: ExperimentPlan) -> ExperimentPlan:
    """The plan on data bundled with the dependencies."""
    return plan.embedded(str(len(load_docstrings().group_names)))
