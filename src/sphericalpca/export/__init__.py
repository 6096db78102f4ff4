"""Export fitted models to faiss, ONNX, sentence-transformers, files and databases.

A fitted SphericalPCA is one matrix and a normalisation (`unit_map`), so each target computes
what `transform` does, up to float32 rounding.  A `MissingExtraError` names a package it lacks.
"""

from sphericalpca.export.atlas import write_atlas
from sphericalpca.export.faiss_index import to_faiss
from sphericalpca.export.onnx_graph import to_onnx
from sphericalpca.export.targets import TARGETS, export_model

__all__ = ["TARGETS", "export_model", "to_faiss", "to_onnx", "write_atlas"]
