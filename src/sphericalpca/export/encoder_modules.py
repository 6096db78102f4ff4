"""A linear layer and a normalisation for sentence-transformers; neither it nor torch is needed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sphericalpca.exceptions import import_extra
from sphericalpca.export.unit_map import UnitMap, unit_map
from sphericalpca.files import replacing_folder, write_whole

__all__ = ["write_sentence_transformers"]

LINEAR, NORMALISATION = "0_Dense", "1_Normalize"
LIST = "modules.json"

# Old names of these classes, which all versions know.
TYPES = {
    LINEAR: "sentence_transformers.models.Dense",
    NORMALISATION: "sentence_transformers.models.Normalize",
}


def write_sentence_transformers(model: Any, folder: str | Path) -> None:
    """Write the model as modules of sentence-transformers, atomically.

    A Dense layer without activation (and without bias, unless `center`) and a Normalize.  An older
    export is replaced; a folder that holds anything else is left alone, with an error.
    """
    safetensors = import_extra("safetensors.numpy", "An encoder folder", "safetensors", "files")
    reducer = unit_map(model)
    tensors = {"linear.weight": reducer.matrix}
    if (bias := reducer.offset) is not None:
        tensors["linear.bias"] = bias
    with replacing_folder(Path(folder), ours=(LIST, *TYPES)) as new:
        for path, content in _records(reducer).items():
            write_whole(new / path, json.dumps(content, indent=2).encode())
        write_whole(new / LINEAR / "model.safetensors", safetensors.save(tensors))


def _records(reducer: UnitMap) -> dict[str, Any]:
    """The configuration that the library reads: the list of modules, and settings of each."""
    modules = [
        {"idx": place, "name": str(place), "path": path, "type": kind}
        for place, (path, kind) in enumerate(TYPES.items())
    ]
    linear = {
        "in_features": reducer.n_features,
        "out_features": reducer.n_components,
        "bias": reducer.mean is not None,
        "activation_function": "torch.nn.modules.linear.Identity",
    }
    configs = {f"{LINEAR}/config.json": linear, f"{NORMALISATION}/config.json": {}}
    return {LIST: modules, **configs}
