"""Models of groups in files: all comes back, and hostile files are refused."""

import json

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer

from sphericalpca import DataError, SphericalPCA, TextClusters


@pytest.fixture(scope="module")
def path(clusters, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.safetensors"
    clusters.save(path)
    return path


def rewritten(path, target, change):
    """The file with other arrays and another header."""
    arrays = load_file(path)
    with safe_open(path, "numpy") as file:
        header = json.loads(file.metadata()["sphericalpca"])
    change(arrays, header)
    save_file(arrays, target, metadata={"sphericalpca": json.dumps(header)})
    return target


def test_a_loaded_model_says_the_same_of_all_texts(clusters, corpus, path):
    loaded = TextClusters.load(path)
    for a, b in zip(loaded.assign(corpus[0]), clusters.nearest_, strict=True):
        assert np.array_equal(a, b)
    assert loaded.words(2) == clusters.words(2)
    assert np.array_equal(loaded.transform(corpus[0]), clusters.transform(corpus[0]))
    assert loaded.summary_ == clusters.summary_
    assert loaded.n_clusters == 4
    assert np.array_equal(loaded.merge(2).predict(corpus[0]), clusters.merge(2).predict(corpus[0]))
    assert not hasattr(loaded, "labels_")
    with pytest.raises(NotFittedError, match="has no texts"):
        loaded.examples(0)


@pytest.mark.parametrize("refine", [True, False])
def test_vectors_merged_groups_and_vectorizers_of_ones_own(corpus, tmp_path, refine):
    X = CountVectorizer().fit_transform(corpus[0]).astype(np.float64)
    model = TextClusters(4, vectorizer="passthrough", refine=refine).fit(X).merge(3, X)
    model.save(tmp_path / "a.safetensors")
    loaded = TextClusters.load(tmp_path / "a.safetensors")
    assert np.array_equal(loaded.predict(X), model.labels_)
    own = TextClusters(4, vectorizer=CountVectorizer(), refine=refine).fit(corpus[0])
    own.save(tmp_path / "b.safetensors")
    with pytest.raises(DataError, match="custom vectorizer"):
        TextClusters.load(tmp_path / "b.safetensors")
    loaded = TextClusters.load(tmp_path / "b.safetensors", vectorizer=own.vectorizer_)
    assert np.array_equal(loaded.predict(corpus[0]), own.labels_)


def scaled(name):
    def change(arrays, _):
        arrays[name] = 2 * arrays[name]

    return change


def replaced(name, value):
    def change(arrays, header):
        (header if name in header else arrays)[name] = value

    return change


def cut(name):
    def change(arrays, header):
        where = header if name in header else arrays
        if name in header:
            del where[name]
        else:
            where[name] = np.ascontiguousarray(where[name][:-1])

    return change


CHANGES = {
    "another class": replaced("class", "SphericalPCA"),
    "an unknown vectorizer": replaced("vectorizer", "os.system"),
    "no flag": replaced("refine", "yes"),
    "no summary": cut("summary"),
    "a summary of text": replaced("summary", {"mean_cosine": "x", "low_cosine": 0, "unknown": 0}),
    "long centres": scaled("cluster_centers"),
    "long components": scaled("components"),
    "fewer centres": cut("cluster_centers"),
    "fewer groups": cut("merged"),
    "fewer sizes": cut("sizes"),
    "fewer weights": cut("idf"),
    "fewer words": lambda arrays, _: arrays.update(vocabulary=arrays["vocabulary"][:-100].copy()),
    "negative sizes": replaced("sizes", np.full(4, -1)),
    "far groups": replaced("merged", np.array([0, 1, 2, 2**31 - 1], dtype=np.int64)),
    "groups with a gap": replaced("merged", np.array([0, 1, 3, 3], dtype=np.int32)),
    "groups of floats": replaced("merged", np.arange(4.0)),
    "flat centres": replaced("cluster_centers", np.ones(4, dtype=np.float32)),
    "no centres": replaced("cluster_centers", np.ones((0, 3), dtype=np.float32)),
    "words twice": replaced("vocabulary", np.full(9999, 10, dtype=np.uint8)),
    "words of bytes": replaced("vocabulary", np.full(99, 255, dtype=np.uint8)),
    "weights below one": lambda arrays, _: arrays.update(idf=-arrays["idf"]),
    "not finite": replaced("idf", np.full(5, np.nan, dtype=np.float32)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_hostile_files_are_refused(path, tmp_path, name):
    with pytest.raises(DataError, match=r"not a complete model of groups|NaN or infinity"):
        TextClusters.load(rewritten(path, tmp_path / "x.safetensors", CHANGES[name]))


def test_models_of_another_kind_and_damage_are_refused(path, tmp_path):
    with pytest.raises(DataError, match="TextClusters"):
        SphericalPCA.load(path)
    SphericalPCA(2).fit(np.eye(5)).save(tmp_path / "pca.safetensors")
    with pytest.raises(DataError, match="SphericalPCA"):
        TextClusters.load(tmp_path / "pca.safetensors")
    content = path.read_bytes()
    for size in (0, 5, len(content) // 2, len(content) - 1):
        (tmp_path / "cut.safetensors").write_bytes(content[:size])
        with pytest.raises(DataError):
            TextClusters.load(tmp_path / "cut.safetensors")
    with pytest.raises(ValueError, match="safetensors"):
        TextClusters.load(path).save(tmp_path / "model.csv")
