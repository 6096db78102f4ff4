"""From a plan to a folder of files: rows first, then what the figures need."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from sphericalpca.datasets import DATASETS, available, load_docstrings
from sphericalpca.experiments.journal import Journal, alone_in, write_table
from sphericalpca.experiments.plan import Plan, Trial
from sphericalpca.experiments.runner import Todo, run, todo
from sphericalpca.experiments.solver_runs import solver_runs
from sphericalpca.experiments.toy import toy_points, typical_draw

__all__ = ["Reproduction", "embed", "missing_data"]


class Reproduction:
    """Some experiments of a plan, in a folder.

    Parameters
    ----------
    plan : Plan
    experiments : sequence of str
        With "toy" go the files of Figs. 2 and 3.
    out : Path
        Made if it is not there; rows of an earlier run are taken up.
    data_home : Path or None
        Where the data files are; None for the usual places.
    """

    def __init__(
        self, plan: Plan, experiments: Sequence[str], out: Path, data_home: Path | None
    ) -> None:
        self.plan = plan
        self.trials = [trial for name in experiments for trial in plan.trials(name)]
        self._figures = "toy" in experiments
        self._out = out
        self._data_home = data_home
        # Tried out before time is spent on what goes into it.
        out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out).close()

    def todo(self) -> Todo:
        """What is left to do."""
        return todo(self.trials, self._journal())

    def run(self, *, jobs: int, done: Callable[[Trial], None]) -> None:
        """Run what is missing, on `jobs` processes; `done` is told of each trial recorded."""
        with alone_in(self._out):
            journal = self._journal()
            run(self.trials, journal, data_home=self._data_home, jobs=jobs, done=done)
            if self._figures:
                write_table(self._out / "toy.csv", toy_points(typical_draw(journal)))
                iterations, runs = solver_runs(self.plan.solver_steps)
                write_table(self._out / "convergence.csv", iterations)
                write_table(self._out / "solvers.csv", runs)

    def _journal(self) -> Journal:
        return Journal(self._out / "rows.csv")


def missing_data(plan: Plan, experiments: Sequence[str], data_home: Path | None) -> list[str]:
    """Names of the data sets that the experiments need and whose files are not there."""
    named = {"20newsgroups": "newsgroups"}
    wanted = {trial.dataset: None for name in experiments for trial in plan.trials(name)}
    files = [name for name in (named.get(w, w) for w in wanted) if name in DATASETS]
    return [name for name in files if not available(name, data_home)]


def embed(plan: Plan) -> Plan:
    """The plan on data that come with the dependencies."""
    return plan.embedded(str(len(load_docstrings().group_names)))
