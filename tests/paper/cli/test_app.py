"""The program ``python -m paper``: its help.

What it shares with ``sphericalpca`` is tested in tests/cli.
"""

from __future__ import annotations

import click

import sphericalpca
from paper.cli.app import app


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
