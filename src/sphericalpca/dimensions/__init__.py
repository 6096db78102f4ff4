"""How many dimensions: the smallest number that keeps enough of the neighbours.

::

    choose.py     choose_components: held-out queries, the search for the number, the curve
    subspaces.py  of singular vectors, which tell where to look; of all dimensions from one fit
    measure.py    what reduced rows keep of the neighbours
    choice.py     the result
"""

from sphericalpca.dimensions.choice import CurvePoint, DimensionChoice
from sphericalpca.dimensions.choose import choose_components

__all__ = ["CurvePoint", "DimensionChoice", "choose_components"]
