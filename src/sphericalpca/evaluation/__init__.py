"""Does a model keep what it should?  Neighbours against those of rivals, and drift.

::

    comparison.py  evaluate: held-out queries, every method, one result
    methods.py     the model and its rivals, as projections of all rows and a way to search
    drift.py       the mean cosine then and now, and what every fit loses on new rows
    result.py      the numbers, as an object and as flat rows
    findings.py    sentences that follow from the numbers, by rules
    race.py        seconds and mean cosines beside those of scikit-learn
    page.py        the HTML page, with figures.py; templates/ holds its text
"""

from sphericalpca.evaluation.comparison import evaluate
from sphericalpca.evaluation.drift import Drift, check_drift
from sphericalpca.evaluation.race import Lap, race
from sphericalpca.evaluation.result import Evaluation, EvaluationRow

__all__ = ["Drift", "Evaluation", "EvaluationRow", "Lap", "check_drift", "evaluate", "race"]
