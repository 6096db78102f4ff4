"""Does a model keep what it should?  Neighbours against those of rivals, and drift.

::

    comparison.py  evaluate: held-out queries, every method, one result
    methods.py     the model and its rivals, as projections of all rows and a way to search
    centred.py     centred PCA of unit rows
    drift.py       the mean cosine then and now
    optimism.py    how much nearer a fit's own rows lie than others of the same kind
    cosines.py     how near rows lie to the subspace of a model
    result.py      the numbers, as an object and as flat rows
    findings.py    sentences that follow from the numbers, by rules
    race.py        seconds and mean cosines beside those of scikit-learn
"""

from sphericalpca.evaluation.comparison import evaluate
from sphericalpca.evaluation.drift import Drift, check_drift
from sphericalpca.evaluation.race import Lap, race
from sphericalpca.evaluation.result import Evaluation, EvaluationRow

__all__ = ["Drift", "Evaluation", "EvaluationRow", "Lap", "check_drift", "evaluate", "race"]
