"""Arrays of other libraries: the same kind out as in, and the same numbers as NumPy's."""

import os
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import sklearn

from sphericalpca import KSVD, DataError, SphericalPCA, choose_components, evaluate
from sphericalpca.estimators import foreign
from sphericalpca.evaluation import check_drift
from sphericalpca.export.unit_map import unit_map
from sphericalpca.registry.solvers import SOLVERS

pytestmark = pytest.mark.skipif(
    os.environ.get("SCIPY_ARRAY_API") != "1",
    reason="scikit-learn dispatches only if SCIPY_ARRAY_API=1 is set before scipy is imported",
)

# What is fitted, in which type, and whether NumPy can see the memory.
SETTINGS = {
    "default": ({}, np.float64, "shared"),
    "default, float32, on a device": ({}, np.float32, "elsewhere"),
    "not scaled": ({"normalize": False}, np.float64, "elsewhere"),
    "centred": ({"center": True}, np.float64, "elsewhere"),
    "centred, float32": ({"center": True, "normalize": False}, np.float32, "elsewhere"),
    "anderson": ({"solver": "anderson"}, np.float64, "elsewhere"),
    "newton": ({"solver": "newton", "tol": 1e-9}, np.float64, "elsewhere"),
    "newton, float32": ({"solver": "newton"}, np.float32, "shared"),
    "random": ({"solver": "alternating", "init": "random", "n_init": 2}, np.float64, "elsewhere"),
    "mean cosine": ({"n_components": 0.8}, np.float64, "elsewhere"),
}


@pytest.fixture
def dispatch():
    with sklearn.config_context(array_api_dispatch=True):
        yield


@pytest.fixture(params=["torch", "array_api_strict"])
def xp(request, dispatch):
    return pytest.importorskip(request.param)


@pytest.fixture
def torch(dispatch):
    return pytest.importorskip("torch")


@pytest.fixture
def hide(monkeypatch):
    """As if NumPy could not see any foreign memory: what a GPU's is."""
    return lambda: monkeypatch.setattr(foreign, "host_view", lambda X: None)


@pytest.fixture
def unaddressable(hide):
    hide()


@pytest.fixture(params=["shared", "elsewhere"])
def anywhere(request, hide):
    if request.param == "elsewhere":
        hide()


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 9)) * 3 + rng.random((60, 9))
    return X * rng.uniform(0.1, 10, (60, 1))


def numpy_fit(X, options, **fit):
    with sklearn.config_context(array_api_dispatch=False):
        return SphericalPCA(**{"n_components": 3, "tol": 1e-8} | options).fit(X, **fit)


def as_numpy(array):
    return np.asarray(np.from_dlpack(array))


def assert_agree(model, ours, X, there):
    """A model of NumPy's and one of another library, each with its own data."""
    # A subspace is known less well than the residual at which its fit ended is small.
    close = {"atol": 1e-4, "rtol": 1e-4} if X.dtype == np.float32 else {"atol": 1e-6}
    for name in ("components_", "component_weights_"):
        np.testing.assert_allclose(as_numpy(getattr(ours, name)), getattr(model, name), **close)
    V = ours.transform(there)
    with sklearn.config_context(array_api_dispatch=False):
        expected = model.transform(X)
    np.testing.assert_allclose(as_numpy(V), expected, **close)
    image = model.inverse_transform(expected)
    np.testing.assert_allclose(as_numpy(ours.inverse_transform(V)), image, **close)
    assert ours.score(there) == pytest.approx(model.mean_cosine_, abs=1e-5)
    assert type(V) is type(there) is type(ours.components_)
    assert V.dtype == there.dtype
    assert V.device == there.device


@pytest.mark.parametrize("setting", SETTINGS)
def test_agrees_with_numpy(xp, data, setting, hide):
    options, dtype, where = SETTINGS[setting]
    X, options = data.astype(dtype), {"random_state": 0, **options}
    if dtype == np.float32:
        options["tol"] = 1e-5
    model, there = numpy_fit(X, options), xp.asarray(X)
    if where == "elsewhere":
        hide()
    ours = SphericalPCA(**model.get_params()).fit(there)
    assert_agree(model, ours, X, there)


def test_weights_and_rows_without_direction(xp, data, anywhere):
    data[[3, 7]] = 0
    weight = np.arange(60.0)
    with pytest.warns(match="no direction"):
        model = numpy_fit(data, {}, sample_weight=weight)
    ours = SphericalPCA(**model.get_params())
    with pytest.warns(match="2 of 60 rows have no direction"):
        ours.fit(xp.asarray(data), sample_weight=xp.asarray(weight))
    np.testing.assert_allclose(as_numpy(ours.components_), model.components_, atol=1e-7)
    with pytest.warns(match="2 of 60 rows have no direction and came out as zero"):
        V = as_numpy(ours.transform(xp.asarray(data)))
    assert not V[[3, 7]].any()


def test_magnitudes_beyond_squares(xp, data, unaddressable):
    model = numpy_fit(data, {})
    for size in (1e-160, 1e160):
        there = xp.asarray(data * size)
        V = SphericalPCA(**model.get_params()).fit(there).transform(there)
        np.testing.assert_allclose(as_numpy(V), model.transform(data), atol=1e-6)


def test_certificates_and_saddles_on_a_device(xp, data, unaddressable):
    model, there = numpy_fit(data, {}), xp.asarray(data)
    gap = SphericalPCA(**model.get_params()).fit(there).certify(there).gap
    assert gap == pytest.approx(model.certify(data).gap, abs=1e-7)
    few = xp.asarray(data[:5])
    assert SphericalPCA(2).fit(few).certify(few).gap >= -1e-9
    # At the SVD of these rows the rows along e2 project to nothing.
    X = np.zeros((19, 2))
    X[:10, 0] = X[10:, 1] = 1
    expected = numpy_fit(X, {"n_components": 1}).mean_cosine_
    assert SphericalPCA(1).fit(xp.asarray(X)).mean_cosine_ == pytest.approx(expected)


@pytest.mark.usefixtures("unaddressable")
@pytest.mark.parametrize(("dtype", "kind"), [("float64", "probable"), ("float32", "estimate")])
def test_a_certificate_by_iteration(xp, data, dtype, kind, monkeypatch):
    """Float32 stays as it is on a device: no probability is known."""
    monkeypatch.setattr("sphericalpca.certificate.DIRECT_SIZE", 3)
    data = data.astype(dtype)
    model, there = numpy_fit(data, {"tol": 1e-5}), xp.asarray(data)
    found = SphericalPCA(**model.get_params()).fit(there).certify(there)
    assert found.kind == kind
    assert found.gap == pytest.approx(model.certify(data).gap, abs=2e-5)


def test_what_may_not_be_written_to_is_not_shared_with_torch(torch):
    fixed = np.ones((3, 2))
    fixed.flags.writeable = False
    foreign.backend_of(torch.ones(1)).put(fixed)[0, 0] = 5.0
    assert fixed[0, 0] == 1.0


def test_without_dispatch_numpy_comes_out(data):
    torch = pytest.importorskip("torch")
    X = torch.asarray(data.astype(np.float32))
    V = SphericalPCA(3).fit(X).transform(X)
    assert isinstance(V, np.ndarray)
    assert V.dtype == np.float32


def test_other_types_are_converted(torch, data, anywhere):
    for dtype in ("float16", "bfloat16", "int32", "bool"):
        X = torch.asarray(data).to(getattr(torch, dtype))
        V = SphericalPCA(3).fit(X).transform(X)
        assert V.dtype == (torch.float32 if "float" in dtype else torch.float64)


def test_what_cannot_be_read_is_refused_in_one_sentence(torch, data, anywhere):
    X = torch.asarray(data)
    model = SphericalPCA(3).fit(X)
    wrong = X.clone()
    wrong[5, 2] = torch.nan
    for bad, message in (
        (X.clone().requires_grad_(), r"pass X\.detach\(\)"),
        (X.to_sparse(), "to_dense"),
        (X.to(torch.complex64), "Complex data"),
        (wrong, "contains NaN in row 5, column 2"),
        (X[:, :4], "4 features"),
        (X[0], "2D array"),
        (X[:0], "0 sample"),
    ):
        for method in (model.fit if bad.shape != (60, 4) else model.transform, model.transform):
            with pytest.raises(DataError, match=message):
                method(bad)


def test_another_namespace_than_that_of_the_fit_is_refused(torch, data):
    model = SphericalPCA(3).fit(torch.asarray(data))
    with pytest.raises(
        ValueError, match=r"SphericalPCA\.transform\(\) must use the same namespace"
    ):
        model.transform(data)
    with pytest.raises(ValueError, match=r"SphericalPCA\.score\(\) must"):
        model.score(data)


def test_another_device_than_that_of_the_fit_is_named(torch, data, unaddressable):
    model = SphericalPCA(3).fit(torch.asarray(data))
    with pytest.raises(DataError, match=r"X is in numpy, the model in torch on \w+"):
        model.inverse_transform(model.transform(torch.asarray(data)).numpy())


def test_all_else_on_devices_is_refused_by_name(torch, data, unaddressable):
    X = torch.asarray(data)
    remedy = "use solver='auto', 'anderson', 'newton' or 'alternating'"
    for solver in (name for name, entry in SOLVERS.items() if entry.keeps_rows):
        with pytest.raises(ValueError, match=remedy):
            SphericalPCA(3, solver=solver).fit(X)
    model = SphericalPCA(3).fit(X)
    for call in (
        lambda: SphericalPCA(3).partial_fit(X),
        lambda: KSVD(3).fit(X),
        lambda: choose_components(X),
        lambda: evaluate(model, X),
    ):
        with pytest.raises(DataError, match="move X to the host"):
            call()


def test_a_model_of_tensors_goes_everywhere(torch, data, tmp_path):
    pytest.importorskip("safetensors")
    X = torch.asarray(data)
    model, expected = SphericalPCA(3).fit(X), numpy_fit(data, {"tol": 1e-4})
    model.save(tmp_path / "model.safetensors")
    loaded = SphericalPCA.load(tmp_path / "model.safetensors")
    np.testing.assert_allclose(loaded.components_, expected.components_, atol=1e-12)
    np.testing.assert_allclose(unit_map(model).matrix, unit_map(expected).matrix, atol=1e-6)
    again = pickle.loads(pickle.dumps(model)).transform(X)
    assert torch.equal(again, model.transform(X))
    assert isinstance(model.truncate(2).transform(X), torch.Tensor)
    assert check_drift(model, X).verdict == "none"
    found = evaluate(model, X, queries=10, at=(1, 10), random_state=0)
    assert found.row("model", k=10).recall > 0.5
    streamed = SphericalPCA(3).partial_fit(X).partial_fit(X)
    assert isinstance(streamed.components_, torch.Tensor)


def test_the_example_of_the_page_holds():
    torch = pytest.importorskip("torch")
    page = Path(__file__).parents[2] / "docs" / "arrays.md"
    names: dict = {}
    for block_of_code in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(block_of_code, names)
    X, V = names["X"], names["V"]
    assert V.dtype == X.dtype == torch.float32
    torch.testing.assert_close(torch.linalg.norm(V, dim=1), torch.ones(len(X)))
    assert isinstance(names["X_back"], torch.Tensor)
    assert names["X_back"].shape == X.shape
