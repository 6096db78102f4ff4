"""Renames in the rooms of rows and files; removed when the house stands.

``python tools/renames_h2.py`` applies every rule, in order; a second run changes nothing.
"""

from __future__ import annotations

import renames

EVERYWHERE = renames.EVERYWHERE
ROWS = ("src/sphericalpca/rows", "tests/rows")
CLUSTER = ("src/sphericalpca/rows/cluster", "tests/rows/cluster")

RULES_H2: list[tuple[str, str, tuple[str, ...], tuple[str, ...]]] = [
    # Modules that became one.
    (r"\brows\.(dense|csr|inmemory)\b(?= import)", "rows.memory", EVERYWHERE, ()),
    (r"\bsphericalpca\.rows\.source\b", "sphericalpca.rows.reading", EVERYWHERE, ()),
    (r"\brows\.namespace\.block\b", "rows.namespace.rows", EVERYWHERE, ()),
    (r"\brows\.namespace\.lengths\b", "rows.namespace.matrix", EVERYWHERE, ()),
    (r"\brows\.sources\.(paths|budget)\b", "rows.sources.opening", EVERYWHERE, ()),
    (r"\brows\.sources\.datafile\b", "rows.sources.filesource", EVERYWHERE, ()),
    (r"\brows\.sources\.archive\b", "rows.sources.npy", EVERYWHERE, ()),
    (r"\brows\.sources\.arrow_footer\b", "rows.sources.arrow", EVERYWHERE, ()),
    (r"\brows\.cluster\.(chunk|inprocess)\b", "rows.cluster.chunks", EVERYWHERE, ()),
    # Weight, scale and length of each row; `Facts` are those of a data set.
    (r"\bsphericalpca\.rows\.facts\b", "sphericalpca.rows.stats", EVERYWHERE, ()),
    (r"\bFacts\b", "RowStats", ROWS, ()),
    (r"(?<=\.)facts(?=\.(?:norm|weight|scale|totals)\b)", "stats", EVERYWHERE, ()),
    (r"\b(_?)facts\b", r"\1stats", ROWS, ()),
    (r"\b(rows|expected)\.facts\b", r"\1.stats", ROWS, ()),
    # The cluster: its client, when it stalls, and the chunks that a worker keeps together.
    (r"\bcluster\.crew\b", "cluster.client", EVERYWHERE, ()),
    (
        r"import ClusterRows, crew, from_dask, patience",
        "import ClusterRows, client, from_dask, stall",
        CLUSTER,
        (),
    ),
    (r"\bcrew\.Crew\b", "client.ClusterClient", CLUSTER, ()),
    (r"setattr\(crew\b", "setattr(client", CLUSTER, ()),
    (r"\bCrew\b", "ClusterClient", CLUSTER, ()),
    (r"\b(_?)crew\b", r"\1cluster", CLUSTER, ()),
    (r"\bcluster\.patience\b", "cluster.stall", EVERYWHERE, ()),
    (r"\bPatience\b", "StallDetector", CLUSTER, ()),
    (r"\bpatience(?=[.,]| *= )", "stall", CLUSTER, ()),
    (r"import patience$", "import stall", CLUSTER, ()),
    (r"\bPulse\b", "Activity", CLUSTER, ()),
    (r"\bpulse\b", "activity", CLUSTER, ()),
    (r"\bSILENCE\b", "ANSWER_TIMEOUT", CLUSTER, ()),
    (r"\bLOOK\b", "POLL_INTERVAL", CLUSTER, ()),
    (r"\bBEAT\b", "ACTIVITY_INTERVAL", CLUSTER, ()),
    (r"\bcluster\.share\b", "cluster.group", EVERYWHERE, ()),
    (r"\bpiece\.share\b", "placed.group", CLUSTER, ()),
    (r"\bfor piece in matrix\.pieces\b", "for placed in matrix.groups", CLUSTER, ()),
    (r"matrix\.pieces\b", "matrix.groups", CLUSTER, ()),
    (r"\bShareRows\b", "GroupRows", CLUSTER, ()),
    (r"\bShare\b", "ChunkGroup", CLUSTER, ()),
    (r"\bMeasured\b", "GroupStats", CLUSTER, ()),
    (r"\bswept\b(?=[\"(,])", "sweep_group", CLUSTER, ()),
    (r"\badded\b(?=[\"(,])", "add_sums", CLUSTER, ()),
    (r"\bshared_by_all\b", "broadcast", CLUSTER, ()),
    (r"\bmeasured\b(?=[\"(,])", "measure_group", CLUSTER, ()),
    (r"\bprojected\b(?=[\"(,])", "project_group", CLUSTER, ()),
    (r"\bkept_together\b", "make_group", CLUSTER, ()),
    (r"\bmean_of\b", "group_mean", CLUSTER, ()),
    (r"\bmixed_mean\b", "combine_means", CLUSTER, ()),
    (r"\bhomes\(", "assign_workers(", CLUSTER, ()),
    (
        r"\bimport Worker, homes, runs_that_fit",
        "import Worker, assign_workers, runs_that_fit",
        CLUSTER,
        (),
    ),
    (r"\b_homes\b", "_addresses", CLUSTER, ()),
    (r"\bReads\b", "ReadProgress", CLUSTER, ()),
    (r"\bLoads\b", "LoadProgress", CLUSTER, ()),
    (r"\bcluster\.reads\b", "cluster.progress", EVERYWHERE, ()),
    (r"\bSurvey\b", "ClusterState", CLUSTER, ()),
    (r"\.survey\(", ".state(", CLUSTER, ()),
    (r"\bsphericalpca\.writing\.(carried|writers)\b", "sphericalpca.writing", EVERYWHERE, ()),
]


if __name__ == "__main__":
    renames.RULES = RULES_H2
    renames.main()
