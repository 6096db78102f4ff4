"""Parameters, weights and components that cannot be used: the value, the rule, the remedy."""

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import DataError, SphericalPCA
from sphericalpca.registry.solvers import SOLVERS
from sphericalpca.rows import as_rows
from sphericalpca.solvers import Alternating, Linearized, choose_solver

FROM_U_ALONE = [name for name, entry in SOLVERS.items() if not entry.moves_pairs]


def fails(call, *words, error=ValueError):
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    for word in words:
        assert word in message, f"{word!r} is not in: {message}"
    assert len(message) < 500
    return message


@pytest.mark.parametrize("value", [0, -1, 1.5, "2", None, np.nan, [2]])
def test_n_components_below_1_or_no_integer(X, value):
    model = SphericalPCA(value)
    fails(lambda: model.fit(X), "'n_components'", "an int in the range [1", repr(value))
    fails(lambda: model.fit_transform(X), "'n_components'")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_n_components_above_the_data(X, kind):
    words = ("n_components=8", "must be at most 7", "smaller of 40 rows and 7 columns", "lower it")
    fails(lambda: SphericalPCA(8).fit(kind(X)), *words, error=DataError)
    words = ("n_components=6", "must be at most 5", "smaller of 5 rows and 7 columns", "lower it")
    fails(lambda: SphericalPCA(6).fit(kind(X[:5])), *words, error=DataError)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
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
def test_parameters(X, name, value, rule):
    model = SphericalPCA(**{name: value})
    got = "object" if type(value) is object else repr(value)
    fails(lambda: model.fit(X), f"'{name}' parameter", "must be", rule, got)


@pytest.mark.parametrize("solver", [Linearized, Alternating])
def test_a_solver_class_in_place_of_an_object(X, solver):
    """Forgotten brackets: the message must point at them."""
    message = fails(
        lambda: SphericalPCA(solver=solver).fit(X), "solver", error=(ValueError, TypeError)
    )
    assert "missing 1 required positional" not in message


@pytest.mark.parametrize(
    "options", [{"lam": -1}, {"mu": np.nan}, {"lam": "large"}, {"mu": None}, {"lam": np.inf}]
)
def test_options_of_algorithm_1(options):
    (name, value), *_ = options.items()
    fails(lambda: Linearized(**options), f"{name}={value!r}", "'theory', 'block' or", "number >= 0")


def test_order_of_algorithm_1():
    fails(lambda: Linearized(order="u"), "order='u'", "'uv'", "'vu'")


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
}


@pytest.mark.parametrize("case", BAD_STARTS)
@pytest.mark.parametrize("solver", ["alternating", "linearized"])
def test_starts(X, case, solver):
    init, *words = BAD_STARTS[case]
    fails(lambda: SphericalPCA(2, init=init, solver=solver).fit(X), "init", *words, error=DataError)


@pytest.mark.parametrize("case", BAD_PAIRS)
def test_pairs(X, case):
    init, *words = BAD_PAIRS[case]
    model = SphericalPCA(2, init=init, solver="linearized")
    fails(lambda: model.fit(X), "init", *words, error=DataError)


@pytest.mark.parametrize("solver", ["auto", Alternating(), *FROM_U_ALONE])
def test_a_pair_for_a_solver_that_cannot_take_it(X, solver):
    model = SphericalPCA(2, init=(U, V), solver=solver)
    name = type(choose_solver(solver, as_rows(X), 2, model.tol)).__name__
    words = ("init=(U, V)", name, "U alone", "init=U", "solver='linearized'")
    fails(lambda: model.fit(X), *words, error=DataError)


@pytest.mark.parametrize("init", [U + 1j, (U, V + 1j), (U + 1j, V)])
def test_complex_starts(X, init):
    model = SphericalPCA(2, init=init, solver="linearized")
    fails(lambda: model.fit(X), "init", "real", error=(DataError, TypeError))


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
}


@pytest.mark.parametrize("method", ["fit", "fit_transform", "score", "certify"])
@pytest.mark.parametrize("case", BAD_WEIGHTS)
def test_weights(X, method, case):
    weight, *words = BAD_WEIGHTS[case]
    model = SphericalPCA()
    if not method.startswith("fit"):
        model.fit(X)
    fails(lambda: getattr(model, method)(X, sample_weight=weight), *words, error=DataError)


def test_complex_weights(X):
    weight = np.ones(40) + 1j
    call = SphericalPCA().fit
    words = ("sample_weight", "real")
    fails(lambda: call(X, sample_weight=weight), *words, error=(DataError, TypeError))


@pytest.mark.parametrize("shape", [(4, 2), (4, 4), (3,), (2, 4, 3), ()])
def test_components_of_the_wrong_shape(X, shape):
    model = SphericalPCA(3).fit(X)
    words = (str(shape), "n_components=3", "(n_samples, 3)")
    fails(lambda: model.inverse_transform(np.ones(shape)), *words, error=DataError)


def test_components_that_are_not_finite(X):
    """They are called what the caller calls them; imputing components does not help."""
    model = SphericalPCA(3).fit(X)
    components = np.ones((4, 3))
    components[2, 1] = np.nan
    words = ("NaN", "row 2", "column 1", "finite")
    message = fails(lambda: model.inverse_transform(components), *words, error=DataError)
    assert "X contains" not in message
    assert "Imputer" not in message


@pytest.mark.parametrize(
    "components", [[["a", "b", "c"]], np.ones((2, 3)) * 1j, np.ones((2, 3), dtype="datetime64[s]")]
)
def test_components_that_are_no_real_numbers(X, components):
    model = SphericalPCA(3).fit(X)
    words = ("component", "number")
    fails(lambda: model.inverse_transform(components), *words, error=(DataError, TypeError))


def test_sparse_components(X):
    model = SphericalPCA(3).fit(X)
    V = sparse.csr_array(np.eye(3))
    fails(lambda: model.inverse_transform(V), "sparse", "dense", error=(DataError, TypeError))


@pytest.mark.parametrize("q", [0, -1, 4, 1.5, "1", None, True])
def test_truncate(X, q):
    model = SphericalPCA(3).fit(X)
    words = (f"n_components={q!r}", "from 1 to 3", "fit again for more")
    fails(lambda: model.truncate(q), *words)
