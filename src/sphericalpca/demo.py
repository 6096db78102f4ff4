"""What the method does, in numbers and pictures: ``python -m sphericalpca.demo --out DIR``.

Every number printed was measured in that run.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import confusion_matrix
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from sphericalpca import Certificate, MissingExtraError, SphericalPCA
from sphericalpca.convergence import Rate, analyse
from sphericalpca.datasets import make_toy
from sphericalpca.plotting import ComponentWeightsDisplay, ConvergenceDisplay, SphereDisplay
from sphericalpca.plotting.files import new_figure, save_picture
from sphericalpca.plotting.style import FAINT, INK, group_colors, pyplot
from sphericalpca.solvers import Alternating, Linearized

__all__ = ["main"]

# Below this relative gap the certificate leaves nothing that a user could gain.
PROVED_WITHIN = 1e-6

# Where the SVD start has this share of the value reached, it would have done as well.
NEARLY_TIED = 0.9999

# Algorithm 1 would be far from its limit after any number of steps a demo can wait for.
LONGEST_RUN = 500


def main(argv: Sequence[str] | None = None) -> None:
    """Run the demo; exits with code 2 and one line on stderr where it cannot."""
    parser = argparse.ArgumentParser(prog="python -m sphericalpca.demo", description=__doc__)
    parser.add_argument("--out", default="demo-output", help="folder for the pictures")
    parser.add_argument("--draws", type=int, default=100, help="random draws of the toy")
    options = parser.parse_args(argv)
    if options.draws < 1:
        _refuse(f"--draws {options.draws} must be at least 1.")
    try:
        pyplot()
    except MissingExtraError as error:
        _refuse(str(error))
    folder = _open_folder(options.out)
    X, digits = load_digits(return_X_y=True)
    # Problems this small only wait when threads share the work.
    with threadpool_limits(limits=1):
        _show_toy(folder, options.draws)
        _show_digits(X, digits, folder)
        _show_convergence(X, folder)


def _show_toy(folder: Path, draws: int) -> None:
    accuracy = np.array([_Toy(seed).accuracy for seed in range(draws)])
    names = (
        "on raw points",
        "on unit rows",
        "on their SVD, r = 2, unit rows",
        "on Spherical PCA, r = 2",
    )
    print(f"\nThe paper's toy: two groups that differ in angle, {draws} draws of 2 x 100 points")
    print(f"  {'accuracy of k-means':<36} {'mean':>6} {'std':>6} {'min':>6} {'max':>6}")
    for name, column in zip(names, accuracy.T, strict=True):
        numbers = (column.mean(), column.std(), column.min(), column.max())
        print(f"  {name:<36} " + " ".join(f"{number:6.3f}" for number in numbers))
    raw, unit, svd, spherical = accuracy.T
    _fact("better than on raw points in", f"{(spherical > raw).sum()} of {draws} draws")
    for name, rival in (("unit rows", unit), ("SVD, unit rows", svd)):
        better, worse = (spherical > rival).sum(), (spherical < rival).sum()
        _fact(f"better than on {name} in", f"{better}, worse in {worse}")
    typical = int(np.argsort(accuracy[:, 0])[draws // 2])
    _save(_toy_picture(_Toy(typical)), folder / "toy.png")
    _fact("it shows the draw with seed", f"{typical}, the median for the raw points")


class _Toy:
    """One draw, its fit, and the clusters found on raw points, unit rows and components."""

    def __init__(self, seed: int) -> None:
        self.X, self.truth = make_toy(random_state=seed)
        self.model = SphericalPCA(2, random_state=seed).fit(self.X)
        unit = normalize(self.X)
        svd = TruncatedSVD(2, algorithm="arpack", random_state=seed).fit_transform(unit)
        views = (self.X, unit, normalize(svd), self.model.transform(self.X))
        found = np.stack([_clusters(view, self.truth, seed) for view in views])
        self.raw, self.spherical = found[0], found[-1]
        self.accuracy = np.mean(found == self.truth, axis=1)


def _clusters(X: NDArray[Any], truth: NDArray[Any], seed: int) -> NDArray[Any]:
    """k-means clusters, each given the number of the group that it matches best."""
    found = KMeans(len(np.unique(truth)), n_init=10, random_state=seed).fit_predict(X)
    _, group_of_cluster = linear_sum_assignment(confusion_matrix(found, truth), maximize=True)
    return np.asarray(group_of_cluster[found])


def _toy_picture(toy: _Toy) -> Any:
    figure = new_figure((11, 3.6), layout=None)  # constrained layout cuts titles in space
    places = [(0.025, 0.0, 0.28, 0.88), (0.335, 0.0, 0.28, 0.88), (0.665, 0.14, 0.24, 0.72)]
    for place, found in zip(places, (toy.truth, toy.raw), strict=False):
        _scatter_in_space(figure.add_axes(place, projection="3d"), toy, found)
    names = np.array(["group 1", "group 2"])[toy.spherical]
    SphereDisplay.from_estimator(toy.model, toy.X, names, ax=figure.add_axes(places[2]))
    raw, _, _, spherical = (f"{share:.1%} right" for share in toy.accuracy)
    titles = [
        "true groups",
        f"k-means on raw points:\n{raw}, the wrong ones ringed",
        f"k-means on Spherical PCA components:\n{spherical}",
    ]
    for (x, _, width, _), title in zip(places, titles, strict=True):
        figure.text(x + width / 2, 0.97, title, ha="center", va="top", fontsize=10, color=INK)
    return figure


def _scatter_in_space(ax: Any, toy: _Toy, found: NDArray[Any]) -> None:
    """Points coloured by the group found; wrong ones are ringed."""
    colors = np.array(group_colors(2))[found]
    edges = np.where(found == toy.truth, colors, INK)
    ax.scatter(*toy.X.T, c=colors, edgecolors=edges, s=14, linewidths=1.0, depthshade=False)
    ax.view_init(elev=18, azim=40)
    ax.set_box_aspect((1, 1, 1), zoom=1.05)
    ax.grid(visible=False)
    for name, axis in zip("xyz", (ax.xaxis, ax.yaxis, ax.zaxis), strict=True):
        axis.pane.set(facecolor="white", edgecolor=FAINT)
        axis.line.set(color=INK, linewidth=0.6)
        axis.set_ticks([0, 10, 20])
        axis.set_tick_params(labelsize=8, labelcolor=INK, pad=-2)
        axis.set_label_text(name, color=INK)
        axis.labelpad = -7


def _show_digits(X: NDArray[Any], digits: NDArray[Any], folder: Path) -> None:
    model = SphericalPCA(10, random_state=0).fit(X)
    print(f"\nHandwritten digits, {X.shape[0]} x {X.shape[1]}, r = 10")
    _fact("mean cosine to the subspace", f"{model.mean_cosine_:.6f}")
    _fact("stopped because", model.stop_reason_)
    _fact("iterations, passes over the data", f"{model.n_iter_}, {model.n_passes_}")
    _fact("residual", f"{model.residual_:.1e}")
    _describe_certificate(model.certify(X))
    _fact("value of the plain SVD over ours", f"{model.svd_ratio_:.7f}")
    if model.svd_ratio_ > NEARLY_TIED:
        _fact("", "the SVD nearly ties: little to gain on these data")
    weights = ComponentWeightsDisplay.from_estimator(model, ax=new_figure((5.6, 3.4)).subplots())
    _save(weights.figure_, folder / "component_weights.png")
    ax = new_figure((5.2, 4.6)).add_subplot(projection="3d")
    SphereDisplay.from_estimator(SphericalPCA(3, random_state=0).fit(X), X, digits, ax=ax)
    _save(ax.figure, folder / "digits_sphere.png")


def _describe_certificate(certificate: Certificate) -> None:
    _fact("certificate gap", f"{certificate.gap:.1e}")
    proved = certificate.rigorous and certificate.gap <= PROVED_WITHIN
    doubt = "the gap leaves room" if certificate.rigorous else "the bound is an estimate"
    _fact("globally optimal", "proved, to within the gap" if proved else f"not proved, {doubt}")


def _show_convergence(X: NDArray[Any], folder: Path) -> None:
    theory = "Algorithm 1, theory constants"
    solvers = {
        theory: Linearized(),
        "Algorithm 1, block constants": Linearized(lam="block", mu="block"),
        "exact alternation": Alternating(),
    }
    models = {name: _fit_from_random_start(X, solver) for name, solver in solvers.items()}
    left, right = new_figure((9.6, 3.6)).subplots(1, 2)
    ConvergenceDisplay.from_estimators(models, quantity="residual", xscale="log", ax=right)
    right.get_legend().remove()
    display = ConvergenceDisplay.from_estimators(models, xscale="log", ax=left)
    _describe_runs(models, display)
    _save(display.figure_, folder / "convergence.png")
    _describe_theory(models[theory])


def _fit_from_random_start(X: NDArray[Any], solver: Any) -> SphericalPCA:
    options: dict[str, Any] = {"init": "random", "tol": 1e-6, "max_iter": LONGEST_RUN}
    model = SphericalPCA(10, solver=solver, random_state=0, **options)
    with warnings.catch_warnings():
        # That Algorithm 1 does not arrive is what the picture shows.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    return model


def _describe_runs(models: dict[str, SphericalPCA], display: ConvergenceDisplay) -> None:
    print("\nConvergence on the digits, r = 10, all from the same random start")
    print(f"  {'':<36} {'passes':>6} {'loss above best':>16} {'residual':>9}  stopped because")
    for name, model in models.items():
        last = display.curve(name)[-1]
        gap = "is the best" if np.isnan(last) else f"{last:.1e}"
        numbers = f"{model.history_['passes'][-1]:6d} {gap:>16} {model.residual_:9.1e}"
        print(f"  {name:<36} {numbers}  {model.stop_reason_}")


def _describe_theory(model: SphericalPCA) -> None:
    facts = analyse(model.history_, model.constants_)
    held = facts.sufficient_decrease
    print("\nThe paper's theory, on the run with its constants")
    _fact("L_c", f"{facts.lipschitz:.1f}")
    _fact("P1, sufficient decrease, held at", f"{held.sum()} of {held.size} steps")
    _fact("subgradient over its bound", f"at most {np.nanmax(facts.subgradient_ratio):.3f}")
    _fact("step lengths, last half of the run", _in_words(facts.rate))


def _in_words(rate: Rate) -> str:
    if rate.kind == "linear":
        return f"linear, factor {rate.rho:.5f} per step"
    theta = "no theta implied" if np.isnan(rate.theta) else f"theta = {rate.theta:.2f}"
    return f"sublinear, like k^{-rate.exponent - 1:.2f}, {theta}"


def _fact(name: str, value: str) -> None:
    print(f"  {name:<36} {value}")


def _save(figure: Any, path: Path) -> None:
    with _writing(path):
        save_picture(figure, path)
    _fact("picture", str(path))


def _open_folder(name: str) -> Path:
    """Make the folder and try it out, before time is spent on what goes into it."""
    if not name:
        _refuse("--out is empty: name a folder.")
    folder = Path(name)
    if folder.is_file():
        _refuse(f"--out {name} is a file: name a folder.")
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    return folder


@contextmanager
def _writing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        _refuse(f"cannot write to {target}: {error.strerror or error}; choose another --out.")


def _refuse(reason: str) -> NoReturn:
    print(f"sphericalpca.demo: {reason}", file=sys.stderr)
    raise SystemExit(2)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("sphericalpca.demo: interrupted; pictures written so far are whole.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # whoever read our output has seen enough
        sys.stderr.close()
        sys.exit(1)
