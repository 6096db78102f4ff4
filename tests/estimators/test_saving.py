"""A model in a file is the model; anything else is refused in one line."""

from __future__ import annotations

import dataclasses
import json
import pickle
import struct

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sphericalpca import Certificate, DataError, SphericalPCA, modelfile
from sphericalpca.estimators.fitted import header_and_arrays
from sphericalpca.modelfile import read_model, write_model
from sphericalpca.registry.formats import FORMATS, row_suffixes
from sphericalpca.solvers import Alternating, Anderson, Linearized, Newton

safetensors = pytest.importorskip("safetensors")


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return rng.standard_normal((80, 9)) * np.linspace(2, 0.5, 9) + 0.3


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture
def saved(X, path):
    """The bytes of a good file."""
    SphericalPCA(3, random_state=0).fit(X).save(path)
    return path.read_bytes()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"center": True},
        {"normalize": False},
        {"solver": Anderson(memory=3)},
        {"solver": Linearized(order="vu"), "max_iter": 3, "tol": 0},
        {"solver": "newton", "tol": 1e-9},
        {"init": "random", "n_init": 2},
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_was_saved_is_loaded(X, path, options, dtype):
    X = X.astype(dtype)
    model = SphericalPCA(3, random_state=0, **options).fit(X)
    model.save(path)
    loaded = SphericalPCA.load(path)
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    assert loaded.transform(X).dtype == dtype
    assert loaded.score(X) == model.score(X)
    assert repr(loaded) == repr(model)
    assert loaded.solver_ == model.solver_
    for name, value in vars(model).items():
        np.testing.assert_equal(getattr(loaded, name), value, err_msg=name)
    assert not [file for file in path.parent.iterdir() if file != path]
    np.testing.assert_array_equal(clone(loaded).fit(X).components_, model.components_)


def test_names_of_features_are_kept(path):
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.random.default_rng(0).random((20, 3)), columns=["a", "b", "ü"])
    model = SphericalPCA(2).fit(X)
    model.save(path)
    loaded = SphericalPCA.load(path)
    np.testing.assert_array_equal(loaded.feature_names_in_, ["a", "b", "ü"])
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))


def test_a_given_start_is_not_kept(X, path):
    model = SphericalPCA(3, init=np.eye(9)[:, :3], random_state=np.random.RandomState(0)).fit(X)
    model.save(path)
    loaded = SphericalPCA.load(path)
    assert (loaded.init, loaded.random_state) == ("auto", None)
    np.testing.assert_array_equal(loaded.components_, model.components_)


def test_truncated_models_are_saved_too(X, path):
    short = SphericalPCA(3).fit(X).truncate(2)
    short.save(path)
    loaded = SphericalPCA.load(path)
    assert np.isnan(loaded.residual_)
    np.testing.assert_array_equal(loaded.transform(X), short.transform(X))


def test_the_header_tells_what_the_model_is(X, path):
    model = SphericalPCA(3, random_state=7).fit(X)
    certificate = model.certify(X)
    model.save(path, certificate=certificate)
    header, arrays = read_model(path)
    assert header["parameters"]["n_components"] == 3
    assert header["parameters"]["random_state"] == 7
    assert header["fitted"]["residual_"] == model.residual_
    assert header["certificate"]["gap"] == certificate.gap
    assert {"numpy", "scipy", "scikit-learn", "sphericalpca"} <= set(header["versions"])
    np.testing.assert_array_equal(arrays["components"], model.components_)


def test_other_programs_can_read_it(X, path):
    """The layout of safetensors, by hand: a length, a header, numbers."""
    model = SphericalPCA(3).fit(X)
    model.save(path)
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    entry = json.loads(content[8 : 8 + length])["components"]
    first, last = (8 + length + place for place in entry["data_offsets"])
    numbers = np.frombuffer(content[first:last], dtype="<f8").reshape(entry["shape"])
    np.testing.assert_array_equal(numbers, model.components_)


@pytest.mark.parametrize("name", ["data.npy", "data.PARQUET", "data.csv", "model.pkl"])
def test_a_model_has_no_name_of_another_kind_of_file(X, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"data")
    with pytest.raises(ValueError, match=rf"name such as {name.split('.')[0]}.safetensors"):
        SphericalPCA(3).fit(X).save(path)
    assert path.read_bytes() == b"data"


@pytest.mark.parametrize("name", ["model", "model.st", "model.v2", "model.safetensors"])
def test_a_model_takes_the_place_of_an_older_one(X, tmp_path, name):
    SphericalPCA(3).fit(X).save(tmp_path / name)
    SphericalPCA(2).fit(X).save(tmp_path / name)
    assert SphericalPCA.load(tmp_path / name).n_components_ == 2


def test_suffixes_of_rows_are_those_that_are_opened():
    assert set(row_suffixes()) == {s for known in FORMATS.values() for s in known.suffixes}


def test_unfitted_models_are_not_saved(path):
    with pytest.raises(NotFittedError):
        SphericalPCA().save(path)
    assert not path.exists()


def _refused(path, match):
    with pytest.raises(DataError, match=match) as error:
        SphericalPCA.load(path)
    assert "\n" not in str(error.value)


def _with_header(saved, change):
    """The same file after a change to safetensors' own header."""
    (length,) = struct.unpack("<Q", saved[:8])
    header = json.loads(saved[8 : 8 + length])
    change(header)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + saved[8 + length :]


def _with_facts(saved, change):
    def rewrite(header):
        facts = json.loads(header["__metadata__"]["sphericalpca"])
        change(facts)
        header["__metadata__"]["sphericalpca"] = json.dumps(facts)

    return _with_header(saved, rewrite)


def test_truncated_files_are_refused(saved, path):
    for length in np.linspace(0, len(saved) - 1, 60).astype(int):
        path.write_bytes(saved[:length])
        _refused(path, "not a model of sphericalpca, or is damaged")


def test_a_pickle_in_disguise_is_not_opened(path):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("was unpickled",)

    path.write_bytes(pickle.dumps(Trap()))
    _refused(path, "not a model of sphericalpca")


@pytest.mark.parametrize(
    "change",
    [
        lambda header: header["components"].update(shape=[10**9, 10**9]),
        lambda header: header["components"].update(shape=[2**62, 4]),
        lambda header: header["components"].update(data_offsets=[0, 10**15]),
        lambda header: header["components"].update(dtype="F99"),
        lambda header: header.pop("__metadata__"),
        lambda header: header.update(__metadata__={"other": "{}"}),
        lambda header: header.update(__metadata__={"sphericalpca": "[" * 100_000}),
        lambda header: header.update(__metadata__={"sphericalpca": "[]"}),
    ],
)
def test_a_wrong_header_is_refused(saved, path, change):
    path.write_bytes(_with_header(saved, change))
    _refused(path, "not a model of sphericalpca, or is damaged")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (
            lambda facts: facts.update(format=99),
            "has format 99, but this version reads formats 1",
        ),
        (lambda facts: facts.update({"class": "KSVD"}), "holds a KSVD, not a SphericalPCA"),
        (lambda facts: facts.pop("parameters"), "not a whole model"),
        (lambda facts: facts["fitted"].update(n_features_in_=4), "there are 4 features"),
        (lambda facts: facts["fitted"].update(total_weight_=-1.0), "weight of its rows is -1"),
        (lambda facts: facts["fitted"].update(total_weight_="many"), "total_weight_ is 'many'"),
        (lambda facts: facts["fitted"].update(total_weight_=10**400), "not a whole model"),
        (lambda facts: facts["fitted"].update(mean_cosine_=[1.0]), r"mean_cosine_ is \[1.0\]"),
        (lambda facts: facts["fitted"].update(n_iter_=True), "n_iter_ is True"),
        (lambda facts: facts["fitted"].update(n_iter_=-1), "n_iter_ is -1"),
        (lambda facts: facts["fitted"].update(n_features_in_=9.0), "n_features_in_ is 9.0"),
        (lambda facts: facts["fitted"].update(stop_reason_=3), "stop_reason_ is 3"),
        (lambda facts: facts["fitted"].pop("svd_ratio_"), "svd_ratio_ is missing"),
        (lambda facts: facts["constants"].update(lam="x"), "lam is 'x'"),
        (lambda facts: facts["parameters"].update(normalize="no"), "'normalize' parameter"),
        (lambda facts: facts["parameters"].update(n_components="no"), "'n_components' parameter"),
        (lambda facts: facts["solver"].update(name=[]), "solver's name"),
        (lambda facts: facts.update(feature_names="abcdefghi"), "not a list of text"),
        (lambda facts: facts.update(feature_names=["a"]), "1 names for 9 features"),
    ],
)
def test_other_contents_are_refused(saved, path, change, match):
    path.write_bytes(_with_facts(saved, change))
    _refused(path, match)


def test_nan_is_refused(X, path):
    model = SphericalPCA(3).fit(X)
    model.components_[1, 2] = np.nan
    model.save(path)
    _refused(path, "holds NaN or infinity in 'components'")


@pytest.mark.parametrize(
    ("name", "array", "match"),
    [
        ("components", np.zeros((3, 9)), "not of unit length"),
        ("components", np.full((3, 9), 1e300), "not of unit length"),
        ("components", np.eye(3, 9, dtype=np.int8), "type int8"),
        ("components", np.eye(3, 9, dtype=np.float16), "type float16"),
        ("components", np.empty((0, 9)), "shape"),
        ("component_weights", np.ones((3, 2)), "not as many weights"),
        ("mean", np.ones(9, dtype=np.int64), "the mean"),
        ("mean", np.ones(8), "the mean"),
    ],
)
def test_arrays_that_no_model_has_are_refused(X, path, name, array, match):
    model = SphericalPCA(3).fit(X)
    header, arrays = header_and_arrays(model, None)
    write_model(path, {**arrays, name: array}, header)
    _refused(path, match)


def test_what_is_set_has_a_name_of_ours(saved, X, path):
    """A header that says `transform` must not put a text in the place of the method."""
    for name in ("transform", "__dict__", "_U", "later_"):
        change = {name: 1}
        path.write_bytes(_with_facts(saved, lambda facts, new=change: facts["fitted"].update(new)))
        loaded = SphericalPCA.load(path)
        assert name not in vars(loaded)
        assert loaded.transform(X).shape == (80, 3)


def _forget_the_rows(facts):
    """As earlier versions wrote it."""
    for name in ("n_samples_", "total_weight_"):
        del facts["fitted"][name]


@pytest.mark.parametrize("options", [{}, {"normalize": False}], ids=str)
def test_a_loaded_model_learns_on_as_the_one_that_was_saved(X, path, options):
    weight = np.random.default_rng(1).uniform(0, 3, len(X))
    model = SphericalPCA(3, **options).fit(X, sample_weight=weight)
    model.save(path)
    loaded = SphericalPCA.load(path)
    batch = X[:30] ** 2
    for learner in (model, loaded):
        learner.partial_fit(batch, sample_weight=weight[:30])
    np.testing.assert_array_equal(loaded.components_, model.components_)
    assert loaded.total_weight_ == model.total_weight_ == loaded.solver_.weight
    assert loaded.total_weight_ == pytest.approx(weight.sum() + weight[:30].sum(), rel=1e-12)
    assert loaded.n_samples_ == model.n_samples_ == 110


def test_a_stream_goes_on_from_a_file_with_the_say_of_its_rows(X, path):
    SphericalPCA(3).partial_fit(X[:50]).partial_fit(X[50:]).save(path)
    loaded = SphericalPCA.load(path)
    assert (loaded.n_samples_, loaded.total_weight_) == (80, 80.0)
    loaded.partial_fit(X[:7])
    assert (loaded.n_samples_, loaded.total_weight_, loaded.n_samples_seen_) == (87, 87.0, 87)


def test_files_of_earlier_versions_are_loaded(saved, X, path):
    path.write_bytes(_with_facts(saved, _forget_the_rows))
    loaded = SphericalPCA.load(path)
    assert np.isnan([loaded.n_samples_, loaded.total_weight_]).all()
    # The loss of unit rows tells their weight.
    assert loaded.partial_fit(X[:10]).total_weight_ == pytest.approx(len(X) + 10, rel=1e-9)


@pytest.mark.parametrize("options", [{"normalize": False}, {"n_components": 9}], ids=str)
def test_files_of_earlier_versions_that_hide_the_weight(X, path, options):
    """Lengths hide the number of rows, and so does a perfect fit: ten rows a feature then."""
    SphericalPCA(**{"n_components": 3, **options}).fit(X).save(path)
    path.write_bytes(_with_facts(path.read_bytes(), _forget_the_rows))
    loaded = SphericalPCA.load(path).partial_fit(X[:10], sample_weight=np.full(10, 2.0))
    assert loaded.total_weight_ == pytest.approx(2 * 10 * 9 + 2 * 10)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none.safetensors' does not exist"):
        SphericalPCA.load(tmp_path / "none.safetensors")
    with pytest.raises(FileNotFoundError, match="is a folder"):
        SphericalPCA.load(tmp_path)


def test_saved_after_a_fit_of_sparse_rows(path):
    S = sparse.random_array(
        (50, 30), density=0.2, format="csr", random_state=np.random.default_rng(1)
    )
    model = SphericalPCA(4).fit(S[S.sum(axis=1) > 0])
    model.save(path)
    np.testing.assert_array_equal(SphericalPCA.load(path).components_, model.components_)


@dataclasses.dataclass(frozen=True)
class _Foreign(Alternating):
    """A solver of somebody else, with an option that JSON cannot hold."""

    table: object = None


@pytest.mark.parametrize(
    ("solver", "loaded"),
    [
        (Anderson(memory=np.int64(4)), Anderson(memory=4)),
        (Newton(switch=np.float32(0.5)), Newton(switch=0.5)),
        (_Foreign(table=np.ones(3)), "_Foreign"),
    ],
    ids=str,
)
def test_no_option_of_a_solver_keeps_a_model_from_being_saved(X, path, solver, loaded):
    model = SphericalPCA(3, solver=solver).fit(X)
    model.save(path)
    assert SphericalPCA.load(path).solver == SphericalPCA.load(path).solver_ == loaded


def test_the_header_is_json_for_other_languages_too(X, path):
    """Python alone writes and reads Infinity."""
    blind = Certificate(value=0.0, bound=1.0, gap=np.inf, rigorous=True)
    SphericalPCA(3).fit(X).save(path, certificate=blind)
    with safetensors.safe_open(path, framework="numpy") as file:
        text = file.metadata()["sphericalpca"]

    def refuse(constant):
        raise AssertionError(constant)

    header = json.loads(text, parse_constant=refuse)
    assert header["certificate"] == {"value": 0.0, "bound": 1.0, "gap": None, "rigorous": True}


def _nested(depth):
    return [_nested(depth - 1)] if depth else []


@pytest.mark.parametrize("place", ["format", "class", "fitted", "parameters", "feature_names"])
@pytest.mark.parametrize("depth", [100, 300, 600, 900])
def test_lists_in_lists_are_refused_in_few_words(tmp_path, place, depth):
    """Whatever gives up on them first, the parser of JSON or the message that would quote them."""
    path = tmp_path / "model"
    SphericalPCA(2).fit(np.random.default_rng(0).standard_normal((20, 4))).save(path)
    header, arrays = modelfile.read_model(path)
    text = json.dumps(header | {place: "HERE"}).replace('"HERE"', "[" * depth + "]" * depth)
    library = modelfile._safetensors("safetensors.numpy")
    path.write_bytes(library.save(arrays, metadata={modelfile.KEY: text}))
    with pytest.raises(DataError) as refusal:
        SphericalPCA.load(path)
    assert len(str(refusal.value)) < 500 + len(str(path))
