"""How near rows lie to the subspace of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.door import check_matrix
from sphericalpca.linalg import Array
from sphericalpca.problem import Problem, lengths_of_projections
from sphericalpca.rows import as_rows

__all__ = ["check_model", "cosines_to"]


def check_model(model: Any, caller: str) -> None:
    """Refuse what is no fitted SphericalPCA, such as X in its place."""
    if not isinstance(model, SphericalPCA):
        raise TypeError(
            f"model is of type {type(model).__name__}, but must be a fitted SphericalPCA: call "
            f"{caller}(model, X)."
        )
    check_is_fitted(model)


def cosines_to(model: SphericalPCA, X: Any) -> Array:
    """Cosine between each row and its image, shape (n_samples,); NaN for rows without a direction.

    The model's arrays are NumPy's.
    """
    X = check_matrix(model, X, reset=False)
    rows = as_rows(X, normalize=model.normalize, mean=model.mean_)
    norm = rows.stats.norm
    cosines: Array = np.full(len(norm), np.nan)
    if norm.any():
        lengths = lengths_of_projections(Problem(rows), model.components_.T)
        np.divide(lengths, norm, out=cosines, where=norm > 0)
    np.minimum(cosines, 1.0, out=cosines)
    return cosines
