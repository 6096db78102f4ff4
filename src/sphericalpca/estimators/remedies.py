"""What to do about data that scikit-learn refuses."""

from __future__ import annotations

import re

__all__ = ["IMPUTE", "NUMBERS_ONLY", "REAL_ONLY", "is_about_text", "with_remedy"]

NUMBERS_ONLY = (
    "X must hold numbers only: encode text with a vectorizer and categories or dates with an "
    "encoder, or drop those columns."
)
STACK = "If these are the rows, pass np.stack(column), which is 2D; else drop that column."
REAL_ONLY = "Pass the real part or the modulus, or real and imaginary parts as separate columns."
_SAME_COLUMNS = "Pass the columns that the model was fitted on, in their order."
IMPUTE = "impute or drop it, for example with sklearn's SimpleImputer."
_RESHAPE = (
    "Reshape your data to (n_samples, n_features): X.reshape(1, -1) if it is a single sample, "
    "X.reshape(-1, 1) if it is a single feature."
)

_NO_BFLOAT16 = "Pass X.float(), or turn on scikit-learn's array_api_dispatch."
_DISPATCH = "Or turn on scikit-learn's dispatch: sklearn.set_config(array_api_dispatch=True)."

_TEXT = r"could not convert string|must be a string or a|Cannot cast \w+ dtype"

# scikit-learn's messages name the value and the rule, sometimes at length; these say what
# to do about it: (pattern, what to say in place of the message if anything, remedy).
_REMEDIES = (
    (r"0 sample\(s\)", None, "Pass at least one row."),
    (r"0 feature\(s\)", None, "Pass at least one column."),
    (r"got 1D array", "Expected 2D array, got 1D array instead", _RESHAPE),
    (r"array with dim|got scalar", None, "Reshape your data to (n_samples, n_features)."),
    (r"Complex data", "Complex data not supported: X holds complex numbers", REAL_ONLY),
    (r"'complex'", None, REAL_ONLY),
    (r"inhomogeneous", "X has an inhomogeneous shape", "Give all rows the same length."),
    (r"could not be promoted", "X holds dates or times", NUMBERS_ONLY),
    (r"with a sequence", "X has lists or vectors for entries, not numbers", STACK),
    (_TEXT, None, NUMBERS_ONLY),
    (r"too large to convert", "X holds integers too large for float64", "Rescale them."),
    (r"BFloat16", "X has dtype bfloat16, which NumPy does not know", _NO_BFLOAT16),
    (r"Implicit conversion|convert cuda|device type tensor", None, _DISPATCH),
    (r"unique column names", None, "Give every column a name of its own."),
    (r"features, but|feature names should", None, _SAME_COLUMNS),
)


def is_about_text(message: str) -> bool:
    """Whether something among the numbers is no number, which the message quotes."""
    return re.search(_TEXT, message) is not None


def with_remedy(message: str) -> str:
    """The message in short, and what to do about it; others as they are."""
    for pattern, rule, remedy in _REMEDIES:
        if re.search(pattern, message):
            sentence = (rule or message).rstrip(" .:\n")
            return f"{sentence}\n{remedy}" if "\n" in sentence else f"{sentence}. {remedy}"
    return message
