"""Messages speak of options, and of one thing or of many."""

from __future__ import annotations

import click
import pytest

from sphericalpca.cli.app import app
from sphericalpca.cli.console import counted, did_you_mean, in_options
from sphericalpca.exceptions import Parameter, ParameterError


@pytest.fixture
def told():
    """How a command tells a message."""

    def tell(name, phrase):
        return in_options(ParameterError(phrase), app.get_command(click.Context(app), name))

    return tell


@pytest.mark.parametrize(
    ("command", "phrase", "expected"),
    [
        (
            "fit",
            (Parameter("n_components", 21), " must be at most 20"),
            "-r 21 must be at most 20.",
        ),
        (
            "fit",
            (
                *("after ", Parameter("max_iter", 2), ", ", Parameter("tol", 1e-12)),
                *(": raise ", Parameter("tol")),
            ),
            "after --max-iter 2, --tol 1e-12: raise --tol.",
        ),
        (
            "fit",
            (Parameter("memory_budget", "lots"), " is none"),
            "--memory-budget lots is none.",
        ),
        ("fit", (Parameter("random_state", -1), " is none"), "--seed -1 is none."),
        (
            "choose",
            ("after ", Parameter("max_iter", 2), " of ", Parameter("tol", 0)),
            "after max_iter=2 of --tol 0.",
        ),
        ("choose", (Parameter("k", 10), " neighbours"), "--k 10 neighbours."),
        ("evaluate", (Parameter("k", 10), " neighbours"), "--at 10 neighbours."),
        ("info", Parameter("n_components", 21), "n_components=21."),
        ("fit", (Parameter("columns", ...),), "--columns ..."),
        ("fit", Parameter("columns", ["a", "b"]), "--columns a,b."),
        ("transform", ("use ", Parameter("keep", [])), "use --keep ''."),
        ("fit", ("use ", Parameter("center", value=True)), "use --center."),
        ("fit", ("use ", Parameter("center", value=False)), "use the default instead of --center."),
        ("fit", ("use ", Parameter("center")), "use --center."),
        (
            "fit",
            ("use ", Parameter("normalize", value=True)),
            "use the default instead of --no-normalize.",
        ),
        ("fit", ("use ", Parameter("normalize", value=False)), "use --no-normalize."),
        (
            "fit",
            ("'runs/tol=1/max_iter.npy' and ", Parameter("tol", 1)),
            "'runs/tol=1/max_iter.npy' and --tol 1.",
        ),
        (
            "fit",
            "the tolerance, min(n_samples, n_features)=3",
            "the tolerance, min(n_samples, n_features)=3.",
        ),
    ],
)
def test_parameters_become_options_of_the_command(told, command, phrase, expected):
    assert told(command, phrase) == expected


def test_without_a_command_nothing_changes():
    assert in_options(ParameterError(Parameter("tol", 1)), None) == "tol=1."


def test_counted():
    assert counted(1, "row") == "1 row"
    assert counted(2000, "row") == "2,000 rows"
    assert counted(0, "process", "processes") == "0 processes"


def test_names_that_are_near():
    assert did_you_mean("Netwon", ["newton", "auto"]) == ["Did you mean 'newton'?"]
    assert did_you_mean("xyz", ["newton", "auto"]) == []
