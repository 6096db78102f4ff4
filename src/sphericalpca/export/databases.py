"""Vector databases: a short text for each, with the operator that suits unit vectors.

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

# Where the texts load the model from.
SAVED = "model.safetensors"

# Limits of pgvector's type `vector`: what a column holds, and what an index takes.
LARGEST_COLUMN, LARGEST_INDEX = 16_000, 2_000

INDEX = """\
-- Best made after the rows are in.  vector_ip_ops is the class of <#>: an index of another
-- class would not be used.
CREATE INDEX ON items USING hnsw (embedding vector_ip_ops);"""
NO_INDEX = f"-- No index: pgvector takes at most {LARGEST_INDEX} numbers, so all rows are compared."


def pgvector_snippet(model: Any) -> str:
    """SQL for PostgreSQL with pgvector, ready for psql."""
    r = unit_map(model).n_components
    if r > LARGEST_COLUMN:
        rule = f"a vector of pgvector has at most {LARGEST_COLUMN}"
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
    # Safe: SQL's own $1 and $2 stay as they are.
    sizes = {"n_features": reducer.n_features, "n_components": reducer.n_components}
    return Template(text).safe_substitute(values, **sizes)
