"""The package as a whole: what it exports, what it needs, what it ships."""

import ast
import importlib
import importlib.metadata
import importlib.resources
import pkgutil
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import sphericalpca

PUBLIC = {
    "CapacityWarning",
    "Certificate",
    "DataError",
    "DimensionChoice",
    "Evaluation",
    "KSVD",
    "MissingExtraError",
    "NoDirectionWarning",
    "ParameterError",
    "R1PCA",
    "ShortfallWarning",
    "SphericalCodec",
    "SphericalKMeans",
    "SphericalPCA",
    "TextClusters",
    "choose_components",
    "evaluate",
    "open_rows",
    "show_versions",
}


def modules():
    # `__main__` is a program; plotting needs matplotlib; compiled kernels are not a module.
    found = pkgutil.walk_packages(sphericalpca.__path__, "sphericalpca.")
    return sorted(m.name for m in found if not m.name.endswith((".__main__", ".libkernels")))


def run(code):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_public_names_are_exact():
    assert set(sphericalpca.__all__) == PUBLIC
    assert list(sphericalpca.__all__) == sorted(sphericalpca.__all__)
    rooms = {m.rpartition(".")[2] for m in modules() if m.count(".") == 1}
    names = {n for n in dir(sphericalpca) if not n.startswith("_")}
    assert names - rooms == PUBLIC
    assert rooms <= names
    for name in PUBLIC:
        assert getattr(sphericalpca, name) is not None


def test_every_name_is_known_to_type_checkers():
    text = importlib.resources.files("sphericalpca").joinpath("__init__.py").read_text("utf-8")
    known = next(node for node in ast.parse(text).body if isinstance(node, ast.If))
    assert {name.name for line in known.body for name in line.names} == PUBLIC


def test_import_of_all_loads_nothing_that_scikit_learn_does_not_load():
    """scikit-learn itself loads pandas and rich if installed; nothing loads matplotlib."""
    code = (
        "import sys, sklearn.base, sklearn.utils.validation, scipy.optimize, scipy.sparse.linalg\n"
    )
    code += "try: import sklearn.callback\nexcept ImportError: pass\n"
    code += "theirs = set(sys.modules)\nfrom sphericalpca import *\n"
    code += "names = {n for n in dir() if n[0] != '_'} - {'sys', 'sklearn', 'scipy', 'theirs'}\n"
    code += "print(*names, '|', *(m.partition('.')[0] for m in set(sys.modules) - theirs))"
    names, _, loaded = " ".join(run(code)).partition(" | ")
    assert set(names.split()) == PUBLIC
    # `_loss` is how a compiled part of scikit-learn 1.6 calls itself.
    theirs = {"numpy", "scipy", "sklearn", "_loss"} | set(sys.stdlib_module_names)
    assert set(loaded.split()) - theirs == {"sphericalpca"}


def test_every_module_lists_names_it_has():
    for name in modules():
        if name.startswith("sphericalpca.plotting") and not find_spec("matplotlib"):
            continue
        module = importlib.import_module(name)
        assert len(set(module.__all__)) == len(module.__all__)
        for public in module.__all__:
            assert hasattr(module, public), f"{name}.__all__ lists {public}, which is not there"


NOTHING_ELSE = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        absent = ("pandas", "matplotlib", "rich", "click", "polars", "pyarrow", "dask", "pymanopt")
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import sphericalpca as s

print(s.SphericalPCA.__name__, s.metrics.__name__, *(n in dir(s) for n in s.__all__))
import numpy as np
import sphericalpca.__main__

X = np.random.default_rng(0).standard_normal((20, 4))
print(s.SphericalPCA().fit_transform(X).shape[1])
try: s.nonsense
except AttributeError as e: print(e)
"""


def test_import_and_fit_need_numpy_scipy_and_scikit_learn_only():
    """Names and subpackages are available without a separate import."""
    name, room, *rest = run(NOTHING_ELSE)
    assert (name, room) == ("SphericalPCA", "sphericalpca.metrics")
    assert rest[: len(PUBLIC) + 1] == ["True"] * len(PUBLIC) + ["2"]
    assert " ".join(rest[len(PUBLIC) + 1 :]) == "module 'sphericalpca' has no attribute 'nonsense'"


def test_version_is_one_and_the_same():
    assert re.fullmatch(r"\d+\.\d+\.\d+([.a-z]+\d+)?", sphericalpca.__version__)
    text = (Path(__file__).parents[1] / "CITATION.cff").read_text("utf-8")
    assert re.findall(r"^version: (\S+)$", text, re.MULTILINE) == [sphericalpca.__version__]
    assert importlib.resources.files(sphericalpca).joinpath("py.typed").is_file()
    try:
        installed = importlib.metadata.version("sphericalpca")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("run from the source tree, not installed")
    assert installed == sphericalpca.__version__


def test_errors_are_also_builtins_and_name_the_remedy():
    assert issubclass(sphericalpca.DataError, ValueError)
    assert issubclass(sphericalpca.MissingExtraError, ImportError)
    assert issubclass(sphericalpca.NoDirectionWarning, UserWarning)
    assert str(sphericalpca.MissingExtraError("Plotting", "matplotlib", "plot")) == (
        "Plotting needs matplotlib, which is not installed: pip install 'sphericalpca[plot]'"
    )
