"""How many dimensions: the smallest number that keeps enough of the neighbours."""

from sphericalpca.dimensions.choice import CurvePoint, DimensionChoice
from sphericalpca.dimensions.choose import choose_components

__all__ = ["CurvePoint", "DimensionChoice", "choose_components"]
