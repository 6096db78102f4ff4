"""Wheels with the library where there is a compiler, without it elsewhere, and never another's."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("hatchling")
ROOT = Path(__file__).parents[1]
HOOK = ROOT / "hatch_build.py"
KERNELS = "src/sphericalpca/kernels"
WITHOUT = {
    "asked": {"SPHERICALPCA_NO_KERNELS": "1"},
    "failing": {"CC": "false"},
    "another's": {"CC": "sh -c 'for a; do case $a in */lib*) : >$a;; esac; done' sh"},
    "none": {"PATH": "/nowhere"},
}
compiled = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler here")

pytestmark = [
    pytest.mark.skipif(not (ROOT / KERNELS).is_dir(), reason="the sources are not here"),
    pytest.mark.skipif(sys.platform == "win32", reason="without kernels"),
]


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in ("CC", "SPHERICALPCA_NO_KERNELS", "SPHERICALPCA_KERNELS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def hook_module():
    spec = importlib.util.spec_from_file_location("hatch_build", HOOK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path):
    """A tree with a library of one function, which compiles at once."""
    folder = tmp_path / KERNELS
    folder.mkdir(parents=True)
    (folder / "one.c").write_text('#include "one.h"\nint one(void) { return ONE; }\n')
    (folder / "one.h").write_text("#define ONE 1\n")
    return tmp_path


@pytest.fixture
def build(hook_module, tree):
    """The effect of the hook on a version of the wheel: its data, and its output."""

    def call(version):
        said = []
        data = {"force_include": {}, "pure_python": True}
        hook = hook_module.KernelsHook(str(tree), {}, None, None, "", "wheel", None)
        hook._BuildHookInterface__app = SimpleNamespace(display_info=said.append)
        hook.initialize(version, data)
        library = [(Path(path).is_file(), place) for path, place in data["force_include"].items()]
        hook.finalize(version, data, "")
        assert not any(Path(path).exists() for path in data["force_include"])
        return data, library, said

    return call


def libraries(folder):
    return sorted(path.name for path in folder.rglob("*") if "libkernels" in path.name)


@compiled
def test_a_wheel_has_the_library_and_the_name_of_the_platform(build, tree):
    data, library, said = build("standard")
    assert library == [(True, f"sphericalpca/kernels/{libname()}")]
    assert data["tag"] == f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    assert not data["pure_python"]
    assert not said
    assert not libraries(tree)


@pytest.mark.parametrize("environment", WITHOUT.values(), ids=WITHOUT)
@pytest.mark.parametrize("version", ["standard", "editable"])
def test_without_a_compiler_there_is_one_line_and_no_library(
    version, environment, build, tree, monkeypatch
):
    """Not even one that was there before: it may be older than its sources."""
    old = tree / KERNELS / libname()
    old.write_bytes(b"old")
    os.utime(old, (0, 0))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    data, library, said = build(version)
    assert not library
    assert "tag" not in data
    assert data["pure_python"]
    assert len(said) == 1
    assert said[0].startswith("Built without compiled kernels: ")
    assert old.exists() == (version == "standard")
    assert sorted(path.name for path in (tree / KERNELS).iterdir())[-2:] == ["one.c", "one.h"]


@compiled
def test_an_editable_installation_compiles_what_is_new(build, tree):
    library = tree / KERNELS / libname()
    data, _, _ = build("editable")
    assert "tag" not in data
    assert libraries(tree) == [libname()]
    past = time.time() - 1000
    for path in (tree / KERNELS).iterdir():
        os.utime(path, (past, past))
    os.utime(library)
    before = library.stat()
    build("editable")
    assert library.stat().st_ino == before.st_ino
    os.utime(library.with_name("one.h"), (before.st_mtime + 10,) * 2)
    build("editable")
    assert library.stat().st_ino != before.st_ino


@compiled
def test_a_library_of_another_machine_is_replaced(build, tree, hook_module):
    library = tree / KERNELS / libname()
    library.write_bytes(b"another's")
    os.utime(library, (time.time() + 1000,) * 2)
    build("editable")
    assert hook_module.loads(library)


def libname():
    return "libkernels.dylib" if sys.platform == "darwin" else "libkernels.c.so"


def pip(*words, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """The unpacked sdist of a tree in which a library lies about."""
    folder = tmp_path_factory.mktemp("sdist")
    script = "from hatchling.build import build_sdist; import sys; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", script, str(folder)], cwd=ROOT, check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    (root,) = (path for path in folder.iterdir() if path.is_dir())
    return root


@pytest.mark.slow("a built package")
def test_the_sdist_has_the_sources_and_no_library(unpacked):
    assert not libraries(unpacked)
    for path in [HOOK, *(ROOT / KERNELS).glob("*.[ch]")]:
        assert (unpacked / path.relative_to(ROOT)).read_bytes() == path.read_bytes()


SHOWN = """
import sphericalpca, sphericalpca.kernels as k
from sklearn.datasets import load_digits
from scipy.sparse import csr_array
import pathlib
print(pathlib.Path(sphericalpca.__file__).parents[1])
print(*k.instruction_sets())
print(sphericalpca.SphericalPCA(3).fit(csr_array(load_digits().data)).mean_cosine_)
"""


@pytest.mark.slow("built and installed wheels")
@pytest.mark.parametrize("kind", ["compiled", "asked"])
def test_wheels_from_the_sdist(kind, unpacked, tmp_path):
    if kind == "compiled" and not shutil.which("cc"):
        pytest.skip("no C compiler here")
    planted = unpacked / KERNELS / "libkernels.dylib"
    planted.write_bytes(b"another's")
    (unpacked / ".gitignore").unlink(missing_ok=True)  # what git ignores would stay out anyway
    wheels, site = tmp_path / "wheels", tmp_path / "site"
    options = ("--no-deps", "--no-build-isolation", "--wheel-dir", str(wheels))
    pip("wheel", *options, str(unpacked), **WITHOUT.get(kind, {}))
    (wheel,) = wheels.iterdir()
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    found = [Path(name).name for name in names if "libkernels" in name]
    assert found == ([libname()] if kind == "compiled" else [])
    assert not [name for name in names if name.endswith((".c", ".h"))]
    assert wheel.name.endswith("-py3-none-any.whl") == (kind != "compiled")
    assert "-py3-none-" in wheel.name
    pip("install", "--no-deps", "--target", str(site), str(wheel))
    done = subprocess.run(
        [sys.executable, "-c", SHOWN],
        env={**os.environ, "PYTHONPATH": str(site)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    place, kernels, cosine = done.stdout.splitlines()
    assert place == str(site)
    assert (kernels == "scipy") == (kind != "compiled")
    assert 0.8 < float(cosine) < 1
