"""Models of groups in files.  Anybody may have written one: what it says is checked."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn

from sphericalpca.exceptions import DataError, Parameter, printable
from sphericalpca.groups.words import WordVectorizer
from sphericalpca.linalg import Array, row_norms
from sphericalpca.modelfile import read_model, write_model
from sphericalpca.version import __version__

__all__ = ["load_clusters", "save_clusters", "versions"]

# Attributes that are arrays, by their names in the file, and how many dimensions they have.
ARRAYS = {"components": 2, "cluster_centers": 2, "merged": 1, "sizes": 1}
DAMAGES = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)
# By how much the length of a centre or component may differ from one.
SLACK = 1e-3


def versions() -> dict[str, str]:
    """Of all that had a say in the groups."""
    others = {module.__name__: module.__version__ for module in (np, scipy)}
    python = platform.python_version()
    return {"sphericalpca": __version__, "python": python, **others, "sklearn": sklearn.__version__}


def save_clusters(model: Any, path: Path) -> None:
    """Write a fitted model to a file, whole or not at all."""
    kind = _kind(model.vectorizer_)
    arrays = {name: getattr(model, f"{name}_") for name in ARRAYS}
    if kind == "tfidf":
        words = "\n".join(model.vectorizer_.get_feature_names_out())
        arrays["vocabulary"] = np.frombuffer(words.encode(), dtype=np.uint8)
        arrays["idf"] = model.vectorizer_.idf_
    seed = model.random_state if isinstance(model.random_state, int) else None
    plain = {"refine": bool(model.refine), "random_state": seed}
    first = {k: float(v) for k, v in model.first_run_.items()}
    header = {"class": type(model).__name__, "versions": versions(), "vectorizer": kind}
    write_model(path, arrays, header | {"parameters": plain, "first_run": first})


def _kind(vectorizer: Any) -> str:
    """Which vectorizer a file can hold: ours; of others it says that there was one."""
    if vectorizer is None:
        return "passthrough"
    return "tfidf" if type(vectorizer) is WordVectorizer else "other"


def load_clusters(model: Any, path: Path, vectorizer: Any) -> None:
    """Set parameters and fitted attributes from a file."""
    header, arrays = read_model(path)
    try:
        if header["class"] != type(model).__name__:
            raise ValueError(f"it holds a {header['class']}, not a {type(model).__name__}")
        kind = header["vectorizer"]
        found = {f"{name}_": _array(name, arrays, ndim) for name, ndim in ARRAYS.items()}
        found["first_run_"] = {k: float(v) for k, v in header["first_run"].items()}
        refine, seed = header["parameters"]["refine"], header["parameters"]["random_state"]
        k, m = len(found["cluster_centers_"]), found["components_"].shape[1]
        model.set_params(n_clusters=k, n_components=len(found["components_"]), refine=refine)
        model.set_params(random_state=seed, vectorizer="passthrough" if kind != "tfidf" else kind)
        model._validate_params()
        _check(found, refine=refine)
        found |= {"vectorizer_": None, "n_features_in_": m, "svd_ratio_": np.nan, "curve_": None}
        if kind == "tfidf":
            found["vectorizer_"] = _tfidf_from(arrays["vocabulary"], arrays["idf"], m)
    except DAMAGES as error:
        value = f"{str(path)!r} is not a whole model of groups ({printable(error, 200)})"
        raise DataError(value, remedy="cluster the texts again") from None
    if kind == "other":
        if vectorizer is None:
            rule = "was fitted with a vectorizer of your own"
            raise DataError(f"{path} {rule}", remedy=("pass it as ", Parameter("vectorizer")))
        model.vectorizer = found["vectorizer_"] = vectorizer
    vars(model).update(found)


def _array(name: str, arrays: dict[str, Array], ndim: int) -> Array:
    kinds = "f" if ndim == 2 else "iu"
    if arrays[name].ndim != ndim or arrays[name].dtype.kind not in kinds or not arrays[name].size:
        raise ValueError(f"{name} has shape {arrays[name].shape} and type {arrays[name].dtype}")
    return arrays[name]


def _check(found: dict[str, Any], *, refine: bool) -> None:
    U, C, merged = found["components_"], found["cluster_centers_"], found["merged_"]
    if C.shape[1] != U.shape[1 if refine else 0] or not 1 <= len(U) <= U.shape[1]:
        raise ValueError(f"centres have shape {C.shape}, components {U.shape}")
    if found["sizes_"].shape != merged.shape or merged.shape != (len(C),):
        raise ValueError(f"there are {len(C)} centres, and groups of {len(merged)}")
    if found["sizes_"].min() < 0 or set(merged.tolist()) != set(range(int(merged.max()) + 1)):
        raise ValueError("the groups are not numbered from 0 on, or have negative sizes")
    for name, rows in (("centres", C), ("components", U)):
        if rows.dtype not in (np.float32, np.float64):
            raise ValueError(f"{name} have type {rows.dtype}")
        if not (np.abs(row_norms(rows) - 1) < SLACK).all():
            raise ValueError(f"{name} are not of unit length")


def _tfidf_from(vocabulary: Array, idf: Array, m: int) -> WordVectorizer:
    if vocabulary.dtype != np.uint8 or idf.shape != (m,) or idf.dtype.kind != "f":
        raise ValueError("the weights of words are of another form")
    words = vocabulary.tobytes().decode().split("\n")
    vectorizer = WordVectorizer(vocabulary=words, stop_words=None)
    vectorizer.idf_ = idf  # fails if there are more or fewer words
    return vectorizer
