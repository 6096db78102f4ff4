"""Data that cannot be used: an error that names the value, the rule and the remedy."""

import datetime

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sphericalpca import DataError, SphericalPCA


def fails(call, *words, error=DataError):
    """`call` raises; each of `words` is said, and a reader is not buried in numbers."""
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    for word in words:
        assert word.lower() in message.lower(), f"{word!r} is not in: {message}"
    assert len(message) < 500, f"{len(message)} characters: {message[:200]} ..."
    return message


@pytest.fixture(params=["fit", "fit_transform", "transform", "score", "certify"])
def method(request, X):
    """Every method through which data come in, on a model that is fitted where need be."""
    model = SphericalPCA(3)
    if not request.param.startswith("fit"):
        model.fit(X)
    return getattr(model, request.param)


KINDS = [np.asarray, np.asfortranarray, sparse.csr_array, sparse.csr_matrix, sparse.csc_array]
WHERE = ("row 11", "column 5", "must be finite", "impute or drop")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("value", "name"), [(np.nan, "nan"), (np.inf, "inf")])
def test_nan_and_infinity_are_located_by_every_method(X, method, kind, value, name):
    X[11, 5] = value
    data = kind(X)
    fails(lambda: method(data), name, *WHERE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("value", "name"), [(np.nan, "nan"), (np.inf, "inf")])
def test_nan_and_infinity_are_located_in_every_kind(X, kind, dtype, value, name):
    X[11, 5] = value
    data = kind(X.astype(dtype))
    fails(lambda: SphericalPCA().fit(data), name, *WHERE)


def test_minus_infinity_is_named_as_such(X):
    X[11, 5] = -np.inf
    fails(lambda: SphericalPCA().fit(X), "-inf", *WHERE)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_first_of_several_is_named(X, kind):
    X[20, 0], X[9, 6], X[9, 4] = np.inf, np.nan, np.inf
    fails(lambda: SphericalPCA().fit(kind(X)), "inf", "row 9", "column 4")


def test_non_finite_values_that_cancel_or_hide(X):
    """inf - inf, huge numbers whose sum overflows, infinities in rows that count nothing."""
    X[3, 1], X[7, 2] = np.inf, -np.inf
    fails(lambda: SphericalPCA().fit(X), "row 3")
    big = np.full((5, 3), 1e308)
    assert SphericalPCA(1).fit(big).mean_cosine_ == pytest.approx(1)
    X[7, 2] = 0
    weight = np.ones(40)
    weight[3] = 0
    fails(lambda: SphericalPCA().fit(X, sample_weight=weight), "row 3")


def test_missing_values_of_objects_and_frames(X):
    objects = X.astype(object)
    objects[4, 2] = None
    fails(lambda: SphericalPCA().fit(objects), "nan", "row 4", "column 2", "impute")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.rint(X)).astype("Int64")
    frame.iloc[4, 2] = pandas.NA
    fails(lambda: SphericalPCA().fit(frame), "nan", "row 4", "column 2", "impute")


def test_vectors_in_a_column_of_a_frame(X):
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(list(X))
    for data in (column, column.to_numpy(), pandas.DataFrame({"vector": column})):
        fails(lambda data=data: SphericalPCA().fit(data), "vectors for entries", "np.stack(column)")


def test_vectors_in_a_column_of_arrow(X):
    arrow = pytest.importorskip("pyarrow")
    column = arrow.array(X.tolist())
    for data in (column, arrow.chunked_array([column]), arrow.table({"vector": column})):
        fails(lambda data=data: SphericalPCA().fit(data), "vectors for entries", "np.stack(column)")
    # Before version 17 an array of pyarrow gave np.stack its own kind of numbers.
    stacked = SphericalPCA(2).fit(np.stack(column.to_numpy(zero_copy_only=False)))
    np.testing.assert_array_equal(stacked.components_, SphericalPCA(2).fit(X).components_)


@pytest.mark.parametrize(
    ("make", "what", "remedy"),
    [
        (iter, "X is a list_iterator", "pass list(X)"),
        (lambda rows: (row for row in rows), "X is a generator", "pass list(X)"),
        (lambda rows: {"a": rows[0]}, "X is a dict", "pass one of its entries, or np.column_stack"),
        (lambda rows: set(rows[0]), "X is a set", "pass list(X)"),
    ],
)
def test_what_is_no_array_of_rows(X, method, make, what, remedy):
    fails(lambda: method(make(X.tolist())), what, remedy)


def test_masked_entries_are_missing(X, method):
    masked = np.ma.masked_array(X, mask=False)
    expected = SphericalPCA(2).fit(X).components_
    np.testing.assert_array_equal(SphericalPCA(2).fit(masked).components_, expected)
    masked[3, 1] = np.ma.masked
    fails(lambda: method(masked), "masked at 1 of", "impute or drop")


def test_a_plan_of_rows_is_not_asked_for_its_columns(method):
    """As polars' LazyFrame, which warns of every such question."""

    class LazyFrame:
        @property
        def columns(self):
            raise AssertionError("costly")

        dtypes = columns

        def collect(self):
            """Compute the rows."""

    fails(lambda: method(LazyFrame()), "X is a LazyFrame", "pass X.collect()")


def test_columns_of_the_same_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.eye(3), columns=["a", "b", "a"])
    fails(lambda: SphericalPCA(2).fit(frame), "unique column names", "a unique name")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_no_rows(method, kind):
    fails(lambda: method(kind(np.zeros((0, 7)))), "(0, 7)", "minimum of 1", "at least one row")


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_no_columns(kind):
    message = fails(lambda: SphericalPCA().fit(kind(np.zeros((6, 0)))), "(6, 0)", "minimum of 1")
    assert "at least one column" in message


def test_empty_list():
    message = fails(lambda: SphericalPCA().fit([]), "at least one row")
    assert "single feature" not in message  # there is nothing to reshape


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, lambda A: A.tolist()])
@pytest.mark.parametrize("normalize", [True, False])
def test_all_rows_zero(kind, normalize):
    model = SphericalPCA(normalize=normalize)
    fails(lambda: model.fit(kind(np.zeros((5, 3)))), "5", "zero", "direction", "at least one row")


def test_all_rows_zero_at_score_and_certify(X):
    model = SphericalPCA().fit(X)
    for call in (model.score, model.certify):
        fails(lambda call=call: call(np.zeros((3, 7))), "3", "zero", "at least one row")


def test_explicit_zeros_are_zeros():
    stored = sparse.csr_array((np.zeros(4), [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2))
    fails(lambda: SphericalPCA(1).fit(stored), "zero", "at least one row")


def test_every_row_that_has_a_direction_has_weight_zero(X):
    X[:5] = 0
    weight = np.zeros(40)
    weight[:5] = 1
    fails(lambda: SphericalPCA().fit(X, sample_weight=weight), "zero", "weight", "at least one row")


def test_complex(X, method):
    """The numbers themselves are not printed."""
    fails(lambda: method(X + 1j), "complex data not supported", "real part")


@pytest.mark.parametrize("kind", [sparse.csr_array, lambda A: A.tolist()], ids=["csr", "list"])
def test_complex_in_other_kinds(X, kind):
    data = kind(X + 1j)
    fails(lambda: SphericalPCA().fit(data), "complex", "real part", error=(DataError, TypeError))


def test_complex_objects_and_frames(X):
    call = SphericalPCA().fit
    fails(
        lambda: call((X + 1j).astype(object)), "complex", "real part", error=(DataError, TypeError)
    )
    pandas = pytest.importorskip("pandas")
    fails(lambda: call(pandas.DataFrame(X + 1j)), "complex", "real part")


@pytest.mark.parametrize(
    "data",
    [
        np.array([["a", "b"], ["c", "d"], ["e", "f"]]),
        np.array([["1", "2"], ["3", "4"], ["5", "7"]]),
        np.array([[b"a", b"b"], [b"c", b"d"], [b"e", b"f"]]),
        [["a", 1.0], ["b", 2.0], ["c", 3.0]],
        np.array([["a", 1.0], ["b", 2.0], ["c", 3.0]], dtype=object),
        np.array([["1", 1.0], ["2", 2.0], ["3", 3.0]], dtype=object)[:, :1].repeat(2, axis=1) + "x",
        "abc",
    ],
    ids=["text", "digits", "bytes", "list", "object", "object-text", "scalar"],
)
def test_text(data):
    message = fails(lambda: SphericalPCA().fit(data), "number", "encode", "vectorizer")
    assert "' X must" not in message, f"two sentences run into each other: {message}"


@pytest.mark.parametrize(
    ("entry", "kind"),
    [({}, "dict"), ([1, 2], "list"), (datetime.date(2024, 1, 1), "date"), (object(), "object")],
    ids=["dict", "list", "date", "object"],
)
def test_objects_that_are_no_numbers(X, entry, kind):
    data = X.astype(object)
    data[1, 1] = entry
    message = fails(lambda: SphericalPCA().fit(data), "number", error=(DataError, TypeError))
    assert "encode" in message or "drop" in message, message


def test_integers_beyond_float():
    data = [[10**400, 1], [1, 2]]
    fails(lambda: SphericalPCA(1).fit(data), "too large", error=DataError)


@pytest.mark.parametrize("unit", ["datetime64[D]", "timedelta64[s]"])
def test_dates(unit):
    dates = np.arange(12).reshape(4, 3).astype(unit)
    fails(lambda: SphericalPCA().fit(dates), unit, "must hold numbers", "encode")


@pytest.mark.parametrize("which", ["all", "some"])
@pytest.mark.parametrize("unit", ["datetime64[ns]", "timedelta64[ns]"])
def test_dates_in_a_frame(X, which, unit):
    """Nanoseconds since 1970 are not coordinates."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X[:, :3], columns=["x", "when", "y"])
    columns = frame.columns if which == "all" else ["when"]
    for column in columns:
        frame[column] = np.arange(40).astype(unit)
    fails(lambda: SphericalPCA().fit(frame), "numbers", "encode", error=(DataError, TypeError))


def test_categories_in_a_frame(X):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"size": pandas.Categorical(["s", "m"] * 20), "x": X[:, 0]})
    fails(lambda: SphericalPCA().fit(frame), "number", "encode")


def test_structured_array():
    fails(lambda: SphericalPCA().fit(np.zeros(4, dtype=[("a", "f8")])), "must hold numbers")


def test_1_d(X, method):
    fails(lambda: method(X[0]), "2D", "1D", "reshape")


def test_0_d_and_none():
    fails(lambda: SphericalPCA().fit(3.0), "2D", "scalar")
    fails(lambda: SphericalPCA().fit(None), "2D", error=(DataError, TypeError))


def test_3_d(X, method):
    fails(lambda: method(X[None]), "dim 3", "<= 2", "n_samples, n_features")


def test_1_d_is_not_printed_at_length():
    fails(lambda: SphericalPCA().fit(np.linspace(0, 1, 100_000)), "2D", "1D", "reshape")


def test_ragged_list():
    message = fails(lambda: SphericalPCA().fit([[1, 2], [3]]), "inhomogeneous")
    assert "same length" in message or "same number" in message, f"no remedy: {message}"


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("columns", [1, 6, 9])
@pytest.mark.parametrize("name", ["transform", "score", "certify"])
def test_wrong_number_of_features(X, kind, columns, name):
    model = SphericalPCA().fit(X)
    data = kind(np.ones((4, columns)))
    fails(lambda: getattr(model, name)(data), f"{columns} features", "7 features", "columns that")


@pytest.mark.parametrize("names", [list("abcdefx"), list("bacdefg")])
def test_wrong_feature_names(X, names):
    pandas = pytest.importorskip("pandas")
    model = SphericalPCA().fit(pandas.DataFrame(X, columns=list("abcdefg")))
    frame = pandas.DataFrame(X, columns=names)
    for call in (model.transform, model.score, model.certify):
        message = fails(lambda call=call: call(frame), "feature names")
        assert "pass the columns" in message or "must be in the same order" in message, message


@pytest.mark.parametrize(
    "call",
    [
        lambda m, X: m.transform(X),
        lambda m, X: m.inverse_transform(X[:, :2]),
        lambda m, X: m.score(X),
        lambda m, X: m.certify(X),
        lambda m, X: m.truncate(1),
        lambda m, X: m.get_feature_names_out(),
    ],
    ids=["transform", "inverse_transform", "score", "certify", "truncate", "names"],
)
def test_unfitted_use(X, call):
    model = SphericalPCA()
    fails(lambda: call(model, X), "SphericalPCA", "not fitted", "'fit'", error=NotFittedError)
