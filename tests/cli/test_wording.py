"""Messages speak of options, and of one thing or of many."""

from __future__ import annotations

import click
import pytest

from sphericalpca.cli.app import app
from sphericalpca.cli.console import in_options
from sphericalpca.exceptions import Parameter, ParameterError

TOL = Parameter("tol")


@pytest.mark.parametrize(
    ("command", "phrase", "expected"),
    [
        ("fit", (Parameter("n_components", 21), " is more than 20"), "-r 21 is more than 20."),
        (
            "fit",
            ("after ", Parameter("max_iter", 2), ", ", Parameter("tol", 1e-12), ": ", TOL),
            "after --max-iter 2, --tol 1e-12: --tol.",
        ),
        ("fit", (Parameter("memory_budget", "lots"), " is none"), "--memory-budget lots is none."),
        ("fit", (Parameter("random_state", -1), " is none"), "--seed -1 is none."),
        ("choose", (Parameter("max_iter", 2), " of ", TOL), "max_iter=2 of --tol."),
        ("choose", (Parameter("k", 10), " neighbours"), "--k 10 neighbours."),
        ("evaluate", (Parameter("k", 10), " neighbours"), "--at 10 neighbours."),
        ("info", Parameter("n_components", 21), "n_components=21."),
        ("fit", (Parameter("columns", ...),), "--columns ..."),
        ("fit", Parameter("columns", ["a", "b"]), "--columns a,b."),
        ("transform", ("use ", Parameter("keep", [])), "use --keep ''."),
        ("fit", Parameter("center", value=True), "--center."),
        ("fit", Parameter("center", value=False), "the default instead of --center."),
        ("fit", Parameter("center"), "--center."),
        ("fit", Parameter("normalize", value=True), "the default instead of --no-normalize."),
        ("fit", Parameter("normalize", value=False), "--no-normalize."),
        ("fit", ("'tol=1/max_iter.npy' and ", TOL), "'tol=1/max_iter.npy' and --tol."),
        ("fit", "min(n_samples, n_features)=3", "min(n_samples, n_features)=3."),
    ],
)
def test_parameters_become_options_of_the_command(command, phrase, expected):
    options = app.get_command(click.Context(app), command)
    assert in_options(ParameterError(phrase), options) == expected
