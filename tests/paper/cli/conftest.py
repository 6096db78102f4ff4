"""The program in this process."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from paper.cli.app import app


@pytest.fixture
def run():
    """Run a command in this process: exit code, stdout and stderr."""

    def call(*words):
        result = CliRunner().invoke(app, [str(word) for word in words], prog_name="python -m paper")
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return call
