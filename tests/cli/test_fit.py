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


def test_the_model_is_that_of_the_estimator(run, X, file, model):
    result = run("fit", file, "-r", 3, "-o", model)
    assert result.exit_code == 0, result.stderr
    assert "70 x 8 to 3 components" in result.stdout
    expected = SphericalPCA(3, random_state=0).fit(X)
    np.testing.assert_allclose(
        SphericalPCA.load(model).components_, expected.components_, atol=1e-5
    )


def test_options_reach_the_estimator(run, X, file, model):
    options = ["--tol", "1e-2", "--solver", "newton", "--center", "--no-normalize", "--seed", 4]
    assert run("fit", file, "-r", 2, "-o", model, *options).exit_code == 0
    params = SphericalPCA.load(model).get_params()
    wanted = {"tol": 1e-2, "solver": "newton", "center": True, "normalize": False}
    assert wanted.items() <= params.items()
    assert params["random_state"] == 4


def test_several_files_are_one_matrix(run, X, tmp_path, model):
    np.save(tmp_path / "part-1.npy", X[:30])
    np.save(tmp_path / "part-2.npy", X[30:])
    expected = SphericalPCA(3, random_state=0).fit(X).components_
    listed = [tmp_path / "part-1.npy", tmp_path / "part-2.npy"]
    for files in ([tmp_path / "part-*.npy"], listed):
        assert run("fit", *files, "-r", 3, "-o", model, "--force").exit_code == 0
        np.testing.assert_allclose(SphericalPCA.load(model).components_, expected, atol=1e-5)


def test_sparse_files(run, X, tmp_path, model):
    S = sparse.csr_matrix(X * (np.abs(X) > 1))
    sparse.save_npz(tmp_path / "S.npz", S)
    assert run("fit", tmp_path / "S.npz", "-r", 2, "-o", model).exit_code == 0
    assert SphericalPCA.load(model).n_features_in_ == 8


def test_json(run, file, model):
    found = json.loads(run("fit", file, "-r", 3, "-o", model, "--json").stdout)
    assert found["n_samples"] == 70
    assert found["mean_cosine"] == SphericalPCA.load(model).mean_cosine_
    assert found["svd_ratio"] == SphericalPCA.load(model).svd_ratio_


def test_it_tells_whether_the_svd_would_have_done(run, X, file, tmp_path, model):
    def told(file, model):
        return run("fit", file, "-r", 2, "-o", model).stdout.splitlines()[1]

    ratio = SphericalPCA(2, random_state=0).fit(X).svd_ratio_
    more = f"{100 / ratio - 100:.2f} % more of the rows' directions is kept"
    assert told(file, model).startswith(f"SVD ratio {ratio:.3f}")
    assert more in told(file, tmp_path / "again.safetensors")
    np.save(tmp_path / "steep.npy", X / 10.0 ** np.arange(X.shape[1]))
    assert "a plain SVD keeps as much" in told(tmp_path / "steep.npy", tmp_path / "easy")


def test_a_ratio_that_is_not_known_is_no_number_in_json(run, file, model, monkeypatch):
    fit = SphericalPCA.fit

    def without_ratio(self, *args, **options):
        fit(self, *args, **options)
        self.svd_ratio_ = float("nan")
        return self

    monkeypatch.setattr(SphericalPCA, "fit", without_ratio)
    assert json.loads(run("fit", file, "-r", 2, "-o", model, "--json").stdout)["svd_ratio"] is None
    assert "SVD ratio" not in run("fit", file, "-r", 2, "-o", model, "--force").stdout


def test_an_existing_model_is_not_overwritten(run, file, model):
    model.write_text("precious")
    result = run("fit", file, "-r", 3, "-o", model)
    assert (result.exit_code, model.read_text()) == (1, "precious")
    assert "exists: choose another name, or pass --force" in result.stderr
    assert run("fit", file, "-r", 3, "-o", model, "--force").exit_code == 0


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["none.npy", "-r", 3], "none.npy"),
        (["rows.npy", "-r", 9], "-r 9 must be at most"),
        (["rows.npy", "-r", 3, "--memory-budget", "lots"], "lots"),
        (["rows.npy", "-r", 3, "--memory-budget", "10"], "--memory-budget"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run, file, words, line, monkeypatch):
    monkeypatch.chdir(file.parent)
    model = file.with_name("model.safetensors")
    result = run("fit", *words, "-o", model)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert line in result.stderr
    assert not model.exists()


@pytest.mark.parametrize(
    "words", [[], ["rows.npy"], ["rows.npy", "-r", 0], ["rows.npy", "-r", "x"]]
)
def test_usage(run, words, model):
    assert run("fit", *words, "-o", model).exit_code == 2


def test_the_solvers_are_those_of_the_package(run, file, model):
    (option,) = (option for option in command.fit.params if option.name == "solver")
    assert set(option.type.choices) == {"auto", *SOLVERS}
    result = run("fit", file, "-r", 3, "-o", model, "--solver", "netwon")
    assert result.exit_code == 2
    assert "Invalid value for '--solver': 'netwon' is not one of 'auto', 'sub" in result.stderr
    assert "Did you mean 'newton'?" in result.stderr


@pytest.mark.parametrize("seed", [-1, 2**32])
@pytest.mark.parametrize("words", ["fit x.npy -r 2 -o m", "choose x.npy", "bench", "evaluate m x"])
def test_a_seed_that_is_none(run, words, seed):
    result = run(*words.split(), "--seed", seed)
    assert result.exit_code == 2
    assert "Invalid value for '--seed'" in result.stderr


def test_rows_as_they_are_have_lengths_not_directions(run, file, model):
    told = run("fit", file, "-r", 3, "-o", model, "--no-normalize").stdout
    assert "of the rows' lengths" in told
    assert "direction" not in told


def test_one_row_has_no_direction(run, X, file, model):
    X[0] = 0
    np.save(file, X)
    assert "1 of 70 rows has no direction" in run("fit", file, "-r", 3, "-o", model).stderr


def test_warnings_are_lines(run, file, model):
    result = run("fit", file, "-r", 3, "-o", model, "--tol", 0, "--max-iter", 2)
    assert result.exit_code == 0
    assert "Warning: SphericalPCA did not converge in 2 iterations" in result.stderr


def test_the_checkpoint_goes_when_the_model_is_safe(run, file, model, tmp_path):
    kept = tmp_path / "fit.ckpt"
    assert run("fit", file, "-r", 3, "-o", model, "--checkpoint", kept).exit_code == 0
    assert model.exists()
    assert not kept.exists()


def test_the_checkpoint_of_a_fit_that_did_not_converge_is_kept(run, file, model, tmp_path):
    kept, straight = tmp_path / "fit.ckpt", tmp_path / "straight.safetensors"
    words = ["fit", file, "-r", 3, "-o", model, "--tol", 1e-5, "--checkpoint", kept]
    short = run(*words, "--max-iter", 2)
    assert short.exit_code == 0
    assert f"{kept} is kept: to resume, run the same command" in short.stdout
    told = json.loads(run(*words, "--max-iter", 2, "--force", "--json").stdout)
    assert told["checkpoint"] == str(kept)
    finished = run(*words, "--force")
    assert finished.exit_code == 0, finished.stderr
    assert str(kept) not in finished.stdout
    assert not kept.exists()
    assert run("fit", file, "-r", 3, "-o", straight, "--tol", 1e-5).exit_code == 0
    expected = SphericalPCA.load(straight)
    np.testing.assert_allclose(
        SphericalPCA.load(model).components_, expected.components_, atol=1e-5
    )
    assert SphericalPCA.load(model).n_iter_ == expected.n_iter_  # it went on, not anew


def test_interrupted_fits_go_on(tmp_path, model, ctrl_c):
    """Ctrl-C: a line, exit code 130, and a checkpoint from which the same command goes on."""
    rng = np.random.default_rng(0)
    np.save(tmp_path / "rows.npy", rng.standard_normal((40_000, 64), dtype=np.float32))
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


def test_a_mean_cosine_in_place_of_a_dimension(run, X, file, model):
    result = run("fit", file, "-r", 0.8, "-o", model, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    expected = SphericalPCA(0.8, random_state=0).fit(X)
    assert found["n_components"] == expected.n_components_
    assert found["mean_cosine"] >= 0.8
    assert SphericalPCA.load(model).n_components == 0.8


@pytest.mark.parametrize("wrong", ["0", "-3", "1.0", "1.5", "0.0", "nan", "inf", "ten", ""])
def test_what_is_neither_a_dimension_nor_a_cosine_is_refused(run, file, model, wrong):
    result = run("fit", file, f"-r{wrong}" if wrong else "-r=", "-o", model)
    assert result.exit_code == 2
    assert "neither a whole number of at least 1 nor a mean cosine" in result.stderr
    assert not model.exists()


def test_a_checkpoint_of_other_options_is_refused_in_options(run, file, model, tmp_path):
    words = ["fit", file, "-o", model, "--force", "--max-iter", 1, "--checkpoint", tmp_path / "c"]
    run(*words, "-r", 3, "--solver", "anderson")
    told = run(*words, "-r", 2, "--solver", "anderson").stderr
    assert "was made with -r 3, but this fit has -r 2: remove it" in told
    told = run(*words, "-r", 3, "--solver", "newton").stderr
    assert "was made with --solver anderson, but this fit has --solver newton: remove" in told


def test_a_mean_cosine_keeps_no_checkpoint(run, file, model, tmp_path):
    result = run("fit", file, "-r", 0.8, "-o", model, "--checkpoint", tmp_path / "c")
    assert result.exit_code == 1
    assert "no checkpoint" in result.stderr


def test_a_gap_is_never_told_to_be_smaller_than_rounding(run, file, model):
    result = run("fit", file, "-r", 8, "-o", model, "--certify")
    share = float(result.stdout.split("a share of ")[1].split()[0])
    assert np.finfo(np.float32).eps * 0.99 <= share < 1e-4


def test_a_certificate_goes_with_the_model(run, X, file, model):
    result = run("fit", file, "-r", 3, "-o", model, "--certify", "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    expected = SphericalPCA(3, random_state=0).fit(X).certify(X)
    assert found["gap"] == pytest.approx(expected.gap, abs=1e-4)
    assert found["rigorous"]
    kept = json.loads(run("info", model, "--json").stdout)["certificate"]
    assert kept == {"gap": found["gap"], "rigorous": True}
    again = run("fit", file, "-r", 3, "-o", model, "--certify", "--force")
    assert "No subspace is better by more than a share of" in again.stdout


@pytest.mark.parametrize("tol", ["nan", "inf", "-1"])
def test_a_tolerance_is_finite(run, tmp_path, tol):
    result = run("fit", "rows.npy", "-r", 3, "-o", tmp_path / "model.safetensors", "--tol", tol)
    assert result.exit_code == 2
    assert "Invalid value for '--tol'" in result.stderr
