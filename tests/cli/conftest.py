"""The program in this process, out of reach of the user's own folders."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import threading

import pytest
from click.testing import CliRunner

from sphericalpca.cli.app import app


@pytest.fixture(autouse=True)
def _away_from_the_users_folders(monkeypatch, tmp_path):
    monkeypatch.delenv("SPHERICALPCA_DATA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "scikit-learn"))


@pytest.fixture
def run():
    """Run a command in this process: exit code, stdout and stderr."""

    def call(*words):
        result = CliRunner().invoke(app, [str(word) for word in words], prog_name="sphericalpca")
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    return call


@pytest.fixture
def on_a_terminal():
    """Run a program whose errors go to a terminal: it, when it has ended, and what was shown.

    Somebody reads all the time: a terminal takes a few thousand letters, then the program waits.
    """

    def call(command, **options):
        main, side = pty.openpty()
        shown = []

        def read():
            with contextlib.suppress(OSError):  # the other side was closed
                while text := os.read(main, 4096):
                    shown.append(text)

        reader = threading.Thread(target=read)
        reader.start()
        try:
            done = subprocess.run(
                command, stderr=side, stdout=subprocess.PIPE, check=False, timeout=120, **options
            )
        finally:
            os.close(side)
            reader.join()
            os.close(main)
        return done, b"".join(shown).decode()

    return call


@pytest.fixture
def ctrl_c():
    """Press Ctrl-C, and again after a while: one that falls into a destructor is lost."""

    def press(process, send=None):
        for _ in range(4):
            (send or process.send_signal)(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.communicate(timeout=30)
        process.kill()
        return process.communicate()

    return press
