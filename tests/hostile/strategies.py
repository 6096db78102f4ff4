"""Data as strangers bring them: any shape, order, type, magnitude and defect.

Numbers come from a seed and a few choices, not one by one: drawing them singly would take
most of the time, and what breaks numerics is structure.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

FLOATS = ("f2", "f4", "f8", ">f4", ">f8", "g")
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", "?")
OTHERS = ("c8", "c16", "O", "U", "S", "M8[s]")

SHAPES = st.one_of(
    st.tuples(st.just(1), st.integers(1, 12)),
    st.tuples(st.integers(1, 12), st.just(1)),
    st.tuples(st.integers(2, 12), st.integers(2, 8)),
    st.tuples(st.integers(2, 5), st.integers(20, 60)),
    st.tuples(st.integers(40, 90), st.integers(2, 5)),
)
SEEDS = st.integers(0, 2**16)


class Layout(NamedTuple):
    """A way to hold a matrix, by name, so that failures can be read."""

    name: str
    hold: object

    def __call__(self, A):
        return self.hold(A)

    def __repr__(self):
        return self.name


# --------------------------------------------------------------------------------------- numbers


def _spiked(rng, n, m):
    r = min(2, m)
    return rng.standard_normal((n, r)) @ rng.standard_normal((r, m)) + 0.3 * rng.standard_normal(
        (n, m)
    )


STRUCTURES = {
    "spiked": _spiked,
    "noise": lambda rng, n, m: rng.standard_normal((n, m)),
    "counts": lambda rng, n, m: rng.poisson(0.7, (n, m)).astype(float),
    "signs": lambda rng, n, m: rng.choice([-1.0, 0.0, 1.0], (n, m)),
    "one-hot": lambda rng, n, m: np.eye(m)[rng.integers(m, size=n)],
    "one row again and again": lambda rng, n, m: np.tile(rng.standard_normal((1, m)), (n, 1)),
    "a row and its negative": lambda rng, n, m: (
        rng.choice([-1.0, 1.0], (n, 1)) * rng.standard_normal((1, m))
    ),
    "rank one": lambda rng, n, m: rng.standard_normal((n, 1)) * rng.standard_normal((1, m)),
    "constant": lambda rng, n, m: np.full((n, m), rng.standard_normal()),
    "far from zero": lambda rng, n, m: rng.standard_normal((n, m)) + 1e6,
}


def _exponents(draw, rng, shape, largest):
    """Powers of ten: of everything, of rows, of columns or of each entry."""
    n, m = shape
    low, high = sorted(draw(st.tuples(*[st.integers(-largest, largest)] * 2)))
    size = draw(st.sampled_from([(1, 1), (n, 1), (1, m), (n, m)]))
    return rng.uniform(low, high, size)


@st.composite
def numbers(draw, shapes=SHAPES, *, bad=True):
    """A float64 matrix, at times with NaN or infinity in it."""
    n, m = draw(shapes)
    rng = np.random.default_rng(draw(SEEDS))
    A = STRUCTURES[draw(st.sampled_from(list(STRUCTURES)))](rng, n, m)
    largest = draw(st.sampled_from([0, 0, 0, 3, 18, 37, 150, 300]))
    if largest:
        A = A * 10.0 ** _exponents(draw, rng, (n, m), largest)
    for defect in draw(st.lists(st.sampled_from(list(DEFECTS)), max_size=2)):
        A = DEFECTS[defect](rng, A)
    if bad and draw(st.integers(0, 9)) == 0:
        A[rng.integers(n), rng.integers(m)] = draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    return A


DEFECTS = {
    "zero rows": lambda rng, A: A * (rng.random((len(A), 1)) < 0.6),
    "zero columns": lambda rng, A: A * (rng.random((1, A.shape[1])) < 0.6),
    "denormal rows": lambda rng, A: np.where(rng.random((len(A), 1)) < 0.4, 1e-310 * np.sign(A), A),
    "denormal entries": lambda rng, A: np.where(rng.random(A.shape) < 0.3, 5e-324, A),
    "repeated rows": lambda rng, A: A[rng.integers(len(A), size=len(A))],
    "constant columns": lambda rng, A: np.where(rng.random((1, A.shape[1])) < 0.4, A[:1], A),
    "negative zeros": lambda rng, A: np.where(rng.random(A.shape) < 0.3, -0.0, A),
}


# ---------------------------------------------------------------------------------- dense arrays


def _every_second(A):
    wide = np.zeros((2 * A.shape[0], 2 * A.shape[1]), A.dtype)
    wide[::2, ::2] = A
    return wide[::2, ::2]


def _backwards(A):
    return np.ascontiguousarray(A[::-1, ::-1])[::-1, ::-1]


def _read_only(A):
    A = A.copy()
    A.flags.writeable = False
    return A


def _misaligned(A):
    if A.dtype.hasobject:
        return A
    raw = np.empty(A.nbytes + 1, np.uint8)[1:].view(A.dtype).reshape(A.shape)
    raw[...] = A
    return raw


DENSE = [
    Layout("C", np.ascontiguousarray),
    Layout("Fortran", np.asfortranarray),
    Layout("transposed", lambda A: np.ascontiguousarray(A.T).T),
    Layout("every second", _every_second),
    Layout("backwards", _backwards),
    Layout("read-only", _read_only),
    Layout("misaligned", _misaligned),
    Layout("list", lambda A: A.tolist()),
]


# --------------------------------------------------------------------------------------- sparse


def _explicit_zeros(A):
    n, m = A.shape
    return sparse.csr_array((A.ravel(), np.tile(np.arange(m), n), np.arange(n + 1) * m), (n, m))


def _unsorted(A):
    """Columns of each row from the last to the first, all stored."""
    n, m = A.shape
    places = np.tile(np.arange(m)[::-1], n)
    return sparse.csr_array((A[:, ::-1].ravel(), places, np.arange(n + 1) * m), (n, m))


def _repeated(A):
    """Every number as two entries, the second of which is zero."""
    n, m = A.shape
    data = np.stack([A, np.zeros_like(A)], axis=2).ravel()
    return sparse.csr_array(
        (data, np.tile(np.repeat(np.arange(m), 2), n), np.arange(n + 1) * 2 * m), (n, m)
    )


def _long_indices(A):
    S = sparse.csr_array(A)
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S


def _read_only_parts(A):
    S = sparse.csr_array(A)
    for part in (S.data, S.indices, S.indptr):
        part.flags.writeable = False
    return S


SPARSE = [
    Layout("CSR", sparse.csr_array),
    Layout("CSR matrix", sparse.csr_matrix),
    Layout("CSC", sparse.csc_array),
    Layout("CSC matrix", sparse.csc_matrix),
    Layout("COO", sparse.coo_array),
    Layout("LIL", sparse.lil_array),
    Layout("DOK", sparse.dok_array),
    Layout("BSR", sparse.bsr_array),
    Layout("DIA", sparse.dia_array),
    Layout("explicit zeros", _explicit_zeros),
    Layout("unsorted", _unsorted),
    Layout("repeated indices", _repeated),
    Layout("long indices", _long_indices),
    Layout("read-only parts", _read_only_parts),
]
LAYOUTS = st.sampled_from([*DENSE, *SPARSE])


def as_type(A, dtype):
    """The numbers in another type; what does not fit becomes infinite, or wraps around."""
    with np.errstate(all="ignore"):
        if dtype in ("U", "S", "O"):
            return A.astype(dtype)
        if np.dtype(dtype).kind in "iubM":
            return np.nan_to_num(np.clip(A, -100, 100)).astype("i8").astype(dtype)
        return A.astype(dtype)


def held(A, layout):
    """The matrix in a layout; sparse ones hold no types that scipy does not know."""
    known = A.dtype.kind in "fiub" and A.dtype.isnative and A.dtype != np.float16
    if layout in SPARSE and not known:
        return np.asarray(A)
    with np.errstate(all="ignore"):
        return layout(A)


@st.composite
def matrices(draw, shapes=SHAPES, *, bad=True):
    """Anything that looks like a matrix of numbers; with `bad` also invalid ones."""
    kinds = [*FLOATS, "f4", "f8", "f8", *INTEGERS[:3], *(("i8", "u8", "?", "O") if bad else ())]
    if bad and draw(st.integers(0, 19)) == 0:
        kinds = OTHERS
    A = as_type(draw(numbers(shapes, bad=bad)), draw(st.sampled_from(kinds)))
    return held(A, draw(LAYOUTS))


@st.composite
def weights(draw, n):
    """Sample weights: none, good ones, huge and tiny ones, and such as cannot be."""
    rng = np.random.default_rng(draw(SEEDS))
    kind = draw(st.sampled_from(["none"] * 4 + list(WEIGHTS)))
    return None if kind == "none" else WEIGHTS[kind](rng, n)


def _one(rng, n, value):
    weight = rng.uniform(0.5, 2, n)
    weight[rng.integers(n)] = value
    return weight


WEIGHTS = {
    "ordinary": lambda rng, n: rng.uniform(0, 2, n),
    "integers": lambda rng, n: rng.integers(0, 4, n),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.7, 0.0, 1.0),
    "huge": lambda rng, n: 10.0 ** rng.uniform(30, 97, n),
    "tiny": lambda rng, n: 10.0 ** rng.uniform(-99, -30, n),
    "both": lambda rng, n: 10.0 ** rng.uniform(-323, 97, n),
    "too large": lambda rng, n: 10.0 ** rng.uniform(90, 308, n),
    "too small": lambda rng, n: 10.0 ** rng.uniform(-323, -90, n),
    "one huge": lambda rng, n: _one(rng, n, 1e90),
    "single": lambda rng, n: rng.uniform(0, 2, n).astype(np.float32),
    "scalar": lambda rng, n: 3.0,
    "zero": lambda rng, n: np.zeros(n),
    "negative": lambda rng, n: _one(rng, n, -1.0),
    "NaN": lambda rng, n: _one(rng, n, np.nan),
    "infinite": lambda rng, n: _one(rng, n, np.inf),
    "too many": lambda rng, n: np.ones(n + 1),
    "column": lambda rng, n: np.ones((n, 1)),
    "text": lambda rng, n: ["heavy"] * n,
    "complex": lambda rng, n: np.ones(n) * 1j,
}
