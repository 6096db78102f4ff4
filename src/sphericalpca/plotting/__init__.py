"""Plots in the style of scikit-learn's Display classes.

A display holds the data of its picture: ``from_estimator`` collects them and draws,
``plot`` draws again.  matplotlib, the extra "plot", is imported when something is drawn.
"""

from sphericalpca.plotting.components import ComponentWeightsDisplay, DimensionsDisplay
from sphericalpca.plotting.convergence import ConvergenceDisplay
from sphericalpca.plotting.groups import GroupsDisplay
from sphericalpca.plotting.sphere import SphereDisplay

__all__ = [
    "ComponentWeightsDisplay",
    "ConvergenceDisplay",
    "DimensionsDisplay",
    "GroupsDisplay",
    "SphereDisplay",
]
