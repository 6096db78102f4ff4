"""The fitted attributes of SphericalPCA, in one record that fits fill and files store."""

from __future__ import annotations

import dataclasses
import math
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, get_type_hints

import numpy as np
import scipy
import sklearn

from sphericalpca.certificate import Certificate
from sphericalpca.exceptions import DataError, printable
from sphericalpca.linalg import Array, row_norms
from sphericalpca.modelfile import read_model, write_model
from sphericalpca.problem import CanonicalForm, Problem
from sphericalpca.registry.solvers import SOLVERS, with_current_names
from sphericalpca.rows import on_host
from sphericalpca.version import __version__

__all__ = ["FittedAttributes", "keep_last_fit", "load_model", "model_on_host", "save_model"]


@dataclass(frozen=True, kw_only=True)
class FittedAttributes:
    """All results of a fit, documented in `SphericalPCA`.  Unknown floats are NaN."""

    components_: Array
    component_weights_: Array
    mean_: Array | None = None
    mean_cosine_: float = math.nan
    loss_: float = math.nan
    svd_ratio_: float = math.nan
    residual_: float = math.nan
    n_passes_: float = math.nan
    total_weight_: float = math.nan
    n_iter_: int = 0
    n_features_in_: int = 0
    n_samples_: int = 0
    n_samples_seen_: int = 0
    stop_reason_: str = ""
    solver_: Any = None
    history_: dict[str, Array] = field(default_factory=dict)
    constants_: dict[str, float] = field(default_factory=dict)
    feature_names_in_: Array | None = None

    @classmethod
    def of(cls, model: Any) -> Self:
        """The attributes of a fitted model."""
        known = vars(model)
        return cls(**{name: known[name] for name in ATTRIBUTES if name in known})

    @classmethod
    def at(cls, model: Any, form: CanonicalForm, **known: Any) -> Self:
        """The attributes that a model has during its fit, at the current subspace."""
        return cls(
            components_=np.ascontiguousarray(form.U.T),
            component_weights_=form.shares,
            mean_cosine_=form.mean_cosine,
            n_features_in_=form.U.shape[0],
            feature_names_in_=getattr(model, "feature_names_in_", None),
            **known,
        )

    @classmethod
    def of_problem(cls, model: Any, problem: Problem, form: CanonicalForm, **known: Any) -> Self:
        """The attributes at a subspace for a problem with all rows."""
        rows, loss = problem.rows, max(problem.loss(form.value), 0.0)  # negative only by rounding
        known |= {"loss_": loss, "n_passes_": rows.passes, "n_samples_": rows.shape[0]}
        return cls.at(model, form, total_weight_=rows.totals.weight, **known)

    def as_dict(self) -> dict[str, Any]:
        """Name and value of each attribute that the estimator has."""
        seen, named = self.n_samples_seen_ > 0, self.feature_names_in_ is not None
        lacks = {"n_samples_seen_": not seen, "feature_names_in_": not named}
        return {name: getattr(self, name) for name in ATTRIBUTES if not lacks.get(name)}

    def store(self, model: Any) -> None:
        """Set them as attributes of an estimator."""
        for name in ATTRIBUTES:
            vars(model).pop(name, None)
        vars(model).update(self.as_dict())

    def moved(self, move: Callable[[Array], Any]) -> Self:
        """A copy with arrays moved, for example by `Backend.put` or `on_host`."""
        return replace(self, **{name: move(array) for name, array in self.arrays().items()})

    def arrays(self) -> dict[str, Array]:
        """The arrays in the library and on the device of the data."""
        arrays = {name: getattr(self, name) for name in FOLLOW_DATA}
        return {name: array for name, array in arrays.items() if array is not None}

    def truncated(self, n_components: int) -> Self:
        """A copy with the first components only; measurements on the data are NaN."""
        shares = self.component_weights_[:n_components]
        known: dict[str, Any] = {
            "components_": deepcopy(self.components_[:n_components, :]),
            "component_weights_": shares / float(on_host(shares).sum()),
        }
        return replace(self, **dict.fromkeys(NEED_DATA, math.nan) | known)


# Arrays in the library and on the device of the data; measurements on the data, unknown after
# truncation; numbers that older files may lack.
FOLLOW_DATA = ("components_", "component_weights_", "mean_")
NEED_DATA = ("mean_cosine_", "loss_", "svd_ratio_", "residual_")
ADDED_LATER = ("total_weight_", "n_samples_", "n_samples_seen_")
ATTRIBUTES = get_type_hints(FittedAttributes)
FACTS = {name: kind for name, kind in ATTRIBUTES.items() if kind in (float, int, str)}


def model_on_host(model: Any) -> Any:
    """The model with NumPy arrays: itself if it has them already."""
    if isinstance(getattr(model, "components_", None), (np.ndarray, type(None))):
        return model
    FittedAttributes.of(model).moved(on_host).store(model := copy(model))
    return model


@contextmanager
def keep_last_fit(estimator: Any) -> Iterator[None]:
    """If a fit fails, the estimator keeps its previous fit."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        # By scikit-learn's convention names of fitted attributes end, but do not begin, with "_".
        for name in [k for k in vars(estimator) if k.endswith("_") and not k.startswith("_")]:
            delattr(estimator, name)
        vars(estimator).update({k: v for k, v in before.items() if k not in vars(estimator)})
        raise


def save_model(model: Any, path: Path, certificate: Certificate | None) -> None:
    """Write a fitted model to a file, atomically."""
    _check_agreement(model, FittedAttributes.of(model))
    write_model(path, *header_and_arrays(model, certificate)[::-1])


def header_and_arrays(
    model: Any, certificate: Certificate | None
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays of a model file."""
    fitted = FittedAttributes.of(model).moved(on_host)
    names = fitted.feature_names_in_
    # Values that JSON cannot represent (a given start, a random generator) become None.
    parameters = {k: plain(value) for k, value in model.get_params(deep=False).items()}
    if not isinstance(model.solver, str):
        parameters["solver"] = _solver_record(model.solver)
    if not isinstance(model.init, str):
        parameters["init"] = "auto"
    header = {
        "class": type(model).__name__,
        "versions": VERSIONS,
        "parameters": parameters,
        "fitted": {name: plain(getattr(fitted, name)) for name in FACTS},
        "certificate": certificate and {**_plain_fields(certificate), "kind": certificate.kind},
        "solver": _solver_record(fitted.solver_),
        "constants": {name: plain(value) for name, value in fitted.constants_.items()},
        "feature_names": [] if names is None else names.tolist(),
    }
    arrays = {name.removesuffix("_"): array for name, array in fitted.arrays().items()}
    history = {HISTORY + name: array for name, array in fitted.history_.items()}
    return header, arrays | history


def plain(value: Any) -> Any:
    """Convert to a JSON value; None for what JSON cannot represent, such as NaN and infinity."""
    value = value.item() if isinstance(value, np.generic) else value
    known = math.isfinite(value) if isinstance(value, float) else isinstance(value, (str, int))
    return value if known else None


def _solver_record(solver: Any) -> dict[str, Any]:
    is_record = dataclasses.is_dataclass(solver) and not isinstance(solver, type)
    return {"name": type(solver).__name__, "options": _plain_fields(solver) if is_record else {}}


def _plain_fields(record: Any) -> dict[str, Any]:
    return {entry.name: plain(getattr(record, entry.name)) for entry in dataclasses.fields(record)}


# The versions that a model was made with.
VERSIONS = {"sphericalpca": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
VERSIONS |= {"scikit-learn": sklearn.__version__, "python": platform.python_version()}

# Prefix of the names of history arrays.
HISTORY = "history."

# Errors from reading a file that is not a model.
DAMAGES = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)

# Largest difference of the length of a component from one.
SLACK = 1e-3


def load_model(model: Any, path: Path) -> None:
    """Set parameters and fitted attributes from a file; other attributes are left out."""
    header, arrays = read_model(path)
    try:
        if header["class"] != type(model).__name__:
            raise ValueError(f"it holds a {header['class']}, not a {type(model).__name__}")
        _set_parameters(model, header["parameters"])
        solver = str(header["solver"]["name"])  # checked with the other attributes
        facts = with_current_names(header["fitted"], solver)
        arrays = with_current_names(arrays, solver)
        fitted = _attributes_from(header, facts, arrays)
        _check_arrays(fitted)
        _check_agreement(model, fitted)
    except DAMAGES as error:
        value = f"{str(path)!r} is not a complete model file ({printable(error, 200)})"
        raise DataError(value, remedy="save the model again") from None
    fitted.store(model)


def _set_parameters(model: Any, parameters: Mapping[str, Any]) -> None:
    known = model.get_params(deep=False)
    if unknown := [name for name in parameters if name not in known]:
        raise ValueError(f"this version has no parameter {unknown[0]!r}")
    # None represents values that JSON cannot represent.
    given = {name: value for name, value in parameters.items() if value is not None}
    if isinstance(given.get("solver"), dict):
        given["solver"] = _solver_from(given["solver"])
    model.set_params(**given)
    # For a custom solver only the name is known.
    type(model)(**{**known, **given, "solver": "auto"})._validate_params()


def _attributes_from(
    header: Mapping[str, Any], facts: Mapping[str, Any], arrays: Mapping[str, Array]
) -> FittedAttributes:
    stored = {name: name.removesuffix("_") for name in FOLLOW_DATA}
    values: dict[str, Any] = {name: arrays[key] for name, key in stored.items() if key in arrays}
    return FittedAttributes(
        **values,
        **{name: _fact(name, kind, facts) for name, kind in FACTS.items()},
        solver_=_solver_from(header["solver"]),
        history_={k.removeprefix(HISTORY): v for k, v in arrays.items() if k.startswith(HISTORY)},
        constants_={name: _number(name, value) for name, value in header["constants"].items()},
        feature_names_in_=names_from(header["feature_names"], facts["n_features_in_"]),
    )


def _fact(name: str, kind: type, facts: Mapping[str, Any]) -> Any:
    value, may_lack = facts.get(name), name in ADDED_LATER
    if name not in facts and not may_lack:
        raise ValueError(f"{name} is missing")
    found = value if kind is str else _number(name, value)
    is_count = kind is int and isinstance(found, int) and found >= 0
    if kind is float or is_count or (kind is str and isinstance(value, str)):
        return found
    if may_lack and value is None:
        return found
    raise TypeError(f"{name} is {value!r}")


def _number(name: str, value: Any) -> Any:
    """NaN is None in JSON."""
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is {value!r}")
    float(value)  # fails for integers of hundreds of digits
    return value


def names_from(names: Any, n_features: int) -> Array | None:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TypeError("names of features are not a list of text")
    if names and len(names) != n_features:
        raise ValueError(f"it has {len(names)} names for {n_features} features")
    return np.array(names, dtype=object) if names else None


def _solver_from(record: Mapping[str, Any]) -> Any:
    """A solver of this package; for custom ones only the name is known."""
    name = record["name"]
    if not isinstance(name, str):
        raise TypeError(f"the solver's name is {name!r}")
    for entry in SOLVERS.values():
        if entry.class_name == name:
            return entry.load()(**record["options"])
    return name


def _check_agreement(model: Any, fitted: FittedAttributes) -> None:
    """Refuse parameters that contradict the fitted attributes."""
    r, size, remedy = model.n_components, len(fitted.components_), "set it back, or fit again"
    if isinstance(r, (int, np.integer)) and r != size:
        raise DataError(f"n_components={r}", f"the model has {size} components", remedy)
    if bool(model.center) != (fitted.mean_ is not None):
        mean = "no mean" if fitted.mean_ is None else "a mean"
        raise DataError(f"center={model.center}", f"the model has {mean}", remedy)


def _check_arrays(fitted: FittedAttributes) -> None:
    U, m = fitted.components_, fitted.n_features_in_
    if U.ndim != 2 or U.shape[1] != m or not 1 <= len(U) <= m:
        raise ValueError(f"components have shape {U.shape}, but there are {m} features")
    weights = fitted.component_weights_
    if weights.shape != (len(U),) or weights.dtype.kind != "f":
        raise ValueError(f"there are {len(U)} components, but not as many weights")
    if U.dtype not in (np.float32, np.float64):
        raise ValueError(f"components have type {U.dtype}")
    with np.errstate(over="ignore"):
        if not (np.abs(row_norms(U) - 1) < SLACK).all():
            raise ValueError("components are not of unit length")
        # All pairs at once: a combination of orthonormal rows has its length by Pythagoras.
        mix = np.cos(np.arange(1.0, len(U) + 1))
        if not abs(np.linalg.norm(mix @ U) / np.linalg.norm(mix) - 1) < SLACK:
            raise ValueError("components are not orthogonal to each other")
    weight, mean = fitted.total_weight_, fitted.mean_
    if not (math.isnan(weight) or 0 <= weight < math.inf):
        raise ValueError(f"the weight of its rows is {weight}")
    if mean is not None and (mean.shape != (m,) or mean.dtype.kind != "f"):
        raise ValueError(f"the mean has shape {mean.shape}, but there are {m} features")
