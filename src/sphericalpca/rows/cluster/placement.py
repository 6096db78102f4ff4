"""Which worker keeps what: near where it is, and as much for everyone's thread."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Worker", "assign_workers", "runs_that_fit"]

# Data move only from workers that hold this many times their due.
TOLERANCE = 1.1
# A group is loaded as a whole when it was spilled to disk, and something else is there too.
PART_OF_MEMORY = 0.25


@dataclass(frozen=True)
class Worker:
    """A worker of a cluster: how many threads, and how many bytes; 0 if there is no limit."""

    threads: int
    memory: int


def assign_workers(
    sizes: Sequence[int], holders: Sequence[Sequence[str]], workers: Mapping[str, Worker]
) -> list[str]:
    """The address of the worker that should keep each piece of data.

    Of each its bytes are given, and the addresses of the workers that hold it already.
    """
    per_thread = sum(sizes) / sum(worker.threads for worker in workers.values())
    loads = dict.fromkeys(sorted(workers), 0.0)

    def filled(address: str, k: int) -> float:
        """How many times its due a worker would have with this piece."""
        due = per_thread * workers[address].threads
        return (loads[address] + sizes[k]) / due if due > 0 else 0.0

    def best(addresses: Iterable[str], k: int) -> str:
        # Where two have as little, nothing moves.
        return min(addresses, key=lambda address: (filled(address, k), address not in holders[k]))

    chosen: dict[int, str] = {}
    for k, size in enumerate(sizes):
        near = [address for address in holders[k] if address in workers]
        if near and filled(best(near, k), k) <= TOLERANCE:
            chosen[k] = best(near, k)
            loads[chosen[k]] += size
    unplaced = set(range(len(sizes))) - set(chosen)
    for k in sorted(unplaced, key=lambda k: (-sizes[k], k)):
        chosen[k] = best(loads, k)
        loads[chosen[k]] += sizes[k]
    return [chosen[k] for k in range(len(sizes))]


def runs_that_fit(pieces: Sequence[int], sizes: Sequence[int], memory: int) -> list[list[int]]:
    """The pieces in order, in as few runs as may be, none much above a part of the memory."""
    total = sum(sizes[k] for k in pieces)
    count = max(math.ceil(total / (PART_OF_MEMORY * memory)), 1) if memory else 1
    runs: dict[int, list[int]] = {}
    for k, end in zip(pieces, itertools.accumulate(sizes[k] for k in pieces), strict=True):
        # A piece belongs to the run that its middle falls into.
        place = count * (end - sizes[k] / 2) / total if total else 0.0
        runs.setdefault(min(int(place), count - 1), []).append(k)
    return list(runs.values())
