"""Vector databases: a short script for each, with the operator that suits unit vectors.

On unit vectors inner product, cosine and Euclidean distance rank alike.  The inner product
is the cheapest, and unlike the cosine it is defined for zero rows.
"""

from __future__ import annotations

from importlib.resources import files
from string import Template
from typing import Any

from sphericalpca.exceptions import DataError
from sphericalpca.export.unit_map import unit_map

__all__ = ["SAVED", "lancedb_snippet", "pgvector_snippet", "qdrant_snippet"]

# The file from which the scripts load the model.
SAVED = "model.safetensors"

# Limits of pgvector's type `vector`: dimensions of a column, and of an index.
LARGEST_COLUMN, LARGEST_INDEX = 16_000, 2_000

INDEX = """\
-- Create it after the rows are inserted.  vector_ip_ops is the class of <#>: an index of
-- another class would not be used.
CREATE INDEX ON items USING hnsw (embedding vector_ip_ops);"""
NO_INDEX = f"-- No index: pgvector indexes at most {LARGEST_INDEX} numbers; all rows are compared."


def pgvector_snippet(model: Any) -> str:
    """SQL for PostgreSQL with pgvector, ready for psql."""
    r = unit_map(model).n_components
    if r > LARGEST_COLUMN:
        rule = f"pgvector stores at most {LARGEST_COLUMN} numbers per vector"
        raise DataError(f"The model has {r} components", rule, "truncate the model")
    return _filled("pgvector.sql", model, index=INDEX if r <= LARGEST_INDEX else NO_INDEX)


def qdrant_snippet(model: Any, model_file: str = SAVED) -> str:
    """A Python module for Qdrant: create, add, search; it loads the model from `model_file`."""
    return _filled("qdrant.py", model, model_file=repr(model_file))


def lancedb_snippet(model: Any, model_file: str = SAVED) -> str:
    """A Python module for LanceDB: create, add, index, search; as for Qdrant."""
    return _filled("lancedb.py", model, model_file=repr(model_file))


def _filled(name: str, model: Any, **values: str) -> str:
    reducer = unit_map(model)
    text = (files("sphericalpca.export") / "snippets" / f"{name}.template").read_text("utf-8")
    # Safe: $1 and $2 in SQL are kept.
    sizes = {"n_features": reducer.n_features, "n_components": reducer.n_components}
    return Template(text).safe_substitute(values, **sizes)
