"""How near rows lie to the subspace of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from sphericalpca.estimators import SphericalPCA
from sphericalpca.estimators.door import check_matrix
from sphericalpca.linalg import Array
from sphericalpca.problem import Problem, lengths_of_projections
from sphericalpca.rows import as_rows

__all__ = ["cosines_to"]


def cosines_to(model: SphericalPCA, X: Any) -> Array:
    """Cosine between each row and its image, shape (n_samples,); NaN for rows without a direction.

    The model's arrays are NumPy's.
    """
    X = check_matrix(model, X, reset=False)
    rows = as_rows(X, normalize=model.normalize, mean=model.mean_)
    norm = rows.facts.norm
    cosines: Array = np.full(len(norm), np.nan)
    if norm.any():
        lengths = lengths_of_projections(Problem(rows), model.components_.T)
        np.divide(lengths, norm, out=cosines, where=norm > 0)
    np.minimum(cosines, 1.0, out=cosines)
    return cosines
