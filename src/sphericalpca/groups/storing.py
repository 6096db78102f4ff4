"""Groups in files: the table of texts, and the model, which is fully checked when read."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from sphericalpca.estimators.fitted import DAMAGES, SLACK, VERSIONS
from sphericalpca.exceptions import DataError, Parameter, printable
from sphericalpca.groups.partition import UNCERTAIN, Nearest
from sphericalpca.groups.texts import WordVectorizer
from sphericalpca.linalg import Array, row_norms
from sphericalpca.modelfile import read_model, write_model
from sphericalpca.rows.sources.filesource import optional

__all__ = ["load_clusters", "open_table", "save_clusters"]

# Attributes that are arrays, by their names in the file.
ARRAYS = ("components", "cluster_centers", "merged", "sizes")
SUMMARY = ("mean_cosine", "low_cosine", "unknown")
COLUMNS = {"id": "string", "group": "int32", "cosine": "float32", "margin": "float32"}
COLUMNS["uncertain"] = "bool"


def save_clusters(model: Any, path: Path) -> None:
    """Write a fitted model to a file, atomically."""
    arrays = {name: getattr(model, f"{name}_") for name in ARRAYS}
    kind = "passthrough" if model.vectorizer_ is None else "other"
    if type(model.vectorizer_) is WordVectorizer:
        kind, words = "tfidf", "\n".join(model.vectorizer_.get_feature_names_out())
        arrays["vocabulary"] = np.frombuffer(words.encode(), dtype=np.uint8)
        arrays["idf"] = model.vectorizer_.idf_
    header = {"class": type(model).__name__, "versions": VERSIONS, "vectorizer": kind}
    write_model(path, arrays, header | {"refine": bool(model.refine), "summary": model.summary_})


def load_clusters(model: Any, path: Path, vectorizer: Any) -> None:
    """Set parameters and fitted attributes from a file."""
    header, arrays = read_model(path)
    if header.get("vectorizer") == "other" and vectorizer is None:
        remedy = ("pass it as ", Parameter("vectorizer"))
        raise DataError(f"{path} was fitted with a custom vectorizer", remedy=remedy)
    try:
        if header["class"] != type(model).__name__:
            raise ValueError(f"it holds a {header['class']}")
        kind, model.refine = header["vectorizer"], header["refine"]
        known = {"tfidf": None, "passthrough": None, "other": vectorizer}[kind]
        model.vectorizer = known or kind
        if kind == "tfidf":
            words = arrays["vocabulary"].tobytes().decode().split("\n")
            known = WordVectorizer(vocabulary=words, stop_words=None)
            known.idf_ = arrays["idf"]  # refused if words are missing or the same
        _check(arrays, refine=model.refine)
        model.n_clusters, (model.n_components, m) = len(arrays["sizes"]), arrays["components"].shape
        model._validate_params()
        vars(model).update({f"{name}_": arrays[name] for name in ARRAYS}, vectorizer_=known)
        model.n_features_in_, model.svd_ratio_, model.curve_ = m, np.nan, None
        model.summary_ = {name: float(header["summary"][name]) for name in SUMMARY}
    except DAMAGES as error:
        value = f"{str(path)!r} is not a complete model of groups ({printable(error, 200)})"
        raise DataError(value, remedy="cluster the texts again") from None


def _check(arrays: dict[str, Array], *, refine: bool) -> None:
    """Refuse arrays that do not agree with each other, or would be read out of bounds."""
    (r, m), k = arrays["components"].shape, len(arrays["cluster_centers"])
    shapes: dict[str, tuple[int, ...]] = {"merged": (k,), "sizes": (k,)}
    shapes |= {"components": (min(r, m), m), "cluster_centers": (k, m if refine else r)}
    shapes |= {"idf": (m,)} if "idf" in arrays else {}
    for name, shape in shapes.items():
        found, kind = arrays[name], "i" if name in ("merged", "sizes") else "f"
        if found.shape != shape or found.dtype.str[1:] not in (f"{kind}4", f"{kind}8"):
            raise ValueError(f"{name} has shape {found.shape} and type {found.dtype}")
        wrong = abs(row_norms(found) - 1) >= SLACK if found.ndim == 2 else found < (name == "idf")
        if wrong.any() or not found.size:
            raise ValueError(f"{name} is empty, or has rows of impossible size")
    groups = arrays["merged"].tolist()
    if set(groups) != set(range(min(max(groups), k) + 1)):
        raise ValueError("groups are not numbered from 0 on")


@contextmanager
def open_table(path: Path, suffix: str) -> Iterator[Callable[[Sequence[str], Nearest], None]]:
    """A function that adds texts to a table, which is CSV or, by its suffix, Parquet."""
    if suffix.lower() == ".parquet":
        wanted = ("pyarrow", "pyarrow.parquet")
        arrow, parquet = (optional(name, "Parquet files", doing="Writing") for name in wanted)
        with parquet.ParquetWriter(str(path), schema := arrow.schema(COLUMNS.items())) as file:
            yield lambda ids, found: file.write_table(
                arrow.table([ids, *found[:3], found.margins < UNCERTAIN], schema=schema)
            )
        return
    with path.open("w", encoding="utf-8", newline="") as text:
        table = csv.writer(text, lineterminator="\n")
        table.writerow(COLUMNS)
        yield lambda ids, found: table.writerows(
            (name, label, f"{cosine:.6f}", f"{margin:.6f}", int(margin < UNCERTAIN))
            for name, label, cosine, margin in zip(ids, *found[:3], strict=True)
        )
