"""``python -m paper datasets``: list, fetch, check, and everything that can go wrong."""

from __future__ import annotations

import dataclasses
import io
import json
import zipfile

import numpy as np
import pytest
import sklearn.datasets

from paper.datasets import DATASETS, load_uci, registry
from paper.datasets.integrity import write_content
from paper.datasets.tables import LabelledTable, table_facts

TINY = LabelledTable(np.array([[1.5, 2.0], [0.25, 3.0], [4.0, 1.0]]), np.array([1, 1, 2]))


@pytest.fixture
def home(tmp_path):
    return tmp_path / "data"


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    """Glass and the views, but of three rows and from nowhere."""
    for record in list(DATASETS.values()):
        if record.source.kind == "zip":
            source = dataclasses.replace(record.source, address="http://127.0.0.1:1/none.zip")
            facts = dataclasses.asdict(table_facts(TINY))
            small = dataclasses.replace(record, source=source, sha256="0" * 64, **facts)
            monkeypatch.setitem(registry.DATASETS, record.name, small)


@pytest.fixture
def stored(home):
    home.mkdir()
    write_content(DATASETS["glass"], home, TINY)
    return home


def archive():
    rows = zip(TINY.X.tolist(), TINY.y.tolist(), strict=True)
    lines = [f"{i},{x[0]},{x[1]},{y}" for i, (x, y) in enumerate(rows)]
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as opened:
        opened.writestr("glass.data", "\n".join(lines))
    return raw.getvalue()


@pytest.fixture
def online(server, monkeypatch):
    """Glass can be fetched."""
    address = server.play("/glass.zip", archive())
    source = dataclasses.replace(DATASETS["glass"].source, address=address)
    record = dataclasses.replace(DATASETS["glass"], source=source)
    monkeypatch.setitem(registry.DATASETS, "glass", record)
    return server


def one_error(result, *parts, code=1):
    assert result.exit_code == code
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert str(part) in result.stderr


def row(result, name):
    """The line of a data set, with single blanks."""
    lines = (" ".join(line.split()) for line in result.stdout.splitlines())
    return next(line for line in lines if line.startswith(name))


# --- list


def test_list_says_what_is_there_and_where(run, stored):
    (stored / DATASETS["mfeat"].file).write_bytes(bytes(2_840_000))
    result = run("datasets", "list", "--data-home", stored)
    assert result.exit_code == 0
    assert result.stdout.startswith("name ")
    assert row(result, "glass") == "glass 3 x 2 2 0.1 kB present UCI 42"
    assert row(result, "mfeat ").endswith("2.84 MB damaged UCI 72")
    assert row(result, "newsgroups") == "newsgroups 18846 texts 20 - absent scikit-learn"
    assert row(result, "isolet") == "isolet 7797 x 617 26 - absent OpenML 300"
    assert f"Data home: {stored}\n" in result.stdout
    assert "iris, wine, breast-cancer, digits, docstrings" in result.stdout
    assert "\x1b" not in result.stdout
    found = json.loads(run("datasets", "list", "--json", "--data-home", stored).stdout)
    assert found["data_home"] == str(stored)
    assert found["bundled"] == ["iris", "wine", "breast-cancer", "digits", "docstrings"]
    assert [d["name"] for d in found["datasets"]] == list(DATASETS)
    absent, glass = found["datasets"][:2]
    assert absent["bytes"] is None
    assert glass["bytes"] == (stored / "glass.csv.gz").stat().st_size
    facts = {"state": "present", "classes": {"1": 2, "2": 1}, "licence": "CC BY 4.0"}
    assert facts.items() <= glass.items()


# --- check


def test_check(run, stored):
    assert run("datasets", "check", "--data-home", stored / "empty").exit_code == 0
    result = run("datasets", "check", "--data-home", stored)
    assert result.exit_code == 0
    assert row(result, "glass") == "glass glass.csv.gz present as it was fetched"
    assert row(result, "isolet") == "isolet isolet.csv.gz absent"
    result = run("datasets", "check", "glass", "mfeat-pix", "--data-home", stored)
    one_error(result, "mfeat-pix")
    assert "glass" not in result.stderr.split("get it")[0].split(": ")[2]
    path = stored / "glass.csv.gz"
    path.write_bytes(path.read_bytes()[:-9])
    result = run("datasets", "check", "--data-home", stored)
    one_error(result, f"fetch glass --data-home {stored}")
    assert "damaged" in row(result, "glass")
    as_json = run("datasets", "check", "glass", "--json", "--data-home", stored)
    one_error(as_json, "glass")
    (found,) = json.loads(as_json.stdout)["datasets"]
    assert (found["name"], found["state"]) == ("glass", "damaged")
    assert "sha256" in found["detail"]


# --- fetch


def test_fetch(run, online, home):
    result = run("datasets", "fetch", "glass", "--data-home", home)
    assert result.exit_code == 0
    assert result.stdout == f"glass: fetched, {home / 'glass.csv.gz'}\n"
    assert result.stderr == ""
    np.testing.assert_array_equal(load_uci("glass", home)[0], TINY.X)
    again = run("datasets", "fetch", "glass", "--data-home", home)
    assert again.stdout == f"glass: already there, {home / 'glass.csv.gz'}\n"
    assert len(online.requests) == 1
    assert run("datasets", "fetch", "glass", "--force", "--data-home", home).exit_code == 0
    assert len(online.requests) == 2


def test_a_bar_on_a_terminal(run, online, home, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    result = run("datasets", "fetch", "glass", "--data-home", home)
    assert f"{len(archive())}/{len(archive())} bytes" in result.stderr


def test_one_source_that_is_down_does_not_stop_the_others(run, online, home, monkeypatch):
    def down(**_):
        raise ConnectionError("down")

    for fetcher in ("fetch_openml", "fetch_20newsgroups"):
        monkeypatch.setattr(sklearn.datasets, fetcher, down)
    result = run("datasets", "fetch", "--tries", "1", "--data-home", home)
    assert result.exit_code == 1
    assert result.stdout == f"glass: fetched, {home / 'glass.csv.gz'}\n"
    lines = result.stderr.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("Error: Could not fetch ") for line in lines)
    assert all("after 1 try" in line for line in lines)


def test_fetch_of_something_else_and_into_a_folder_that_cannot_be(run, online, home):
    home.touch()
    result = run("datasets", "fetch", "glass", "--data-home", home / "data")
    one_error(result, "Cannot write", "Not a directory", home)
    home.unlink()
    url = online.play("/glass.zip", b"<!DOCTYPE html>")
    result = run("datasets", "fetch", "glass", "--data-home", home)
    one_error(result, url, "not a sound zip archive", "nothing was written")
    assert not home.exists()


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("fetch glas", "did you mean 'glass'?"),
        ("check zzz", "No data set 'zzz'"),
        ("fetch --tries 0", "--tries"),
        ("fetch --timeout 0", "--timeout"),
        ("list glass", "unexpected extra argument"),
        (f"list --data-home {__file__}", "is a file"),
    ],
)
def test_wrong_arguments(run, words, part):
    result = run("datasets", *words.split())
    assert result.exit_code == 2
    assert "Usage: python -m paper datasets" in result.stderr
    assert part in result.stderr
