"""ONNX: the map as a graph of a few old operators, which every runtime supports."""

from __future__ import annotations

from typing import Any

import numpy as np

from sphericalpca.exceptions import import_extra
from sphericalpca.export.unit_map import UnitMap, unit_map

__all__ = ["INPUT", "OUTPUT", "onnx_bytes", "to_onnx"]

INPUT, OUTPUT = "vectors", "components"

# ONNX 1.12 and onnxruntime 1.12 (2022), the last with axes of reductions as attributes.
OPSET, IR_VERSION = 17, 8

ALONG_ROWS = {"axes": [1], "keepdims": 1}


def to_onnx(model: Any) -> Any:
    """The model as an ONNX graph.

    Parameters
    ----------
    model : fitted SphericalPCA

    Returns
    -------
    graph : onnx.ModelProto
        From "vectors", float32 of shape (batch, n_features), to "components", float32 of
        shape (batch, n_components).  The batch is of any size; zero rows stay zero.

    Examples
    --------
    >>> from sphericalpca import SphericalPCA
    >>> from sphericalpca.export import to_onnx
    >>> graph = to_onnx(SphericalPCA(2).fit([[1, 2, 3], [3, 1, 2], [2, 3, 1]])).graph
    >>> [node.op_type for node in graph.node][:2]
    ['MatMul', 'Abs']
    """
    onnx = import_extra("onnx", "An ONNX graph", "onnx", "onnx")
    reducer = unit_map(model)
    sizes = {INPUT: reducer.n_features, OUTPUT: reducer.n_components}
    ends = [
        [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["batch", size])]
        for name, size in sizes.items()
    ]
    about = "Rows to unit vectors: subtract the mean if there is one, multiply, normalise."
    nodes, constants = _nodes(onnx.helper.make_node, reducer), _constants(onnx, reducer)
    graph = onnx.helper.make_graph(nodes, "spherical_pca", *ends, constants, doc_string=about)
    versions = {"opset_imports": [onnx.helper.make_opsetid("", OPSET)], "ir_version": IR_VERSION}
    made = onnx.helper.make_model(graph, producer_name="sphericalpca", **versions)
    onnx.checker.check_model(made, full_check=True)
    return made


def onnx_bytes(model: Any) -> bytes:
    """The graph of `to_onnx` as bytes of a file."""
    content: bytes = to_onnx(model).SerializeToString()
    return content


def _nodes(make: Any, reducer: UnitMap) -> list[Any]:
    centring = [] if reducer.mean is None else [make("Sub", [INPUT, "mean"], ["centred"])]
    rows = "centred" if centring else INPUT
    return [
        *centring,
        make("MatMul", [rows, "U"], ["projected"]),
        # Rows are scaled by their largest entry first: squares may leave the range of float32.
        make("Abs", ["projected"], ["sizes"]),
        make("ReduceMax", ["sizes"], ["peak"], **ALONG_ROWS),
        make("Max", ["peak", "smallest"], ["scale"]),
        make("Div", ["projected", "scale"], ["scaled"]),
        # The length is at least 1, or 0 for a zero row, which is divided by 1 and stays zero.
        make("ReduceL2", ["scaled"], ["length"], **ALONG_ROWS),
        make("Max", ["length", "one"], ["divisor"]),
        make("Div", ["scaled", "divisor"], [OUTPUT]),
    ]


def _constants(onnx: Any, reducer: UnitMap) -> list[Any]:
    named = {
        "U": np.ascontiguousarray(reducer.matrix.T),
        "mean": reducer.centre,
        "smallest": np.array([np.finfo(np.float32).tiny]),
        "one": np.ones(1, dtype=np.float32),
    }
    known = {name: array for name, array in named.items() if array is not None}
    return [onnx.numpy_helper.from_array(array, name) for name, array in known.items()]
