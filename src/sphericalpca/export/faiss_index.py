"""faiss: an index that takes full vectors, and reduces what is added and what is searched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphericalpca.exceptions import DataError, Parameter, import_extra
from sphericalpca.export.unit_map import UnitMap, unit_map
from sphericalpca.files import write_whole

__all__ = ["factory_string", "to_faiss", "write_faiss"]


def to_faiss(model: Any, index: str = "Flat") -> Any:
    """An empty faiss index behind the model's matrix and normalisation.

    Inner products of what is stored are cosines.  ``reconstruct`` gives what
    `inverse_transform` gives, up to the coding of the inner index.

    Parameters
    ----------
    model : SphericalPCA
        Fitted.
    index : str, default="Flat"
        Factory string of the inner index, for vectors of the reduced dimension, such as
        "HNSW32" or "IVF256,PQ16".  One that must be trained is trained on full vectors.

    Returns
    -------
    index : faiss.IndexPreTransform
        For vectors of `n_features_in_` numbers, float32; its metric is the inner product.
        Zero rows are stored as zeros, as `transform` returns them.

    Raises
    ------
    DataError
        If `index` is not a factory string for the reduced dimension.
    MissingExtraError
        If faiss is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from sphericalpca import SphericalPCA
    >>> from sphericalpca.export import to_faiss
    >>> X = np.random.default_rng(0).standard_normal((100, 6))
    >>> model = SphericalPCA(n_components=2).fit(X)
    >>> index = to_faiss(model)
    >>> index.add(X.astype(np.float32))
    >>> cosines, ids = index.search(X[:1].astype(np.float32), 3)
    >>> int(ids[0, 0])
    0
    """
    faiss = _faiss()
    reducer = unit_map(model)
    outer = faiss.IndexPreTransform(_inner(faiss, index, reducer.n_components))
    for step in reversed(_steps(faiss, reducer)):
        outer.prepend_transform(step)
    return outer


def factory_string(model: Any, index: str = "Flat") -> str:
    """What ``faiss.index_factory`` calls an index of this shape.

    "PCA" stands where the model's matrix is: both are faiss' LinearTransform, but that one
    would be trained, and centred.

    Parameters
    ----------
    model : SphericalPCA
        Fitted.
    index : str, default="Flat"
        As in `to_faiss`.

    Returns
    -------
    text : str

    Examples
    --------
    >>> import numpy as np
    >>> from sphericalpca import SphericalPCA
    >>> from sphericalpca.export import factory_string
    >>> X = np.random.default_rng(0).standard_normal((100, 6))
    >>> model = SphericalPCA(n_components=2).fit(X)
    >>> factory_string(model, "HNSW32")
    'PCA2,L2norm,HNSW32'
    """
    return f"PCA{unit_map(model).n_components},L2norm,{index}"


def write_faiss(model: Any, path: Path, index: str = "Flat") -> None:
    """Write the index of `to_faiss` for ``faiss.read_index``."""
    write_whole(path, _faiss().serialize_index(to_faiss(model, index)).tobytes())


def _faiss() -> Any:
    return import_extra("faiss", "An index of faiss", "faiss-cpu", "faiss")


def _inner(faiss: Any, index: str, dimension: int) -> Any:
    try:
        return faiss.index_factory(dimension, index, faiss.METRIC_INNER_PRODUCT)
    except RuntimeError as error:
        # Before the last colon is a place in faiss' own source.
        reason = str(error).rpartition(": ")[2]
        raise DataError(
            Parameter("index", index),
            f"is not a faiss index for inner products of {dimension} numbers ({reason})",
            "pass a factory string such as 'Flat' or 'HNSW32'",
        ) from None


def _steps(faiss: Any, reducer: UnitMap) -> list[Any]:
    """Transforms in the order in which a vector meets them."""
    linear = faiss.LinearTransform(reducer.n_features, reducer.n_components, False)  # noqa: FBT003
    faiss.copy_array_to_vector(reducer.matrix.ravel(), linear.A)
    linear.is_trained = True
    linear.set_is_orthonormal()  # so that `reconstruct` knows the way back
    steps = [linear, faiss.NormalizationTransform(reducer.n_components, 2.0)]
    centre = reducer.centre
    if centre is not None:
        centring = faiss.CenteringTransform(reducer.n_features)
        faiss.copy_array_to_vector(centre, centring.mean)
        centring.is_trained = True
        steps.insert(0, centring)
    return steps
