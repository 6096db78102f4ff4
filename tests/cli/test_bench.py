"""A race on the user's own rows."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse

from sphericalpca import DataError, SphericalPCA, open_rows
from sphericalpca.datasets import make_embeddings
from sphericalpca.evaluation import race


@pytest.fixture
def X():
    return make_embeddings(300, 24, random_state=0)[0] * np.linspace(1, 9, 300)[:, None].astype(
        "f4"
    )


@pytest.fixture
def file(X, tmp_path):
    np.save(tmp_path / "vectors.npy", X)
    return tmp_path / "vectors.npy"


def test_json_holds_every_number(run, file, X):
    result = run("bench", file, "-r", 5, "--rounds", 1, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["data"], found["n_samples"], found["n_features"]) == ("vectors.npy", 300, 24)
    ours, *rivals = found["methods"]
    assert [lap["method"] for lap in found["methods"]] == ["SphericalPCA", "TruncatedSVD", "PCA"]
    expected = SphericalPCA(5, random_state=0).fit(X)
    assert ours["mean_cosine"] == pytest.approx(expected.mean_cosine_, abs=1e-5)
    assert ours["passes"] == expected.n_passes_
    assert ours["ratio"] == 1
    for lap in rivals:
        assert lap["passes"] is None
        assert lap["mean_cosine"] < ours["mean_cosine"] + 1e-6
        assert lap["ratio"] == pytest.approx(ours["seconds"] / lap["seconds"])


def test_table_on_generated_rows(run, file):
    result = run("bench", "--rows", 200, "-r", 3, "--rounds", 1)
    assert result.exit_code == 0, result.stderr
    title, header, *lines = result.stdout.splitlines()
    assert title == "generated rows: 200 x 384 to 3 components, float32."
    assert " ".join(header.split()) == "method seconds passes mean cosine our time / its"
    assert [line.split()[0] for line in lines] == ["SphericalPCA", "TruncatedSVD", "PCA"]
    told = run("bench", file, "-r", 2, "--rows", 40, "--rounds", 1).stdout
    assert told.startswith("vectors.npy: 40 x 24 to 2 components")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("vectors.npy -r 25", 1, "-r 25 must be at most"),
        ("vectors.npy --rows 3 -r 4", 1, "-r 4 must be at most"),
        ("none.npy", 1, "none.npy"),
        ("-r 0", 2, "'-r'"),
        ("--rounds 0", 2, "'--rounds'"),
        ("--tol -1", 2, "'--tol'"),
    ],
)
def test_wrong_numbers_and_files_are_refused(run, file, words, code, message):
    result = run("bench", *words.replace("vectors.npy", str(file)).split())
    assert result.exit_code == code
    assert message in result.stderr
    assert code == 2 or result.stderr.count("\n") == 1


def test_a_fit_without_convergence_is_told_once_by_options_that_there_are(run, file):
    result = run("bench", file, "-r", 5, "--rounds", 2, "--tol", 0)
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("Warning: SphericalPCA did not converge in 1000 iterations")
    assert line.endswith("set --tol > 0 to stop at convergence.")


def test_sparse_rows_race_without_pca_and_rows_in_files_not_at_all(run, X, file):
    path = file.with_suffix(".npz")
    sparse.save_npz(path, sparse.csr_array(np.where(X > 0.2, X, 0)))
    found = json.loads(run("bench", path, "-r", 4, "--rounds", 1, "--json").stdout)
    assert [lap["method"] for lap in found["methods"]] == ["SphericalPCA", "TruncatedSVD"]
    with pytest.raises(DataError, match="in memory"):
        race(open_rows(file), 2)
