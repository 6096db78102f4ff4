"""Provenance of rows, and the number of threads."""

from __future__ import annotations

from threadpoolctl import threadpool_info

from paper import provenance

__all__ = ["QUICK", "made_with"]

# Marks rows of a quick run, whose data are smaller than their names say.
QUICK = "quick run on small data"


def made_with(*, quick: bool = False) -> str:
    """One line of facts, the same for all rows of a run."""
    facts = provenance.made_with()
    threads = [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]
    return "; ".join([facts, f"BLAS threads {max(threads, default=1)}", *[QUICK] * quick])
