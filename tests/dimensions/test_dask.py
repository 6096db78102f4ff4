"""Rows on a Dask cluster, where no neighbours are searched."""

import numpy as np
import pytest

from sphericalpca import SphericalPCA, choose_components, evaluate
from sphericalpca.exceptions import DataError

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")


@pytest.mark.slow("cluster")
def test_what_to_do_with_an_array_on_a_cluster():
    X = np.random.default_rng(0).standard_normal((150, 6))
    lazy = da.from_array(X, chunks=(50, 6))
    words = r"X is on a Dask cluster, but neighbours .*: pass X.compute\(\), or files"
    options = {"processes": False, "n_workers": 1, "dashboard_address": None}
    with distributed.Client(**options, set_as_default=True):
        with pytest.raises(DataError, match=words):
            choose_components(lazy, random_state=0)
        with pytest.raises(DataError, match=words):
            evaluate(SphericalPCA(2).fit(X), lazy, at=(1,), random_state=0)
        found = choose_components(lazy.compute(), recall=0.5, k=2, random_state=0)
    assert found.n_features == 6
