"""What can go wrong, each also a builtin, so that ``except ValueError`` keeps working.

::

    DataError(ValueError)            the data, the weights or a given start break a rule
    MissingExtraError(ImportError)   an optional package is not installed
    NoDirectionWarning(UserWarning)  some rows are zero and point nowhere

Messages name the value found, the rule it breaks and the remedy.  Parameters of an
estimator are checked by scikit-learn itself, which raises its own ``ValueError``;
unfinished fits give scikit-learn's ``ConvergenceWarning``.
"""

from __future__ import annotations

__all__ = ["DataError", "MissingExtraError", "NoDirectionWarning"]


class DataError(ValueError):
    """The data, the sample weights or a given start cannot be used."""


class MissingExtraError(ImportError):
    """A feature needs an optional package that is not installed."""

    def __init__(self, feature: str, package: str, extra: str) -> None:
        super().__init__(
            f"{feature} needs {package}, which is not installed: "
            f"pip install 'sphericalpca[{extra}]'"
        )


class NoDirectionWarning(UserWarning):
    """Some rows are zero, so no angle can be measured from them."""
