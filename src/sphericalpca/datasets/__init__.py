"""Data to try the method on."""

from sphericalpca.datasets.synthetic import make_toy

__all__ = ["make_toy"]
