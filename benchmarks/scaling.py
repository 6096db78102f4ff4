"""The cost of a pass on more machines: ``python -m benchmarks.scaling``.

A model with five numbers, four of them fitted to the rows that `benchmarks.cluster` and
`benchmarks.outofcore` measured on one machine; the speed of a network is assumed.
Nothing here was measured on more than one machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cluster import cluster_table
from benchmarks.outofcore import outofcore_table
from benchmarks.table import Row, number

__all__ = ["PLANS", "ClusterPlan", "Costs", "fitted", "predictions"]

RESULTS = Path(__file__).parent / "results"

CORES = 16
MEMORY = 64e9  # bytes of a machine that may hold data
NETWORK = 25e9 / 8  # bytes per second between two machines: 25 Gbit/s
DISK = 2e9  # bytes per second of a machine, for data that do not fit in memory
FAN_IN = 8  # as in rows/cluster/rows.py


@dataclass(frozen=True)
class Costs:
    """Costs measured on one machine.

    Attributes
    ----------
    flops : float
        Floating-point operations per second and core, in a pass over float32 rows.
    reading : float
        Bytes per second at which rows come from files in the system's cache; infinite where a pass
        over files took no longer than one over memory.
    round_trip : float
        Seconds of a pass that does nothing, on one worker.
    per_worker : float
        Seconds that every further worker adds to it.
    """

    flops: float
    reading: float
    round_trip: float
    per_worker: float


@dataclass(frozen=True)
class ClusterPlan:
    """A collection of float32 rows and the machines for it."""

    n: float
    m: int
    r: int
    machines: int

    @property
    def size(self) -> float:
        """Bytes of the rows."""
        return 4.0 * self.n * self.m

    def compute(self, costs: Costs) -> float:
        """Seconds of the products of a pass."""
        return 4.0 * self.n * self.m * self.r / (self.machines * CORES * costs.flops)

    def disk(self, costs: Costs) -> float:
        """Seconds of reading, which overlaps with computing; none if the rows fit in memory."""
        if self.size <= self.machines * MEMORY:
            return 0.0
        return self.size / self.machines / min(DISK, costs.reading)

    def network(self) -> float:
        """Seconds to send U to all machines, and to add up gradients in a tree."""
        gradient = 8.0 * self.m * self.r
        levels = math.ceil(math.log(max(self.machines, 2), FAN_IN))
        copies = math.ceil(math.log2(max(self.machines, 2)))
        return (gradient / 2 * copies + gradient * FAN_IN * levels) / NETWORK

    def overhead(self, costs: Costs) -> float:
        """Seconds of the scheduler: a task for every worker, one after the other."""
        return costs.round_trip + costs.per_worker * (self.machines - 1)

    def seconds(self, costs: Costs) -> float:
        """Seconds of a pass."""
        work = max(self.compute(costs), self.disk(costs))
        return work + self.network() + self.overhead(costs)

    def efficiency(self, costs: Costs) -> float:
        """Share of the time in which the machines compute."""
        return self.compute(costs) / self.seconds(costs)


PLANS = (
    ClusterPlan(1e7, 768, 64, 1),
    ClusterPlan(1e8, 768, 64, 1),
    ClusterPlan(1e8, 768, 64, 16),
    ClusterPlan(1e9, 1024, 64, 16),
    ClusterPlan(1e9, 1024, 64, 64),
    ClusterPlan(1e9, 1024, 64, 256),
    ClusterPlan(1e9, 1024, 64, 1024),
)


def fitted(folder: Path = RESULTS) -> Costs:
    """The costs from the committed rows."""
    cluster = {(row["workers"], row["action"]): row for row in cluster_table(folder).read()}
    files = {row["way"]: row for row in outofcore_table(folder).read()}
    one, two = (number(cluster[w, "nothing"], "seconds") for w in ("1", "2"))
    work = cluster["2", "workers"]
    flops = 4.0 * number(work, "n") * number(work, "m") * number(work, "r")
    return Costs(
        flops / 2 / (number(work, "seconds") - two),
        _reading(files["memory"], files["open_rows"]),
        one,
        max(two - one, 1e-4),
    )


def _reading(memory: Row, streamed: Row) -> float:
    """Bytes per second, from the extra time of a pass over files compared with memory."""
    size = 4.0 * number(memory, "n") * number(memory, "m") * number(memory, "passes")
    longer = number(streamed, "seconds") - number(memory, "seconds")
    return size / longer if longer > 0 else math.inf


def predictions(costs: Costs) -> str:
    """The plans and what they cost, as a table."""
    titles = ("rows", "machines", "compute", "disk", "network", "scheduler", "a pass", "efficiency")
    lines = [titles, ("---",) * len(titles), *(_cells(plan, costs) for plan in PLANS)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cells(plan: ClusterPlan, costs: Costs) -> tuple[str, ...]:
    parts = (plan.compute(costs), plan.disk(costs), plan.network(), plan.overhead(costs))
    return (
        f"{plan.n:.0e} x {plan.m}".replace("e+0", "e"),
        str(plan.machines),
        *(f"{_short(part)} s" if part else "none" for part in parts),
        f"{_short(plan.seconds(costs))} s",
        f"{100 * plan.efficiency(costs):.0f} %",
    )


def _short(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.2g}"


def main() -> None:
    costs = fitted()
    files = (
        f"at {costs.reading / 1e9:.1f} GB/s" if costs.reading < math.inf else "as fast as memory"
    )
    print(f"{costs.flops / 1e9:.0f} Gflop/s a core, files {files},")
    print(f"round trip {1e3 * costs.round_trip:.0f} ms, a worker {1e3 * costs.per_worker:.1f} ms")
    print(predictions(costs))


if __name__ == "__main__":
    main()
