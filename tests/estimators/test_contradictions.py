"""Model files whose header contradicts itself, its arrays or this version are refused."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from sphericalpca import R1PCA, SphericalPCA, modelfile
from sphericalpca.estimators.fitted import header_and_arrays
from sphericalpca.exceptions import DataError

pytest.importorskip("safetensors")


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((60, 5)) + 1


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def _write(path, model, change):
    header, arrays = header_and_arrays(model, None)
    header = json.loads(json.dumps({"format": modelfile.FORMAT, **header}))
    change(header)
    modelfile.write_model(path, arrays, header)


@pytest.mark.parametrize(
    ("parameter", "words"),
    [
        ({"n_components": 4}, "n_components=4, but the model has 3 components"),
        ({"center": True}, "center=True, but the model has no mean"),
        ({"later": 1}, "this version has no parameter 'later'"),
    ],
)
def test_parameters_that_contradict_are_refused(X, path, parameter, words):
    _write(path, SphericalPCA(3).fit(X), lambda header: header["parameters"].update(parameter))
    with pytest.raises(DataError, match=words):
        SphericalPCA.load(path)


def test_a_mean_that_no_parameter_asks_for_is_refused(X, path):
    model = SphericalPCA(3, center=True).fit(X)
    _write(path, model, lambda header: header["parameters"].update(center=False))
    with pytest.raises(DataError, match="center=False, but the model has a mean"):
        SphericalPCA.load(path)


@pytest.mark.parametrize("later", [{"n_components": 4}, {"center": True}], ids=str)
def test_what_would_not_load_is_not_saved(X, path, later):
    model = SphericalPCA(3).fit(X).set_params(**later)
    with pytest.raises(DataError, match=r"but the model has .*: set it back, or fit again"):
        model.save(path)
    assert not path.exists()


@pytest.mark.parametrize(
    "model",
    [SphericalPCA(3), SphericalPCA(3, center=True), SphericalPCA(0.9), SphericalPCA(np.int8(3))],
    ids=str,
)
def test_what_agrees_loads(X, path, model):
    model.fit(X).save(path)
    np.testing.assert_array_equal(SphericalPCA.load(path).transform(X), model.transform(X))
    model.truncate(2).save(path)
    assert SphericalPCA.load(path).n_components_ == 2


@pytest.mark.parametrize(("version", "kind"), [("1", "str"), ("2", "str"), (1.0, "float")])
def test_a_format_of_another_type_is_named(X, path, version, kind):
    _write(path, SphericalPCA(3).fit(X), lambda header: header.update(format=version))
    words = f"has format {version!r}, a {kind} instead of an int, but this version reads formats 1"
    with pytest.raises(DataError, match=words):
        SphericalPCA.load(path)


@pytest.mark.parametrize("share", [Fraction(3, 4), Fraction(2), Fraction(5, 2)], ids=str)
@pytest.mark.parametrize("method", ["fit", "partial_fit", "fit_transform"])
def test_fractions_are_refused_as_other_numbers_are(X, share, method):
    with pytest.raises(ValueError, match=r"'n_components' parameter .* Got Fraction"):
        getattr(SphericalPCA(share), method)(X)
    for model in (SphericalPCA(2, tol=share), R1PCA(2, tol=share)):
        with pytest.raises(ValueError, match=r"'tol' parameter .* Got Fraction"):
            model.fit(X)
