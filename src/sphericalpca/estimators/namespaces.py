"""Arrays of other libraries at the door, by scikit-learn's dispatch of the array API.

With ``sklearn.config_context(array_api_dispatch=True)`` results are of the kind of X, on its
device.  Memory that NumPy can address is not copied: NumPy looks at it in place, and all
solvers run.  Elsewhere (CuPy, torch on a GPU) the products are made by the library of X.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils._array_api import _max_precision_float_dtype, get_namespace_and_device

from sphericalpca.exceptions import DataError
from sphericalpca.rows import Backend, NamespaceMatrix, host_view, on_host

__all__ = ["backend_of", "brought", "check_same_backend", "is_foreign", "model_on_host", "settle"]

# Fitted attributes that are arrays; the history is not of the data's kind.
FITTED_ARRAYS = ("components_", "component_weights_", "mean_")
# Narrower than float32, in which they are computed.
NARROW = ("float16", "bfloat16")


def is_foreign(X: Any) -> bool:
    """Whether X is an array of another library than NumPy."""
    # Columns of pyarrow can be handed over, too, but are no arrays.
    handed = hasattr(X, "__dlpack__") and hasattr(X, "dtype")
    return handed and not isinstance(X, (np.ndarray, np.generic))


def backend_of(X: Any) -> Backend:
    """Where X lives, and so its results; NumPy's memory unless the dispatch is on."""
    if not (is_foreign(X) and get_config()["array_api_dispatch"]):
        return Backend()
    xp, _, device = get_namespace_and_device(X)
    return Backend(xp, device, double=_max_precision_float_dtype(xp, device) == xp.float64)


def brought(X: Any) -> Any:
    """A foreign X as NumPy's without a copy if possible, else a `NamespaceMatrix`.

    Narrow floats become float32; on a device other types become its widest float.
    """
    _refuse_what_cannot_be_read(X)
    backend = backend_of(X)
    if backend.xp is np:
        return np.asarray(X)
    xp = backend.xp
    if str(X.dtype).rpartition(".")[2] in NARROW:
        X = xp.astype(X, xp.float32)
    view = host_view(X)
    if view is not None:
        return view
    if X.dtype not in (xp.float32, xp.float64):
        X = xp.astype(X, backend.wide)
    return NamespaceMatrix(X, backend)


def check_same_backend(estimator: Any, X: Any, method: str) -> Backend:
    """Where the results for X go; refused if X lives elsewhere than the data of the fit did."""
    backend = backend_of(X)
    fitted = backend_of(estimator.components_)
    if get_config()["array_api_dispatch"] and (backend.xp, backend.device) != (
        fitted.xp,
        fitted.device,
    ):
        raise DataError(
            f"Inputs passed to {type(estimator).__name__}.{method}() must use the same namespace "
            f"and the same device as those passed to fit(): X is in {_name(backend)}, the model in "
            f"{_name(fitted)}. Move X, or fit again."
        )
    return backend


def settle(estimator: Any, backend: Backend) -> None:
    """Move fitted arrays to where the data live."""
    for name in FITTED_ARRAYS:
        if getattr(estimator, name) is not None:
            setattr(estimator, name, backend.put(getattr(estimator, name)))


def model_on_host(model: Any) -> Any:
    """The model with NumPy arrays: itself if it has them already."""
    if not any(is_foreign(getattr(model, name, None)) for name in FITTED_ARRAYS):
        return model
    model = copy(model)
    for name in FITTED_ARRAYS:
        setattr(model, name, on_host(getattr(model, name)))
    return model


def _name(backend: Backend) -> str:
    name = backend.xp.__name__.rpartition(".")[2]
    return name if backend.device is None else f"{name} on {backend.device}"


def _refuse_what_cannot_be_read(X: Any) -> None:
    if getattr(X, "requires_grad", False):
        raise DataError("X requires gradients, but none flow through this model: pass X.detach().")
    layout = str(getattr(X, "layout", "strided"))
    if not layout.endswith("strided"):
        raise DataError(
            f"X is a tensor of layout {layout}, but must be dense: pass X.to_dense(), or a scipy "
            "CSR matrix."
        )
    if str(X.dtype).rpartition(".")[2].startswith("complex"):
        raise DataError(
            f"Complex data not supported: X has dtype {X.dtype}. Pass the real part or the modulus."
        )
