"""The steps of "Extend" that bring an addition into the package, followed on a copy of it."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns
from textwrap import dedent, indent

import pytest

import sphericalpca

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.slow("experiment")


@pytest.fixture
def copy(tmp_path):
    """The package and its tests, to be changed at will."""
    forgotten = ignore_patterns("__pycache__")
    package = Path(sphericalpca.__file__).parent  # perhaps from a wheel
    copytree(package, tmp_path / "src" / "sphericalpca", ignore=forgotten)
    for name in ("tests", "benchmarks", "reliability", "docs/guide", "paper"):
        copytree(ROOT / name, tmp_path / name, ignore=forgotten)
    for name in ("pyproject.toml", "CITATION.cff"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


def page(name):
    """The text of a page."""
    return (ROOT / "docs" / "extend" / name).read_text(encoding="utf-8")


def code(name, number=0):
    """A block of code of a page."""
    pattern = r"\.\. code-block:: python\n\n((?:(?: {3}[^\n]*)?\n)+)"
    found = re.findall(pattern, page(name))
    return re.sub(r"^ {3}", "", found[number], flags=re.MULTILINE)


def edit(path, old, new):
    """Change the one place of a file where `old` stands."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{path.name} has changed, and the page may have to: {old}"
    path.write_text(text.replace(old, new), encoding="utf-8")


def run(copy, *arguments):
    """A Python program that sees the copy in place of the package."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(copy / "src"), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def count_passed(copy, *options):
    """How many tests passed; none may fail."""
    out = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options)
    return int(re.search(r"(\d+) passed", out)[1])


# Files of tests that a solver could break, and folders with tests of solvers.
AFTER_A_SOLVER = (
    *("tests/test_registry.py", "tests/test_package.py", "tests/cli/test_startup.py"),
    *("tests/solvers/test_start.py", "tests/solvers/test_automatic.py"),
    *("tests/estimators/test_bad_parameters.py", "tests/estimators/test_ecosystem.py"),
    *("tests/benchmarks/test_methods.py", "tests/compatibility"),
    "tests/cli/test_fit.py::test_the_solvers_are_those_of_the_package",
)
OF_A_SOLVER = (
    *("tests/solvers", "tests/estimators", "tests/hostile", "tests/test_determinism.py"),
    *("tests/test_iterate.py", "tests/test_parallel.py", "tests/rows/cluster/test_agreement.py"),
)

FIT_DAMPED = """
import numpy as np
from sphericalpca import SphericalPCA
from sphericalpca.solvers import Damped

X = np.random.default_rng(0).standard_normal((50, 9)) * np.arange(9)
np.save("x.npy", X)
model = SphericalPCA(2, solver="damped").fit(X)
assert model.solver_ == Damped()
model.save("model.safetensors")
assert SphericalPCA.load("model.safetensors").solver_ == Damped()
try:
    model.fit(X, checkpoint="run.ckpt")
except TypeError as error:
    print(error)
"""


def add_solver(copy):
    """Follow the steps; the files that were changed."""
    package = copy / "src" / "sphericalpca"
    module, registry = package / "solvers" / "damped.py", package / "registry" / "solvers.py"
    module.write_text(f"{code('solver.rst').rstrip()}\n", encoding="utf-8")
    entry = re.search(r"\n( +SolverEntry\(.*?\n +\))\n", page("solver.rst"), re.DOTALL)[1]
    end = "\n    )\n}\n"
    edit(registry, end, f"\n{indent(dedent(entry), ' ' * 8)},{end}")
    row = '   * - ``"damped"``\n     - exact alternation with shorter steps\n     - \n     - \n\n'
    edit(copy / "docs" / "guide" / "solvers.rst", ":doc:`/gallery/plot_solvers`", f"{row}:doc:`x`")
    return module, registry


def test_a_solver(copy):
    add_solver(copy)
    assert "has no method 'saved'" in run(copy, "-c", FIT_DAMPED)
    fit = ("-m", "sphericalpca", "fit")
    assert "damped" in run(copy, *fit, "--help")
    run(copy, *fit, "x.npy", "-r", "2", "-o", "other.safetensors", "--solver", "damped")
    assert "Damped" in run(copy, "-m", "sphericalpca", "info", "other.safetensors")
    assert count_passed(copy, *AFTER_A_SOLVER) > 50
    assert count_passed(copy, "-k", "damped or Damped", *OF_A_SOLVER) > 30


def add_format(copy):
    """Follow the steps; the files that were changed."""
    package, samples = copy / "src" / "sphericalpca", copy / "reliability" / "samples.py"
    module, registry = package / "rows" / "sources" / "sqlite.py", package / "registry/formats.py"
    write, source, entry, sample = (code("rows.rst", number) for number in (1, 4, 5, 6))
    module.write_text(f"{source.rstrip()}\n", encoding="utf-8")
    add_to_dict(registry, "FORMATS", entry)
    add_to_dict(samples, "SAMPLES", sample)
    function = re.search(r"def write_database.*?\n\n\n", write, re.DOTALL)[0]
    edit(samples, "SAMPLES: dict", f"{function}SAMPLES: dict")
    first = "from collections.abc import Callable\n"
    edit(samples, first, f"import sqlite3\n{first}from contextlib import closing\n")
    return module, registry, samples


def add_to_dict(path, name, block):
    """Append the text between the braces of a code block to a dict."""
    lines = re.search(r"\{\n(.*)^\}$", block, re.DOTALL | re.MULTILINE)[1]
    text = path.read_text(encoding="utf-8")
    found = re.search(rf"^{name}: .*?^\}}$", text, re.DOTALL | re.MULTILINE)
    path.write_text(f"{text[: found.end() - 1]}{lines}{text[found.end() - 1 :]}", encoding="utf-8")


def test_a_source_of_rows(copy):
    add_format(copy)
    header = "import sqlite3\nfrom contextlib import closing\nfrom pathlib import Path\n"
    run(copy, "-c", f"{header}import numpy as np\n{code('rows.rst', 1)}")
    program = ("-m", "sphericalpca")
    run(copy, *program, "fit", "digits.db", "-r", "3", "-o", "m.safetensors")
    run(copy, *program, "transform", "m.safetensors", "digits.db", "-o", "small.npy")
    assert (copy / "small.npy").is_file()
    assert ".db" in run(copy, *program, "fit", "--help")
    assert ".db" in run(copy, "-c", "import sphericalpca; print(sphericalpca.open_rows.__doc__)")
    assert "sqlite" in run(copy, "-m", "reliability.fuzz", "--help")
    options = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    every = ("tests/rows/sources", "tests/hostile/test_damaged_files.py")
    done = run(copy, *options, "-k", "sqlite", *every)
    assert int(re.search(r"(\d+) passed", done)[1]) > 10
    whole = (
        *("rows/sources/test_opening", "cli/test_reading", "cli/test_transform"),
        *("cli/test_startup", "test_registry", "test_package", "test_transforming"),
    )
    run(copy, *options, *(f"tests/{name}.py" for name in whole))


@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("mypy", "ruff"))), reason="`make lint` brings them"
)
def test_additions_pass_lint(copy):
    changed = [str(path) for follow in (add_solver, add_format) for path in follow(copy)]
    run(copy, "-m", "ruff", "check", "--no-cache", *changed)
    run(copy, "-m", "ruff", "format", "--no-cache", "--check", *changed)
    run(copy, "-m", "mypy", *changed)


def test_an_experiment(copy):
    plan = copy / "paper" / "plan.py"
    edit(plan, '"uci", "lsa")\n', '"uci", "lsa", "few")\n')
    edit(plan, '            "lsa": self._lsa,\n', '"lsa": self._lsa, "few": self._few,\n')
    generator = """
    def _few(self) -> Iterator[Trial]:
        for r in (2, 3):
            for method in LSA_METHODS:
                yield Trial("few", self.text, self.rank_groups, "main", (0,), method, r)

    def _lsa("""
    edit(plan, "\n    def _lsa(", generator)
    edit(
        copy / "paper" / "cli" / "reproduce.py",
        '    "lsa": ("lsa",),\n',
        '"lsa": ("lsa",), "few": ("few",),',
    )
    edit(
        copy / "paper" / "report" / "compare.py",
        '("rank", "lsa")',
        '("rank", "lsa", "few")',
    )
    run(copy, "-m", "paper", "reproduce", "few", "--embedded", "--out", "o", "--jobs", "1")
    assert (copy / "o" / "rows.csv").read_text().count("\nfew,") == 4
    tests = ("tests/paper/test_plan.py", "tests/paper/test_draws.py")
    run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "few", *tests)
