"""Data that cannot be used: an error that names the value, the rule and the remedy."""

import datetime

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sphericalpca import DataError, SphericalPCA

pandas = pytest.importorskip("pandas")

EITHER = (DataError, TypeError)  # the latter where scikit-learn says so


@pytest.fixture(params=["fit", "fit_transform", "transform", "score", "certify"])
def method(request, X):
    """Every method through which data come in, on a model that is fitted where need be."""
    model = SphericalPCA(3)
    if not request.param.startswith("fit"):
        model.fit(X)
    return getattr(model, request.param)


def test_every_method_refuses_what_is_no_matrix_of_finite_numbers(X, method, fails):
    bad, masked = X.copy(), np.ma.masked_array(X, mask=False)
    bad[11, 5] = np.nan
    masked[3, 1] = np.ma.masked
    for data, *words in [
        (bad, "nan", "row 11", "column 5", "must be finite", "impute or drop"),
        (sparse.csr_array(bad), "nan", "row 11", "column 5", "must be finite", "impute or drop"),
        (masked, "masked at 1 of", "impute or drop"),
        (X + 1j, "complex data not supported", "real part"),
        (X[:0], "(0, 7)", "minimum of 1", "at least one row"),
        (sparse.csr_array(X[:0]), "(0, 7)", "minimum of 1", "at least one row"),
        (X[0], "2D", "1D", "reshape"),
        (X[None], "dim 3", "<= 2", "n_samples, n_features"),
        (iter(X.tolist()), "X is a list_iterator", "pass list(X)"),
        ((row for row in X), "X is a generator", "pass list(X)"),
        ({"a": X[0]}, "X is a dict", "pass one of its entries, or np.column_stack"),
        (set(X[0]), "X is a set", "pass list(X)"),
    ]:
        fails(lambda data=data: method(data), *words, error=DataError)


@pytest.mark.parametrize(
    ("kind", "dtype", "value"),
    [
        (np.asarray, np.float32, np.inf),
        (np.asarray, np.float64, -np.inf),
        (np.asfortranarray, np.float32, np.nan),
        (np.asfortranarray, np.float64, np.inf),
        (sparse.csr_array, np.float32, np.inf),
        (sparse.csr_matrix, np.float64, np.nan),
        (sparse.csc_array, np.float32, np.nan),
        (sparse.csc_array, np.float64, np.inf),
    ],
)
def test_the_first_number_that_is_not_finite_is_located(X, kind, dtype, value, fails):
    X[20, 0], X[9, 6], X[9, 4] = np.inf, np.nan, value
    data = kind(X.astype(dtype))
    fails(lambda: SphericalPCA().fit(data), str(value), "row 9", "column 4", error=DataError)


def test_non_finite_values_that_cancel_or_hide(X, fails):
    """inf - inf, huge numbers whose sum overflows, infinities in rows that count nothing."""
    X[3, 1], X[7, 2] = np.inf, -np.inf
    fails(lambda: SphericalPCA().fit(X), "row 3", error=DataError)
    big = np.full((5, 3), 1e308)
    assert SphericalPCA(1).fit(big).mean_cosine_ == pytest.approx(1)
    X[7, 2] = 0
    weight = np.ones(40)
    weight[3] = 0
    fails(lambda: SphericalPCA().fit(X, sample_weight=weight), "row 3", error=DataError)


def test_missing_values_of_objects_and_frames(X, fails):
    objects = X.astype(object)
    objects[4, 2] = None
    frame = pandas.DataFrame(np.rint(X)).astype("Int64")
    frame.iloc[4, 2] = pandas.NA
    for data in (objects, frame):
        fails(lambda data=data: SphericalPCA().fit(data), "nan", "row 4", "column 2", "impute")


def test_vectors_in_a_column(X, fails):
    arrow = pytest.importorskip("pyarrow")
    series, column = pandas.Series(list(X)), arrow.array(X.tolist())
    frame, table = pandas.DataFrame({"vector": series}), arrow.table({"vector": column})
    chunks = arrow.chunked_array([column])
    for data in (series, series.to_numpy(), frame, column, chunks, table):
        fails(lambda data=data: SphericalPCA().fit(data), "vectors for entries", "np.stack(column)")
    # Before version 17 an array of pyarrow gave np.stack its own kind of numbers.
    stacked = SphericalPCA(2).fit(np.stack(column.to_numpy(zero_copy_only=False)))
    np.testing.assert_array_equal(stacked.components_, SphericalPCA(2).fit(X).components_)


def test_a_mask_that_hides_nothing_is_none(X):
    masked = SphericalPCA(2).fit(np.ma.masked_array(X, mask=False))
    np.testing.assert_array_equal(masked.components_, SphericalPCA(2).fit(X).components_)


def test_a_plan_of_rows_is_not_asked_for_its_columns(method, fails):
    """As polars' LazyFrame, which warns of every such question."""

    class LazyFrame:
        @property
        def columns(self):
            raise AssertionError("costly")

        dtypes = columns

        def collect(self):
            """Compute the rows."""

    fails(lambda: method(LazyFrame()), "X is a LazyFrame", "pass X.collect()", error=DataError)


def with_entry(entry):
    data = np.ones((4, 3), dtype=object)
    data[1, 1] = entry
    return data


TEXT = ("number", "encode", "vectorizer")
DATES = {name: np.arange(3).astype("datetime64[ns]") for name in "xy"}
NO_MATRIX_OF_NUMBERS = {
    "no columns": (np.zeros((6, 0)), "(6, 0)", "minimum of 1", "at least one column"),
    "no columns, csr": (sparse.csr_array((6, 0)), "(6, 0)", "at least one column"),
    "complex csr": (sparse.csr_array(np.eye(3) * 1j), "complex", "real part"),
    "complex list": ([[1j, 2], [3, 4]], "complex", "real part"),
    "complex objects": ((np.eye(3) + 1j).astype(object), "complex", "real part"),
    "complex frame": (pandas.DataFrame(np.eye(3) + 1j), "complex", "real part"),
    "same names": (
        pandas.DataFrame(np.eye(3), columns=["a", "b", "a"]),
        *("unique column names", "a unique name"),
    ),
    "text": (np.array([["a", "b"], ["c", "d"], ["e", "f"]]), *TEXT),
    "digits": (np.array([["1", "2"], ["3", "4"], ["5", "7"]]), *TEXT),
    "bytes": (np.array([[b"a", b"b"], [b"c", b"d"], [b"e", b"f"]]), *TEXT),
    "list of text": ([["a", 1.0], ["b", 2.0], ["c", 3.0]], *TEXT),
    "object": (np.array([["a", 1.0], ["b", 2.0], ["c", 3.0]], dtype=object), *TEXT),
    "object text": (np.array([["1x", "1x"], ["2x", "2x"]], dtype=object), *TEXT),
    "scalar text": ("abc", *TEXT),
    "entry dict": (with_entry({}), "number", "encode"),
    "entry list": (with_entry([1, 2]), "number"),
    "entry date": (with_entry(datetime.date(2024, 1, 1)), "number"),
    "entry object": (with_entry(object()), "number"),
    "beyond float": ([[10**400, 1], [1, 2]], "too large"),
    "dates": (np.arange(6).reshape(2, 3).astype("datetime64[D]"), "datetime64[D]", "encode"),
    "times": (np.arange(6).reshape(2, 3).astype("timedelta64[s]"), "timedelta64[s]", "numbers"),
    "frame of dates": (pandas.DataFrame(DATES), "numbers", "encode"),
    "some dates": (pandas.DataFrame(DATES | {"y": [1.0, 2, 3]}), "numbers", "encode"),
    "some times": (
        pandas.DataFrame({"x": [1.0, 2], "y": np.arange(2).astype("timedelta64[ns]")}),
        *("numbers", "encode"),
    ),
    "categories": (
        pandas.DataFrame({"size": pandas.Categorical(["s", "m"]), "x": [1.0, 2]}),
        *("number", "encode"),
    ),
    "structured": (np.zeros(4, dtype=[("a", "f8")]), "must hold numbers"),
    "scalar": (3.0, "2D", "scalar"),
    "None": (None, "2D"),
    "long 1-d": (np.linspace(0, 1, 100_000), "2D", "1D", "reshape"),
}


@pytest.mark.parametrize("case", NO_MATRIX_OF_NUMBERS)
def test_what_is_no_matrix_of_numbers(case, fails):
    data, *words = NO_MATRIX_OF_NUMBERS[case]
    message = fails(lambda: SphericalPCA().fit(data), *words, error=EITHER)
    assert "' X must" not in message, f"two sentences run into each other: {message}"
    if case.startswith("entry"):
        assert "encode" in message or "drop" in message, message


def test_lists_of_no_or_unequal_rows(fails):
    message = fails(lambda: SphericalPCA().fit([]), "at least one row", error=DataError)
    assert "single feature" not in message  # there is nothing to reshape
    message = fails(lambda: SphericalPCA().fit([[1, 2], [3]]), "inhomogeneous", error=DataError)
    assert "same length" in message or "same number" in message, f"no remedy: {message}"


def test_all_rows_zero_or_of_no_weight(X, fails):
    words = ("zero", "direction", "at least one row")
    stored = sparse.csr_array((np.zeros(4), [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    for data in (np.zeros((5, 3)), sparse.csr_array((5, 3)), [[0, 0, 0]] * 5, stored):
        count = str(len(data) if isinstance(data, list) else data.shape[0])
        for normalize in (True, False):
            model = SphericalPCA(1, normalize=normalize)
            fails(lambda data=data, model=model: model.fit(data), count, *words, error=DataError)
    model = SphericalPCA().fit(X)
    for call in (model.score, model.certify):
        fails(lambda call=call: call(np.zeros((3, 7))), "3", "zero", "at least one row")
    X[:5] = 0
    weight = np.repeat([1.0, 0.0], [5, 35])
    fails(lambda: SphericalPCA().fit(X, sample_weight=weight), "zero", "weight", "at least one row")


@pytest.mark.parametrize("name", ["transform", "score", "certify"])
def test_other_columns_than_those_of_the_fit(X, name, fails):
    use = getattr(SphericalPCA().fit(X), name)
    for kind, columns in [(np.asarray, 1), (np.asarray, 6), (sparse.csr_array, 9)]:
        data = kind(np.ones((4, columns)))
        words = (f"{columns} features", "7 features", "columns that")
        fails(lambda data=data: use(data), *words, error=DataError)
    use = getattr(SphericalPCA().fit(pandas.DataFrame(X, columns=list("abcdefg"))), name)
    for names in ("abcdefx", "bacdefg"):
        frame = pandas.DataFrame(X, columns=list(names))
        message = fails(lambda frame=frame: use(frame), "feature names", error=DataError)
        assert "pass the columns" in message or "must be in the same order" in message, message


def test_unfitted_use(X, fails):
    model = SphericalPCA()
    for call in (
        lambda: model.transform(X),
        lambda: model.inverse_transform(X[:, :2]),
        lambda: model.score(X),
        lambda: model.certify(X),
        lambda: model.truncate(1),
        model.get_feature_names_out,
    ):
        fails(call, "SphericalPCA", "not fitted", "'fit'", error=NotFittedError)
