"""Made-up rows of every experiment: deterministic, plausible, with cells that do not apply."""

from __future__ import annotations

import zlib
from itertools import product

import numpy as np
import pandas as pd
import pytest

from paper.report import write_report
from paper.report.compare import compare
from paper.report.content import gather
from paper.report.read import read_results

MADE_WITH = "commit 123456789abc; a processor; openblas 0.3.30 (SkylakeX); scikit-learn 1.9.1"

# Accuracy that a method adds to the level of its line.
SKILL = {
    "kmeans": 0.0,
    "mua": -0.03,
    "pca": -0.01,
    "r1-pca": -0.02,
    "k-svd": -0.06,
    "spherical-pca": 0.08,
    "mua-unit": 0.0,
    "pca-unit": 0.06,
    "r1-pca-unit": 0.05,
    "k-svd-unit": -0.04,
    "svd-unit": 0.02,
    "pca-uncentred": -0.02,
    "spherical-kmeans": 0.07,
    "spherical-pca-centred": 0.03,
    "k-svd-2r": -0.05,
}
SECONDS = {"kmeans": 0.0, "k-svd": 4.0, "k-svd-2r": 9.0, "r1-pca": 0.9, "mua": 0.6}
NEWSGROUPS = {"5 named": 0.63, "5": 0.6, "10": 0.48, "15": 0.4, "20": 0.36}
VIEWS = ["mfeat-fac", "mfeat-zer"]
UCI = {"glass": 0.5, "diabetes": 0.66, "mfeat": 0.6, "isolet": 0.55} | dict.fromkeys(VIEWS, 0.5)
STAND_INS = {"iris": 0.9, "wine": 0.7, "breast-cancer": 0.85, "digits": 0.75}


def _seed(*parts):
    return zlib.crc32("/".join(map(str, parts)).encode())


def _line(where, method, level, *, r=None, n=10, note=""):
    """The rows of one method in one line; draws are shared by all methods of the line."""
    experiment, dataset, groups, variant = where
    draw = np.random.default_rng(_seed(*where)).normal(0, 0.03, n)
    own = np.random.default_rng(_seed(*where, method, r))
    accuracy = np.clip(level + draw + own.normal(0, 0.01, n), 0.05, 1.0).round(4)
    nmi = np.clip(0.9 * accuracy - 0.1, 0.0, 1.0).round(4)
    spherical = method.startswith("spherical-pca")
    known = not note
    return pd.DataFrame(
        {
            "experiment": experiment,
            "dataset": dataset,
            "groups": groups,
            "variant": variant,
            "repetition": np.arange(n),
            "method": method,
            "r": 0 if "kmeans" in method else r or 5,
            "n_samples": 1000,
            "n_features": 500,
            "dropped": 3 if experiment == "newsgroups" else 0,
            "seed": np.arange(n),
            "clusterings": 5 if experiment != "uci" else 1,
            "accuracy": accuracy if known else np.nan,
            "accuracy_sd": 0.01 if known and experiment != "uci" else np.nan,
            "nmi_max": nmi if known else np.nan,
            "nmi_arithmetic": (nmi + 0.01).round(4) if known else np.nan,
            "ari": (nmi - 0.05).round(4) if known else np.nan,
            "svd_ratio": 0.9956 if spherical else np.nan,
            "mean_cosine": 0.42 if spherical else np.nan,
            "iterations": 84 if spherical else np.nan,
            "seconds": (SECONDS.get(method, 0.05) * own.uniform(0.9, 1.1, n)).round(4),
            "cluster_seconds": 0.02,
            "parameters": '{"tol": 0.0001}',
            "note": note,
            "made_with": MADE_WITH,
        }
    )


def _toy_rows(n=40):
    levels = {"kmeans-raw": 0.916, "kmeans": 0.97, "svd-unit": 0.985, "spherical-pca": 0.985}
    return [_line(("toy", "toy", "2", "main"), m, level, r=2, n=n) for m, level in levels.items()]


def _newsgroups_rows(dataset="20newsgroups", lines=NEWSGROUPS):
    for (groups, level), variant, method in product(
        lines.items(), ("main", "labels", "stripped"), SKILL
    ):
        if variant != "main" and groups not in ("5 named", "6"):
            continue
        lift = {"main": 0, "labels": 0.1, "stripped": 0.05}[variant]
        where = ("newsgroups", dataset, groups, variant)
        yield _line(where, method, level + lift + SKILL[method])


def _uci_rows(lines=UCI):
    """MUA does not apply to standardised data, nor to isolet's negative features."""
    for (dataset, level), variant, method in product(
        lines.items(), ("unit", "standardised", "minmax"), SKILL
    ):
        if dataset in VIEWS and variant != "unit":
            continue
        negative = variant == "standardised" or (dataset == "isolet" and variant == "unit")
        note = "X has negative entries" if negative and method == "mua" else ""
        skill = SKILL[method] / 4 if method == "spherical-pca" else SKILL[method]
        yield _line(("uci", dataset, "6", variant), method, level + skill, note=note)


def _rank_rows(dataset="20newsgroups"):
    methods = ("pca", "pca-unit", "r1-pca", "svd-unit", "spherical-pca")
    for r, method in product((2, 5, 10, 20, 50), methods):
        level = 0.35 + 0.1 * np.log10(r) + SKILL[method]
        yield _line(("rank", dataset, "5 named", "main"), method, level, r=r)


def _lsa_rows(dataset="20newsgroups"):
    for groups, variant, r, method in product(
        ("20", "4"), ("seeds", "bootstrap"), (4, 10, 20, 50, 100), ("svd-unit", "spherical-pca")
    ):
        gain = {4: -0.03, 10: 0.02, 20: 0.0}.get(r, 0.03) if method == "spherical-pca" else 0.0
        level = 0.4 + 0.03 * np.log(r) + gain
        yield _line(("lsa", dataset, groups, variant), method, level, r=r)


def _embeddings_rows():
    methods = ("kmeans", "pca", "pca-unit", "svd-unit", "spherical-pca", "spherical-kmeans")
    for groups, method in product(("5 named", "20"), methods):
        where = ("embeddings", "20newsgroups", groups, "minilm")
        yield _line(where, method, 0.6 + SKILL[method] / 10)


def _starts_rows():
    methods = ("spherical-pca", "spherical-pca-random", "spherical-pca-best")
    for groups, method in product(("5 named", "20"), methods):
        rows = _line(("starts", "20newsgroups", groups, "main"), method, 0.6)
        rows.loc[3, "mean_cosine"] -= 0.01 if method == "spherical-pca-random" else 0
        yield rows


def _constants_rows():
    for dataset, lam, mu in product(("toy", "20newsgroups"), (0.1, 1.01), (0.1, 1.01)):
        where = ("constants", dataset, "2" if dataset == "toy" else "5 named", f"{lam} and {mu}")
        rows = _line(where, "algorithm-1", 0.5 if mu < 1 else 0.7, n=3)
        yield rows.assign(mean_cosine=0.1 if mu < 1 else 0.42, iterations=1000)
    for dataset, groups in (("toy", "2"), ("20newsgroups", "5 named")):
        yield _line(("constants", dataset, groups, "default solver"), "spherical-pca", 0.72, n=3)


@pytest.fixture(scope="session")
def rows():
    parts = (
        *(_toy_rows(), _newsgroups_rows(), _rank_rows(), _embeddings_rows(), _starts_rows()),
        *(_constants_rows(), _uci_rows(), _lsa_rows()),
    )
    return pd.concat([frame for part in parts for frame in part], ignore_index=True)


@pytest.fixture(scope="session")
def stand_in_rows():
    parts = (_newsgroups_rows("docstrings", {"6": 0.5}), _uci_rows(STAND_INS))
    return pd.concat([frame for part in parts for frame in part], ignore_index=True)


@pytest.fixture(scope="session")
def toy_points():
    n, rng = 100, np.random.default_rng(0)
    X = 20 * rng.random((2 * n, 3))
    group = np.repeat([0, 1], n)
    X[group == 0, 1] = X[group == 1, 0] = 0.0
    X[:, 2] = np.maximum(X[:, 2], X[:, :2].max(axis=1))
    U = np.array([[0.6, 0.7071], [0.6, -0.7071], [0.5291, 0.0]])
    V = X @ U
    V /= np.linalg.norm(V, axis=1, keepdims=True)
    frame = pd.DataFrame(X.round(6), columns=list("xyz"))
    frame.insert(0, "repetition", 7)
    frame["group"] = group
    frame["kmeans"] = np.where(X.sum(axis=1) < 10, 1 - group, group)
    frame["spherical"] = np.where(np.abs(V[:, 1]) < 0.03, 1 - group, group)
    frame[["v1", "v2"]] = V.round(6)
    for i, j in product(range(3), range(2)):
        frame[f"u{i + 1}{j + 1}"] = U[i, j]
    return frame


# Factor by which a solver's distance shrinks in each step, and the number of steps.
SPEED = {
    "Algorithm 1, theory": (0.99, 400),
    "Algorithm 1, 75": (0.95, 300),
    "exact alternation": (0.5, 28),
    "default": (0.3, 12),
}


@pytest.fixture(scope="session")
def convergence():
    return pd.concat([_curve(data, solver) for data in ("toy", "digits") for solver in SPEED])


def _curve(data, solver):
    factor, steps = SPEED[solver]
    k = np.arange(1, steps + 1)
    distance = factor**k
    algorithm_1 = solver.startswith("Algorithm 1")
    return pd.DataFrame(
        {
            "data": data,
            "solver": solver,
            "iteration": k,
            "passes": k + 1,
            "seconds": 0.001 * k,
            "objective": 20.0 + 5 * distance**2,
            "residual": 0.1 * distance,
            "delta_U": 0.2 * distance,
            "delta_V": 2.0 * distance,
            "decrease_ratio": 240.0 if algorithm_1 else np.nan,
            "p1": 1.0 if algorithm_1 else np.nan,
            "subgradient_ratio": 0.4 if algorithm_1 else np.nan,
        }
    )


@pytest.fixture(scope="session")
def solver_runs():
    return pd.DataFrame([_run(data, solver) for data in ("toy", "digits") for solver in SPEED])


def _run(data, solver):
    factor, steps = SPEED[solver]
    theory, paper = solver.endswith("theory"), solver.startswith("Algorithm 1")
    return {
        "data": data,
        "solver": solver,
        "start": "identity columns",
        "lipschitz": 472.3 if paper else np.nan,
        "lam": (477.0 if theory else 75.0) if paper else np.nan,
        "mu": (477.0 if theory else 75.0) if paper else np.nan,
        "applies": int(theory),
        "p1_held": steps if theory else np.nan,
        "p1_steps": steps if theory else np.nan,
        "largest_subgradient_ratio": 0.41 if paper else np.nan,
        "path_length": 12.0,
        "rate": "sublinear" if theory else "linear",
        "rho": factor,
        "exponent": 1.7,
        "theta": 0.7 if theory else np.nan,
        "iterations": steps,
        "passes": steps + 1,
        "objective": 20.0 + 5 * factor ** (2 * steps),
        "mean_cosine": 0.95,
        "residual": 0.1 * factor**steps,
        "stop_reason": "residual below tol" if steps < 400 else "max_iter reached",
        "gap": 1.4e-7 if data == "digits" else 0.02,
        "rigorous": 1,
    }


def _exact_rows(where, accuracies, *, r=5, nmi=None):
    """Rows with given accuracies per method; NMI is the same unless `nmi` gives it."""
    frames = []
    for method, values in accuracies.items():
        frame = _line(where, method, 0.5, r=r, n=len(values))
        frame["accuracy"] = values
        for measure in ("nmi_max", "nmi_arithmetic", "ari"):
            frame[measure] = values if nmi is None else nmi[method]
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _write(folder, rows=None, **others):
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in {"rows": rows, **others}.items():
        if frame is not None:
            frame.to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.fixture(scope="session")
def lines(rows):
    return compare(rows)


@pytest.fixture(scope="session")
def content(folder):
    return gather(read_results(folder))


@pytest.fixture(scope="session")
def exact_rows():
    """Rows with given accuracies: exact_rows(where, {method: values})."""
    return _exact_rows


@pytest.fixture(scope="session")
def write_rows():
    """Write frames as the runner would: write_rows(folder, rows, convergence=..., toy=...)."""
    return _write


@pytest.fixture(scope="session")
def folder(tmp_path_factory, rows, convergence, solver_runs, toy_points):
    """A folder with all four files and the report drawn from them."""
    place = tmp_path_factory.mktemp("report")
    _write(place, rows, convergence=convergence, solvers=solver_runs, toy=toy_points)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("paper.report.png_file", lambda _: b"")  # slow, and tested with one picture
        write_report(place)
    return place
