"""faiss: an index of full vectors that reduces what is added and searched."""

from __future__ import annotations

import importlib
from typing import Any

from sphericalpca.exceptions import DataError, Parameter, import_extra
from sphericalpca.export.unit_map import UnitMap, unit_map

__all__ = ["factory_string", "faiss_bytes", "to_faiss"]


def to_faiss(model: Any, index: str = "Flat") -> Any:
    """An empty faiss index that applies the model's matrix and normalisation first.

    Its scores are cosines; ``reconstruct`` is `inverse_transform`, up to the index's own coding.

    Parameters
    ----------
    model : fitted SphericalPCA
    index : str, default="Flat"
        Factory string of the index of reduced vectors, such as "HNSW32" or "IVF256,PQ16".  If
        the index needs training, train it on full vectors.

    Returns
    -------
    index : faiss.IndexPreTransform
        For float32 vectors of `n_features_in_` numbers; its metric is the inner product.
        Zero rows are stored as zeros, as `transform` returns them.

    Raises
    ------
    DataError
        If `index` is not a factory string for the reduced dimension.

    Examples
    --------
    >>> import numpy as np
    >>> from sphericalpca import SphericalPCA
    >>> from sphericalpca.export import to_faiss
    >>> X = np.random.default_rng(0).standard_normal((100, 6), dtype=np.float32)
    >>> index = to_faiss(SphericalPCA(n_components=2).fit(X))
    >>> index.add(X)
    >>> cosines, ids = index.search(X[:1], 3)
    >>> int(ids[0, 0])
    0
    """
    faiss = import_extra("faiss", "A faiss index", "faiss-cpu", "faiss")
    reducer = unit_map(model)
    try:
        metric = faiss.METRIC_INNER_PRODUCT
        inner = faiss.index_factory(reducer.n_components, index, metric)
    except RuntimeError as error:
        # The part before the last colon is a place in the source of faiss.
        reason = str(error).rpartition(": ")[2]
        rule = f"is not a faiss index for inner products of {reducer.n_components} numbers"
        remedy = "pass a factory string such as 'Flat' or 'HNSW32'"
        raise DataError(Parameter("index", index), f"{rule} ({reason})", remedy) from None
    outer = faiss.IndexPreTransform(inner)
    for step in reversed(_steps(faiss, reducer)):
        outer.prepend_transform(step)
    return outer


def factory_string(model: Any, index: str = "Flat") -> str:
    """What ``faiss.index_factory`` calls an index of this shape.

    "PCA" stands for the model's matrix: both are a LinearTransform, but PCA is trained and centred.
    """
    return f"PCA{unit_map(model).n_components},L2norm,{index}"


def faiss_bytes(model: Any, index: str) -> bytes:
    """The index of `to_faiss` for ``faiss.read_index``."""
    made = to_faiss(model, index)
    return bytes(importlib.import_module("faiss").serialize_index(made))


def _steps(faiss: Any, reducer: UnitMap) -> list[Any]:
    """Transforms in the order of their application."""
    linear = faiss.LinearTransform(reducer.n_features, reducer.n_components, False)  # noqa: FBT003
    faiss.copy_array_to_vector(reducer.matrix.ravel(), linear.A)
    linear.is_trained = True
    linear.set_is_orthonormal()  # needed by `reconstruct`
    steps = [linear, faiss.NormalizationTransform(reducer.n_components, 2.0)]
    if (centre := reducer.centre) is not None:
        centring = faiss.CenteringTransform(reducer.n_features)
        faiss.copy_array_to_vector(centre, centring.mean)
        centring.is_trained = True
        steps.insert(0, centring)
    return steps
