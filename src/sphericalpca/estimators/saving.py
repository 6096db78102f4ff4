"""A fitted SphericalPCA as arrays and a header; `loading` goes the way back."""

from __future__ import annotations

import dataclasses
import platform
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy
import sklearn
from sklearn.utils.validation import check_is_fitted

from sphericalpca.certificate import Certificate
from sphericalpca.estimators.loading import DAMAGES, FACTS, NAMES, fill
from sphericalpca.estimators.namespaces import model_on_host
from sphericalpca.exceptions import DataError, printable
from sphericalpca.linalg import Array
from sphericalpca.modelfile import read_model, write_model
from sphericalpca.version import __version__

__all__ = ["SavingMixin"]


class SavingMixin:
    """Models that are saved to one file and loaded from it."""

    def save(self, path: str | Path, *, certificate: Certificate | None = None) -> None:
        """Write the fitted model to one file, whole or not at all.

        A safetensors file with a header in JSON: it holds no code, and other languages can
        read it.  Needs ``pip install 'sphericalpca[files]'``.

        Parameters
        ----------
        path : str or Path
            An older model of that name is replaced.  A suffix that belongs to another kind of
            file, such as ``.npy`` or ``.pkl``, is refused.
        certificate : Certificate, optional
            From `certify`, to be told with the model.

        Raises
        ------
        MissingExtraError
            If safetensors is not installed.
        OSError
            If the file cannot be written; what was there before is left as it was.
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

        Raises
        ------
        DataError
            If it is no file of `save`, or a damaged one.
        """
        model = cls()
        header, arrays = read_model(Path(path))
        try:
            fill(model, header, arrays)
        except DAMAGES as error:
            raise DataError(
                f"{str(path)!r} is not a whole model ({printable(error, 200)}): save the model "
                "again."
            ) from None
        return model


def _header(model: Any, certificate: Certificate | None) -> dict[str, Any]:
    return {
        "class": type(model).__name__,
        "versions": _versions(),
        "parameters": _parameters(model),
        "solver": _solver_record(getattr(model, "solver_", None)),
        "fitted": {name: _plain(getattr(model, name)) for name in FACTS if hasattr(model, name)},
        "constants": {k: _plain(v) for k, v in getattr(model, "constants_", {}).items()},
        "feature_names": getattr(model, NAMES, np.array([])).tolist(),
        "certificate": None if certificate is None else _plain_fields(certificate),
    }


def _arrays(model: Any) -> dict[str, Array]:
    model = model_on_host(model)
    arrays = {"components": model.components_, "component_weights": model.component_weights_}
    if model.mean_ is not None:
        arrays["mean"] = model.mean_
    history = getattr(model, "history_", {})
    return arrays | {f"history.{name}": values for name, values in history.items()}


def _parameters(model: Any) -> dict[str, Any]:
    """Parameters as JSON; what JSON cannot hold (a given start, a random generator) is None."""
    found = {name: _plain(value) for name, value in model.get_params(deep=False).items()}
    if not isinstance(model.solver, str):
        found["solver"] = _solver_record(model.solver)
    if not isinstance(model.init, str):
        found["init"] = "auto"
    return found


def _plain(value: Any) -> Any:
    """A JSON value; None for what JSON does not know, NaN and infinity among it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else None


def _solver_record(solver: Any) -> dict[str, Any]:
    is_record = dataclasses.is_dataclass(solver) and not isinstance(solver, type)
    return {"name": type(solver).__name__, "options": _plain_fields(solver) if is_record else {}}


def _plain_fields(record: Any) -> dict[str, Any]:
    return {field.name: _plain(getattr(record, field.name)) for field in dataclasses.fields(record)}


def _versions() -> dict[str, str]:
    return {
        "sphericalpca": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "python": platform.python_version(),
    }
