"""``sphericalpca fit``: models from files, and everything that can go wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import SphericalPCA
from sphericalpca.cli import fit as command
from sphericalpca.cli.fit import describe
from sphericalpca.estimators.monitoring import FitProgress
from sphericalpca.registry.solvers import SOLVERS


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((70, 8)).astype(np.float32)


@pytest.fixture
def file(X, tmp_path):
    np.save(tmp_path / "rows.npy", X)
    return tmp_path / "rows.npy"


@pytest.fixture
def model(tmp_path):
    return tmp_path / "model.safetensors"


def test_the_model_is_that_of_the_estimator_and_is_not_overwritten(run, X, file, model):
    result = run("fit", file, "-r", 3, "-o", model)
    assert result.exit_code == 0, result.stderr
    assert "70 x 8 to 3 components" in result.stdout
    expected = SphericalPCA(3, random_state=0).fit(X)
    loaded = SphericalPCA.load(model)
    np.testing.assert_allclose(loaded.components_, expected.components_, atol=1e-5)
    model.write_text("precious")
    result = run("fit", file, "-r", 3, "-o", model)
    assert (result.exit_code, model.read_text()) == (1, "precious")
    assert "exists: choose another name, or pass --force" in result.stderr
    found = json.loads(run("fit", file, "-r", 3, "-o", model, "--force", "--json").stdout)
    assert found["n_samples"] == 70
    assert found["mean_cosine"] == loaded.mean_cosine_
    assert found["svd_ratio"] == loaded.svd_ratio_


def test_several_files_are_one_matrix_and_may_be_sparse(run, X, tmp_path, model):
    np.save(tmp_path / "part-1.npy", X[:30])
    np.save(tmp_path / "part-2.npy", X[30:])
    sparse.save_npz(tmp_path / "S.npz", sparse.csr_matrix(X))
    expected = SphericalPCA(3, random_state=0).fit(X).components_
    for names in (["part-*.npy"], ["part-1.npy", "part-2.npy"], ["S.npz"]):
        files = [tmp_path / name for name in names]
        assert run("fit", *files, "-r", 3, "-o", model, "--force").exit_code == 0
        np.testing.assert_allclose(SphericalPCA.load(model).components_, expected, atol=1e-5)


def test_it_tells_whether_the_svd_would_have_done(run, X, file, model, monkeypatch):
    def told(*options, file=file):
        return run("fit", file, "-r", 2, "-o", model, "--force", *options).stdout

    ratio = SphericalPCA(2, random_state=0).fit(X).svd_ratio_
    more = f"{100 / ratio - 100:.2f} % more of the rows' directions is kept"
    line = told().splitlines()[1]
    assert line.startswith(f"SVD ratio {ratio:.3f}")
    assert more in line
    np.save(file.with_name("steep.npy"), X / 10.0 ** np.arange(X.shape[1]))
    assert "a plain SVD keeps as much" in told(file=file.with_name("steep.npy"))
    assert "of the rows' lengths" in told("--no-normalize")
    assert "direction" not in told("--no-normalize")
    fit = SphericalPCA.fit

    def without_ratio(self, *args, **options):
        fit(self, *args, **options)
        self.svd_ratio_ = float("nan")
        return self

    monkeypatch.setattr(SphericalPCA, "fit", without_ratio)
    assert json.loads(told("--json"))["svd_ratio"] is None
    assert "SVD ratio" not in told()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("none.npy -r 3", "none.npy"),
        ("rows.npy -r 9", "-r 9 must be at most"),
        ("rows.npy -r 3 --memory-budget lots", "lots"),
        ("rows.npy -r 3 --memory-budget 10", "--memory-budget"),
        ("rows.npy -r 0.8 --checkpoint c", "a checkpoint cannot"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run, file, words, line, monkeypatch):
    monkeypatch.chdir(file.parent)
    result = run("fit", *words.split(), "-o", "model.safetensors")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert line in result.stderr
    assert [path.name for path in file.parent.iterdir()] == ["rows.npy"]


NO_DIMENSION = "must be a positive integer, or a mean cosine"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("fit -o m", "Missing argument"),
        ("fit x.npy -o m", "Missing option '-r'"),
        *((f"fit x.npy -r{r} -o m", NO_DIMENSION) for r in ("0", "-3", "1.0", "1.5", "0.0")),
        *((f"fit x.npy -r{r} -o m", NO_DIMENSION) for r in ("nan", "inf", "ten", "=")),
        *((f"fit x.npy -r 3 -o m --tol {tol}", "'--tol'") for tol in ("nan", "inf", "-1")),
        ("fit x.npy -r 2 -o m --seed -1", "'--seed'"),
        ("choose x.npy --seed 4294967296", "'--seed'"),
        ("bench --seed -1", "'--seed'"),
        ("evaluate m x --seed -1", "'--seed'"),
    ],
)
def test_usage(run, words, line):
    result = run(*words.split())
    assert result.exit_code == 2
    assert line in result.stderr


def test_the_solvers_are_those_of_the_package(run, file, model):
    (option,) = (option for option in command.fit.params if option.name == "solver")
    assert set(option.type.choices) == {"auto", *SOLVERS}
    result = run("fit", file, "-r", 3, "-o", model, "--solver", "netwon")
    assert result.exit_code == 2
    assert "Invalid value for '--solver': 'netwon' is not one of 'auto', 'sub" in result.stderr
    assert "Did you mean 'newton'?" in result.stderr


def test_warnings_are_lines(run, file, model):
    result = run("fit", file, "-r", 3, "-o", model, "--tol", 0, "--max-iter", 2)
    assert result.exit_code == 0
    assert "Warning: SphericalPCA did not converge in 2 iterations" in result.stderr


def test_a_checkpoint_is_kept_until_the_fit_has_converged(run, file, model, tmp_path):
    kept, straight = tmp_path / "fit.ckpt", tmp_path / "straight.safetensors"
    words = ["fit", file, "-o", model, "--force", "--tol", 1e-5, "--checkpoint", kept]
    anderson = ["--solver", "anderson"]
    short = run(*words, "-r", 3, *anderson, "--max-iter", 2)
    assert short.exit_code == 0
    assert f"{kept} is kept: to resume, run the same command" in short.stdout
    told = json.loads(run(*words, "-r", 3, *anderson, "--max-iter", 2, "--json").stdout)
    assert told["checkpoint"] == str(kept)
    told = run(*words, "-r", 2, *anderson).stderr
    assert "was made with -r 3, but this fit has -r 2: remove it" in told
    told = run(*words, "-r", 3, "--solver", "newton").stderr
    assert "was made with --solver anderson, but this fit has --solver newton: remove" in told
    finished = run(*words, "-r", 3, *anderson)
    assert finished.exit_code == 0, finished.stderr
    assert str(kept) not in finished.stdout
    assert not kept.exists()
    assert run("fit", file, "-r", 3, "-o", straight, "--tol", 1e-5, *anderson).exit_code == 0
    found, expected = SphericalPCA.load(model), SphericalPCA.load(straight)
    np.testing.assert_allclose(found.components_, expected.components_, atol=1e-5)
    assert found.n_iter_ == expected.n_iter_  # it went on, not anew


@pytest.mark.slow("killed process")
def test_interrupted_fits_go_on(tmp_path, model, ctrl_c):
    """Ctrl-C: a line, exit code 130, and a checkpoint from which the same command goes on."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "rows.npy", rng.standard_normal((20_000, 32), dtype=np.float32))
    kept = tmp_path / "fit.ckpt"
    words = [tmp_path / "rows.npy", "-r", 8, "-o", model, "--checkpoint", kept]
    words += ["--max-iter", 100_000]  # it is certainly not at its end when it is interrupted
    command = [sys.executable, "-m", "sphericalpca", "fit", *map(str, words), "--solver"]
    process = subprocess.Popen(
        [*command, "alternating", "--tol", "0"], stderr=subprocess.PIPE, text=True
    )
    while not kept.exists():
        assert process.poll() is None
        time.sleep(0.01)
    error = ctrl_c(process)[1]
    assert process.returncode == 130, error
    assert f"Interrupted. Run the same command again to resume from {kept}" in error
    assert kept.exists()
    assert not model.exists()
    again = subprocess.run(
        [*command, "alternating", "--tol", "1"], capture_output=True, text=True, check=False
    )
    assert again.returncode == 0, again.stderr
    assert model.exists()


def test_progress_is_shown_on_terminals(file, model, on_a_terminal):
    command = [sys.executable, "-m", "sphericalpca", "fit", file, "-r", "3", "-o", model]
    _, shown = on_a_terminal(list(map(str, command)))
    assert "Reading" in shown or "passes" in shown


def test_a_line_of_progress_tells_speed_passes_residual_and_time_left():
    facts = {"seconds": 12.3, "rows_read": 5_000_000, "rows_per_second": 1.5e6, "iteration": 4}
    told = FitProgress(**facts, n_samples=1_000_000, passes=5.0, residual=2e-3, seconds_left=61.0)
    assert describe(told) == ("12 s  1,500,000 rows/s  5 passes  residual 2.0e-03  about 61 s left")
    nan = float("nan")
    early = FitProgress(**facts, n_samples=None, passes=nan, residual=nan, seconds_left=nan)
    assert describe(early) == "12 s  1,500,000 rows/s  first look: 5,000,000 rows"


def test_options_reach_the_estimator(run, X, file, model):
    options = ["--tol", "1e-2", "--solver", "newton", "--center", "--no-normalize", "--seed", 4]
    assert run("fit", file, "-r", 2, "-o", model, *options).exit_code == 0
    params = SphericalPCA.load(model).get_params()
    wanted = {"tol": 1e-2, "solver": "newton", "center": True, "normalize": False}
    assert {**wanted, "random_state": 4}.items() <= params.items()
    # A mean cosine in place of a dimension.
    found = json.loads(run("fit", file, "-r", 0.8, "-o", model, "--json", "--force").stdout)
    assert found["n_components"] == SphericalPCA(0.8, random_state=0).fit(X).n_components_
    assert found["mean_cosine"] >= 0.8
    assert SphericalPCA.load(model).n_components == 0.8


def test_a_certificate_goes_with_the_model(run, X, file, model):
    result = run("fit", file, "-r", 3, "-o", model, "--certify", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    expected = SphericalPCA(3, random_state=0).fit(X).certify(X)
    assert found["gap"] == pytest.approx(expected.gap, abs=1e-4)
    assert found["rigorous"]
    kept = json.loads(run("info", model, "--json").stdout)["certificate"]
    assert kept == {"gap": found["gap"], "kind": "rigorous", "probability": 0.0, "rigorous": True}
    assert kept.items() <= found.items()
    again = run("fit", file, "-r", 3, "-o", model, "--certify", "--force")
    assert "No subspace is better by more than a fraction of" in again.stdout
    assert "(rigorous)." in again.stdout


def test_a_probable_certificate_states_its_probability(run, file, model, monkeypatch):
    monkeypatch.setattr("sphericalpca.certificate.DIRECT_SIZE", 2)
    result = run("fit", file, "-r", 3, "-o", model, "--certify")
    assert "(probable, wrong with probability at most 1e-09)." in result.stdout
    kept = json.loads(run("info", model, "--json").stdout)["certificate"]
    assert (kept["kind"], kept["probability"], kept["rigorous"]) == ("probable", 1e-9, False)


def test_ctrl_c_in_a_certificate_leaves_the_model(run, X, file, model, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(SphericalPCA, "certify", interrupted)
    result = run("fit", file, "-r", 3, "-o", model, "--certify")
    assert result.exit_code != 0
    assert f"{model} holds the model, without a certificate." in result.stderr
    assert SphericalPCA.load(model).components_.shape == (3, X.shape[1])
