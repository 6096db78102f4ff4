"""Errors and warnings, each also a builtin, so that ``except ValueError`` keeps working.

Each carries the value found, the rule it breaks and the remedy as fields, and puts them into one
sentence; parameters in them are a `Parameter`, which the command line prints as its own option.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

__all__ = [
    "AbsentError",
    "ArgumentTypeError",
    "CapacityWarning",
    "ClusterError",
    "DataError",
    "ExistsError",
    "Explained",
    "FeatureNamesWarning",
    "IsFolderError",
    "MissingExtraError",
    "NoDirectionWarning",
    "NotFolderError",
    "Parameter",
    "ParameterError",
    "Phrase",
    "ShortfallWarning",
    "SolverError",
    "WriteError",
    "check_choice",
    "counted",
    "import_extra",
    "printable",
    "silently",
    "warn_caller",
]


@dataclass(frozen=True)
class Parameter:
    """A parameter in a message: ``tol``, ``tol=0.1``, or ``tol=...`` for any value."""

    name: str
    value: Any = inspect.Parameter.empty  # no value, also when it was copied or pickled

    has_value = property(lambda self: self.value is not inspect.Parameter.empty)

    def __str__(self) -> str:
        if not self.has_value:
            return self.name
        return f"{self.name}={'...' if self.value is ... else repr(self.value)}"


# A piece of a message: text, a parameter, or several of these in order.
Phrase = str | Parameter | tuple[str | Parameter, ...]


class Explained(Exception):
    """An error or warning that says what was found, which rule it breaks and what to do.

    Attributes
    ----------
    value : str, Parameter or tuple of these
        What was found; the beginning of the sentence.  A `Parameter` is the subject of the rule,
        "tol=-1 must be positive"; a text or tuple is a clause, "X has 3 columns, but ...".
    rule, remedy : str, Parameter or tuple of these
        What must hold, and what to do about it; may be empty.
    """

    _end = "."

    def __init__(self, value: Phrase, rule: Phrase = "", remedy: Phrase = "") -> None:
        self.value, self.rule, self.remedy = value, rule, remedy
        super().__init__(self.render())

    def render(self, spell: Callable[[Parameter], str] = str) -> str:
        """Return the sentence: "tol=-1 must be positive", "X has 3 columns, but must have 4: ...".

        Parameters
        ----------
        spell : callable, default=str
            How to write a `Parameter`.

        Returns
        -------
        sentence : str
        """
        value, rule, remedy = (
            "".join(
                spell(piece) if isinstance(piece, Parameter) else piece
                for piece in (phrase if isinstance(phrase, tuple) else (phrase,))
            )
            for phrase in (self.value, self.rule, self.remedy)
        )
        link = " " if isinstance(self.value, Parameter) else ", but "
        if rule and value.endswith(".") and not value.endswith(".."):
            value = value[:-1]  # a sentence of another library is continued
        sentence = f"{value}{link}{rule}" if rule else value
        if remedy and sentence.endswith("."):  # several sentences of another library
            sentence = f"{sentence} {remedy[0].upper()}{remedy[1:]}"
        elif remedy:
            sentence = f"{sentence}: {remedy}"
        # Readers copy a command in quotes: no full stop after it.
        return sentence if sentence.endswith((".", "?", '"')) else f"{sentence}{self._end}"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.value, self.rule, self.remedy)


class ClusterError(Explained, RuntimeError):
    """A Dask cluster lost its workers, its scheduler, or data that cannot be recomputed."""


class DataError(Explained, ValueError):
    """The data, the sample weights or a given start cannot be used."""


class ParameterError(Explained, ValueError):
    """An argument of a function, or an option of a solver, cannot be used."""


class AbsentError(Explained, FileNotFoundError):
    """A file or folder does not exist."""


class ArgumentTypeError(Explained, TypeError):
    """An argument is of a type that cannot be used."""


class ExistsError(Explained, FileExistsError):
    """A file or folder to be written exists already."""


class IsFolderError(Explained, IsADirectoryError):
    """A folder is where a file is to be written."""


class NotFolderError(Explained, NotADirectoryError):
    """A file is where a folder is to be written."""


class WriteError(Explained, OSError):
    """The operating system cannot write a file."""


class SolverError(Explained, TypeError):
    """A solver lacks required methods, such as those that a checkpoint needs."""


def check_choice(name: str, value: str, choices: Collection[str]) -> None:
    """Refuse a value of a parameter that is not one of the choices."""
    if value not in choices:
        raise ParameterError(Parameter(name, value), f"must be one of {', '.join(choices)}")


class MissingExtraError(Explained, ImportError):
    """A feature needs an optional package that is not installed.

    Parameters
    ----------
    feature, package, extra : str
        What needs which package, and the extra of sphericalpca that installs it.
    """

    _end = ""  # the message ends in a command to copy

    def __init__(self, feature: str, package: str, extra: str) -> None:
        self._arguments = (feature, package, extra)
        found = f"{feature} needs {package}, which is not installed"
        super().__init__(found, remedy=f"pip install 'sphericalpca[{extra}]'")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._arguments


def import_extra(module: str, feature: str, package: str, extra: str) -> Any:
    """Import an optional module, or raise an error that names its extra."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(feature, package, extra) from None


class FeatureNamesWarning(UserWarning):
    """Only the model, or only the rows in files, have column names; as scikit-learn warns."""


class NoDirectionWarning(Explained, UserWarning):
    """Some rows are zero, so no angle can be measured from them."""


class CapacityWarning(Explained, UserWarning):
    """The rows cannot use as many bytes, or as many levels of a byte, as requested."""


class ShortfallWarning(Explained, UserWarning):
    """No allowed number of components reaches the target recall."""


# Control characters, marks of writing direction, surrogates, line separators.
UNPRINTABLE = ("Cc", "Cf", "Cs", "Zl", "Zp")
# Modules that warnings skip when they look for the calling line.
MACHINERY = ("sphericalpca.", "sklearn.")


def printable(found: object, most: int | None = None) -> str:
    """Text from a file for a message: in one line, control characters escaped."""
    try:
        text = str(found)
    except RecursionError:  # lists in lists in lists
        text = f"a {type(found).__name__}"
    if most is not None and len(text) > most:
        text = f"{text[:most]} ..."
    return "".join(
        character.encode("unicode_escape").decode()
        if unicodedata.category(character) in UNPRINTABLE
        else character
        for character in text
    )


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, singular or plural: "1 row", "2 rows"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def warn_caller(message: str | Warning, category: type[Warning] | None = None) -> None:
    """Warn at the calling line outside this package and scikit-learn."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(MACHINERY):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def silently(*categories: type[Warning]) -> Iterator[None]:
    """Suppress warnings of these categories."""
    with warnings.catch_warnings():
        for category in categories:
            warnings.simplefilter("ignore", category)
        yield
