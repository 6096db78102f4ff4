"""A fitted SphericalPCA as arrays and a header, and back."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy
import sklearn
from sklearn.utils.validation import check_is_fitted

from sphericalpca.certificate import Certificate
from sphericalpca.exceptions import DataError
from sphericalpca.linalg import Array
from sphericalpca.modelfile import read_model, write_model
from sphericalpca.solvers import SOLVERS
from sphericalpca.version import __version__

__all__ = ["SavingMixin"]

NUMBERS = (
    *("mean_cosine_", "objective_", "svd_ratio_", "residual_"),
    *("n_iter_", "n_passes_", "n_features_in_", "stop_reason_"),
)
NAMES = "feature_names_in_"


class SavingMixin:
    """Models that are saved to one file and loaded from it."""

    def save(self, path: str | Path, *, certificate: Certificate | None = None) -> None:
        """Write the fitted model to one file, whole or not at all.

        A safetensors file with a header in JSON: it holds no code, and other languages can
        read it.  Needs ``pip install 'sphericalpca[files]'``.

        Parameters
        ----------
        path : str or Path
        certificate : Certificate, optional
            From `certify`, to be told with the model.
        """
        check_is_fitted(self)
        write_model(Path(path), _arrays(self), _header(self, certificate))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model that `save` wrote.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        model : SphericalPCA
            Fitted.  A given start, a random generator and solvers of others are not in the
            file: `init` is then "auto", `random_state` None, and the solver's name is kept.
        """
        model = cls()
        header, arrays = read_model(Path(path))
        try:
            _fill(model, header, arrays)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise DataError(
                f"{str(path)!r} is not a whole model ({error}): save the model again."
            ) from None
        return model


def _header(model: Any, certificate: Certificate | None) -> dict[str, Any]:
    return {
        "class": type(model).__name__,
        "versions": _versions(),
        "parameters": _parameters(model),
        "solver": _solver_record(getattr(model, "solver_", None)),
        "fitted": {name: _plain(getattr(model, name)) for name in NUMBERS if hasattr(model, name)},
        "constants": {k: _plain(v) for k, v in getattr(model, "constants_", {}).items()},
        "feature_names": getattr(model, NAMES, np.array([])).tolist(),
        "certificate": None if certificate is None else dataclasses.asdict(certificate),
    }


def _arrays(model: Any) -> dict[str, Array]:
    arrays = {"components": model.components_, "component_weights": model.component_weights_}
    if model.mean_ is not None:
        arrays["mean"] = model.mean_
    history = getattr(model, "history_", {})
    return arrays | {f"history.{name}": values for name, values in history.items()}


def _fill(model: Any, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    if header["class"] != type(model).__name__:
        raise ValueError(f"it holds a {header['class']}, not a {type(model).__name__}")
    known = model.get_params()
    model.set_params(**{k: v for k, v in header["parameters"].items() if k in known})
    model.solver_ = _solver_from(header["solver"])
    if isinstance(model.solver, dict):
        model.solver = _solver_from(model.solver)
    for name in NUMBERS:
        setattr(model, name, _known(name, header["fitted"][name]))
    model.constants_ = {k: float("nan") if v is None else v for k, v in header["constants"].items()}
    model.components_, model.component_weights_ = arrays["components"], arrays["component_weights"]
    model.mean_ = arrays.get("mean")
    _check_shapes(model)
    model.history_ = {
        name.removeprefix("history."): values
        for name, values in arrays.items()
        if name.startswith("history.")
    }
    if header["feature_names"]:
        setattr(model, NAMES, np.array(header["feature_names"], dtype=object))


def _known(name: str, value: Any) -> Any:
    """A fitted number, or the reason for stopping; NaN was written as None."""
    if value is None:
        return float("nan")
    if not isinstance(value, str if name == "stop_reason_" else (int, float)):
        raise TypeError(f"{name} is {value!r}")
    return value


def _check_shapes(model: Any) -> None:
    U, m = model.components_, model.n_features_in_
    for name, array in (("components", U), ("weights", model.component_weights_)):
        if array.dtype.kind != "f" or array.size == 0:
            raise ValueError(f"{name} are {array.size} numbers of type {array.dtype}")
    if U.ndim != 2 or U.shape[1] != m or model.component_weights_.shape != (len(U),):
        raise ValueError(f"components have shape {U.shape}, but there are {m} features")
    if model.mean_ is not None and model.mean_.shape != (m,):
        raise ValueError(f"the mean has shape {model.mean_.shape}, but there are {m} features")
    if not _is_orthonormal(U):
        raise ValueError("components are not orthonormal")


def _is_orthonormal(U: Array) -> bool:
    """By the lengths of the rows, and of one sum of them all with other signs and sizes."""
    if np.abs(U).max() > 1.01:
        return False
    mix = np.cos(np.arange(1.0, len(U) + 1))
    lengths = np.linalg.norm(np.vstack([U, mix @ U / np.linalg.norm(mix)]), axis=1)
    return bool(np.allclose(lengths, 1, atol=1e-2))


def _parameters(model: Any) -> dict[str, Any]:
    """Parameters as JSON; what JSON cannot hold (a given start, a random generator) is None."""
    found = {name: _plain(value) for name, value in model.get_params(deep=False).items()}
    if not isinstance(model.solver, str):
        found["solver"] = _solver_record(model.solver)
    if not isinstance(model.init, str):
        found["init"] = "auto"
    return found


def _plain(value: Any) -> Any:
    """A JSON value; NaN, which JSON does not know, becomes None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else None


def _solver_record(solver: Any) -> dict[str, Any]:
    is_record = dataclasses.is_dataclass(solver) and not isinstance(solver, type)
    options = dataclasses.asdict(solver) if is_record else {}
    return {"name": type(solver).__name__, "options": options}


def _solver_from(record: Mapping[str, Any]) -> Any:
    """A solver of this package; of others only the name is known."""
    kinds = {kind.__name__: kind for kind in SOLVERS.values()}
    kind = kinds.get(record["name"])
    return record["name"] if kind is None else kind(**record["options"])


def _versions() -> dict[str, str]:
    return {
        "sphericalpca": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
