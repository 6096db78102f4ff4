"""Which kernels are used: the best of this machine, those that are asked for, or scipy's."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from sphericalpca import SphericalPCA
from sphericalpca.exceptions import ParameterError
from sphericalpca.kernels import instruction_set, instruction_sets, library
from sphericalpca.kernels.library import NAMES, VARIABLE, _chosen, _loaded

KERNELS = Path(sys.modules["sphericalpca.kernels"].__file__).parent
CACHED = (instruction_sets, _chosen, _loaded)


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """The package in another folder, without a library as yet."""
    monkeypatch.delenv(VARIABLE, raising=False)
    module = sys.modules["sphericalpca.kernels.library"]  # the function has its name
    monkeypatch.setattr(module, "__file__", str(tmp_path / "library.py"))
    for function in CACHED:
        function.cache_clear()
    yield tmp_path
    for function in CACHED:
        function.cache_clear()


def test_the_best_is_used_unless_another_is_asked_for(monkeypatch):
    available = instruction_sets()
    assert available[-1] == "scipy"
    assert set(available) <= {"avx512", "avx2", "neon", "generic", "scipy"}
    monkeypatch.delenv(VARIABLE, raising=False)
    assert instruction_set() == available[0]
    monkeypatch.setenv(VARIABLE, "")
    assert instruction_set() == available[0]


@pytest.mark.parametrize("name", instruction_sets())
def test_the_variable_chooses(name, monkeypatch):
    monkeypatch.setenv(VARIABLE, name)
    assert instruction_set() == name
    assert (library() is None) == (name == "scipy")


def test_every_instruction_set_has_its_functions():
    for name in set(instruction_sets()) - {"scipy"}:
        for types in ("f4_i4", "f4_i8", "f8_i4", "f8_i8"):
            assert getattr(_loaded(), f"gather_{name}_{types}")


@pytest.mark.parametrize("wanted", ["avx1024", "AVX2", "scipy ", "0"])
def test_an_unknown_value_is_one_clear_error(wanted, monkeypatch, text):
    monkeypatch.setenv(VARIABLE, wanted)
    with pytest.raises(ParameterError) as error:
        SphericalPCA(2).fit(text())
    expected = f"{VARIABLE}={wanted} is not available here, but must be one of "
    assert str(error.value).startswith(expected + ", ".join(instruction_sets()))
    assert "\n" not in str(error.value)


def test_without_a_library_scipy_serves(elsewhere, text):
    """With the same result up to rounding, and silently."""
    X = text(n=80)
    X = X[np.diff(X.indptr) > 0]
    without = SphericalPCA(4, tol=1e-10).fit(X)
    assert instruction_sets() == ("scipy",)
    assert instruction_set() == "scipy"
    assert library() is None
    shutil.copytree(KERNELS, elsewhere, dirs_exist_ok=True)
    for function in CACHED:
        function.cache_clear()
    model = SphericalPCA(4, tol=1e-10).fit(X)
    np.testing.assert_allclose(model.components_, without.components_, atol=1e-6)
    np.testing.assert_allclose(model.mean_cosine_, without.mean_cosine_, rtol=1e-12)


def test_without_a_library_others_cannot_be_asked_for(elsewhere, monkeypatch):
    monkeypatch.setenv(VARIABLE, "avx2")
    with pytest.raises(ParameterError, match="must be one of scipy: unset the variable"):
        instruction_set()


@pytest.mark.parametrize("name", NAMES)
def test_a_library_that_cannot_be_loaded_counts_as_none(elsewhere, name):
    """Such as that of another machine, in a folder that several share."""
    (elsewhere / name).write_bytes(b"\x7fELF, or so it says")
    assert instruction_sets() == ("scipy",)
