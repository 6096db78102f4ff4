"""K-SVD: sparse codes by matching pursuit, then each atom in turn by an SVD of its residual.

Updating the atoms never increases the loss ||X - C D||^2, unless atoms are merged; coding is
greedy and may increase it.  Rows do not keep earlier codes that were better, because atoms would
adapt to codes that the pursuit does not find again.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from sphericalpca.baselines.pursuit import matching_pursuit
from sphericalpca.linalg import Array, fix_signs, unit_rows
from sphericalpca.rows import Matrix, dense

__all__ = ["Dictionary", "first_atoms", "leading_direction", "learn_dictionary"]

# Atoms whose |cosine| is within this of 1 are considered equal.
TWINS = 1e-6
# A row is represented exactly if its squared error, relative to the row, is this small.
REPRESENTED = 1e-12
# Up to this many rows or columns the SVD itself is cheaper than Lanczos steps.
SMALL = 32
# Lanczos vectors between restarts, few because the start is close already, and the accuracy.
LANCZOS_VECTORS = 8
LANCZOS_ACCURACY = 1e-6


@dataclass(frozen=True)
class Dictionary:
    """Atoms D (k x m) of unit length, the most used first, and a record of how they were learned.

    `coded` and `losses` are ||X - C D||^2 after the coding and after the update of the atoms in
    each iteration; `change` is the last relative change of the loss.  A run has converged when the
    change is at most `tol` or all rows are represented exactly, and no atom was replaced.
    """

    D: Array
    coded: Array
    losses: Array
    change: float
    converged: bool


def first_atoms(X: Matrix, lengths: Array, k: int, rng: np.random.Generator) -> Array:
    """Draw rows at random, and random directions if there are fewer rows than atoms."""
    candidates = np.flatnonzero(lengths > 0)
    D = dense(X[rng.permutation(candidates)[:k]])
    extra = rng.standard_normal((k - len(D), X.shape[1]))
    return unit_rows(np.concatenate([D, extra]))[0]


def learn_dictionary(
    X: Matrix, lengths: Array, D: Array, n_nonzero: int, *, tol: float, max_iter: int
) -> Dictionary:
    """Alternate until the relative change of the loss is at most `tol`, if not 0; X in float64."""
    D = D.copy()
    products = np.asarray(X @ D.T)
    coded, losses = [], [float((lengths**2).sum())]
    converged = False
    while not converged and len(losses) <= max_iter:
        C = matching_pursuit(D @ D.T, products, n_nonzero)
        coded.append(float(_errors(lengths, C, D, products).sum()))
        _update_atoms(X, D, C)
        _merge_twins(D, C)
        products = np.asarray(X @ D.T)
        errors = _errors(lengths, C, D, products)
        losses.append(float(errors.sum()))
        renewed = _replace_unused(X, lengths, D, C, products=products, errors=errors)
        change = abs(losses[-2] - losses[-1]) / (losses[-2] or 1.0)
        # If all rows are represented exactly, the loss and its change are rounding errors.
        settled = change <= tol or losses[-1] <= REPRESENTED * losses[0]
        converged = tol > 0 and not renewed and settled
    order = np.argsort(-np.square(C).sum(axis=0), kind="stable")
    atoms = fix_signs(D[order].T).T
    return Dictionary(atoms, np.array(coded), np.array(losses[1:]), change, converged)


def leading_direction(X: Matrix, C: Array, D: Array, start: Array) -> Array:
    """Leading right singular vector of X - C D, signed like `start`; X may be sparse."""

    def gram_times(v: Array) -> Array:
        y = X @ v - C @ (D @ v)
        return np.asarray(X.T @ y - D.T @ (C.T @ y))

    found, m = None, X.shape[1]
    if min(X.shape) > SMALL:
        operator = LinearOperator((m, m), matvec=gram_times, dtype=np.float64)
        # The remaining rows, or their part along the start, may be zero.
        with suppress(ArpackError):
            vectors = eigsh(operator, k=1, v0=start, ncv=LANCZOS_VECTORS, tol=LANCZOS_ACCURACY)[1]
            found = vectors[:, 0]
    if found is None:
        found = np.linalg.svd(dense(X) - C @ D, full_matrices=False)[2][0]
    return np.asarray(-found if found @ start < 0 else found)


def _errors(lengths: Array, C: Array, D: Array, products: Array) -> Array:
    """||x - c D||^2 for every row, without forming the difference."""
    gains = np.einsum("nk,nk->n", C, 2 * products - C @ (D @ D.T))
    return np.asarray(np.maximum(lengths**2 - gains, 0.0))


def _update_atoms(X: Matrix, D: Array, C: Array) -> None:
    """Set each atom and its codes to the leading singular pair of the others' residual."""
    for k in range(len(D)):
        users = np.flatnonzero(C[:, k])
        if len(users) == 0:
            continue
        rows, others = X[users], C[users]
        others[:, k] = 0.0
        D[k] = leading_direction(rows, others, D, D[k])
        C[users, k] = rows @ D[k] - others @ (D @ D[k])


def _merge_twins(D: Array, C: Array) -> None:
    """Merge equal atoms: the first takes all codes, the others are then unused."""
    cosines = D @ D.T
    for j, k in np.argwhere(np.triu(np.abs(cosines) > 1 - TWINS, 1)):
        C[:, j] += np.sign(cosines[j, k]) * C[:, k]
        C[:, k] = 0.0


def _replace_unused(
    X: Matrix, lengths: Array, D: Array, C: Array, *, products: Array, errors: Array
) -> bool:
    """Replace unused atoms by the rows with the largest errors; True if there were any."""
    errors = np.where(errors > REPRESENTED * lengths**2, errors, 0.0)
    renewed = False
    for k in np.flatnonzero(~C.any(axis=0)):
        worst = int(errors.argmax())
        if errors[worst] == 0:
            break
        D[k] = dense(X[[worst]])[0] / lengths[worst]
        products[:, k] = X @ D[k]
        # Rows parallel to the new atom are not candidates for the next one.
        errors[np.abs(products[:, k]) >= (1 - TWINS) * lengths] = 0.0
        renewed = True
    return renewed
