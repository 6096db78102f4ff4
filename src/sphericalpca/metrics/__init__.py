"""How clusterings are judged: agreement with known groups, and what may be said of it."""

from sphericalpca.metrics.ceiling import nmi_ceiling
from sphericalpca.metrics.clustering import clustering_accuracy, match_clusters, nmi
from sphericalpca.metrics.significance import (
    PairedDifference,
    bootstrap_difference,
    holm,
    paired_difference,
)

__all__ = [
    "PairedDifference",
    "bootstrap_difference",
    "clustering_accuracy",
    "holm",
    "match_clusters",
    "nmi",
    "nmi_ceiling",
    "paired_difference",
]
