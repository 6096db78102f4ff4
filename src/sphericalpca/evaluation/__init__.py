"""Evaluate a model: recall of nearest neighbours, drift, and a comparison of speed."""

from sphericalpca.evaluation.comparison import evaluate
from sphericalpca.evaluation.drift import Drift, check_drift
from sphericalpca.evaluation.race import Lap, race
from sphericalpca.evaluation.result import Evaluation, EvaluationRow

__all__ = ["Drift", "Evaluation", "EvaluationRow", "Lap", "check_drift", "evaluate", "race"]
