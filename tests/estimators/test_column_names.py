"""Names of columns: rows in tables are treated as the data frame that they are."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from sphericalpca import DataError, SphericalPCA, choose_components, evaluate, open_rows
from sphericalpca.evaluation import check_drift
from sphericalpca.transforming import transform_blocks, transform_file

pd = pytest.importorskip("pandas")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")

NAMES = ["a", "b", "ü", "x*", "e.f"]
OTHERS = {
    "permuted": NAMES[::-1],
    "one pair swapped": ["a", "b", "x*", "ü", "e.f"],
    "another name": ["a", "b", "ü", "x*", "g"],
    "one too few": NAMES[:-1],
    "one too many": [*NAMES, "g"],
}
WRITERS = {"parquet": pq.write_table, "feather": feather.write_feather}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6)) * [6, 5, 4, 3, 2, 1]
    return pd.DataFrame(X, columns=[*NAMES, "g"])


@pytest.fixture(params=WRITERS)
def opened(request, frame, tmp_path):
    """Columns of a file, by their names."""
    path = tmp_path / f"rows.{request.param}"
    WRITERS[request.param](pa.Table.from_pandas(frame, preserve_index=False), path)
    return lambda names=NAMES: open_rows(path, columns=names)


USES = {
    "transform": lambda model, X: model.transform(X),
    "score": lambda model, X: model.score(X),
    "certify": lambda model, X: model.certify(X).bound,
    "evaluate": lambda model, X: [
        row.recall for row in evaluate(model, X, at=(1,), queries=9, random_state=0).rows
    ],
    "check_drift": lambda model, X: check_drift(model, X).now,
}


def outcome(use, model, X):
    """What a use ends in: a value, or an error; and which warnings of names there were."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            value, error = use(model, X), None
        except ValueError as refusal:
            value, error = None, type(refusal)
    return value, error, {str(w.message) for w in said if "feature names" in str(w.message)}


def test_a_fit_learns_the_names_as_from_a_data_frame(frame, opened):
    ours, theirs = SphericalPCA(2).fit(opened()), SphericalPCA(2).fit(frame[NAMES])
    np.testing.assert_array_equal(ours.feature_names_in_, theirs.feature_names_in_)
    assert ours.feature_names_in_.dtype == theirs.feature_names_in_.dtype == object
    assert ours.n_features_in_ == theirs.n_features_in_
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-6)
    chosen = choose_components(opened(), recall=0.3, k=1, queries=9)
    assert list(chosen.model.feature_names_in_) == NAMES


@pytest.mark.parametrize("fit_on", ["rows", "frame", "array"])
@pytest.mark.parametrize("given", ["same", *OTHERS])
def test_rows_of_a_table_are_treated_as_a_data_frame(frame, opened, fit_on, given):
    names = OTHERS.get(given, NAMES)
    sources = {"rows": opened(), "frame": frame[NAMES], "array": frame[NAMES].to_numpy()}
    model = SphericalPCA(2).fit(sources[fit_on])
    # Other names are refused wherever the model has some.
    refused = given in ("one too few", "one too many") or (given != "same" and fit_on != "array")
    for use in USES.values():
        value, error, said = outcome(use, model, opened(names))
        expected, error_of_frame, said_of_frame = outcome(use, model, frame[names])
        assert error is error_of_frame
        assert (error is DataError) == refused
        if error is None:
            assert said == said_of_frame
            np.testing.assert_allclose(value, expected, atol=1e-5)


def test_rows_without_names_are_treated_as_an_array(frame, opened, tmp_path):
    X = frame[NAMES].to_numpy()
    np.save(tmp_path / "x.npy", X)
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), X.shape[1])
    pq.write_table(pa.table({"v": vectors}), tmp_path / "x.parquet")
    model = SphericalPCA(2).fit(opened())
    expected, _, said = outcome(USES["transform"], model, X)
    assert len(said) == 1
    for path in (tmp_path / "x.npy", tmp_path / "x.parquet"):
        rows = open_rows(path)
        for use in USES:
            assert outcome(USES[use], model, rows)[1:] == (None, said)
        np.testing.assert_allclose(outcome(USES["transform"], model, rows)[0], expected, atol=1e-6)
        refitted = SphericalPCA(2).fit(opened()).fit(rows)
        assert not hasattr(refitted, "feature_names_in_")


def test_files_are_transformed_by_the_same_rule(frame, opened, tmp_path):
    model = SphericalPCA(2).fit(frame[NAMES])
    V = np.concatenate(list(transform_blocks(model, opened(model.feature_names_in_))))
    np.testing.assert_allclose(V, model.transform(frame[NAMES]), atol=1e-6)
    before = set(tmp_path.iterdir())
    for names in OTHERS.values():
        with pytest.raises(DataError):
            next(transform_blocks(model, opened(names)))
        with pytest.raises(DataError):
            transform_file(model, opened(names), tmp_path / "out.npy")
    assert set(tmp_path.iterdir()) == before


def test_the_first_wrong_column_is_named_in_one_line(opened):
    model = SphericalPCA(2).fit(opened())
    for given, words in {
        "permuted": "with 'e.f' as column 0, where the model has 'a', but ",
        "one pair swapped": "with 'x*' as column 2, where the model has 'ü', but ",
        "another name": "without column 'e.f', which the model was fitted to, but ",
        "one too few": "without column 'e.f', which the model was fitted to, but ",
        "one too many": "with column 'g', which the model was not fitted to, but ",
    }.items():
        with pytest.raises(DataError) as caught:
            model.transform(opened(OTHERS[given]))
        message = str(caught.value)
        assert words in message
        assert "feature names should match those that were passed during fit" in message
        assert message.endswith("open it with columns=model.feature_names_in_.")
        assert "\n" not in message


def test_names_stay_with_the_model(frame, opened, tmp_path):
    model = SphericalPCA(3).fit(opened())
    model.save(tmp_path / "model")
    loaded, pickled = SphericalPCA.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))
    expected = model.transform(frame[NAMES])
    for copy in (loaded, pickled, model.truncate(3)):
        assert list(copy.feature_names_in_) == NAMES
        np.testing.assert_allclose(copy.transform(opened()), expected, atol=1e-6)
        with pytest.raises(DataError, match="as column 0"):
            copy.transform(opened(NAMES[::-1]))
        assert list(copy.get_feature_names_out()) == [f"sphericalpca{k}" for k in range(3)]
        assert list(copy.get_feature_names_out(NAMES)) == list(copy.get_feature_names_out())


def test_a_stream_and_a_failed_fit_keep_the_names_of_the_fit(frame, opened):
    model = SphericalPCA(2).fit(opened()).partial_fit(frame[NAMES])
    assert list(model.feature_names_in_) == NAMES
    with pytest.raises(DataError, match="feature names"):
        model.partial_fit(frame[NAMES[::-1]])
    with pytest.raises(DataError):
        model.set_params(n_components=5).fit(opened(["a", "b"]))
    assert list(model.feature_names_in_) == NAMES


def test_several_files_have_the_names_of_each(frame, tmp_path):
    for k, part in enumerate((frame[:30], frame[30:])):
        part.to_parquet(tmp_path / f"{k}.parquet", index=False)
    rows = open_rows(tmp_path / "*.parquet", columns=NAMES)
    assert rows.columns == tuple(NAMES)
    model = SphericalPCA(2).fit(rows)
    assert list(model.feature_names_in_) == NAMES
    with pytest.raises(DataError, match=r"2 files from .* as column 0"):
        model.transform(open_rows(tmp_path / "*.parquet", columns=NAMES[::-1]))
    np.save(tmp_path / "x.npy", frame.to_numpy())
    for files in (["0.parquet", "x.npy"], ["x.npy", "0.parquet"]):
        with pytest.raises(DataError, match=r"0.parquet' has names .*x.npy' has none"):
            open_rows([tmp_path / name for name in files])


def test_a_name_that_stands_for_two_columns_is_refused_as_in_data_frames(tmp_path):
    table = pa.table([np.arange(9.0)] * 3, names=["a", "b", "a"])
    pq.write_table(table, tmp_path / "rows.parquet")
    # pandas' format does not take them, Arrow's own does.
    with pa.ipc.new_file(tmp_path / "rows.feather", table.schema) as writer:
        writer.write_table(table)
    for path in tmp_path.iterdir():
        with pytest.raises(DataError, match="2 columns 'a', but every column must have a unique"):
            open_rows(path)
        assert open_rows(path, columns=["b"]).shape == (9, 1)


def test_a_wrong_entry_is_named_by_its_column(frame, tmp_path):
    holes = frame.copy()
    holes.loc[7, "ü"] = np.nan
    with pytest.raises(DataError, match=r"NaN in row 7, column 2 \('ü'\), but"):
        SphericalPCA().fit(holes)
    with pytest.raises(DataError, match=r"NaN in row 7, column 2, but"):
        SphericalPCA().fit(holes.set_axis(range(6), axis=1))
    # From pandas NaN would be null, which is named anyway.
    table = pa.table({name: pa.array(holes[name].to_numpy()) for name in holes})
    pq.write_table(table, tmp_path / "holes.parquet")
    with pytest.raises(DataError, match=r"row 7 of .*, column 2 \('ü'\), but"):
        SphericalPCA().fit(open_rows(tmp_path / "holes.parquet"))


def test_what_is_no_number_is_named_by_its_column(frame, fails):
    dates, error = np.arange(80).astype("datetime64[s]"), (DataError, TypeError)
    for column, words in [
        (["x"] * 80, "X holds text, 'x' in column 1 ('b'), but must hold"),
        ([{}] * 80, "in column 1 ('b'), but X must hold"),
        (pd.Categorical(["x"] * 80), " in column 1 ('b'), but must hold"),
        (dates, "X has dtype datetime64[s] in column 1 ('b'), but "),
        (np.full(80, 1j), "X has dtype complex128 in column 1 ('b'): pass the real part"),
    ]:
        # A column of missing integers comes first, and is not to blame.
        mixed = frame.assign(a=pd.array([None] * 80, dtype="Int64"), b=column)
        fails(lambda mixed=mixed: SphericalPCA().fit(mixed), words, error=error)


def test_a_table_of_arrow_has_names_and_text_may_hold_numbers(frame):
    X = frame[NAMES]
    table = pa.Table.from_pandas(X, preserve_index=False)
    model = SphericalPCA(2).fit(table)
    assert list(model.feature_names_in_) == NAMES
    with pytest.raises(DataError, match="pass the columns"):
        model.transform(table.select(NAMES[:-1]))
    written = X.assign(b=[repr(float(value)) for value in X["b"]])
    found = SphericalPCA(2).fit(written).components_
    np.testing.assert_allclose(found, model.components_, atol=1e-12)
