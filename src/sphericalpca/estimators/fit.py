"""From data to a fitted model, and the smallest number of components that reaches a mean cosine.

One read of the data gives the mean cosines of the leading q columns of a U, for all q.  So the SVD
gives a sufficient number of components.  Fits with this number and fewer, each started from the
leading components of the last fit, find the smallest one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from numbers import Integral
from operator import methodcaller
from typing import Any, NamedTuple

import numpy as np

from sphericalpca.estimators.fitted import FittedAttributes, keep_last_fit
from sphericalpca.estimators.foreign import backend_of
from sphericalpca.estimators.monitoring import ProgressMonitor, report_fit, watch_fit
from sphericalpca.estimators.validation import check_matrix, check_rank, check_weights, generator
from sphericalpca.exceptions import DataError, Parameter
from sphericalpca.iterate import Monitor, Solution, State, StopReason
from sphericalpca.linalg import Array
from sphericalpca.parallel import parallel
from sphericalpca.problem import CanonicalForm, Problem
from sphericalpca.rows import Rows, as_rows, mean_of_rows
from sphericalpca.solvers import Checkpoint, Outcome, check_checkpoint_path, choose_solver, solve
from sphericalpca.solvers.start import GRAM_FEATURES, Start, leading, svd_start

__all__ = ["checked_problem", "fit_model", "fitted_to", "leading_means"]

# Above this the sum of squared lengths would overflow.
LARGEST_ENERGY = 1e307

# Number of singular vectors tried first; then twice as many, and so on.
FIRST_COLUMNS = 32


def fit_model(
    model: Any, X: Any, y: Any, sample_weight: Any, *, checkpoint: Any, progress: Any
) -> Rows:
    """Check the data, solve the problem, and store the results in the model."""
    backend = backend_of(X)
    if checkpoint is not None:
        check_checkpoint_path(checkpoint)
    with keep_last_fit(model), parallel():
        watcher = None if progress is None else ProgressMonitor(progress, model.tol)
        watch = None if watcher is None else watcher.watch
        X = check_matrix(model, X, reset=True, watch=watch)
        weight = check_weights(sample_weight, X.shape[0])
        check_rank(model.n_components, X.shape)
        mean = mean_of_rows(X, weight, watch).astype(X.dtype) if model.center else None
        rows = as_rows(X, weight=weight, normalize=model.normalize, mean=mean, watch=watch)
        problem = checked_problem(rows, centred=model.center, weighted=weight is not None)
        data = {"X": X, "y": y, "metadata": {"sample_weight": weight}}
        monitor = watch_fit(model, problem, mean, data, watcher)
        if isinstance(model.n_components, Integral):
            r, rng = int(model.n_components), generator(model.random_state)
            options = _options(problem, model, r, model.init, rng)
            kept = _checkpoint(checkpoint, model, options["solver"], rows)
            outcome = solve(problem, r, monitor=monitor, checkpoint=kept, **options)
        else:
            _check_share_options(model, checkpoint)
            outcome = _solve_share(problem, model, monitor)
        fitted = _attributes(model, problem, outcome, mean)
        fitted.moved(backend.put).store(model)
        monitor.close()
    report_fit(model, rows)
    return rows


def fitted_to(problem: Problem, seen: Any, **parameters: Any) -> Any:
    """A copy of `seen`, which has the feature names, fitted to unit rows checked before."""
    model: Any = copy(seen).set_params(**parameters)
    problem.rows.passes = problem.rows.flops = 0
    r, rng = int(model.n_components), generator(model.random_state)
    with parallel():
        outcome = solve(problem, r, **_options(problem, model, r, model.init, rng))
        _attributes(model, problem, outcome, None).store(model)
    return model


def _options(problem: Problem, model: Any, r: int, init: Any, rng: Any) -> dict[str, Any]:
    """Arguments of `solve` from the model's parameters."""
    solver = choose_solver(model.solver, problem.rows, r, model.tol)
    numbers = {name: getattr(model, name) for name in ("n_init", "tol", "max_iter")}
    return {"solver": solver, "init": init, "rng": rng, **numbers}


def _attributes(model: Any, problem: Problem, outcome: Outcome, mean: Any) -> FittedAttributes:
    found = outcome.solution
    form = _canonical_form(problem, found)
    names = ("residual", "n_iter", "history", "constants")
    known = {f"{name}_": getattr(found, name) for name in names}
    known |= {"mean_": mean, "svd_ratio_": outcome.svd_ratio}
    known["stop_reason_"] = str(found.stop_reason)
    known["solver_"] = choose_solver(model.solver, problem.rows, found.U.shape[1], model.tol)
    return FittedAttributes.of_problem(model, problem, form, **known)


def checked_problem(rows: Rows, *, centred: bool = False, weighted: bool = False) -> Problem:
    """Make the problem of these rows; refuse rows without any direction, or too long ones."""
    totals, n = rows.totals, rows.shape[0]
    if totals.weight == 0:
        why = f"{' after centring' if centred else ''}{' or have weight zero' if weighted else ''}"
        found = f"All rows of X (n_samples = {n}) are zero{why}, so none has a direction"
        more = " and a positive weight" if weighted else ""
        raise DataError(found, remedy=f"pass at least one row with a direction{more}")
    # A sum over all rows must not overflow the data type, either.
    largest = float(np.finfo(rows.dtype).max)  # compared in float64, where nothing overflows
    if not (totals.energy < LARGEST_ENERGY and totals.longest * n < largest):
        found = f"The longest row of X has length {totals.longest:.3g}"
        found += f", too long for the sums of {n} rows in {rows.dtype}"
        raise DataError(found, remedy=("rescale X, or use ", Parameter("normalize", value=True)))
    return Problem(rows)


def _checkpoint(path: Any, model: Any, solver: Any, rows: Rows) -> Checkpoint | None:
    """A checkpoint for data of this shape and type, and these parameters."""
    if path is None:
        return None
    about = {
        "n_samples": rows.shape[0],
        "n_features": rows.shape[1],
        "dtype": rows.dtype.name,
        "n_components": int(model.n_components),
        "solver": repr(solver),
        "init": model.init if isinstance(model.init, str) else _digest(model.init),
        "n_init": int(model.n_init),
        "normalize": bool(model.normalize),
        "center": bool(model.center),
    }
    return Checkpoint(path, about)


def _digest(start: Any) -> str:
    """A checksum of given matrices."""
    if isinstance(start, Start):
        start = start.U if start.V is None else (start.U, start.V)
    parts = start if isinstance(start, tuple) else (start,)
    content = b"".join(np.asarray(part, dtype=np.float64).tobytes() for part in parts)
    return f"given {hashlib.sha256(content).hexdigest()[:16]}"


def _canonical_form(problem: Problem, solution: Solution[State]) -> CanonicalForm:
    """The canonical form of a solution; Algorithm 1 still needs a last exact V step."""
    if solution.final_sums is None:
        return problem.canonical(solution.U)
    return problem.canonical_form(solution.U, solution.final_sums)


class LeadingMeans(NamedTuple):
    """f and the weighted mean cosine of the leading q columns of a U, for q = 1, ..., r."""

    values: Array
    cosines: Array

    def first_to_reach(self, cosine: float) -> int | None:
        """The smallest q that reaches it, None if none does."""
        reached = np.flatnonzero(self.cosines >= cosine)
        return int(reached[0]) + 1 if len(reached) else None


def leading_means(problem: Problem, U: Array) -> LeadingMeans:
    """`LeadingMeans` of U, from half a pass."""
    U = np.ascontiguousarray(U, dtype=problem.rows.dtype)
    kernel = methodcaller("leading_sums", U)
    values, cosines = problem.rows.sweep(kernel, columns=U.shape[1], passes=0.5)
    return LeadingMeans(values, np.minimum(cosines / problem.rows.totals.weight, 1.0))


def _check_share_options(model: Any, checkpoint: Any) -> None:
    """Refuse options that require a fixed number of components."""
    size, init = Parameter("n_components"), model.init
    if not (isinstance(init, str) and init in ("auto", "svd")):
        given = Parameter("init", init) if isinstance(init, str) else "a given init"
        found = (size, " as a mean cosine starts from the SVD, so ", given, " cannot be used")
        raise DataError(found, "", ("pass ", Parameter("init", "auto"), ", or an integer ", size))
    if checkpoint is not None:
        several = " as a mean cosine takes several fits, which a checkpoint cannot store"
        remedy = ("omit ", Parameter("checkpoint"), ", or pass an integer ", size)
        raise DataError((size, several), "", remedy)


class _Candidate(NamedTuple):
    """A fit in the search for the smallest one; U is in canonical form."""

    solution: Solution[State]
    U: Array
    reaches: bool
    stopped: bool

    @property
    def size(self) -> int:
        return int(self.U.shape[1])


def _solve_share(problem: Problem, model: Any, monitor: Monitor) -> Outcome:
    """The smallest fit whose mean cosine reaches `n_components`; all components if none does."""
    target, rng = float(model.n_components), generator(model.random_state)

    def fit(start: Start) -> _Candidate:
        r = start.U.shape[1]
        options = _options(problem, model, r, start, rng)
        solution = solve(problem, r, monitor=monitor, **options).solution
        form = _canonical_form(problem, solution)
        stopped = solution.stop_reason is StopReason.CALLBACK
        return _Candidate(solution, form.U, form.mean_cosine >= target, stopped)

    svd, start = _svd_to_reach(problem, target, rng)
    enough, found = start.U.shape[1], fit(start)
    while not (found.reaches or found.stopped) and enough < min(problem.rows.shape):
        # With rows of unequal lengths, or a solver that lowers f, a fit can be below the SVD.
        enough = min(enough + max(1, enough // 8), *problem.rows.shape)
        start = svd_start(problem, enough, rng)
        found = fit(start)
    if found.reaches:
        found = _fewer(problem, target, lambda U: fit(replace(start, U=U, is_svd=False)), found)
    if found.size > len(svd.values):
        svd = leading_means(problem, start.U)
    return Outcome.of(found.solution, float(svd.values[found.size - 1]), problem.rows.dtype)


def _svd_to_reach(problem: Problem, target: float, rng: Any) -> tuple[LeadingMeans, Start]:
    """Means of singular vectors, and how many of them reach the target, or all."""
    limit, direct = min(problem.rows.shape), problem.rows.shape[1] <= GRAM_FEATURES
    everything = svd_start(problem, limit, rng) if direct else None
    count = FIRST_COLUMNS
    while True:  # with twice as many each time
        count = min(count, limit)
        start = leading(everything, count) if everything else svd_start(problem, count, rng)
        means = leading_means(problem, start.U)
        enough = means.first_to_reach(target)
        if enough is not None or count == limit:
            return means, leading(start, enough or limit)
        count *= 2


def _fewer(
    problem: Problem, target: float, fit: Callable[[Array], _Candidate], found: _Candidate
) -> _Candidate:
    """Reduce a fit that reaches the target: by one component first, then by more."""

    def leading_enough() -> int:  # before they are fitted
        return leading_means(problem, found.U).first_to_reach(target) or found.size

    enough, short, step = leading_enough(), 0, 1
    while found.size - short > 1 and not found.stopped:
        size = max(enough - step, short + 1) if enough - short > 1 else enough
        trial = fit(found.U[:, :size])
        if trial.reaches:
            found, step = trial, 2 * step
            enough = max(leading_enough(), short + 1)
        elif trial.stopped:
            break
        else:
            # Where long rows count more, the mean cosine of a fit can be below that of its start.
            enough = enough if size < enough else found.size
            short, step = size, max(step // 2, 1)
    return found
