"""From the header and arrays of a file to a fitted SphericalPCA; `saving` writes them.

Anybody may have written the file: a name is set only if it is known, and only to a value of
its kind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sphericalpca.linalg import Array, row_norms
from sphericalpca.registry.solvers import SOLVERS

__all__ = ["DAMAGES", "FACTS", "NAMES", "fill"]

NUMBERS = ("mean_cosine_", "loss_", "svd_ratio_", "residual_", "n_passes_", "total_weight_")
COUNTS = ("n_iter_", "n_features_in_", "n_samples_")
REASON = "stop_reason_"
FACTS = (*NUMBERS, *COUNTS, REASON)
# Of what earlier versions did not write nobody knows.
UNKNOWN = {"n_samples_": None, "total_weight_": None}
NAMES = "feature_names_in_"
# What version 0.1 called otherwise.
RENAMED = {"objective_": "loss_", "history.objective": "history.loss"}

# What filling a model from something else may end in.
DAMAGES = (
    *(AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError),
)

# By how much the length of a component may differ from one.
SLACK = 1e-3


def fill(model: Any, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Set parameters and fitted attributes; what later versions may have added is left out.

    Raises one of `DAMAGES` where they are not what they should be.
    """
    if header["class"] != type(model).__name__:
        raise ValueError(f"it holds a {header['class']}, not a {type(model).__name__}")
    _set_parameters(model, header["parameters"])
    model.solver_ = _solver_from(header["solver"])
    fitted = UNKNOWN | {RENAMED.get(name, name): v for name, v in header["fitted"].items()}
    for name in FACTS:
        if name not in fitted:
            raise ValueError(f"{name} is missing")
        setattr(model, name, _fact(name, fitted[name]))
    model.constants_ = {name: _number(name, v) for name, v in header["constants"].items()}
    model.components_, model.component_weights_ = arrays["components"], arrays["component_weights"]
    model.mean_ = arrays.get("mean")
    _check_arrays(model)
    model.history_ = {
        RENAMED.get(name, name).removeprefix("history."): values
        for name, values in arrays.items()
        if name.startswith("history.")
    }
    _set_names(model, header["feature_names"])


def _set_parameters(model: Any, parameters: Mapping[str, Any]) -> None:
    known = model.get_params(deep=False)
    # None stands for what JSON cannot hold.
    given = {k: v for k, v in parameters.items() if k in known and v is not None}
    if isinstance(given.get("solver"), dict):
        given["solver"] = _solver_from(given["solver"])
    model.set_params(**given)
    # The solver may be somebody else's, of which only the name is known.
    type(model)(**{**known, **given, "solver": "auto"})._validate_params()


def _fact(name: str, value: Any) -> Any:
    if name == REASON:
        if not isinstance(value, str):
            raise TypeError(f"{name} is {value!r}")
        return value
    number = _number(name, value)
    whole = isinstance(number, int) or (name in UNKNOWN and value is None)
    if name in COUNTS and not (whole and not number < 0):
        raise TypeError(f"{name} is {value!r}")
    return number


def _number(name: str, value: Any) -> Any:
    """NaN is None in JSON."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is {value!r}")
    float(value)  # an integer of hundreds of digits is no number to compute with
    return value


def _check_arrays(model: Any) -> None:
    U, m = model.components_, model.n_features_in_
    if U.ndim != 2 or U.shape[1] != m or not 1 <= len(U) <= m:
        raise ValueError(f"components have shape {U.shape}, but there are {m} features")
    weights = model.component_weights_
    if weights.shape != (len(U),) or weights.dtype.kind != "f":
        raise ValueError(f"there are {len(U)} components, but not as many weights")
    if U.dtype not in (np.float32, np.float64):
        raise ValueError(f"components have type {U.dtype}")
    with np.errstate(over="ignore"):
        if not (np.abs(row_norms(U) - 1) < SLACK).all():
            raise ValueError("components are not of unit length")
        # Of all pairs at once: a sum with other signs and sizes has its length by Pythagoras.
        mix = np.cos(np.arange(1.0, len(U) + 1))
        if not abs(np.linalg.norm(mix @ U) / np.linalg.norm(mix) - 1) < SLACK:
            raise ValueError("components are not orthogonal to each other")
    if not (math.isnan(model.total_weight_) or 0 <= model.total_weight_ < math.inf):
        raise ValueError(f"the weight of its rows is {model.total_weight_}")
    if model.mean_ is not None and (model.mean_.shape != (m,) or model.mean_.dtype.kind != "f"):
        raise ValueError(f"the mean has shape {model.mean_.shape}, but there are {m} features")


def _set_names(model: Any, names: Any) -> None:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TypeError("names of features are not a list of text")
    if names and len(names) != model.n_features_in_:
        raise ValueError(f"it has {len(names)} names for {model.n_features_in_} features")
    if names:
        setattr(model, NAMES, np.array(names, dtype=object))


def _solver_from(record: Mapping[str, Any]) -> Any:
    """A solver of this package; of others only the name is known."""
    name = record["name"]
    if not isinstance(name, str):
        raise TypeError(f"the solver's name is {name!r}")
    for entry in SOLVERS.values():
        if entry.class_name == name:
            return entry.load()(**record["options"])
    return name
