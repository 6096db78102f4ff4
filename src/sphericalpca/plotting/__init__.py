"""Pictures of a fit, in scikit-learn's Display style.

A display holds the data of its picture: ``from_estimator`` collects them and draws,
``plot`` draws again.  matplotlib, the extra "plot", is imported when something is drawn.
"""

from sphericalpca.plotting.convergence import ConvergenceDisplay
from sphericalpca.plotting.dimensions import DimensionsDisplay
from sphericalpca.plotting.sphere import SphereDisplay
from sphericalpca.plotting.weights import ComponentWeightsDisplay

__all__ = ["ComponentWeightsDisplay", "ConvergenceDisplay", "DimensionsDisplay", "SphereDisplay"]
