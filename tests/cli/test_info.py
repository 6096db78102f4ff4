"""``sphericalpca info``: what is in a model file, or why it is none."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from sphericalpca import SphericalPCA

pytest.importorskip("safetensors")


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((60, 9)) * np.linspace(2, 0.5, 9)


@pytest.fixture(scope="module")
def model(X):
    return SphericalPCA(3, random_state=7).fit(X)


@pytest.fixture
def path(tmp_path, model):
    model.save(tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def table(text):
    """Lines of the plain table, by the first column."""
    header, *lines = text.splitlines()
    start = header.index("value")
    return {line[:start].strip(): line[start:] for line in lines}


def test_json(run, model, path):
    result = run("info", path, "--json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert (told["n_samples"], told["n_features"], told["n_components"]) == (60, 9, 3)
    assert told["bytes"] == path.stat().st_size
    assert told["dtype"] == "float64"
    assert told["fit"]["residual"] == model.residual_
    assert told["fit"]["mean_cosine"] == model.mean_cosine_
    assert told["fit"]["stop_reason"] == "converged"
    assert told["parameter"]["random_state"] == 7
    assert told["certificate"] is None
    assert told["centred"] is False
    assert {"sphericalpca", "numpy", "python"} <= told["version"].keys()


def test_the_table_tells_the_same(run, path):
    told = json.loads(run("info", path, "--json").stdout)
    shown = table(run("info", path).stdout)
    assert float(shown["fit residual"]) == pytest.approx(told["fit"]["residual"], rel=1e-5)
    assert (shown["n_samples"], shown["n_components"]) == ("60", "3")
    assert shown["fit total_weight"] == "60"
    assert shown["parameter normalize"] == "yes"
    assert shown["certificate"] == "-"
    assert shown["version numpy"] == np.__version__
    assert shown["solver"].startswith(("Anderson(", "Subspace("))


def test_a_certificate(run, X, model, tmp_path):
    certificate = model.certify(X)
    model.save(tmp_path / "model", certificate=certificate)
    told = json.loads(run("info", tmp_path / "model", "--json").stdout)
    assert told["certificate"] == {"gap": certificate.gap, "rigorous": True}
    assert table(run("info", tmp_path / "model").stdout)["certificate rigorous"] == "yes"


def test_what_is_unknown(run, X, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdefghi"))
    SphericalPCA(3, center=True).fit(frame).truncate(2).save(tmp_path / "model")
    shown = table(run("info", tmp_path / "model").stdout)
    assert shown["fit residual"] == "-"
    assert shown["n_components"] == "2"
    assert shown["centred"] == shown["feature_names"] == "yes"


def refused(result, path, reason):
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    assert path.name in result.stderr
    assert reason in result.stderr


@pytest.mark.parametrize("share", [0.0, 0.1, 0.9, 0.999])
def test_truncated(run, path, share):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    refused(run("info", path), path, "is not a model of sphericalpca, or is damaged")


def test_foreign(run, tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(3))
    refused(run("info", tmp_path / "a.npy"), tmp_path / "a.npy", "has the suffix of a file of rows")


def test_missing(run, tmp_path):
    refused(run("info", tmp_path / "none"), tmp_path / "none", "does not exist: check the name")


def rewritten(path, change):
    """The same file after a change to our part of the header."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    facts = json.loads(header["__metadata__"]["sphericalpca"])
    change(facts)
    header["__metadata__"]["sphericalpca"] = json.dumps(facts)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + content[8 + length :])


@pytest.mark.parametrize("part", ["versions", "certificate"])
def test_half_a_header(run, path, part):
    rewritten(path, lambda facts: facts.pop(part))
    refused(run("info", path), path, "is not a whole model")


def test_a_file_of_an_earlier_version(run, path):
    rewritten(path, lambda facts: [facts["fitted"].pop(k) for k in ("n_samples_", "total_weight_")])
    assert table(run("info", path).stdout)["n_samples"] == "-"
    assert json.loads(run("info", path, "--json").stdout)["n_samples"] is None


def test_a_header_of_others_cannot_command_the_terminal(run, path):
    rewritten(path, lambda facts: facts["versions"].update(numpy="\x1b[2J"))
    shown = run("info", path).stdout
    assert "\x1b" not in shown
    assert r"\x1b[2J" in shown


def test_facts_have_the_names_of_today(run, path):
    def rename(facts):
        facts["fitted"]["objective_"] = facts["fitted"].pop("loss_")

    before = json.loads(run("info", path, "--json").stdout)["fit"]
    rewritten(path, rename)
    assert json.loads(run("info", path, "--json").stdout)["fit"] == before
