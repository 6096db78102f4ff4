"""Clustering of texts by angle, and the page that shows the groups."""

from sphericalpca.groups.clusters import TextClusters

__all__ = ["TextClusters"]
