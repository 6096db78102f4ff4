"""How commands name things: options for arguments, names that are near, numbers of things."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import click

from sphericalpca.cli.console import write_line

__all__ = [
    "SEED",
    "TOLERANCE",
    "Commands",
    "Names",
    "counted",
    "did_you_mean",
    "in_options",
    "telling_warnings",
    "warn",
]

# What scikit-learn takes for a random_state.
SEED = click.IntRange(0, 2**32 - 1)
TOLERANCE = click.FloatRange(min=0)

# What Python calls otherwise than the command line does.
PYTHON = {"components": "n_components", "seed": "random_state", "at": "k"}
# Words of ours alone, that messages need not follow by a value.
OURS = ("n_components", "max_iter", "tol", "random_state", "memory_budget")
VALUE = r"('[^']*'|[\w.+-]*\w)"


class Names(click.Choice[str]):
    """One of several names; to what is none of them the nearest is suggested."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """What is wrong with a value."""
        names = list(map(str, self.choices))
        refused = super().get_invalid_choice_message(value, ctx)
        return " ".join([refused, *did_you_mean(str(value), names)])


class Commands(click.Group):
    """A group that suggests the nearest command to what is none."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the words begin with."""
        name = args[0]
        if not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            for question in did_you_mean(name, self.list_commands(ctx)):
                ctx.fail(f"No such command {name!r}. {question}")
        return super().resolve_command(ctx, args)


def did_you_mean(word: str, names: list[str]) -> list[str]:
    """A question, if one of the names is near."""
    near = get_close_matches(word.lower(), names, 1)
    return [f"Did you mean {name!r}?" for name in near]


def in_options(text: str, command: click.Command | None) -> str:
    """A message with the options of a command in place of the arguments of Python."""
    text = text.replace("keep=[]", "--keep ''")
    for option in command.params if command is not None else ():
        if isinstance(option, click.Option) and option.name is not None:
            name, shown = PYTHON.get(option.name, option.name), option.opts[0]
            # Not within the name of a file.
            text = re.sub(rf"(?<![\w/.'-]){name}={VALUE}", rf"{shown} \1", text)
            if name in OURS:
                text = re.sub(rf"(?<![\w/.'-]){name}(?![\w/'=-]|\.\w)", shown, text)
    return text


def counted(number: int, one: str, many: str | None = None) -> str:
    """1 row, 2 rows."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def warn(text: str) -> None:
    """Print a warning to stderr, by the names of the options."""
    context = click.get_current_context(silent=True)
    told = in_options(text, context.command if context else None)
    write_line(f"Warning: {told}", err=True)


@contextmanager
def telling_warnings() -> Iterator[None]:
    """Python's warnings as ours, when all is done, and each of them once."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        yield
    for line in dict.fromkeys(str(warning.message) for warning in said):
        warn(line)
