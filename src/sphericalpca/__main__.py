"""The command line: ``sphericalpca ...`` or ``python -m sphericalpca ...``."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Sequence

from sphericalpca.exceptions import MissingExtraError

__all__ = ["main", "run"]


def main(args: Sequence[str] | None = None) -> None:
    """Run a command and exit; `args` are those of the process by default."""
    run("sphericalpca.cli.app", "sphericalpca", args)


def run(module: str, program: str, args: Sequence[str] | None = None) -> None:
    """Run the `app` of a module, which needs click, under the name of a program."""
    for package in ("click", "rich"):
        try:
            importlib.import_module(package)
        except ImportError:
            missing = MissingExtraError("The command line", package, "cli")
            sys.stderr.write(f"Error: {missing}\n")
            sys.exit(2)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Do not fail on file names that the terminal cannot show.
        sys.stdout.reconfigure(errors="backslashreplace")
    importlib.import_module(module).app(args, prog_name=program)


if __name__ == "__main__":
    main()
