"""Metrics for clusterings and nearest neighbours."""

from sphericalpca.metrics.clustering import clustering_accuracy, match_clusters, nmi
from sphericalpca.metrics.heldout import Share, mean_share
from sphericalpca.metrics.neighbours import nearest_neighbours, recall_at_k, recall_per_query
from sphericalpca.metrics.search import Neighbours
from sphericalpca.metrics.significance import PairedDifference, holm, paired_difference

__all__ = [
    "Neighbours",
    "PairedDifference",
    "Share",
    "clustering_accuracy",
    "holm",
    "match_clusters",
    "mean_share",
    "nearest_neighbours",
    "nmi",
    "paired_difference",
    "recall_at_k",
    "recall_per_query",
]
