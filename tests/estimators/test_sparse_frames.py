"""Sparse data frames, whatever number they leave out, are the matrix that they show."""

import numpy as np
import pytest

from sphericalpca import SphericalKMeans, SphericalPCA
from sphericalpca.exceptions import DataError

pd = pytest.importorskip("pandas")


@pytest.fixture
def X():
    X = np.random.default_rng(0).standard_normal((60, 5))
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    X[:, 4] = 2.0  # no row is zero
    return X


def _frame(X, *fills):
    kinds = {name: pd.SparseDtype(float, fill) for name, fill in zip("abcde", fills, strict=True)}
    return pd.DataFrame(X, columns=list("abcde")).astype(kinds)


@pytest.mark.parametrize("fills", [[1.5] * 5, [0.0, 1.5, np.nan, 0.0, 2.0]])
@pytest.mark.parametrize("model", [SphericalPCA(2), SphericalKMeans(2, random_state=0)], ids=str)
@pytest.mark.filterwarnings("error")
def test_fill_values_are_numbers(X, model, fills):
    X = np.where(X == 0, 1.5, X) if 1.5 in fills[:1] else X
    frame, dense = _frame(X, *fills), pd.DataFrame(X, columns=list("abcde"))
    there, here = model.fit(frame).transform(frame), model.fit(dense).transform(dense)
    np.testing.assert_allclose(there, here, atol=1e-7)
    assert list(model.feature_names_in_) == list("abcde")


@pytest.mark.parametrize("fill", [False, True])
def test_sparse_booleans(X, fill):
    frame = pd.DataFrame(X > 0.5).astype(pd.SparseDtype(bool, fill))
    expected = SphericalPCA(2).fit((X > 0.5).astype(float)).mean_cosine_
    assert SphericalPCA(2).fit(frame).mean_cosine_ == pytest.approx(expected, rel=1e-9)


def test_a_missing_number_is_named(X):
    frame = _frame(np.where(X == 0, np.nan, X), *[np.nan] * 5)
    row, column = np.argwhere(X == 0)[0]
    name = "abcde"[column]
    with pytest.raises(DataError, match=rf"NaN in row {row}, column {column} \('{name}'\)"):
        SphericalPCA(2).fit(frame)
