"""Compare a model with other methods on held-out queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from numbers import Integral
from typing import Any

from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.columns import set_names
from sphericalpca.estimators.fit import checked_problem
from sphericalpca.estimators.fitted import model_on_host
from sphericalpca.estimators.validation import check_matrix, generator
from sphericalpca.evaluation.drift import check_drift, check_model
from sphericalpca.evaluation.methods import METHODS, Method, projections
from sphericalpca.evaluation.result import Evaluation
from sphericalpca.exceptions import Parameter, ParameterError
from sphericalpca.linalg import Array
from sphericalpca.metrics.heldout import HeldOut
from sphericalpca.rows import RowSource, as_rows

__all__ = ["evaluate"]

# Candidates ranked with full vectors, in multiples of k.
SECOND_STAGE = (1, 2, 5, 10, 50)
# Curves include smaller dimensions: halves, down to this.
SMALLEST = 8

Recalls = dict[tuple[str, int, int, int], Array]


def evaluate(
    model: SphericalPCA,
    X: Any,
    *,
    at: Sequence[int] = (1, 10, 100),
    queries: int = 1000,
    random_state: Any = None,
    progress: Callable[[str], Any] | None = None,
) -> Evaluation:
    """Measure the recall of nearest neighbours by cosine, beside common alternatives.

    Rows are held out as queries; their true neighbours are the nearest of all other rows by
    cosine in the full space.  The model is not refitted: if it was fitted to these rows, it has
    seen the queries.  A second Spherical PCA and the alternatives are fitted to the other rows,
    scaled to unit length: the uncentred SVD (dot product, unit rows), centred PCA (dot product,
    cosine, Euclidean distance), the first coordinates and a random projection (unit rows).

    Parameters
    ----------
    model : fitted SphericalPCA
    X : array, sparse matrix or rows in files, shape (n_samples, n_features)
    at : sequence of int, default=(1, 10, 100)
        Numbers of neighbours.  Curves are drawn for 10, or for the first if 10 is not among them.
    queries : int, default=1000
        Rows to hold out, at most a fifth of all.
    random_state : int, RandomState or None, default=None
        Seed of the draw of queries and of the random projection.
    progress : callable, optional
        Called with the name of each step.

    Returns
    -------
    evaluation : Evaluation
        With flat `rows`, the `drift` of X against the model's fit, `to_csv` and `to_dict`.

    Raises
    ------
    DataError
        If X does not suit the model, or has too few rows to hold queries out.
    TypeError
        If `model` is not a SphericalPCA.
    ParameterError
        If `at` is not a list of positive integers.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sphericalpca import SphericalPCA, evaluate
    >>> X = load_digits().data
    >>> found = evaluate(SphericalPCA(16).fit(X), X, at=(1, 10), random_state=0)
    >>> found.row("model", k=10).recall > found.row("truncation", k=10).recall
    True
    """
    check_model(model, "evaluate")
    chosen = at if isinstance(at, (list, tuple)) else ()
    if not chosen or not all(isinstance(k, Integral) and int(k) >= 1 for k in chosen):
        rule = "must be positive integers, such as (1, 10, 100)"
        raise ParameterError(Parameter("at", at), rule)
    at = tuple(sorted({int(k) for k in chosen}))
    tell = progress or (lambda _: None)
    X = check_matrix(model, X, reset=False, on_host=True)
    model = copy(model_on_host(model))
    # Names were compared above; avoid further warnings about them.
    set_names(model, X.columns if isinstance(X, RowSource) else None)
    rng = generator(random_state)
    tell("true neighbours")
    held = HeldOut.draw(X, queries, max(at), rng)
    problem = checked_problem(as_rows(X, weight=held.weight))
    k = 10 if 10 in at else at[0]
    recalls: Recalls = {}
    for source, Z in projections(model, X, problem, held.weight, rng):
        for method in (method for method in METHODS if method.source == source):
            tell(method.label)
            recalls |= _recalls(method, Z, held, at, k)
    tell("drift")
    drift, (n, m), r = check_drift(model, X), X.shape, model.n_components_
    return Evaluation(n, m, r, len(held.ids), at, k, recalls, drift, float(model.svd_ratio_))


def _recalls(method: Method, Z: Array, held: HeldOut, at: tuple[int, ...], k: int) -> Recalls:
    """Measure one method: all numbers of neighbours, two stages, and smaller dimensions."""
    r = Z.shape[1]
    stages = [min(k * times, held.n_base) for times in SECOND_STAGE]
    found = held.search(Z, min(max(*at, *stages), held.n_base), method.metric)
    pairs = [(j, j) for j in at] + [(k, candidates) for candidates in stages]
    recalls = {(method.name, r, j, count): held.recall(found[:, :count], j) for j, count in pairs}
    size = r // 2
    while size >= SMALLEST:
        found = held.search(Z[:, :size], k, method.metric)
        recalls[method.name, size, k, k] = held.recall(found, k)
        size //= 2
    return {key: recalls[key] for key in sorted(recalls)}
