"""``sphericalpca info``: what a model file holds."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from sphericalpca.cli.console import common_options, examples
from sphericalpca.cli.reading import load_model
from sphericalpca.cli.tables import print_table
from sphericalpca.exceptions import DataError, printable

__all__ = ["info"]

# Of the fit, what has a line of its own.
SHOWN = ("n_samples_", "n_features_in_")


@click.command(
    epilog=examples(
        "sphericalpca info model.safetensors", "sphericalpca info model.safetensors --json"
    )
)
@click.argument("model", type=click.Path(path_type=Path))
@common_options("json")
def info(model: Path, as_json: bool) -> None:
    """Print what a model file holds.

    Its size, the number of rows it has learned from, parameters, the results of the fit, the
    bound on its distance to the optimum (if one was saved), and the versions that wrote it.
    Of a codec, or of a folder that compress wrote, its bytes and components.
    """
    facts = _facts(model)
    if as_json:
        click.echo(json.dumps(facts))
    else:
        print_table(["fact", "value"], _lines(facts))


def _facts(path: Path) -> dict[str, Any]:
    """The header and what the arrays tell; the file is checked as if it were to be used."""
    from sphericalpca.estimators.fitted import header_and_arrays  # noqa: PLC0415 - slow to import
    from sphericalpca.modelfile import read_model  # noqa: PLC0415

    header = {}
    with suppress(DataError):  # `load_model` tells more of what a file is instead
        header = {} if path.is_dir() else read_model(path)[0]
    if path.is_dir() or header.get("class") == "SphericalCodec":
        return _codec_facts(path)
    model = load_model(path)
    fitted = header_and_arrays(model, None)[0]["fitted"]  # in today's names, whoever wrote it
    try:
        bound, solver = header["certificate"], header["solver"]
        options = ", ".join(f"{name}={value!r}" for name, value in solver["options"].items())
        return {
            "file": str(path),
            "bytes": path.stat().st_size,
            "class": header["class"],
            "format": header["format"],
            "n_samples": fitted["n_samples_"],
            "n_features": model.components_.shape[1],
            "n_components": model.components_.shape[0],
            "dtype": str(model.components_.dtype),
            "centred": model.mean_ is not None,
            "feature_names": bool(header["feature_names"]),
            "fit": {name.rstrip("_"): fitted[name] for name in fitted if name not in SHOWN},
            "solver": f"{solver['name']}({options})",
            "certificate": bound and {"gap": bound["gap"], "rigorous": bound["rigorous"]},
            "parameter": dict(header["parameters"]),
            "version": dict(header["versions"]),
        }
    except (KeyError, RecursionError, TypeError, ValueError, AttributeError) as error:
        value = f"{str(path)!r} is not a whole model ({printable(repr(error), 200)})"
        raise DataError(value, remedy="save it again") from None


def _codec_facts(path: Path) -> dict[str, Any]:
    """Of a codec, or of a folder of codes."""
    from sphericalpca import SphericalCodec  # noqa: PLC0415 - slow to import
    from sphericalpca.codec.folder import open_folder  # noqa: PLC0415

    folder = open_folder(path) if path.is_dir() else None
    codec = folder.codec if folder else SphericalCodec.load(path)
    names = ("n_features_in_", "n_components_", "n_bytes_", "distortion_", "fingerprint_")
    codes = {"n_samples": len(folder.codes)} if folder else {"bytes": path.stat().st_size}
    facts = {"file": str(path), "class": "SphericalCodec", **codes}
    return facts | {name.rstrip("_").removesuffix("_in"): getattr(codec, name) for name in names}


def _lines(facts: dict[str, Any]) -> list[list[str]]:
    """One line for each fact; a group gives its name to its facts."""
    lines = []
    for name, value in facts.items():
        group = value if isinstance(value, dict) else {"": value}
        lines += [[f"{name} {key}".strip(), _show(what)] for key, what in group.items()]
    return lines


def _show(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
