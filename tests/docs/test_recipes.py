"""The steps of "Extend" that bring an addition into the package, followed on a copy of it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

import sphericalpca

ROOT = Path(__file__).parents[2]


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


# Whole files in which a solver could break something, and folders where it has tests of its own.
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


def test_a_solver(copy):
    package = copy / "src" / "sphericalpca"
    (package / "solvers" / "damped.py").write_text(code("solver.rst"), encoding="utf-8")
    registry = package / "registry" / "solvers.py"
    end = "        ),\n    )\n}\n"
    entry = re.search(r"\n( +SolverEntry\(.*?\n +\))\n", page("solver.rst"), re.DOTALL)[1]
    edit(registry, end, end.replace("    )\n}", f"{entry},\n    )\n}}"))
    row = '   * - ``"damped"``\n     - exact alternation with shorter steps\n     - \n     - \n\n'
    edit(copy / "docs" / "guide" / "solvers.rst", ":doc:`/gallery/plot_solvers`", f"{row}:doc:`x`")
    assert "has no method 'saved'" in run(copy, "-c", FIT_DAMPED)
    fit = ("-m", "sphericalpca", "fit")
    assert "damped" in run(copy, *fit, "--help")
    run(copy, *fit, "x.npy", "-r", "2", "-o", "other.safetensors", "--solver", "damped")
    assert "Damped" in run(copy, "-m", "sphericalpca", "info", "other.safetensors")
    assert count_passed(copy, *AFTER_A_SOLVER) > 100
    assert count_passed(copy, "-k", "damped or Damped", *OF_A_SOLVER) > 300


def test_a_source_of_rows(copy):
    package, samples = copy / "src" / "sphericalpca", copy / "reliability" / "samples.py"
    write, module, entry, sample = (code("rows.rst", number) for number in (1, 4, 5, 6))
    (package / "rows" / "sources" / "sqlite.py").write_text(module, encoding="utf-8")
    entry = entry.partition("\n\n")[2]  # without the import of what is there
    add(package / "registry" / "formats.py", entry)
    function = re.search(r"def write_database.*?\n\n", write, re.DOTALL)[0]
    header = "import sqlite3\nfrom contextlib import closing\n\n"
    add(samples, f"{header}{function}\n{sample.partition(chr(10) * 2)[2]}")
    run(copy, "-c", f"{header}import numpy as np\n{write}")
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
    assert int(re.search(r"(\d+) passed", done)[1]) > 30
    whole = (
        "rows/sources/test_opening",
        "cli/test_reading",
        "cli/test_transform",
        "cli/test_startup",
    )
    run(copy, *options, *(f"tests/{name}.py" for name in whole))


def add(path, text):
    """Add to the end of a file."""
    path.write_text(f"{path.read_text(encoding='utf-8')}\n\n{text}", encoding="utf-8")


def test_an_experiment(copy):
    plan = copy / "paper" / "plan.py"
    edit(plan, '"rank", "uci", "lsa")\n', '"rank", "uci", "lsa", "few")\n')
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
