"""Rows on a Dask cluster: chunks stay with the workers, and sums travel."""

from sphericalpca.rows.cluster.chunks import DaskSource, checked_chunk
from sphericalpca.rows.cluster.collection import fetched, from_dask, is_frame
from sphericalpca.rows.cluster.matrix import ClusterMatrix
from sphericalpca.rows.cluster.rows import ClusterRows

__all__ = [
    "ClusterMatrix",
    "ClusterRows",
    "DaskSource",
    "checked_chunk",
    "fetched",
    "from_dask",
    "is_frame",
]
