"""Which solver is taken for which data."""

from __future__ import annotations

from types import SimpleNamespace
from typing import get_args, get_type_hints

import numpy as np
import pytest

from sphericalpca import SphericalPCA
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.solvers import Anderson, Newton, Subspace, automatic, choose_solver

KEEPING_ROWS = [name for name, entry in SOLVERS.items() if entry.keeps_rows]


def _rows(n, m, *, per_row=None, dtype=np.float64, in_memory=True, local=True):
    """What `automatic` may know of rows: their shape, their type, how much they hold."""
    stored, dtype = n * (per_row or m), np.dtype(dtype)
    room = max(2**28, stored * dtype.itemsize if in_memory else 0)
    known = {"shape": (n, m), "dtype": dtype, "stored": stored, "room": room, "local": local}
    totals = SimpleNamespace(longest=1.0)
    return SimpleNamespace(**known, totals=totals, in_memory=in_memory and local)


@pytest.mark.parametrize("tol", [0.0, 1e-3, 1e-6])
def test_long_rows_and_few_components_are_for_the_subspace_others_for_anderson(float_type, tol):
    dense = _rows(5_000, 3_000, dtype=float_type)
    assert isinstance(automatic(dense, 10, tol), Subspace)
    text = _rows(20_000, 10_000, per_row=100, dtype=float_type)
    assert isinstance(automatic(text, 10, tol), Anderson)
    # In a file, and in small blocks, a pass over them takes longer.
    text.in_memory = False
    assert isinstance(automatic(text, 10, tol), Subspace)
    assert isinstance(automatic(_rows(50_000, 30), 5, tol), Anderson)
    assert isinstance(automatic(dense, 1_000, tol), Anderson)
    assert isinstance(automatic(_rows(70_000, 50_000, per_row=3), 10, tol), Anderson)


def test_wide_rows_in_memory_are_for_anderson_which_knows_their_coordinates(float_type):
    text = {"n": 20_000, "m": 70_000, "per_row": 100, "dtype": float_type}
    assert isinstance(automatic(_rows(**text), 10, 1e-4), Anderson)
    long = {"n": 20_000, "m": 30_000, "dtype": float_type, "in_memory": False}
    assert isinstance(automatic(_rows(**long, per_row=500), 10, 1e-4), Subspace)


def test_where_the_svd_is_exact_it_tells_the_curvature_and_anderson_needs_few_iterations():
    assert isinstance(automatic(_rows(5_000, 2_000), 10, 1e-4), Anderson)
    assert isinstance(automatic(_rows(2_000, 5_000), 10, 1e-4), Anderson)
    assert isinstance(automatic(_rows(5_000, 2_049), 10, 1e-4), Subspace)


def test_projections_that_do_not_fit_are_for_anderson():
    """Long sparse rows in a file, but too many for n x 40 numbers in memory."""
    few, many = (_rows(n, 8_000, per_row=600, in_memory=False) for n in (10_000, 10_000_000))
    assert isinstance(automatic(few, 5, 1e-4), Subspace)
    assert isinstance(automatic(many, 5, 1e-4), Anderson)
    # Beside dense data of the same shape they are small.
    assert isinstance(automatic(_rows(10_000_000, 10_000), 5, 1e-4), Subspace)
    # That data in a file are large says nothing about memory.
    mapped = _rows(10_000_000, 10_000, in_memory=False)
    assert isinstance(automatic(mapped, 5, 1e-4), Anderson)
    # On a cluster they would have to travel.
    assert isinstance(automatic(_rows(5_000, 3_000, local=False), 10, 1e-4), Anderson)


@pytest.mark.parametrize("solver", [*KEEPING_ROWS, *(SOLVERS[n].load()() for n in KEEPING_ROWS)])
def test_solvers_that_fill_arrays_of_n_rows_are_refused_elsewhere(solver):
    with pytest.raises(ValueError, match=r"keeps arrays of n rows.*solver='auto'"):
        choose_solver(solver, _rows(50, 30, local=False), 5, 1e-4)


@pytest.mark.parametrize(("tol", "kind"), [(1e-10, Newton), (1e-4, Anderson), (0.0, Anderson)])
def test_newton_is_for_small_tolerances_in_double_precision(tol, kind):
    assert isinstance(automatic(_rows(50_000, 30), 5, tol), kind)
    single = _rows(50_000, 30, dtype=np.float32)
    assert isinstance(automatic(single, 5, tol), Anderson)


def test_the_registry_says_which_solvers_may_be_chosen():
    choices = {entry.load() for entry in SOLVERS.values() if entry.automatic}
    assert set(get_args(get_type_hints(automatic)["return"])) == choices


def test_a_fitted_model_tells_what_was_chosen(rng):
    X = rng.standard_normal((60, 6))
    model = SphericalPCA(2).fit(X)
    assert model.solver_ == Anderson()
    assert model.solver == "auto"
    assert SphericalPCA(2, tol=1e-10).fit(X).solver_ == Newton()
    assert SphericalPCA(2, tol=1e-5).fit(X.astype(np.float32)).solver_ == Anderson()
    long = rng.standard_normal((2_500, 2_100))
    assert model.fit(long).solver_ == Subspace()  # chosen anew for other data
