"""The reproduction from the command line: ``python -m paper ...``."""

from __future__ import annotations

from collections.abc import Sequence

from sphericalpca.__main__ import run

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> None:
    """Run a command and exit; without `args` take those of the process."""
    run("paper.cli.app", "python -m paper", args)


if __name__ == "__main__":
    main()
