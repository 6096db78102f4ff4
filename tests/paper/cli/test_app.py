"""The program ``python -m paper``: help, usage errors, names that cannot be shown.

What it shares with ``sphericalpca`` is tested in tests/cli.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import click
import pytest

import sphericalpca
from paper.cli.app import app


def program(*words, **options):
    """The program in a process of its own."""
    command = [sys.executable, "-m", "paper", *words]
    return subprocess.run(command, check=False, timeout=60, text=True, **options)


def commands(command=app, words=()):
    """Every command and group, by the words that lead to it."""
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), (*words, name))


def test_help_everywhere_with_examples_and_whole_sentences(run):
    for words in commands():
        result = run(*words, "-h")
        assert result.exit_code == 0
        assert result.stdout.startswith(" ".join(["Usage: python -m paper", *words]))
        assert f"\n    python -m paper {' '.join(words)}".rstrip() in result.stdout
        assert "Examples:\n" in result.stdout
        assert "..." not in result.stdout.partition("Commands:\n")[2].partition("\n\n")[0]
    assert sphericalpca.__version__ in run("--version").stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--nonsense", "--nonsense"),
        ("datasets nonsense", "nonsense"),
        ("datasets list --nonsense", "--nonsense"),
        ("datasets lst", "No such command 'lst'. Did you mean 'list'?"),
    ],
)
def test_usage_errors_are_clicks_own(run, words, told):
    result = run(*words.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: python -m paper" in result.stderr
    assert told in result.stderr


def test_names_that_cannot_be_shown_are_no_error(tmp_path):
    """File names need not be text, and terminals need not know every letter."""
    home = os.fsencode(tmp_path) + b"/\xffd\xc3\xa9p\xc3\xb4t"
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = program("datasets", "list", "--data-home", home, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert f"Data home: {tmp_path}" in done.stdout


def test_behind_a_closed_pipe_the_program_ends_as_others_do():
    """In silence, and as a shell reports of programs that SIGPIPE ends, although rich prints."""
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "FORCE_COLOR": "1"}
    done = program("datasets", "list", stdout=writing, stderr=subprocess.PIPE, env=environment)
    os.close(writing)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")
