"""Export fitted models to faiss, ONNX, sentence-transformers, files and databases.

A fitted SphericalPCA is one matrix and a normalisation (`unit_map`), so each target computes
what `transform` does, up to float32 rounding.  A `MissingExtraError` names a package it lacks.
"""

from sphericalpca.export.atlas import write_atlas
from sphericalpca.export.databases import lancedb_snippet, pgvector_snippet, qdrant_snippet
from sphericalpca.export.encoder_modules import write_sentence_transformers
from sphericalpca.export.faiss_index import factory_string, to_faiss
from sphericalpca.export.onnx_graph import to_onnx
from sphericalpca.export.targets import TARGETS, export_model
from sphericalpca.export.unit_map import UnitMap, matrix_record, unit_map

__all__ = [
    "TARGETS",
    "UnitMap",
    "export_model",
    "factory_string",
    "lancedb_snippet",
    "matrix_record",
    "pgvector_snippet",
    "qdrant_snippet",
    "to_faiss",
    "to_onnx",
    "unit_map",
    "write_atlas",
    "write_sentence_transformers",
]
