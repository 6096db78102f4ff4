"""What the page about exports shows is Python, and runs where nothing has to be fetched."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from sphericalpca.cli.export import TARGETS

PAGE = Path(__file__).parents[2] / "docs" / "export.md"


@pytest.fixture(scope="module")
def text():
    return PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def blocks(text):
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def test_blocks_are_python_and_run(blocks, tmp_path, monkeypatch):
    for block in blocks:
        compile(block, str(PAGE), "exec")
    for package in ("faiss", "onnx", "onnxruntime", "pyarrow"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in blocks:
        if not block.startswith("# needs"):
            exec(block, names)
    expected = names["model"].transform(names["X"])
    np.testing.assert_allclose(names["V"], expected, atol=5e-6)
    np.testing.assert_allclose(names["components"], expected, atol=5e-6)
    assert (names["ids"][:, 0] == np.arange(5)).all()
    shown = "".join(blocks).splitlines()
    assert all(statement in shown for statement in names["line"].split("; "))
    assert (tmp_path / "reduced.parquet").is_file()


def test_the_table_has_every_target(text):
    rows = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`([a-z-]+)`", row)}
    assert set(TARGETS) <= named
