"""The program ``python -m paper``: help, usage errors, names that cannot be shown."""

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
    options = {"capture_output": True, "text": True, **options}
    return subprocess.run(command, check=False, timeout=60, **options)


def commands(command=app, words=()):
    """Every command and group, by the words that lead to it."""
    yield words
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), (*words, name))


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_everywhere_with_examples(run, words, option):
    result = run(*words, option)
    assert result.exit_code == 0
    assert result.stdout.startswith(" ".join(["Usage: python -m paper", *words]))
    assert f"\n    python -m paper {' '.join(words)}".rstrip() in result.stdout
    assert "Examples:\n" in result.stdout


@pytest.mark.parametrize(("group", "number"), [((), 2), (("datasets",), 3)])
def test_no_command_is_described_by_half_a_sentence(run, group, number):
    listed = run(*group, "--help").stdout.partition("Commands:\n")[2].partition("\n\n")[0]
    assert len(listed.splitlines()) >= number
    assert "..." not in listed


def test_version(run):
    assert sphericalpca.__version__ in run("--version").stdout


@pytest.mark.parametrize(
    "words",
    [("nonsense",), ("--nonsense",), ("datasets", "nonsense"), ("datasets", "list", "--nonsense")],
)
def test_usage_errors_are_clicks_own(run, words):
    result = run(*words)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage: python -m paper" in result.stderr
    assert "nonsense" in result.stderr


def test_the_nearest_command_is_suggested(run):
    result = run("datasets", "lst")
    assert result.exit_code == 2
    assert "No such command 'lst'. Did you mean 'list'?" in result.stderr


@pytest.mark.parametrize(
    ("name", "encoding"), [(b"\xff", "utf-8"), ("d\xe9p\xf4t".encode(), "ascii")]
)
def test_names_that_cannot_be_shown_are_no_error(tmp_path, name, encoding):
    """File names need not be text, and terminals need not know every letter."""
    home = os.fsencode(tmp_path) + b"/" + name
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = program("datasets", "list", "--data-home", home, env=environment)
    assert done.returncode == 0, done.stderr
    assert f"Data home: {tmp_path}" in done.stdout


@pytest.mark.parametrize("words", ["--help", "datasets list", "datasets list --json"])
@pytest.mark.parametrize("colours", [{}, {"FORCE_COLOR": "1"}], ids=["plain", "rich"])
def test_behind_a_closed_pipe_the_program_ends_as_others_do(words, colours):
    """In silence, and as a shell reports of programs that SIGPIPE ends."""
    reading, writing = os.pipe()
    os.close(reading)
    pipes = {"stdout": writing, "stderr": subprocess.PIPE, "capture_output": False}
    done = program(*words.split(), **pipes, env={**os.environ, **colours})
    os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 128 + signal.SIGPIPE
