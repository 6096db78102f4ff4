"""The best of many, by heaps and by sorting."""

import numpy as np
import pytest

from sphericalpca.codec.scan import all_cosines, search_codes
from tests.codec.test_quantiser import trained


@pytest.mark.parametrize("queries", [1, 8, 11])
@pytest.mark.parametrize("k", [1, 5, 3000])
def test_search_is_sorting_all_cosines(queries, k, kernels):
    V, quantiser = trained()
    codes = np.tile(quantiser.encode(V), (5, 1))  # with ties, which go to the first row
    ids, found = search_codes(quantiser, V[:queries], codes, k)
    scores = all_cosines(quantiser, V[:queries], codes)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    np.testing.assert_allclose(found, np.take_along_axis(scores, order, 1), atol=1e-6)
    for line, values in zip(ids, found, strict=True):
        assert (np.diff(line[values == values[0]]) > 0).all()
        assert line[0] < len(V) or kernels == "plain", "decoded rows are equal up to rounding"
        assert len(set(line.tolist())) == k
