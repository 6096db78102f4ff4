"""``sphericalpca cluster`` and ``assign``: from files to groups, all or nothing."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from sphericalpca import TextClusters

FILES = {"groups.csv", "summary.json", "model.safetensors", "index.html"}
WORDS = {
    "fruit": [
        "apple",
        "pear",
        "plum",
        "cherry",
        "banana",
        "lemon",
        "grape",
        "melon",
        "peach",
        "kiwi",
        "lime",
        "mango",
    ],
    "cars": [
        "engine",
        "wheel",
        "brake",
        "motor",
        "tyre",
        "clutch",
        "gear",
        "piston",
        "bumper",
        "valve",
        "exhaust",
        "axle",
    ],
    "space": [
        "orbit",
        "rocket",
        "moon",
        "planet",
        "shuttle",
        "comet",
        "star",
        "galaxy",
        "lunar",
        "probe",
        "crater",
        "nebula",
    ],
}


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(0)
    topics = rng.choice(list(WORDS), 120)
    return [(f"{t}-{k}", " ".join(rng.choice(WORDS[t], 8))) for k, t in enumerate(topics)]


@pytest.fixture
def file(tmp_path, texts):
    path = tmp_path / "texts.csv"
    with path.open("w", newline="") as opened:
        csv.writer(opened).writerows([("name", "body"), *texts])
    return path


def rows(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_text_gets_its_group_and_everything_is_written(run, file, texts, tmp_path):
    out = tmp_path / "out"
    done = run("cluster", file, "-k", 3, "--id", "name", "--out", out, "--parquet")
    assert done.exit_code == 0, done.output
    assert {path.name for path in out.iterdir()} == FILES | {"groups.parquet"}
    found = rows(out / "groups.csv")
    assert [row["id"] for row in found] == [name for name, _ in texts]
    pairs = {(row["id"].split("-")[0], row["group"]) for row in found}
    assert len(pairs) == 3
    assert all(0 <= float(row["margin"]) <= float(row["cosine"]) <= 1 for row in found)
    assert {row["uncertain"] for row in found} <= {"0", "1"}
    table = pa.parquet.read_table(out / "groups.parquet").to_pylist()
    assert [(r["id"], str(r["group"])) for r in table] == [(r["id"], r["group"]) for r in found]
    summary = json.loads((out / "summary.json").read_text())
    assert summary["n_texts"] == 120
    assert sum(group["size"] for group in summary["groups"]) == 120
    assert all(len(group["words"]) > 3 for group in summary["groups"])
    assert not set(summary) & {"sphere", "plane", "excerpts", "ids"}
    assert set(summary) >= {"tree", "curve", "settings", "versions", "problems", "unassigned"}
    page = (out / "index.html").read_text()
    assert all(WORDS[topic][0] in page for topic in WORDS)
    assert "Texts were read from column 'body'." in done.stderr
    for stage in ("counting words ...", "reducing ...", "grouping ...", "assigning texts ..."):
        assert stage in done.stderr
    assert "The page:" in done.stdout


def test_the_same_command_gives_the_same_bytes(run, file, tmp_path):
    for out in ("a", "b"):
        run("cluster", file, "-k", 3, "--out", tmp_path / out, "--quiet")
    assert (tmp_path / "a/groups.csv").read_bytes() == (tmp_path / "b/groups.csv").read_bytes()


def test_assign_gives_the_first_numbers_and_tells_of_drift(run, file, tmp_path):
    run("cluster", file, "-k", 3, "--out", tmp_path / "out")
    model = tmp_path / "out/model.safetensors"
    done = run("assign", model, file, "-o", tmp_path / "again.csv", "--json")
    assert done.exit_code == 0, done.output
    first = (tmp_path / "out/groups.csv").read_bytes()
    assert (tmp_path / "again.csv").read_bytes() == first
    found = json.loads(done.stdout)
    assert found["mean_cosine"] == found["first_mean_cosine"]
    assert found["moved"] == 0
    other = tmp_path / "other.txt"
    other.write_text("apple wheel moon unheard of\nnothing known\n" + "apple pear plum\n" * 8)
    done = run("assign", model, other, "-o", tmp_path / "other.csv")
    assert "10 texts in 3 groups" in done.stdout
    assert "shares of groups changed by" in done.stdout
    assert "texts without a known word, in group -1: 1" in done.stderr
    assert "duplicate texts: 7 (lines 4, 5, 6, 7, 8, ...)" in done.stderr
    groups = [row["group"] for row in rows(tmp_path / "other.csv")]
    assert groups[1] == "-1"
    assert len(set(groups[2:])) == 1
    parquet = run("assign", model, file, "-o", tmp_path / "again.parquet", "--merge", 2)
    assert parquet.exit_code == 0
    table = pa.parquet.read_table(tmp_path / "again.parquet")
    assert set(table["group"].to_pylist()) == {0, 1}


def test_groups_are_merged_and_counted(run, file, tmp_path):
    done = run("cluster", file, "-k", 3, "--merge", 2, "--out", tmp_path / "out", "--json")
    assert json.loads(done.stdout)["settings"]["merge"] == 2
    assert {row["group"] for row in rows(tmp_path / "out/groups.csv")} == {"0", "1"}
    assert TextClusters.load(tmp_path / "out/model.safetensors").merged_.max() == 1
    done = run("cluster", file, "-k", "auto", "--out", tmp_path / "auto", "--json")
    found = json.loads(done.stdout)
    assert len(found["groups"]) == max(found["curve"], key=lambda point: point[1])[0]
    refused = run("cluster", file, "-k", 3, "--merge", 4, "--out", tmp_path / "no")
    assert "--merge 4 must be from 1 to 3" in refused.stderr
    assert not (tmp_path / "no").exists()


def test_what_is_wrong_is_told_with_its_line(run, file, tmp_path):
    with file.open("ab") as opened:
        opened.write(b"x,\ny,too,many\nz,caf\xe9 apple\n")
    done = run("cluster", file, "-k", 3, "--out", tmp_path / "out", "--quiet")
    assert "Warning: empty texts: 1 (line 122)." in done.stderr
    assert "Warning: malformed lines: 1 (line 123)." in done.stderr
    assert "Warning: texts with undecodable bytes: 1 (line 124)." in done.stderr
    assert "in group -1: 1." in done.stderr
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert summary["problems"]["malformed lines"] == {"count": 1, "lines": [123]}
    assert [name for name, _ in summary["unassigned"]] == ["122"]
    page = (tmp_path / "out/index.html").read_text()
    assert "malformed lines" in page.lower()


def test_what_is_wrong_is_told_also_when_nothing_is_left(run, tmp_path):
    (tmp_path / "x.txt").write_text(" \n\n")
    done = run("cluster", tmp_path / "x.txt", "-k", 2, "--out", tmp_path / "out")
    assert "Warning: empty texts: 2 (lines 1, 2)." in done.stderr
    assert "Error: No word is in 1 text or more: pass more texts" in done.stderr
    assert not (tmp_path / "out").exists()


def test_vectors_with_and_without_texts(run, texts, tmp_path):
    rng = np.random.default_rng(0)
    names = list(WORDS)
    V = np.array([np.eye(3)[names.index(t.split("-")[0])] for t, _ in texts])
    V = (V + 0.1 * rng.standard_normal(V.shape)).astype(np.float32)
    np.save(tmp_path / "v.npy", V)
    done = run("cluster", tmp_path / "v.npy", "--vectors", "-k", 3, "--out", tmp_path / "a")
    assert done.exit_code == 0, done.output
    columns = {"v": list(V), "name": [n for n, _ in texts], "body": [t for _, t in texts]}
    pa.parquet.write_table(pa.table(columns), tmp_path / "v.parquet")
    options = ("--vectors", "--text", "body", "--id", "name", "-k", 3)
    done = run("cluster", tmp_path / "v.parquet", *options, "--out", tmp_path / "b", "--json")
    found = json.loads(done.stdout)
    for group in found["groups"]:
        assert {word for word, _ in group["words"][:5]} <= set(
            WORDS[group["typical"][0]["id"].split("-")[0]]
        )
    a, b = (rows(tmp_path / name / "groups.csv") for name in "ab")
    assert [row["group"] for row in a] == [row["group"] for row in b]
    model = tmp_path / "a/model.safetensors"
    done = run("assign", model, tmp_path / "v.npy", "--vectors", "-o", tmp_path / "c.csv")
    assert done.exit_code == 0, done.output
    assert rows(tmp_path / "c.csv") == a
    assert (
        "--id"
        in run(
            "cluster", tmp_path / "v.npy", "--vectors", "--id", "x", "-k", 3, "--out", "z"
        ).stderr
    )


def test_stop_words_of_the_user(run, file, tmp_path):
    (tmp_path / "stop.txt").write_text("Apple\nwheel\n")
    options = ("-k", 3, "--stop-words", tmp_path / "stop.txt", "--out", tmp_path / "out")
    assert run("cluster", file, *options).exit_code == 0
    known = TextClusters.load(tmp_path / "out/model.safetensors").vectorizer_.vocabulary_
    assert "apple" not in known
    assert "pear" in known
    refused = run("cluster", file, "-k", 3, "--stop-words", "absent", "--out", tmp_path / "no")
    assert refused.exit_code == 1
    assert "absent" in refused.stderr
    (tmp_path / "stop.txt").write_bytes(b"\xff\xfe\xff")
    assert "stop.txt' cannot be read" in run("cluster", file, *options, "--force").stderr


def test_nothing_is_overwritten_unasked_and_failures_leave_nothing(run, file, tmp_path):
    out = tmp_path / "out"
    run("cluster", file, "-k", 3, "--out", out)
    before = (out / "groups.csv").read_bytes()
    assert "--force" in run("cluster", file, "-k", 2, "--out", out).stderr
    assert run("cluster", file, "-k", 500, "--out", out, "--force").exit_code == 1
    assert (out / "groups.csv").read_bytes() == before
    refused = run("cluster", file, "-k", 500, "--out", tmp_path / "new")
    assert "-k 500 must be at most 120" in refused.stderr
    assert not (tmp_path / "new").exists()
    (out / "mine.txt").write_text("keep me")
    refused = run("cluster", file, "-k", 2, "--out", out, "--force")
    assert refused.exit_code == 1
    assert "contains 'mine.txt', which would be deleted" in refused.stderr
    assert "counting" not in refused.stderr  # before the work
    assert (out / "mine.txt").exists()
    assert "-k" in run("cluster", file, "-k", "some", "--out", out).stderr
    output = tmp_path / "x.csv"
    output.write_text("here")
    assert "--force" in run("assign", out / "model.safetensors", file, "-o", output).stderr
    assert run("assign", out / "model.safetensors", file, "-o", tmp_path / "x.doc").exit_code == 1
    again = run("assign", out / "model.safetensors", file, "-o", file, "--force")
    assert "is read by this command" in again.stderr


def test_fit_on_texts_points_to_cluster(run, file, tmp_path):
    for name in ("texts.csv", "x.tsv", "x.jsonl", "x.txt"):
        path = tmp_path / name
        if not path.exists():
            path.write_text("some words here\nand more words\n")
        done = run("fit", path, "-r", 2, "-o", tmp_path / "m.safetensors")
        assert done.exit_code == 1
        assert "sphericalpca cluster" in done.stderr
    pa.parquet.write_table(pa.table({"text": ["a b", "c d"]}), tmp_path / "t.parquet")
    done = run("fit", tmp_path / "t.parquet", "-r", 2, "-o", tmp_path / "m.safetensors")
    assert "sphericalpca cluster" in done.stderr


def test_models_of_texts_and_of_vectors_are_not_mixed_up(run, file, tmp_path):
    np.save(tmp_path / "v.npy", np.random.default_rng(0).standard_normal((60, 5)))
    run("cluster", file, "-k", 3, "--out", tmp_path / "texts", "--quiet")
    run("cluster", tmp_path / "v.npy", "--vectors", "-k", 3, "--out", tmp_path / "v", "--quiet")
    new = ("-o", tmp_path / "new.csv")
    done = run("assign", tmp_path / "v/model.safetensors", file, *new)
    assert "has groups of vectors: pass --vectors." in done.stderr
    model = tmp_path / "texts/model.safetensors"
    done = run("assign", model, tmp_path / "v.npy", "--vectors", *new)
    assert "has groups of texts: leave out --vectors." in done.stderr
    assert not (tmp_path / "new.csv").exists()


def test_of_vectors_no_words_are_told(run, tmp_path):
    V = np.random.default_rng(0).standard_normal((60, 5))
    V[7] = 0
    np.save(tmp_path / "v.npy", V)
    done = run("cluster", tmp_path / "v.npy", "--vectors", "-k", 3, "--out", tmp_path / "v")
    assert "Warning: zero vectors, in group -1: 1." in done.stderr
    np.save(tmp_path / "one.npy", V[:1])
    model, new = tmp_path / "v/model.safetensors", ("-o", tmp_path / "new.csv")
    done = run("assign", model, tmp_path / "one.npy", "--vectors", *new)
    assert "1 vector in 3 groups" in done.stdout
    options = ("--vectors", "--text", "body", "-k", 3, "--out", tmp_path / "w")
    done = run("cluster", tmp_path / "v.npy", *options)
    assert "For vectors pass --vectors without --text." in done.stderr


def test_texts_that_are_elsewhere_are_not_read_silently(run, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/a.md").write_text("apple")
    done = run("cluster", tmp_path / "folder", "-k", 1, "--out", tmp_path / "out")
    assert "holds no texts: names of its files must end in .txt" in done.stderr
    (tmp_path / "one.csv").write_text("apple pear\nplum\nwheel\n")  # without names of columns
    done = run("cluster", tmp_path / "one.csv", "-k", 2, "--out", tmp_path / "out")
    assert "Texts were read from column 'apple pear'." in done.stderr


def test_info_describes_a_model_of_groups(run, file, tmp_path):
    run("cluster", file, "-k", 3, "--merge", 2, "--out", tmp_path / "out")
    facts = json.loads(run("info", tmp_path / "out/model.safetensors", "--json").stdout)
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    assert (facts["class"], facts["n_groups"]) == ("TextClusters", 2)
    assert facts["mean_cosine"] == summary["mean_cosine"]


def test_stop_words_that_are_not_there_are_named(run, file, tmp_path):
    done = run("cluster", file, "-k", 3, "--stop-words", "no.txt", "--out", tmp_path / "out")
    assert "--stop-words no.txt must be english, none, or a file" in done.stderr


def test_stop_words_of_a_file_are_split_as_texts_are(run, file, tmp_path):
    (tmp_path / "stop.txt").write_text("Don't\n" + " ".join(next(iter(WORDS.values()))))
    stop = ("--stop-words", tmp_path / "stop.txt")
    done = run("cluster", file, "-k", 2, *stop, "--out", tmp_path / "out", "--quiet")
    assert done.exit_code == 0, done.output
    assert "inconsistent" not in done.stderr


def test_a_file_whose_lines_are_all_malformed_is_refused(run, file, tmp_path):
    run("cluster", file, "-k", 3, "--out", tmp_path / "out", "--quiet")
    (tmp_path / "x.jsonl").write_text('{"text": 5}\n{"text": 6}\n')
    model = tmp_path / "out/model.safetensors"
    done = run("assign", model, tmp_path / "x.jsonl", "-o", tmp_path / "new.csv")
    assert done.exit_code == 1
    assert "holds no texts: check the file" in done.stderr
    assert "malformed lines: 2 (lines 1, 2)" in done.stderr
    assert not (tmp_path / "new.csv").exists()
