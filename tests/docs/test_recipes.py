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
    for name in ("conftest.py", "solvers", "experiments"):
        source, target = ROOT / "tests" / name, tmp_path / "tests" / name
        if source.is_dir():
            copytree(source, target, ignore=forgotten)
        else:
            target.parent.mkdir()
            target.write_bytes(source.read_bytes())
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    return tmp_path


def code(page, number=0):
    """A block of code of a page."""
    found = re.findall(
        r"\.\. code-block:: python\n\n((?:(?: {3}[^\n]*)?\n)+)",
        (ROOT / "docs" / "extend" / page).read_text(encoding="utf-8"),
    )
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


def test_a_solver(copy):
    solvers = copy / "src" / "sphericalpca" / "solvers"
    (solvers / "damped.py").write_text(code("solver.rst"), encoding="utf-8")
    name = "from sphericalpca.solvers.damped import Damped\n"
    after = "from sphericalpca.solvers.linearized import Linearized\n"
    edit(solvers / "solve.py", after, name + after)
    also = "from sphericalpca.solvers.linearized import Linearized, lipschitz_constant\n"
    edit(solvers / "__init__.py", also, name + also)
    edit(solvers / "__init__.py", '    "Checkpoint",\n', '    "Checkpoint",\n    "Damped",\n')
    entry = '    "newton": Newton,\n'
    edit(solvers / "solve.py", entry, f'{entry}    "damped": Damped,\n')
    zoo = '    "newton": Newton(),\n'
    edit(copy / "tests" / "conftest.py", zoo, f'{zoo}    "damped": Damped(),\n')
    public = "from sphericalpca.solvers import Damped\n"
    edit(copy / "tests" / "conftest.py", "\nimport numpy", f"\n{public}import numpy")
    fit = "from sphericalpca import SphericalPCA; import numpy as np; "
    fit += "X = np.random.default_rng(0).standard_normal((50, 9)) * np.arange(9); "
    assert "Damped" in run(
        copy, "-c", fit + "print(SphericalPCA(2, solver='damped').fit(X).solver_)"
    )
    pytest_options = ("-q", "-p", "no:cacheprovider", "-k", "damped", "tests/solvers/test_laws.py")
    assert int(re.search(r"(\d+) passed", run(copy, "-m", "pytest", *pytest_options))[1]) > 20


def test_a_source_of_rows(copy):
    for name in ("tests/rows", "tests/hostile", "tests/cli", "reliability"):
        copytree(ROOT / name, copy / name, ignore=ignore_patterns("__pycache__"))
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
    package = copy / "src" / "sphericalpca"
    plan = package / "experiments" / "plan.py"
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
        package / "cli" / "reproduce.py",
        '    "lsa": ("lsa",),\n',
        '"lsa": ("lsa",), "few": ("few",),',
    )
    edit(
        package / "experiments" / "report" / "compare.py",
        '("rank", "lsa")',
        '("rank", "lsa", "few")',
    )
    run(copy, "-m", "sphericalpca", "reproduce", "few", "--embedded", "--out", "o", "--jobs", "1")
    assert (copy / "o" / "rows.csv").read_text().count("\nfew,") == 4
    tests = ("tests/experiments/test_plan.py", "tests/experiments/test_draws.py")
    run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "few", *tests)
