"""Options and messages of the commands; rich on terminals, plain text elsewhere."""

from __future__ import annotations

import math
import shlex
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sphericalpca.exceptions import Explained, Parameter, counted, printable

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "COMMAND",
    "COUNT",
    "FILE",
    "FOLDER",
    "SHARE",
    "Commands",
    "Names",
    "Number",
    "against_svd",
    "collecting_warnings",
    "common_options",
    "counted",
    "did_you_mean",
    "examples",
    "harmless",
    "in_options",
    "open_console",
    "output_option",
    "printing_warnings",
    "say",
    "showing_status",
    "warn",
    "with_options",
    "write_line",
]

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

COUNT = click.IntRange(min=1)
SEED = click.IntRange(0, 2**32 - 1)  # scikit-learn's range of random_state
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)


class Number(click.FloatRange):
    """A finite number in a range; click alone accepts NaN and infinity."""

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> float:
        """Convert text to a number."""
        number = float(super().convert(value, param, ctx))
        return number if math.isfinite(number) else self.fail(f"{value!r} must be finite.")


SHARE = Number(0, 1, min_open=True, max_open=True)

# Options that several commands have.
_COMMON = {
    "queries": click.option(
        "--queries", type=click.IntRange(min=2), default=1000, help="Number of rows to hold out."
    ),
    "tol": click.option("--tol", type=Number(0), default=1e-4, help="Residual at which to stop."),
    "seed": click.option("--seed", type=SEED, default=0, help="Random seed."),
    "force": click.option("--force", is_flag=True, help="Overwrite existing files."),
    "json": click.option("--json", "as_json", is_flag=True, help="Print the result as JSON."),
    "quiet": click.option("--quiet", is_flag=True, help="Show no progress."),
}

# Options that have another name than their parameter in Python, and flags that negate one.
PYTHON = {"components": "n_components", "clusters": "n_clusters", "seed": "random_state", "at": "k"}
NEGATED = {"no_normalize": "normalize"}

COMMAND = "sphericalpca.command"  # key of the running command in a context


def examples(*lines: str) -> str:
    """Example commands for the end of a help text."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


def output_option(what: str, kind: click.Path = FILE) -> Decorator:
    """The required option for the output file."""
    return click.option("-o", "--output", type=kind, required=True, help=what)


def with_options(*options: Decorator) -> Decorator:
    """Return a decorator that adds options to a command, in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def common_options(*names: str) -> Decorator:
    """Options that several commands have, in this order."""
    return with_options(*(_COMMON[name] for name in names))


def against_svd(ratio: float, what: str = "directions") -> str:
    """Describe `svd_ratio_` in words; `what` is the quantity kept."""
    if ratio > 0.9999:
        return f"a plain SVD keeps as much of the rows' {what}, up to 0.01 %."
    return f"{100 * (1 / ratio - 1):.2f} % more of the rows' {what} is kept than by a plain SVD."


def open_console(*, stderr: bool = False) -> Console:
    """Open a console that prints text literally: brackets in file names are not markup."""
    from rich.console import Console  # noqa: PLC0415 - slow to import

    console = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    # rich would exit with another status.
    console.on_broken_pipe = _raise_again  # type: ignore[method-assign]
    return console


def _raise_again() -> None:
    raise  # noqa: PLE0704 - called where an error is being handled


def say(text: str) -> None:
    """Print a sentence to stdout; on terminals lines end between words."""
    console = open_console()
    (console.print if console.is_terminal else click.echo)(harmless(text))


def write_line(text: str, *, err: bool = False) -> None:
    """Print lines as they are, except for control characters, which are escaped."""
    click.echo(harmless(text), err=err)


def harmless(text: str) -> str:
    """Escape the control characters of each line, which a terminal could obey."""
    return "\n".join(map(printable, text.split("\n")))


class Names(click.Choice[str]):
    """One of several names; for any other value the closest name is suggested."""

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """The error message for an invalid value."""
        refused = super().get_invalid_choice_message(value, ctx)
        return " ".join([refused, *did_you_mean(str(value), list(self.choices))])


class Commands(click.Group):
    """A group that suggests the closest command for an unknown one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the first argument names."""
        name = args[0]
        if not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            for question in did_you_mean(name, self.list_commands(ctx)):
                ctx.fail(f"No such command {name!r}. {question}")
        found = super().resolve_command(ctx, args)
        ctx.meta[COMMAND] = found[1]  # nested groups share it: the innermost command stays
        return found


def did_you_mean(word: str, names: list[str]) -> list[str]:
    """A suggestion, if one of the names is close."""
    return [f"Did you mean {name!r}?" for name in get_close_matches(word.lower(), names, 1)]


def in_options(message: Explained, command: click.Command | None) -> str:
    """The text of an error or warning, with the command's options in place of parameters."""
    options = {
        (PYTHON | NEGATED).get(option.name or "", option.name): option
        for option in (command.params if command is not None else ())
        if isinstance(option, click.Option)
    }

    def spell(parameter: Parameter) -> str:
        option, value = options.get(parameter.name), parameter.value
        if option is None:
            return str(parameter)
        name = option.opts[0]
        if option.is_flag and value is (option.name in NEGATED):
            return f"the default instead of {name}"
        if option.is_flag or not parameter.has_value:
            return name
        typed = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        return f"{name} {'...' if value is ... else shlex.quote(typed)}"

    return message.render(spell)


def warn(*messages: str | Warning) -> None:
    """Print warnings to stderr, with the options of the current command."""
    context = click.get_current_context(silent=True)
    for message in messages:
        text = message
        if isinstance(message, Explained):
            text = in_options(message, context.command if context else None)
        write_line(f"Warning: {text}", err=True)


@contextmanager
def collecting_warnings() -> Iterator[list[Warning]]:
    """Collect Python's warnings, each once, for `warn` to print at the end."""
    found: list[Warning] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield found
    messages = [entry.message for entry in caught if isinstance(entry.message, Warning)]
    found += {str(message): message for message in messages}.values()


@contextmanager
def printing_warnings() -> Iterator[None]:
    """Print Python's warnings with `warn`, at the end."""
    with collecting_warnings() as found:
        yield
    warn(*found)


@contextmanager
def showing_status(text: str, *, quiet: bool) -> Iterator[Callable[[str], None] | None]:
    """Show a spinner; yield a callable that changes its text, or None without a terminal."""
    console = open_console(stderr=True)
    shown = console.is_terminal and not quiet
    with console.status(text) if shown else nullcontext() as status:
        yield None if status is None else status.update
