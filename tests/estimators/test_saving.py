"""A model in a file is the model; anything else is refused in one line."""

from __future__ import annotations

import dataclasses
import json
import pickle
import struct

import numpy as np
import pytest
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
    ("options", "dtype"),
    [
        ({}, np.float32),
        ({"center": True}, np.float64),
        ({"center": True, "normalize": False}, np.float32),
        ({"solver": Anderson(memory=3)}, np.float64),
        ({"solver": Linearized(order="vu"), "max_iter": 3, "tol": 0}, np.float64),
        ({"solver": "newton", "tol": 1e-9}, np.float64),
        ({"init": "random", "n_init": 2}, np.float32),
    ],
    ids=str,
)
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


def test_a_given_start_is_not_kept_and_a_truncated_model_knows_no_residual(X, path):
    model = SphericalPCA(3, init=np.eye(9)[:, :3], random_state=np.random.RandomState(0)).fit(X)
    for saved in (model, model.truncate(2)):
        saved.save(path)
        loaded = SphericalPCA.load(path)
        assert (loaded.init, loaded.random_state) == ("auto", None)
        np.testing.assert_array_equal(loaded.transform(X), saved.transform(X))
    assert np.isnan(loaded.residual_)


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
    # Other programs can read it by hand: a length, a header, numbers.
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    entry = json.loads(content[8 : 8 + length])["components"]
    first, last = (8 + length + place for place in entry["data_offsets"])
    numbers = np.frombuffer(content[first:last], dtype="<f8").reshape(entry["shape"])
    np.testing.assert_array_equal(numbers, model.components_)
    # Python alone writes and reads Infinity.
    model.save(path, certificate=Certificate(value=0.0, bound=1.0, gap=np.inf, rigorous=True))
    with safetensors.safe_open(path, framework="numpy") as file:
        header = json.loads(file.metadata()["sphericalpca"], parse_constant=pytest.fail)
    assert header["certificate"] == {
        "value": 0.0,
        "bound": 1.0,
        "gap": None,
        "rigorous": True,
        "probability": None,
        "kind": "rigorous",
    }


def test_a_model_has_no_name_of_another_kind_of_file(X, tmp_path):
    for name in ("data.npy", "data.PARQUET", "data.csv", "model.pkl"):
        path = tmp_path / name
        path.write_bytes(b"data")
        with pytest.raises(ValueError, match=rf"name such as {name.split('.')[0]}.safetensors"):
            SphericalPCA(3).fit(X).save(path)
        assert path.read_bytes() == b"data"
    assert set(row_suffixes()) == {s for known in FORMATS.values() for s in known.suffixes}


def test_a_model_takes_the_place_of_an_older_one(X, tmp_path):
    for name in ("model", "model.st", "model.v2", "model.safetensors"):
        SphericalPCA(3).fit(X).save(tmp_path / name)
        SphericalPCA(2).fit(X).save(tmp_path / name)
        assert SphericalPCA.load(tmp_path / name).n_components_ == 2


def test_unfitted_models_are_not_saved_and_missing_files_are_named(path):
    with pytest.raises(NotFittedError):
        SphericalPCA().save(path)
    with pytest.raises(FileNotFoundError, match=r"model.safetensors' does not exist"):
        SphericalPCA.load(path)
    with pytest.raises(FileNotFoundError, match="is a folder"):
        SphericalPCA.load(path.parent)


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


def test_what_is_no_whole_file_of_ours_is_refused(saved, path):
    class Trap:
        def __reduce__(self):
            return pytest.fail, ("was unpickled",)

    changes = [
        lambda header: header["components"].update(shape=[10**9, 10**9]),
        lambda header: header["components"].update(shape=[2**62, 4]),
        lambda header: header["components"].update(data_offsets=[0, 10**15]),
        lambda header: header["components"].update(dtype="F99"),
        lambda header: header.pop("__metadata__"),
        lambda header: header.update(__metadata__={"other": "{}"}),
        lambda header: header.update(__metadata__={"sphericalpca": "[" * 100_000}),
        lambda header: header.update(__metadata__={"sphericalpca": "[]"}),
    ]
    for content in [
        *[saved[:length] for length in np.linspace(0, len(saved) - 1, 25).astype(int)],
        *[_with_header(saved, change) for change in changes],
        pickle.dumps(Trap()),
    ]:
        path.write_bytes(content)
        _refused(path, "not a model of sphericalpca, or is damaged")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (
            lambda facts: facts.update(format=99),
            "has format 99, but this version reads formats 1",
        ),
        (
            lambda facts: facts.update(format="1"),
            "has format '1', a str instead of an int, but this version reads formats 1",
        ),
        (lambda facts: facts.update(format=1.0), "has format 1.0, a float instead of an int"),
        (lambda facts: facts["parameters"].update(n_components=4), "but the model has 3 comp"),
        (lambda facts: facts["parameters"].update(center=True), "but the model has no mean"),
        (lambda facts: facts["parameters"].update(later=1), "has no parameter 'later'"),
        (lambda facts: facts.update({"class": "KSVD"}), "holds a KSVD, not a SphericalPCA"),
        (lambda facts: facts.pop("parameters"), "not a complete model file"),
        (lambda facts: facts.pop("class"), "not a complete model file"),
        (lambda facts: facts.pop("solver"), "not a complete model file"),
        (lambda facts: facts["fitted"].update(n_features_in_=4), "there are 4 features"),
        (lambda facts: facts["fitted"].update(total_weight_=-1.0), "weight of its rows is -1"),
        (lambda facts: facts["fitted"].update(total_weight_="many"), "total_weight_ is 'many'"),
        (lambda facts: facts["fitted"].update(total_weight_=10**400), "not a complete model file"),
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


def test_what_contradicts_the_matrix_is_not_saved_and_what_agrees_loads(X, path):
    for later in ({"n_components": 4}, {"center": True}):
        model = SphericalPCA(3).fit(X).set_params(**later)
        with pytest.raises(DataError, match=r"but the model has .*: set it back, or fit again"):
            model.save(path)
        assert not path.exists()
    for components in (0.9, np.int8(3)):
        model = SphericalPCA(components, center=True).fit(X)
        model.save(path)
        np.testing.assert_array_equal(SphericalPCA.load(path).transform(X), model.transform(X))
        model.truncate(2).save(path)
        assert SphericalPCA.load(path).n_components_ == 2
    path.write_bytes(
        _with_facts(path.read_bytes(), lambda facts: facts["parameters"].update(center=False))
    )
    _refused(path, "center=False, but the model has a mean")


@pytest.mark.parametrize(
    ("name", "array", "match"),
    [
        ("components", np.full((3, 9), np.nan), "holds NaN or infinity in 'components'"),
        ("components", np.zeros((3, 9)), "not of unit length"),
        ("components", np.full((3, 9), 1e300), "not of unit length"),
        ("components", 2 * np.eye(3, 9), "not of unit length"),
        ("components", np.eye(3, 9)[[0, 1, 1]], "not orthogonal"),
        ("components", np.eye(3, 9, dtype=np.int8), "type int8"),
        ("components", np.eye(3, 9, dtype=np.float16), "type float16"),
        ("components", np.empty((0, 9)), "shape"),
        ("component_weights", np.ones((3, 2)), "not as many weights"),
        ("mean", np.ones(9, dtype=np.int64), "the mean"),
        ("mean", np.ones(8), "the mean"),
    ],
)
def test_arrays_that_no_model_has_are_refused(X, path, name, array, match):
    header, arrays = header_and_arrays(SphericalPCA(3).fit(X), None)
    write_model(path, {**arrays, name: array}, header)
    _refused(path, match)


def test_only_names_that_we_know_are_read(saved, X, path):
    """A header that says `transform` must not put a text in the place of the method."""

    def change(facts):
        facts["fitted"].update(transform=1, __dict__=1, _U=1, later_=1)

    path.write_bytes(_with_facts(saved, change))
    loaded = SphericalPCA.load(path)
    assert not {"transform", "__dict__", "_U", "later_"} & vars(loaded).keys()
    assert loaded.n_components == 3
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
    model = SphericalPCA(3).partial_fit(X[:50]).partial_fit(X[50:])
    model.save(path)
    loaded = SphericalPCA.load(path)
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
    assert (loaded.n_samples_, loaded.total_weight_, loaded.n_iter_) == (80, 80.0, 2)
    loaded.partial_fit(X[:7])
    assert (loaded.n_samples_, loaded.total_weight_, loaded.n_samples_seen_) == (87, 87.0, 87)
    assert loaded.score(X) > model.score(X) - 0.05


@pytest.mark.parametrize(
    ("options", "before"), [({}, 80), ({"normalize": False}, 180), ({"n_components": 9}, 180)]
)
def test_files_of_earlier_versions_are_loaded(X, path, options, before):
    """The loss of unit rows tells their weight.

    Lengths hide the number of rows, and so does a perfect fit: ten rows a feature then.
    """
    SphericalPCA(**{"n_components": 3, **options}).fit(X).save(path)
    path.write_bytes(_with_facts(path.read_bytes(), _forget_the_rows))
    loaded = SphericalPCA.load(path)
    assert np.isnan([loaded.n_samples_, loaded.total_weight_]).all()
    loaded.partial_fit(X[:10], sample_weight=np.full(10, 2.0))
    assert loaded.total_weight_ == pytest.approx(before + 2 * 10)


@dataclasses.dataclass(frozen=True)
class _Foreign(Alternating):
    """A custom solver, with an option that JSON cannot represent."""

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


@pytest.mark.parametrize("place", ["format", "class", "fitted", "parameters", "feature_names"])
def test_lists_in_lists_are_refused_in_few_words(saved, path, place):
    """Whatever gives up on them first, the parser of JSON or the message that would quote them."""
    header, arrays = read_model(path)
    library = modelfile._safetensors("safetensors.numpy")
    for depth in (100, 300, 600, 900):
        text = json.dumps(header | {place: "HERE"}).replace('"HERE"', "[" * depth + "]" * depth)
        path.write_bytes(library.save(arrays, metadata={modelfile.KEY: text}))
        with pytest.raises(DataError) as refusal:
            SphericalPCA.load(path)
        assert len(str(refusal.value)) < 500 + len(str(path))
