"""Does a model keep what it should?  Neighbours against those of rivals, drift, and a race."""

from sphericalpca.evaluation.comparison import evaluate
from sphericalpca.evaluation.drift import Drift, check_drift
from sphericalpca.evaluation.race import Lap, race
from sphericalpca.evaluation.result import Evaluation, EvaluationRow

__all__ = ["Drift", "Evaluation", "EvaluationRow", "Lap", "check_drift", "evaluate", "race"]
