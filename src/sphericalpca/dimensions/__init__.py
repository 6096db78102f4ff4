"""Choose the smallest number of components that keeps the nearest neighbours."""

from sphericalpca.dimensions.choice import CurvePoint, DimensionChoice
from sphericalpca.dimensions.choose import choose_components

__all__ = ["CurvePoint", "DimensionChoice", "choose_components"]
