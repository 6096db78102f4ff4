"""The README's table of results, from the committed rows.

``python -m benchmarks.readme`` prints it; ``--write`` replaces the one in README.md.
"""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from statistics import fmean

__all__ = ["results_table"]

ROOT = Path(__file__).parent.parent
Entry = tuple[str, float]  # a method and its value
GROUPS = {
    "docstrings": "Group 1,745 docstrings (NMI)",
    "newsgroups, stripped": "Group 18,846 newsgroup posts, headers removed (NMI)",
    "newsgroups, MiniLM": "Group the same posts as MiniLM vectors (NMI)",
}
REDUCERS = {
    "pca-unit": "`PCA` + unit rows",
    "svd-unit": "SVD + unit rows",
    "spherical-kmeans": "spherical k-means",
}
NEIGHBOURS = {
    "SVD + unit rows": "SVD + unit rows",
    "PCA + unit rows": "`PCA` + unit rows",
    "PCA, inner product": "`PCA`",
}
SHOWN = 3  # alternatives of a line


def results_table(root: Path = ROOT) -> str:
    """A line for each task: our value, and those of the best alternatives.

    Parameters
    ----------
    root : Path
        The folder of the repository.

    Returns
    -------
    str
        A markdown table with the best value of each line in bold.
    """
    lines = [
        *_groups(_read(root / "benchmarks/results/groups.csv")),
        *_newsgroups(_read(root / "paper/results/rows.csv")),
        _neighbours(_read(root / "docs/measurements/embeddings.csv")),
        *_codes(_read(root / "benchmarks/results/codes.csv")),
        *_times(_read(root / "benchmarks/results/reach.csv")),
    ]
    head = "| task (measure) | sphericalpca | alternatives |\n| --- | ---: | --- |\n"
    return head + "".join(lines)


def _groups(rows: list[dict[str, str]]) -> list[str]:
    lines = []
    for data, task in GROUPS.items():
        values: dict[str, list[float]] = {}
        for row in rows:
            if row["data"] == data:
                values.setdefault(row["method"], []).append(float(row["nmi"]))
        means = {name: fmean(found) for name, found in values.items()}
        lines.append(_line(task, means.pop("ours"), list(means.items())))
    return lines


def _newsgroups(rows: list[dict[str, str]]) -> list[str]:
    lines = []
    for groups, task in (
        ("5 named", "k-means on 5 newsgroups"),
        ("20", "k-means on 20 newsgroups"),
    ):
        where = ("newsgroups", groups, "main")
        chosen = [r for r in rows if (r["experiment"], r["groups"], r["variant"]) == where]
        means = {
            method: fmean(float(row["accuracy"]) for row in chosen if row["method"] == method)
            for method in ("spherical-pca", *REDUCERS)
        }
        others = [(label, means[method]) for method, label in REDUCERS.items()]
        lines.append(_line(f"{task} (accuracy)", means["spherical-pca"], others))
    return lines


def _neighbours(rows: list[dict[str, str]]) -> str:
    (row,) = (row for row in rows if row["r"] == "64")
    others = [(label, float(row[name])) for name, label in NEIGHBOURS.items()]
    task = "MiniLM vectors in 64 of 384 dimensions (recall@10)"
    return _line(task, float(row["Spherical PCA"]), others)


def _codes(rows: list[dict[str, str]]) -> list[str]:
    lines = []
    for data, name, size in (("minilm", "MiniLM", "32"), ("glove", "GloVe", "100")):
        rivals = [
            row
            for row in rows
            if (row["data"], row["bytes"]) == (data, size)
            and row["behind_ours"]
            and not row["method"].startswith(("coder on", "ours"))
        ]
        own = [r for r in rows if (r["data"], r["bytes"], r["method"]) == (data, size, "ours")]
        # Rows of earlier runs may be compared with an earlier version of ours.
        behind = 0.0 if own else float(rivals[0]["behind_ours"])
        ours = float((own or rivals)[0]["recall"]) + behind
        others = [(row["method"], float(row["recall"])) for row in rivals]
        lines.append(_line(f"{name} vectors in {size} bytes (recall@10)", ours, others))
    return lines


def _times(rows: list[dict[str, str]]) -> list[str]:
    ratios = {row["goal"]: 1 / float(row["measured"]) for row in rows}
    dense = [("`PCA`, covariance", "dense_eigh"), ("`TruncatedSVD`", "dense_svd")]
    tasks = {"dense": dense, "text": [("`TruncatedSVD`", "text20")]}
    lines = []
    for data, goals in tasks.items():
        shown = "; ".join(
            f"{name} {_bold(f'{ratios[goal]:#.2g}', ratios[goal] < 1)}" for name, goal in goals
        )
        ours = _bold("1", all(ratios[goal] > 1 for _, goal in goals))
        lines.append(f"| Fit, {data} (time) | {ours} | {shown} |\n")
    return lines


def _line(task: str, ours: float, others: list[Entry]) -> str:
    best = sorted(others, key=lambda entry: -entry[1])[:SHOWN]
    top = _share(max(ours, best[0][1]))
    shown = "; ".join(
        f"{name} {_bold(_share(value), _share(value) == top)}" for name, value in best
    )
    return f"| {task} | {_bold(_share(ours), _share(ours) == top)} | {shown} |\n"


def _share(value: float) -> str:
    return f"{value:.3f}".lstrip("0")


def _bold(text: str, best: bool) -> str:
    return f"**{text}**" if best else text


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


if __name__ == "__main__":
    table = results_table()
    if "--write" in sys.argv[1:]:
        readme = ROOT / "README.md"
        text = readme.read_text(encoding="utf-8")
        marks = r"(?<=<!-- results -->\n).*?(?=<!-- end of results -->)"
        readme.write_text(re.sub(marks, lambda _: table, text, flags=re.DOTALL), encoding="utf-8")
    else:
        print(table, end="")
