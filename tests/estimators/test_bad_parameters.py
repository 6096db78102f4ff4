"""Parameters, weights and components that cannot be used: the value, the rule, the remedy."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import DataError, SphericalPCA
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Alternating, Linearized, choose_solver

FROM_U_ALONE = [name for name, entry in SOLVERS.items() if not entry.moves_pairs]


def test_n_components_above_the_data(X, fails):
    words = ("n_components=8", "must be at most 7", "smaller of 40 rows and 7 columns", "lower it")
    fails(lambda: SphericalPCA(8).fit(X), *words, error=DataError)
    words = ("n_components=6", "must be at most 5", "smaller of 5 rows and 7 columns", "lower it")
    fails(lambda: SphericalPCA(6).fit(sparse.csr_array(X[:5])), *words, error=DataError)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        *[("n_components", value, "an int in the range [1") for value in (0, -1, 1.5, "2", [2])],
        ("n_components", None, "an int in the range [1"),
        ("n_components", np.nan, "an int in the range [1"),
        ("n_components", Fraction(3, 4), "Got Fraction(3, 4)"),
        ("n_components", Fraction(2), "Got Fraction(2, 1)"),
        ("tol", Fraction(1, 2), "Got Fraction(1, 2)"),
        ("solver", "lbfgs", "'alternating'"),
        ("solver", 3, "'linearized'"),
        ("solver", None, "'auto'"),
        ("solver", object(), "'init' and 'step'"),
        ("init", "pca", "'svd'"),
        ("init", 3, "'random'"),
        ("init", None, "'auto'"),
        ("tol", -1e-4, "[0"),
        ("tol", np.nan, "[0"),
        ("tol", np.inf, "[0"),
        ("tol", "small", "float"),
        ("max_iter", 0, "[1"),
        ("max_iter", -5, "[1"),
        ("max_iter", 10.0, "int"),
        ("n_init", 0, "[1"),
        ("n_init", 2.5, "int"),
        ("normalize", "yes", "bool"),
        ("center", 2, "bool"),
        ("random_state", "seed", "RandomState"),
    ],
)
def test_parameters(X, name, value, rule, fails):
    model = SphericalPCA(**{name: value})
    got = "object" if type(value) is object else repr(value)
    fails(lambda: model.fit(X), f"'{name}' parameter", "must be", rule, got)


@pytest.mark.parametrize("solver", [Linearized, Alternating])
def test_a_solver_class_in_place_of_an_object(X, solver, fails):
    """Forgotten brackets: the message must point at them."""
    call = SphericalPCA(solver=solver).fit
    message = fails(lambda: call(X), "solver", error=(ValueError, TypeError))
    assert "missing 1 required positional" not in message


U, V = np.eye(7)[:, :2], np.ones((40, 2))
BAD_STARTS = {
    "columns": (np.eye(7)[:, :3], "U", "(7, 2)", "(7, 3)"),
    "transposed": (U.T, "U", "(7, 2)", "(2, 7)", "transpose"),
    "vector": (np.ones(7), "U", "(7, 2)", "(7,)"),
    "nan": (np.full((7, 2), np.nan), "U", "NaN"),
    "rank": (np.ones((7, 2)), "U", "rank 1", "independent", "init='svd'"),
    "zero": (np.zeros((7, 2)), "U", "rank 0", "independent", "init='svd'"),
    "text": ([["a", "b"]] * 7, "U", "numbers", "(7, 2)"),
    "empty": ((), "U", "(7, 2)"),
    "complex": (U + 1j, "real"),
}
BAD_PAIRS = {
    "rows": ((U, V[:39]), "V", "(40, 2)", "(39, 2)"),
    "columns": ((U, np.ones((40, 3))), "V", "(40, 2)", "(40, 3)"),
    "transposed": ((U, V.T), "V", "(40, 2)", "(2, 40)", "transpose"),
    "swapped": ((V, U), "U", "(7, 2)", "(40, 2)"),
    "nan": ((U, np.full((40, 2), np.nan)), "V", "NaN"),
    "U columns": ((np.eye(7)[:, :3], V), "U", "(7, 2)", "(7, 3)"),
    "text": ((U, "V"), "V", "numbers", "(40, 2)"),
    "three": ((U, V, V), "(U, V)"),
    "one": ((U,), "(U, V)"),
    "complex U": ((U + 1j, V), "real"),
    "complex V": ((U, V + 1j), "real"),
}


@pytest.mark.parametrize(
    ("solver", "case"),
    [("alternating", case) for case in BAD_STARTS.items()]
    + [("linearized", case) for case in [*BAD_STARTS.items(), *BAD_PAIRS.items()]],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_starts(X, case, solver, fails):
    init, *words = case[1]
    model = SphericalPCA(2, init=init, solver=solver)
    fails(lambda: model.fit(X), "init", *words, error=(DataError, TypeError))


@pytest.mark.parametrize("solver", ["auto", Alternating(), *FROM_U_ALONE])
def test_a_pair_for_a_solver_that_cannot_take_it(X, solver, fails):
    model = SphericalPCA(2, init=(U, V), solver=solver)
    name = type(choose_solver(solver, as_rows(X), 2, model.tol)).__name__
    words = ("init=(U, V)", name, "U alone", "init=U", "solver='linearized'")
    fails(lambda: model.fit(X), *words, error=DataError)


def weights(**changes):
    w = np.ones(40)
    for place, value in changes.items():
        w[int(place[1:])] = value
    return w


BAD_WEIGHTS = {
    "negative": (weights(_17=-0.5), "sample_weight[17]", "-0.5", "non-negative", "use 0"),
    "nan": (weights(_3=np.nan, _5=-1), "sample_weight[3]", "nan", "finite"),
    "infinite": (weights(_39=np.inf), "sample_weight[39]", "inf", "finite"),
    "zero": (np.zeros(40), "zero", "at least one row a positive weight"),
    "short": (np.ones(39), "(39,)", "40 rows", "one weight per row"),
    "long": (np.ones(41), "(41,)", "40 rows", "one weight per row"),
    "empty": ([], "(0,)", "40 rows", "one weight per row"),
    "column": (np.ones((40, 1)), "(40, 1)", "40 rows", "shape (40,)"),
    "row": (np.ones((1, 40)), "(1, 40)", "40 rows", "shape (40,)"),
    "text": (["heavy"] * 40, "sample_weight", "numbers", "floats"),
    "none": ([None] * 40, "sample_weight[0]", "nan", "finite"),
    "negative number": (-2.0, "-2.0", "non-negative"),
    "complex": (np.ones(40) + 1j, "sample_weight", "real"),
}


@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_weights(X, case, fails):
    weight, *words = BAD_WEIGHTS[case]
    model = SphericalPCA().fit(X)
    for call in (model.fit, model.fit_transform, model.score, model.certify):
        error = (DataError, TypeError)
        fails(lambda call=call: call(X, sample_weight=weight), *words, error=error)


def test_components_that_cannot_be_mapped_back(X, fails):
    """They are called what the caller calls them; imputing components does not help."""
    back = SphericalPCA(3).fit(X).inverse_transform
    for shape in [(4, 2), (4, 4), (3,), (2, 4, 3), ()]:
        words = (str(shape), "n_components=3", "(n_samples, 3)")
        fails(lambda shape=shape: back(np.ones(shape)), *words, error=DataError)
    missing = np.ones((4, 3))
    missing[2, 1] = np.nan
    message = fails(lambda: back(missing), "NaN", "row 2", "column 1", "finite", error=DataError)
    assert "X contains" not in message
    assert "Imputer" not in message
    for components, *words in [
        ([["a", "b", "c"]], "component", "number"),
        (np.ones((2, 3)) * 1j, "component", "number"),
        (np.ones((2, 3), dtype="datetime64[s]"), "component", "number"),
        (sparse.csr_array(np.eye(3)), "sparse", "dense"),
    ]:
        fails(lambda given=components: back(given), *words, error=(DataError, TypeError))


def test_truncate(X, fails):
    model = SphericalPCA(3).fit(X)
    for q in (0, -1, 4, 1.5, "1", None, True):
        words = (f"n_components={q!r}", "from 1 to 3", "fit again for more")
        fails(lambda q=q: model.truncate(q), *words)
