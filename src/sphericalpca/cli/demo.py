"""``sphericalpca demo``: a one-minute tour on bundled data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import sphericalpca
from sphericalpca.cli import console
from sphericalpca.cli.console import FOLDER, common_options, examples, say, write_line
from sphericalpca.cli.outputs import check_folder
from sphericalpca.cli.tables import print_table

__all__ = ["demo"]

VECTORS, PICTURE = "vectors.npy", "demo.png"
QUERIES = 300
# Groups of texts that are drawn on the sphere: more would overlap in three dimensions.
DRAWN = ("statistics", "signals", "images", "machine learning")


@click.command(
    short_help="One-minute tour on bundled data.",
    epilog=examples(
        "sphericalpca demo",
        "sphericalpca demo --out first-look    # also write a picture, and vectors to try out",
    ),
)
@click.option("--out", type=FOLDER, help="Folder for a picture and a file of vectors.")
@common_options("force", "quiet")
def demo(out: Path | None, force: bool, quiet: bool) -> None:
    """Show in a minute what Spherical PCA does, on data bundled with its dependencies.

    Three kinds of rows (images of digits, texts, vectors that resemble text embeddings) are
    reduced to unit vectors.  The table shows how much of their direction and how many of the ten
    nearest neighbours by cosine are kept, next to two common alternatives.
    """
    if out is not None:
        check_folder(out, (VECTORS, PICTURE), force=force)
    shown = []
    with console.showing_status("Fitting and searching ...", quiet=quiet):
        for name, X, r in _data():
            model = sphericalpca.SphericalPCA(r, random_state=0).fit(X)
            settings: Any = {"queries": QUERIES, "at": (10,), "random_state": 0}
            shown.append((name, model, sphericalpca.evaluate(model, X, **settings)))
    _print(shown)
    if out is not None:
        _write(out)
    vectors = VECTORS if out is None else str(out / VECTORS)
    write_line(f"\nOn your own rows{'' if out is None else ', or on these'}:")
    write_line(f"  sphericalpca choose {vectors} --recall 0.9    # how many dimensions are enough")
    write_line(f"  sphericalpca fit {vectors} -r 64 -o model.safetensors")
    write_line("  sphericalpca --help")


def _data() -> Iterator[tuple[str, Any, int]]:
    """Name, rows and number of components of each data set."""
    yield "digits (images)", sphericalpca.datasets.load_bundled("digits")[0], 10
    yield "docstrings (tf-idf)", _texts()[0], 50
    yield "embedding-like (generated)", _vectors(), 64


def _texts() -> tuple[Any, Any]:
    """Tf-idf vectors of docstrings, and the group of each."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415 - slow to import

    corpus = sphericalpca.datasets.load_docstrings()
    vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=2, stop_words="english")
    groups = [corpus.group_names[label] for label in corpus.labels]
    return vectorizer.fit_transform(corpus.texts), groups


def _vectors() -> Any:
    return sphericalpca.datasets.make_embeddings(4000, 256, random_state=0)[0]


def _print(shown: list[tuple[str, sphericalpca.SphericalPCA, sphericalpca.Evaluation]]) -> None:
    rivals = {"SVD + unit rows": "svd-unit", "centred PCA, dot": "pca-dot"}
    header = ("data", "rows", "dimensions", "mean cosine", "neighbours kept", *rivals)
    lines = [
        (
            name,
            f"{found.n_samples:,}",
            f"{found.n_features:,} to {found.n_components}",
            f"{model.mean_cosine_:.3f}",
            *(f"{found.row(method, k=10).recall:.3f}" for method in ("refit", *rivals.values())),
        )
        for name, model, found in shown
    ]
    print_table(header, lines, numbers=header[1:], spare=("rows", "mean cosine"))
    say(
        "\nNeighbours kept: the fraction of the ten nearest rows by cosine that are found in the "
        f"reduced space, for {QUERIES} held-out rows. The last two columns are alternatives."
    )
    for name, model, found in shown:
        kept = {rival: found.row(method, k=10).recall for rival, method in rivals.items()}
        ahead = _of_rivals(found.row("refit", k=10).recall, kept)
        say(f"- {name}: {console.against_svd(model.svd_ratio_)}{ahead}")


def _of_rivals(ours: float, kept: dict[str, float]) -> str:
    """Name the alternatives that keep more neighbours, by .01 or more."""
    ahead = [rival for rival, recall in kept.items() if recall - ours >= 0.01]
    return f"  More neighbours are kept by {' and by '.join(ahead)}." if ahead else ""


def _write(out: Path) -> None:
    import numpy as np  # noqa: PLC0415 - slow to import

    out.mkdir(parents=True, exist_ok=True)
    with sphericalpca.files.replacing(out / VECTORS) as temporary, temporary.open("wb") as file:
        np.save(file, _vectors())
    write_line(f"The vectors: {out / VECTORS}")
    try:
        _draw(out / PICTURE)
    except ImportError as error:
        console.warn(f"no picture: {error}")
        return
    write_line(f"The picture: {out / PICTURE}")


def _draw(path: Path) -> None:
    """Draw four groups of texts, reduced to three components, on the sphere."""
    import numpy as np  # noqa: PLC0415

    plotting = sphericalpca.plotting
    plotting.style.pyplot()  # says what to install if matplotlib is missing
    X, groups = _texts()
    kept = np.isin(groups, DRAWN)
    figure = plotting.style.new_figure((7.6, 5.6), layout=None)
    ax = figure.add_axes((0.0, 0.0, 0.76, 0.92), projection="3d")  # the legend is beside it
    model = sphericalpca.SphericalPCA(3, random_state=0).fit(X[kept])
    plotting.SphereDisplay.from_estimator(model, X[kept], np.asarray(groups)[kept], ax=ax)
    figure.suptitle("Docstrings of numpy, scipy and scikit-learn on the sphere", y=0.97)
    plotting.style.save_picture(figure, path)
