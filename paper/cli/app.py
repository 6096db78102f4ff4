"""The program ``python -m paper``; errors take one line, as in ``sphericalpca``."""

from __future__ import annotations

import click

from sphericalpca.cli.app import App
from sphericalpca.cli.console import examples
from sphericalpca.version import __version__

__all__ = ["COMMANDS", "app"]

COMMANDS = {
    "reproduce": "paper.cli.reproduce:reproduce",
    "datasets": "paper.cli.datasets:datasets",
}


@click.group(
    cls=App,
    table=COMMANDS,
    epilog=examples(
        "python -m paper reproduce figures --out reproduction",
        "python -m paper datasets fetch",
        "python -m paper --debug datasets check    # with a traceback if it fails",
    ),
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.version_option(__version__)
def app(debug: bool) -> None:
    """Reproduce the experiments of the paper "Spherical Principal Component Analysis"."""
