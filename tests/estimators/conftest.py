"""Plain numpy, written from the formulas and not from the package: what the tests agree with."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse


def rows(X, weight=None, *, normalize=True, center=False):
    """The rows that take part, and their weights, in float64 and dense."""
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    w = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    if center:
        X = X - (w @ X) / w.sum()
    norm = np.sqrt((X**2).sum(axis=1))
    X, w, norm = X[norm > 0], w[norm > 0], norm[norm > 0]
    return (X / norm[:, None] if normalize else X), w


def best_components(Z, U):
    Y = Z @ U
    return Y / np.sqrt((Y**2).sum(axis=1, keepdims=True))


def value(Z, w, U):
    """f(U) = sum_j w_j ||U'x_j||."""
    return float(sum(wj * np.linalg.norm(U.T @ x) for x, wj in zip(Z, w, strict=True)))


def loss(Z, w, U, V):
    """h(U, V) = sum_j w_j ||x_j - U v_j||^2, from the residual itself."""
    return float(sum(wj * np.sum((x - U @ v) ** 2) for x, v, wj in zip(Z, V, w, strict=True)))


def residual(Z, w, U):
    G = Z.T @ (w[:, None] * best_components(Z, U))
    S = U.T @ G
    return np.linalg.norm(G - U @ (S + S.T) / 2) / np.linalg.norm(G)


def svd_start(Z, w, r):
    return np.linalg.svd(np.sqrt(w)[:, None] * Z, full_matrices=False)[2][:r].T


def projector(components):
    C = np.asarray(components, dtype=np.float64)
    return C.T @ C


@pytest.fixture(scope="session")
def oracle():
    return SimpleNamespace(
        rows=rows,
        best_components=best_components,
        value=value,
        loss=loss,
        residual=residual,
        svd_start=svd_start,
        projector=projector,
    )


@pytest.fixture
def X():
    """40 x 7, a third of the entries zero, three directions stronger than the rest."""
    rng = np.random.default_rng(20240)
    X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 7))
    X += 0.7 * rng.standard_normal((40, 7))
    X[rng.random(X.shape) < 0.3] = 0.0
    return X


@pytest.fixture
def weight():
    return np.random.default_rng(7).uniform(0.2, 3.0, size=40)


@pytest.fixture(scope="session")
def fails():
    """`call` raises; each of `words` is said, and a reader is not buried in numbers."""

    def check(call, *words, error=ValueError):
        with pytest.raises(error) as caught:
            call()
        message = str(caught.value)
        for word in words:
            assert word.lower() in message.lower(), f"{word!r} is not in: {message}"
        assert len(message) < 500, f"{len(message)} characters: {message[:200]} ..."
        return message

    return check


class Recorder:
    """Records its calls; stops the fit at the end of iteration `stop`."""

    def __init__(self, stop=None):
        self.stop = stop
        self.events = []

    def setup(self, estimator, context):
        self.events.append(("setup", context.task_name))

    def teardown(self, estimator, context):
        self.events.append(("teardown", context.task_name))

    def on_fit_task_begin(self, estimator, context):
        self.events.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context):
        self.events.append(("end", context.task_name, context.task_id))
        return self.stop is not None and context.task_id + 1 == self.stop


@pytest.fixture(scope="session")
def callback_recorder():
    return Recorder
