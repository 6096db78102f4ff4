"""Properties of every result, whatever the data are."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager

import numpy as np
from hypothesis import HealthCheck, settings
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

from sphericalpca import DataError

# Errors that the documentation names.  A bare ValueError is not among them: numpy's own
# complaints (shapes that do not fit, SVD did not converge) are ValueErrors too.
DOCUMENTED = (DataError, TypeError, NotFittedError, InvalidParameterError)
# No call on data as small as these may take longer.
SECONDS = 60
# How many times the usual number of examples: HOSTILE_TIMES=50 for a thorough run.
TIMES = float(os.environ.get("HOSTILE_TIMES", "1"))


def hostile(examples):
    """Settings of a test; a usual run draws the same examples every time."""
    return settings(
        max_examples=max(1, int(examples * TIMES)),
        deadline=None,
        derandomize=TIMES == 1,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )


def answer(call, also=()):
    """What the call returns, soon, or None after a documented error that can be read."""
    with _soon():
        try:
            return call()
        except (*DOCUMENTED, *also) as error:
            assert not isinstance(error, np.linalg.LinAlgError)  # noqa: PT017 - it may be raised
            assert 10 < len(str(error)) < 1500, str(error)  # noqa: PT017
            return None


@contextmanager
def _soon():
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def give_up(*_):
        raise AssertionError(f"no answer within {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def n_rows(X):
    """Rows of the drawn data."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def unit_rows(X):
    """The directions of the rows in float64, zero for rows without one, by plain numpy.

    Of rows that are not the smallest nor the largest numbers there are: scaled first.
    """
    A = np.asarray(X.toarray() if sparse.issparse(X) else X)
    single = A.dtype.kind == "f" and A.dtype.itemsize <= 4
    tiny = np.finfo(np.float32 if single else np.float64).tiny
    A = A.astype(np.float64)
    largest = np.abs(A).max(axis=1, keepdims=True)
    A = A / np.where(largest > 0, largest, 1.0)
    length = np.linalg.norm(A, axis=1, keepdims=True)
    return np.where(length * largest >= tiny, A / np.where(length > 0, length, 1.0), 0.0)


def rounding(model):
    """How exact results in the type of the model are."""
    return 1e-9 if model.components_.dtype == np.float64 else 2e-4


def check_orthonormal(C, atol):
    assert np.isfinite(C).all()
    np.testing.assert_allclose(C @ C.T, np.eye(len(C)), atol=atol)


def check_unit_or_zero(V, atol):
    assert np.isfinite(V).all()
    lengths = np.linalg.norm(V, axis=1)
    assert (np.isclose(lengths, 1.0, atol=atol, rtol=0) | (lengths == 0)).all(), lengths


def check_spherical(model):
    """Of a SphericalPCA that was fitted."""
    atol = rounding(model)
    check_orthonormal(model.components_, atol)
    np.testing.assert_allclose(model.component_weights_.sum(), 1, atol=1e-6)
    assert (model.component_weights_ >= 0).all()
    assert 0 <= model.mean_cosine_ <= 1 + atol
    assert np.isfinite([model.loss_, model.residual_]).all()
    assert model.loss_ >= 0
    for record in model.history_.values():
        assert not np.isnan(record).any()
