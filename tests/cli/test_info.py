"""``sphericalpca info``: the content of a model file, or why it is not one."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

from sphericalpca import SphericalPCA
from sphericalpca.cli.info import MEANINGS

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
    start, end = header.index("value"), header.index("meaning")
    return {line[:start].strip(): line[start:end].strip() for line in lines}


def test_json_and_table_tell_the_same(run, model, path):
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
    shown = table(run("info", path).stdout)
    assert float(shown["fit residual"]) == pytest.approx(told["fit"]["residual"], rel=1e-5)
    assert (shown["n_samples"], shown["n_components"]) == ("60", "3")
    assert (shown["fit total_weight"], shown["parameter normalize"]) == ("60", "yes")
    assert shown["certificate"] == "-"
    assert shown["version numpy"] == np.__version__
    assert shown["solver"].startswith(("Anderson(", "Subspace("))


def test_results_of_the_fit_are_explained(run, path):
    lines = run("info", path).stdout.splitlines()
    told = {" ".join(line.split()[:2]): line for line in lines}
    assert told["fit svd_ratio"].endswith("above 0.9999 an SVD is enough")
    shown = table(run("info", path).stdout)
    assert {name for name in shown if name.startswith("fit ")} <= set(MEANINGS)


def test_a_certificate(run, X, model, tmp_path):
    certificate = model.certify(X)
    model.save(tmp_path / "model", certificate=certificate)
    told = json.loads(run("info", tmp_path / "model", "--json").stdout)
    known = {"kind": "rigorous", "probability": 0.0, "rigorous": True}
    assert told["certificate"] == {"gap": certificate.gap, **known}
    assert table(run("info", tmp_path / "model").stdout)["certificate kind"] == "rigorous"


@pytest.mark.parametrize(
    ("sure", "kind", "risk"), [(True, "rigorous", 0.0), (False, "estimate", None)]
)
def test_a_certificate_of_an_earlier_version(run, path, sure, kind, risk):
    saved = {"value": 1.0, "bound": 2.0, "gap": 1.0, "rigorous": sure}
    change = rewritten(path.read_bytes(), lambda facts: facts.update(certificate=saved))
    path.write_bytes(change)
    told = json.loads(run("info", path, "--json").stdout)["certificate"]
    assert told == {"gap": 1.0, "kind": kind, "probability": risk, "rigorous": sure}


def test_what_is_unknown(run, X, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdefghi"))
    SphericalPCA(3, center=True).fit(frame).truncate(2).save(tmp_path / "model")
    shown = table(run("info", tmp_path / "model").stdout)
    assert shown["fit residual"] == "-"
    assert shown["n_components"] == "2"
    assert shown["centred"] == shown["feature_names"] == "yes"


DAMAGED = "is not a model of sphericalpca, or is damaged"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        *((lambda raw, share=s: raw[: int(share * len(raw))], DAMAGED) for s in (0, 0.1, 0.999)),
        (lambda raw: rewritten(raw, lambda facts: facts.pop("versions")), "not a complete model"),
        (lambda raw: rewritten(raw, lambda facts: facts.pop("certificate")), "a complete model"),
        (None, "does not exist: check the name"),
    ],
)
def test_what_is_no_model_is_refused_in_one_line(run, path, change, reason):
    raw = path.read_bytes()
    path.unlink()
    if change:
        path.write_bytes(change(raw))
    result = run("info", path)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert result.stderr.startswith("Error: ")
    assert path.name in result.stderr
    assert reason in result.stderr


def rewritten(content, change):
    """The same file after a change to our part of the header."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    facts = json.loads(header["__metadata__"]["sphericalpca"])
    change(facts)
    header["__metadata__"]["sphericalpca"] = json.dumps(facts)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + content[8 + length :]


def test_a_file_of_an_earlier_version(run, path):
    """Counts may be missing, and facts have the names of today."""

    def as_before(facts):
        fitted = facts["fitted"]
        fitted["objective_"] = fitted.pop("loss_")
        del fitted["n_samples_"], fitted["total_weight_"]

    before = json.loads(run("info", path, "--json").stdout)["fit"]
    path.write_bytes(rewritten(path.read_bytes(), as_before))
    assert table(run("info", path).stdout)["n_samples"] == "-"
    told = json.loads(run("info", path, "--json").stdout)
    assert told["n_samples"] is None
    assert told["fit"]["loss"] == before["loss"]
    assert told["fit"].keys() <= before.keys()
