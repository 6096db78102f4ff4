"""What can go wrong, each also a builtin, so that ``except ValueError`` keeps working.

::

    ClusterError(RuntimeError)       a Dask cluster cannot do what it was asked
    DataError(ValueError)            the data, the weights or a given start break a rule
    MissingExtraError(ImportError)   an optional package is not installed
    NoDirectionWarning(UserWarning)  some rows are zero and point nowhere
    ShortfallWarning(UserWarning)    a recall that was asked for is not reached

Messages name the value found, the rule it breaks and the remedy.  Parameters of an
estimator are checked by scikit-learn itself, which raises its own ``ValueError``;
unfinished fits give scikit-learn's ``ConvergenceWarning``.
"""

from __future__ import annotations

import sys
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = [
    "ClusterError",
    "DataError",
    "MissingExtraError",
    "NoDirectionWarning",
    "ShortfallWarning",
    "printable",
    "silently",
    "warn_caller",
]


class ClusterError(RuntimeError):
    """A Dask cluster lost its workers, its scheduler, or data that cannot be made again."""


class DataError(ValueError):
    """The data, the sample weights or a given start cannot be used."""


class MissingExtraError(ImportError):
    """A feature needs an optional package that is not installed.

    Parameters
    ----------
    feature : str
        What needs it; the beginning of the message.
    package : str
        Its name.
    extra : str
        Which extra of this package brings it.
    """

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs {package}, which is not installed: "
            f"pip install 'sphericalpca[{extra}]'"
        )


class NoDirectionWarning(UserWarning):
    """Some rows are zero, so no angle can be measured from them."""


class ShortfallWarning(UserWarning):
    """No number of components that was allowed keeps the recall that was asked for."""


# Control characters, marks that turn the direction of writing, halves of characters, line ends.
UNPRINTABLE = ("Cc", "Cf", "Cs", "Zl", "Zp")


def printable(found: object, most: int | None = None) -> str:
    """How a message quotes what comes from a file: in one line, and not at length.

    Names in files are whatever their authors like, and a terminal obeys what it is sent: such
    characters are spelled out.
    """
    try:
        text = str(found)
    except RecursionError:  # lists in lists in lists
        text = f"a {type(found).__name__}"
    if most is not None and len(text) > most:
        text = f"{text[:most]} ..."
    return "".join(map(_spelled, text))


def _spelled(character: str) -> str:
    if unicodedata.category(character) in UNPRINTABLE:
        return character.encode("unicode_escape").decode()
    return character


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line outside this package and scikit-learn that led here."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and _is_machinery(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def silently(*categories: type[Warning]) -> Iterator[None]:
    """Without warnings of these kinds."""
    with warnings.catch_warnings():
        for category in categories:
            warnings.simplefilter("ignore", category)
        yield


def _is_machinery(module: str) -> bool:
    return module.split(".", maxsplit=1)[0] in ("sphericalpca", "sklearn")
