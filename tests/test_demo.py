"""The demo prints what it measured and leaves whole pictures, or one clear line."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits

from sphericalpca import Certificate, SphericalPCA, demo
from sphericalpca.convergence import Rate
from sphericalpca.datasets import make_toy

PICTURES = {"toy.png", "component_weights.png", "digits_sphere.png", "convergence.png"}
DRAWS = 3
STEPS = 20


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One run into a folder that does not exist yet: the folder and what was printed."""
    folder = tmp_path_factory.mktemp("demo") / "new" / "pictures"
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setattr(demo, "LONGEST_RUN", STEPS)
        demo.main(["--out", str(folder), "--draws", str(DRAWS)])
    return folder, printed.getvalue()


def _fact(printed, name):
    return re.search(rf"^  {re.escape(name)} {{2,}}(.*)$", printed, re.MULTILINE)[1]


def test_pictures_and_nothing_else(run):
    folder, printed = run
    assert {path.name for path in folder.iterdir()} == PICTURES
    for name in PICTURES:
        assert f"{folder / name}\n" in printed


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_pictures_show_something(run, name):
    pixels = matplotlib.image.imread(run[0] / name)[..., :3]
    assert min(pixels.shape[:2]) > 400
    dark_or_coloured = (pixels.min(axis=2) < 0.8).mean()
    assert 0.005 < dark_or_coloured < 0.5


def test_accuracy_is_that_of_the_better_of_two_matchings(run):
    scores = []
    for seed in range(DRAWS):
        X, truth = make_toy(random_state=seed)
        unit = X / np.linalg.norm(X, axis=1, keepdims=True)
        svd = unit @ np.linalg.svd(unit)[2][:2].T
        svd /= np.linalg.norm(svd, axis=1, keepdims=True)
        views = (X, unit, svd, SphericalPCA(2, random_state=seed).fit_transform(X))
        found = [KMeans(2, n_init=10, random_state=seed).fit_predict(view) for view in views]
        scores.append([max(np.mean(f == truth), np.mean(f != truth)) for f in found])
    scores = np.array(scores)
    names = (
        "on raw points",
        "on unit rows",
        "on their SVD, r = 2, unit rows",
        "on Spherical PCA, r = 2",
    )
    for column, name in enumerate(names):
        values = scores[:, column]
        expected = [values.mean(), values.std(), values.min(), values.max()]
        assert _fact(run[1], name).split() == [f"{value:.3f}" for value in expected]
    better = (scores[:, 3] > scores[:, 0]).sum()
    assert _fact(run[1], "better than on raw points in") == f"{better} of {DRAWS} draws"


def test_digits_facts(run):
    X = load_digits().data
    model = SphericalPCA(10).fit(X)
    assert _fact(run[1], "mean cosine to the subspace") == f"{model.mean_cosine_:.6f}"
    assert _fact(run[1], "stopped because") == model.stop_reason_
    passes = f"{model.n_iter_}, {model.n_passes_}"
    assert _fact(run[1], "iterations, passes over the data") == passes
    assert _fact(run[1], "certificate gap") == f"{model.certify(X).gap:.1e}"
    assert _fact(run[1], "globally optimal") == "proved, to within the gap"
    assert model.svd_ratio_ > 0.9999
    assert "the SVD nearly ties" in run[1]


def test_convergence_facts(run):
    theory, block, exact = (
        _fact(run[1], name).split()
        for name in (
            "Algorithm 1, theory constants",
            "Algorithm 1, block constants",
            "exact alternation",
        )
    )
    assert theory[0] == block[0] == str(STEPS + 1)
    assert theory[-1] == block[-1] == "max_iter"
    assert float(theory[1]) > float(block[1]) > 1
    assert exact[1:4] == ["is", "the", "best"]
    assert _fact(run[1], "P1, sufficient decrease, held at") == f"{STEPS} of {STEPS} steps"
    ratio = _fact(run[1], "subgradient over its bound")
    assert 0 < float(ratio.removeprefix("at most ")) <= 1


def test_lines_are_short(run):
    folder = str(run[0])
    assert max(len(line.replace(folder, "")) for line in run[1].splitlines()) < 100


@pytest.mark.parametrize(
    ("certificate", "verdict"),
    [
        (Certificate(1.0, 1.0, 0.0, rigorous=True), "proved, to within the gap"),
        (Certificate(1.0, 1.1, 0.1, rigorous=True), "not proved, the gap leaves room"),
        (Certificate(1.0, 1.0, 0.0, rigorous=False), "not proved, the bound is an estimate"),
    ],
)
def test_proof_is_claimed_only_when_there_is_one(capsys, certificate, verdict):
    demo._describe_certificate(certificate)
    assert _fact(capsys.readouterr().out, "globally optimal") == verdict


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (Rate("linear", 0.5, 1.0, 0.6), "linear, factor 0.50000 per step"),
        (Rate("sublinear", 0.5, 1.0, 2 / 3), "sublinear, like k^-2.00, theta = 0.67"),
        (Rate("sublinear", 0.5, -0.5, np.nan), "sublinear, like k^-0.50, no theta implied"),
    ],
)
def test_rates_in_words(rate, words):
    assert demo._in_words(rate) == words


def _refusal(capsys, *arguments):
    """The one line on stderr of a run that ends with code 2, having printed nothing."""
    with pytest.raises(SystemExit) as stop:
        demo.main([*arguments])
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err


def test_out_is_a_file(capsys, tmp_path):
    path = tmp_path / "file"
    path.write_text("mine")
    line = _refusal(capsys, "--out", str(path))
    assert f"--out {path} is a file: name a folder." in line
    assert path.read_text() == "mine"


def test_out_is_below_a_file(capsys, tmp_path):
    path = tmp_path / "file"
    path.touch()
    assert "Not a directory" in _refusal(capsys, "--out", str(path / "deeper"))


def test_out_is_empty(capsys):
    assert "--out is empty" in _refusal(capsys, "--out", "")


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() == 0, reason="root may write anywhere")
def test_out_is_not_writable(capsys, tmp_path):
    tmp_path.chmod(0o500)
    assert "Permission denied" in _refusal(capsys, "--out", str(tmp_path))


def test_out_refuses_files(capsys, tmp_path, monkeypatch):
    """The same as above, also for root."""

    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(demo.tempfile, "TemporaryFile", refuse)
    assert "Permission denied" in _refusal(capsys, "--out", str(tmp_path))


def test_disk_fills_up(capsys, tmp_path, monkeypatch):
    def half(self, path, **_):
        path.write_text("half a picture")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", half)
    with pytest.raises(SystemExit) as stop:
        demo.main(["--out", str(tmp_path), "--draws", "1"])
    assert stop.value.code == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "toy.png: No space left on device" in err
    assert list(tmp_path.iterdir()) == []


def test_draws_below_one(capsys, tmp_path):
    line = _refusal(capsys, "--draws", "0", "--out", str(tmp_path / "never"))
    assert "--draws 0 must be at least 1" in line
    assert not (tmp_path / "never").exists()


def test_without_matplotlib(capsys, tmp_path, monkeypatch):
    for module in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, module, None)
    assert "sphericalpca[plot]" in _refusal(capsys, "--out", str(tmp_path / "never"))
    assert not (tmp_path / "never").exists()


def test_as_a_module(tmp_path):
    path = tmp_path / "file"
    path.touch()
    command = [sys.executable, "-m", "sphericalpca.demo", "--out", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("sphericalpca.demo: --out ")
    assert done.stderr.count("\n") == 1
