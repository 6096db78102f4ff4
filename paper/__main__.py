"""The reproduction from the command line: ``python -m paper ...``."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(args: Sequence[str] | None = None) -> None:
    """Run a command and exit; without `args` take those of the process."""
    for package in ("sphericalpca", "click", "rich"):
        if importlib.util.find_spec(package) is None:
            sys.stderr.write(
                f"Error: {package} is not installed for this Python: run `make demo` first, then "
                "`.venv/bin/python -m paper ...`\n"
            )
            sys.exit(2)
    from sphericalpca.__main__ import run  # noqa: PLC0415 - may be missing, see above

    run("paper.cli.app", "python -m paper", args)


if __name__ == "__main__":
    main()
