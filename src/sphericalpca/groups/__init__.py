"""Texts in groups by angle, and the page that shows them."""

from sphericalpca.groups.clusters import TextClusters

__all__ = ["TextClusters"]
