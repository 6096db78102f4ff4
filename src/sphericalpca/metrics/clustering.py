"""Agreement between known groups and clusters, independent of the clusters' names."""

from __future__ import annotations

import itertools
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.stats.contingency import crosstab
from sklearn.metrics import normalized_mutual_info_score

from sphericalpca.exceptions import ParameterError, check_choice

__all__ = ["Normalisation", "clustering_accuracy", "match_clusters", "nmi"]

Normalisation = Literal["max", "arithmetic", "geometric", "min"]


def clustering_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Compute the share of samples in the right cluster, under the best one-to-one matching.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Group and cluster of each sample; the names do not matter.  There may be more
        clusters than groups or fewer: samples without a partner count as wrong.

    Returns
    -------
    accuracy : float
        Between 1 / max(number of groups, number of clusters) and 1.

    Raises
    ------
    ParameterError
        If the labels are not lists of the same length, or contain NaN.

    Examples
    --------
    >>> from sphericalpca.metrics import clustering_accuracy
    >>> clustering_accuracy(["a", "a", "b", "b"], [7, 7, 3, 7])
    0.75
    """
    table = _contingency(labels_true, labels_pred)[2]
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / table.sum())


def match_clusters(labels_true: Any, labels_pred: Any) -> npt.NDArray[Any]:
    """Rename clusters to the groups they match best, one to one.

    The share of samples whose new name is their group is `clustering_accuracy`.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Group and cluster of each sample; groups are numbers or text.

    Returns
    -------
    renamed : ndarray of shape (n_samples,)
        A cluster without a matching group gets an unused name: the next free integer if
        groups are numbers, "unmatched 1" and so on if they are text.

    Raises
    ------
    ParameterError
        If the labels are not lists of the same length, or contain NaN.

    Examples
    --------
    >>> from sphericalpca.metrics import match_clusters
    >>> match_clusters([0, 0, 1, 1], [1, 1, 0, 1]).tolist()
    [0, 0, 1, 0]
    """
    groups, cluster_of, table = _contingency(labels_true, labels_pred)
    matched_groups, matched_clusters = linear_sum_assignment(table, maximize=True)
    n_groups, n_clusters = table.shape
    unmatched = np.setdiff1d(np.arange(n_clusters), matched_clusters)
    names = groups
    if len(unmatched):
        names = np.concatenate([groups, _spare_names(groups, len(unmatched))])
    name_of = np.empty(n_clusters, dtype=np.intp)
    name_of[matched_clusters] = matched_groups
    name_of[unmatched] = n_groups + np.arange(len(unmatched))
    return np.asarray(names[name_of[cluster_of]])


def nmi(labels_true: Any, labels_pred: Any, *, normalisation: Normalisation = "max") -> float:
    """Compute the normalised mutual information between groups and clusters.

    The mutual information is divided by a mean of the two entropies.  The paper cites Xu,
    Liu and Gong (2003), who divide by the larger entropy: "max", which gives the lowest values.
    scikit-learn's own default is "arithmetic".

    Parameters
    ----------
    labels_true, labels_pred
        As in `clustering_accuracy`.
    normalisation : {"max", "arithmetic", "geometric", "min"}, default="max"
        Mean of the two entropies to divide by.

    Returns
    -------
    nmi : float
        Between 0 and 1; 0 if all samples are in one cluster but not in one group.

    Raises
    ------
    ParameterError
        If the labels are not lists of the same length or contain NaN, or the normalisation is
        unknown.

    Examples
    --------
    >>> from sphericalpca.metrics import nmi
    >>> nmi([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    check_choice("normalisation", normalisation, get_args(Normalisation))
    true, pred = _labels(labels_true, labels_pred)
    return float(normalized_mutual_info_score(true, pred, average_method=normalisation))


def _labels(labels_true: Any, labels_pred: Any) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    true, pred = np.asarray(labels_true), np.asarray(labels_pred)
    if true.ndim != 1 or true.shape != pred.shape or not true.size:
        raise ParameterError(
            f"labels_true has shape {true.shape} and labels_pred has shape {pred.shape}",
            "both must be lists of the same length, one label per sample, with at least one sample",
        )
    for label, values in (("labels_true", true), ("labels_pred", pred)):
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise ParameterError(f"{label} has NaN", "labels cannot be NaN", "drop those samples")
    return true, pred


def _contingency(
    labels_true: Any, labels_pred: Any
) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Names of the groups, cluster number of each sample, and samples per group and cluster."""
    true, pred = _labels(labels_true, labels_pred)
    (groups, clusters), table = crosstab(true, pred)
    return groups, np.searchsorted(clusters, pred), table


def _spare_names(groups: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
    if groups.dtype.kind in "biuf":
        return int(groups[-1]) + 1 + np.arange(count)
    taken = set(groups.tolist())
    candidates = (f"unmatched {number}" for number in itertools.count(1))
    return np.array(list(itertools.islice((c for c in candidates if c not in taken), count)))
