"""Seeds from names, so that all methods share a draw, in whatever order they run."""

from __future__ import annotations

import hashlib

__all__ = ["seed_of"]


def seed_of(*names: object) -> int:
    """A seed in [0, 2^32) that depends on the names alone.

    Examples
    --------
    >>> from paper.seeds import seed_of
    >>> seed_of("newsgroups", 3) == seed_of("newsgroups", 3) != seed_of("newsgroups", 4)
    True
    """
    text = "/".join(map(str, names))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
