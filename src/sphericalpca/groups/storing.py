"""Models of groups in files.  Anybody may have written one: what it says is checked."""

from __future__ import annotations

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

__all__ = ["VERSIONS", "load_clusters", "save_clusters"]

VERSIONS = {"sphericalpca": __version__, "numpy": np.__version__, "scipy": scipy.__version__}
VERSIONS["scikit-learn"] = sklearn.__version__
# Attributes that are arrays, by their names in the file, and how many dimensions they have.
ARRAYS = {"components": 2, "cluster_centers": 2, "merged": 1, "sizes": 1}
SUMMARY = ("mean_cosine", "low_cosine", "unknown")
DAMAGES = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)
# By how much the length of a centre or component may differ from one.
SLACK = 1e-3


def save_clusters(model: Any, path: Path) -> None:
    """Write a fitted model to a file, whole or not at all."""
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
    try:
        if header["class"] != type(model).__name__:
            raise ValueError(f"it holds a {header['class']}")
        kind, model.refine = header["vectorizer"], header["refine"]
        found: dict[str, Any] = {f"{name}_": arrays[name] for name in ARRAYS}
        found["summary_"] = {name: float(header["summary"][name]) for name in SUMMARY}
        _check(found, refine=model.refine)
        model.n_clusters, (model.n_components, m) = len(found["sizes_"]), arrays["components"].shape
        found |= {"vectorizer_": None, "n_features_in_": m, "svd_ratio_": np.nan, "curve_": None}
        if kind == "tfidf":
            found["vectorizer_"] = _vectorizer_from(arrays["vocabulary"], arrays["idf"], m)
        elif kind == "passthrough":
            model.vectorizer = kind
        elif kind != "other":
            raise ValueError(f"its vectorizer is {kind!r}")
        model._validate_params()
    except DAMAGES as error:
        value = f"{str(path)!r} is not a whole model of groups ({printable(error, 200)})"
        raise DataError(value, remedy="cluster the texts again") from None
    if kind == "other":
        if vectorizer is None:
            remedy = ("pass it as ", Parameter("vectorizer"))
            raise DataError(f"{path} was fitted with a vectorizer of your own", remedy=remedy)
        model.vectorizer = found["vectorizer_"] = vectorizer
    vars(model).update(found)


def _check(found: dict[str, Any], *, refine: bool) -> None:
    for name, ndim in ARRAYS.items():
        array = found[f"{name}_"]
        kinds = ("float32", "float64") if ndim == 2 else ("int32", "int64")
        if array.ndim != ndim or array.dtype not in kinds or not array.size:
            raise ValueError(f"{name} has shape {array.shape} and type {array.dtype}")
        if ndim == 2 and not (np.abs(row_norms(array) - 1) < SLACK).all():
            raise ValueError(f"the rows of {name} are not of unit length")
    U, C, groups = found["components_"], found["cluster_centers_"], found["merged_"]
    if C.shape[1] != U.shape[1 if refine else 0] or len(U) > U.shape[1]:
        raise ValueError(f"centres have shape {C.shape}, components {U.shape}")
    if not len(C) == len(groups) == len(found["sizes_"]) or found["sizes_"].min() < 0:
        raise ValueError(f"there are {len(C)} centres, with groups and sizes of others")
    if set(groups.tolist()) != set(range(min(int(groups.max()), len(C)) + 1)):
        raise ValueError("the groups are not numbered from 0 on")


def _vectorizer_from(vocabulary: Array, idf: Array, m: int) -> WordVectorizer:
    words = vocabulary.tobytes().decode().split("\n")
    if idf.shape != (m,) or idf.dtype not in ("float32", "float64") or len(set(words)) != m:
        raise ValueError(f"{len(words)} words have weights of shape {idf.shape}")
    vectorizer = WordVectorizer(vocabulary=words, stop_words=None)
    vectorizer.idf_ = idf
    return vectorizer
