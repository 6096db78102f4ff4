"""Which suffix belongs to which kind of file, so that none is written under another's name."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ROWS", "check_suffix"]

# Those that `open_rows` knows; a test compares them.
ROWS = (
    *(".npy", ".npz", ".fvecs", ".bvecs"),
    *(".parquet", ".pq", ".arrow", ".feather", ".ipc"),
    *(".h5", ".hdf5", ".hdf"),
)
# Whoever finds a file of that name would open it with something else.
OTHERS = (
    *(".csv", ".html", ".json", ".jsonl", ".mat", ".py", ".sql", ".tsv"),
    *(".jpeg", ".jpg", ".pdf", ".png", ".svg"),
    *(".faiss", ".joblib", ".onnx", ".pickle", ".pkl", ".pt", ".safetensors", ".skops"),
)
# Text of any kind may be called that, if it is of a kind that is text.
PLAIN, TEXTS = (".md", ".txt"), (".json", ".py", ".sql")


def check_suffix(path: Path, what: str, own: str) -> None:
    """Refuse a name that says that the file is something else.

    Parameters
    ----------
    path : Path
        What is to be written.
    what : str
        What it will be; the end of "but this is ..." in the message.
    own : str
        The suffix of such files.
    """
    suffix = path.suffix.lower()
    refused = (*ROWS, *OTHERS) if own in TEXTS else (*ROWS, *OTHERS, *PLAIN)
    if suffix != own and suffix in refused:
        raise ValueError(
            f"{path} has the suffix of another kind of file, but {what} is written: call it "
            f"{path.with_suffix(own).name}, say."
        )
