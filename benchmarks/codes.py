"""Codes compared with alternatives: recall against bytes, with all side data counted.

``python -m benchmarks.codes`` encodes unit rows with `SphericalCodec` (also as exported to faiss),
faiss quantisers, sign bits, first coordinates in int8, and the same coder on SVD + unit rows and on
centred PCA; 1,000 held-out queries ask for their 10 nearest rows by cosine, by code alone and after
40 candidates were ranked with full vectors.  Bytes are those of a row, corrections and the like
included; models, which all rows share, are not counted.  ``--data``, ``--only`` and ``--bytes``
choose parts; ``--answers`` is a folder where answers of rivals are kept, so that OPQ, which takes
minutes to train, is not trained again when our code changes.  ``--untimed`` leaves out seconds,
for busy machines.  ``draw`` only draws the picture.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.generated import clusters, power_law
from benchmarks.machine import made_with
from benchmarks.real import glove, minilm
from benchmarks.table import ResultTable, Row, number
from sphericalpca import SphericalCodec
from sphericalpca.codec import codes_to_faiss
from sphericalpca.codec.learning import MOST_ROWS, ideal_bits, importance, pack
from sphericalpca.codec.quantiser import Quantiser
from sphericalpca.linalg import Array, unit_rows
from sphericalpca.metrics import nearest_neighbours, paired_difference, recall_per_query
from sphericalpca.parallel import allowed_threads
from sphericalpca.plotting.style import INK, OKABE_ITO
from sphericalpca.products import Labels

__all__ = ["DATA", "METHODS", "K", "codes_table", "draw", "facts", "race_rows", "split"]

K, CANDIDATES, QUERIES = 10, 40, 1000
SIZES = (12, 16, 24, 25, 32, 48, 50, 64, 96, 128, 192)
RESULTS = Path(__file__).parent / "results"
SECONDS = ("fit_seconds", "encode_seconds", "search_seconds")
COLUMNS = (
    *("data", "method", "bytes", "n", "m", "recall", "reranked", "behind_ours", "low", "high"),
    *(*SECONDS, "made_with"),
)

DATA: dict[str, Callable[[], Array]] = {
    "minilm": minilm,
    "glove": glove,
    "clusters": lambda: clusters(20_000, 96),
    "power-law": lambda: power_law(20_000, 128, 0.5),
}


class Answer(NamedTuple):
    """Candidates for each query, best first, and the seconds they took."""

    n_bytes: int
    ids: Labels
    fit: float
    encode: float
    search: float


Method = Callable[[Array, Array, int], Answer | None]


def _ours(base: Array, queries: Array, size: int) -> Answer | None:
    clock = [time.perf_counter()]
    codec = SphericalCodec(size, random_state=0)
    if size > base.shape[1]:
        return None
    codec.fit(base)
    clock.append(time.perf_counter())
    codes = codec.encode(base)
    clock.append(time.perf_counter())
    found = codec.search(queries, codes, CANDIDATES).ids
    clock.append(time.perf_counter())
    return Answer(codes.shape[1], found, *np.diff(clock))


def _exported(base: Array, queries: Array, size: int) -> Answer | None:
    """Our codes in the nearest index type of faiss, which does not scale them to unit length."""
    if size > base.shape[1]:
        return None
    clock = [time.perf_counter()]
    codec = SphericalCodec(size, random_state=0).fit(base)
    clock.append(time.perf_counter())
    index = codes_to_faiss(codec, codec.encode(base))
    clock.append(time.perf_counter())
    _, found = index.search(queries, CANDIDATES)
    clock.append(time.perf_counter())
    return Answer(codec.n_bytes_, found, *np.diff(clock))


def _coder_on(centred: bool) -> Method:
    """The same coder on unit rows of the leading singular vectors, or on principal components."""

    def run(base: Array, queries: Array, size: int) -> Answer | None:
        if size > base.shape[1]:
            return None
        began = time.perf_counter()
        mean, rng = base.mean(axis=0) * centred, np.random.default_rng(0)
        rows = (base - mean).astype(np.float64)
        U = np.linalg.eigh(rows.T @ rows)[1][:, ::-1]
        Y = rows @ U
        counts = importance(unit_rows(Y)[0])
        bits = ideal_bits(Y.var(axis=0) * counts, 8.0 * size)
        r = max(size, int(np.flatnonzero(bits)[-1]) + 1)
        packing = pack(bits[:r], size)
        order = np.argsort(packing, kind="stable")
        V = Y[:, order] if centred else unit_rows(Y[:, order])[0]
        drawn = rng.permutation(len(V))[:MOST_ROWS]
        weight, packing = np.ones(len(drawn)), packing[order]
        quantiser, _ = Quantiser.train(V[drawn], weight, counts[order], packing, rng)
        coded = quantiser.encode(V)
        levels = quantiser.levels[coded[:, packing], np.arange(r)]
        encoded = time.perf_counter()
        decoded = (levels @ U[:, order].T + mean).astype(np.float32)
        found = nearest_neighbours(decoded, queries, CANDIDATES).ids
        return Answer(size, found, encoded - began, np.nan, time.perf_counter() - encoded)

    return run


def _faiss(factory: Callable[[int, int], str | None]) -> Method:
    def run(base: Array, queries: Array, size: int) -> Answer | None:
        import faiss  # noqa: PLC0415 - only here

        faiss.omp_set_num_threads(allowed_threads())
        name = factory(base.shape[1], size)
        if name is None:
            return None
        index = faiss.index_factory(base.shape[1], name, faiss.METRIC_INNER_PRODUCT)
        clock = [time.perf_counter()]
        index.train(base)
        clock.append(time.perf_counter())
        index.add(base)
        clock.append(time.perf_counter())
        _, found = index.search(queries, CANDIDATES)
        clock.append(time.perf_counter())
        return Answer(index.sa_code_size(), found, *np.diff(clock))

    return run


def _rounded(width: Callable[[int, int], int], signs: bool) -> Method:
    """First coordinates in int8 by their largest entry, or signs of all."""

    def run(base: Array, queries: Array, size: int) -> Answer | None:
        m = width(base.shape[1], size)
        if not m:
            return None
        began = time.perf_counter()
        part = base[:, :m]
        coded = np.sign(part) if signs else np.rint(127 * part / np.abs(part).max(1, keepdims=True))
        encoded = time.perf_counter()
        found = nearest_neighbours(coded.astype(np.float32), queries[:, :m], CANDIDATES).ids
        return Answer(size, found, 0.0, encoded - began, time.perf_counter() - encoded)

    return run


def _rabitq(bits: int) -> Method:
    name = f"RaBitQ{bits}" if bits > 1 else "RaBitQ"
    # It has one size, whatever is requested.
    return _faiss(lambda m, size: f"RR{m},{name}" if size == SIZES[0] else None)


def _scalar(bits: int) -> Method:
    """PCA and a rotation, then `bits` bits for each coordinate."""
    return _faiss(
        lambda m, size: f"PCAR{8 * size // bits},SQ{bits}" if 8 * size // bits <= m else None
    )


METHODS: dict[str, Method] = {
    "ours": _ours,
    "ours, exported to faiss": _exported,
    "coder on SVD + unit rows": _coder_on(centred=False),
    "coder on centred PCA": _coder_on(centred=True),
    "OPQ": _faiss(lambda m, size: f"OPQ{size},PQ{size}" if m % size == 0 else None),
    "PQ": _faiss(lambda m, size: f"PQ{size}" if m % size == 0 else None),
    "PCAR, SQ4": _scalar(4),
    "PCAR, SQ8": _scalar(8),
    "SQ4": _faiss(lambda _, size: "SQ4" if size == SIZES[0] else None),
    "SQ8": _faiss(lambda _, size: "SQ8" if size == SIZES[0] else None),
    **{f"RaBitQ, {bits} bit{'s' * (bits > 1)}": _rabitq(bits) for bits in (1, 2, 3, 4)},
    "sign bits": _rounded(lambda m, size: m if (m + 7) // 8 == size else 0, signs=True),
    "first coordinates, int8": _rounded(lambda m, size: size if size <= m else 0, signs=False),
}


def codes_table(folder: Path) -> ResultTable:
    """A row for each data set, method and size."""
    return ResultTable(folder / "codes.csv", COLUMNS, ("data", "method", "bytes"))


def split(name: str) -> tuple[Array, Array]:
    """Split a data set into queries and the rows to search."""
    X = DATA[name]()
    held = np.random.default_rng(0).permutation(len(X))
    return X[held[:QUERIES]], X[held[QUERIES:]]


def _kept(
    folder: Path | None, name: str, method: str, size: int, run: Callable[[], Answer | None]
) -> Answer | None:
    """The answer of a method, from an earlier run if it was kept."""
    if folder is None or method == "ours":
        return run()
    path = folder / f"{name}-{method}-{size}.npz"
    if not path.exists():
        answer = run()
        if answer is not None:
            np.savez(path, **answer._asdict())
        return answer
    numbers = np.load(path)
    ids, n_bytes = numbers["ids"], int(numbers["n_bytes"])
    return Answer(n_bytes, ids, *(float(numbers[part]) for part in ("fit", "encode", "search")))


def race_rows(
    name: str, sizes: Sequence[int], only: Sequence[str], answers: Path | None = None
) -> Iterator[Row]:
    """Recall of all methods on one data set, and their difference from ours."""
    queries, base = split(name)
    truth = nearest_neighbours(base, queries, K).ids
    mine: dict[int, Array] = {}
    for method, size in itertools.product(only, sizes):
        run = partial(METHODS[method], base, queries, size)
        answer = _kept(answers, name, method, size, run)
        if answer is None:
            continue
        n_bytes = answer.n_bytes
        shares = recall_per_query(truth, answer.ids[:, :K], K)
        second = recall_per_query(truth, answer.ids, K).mean()
        if method == "ours":
            mine[n_bytes] = shares
        elif n_bytes not in mine and (ours := _ours(base, queries, n_bytes)) is not None:
            mine[n_bytes] = recall_per_query(truth, ours.ids[:, :K], K)
        numbers: dict[str, Any] = {}
        if method != "ours" and n_bytes in mine:
            gap = paired_difference(mine[n_bytes], shares)
            numbers = {"behind_ours": gap.mean, "low": gap.low, "high": gap.high}
        where = {"data": name, "method": method, "bytes": n_bytes, "n": len(base)}
        known = {"m": base.shape[1], "recall": shares.mean(), "reranked": second}
        seconds = {"fit_seconds": answer.fit, "encode_seconds": answer.encode}
        seconds |= {"search_seconds": answer.search}
        yield where | known | numbers | seconds | {"made_with": facts()}


@cache
def facts() -> str:
    """Provenance of the rows, with the version of faiss."""
    return f"{made_with()}; faiss {metadata.version('faiss-cpu')}"


# Lines of the picture: methods that belong together, with colour, width and marker.
LINES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "SphericalCodec": (("ours",), {"color": OKABE_ITO[1], "linewidth": 3, "zorder": 5}),
    "OPQ": (("OPQ",), {"color": OKABE_ITO[0], "marker": "s"}),
    "PQ": (("PQ",), {"color": OKABE_ITO[5], "marker": "D"}),
    "RaBitQ, 1 to 4 bits": (
        tuple(f"RaBitQ, {bits} bit{'s' * (bits > 1)}" for bits in (1, 2, 3, 4)),
        {"color": OKABE_ITO[2], "marker": "^"},
    ),
    "SQ4 and SQ8": (("SQ4", "SQ8"), {"color": OKABE_ITO[3], "marker": "v"}),
    "PCA + SQ4": (("PCAR, SQ4",), {"color": OKABE_ITO[4], "marker": "P"}),
    "PCA + SQ8": (("PCAR, SQ8",), {"color": OKABE_ITO[4], "linestyle": "--"}),
    "sign bits": (("sign bits",), {"color": INK, "marker": "*", "markersize": 8}),
    "first coordinates, int8": (
        ("first coordinates, int8",),
        {"color": INK, "linestyle": ":"},
    ),
}
TITLES = {
    "minilm": "MiniLM, 20 newsgroups (384 numbers)",
    "glove": "GloVe words (100 numbers)",
    "clusters": "generated clusters (96 numbers)",
    "power-law": "generated, falling spectrum (128 numbers)",
}


def draw(folder: Path) -> Path:
    """Recall against bytes, by code alone and after re-ranking, for each data set."""
    from sphericalpca.plotting.style import new_figure, save_picture  # noqa: PLC0415

    rows = [row for row in codes_table(folder).read() if row["data"] in DATA]
    names = [name for name in DATA if any(row["data"] == name for row in rows)]
    figure = new_figure((10.4, 0.9 + 3.1 * len(names)))
    panels = figure.subplots(len(names), 2, squeeze=False)
    ways = {"recall": "by code alone", "reranked": f"after re-ranking {CANDIDATES}"}
    for line, name in zip(panels, names, strict=True):
        there = [row for row in rows if row["data"] == name]
        for ax, (column, way) in zip(line, ways.items(), strict=True):
            _draw_panel(ax, there, column)
            ax.set(ylabel=f"recall@{K}", xlabel="bytes per vector")
            ax.set_title(f"{TITLES.get(name, name)}, {way}", fontsize=10)
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False, fontsize=9)
    save_picture(figure, folder / "codes.png")
    return folder / "codes.png"


def _draw_panel(ax: Any, rows: list[Row], column: str) -> None:
    from sphericalpca.plotting.style import ticks_at, tidy  # noqa: PLC0415

    for label, (methods, look) in LINES.items():
        mine = sorted((r for r in rows if r["method"] in methods), key=lambda r: int(r["bytes"]))
        x, y = [int(row["bytes"]) for row in mine], [number(row, column) for row in mine]
        ax.plot(x, y, label=label, **{"marker": ".", "markersize": 5, "linewidth": 1.3} | look)
    ax.set(ylim=(0, 1.03))
    ticks_at(ax, (12, 16, 24, 32, 48, 64, 96, 128, 192, 384))
    tidy(ax, grid="y")


def main() -> None:
    """Measure the given parts, add the rows, and draw."""
    parser = argparse.ArgumentParser("python -m benchmarks.codes", description=__doc__)
    parser.add_argument("part", nargs="?", default="race", choices=("race", "draw"))
    parser.add_argument("--data", action="append", choices=list(DATA))
    parser.add_argument("--only", action="append", choices=list(METHODS))
    parser.add_argument("--bytes", action="append", type=int)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--untimed", action="store_true", help="omit seconds, on busy machines")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    rows: Iterator[Row] = iter(())
    if args.part == "race":
        parts = (args.bytes or SIZES, args.only or list(METHODS), args.answers)
        rows = itertools.chain.from_iterable(race_rows(name, *parts) for name in args.data or DATA)
    for found in rows:
        row = found | (dict.fromkeys(SECONDS, np.nan) if args.untimed else {})
        codes_table(args.out).replace([row])
        names = ("data", "method", "bytes", "recall", "reranked", "behind_ours")
        numbers = (f"{v:.4f}" if isinstance(v := row.get(n, ""), float) else v for n in names)
        print(*numbers, f"{row.get('fit_seconds', np.nan):.2f} s", flush=True)
    print(f"wrote {draw(args.out)}")


if __name__ == "__main__":
    main()
