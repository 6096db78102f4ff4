"""The tests that belong to changed files: ``python -m reliability.mirror`` lists them.

``make check`` runs these, and `reliability.mutants` tries them first.  Tests mirror the name and
place of their module; `OTHERS` lists modules whose tests have other names.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

__all__ = ["OTHERS", "changed_files", "mirrored_tests"]

ROOT = Path(__file__).parents[1]
PACKAGE = "src/sphericalpca/"

# Modules or subpackages, and the tests to run for them first.
OTHERS = {
    "products.py": ("test_linalg.py", "test_parallel.py"),
    "curvature.py": ("test_curvature.py", "test_derivatives.py"),
    "problem.py": ("test_problem.py", "test_derivatives.py", "test_extremes.py"),
    "modelfile.py": ("estimators/test_saving.py", "compatibility"),
    "estimators/fitted.py": ("estimators/test_fitted_attributes.py", "estimators/test_saving.py"),
    "estimators/fit.py": ("estimators/test_history.py", "estimators/test_share.py"),
    "estimators/stream.py": ("estimators/test_partial_fit.py",),
    "estimators/validation.py": (
        "estimators/test_bad_data.py",
        "estimators/test_bad_parameters.py",
        "rows/test_streamed.py",
    ),
    "estimators/columns.py": ("estimators/test_column_names.py",),
    "estimators/foreign.py": ("estimators/test_array_api.py", "hostile/test_layouts.py"),
    "estimators/monitoring.py": ("estimators/test_callbacks.py", "estimators/test_history.py"),
    "estimators/spherical_pca.py": (
        "estimators/test_invariants.py",
        "estimators/test_transform.py",
        "estimators/test_partial_fit.py",
    ),
    "solvers/checkpoint_checks.py": ("solvers/test_checkpoint.py",),
    "solvers/solve.py": ("solvers/test_checkpoint.py", "solvers/test_automatic.py"),
    "solvers": ("solvers/test_solvers.py", "solvers/test_laws.py"),
    "rows/structure.py": ("rows/test_structure.py",),
    "rows/stats.py": ("rows/test_rows.py", "estimators/test_transform.py"),
    "rows": ("rows/test_rows.py", "rows/test_reading.py"),
    "rows/sources": ("rows/sources/test_laws.py", "rows/sources/test_formats.py"),
    "rows/cluster": ("rows/cluster",),
    "registry": ("test_registry.py",),
    "hatch_build.py": ("test_build.py",),
    "writing.py": ("test_transforming.py",),
    "kernels": ("codec/test_quantiser.py",),
    "pages": ("evaluation/test_page.py",),
    "baselines": ("estimators/test_r1pca.py", "estimators/test_ksvd.py"),
    "codec/files.py": ("codec/test_folder.py", "codec/test_storing.py"),
    "version.py": ("test_package.py",),
    "__init__.py": ("test_package.py",),
    "__main__.py": ("cli/test_app.py",),
    "reliability/mirror.py": ("test_mirror.py",),
    **dict.fromkeys(
        (f"reliability/{name}.py" for name in ("claims", "evidence", "release")),
        ("test_evidence.py",),
    ),
    "reliability/mutants.py": ("test_mutants.py",),
    "reliability/kill.py": ("faults/test_killed.py",),
    "reliability/soak.py": ("faults/test_soak.py",),
    "reliability/sanitize.py": ("faults/test_sanitize.py",),
    "reliability": ("hostile/test_damaged_files.py",),
    "README.md": ("test_readme.py",),
    "CONTRIBUTING.md": ("docs/test_contributing.py",),
    "docs": ("docs/test_code.py",),
    "examples": ("docs/test_examples.py",),
}


def mirrored_tests(path: str) -> list[str]:
    """Tests, from the root, that belong to a file, from the root: nearest ones, or its room's."""
    place = PurePosixPath(path)
    if path.startswith("tests/"):
        own = str(place.parent) if place.name == "conftest.py" else path
        return [own] if own != "tests" and (ROOT / own).exists() else []
    inside = PurePosixPath(path.removeprefix(PACKAGE))
    rooms = [str(room) for room in inside.parents][:-1]
    candidates = [
        OTHERS.get(str(inside), ()),
        (inside.with_name(f"test_{inside.stem}.py").as_posix(),),
        *(OTHERS.get(room, (room,)) for room in rooms),
    ]
    return next((found for names in candidates if (found := _there(names))), [])


def _there(names: Iterable[str]) -> list[str]:
    """The names of existing files."""
    return [f"tests/{name}" for name in names if (ROOT / "tests" / name).exists()]


def changed_files() -> list[str]:
    """Files that differ from the branch `main`, in commits or not yet committed."""
    bases = (_git("merge-base", "HEAD", branch) for branch in ("main", "origin/main"))
    base = next(filter(None, bases), ["HEAD"])
    new = _git("ls-files", "--others", "--exclude-standard")
    return sorted({*_git("diff", "--name-only", base[0]), *new})


def _git(*arguments: str) -> list[str]:
    """The lines that git prints; none where there is no git, or no repository."""
    if (git := shutil.which("git")) is None:
        return []
    done = subprocess.run([git, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.split("\n")[:-1]


def main() -> None:
    """Print the tests of the changed files, or say that there are none."""
    tests = dict.fromkeys(test for name in changed_files() for test in mirrored_tests(name))
    if not tests:
        print("No changed file has tests that mirror it (or there is no git).", file=sys.stderr)
    print(*tests)


if __name__ == "__main__":
    main()
