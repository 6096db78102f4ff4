"""The C sources compile without a warning, here and for other machines, and give right products."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
KERNELS = HERE.parents[1] / "src" / "sphericalpca" / "kernels"
FLAGS = ("-std=gnu11", "-fno-math-errno", "-fPIC", "-Wall", "-Wextra", "-Werror")
ARM = "aarch64-linux-gnu-gcc"

pytestmark = [
    pytest.mark.skipif(not KERNELS.is_dir(), reason="the sources are not here"),
    pytest.mark.slow("compilers"),
]


def run(*command):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("compiler", ["gcc", "clang", ARM])
def test_all_sources_compile_without_a_warning(compiler, tmp_path):
    for source in sorted(KERNELS.glob("*.c")):
        run(compiler, "-O1", *FLAGS, "-c", str(source), "-o", str(tmp_path / "kernel.o"))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_and_where_pointers_have_32_bits(compiler, tmp_path):
    (tmp_path / "empty.c").write_text("#include <stdint.h>\n#include <math.h>\n")
    try:
        run(compiler, "-m32", "-c", str(tmp_path / "empty.c"), "-o", str(tmp_path / "empty.o"))
    except AssertionError:
        pytest.skip("no headers for 32 bits")
    for source in sorted(KERNELS.glob("*.c")):
        run(compiler, "-m32", "-O1", *FLAGS, "-c", str(source), "-o", str(tmp_path / "kernel.o"))


@pytest.mark.parametrize("compiler", ["gcc", "clang", ARM])
def test_products_agree_with_plain_sums(compiler, tmp_path):
    """On ARM in an emulator; every instruction set of the processor."""
    program = str(tmp_path / "agree")
    static = ["-static"] if compiler == ARM else []
    sources = ["-I", str(KERNELS), str(HERE / "agree.c")]
    run(compiler, "-O3", *FLAGS, *static, *sources, "-o", program, "-lm")
    found = run("qemu-aarch64", program) if compiler == ARM else run(program)
    assert found.endswith("generic agree with plain sums\n")
    assert found.startswith("neon ") == (compiler == ARM)
