"""Errors put value, rule and remedy into one sentence, and survive copies and pickles."""

from __future__ import annotations

import copy
import pickle

import pytest

from sphericalpca.exceptions import DataError, ExistsError, Parameter, ParameterError


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
@pytest.mark.parametrize("parameter", [Parameter("k"), Parameter("k", None), Parameter("k", ...)])
def test_a_parameter_in_another_process_reads_the_same(copied, parameter):
    error = ParameterError(("lower ", parameter), "it is large", remedy=parameter)
    twin = copied(error)
    assert str(twin) == str(error)
    assert (twin.value, twin.rule, twin.remedy) == (error.value, error.rule, error.remedy)
    assert twin.remedy.has_value == parameter.has_value


@pytest.mark.parametrize(
    ("value", "rule", "remedy", "expected"),
    [
        (Parameter("tol", -1), "must be positive", "", "tol=-1 must be positive."),
        ("X has 3 columns", "must have 4", "", "X has 3 columns, but must have 4."),
        ((Parameter("k", 3), " was set"), "2 are known", "", "k=3 was set, but 2 are known."),
        ("It failed.", "X must be dense", "", "It failed, but X must be dense."),
        ("It failed.", "", "try again", "It failed. Try again."),
        (Parameter("tol", ...), "must be positive", "", "tol=... must be positive."),
    ],
)
def test_sentences(value, rule, remedy, expected):
    assert str(DataError(value, rule, remedy)) == expected


def test_an_error_of_the_system_has_fields_too():
    error = ExistsError("a exists", remedy=("pass ", Parameter("force", value=True)))
    twin = pickle.loads(pickle.dumps(error))
    assert str(twin) == str(error) == "a exists: pass force=True."
    assert twin.value == "a exists"
    assert isinstance(twin, FileExistsError)
