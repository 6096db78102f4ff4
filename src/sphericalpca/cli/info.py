"""``sphericalpca info``: the contents of a model file."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

import sphericalpca
from sphericalpca.cli.console import common_options, examples
from sphericalpca.cli.reading import load_model
from sphericalpca.cli.tables import print_table
from sphericalpca.exceptions import DataError, printable

__all__ = ["facts_of", "info"]

# Facts of the fit that have their own line.
SHOWN = ("n_samples_", "n_features_in_")
MEANINGS = {
    "bytes": "size of the file",
    "n_samples": "rows passed to the fit",
    "n_features": "numbers per row",
    "n_components": "numbers per vector after the reduction",
    "centred": "whether a mean is subtracted first",
    "feature_names": "whether columns have names",
    "n_bytes": "bytes per vector",
    "n_codes": "vectors in the folder",
    "distortion": "mean squared error of decoded unit vectors",
    "fingerprint": "ties codes to their codec",
    "n_groups": "groups of texts or vectors",
    "mean_cosine": "mean cosine between a text and the centre of its group",
    "low_cosine": "5% of the texts have a smaller cosine",
    "unknown": "share of texts in group -1",
    "fit mean_cosine": "mean cosine between a row and its projection; 1 is perfect",
    "fit svd_ratio": "objective at the SVD / at the result; above 0.9999 an SVD is enough",
    "fit loss": "weighted sum of squared errors",
    "fit residual": "relative gradient at the end",
    "fit total_weight": "sum of the sample weights",
    "fit n_iter": "iterations",
    "fit n_passes": "passes over the data",
    "fit n_samples_seen": "rows seen by partial_fit",
    "fit stop_reason": "why the fit ended",
    "certificate": "bound on the distance to the optimum; - if none was saved",
    "certificate gap": "no subspace is better by more than this fraction",
    "certificate kind": "rigorous, probable or estimate",
    "certificate probability": "probability that the bound is wrong; - if not known",
    "certificate rigorous": "whether all eigenvalues were computed",
}


@click.command(
    epilog=examples(
        "sphericalpca info model.safetensors", "sphericalpca info model.safetensors --json"
    )
)
@click.argument("model", type=click.Path(path_type=Path))
@common_options("json")
def info(model: Path, as_json: bool) -> None:
    """Print the contents of a model file.

    For a model: its size, the number of rows it was fitted to, parameters, the results of the fit,
    the bound on its distance to the optimum (if one was saved), and the versions that wrote it.
    For a codec, a folder that compress wrote, or a model of groups: its size and components.
    """
    facts = facts_of(model)
    if as_json:
        click.echo(json.dumps(facts))
        return
    lines = []
    for name, value in facts.items():  # a group gives its name to its facts
        group = value if isinstance(value, dict) else {"": value}
        lines += [[f"{name} {key}".strip(), _show(what)] for key, what in group.items()]
    table = [[name, value, MEANINGS.get(name, "")] for name, value in lines]
    print_table(["fact", "value", "meaning"], table, spare=["meaning"])


def facts_of(path: Path) -> dict[str, Any]:
    """Collect facts from the header and the arrays; the file is checked as when it is loaded."""
    header = {}
    with suppress(DataError):  # `load_model` raises a better error
        header = {} if path.is_dir() else sphericalpca.modelfile.read_model(path)[0]
    if path.is_dir() or header.get("class") == "SphericalCodec":
        return _codec_facts(path)
    if header.get("class") == "TextClusters":
        return _groups_facts(path)
    model = load_model(path)
    # Under the current names, whichever version wrote the file.
    fitted = sphericalpca.estimators.fitted.header_and_arrays(model, None)[0]["fitted"]
    try:
        bound, solver = header["certificate"], header["solver"]
        options = ", ".join(f"{name}={value!r}" for name, value in solver["options"].items())
        return {
            "file": str(path),
            "bytes": path.stat().st_size,
            **{name: header[name] for name in ("class", "format")},
            "n_samples": fitted["n_samples_"],
            "n_features": model.n_features_in_,
            "n_components": model.n_components_,
            "dtype": str(model.components_.dtype),
            "centred": model.mean_ is not None,
            "feature_names": bool(header["feature_names"]),
            "fit": {name.rstrip("_"): fitted[name] for name in fitted if name not in SHOWN},
            "solver": f"{solver['name']}({options})",
            "certificate": bound and _certificate_facts(bound),
            "parameter": dict(header["parameters"]),
            "version": dict(header["versions"]),
        }
    except (KeyError, RecursionError, TypeError, ValueError, AttributeError) as error:
        value = f"{str(path)!r} is not a complete model file ({printable(repr(error), 200)})"
        raise DataError(value, remedy="save it again") from None


def _certificate_facts(bound: dict[str, Any]) -> dict[str, Any]:
    """The certificate in a model file; version 0.1 only recorded whether it was rigorous."""
    sure = bound["rigorous"]
    known = {"kind": "rigorous" if sure else "estimate", "probability": 0.0 if sure else None}
    facts = {name: (known | bound)[name] for name in ("gap", "kind", "probability", "rigorous")}
    risk = facts["probability"]
    return facts | {
        "gap": float(facts["gap"]),
        "probability": None if risk is None else float(risk),
    }


def _codec_facts(path: Path) -> dict[str, Any]:
    """Collect facts about a codec, or a folder of codes."""
    from sphericalpca.codec.files import open_folder  # noqa: PLC0415 - slow to import

    if path.is_dir():
        codec, codes, _ = open_folder(path)
        size = {"n_codes": len(codes)}
    else:
        codec, size = sphericalpca.SphericalCodec.load(path), {"bytes": path.stat().st_size}
    names = ("n_features_in_", "n_components_", "n_bytes_", "distortion_", "fingerprint_")
    facts = {"file": str(path), "class": "SphericalCodec", **size}
    return facts | {name.rstrip("_").removesuffix("_in"): getattr(codec, name) for name in names}


def _groups_facts(path: Path) -> dict[str, Any]:
    """Collect facts about a model that `cluster` wrote."""
    clusters = sphericalpca.TextClusters.load(path)
    counts = {"n_groups": int(clusters.merged_.max()) + 1, "n_features": clusters.n_features_in_}
    facts = {"file": str(path), "class": "TextClusters", "bytes": path.stat().st_size, **counts}
    return facts | {"n_components": clusters.n_components, **clusters.summary_}


def _show(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "no"}[value]
    formats = {int: ",", float: ".6g"}
    return format(value, formats.get(type(value), ""))
