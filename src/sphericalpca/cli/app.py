"""The program ``sphericalpca``: imports commands on demand and prints errors as one line."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import click

from sphericalpca.cli.console import COMMAND, Commands, examples, harmless, in_options, write_line
from sphericalpca.exceptions import Explained
from sphericalpca.registry import resolve
from sphericalpca.version import __version__

__all__ = ["COMMANDS", "App", "app"]

MODULES = {"assign": "cluster", "search": "compress"}  # commands defined in another's module
COMMANDS = {
    name: f"sphericalpca.cli.{MODULES.get(name, name)}:{name}"
    for name in (
        *("demo", "cluster", "assign", "fit", "choose", "evaluate", "info", "export"),
        *("transform", "compress", "search", "bench"),
    )
}

COMPLETION = """

\b
Shell completion; add one of these lines to the start-up file of your shell:
  eval "$(_SPHERICALPCA_COMPLETE=bash_source sphericalpca)"    # ~/.bashrc
  eval "$(_SPHERICALPCA_COMPLETE=zsh_source sphericalpca)"     # ~/.zshrc
  _SPHERICALPCA_COMPLETE=fish_source sphericalpca | source     # config.fish
"""

INTERRUPTED = 130
# Exit status of programs whose output is closed: 128 plus the number of SIGPIPE.
PIPE_CLOSED = 141

# Errors that users can act on; anything else is a bug.
EXPECTED = (ValueError, ImportError, OSError, MemoryError)

# Handled elsewhere: usage errors with exit code 2, help, a closed pipe.
PASSED_ON = (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError)


class App(Commands):
    """A group whose commands are imported on demand from a table; errors take one line."""

    def __init__(self, *args: Any, table: Mapping[str, str], **options: Any) -> None:
        super().__init__(*args, **options)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Names of the commands, in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the command; None if there is no such command."""
        if cmd_name not in self.table:
            return None
        command = resolve(self.table[cmd_name])
        assert isinstance(command, click.Command)
        return command

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Parse the arguments; help is printed here."""
        with _ending_with_the_output():
            return super().make_context(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; an error ends the program with one line on stderr."""
        with _ending_with_the_output():
            try:
                return super().invoke(ctx)
            except PASSED_ON:
                raise
            except KeyboardInterrupt as error:
                line, code = str(error) or "Interrupted.", INTERRUPTED
            except Exception as error:
                if _is_from_printing(error):
                    raise
                text = _describe(error, ctx.meta.get(COMMAND))
                line = f"Error: {' '.join(part.strip() for part in text.splitlines())}"
                code = 1
                if ctx.params["debug"]:
                    write_line(traceback.format_exc(), err=True)
            write_line(line, err=True)
            return ctx.exit(code)


@contextmanager
def _ending_with_the_output() -> Iterator[None]:
    """Exit silently if the output is closed, as by ``| head -1``; report a full disk."""
    try:
        yield
    except click.ClickException as error:  # names in it may hold control characters
        vars(error)["message"] = harmless(error.message)
        raise
    except OSError as error:
        closed = isinstance(error, BrokenPipeError)
        if not (closed or _is_from_printing(error)):
            raise
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr) if closed else (sys.stdout,):
            with suppress(OSError):  # streams that are not files have no pipe
                os.dup2(nowhere, stream.fileno())  # Python still empties its buffers
        if not closed:
            remedy = "free some space, or redirect the output elsewhere"
            write_line(f"Error: Cannot write to stdout ({error.strerror}): {remedy}.", err=True)
        raise click.exceptions.Exit(PIPE_CLOSED if closed else 1) from None


def _is_from_printing(error: Exception) -> bool:
    """Whether click or rich failed to write; errors of streams have no file name."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    module = frame.f_globals.get("__name__", "").partition(".")[0]
    return isinstance(error, OSError) and not error.filename and module in ("click", "rich")


def _describe(error: Exception, command: click.Command | None) -> str:
    """The message of an error, with options of the command for Python's parameters."""
    if isinstance(error, Explained):
        return in_options(error, command)
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, EXPECTED) and str(error):
        return str(error)
    if isinstance(error, MemoryError):
        return "Not enough memory."
    name = traceback.format_exception_only(error)[-1].strip()
    return f"{name} (unexpected; --debug shows where)"


def _show_system(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        click.echo(resolve("sphericalpca.system:describe_system")())
        ctx.exit()


@click.group(
    cls=App,
    table=COMMANDS,
    epilog=examples(
        "sphericalpca demo",
        "sphericalpca cluster texts.csv -k 20 --out groups",
        "sphericalpca compress vectors.npy --bytes 96 --out codes",
        "sphericalpca fit vectors.npy -r 64 -o model.safetensors",
        "sphericalpca choose vectors.npy --recall 0.9    # how many dimensions are enough",
        "sphericalpca transform model.safetensors vectors.npy -o small.npy",
        "sphericalpca --debug info model.safetensors    # with a traceback if it fails",
    )
    + COMPLETION,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(__version__)
@click.option(
    "--system",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_system,
    help="Show versions, libraries and the kernels in use, and exit.",
)
def app(debug: bool) -> None:
    """Spherical PCA: PCA for data compared by cosine, and tools for texts and vectors."""
