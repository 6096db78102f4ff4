"""The program in this process, out of reach of the user's own folders."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from paper.cli.app import app


@pytest.fixture(autouse=True)
def _away_from_the_users_folders(monkeypatch, tmp_path):
    monkeypatch.delenv("SPHERICALPCA_DATA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "scikit-learn"))


@pytest.fixture
def run():
    """Run a command in this process: exit code, stdout and stderr."""

    def call(*words):
        result = CliRunner().invoke(app, [str(word) for word in words], prog_name="python -m paper")
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return call
