"""What rows were made with, and with how many threads."""

from __future__ import annotations

from threadpoolctl import threadpool_info

from paper import provenance

__all__ = ["QUICK", "made_with"]

# How rows of a quick run are marked: their data are not those that their names promise.
QUICK = "quick run on small data"


def made_with(*, quick: bool = False) -> str:
    """One line of facts, the same for all rows of a run."""
    facts = provenance.made_with()
    threads = [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
    return "; ".join([facts, f"BLAS threads {max(threads, default=1)}", *[QUICK] * quick])
