"""TextClusters: a scikit-learn clusterer for texts and vectors, the same on every machine size."""

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from sphericalpca import DataError, NoDirectionWarning, ParameterError, TextClusters
from sphericalpca.groups import partition


# The checks feed all-zero rows on purpose.
@pytest.mark.filterwarnings("ignore::sphericalpca.NoDirectionWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([TextClusters(vectorizer="passthrough")])
def test_scikit_learn_takes_it_for_an_estimator(estimator, check):
    check(estimator)


def vectors(corpus):
    return TfidfVectorizer(sublinear_tf=True, dtype=np.float32).fit_transform(corpus[0])


@pytest.mark.parametrize("refine", [True, False])
def test_topics_are_found_and_every_text_has_one(corpus, refine):
    texts, topics = corpus
    model = TextClusters(4, refine=refine).fit(texts)
    assert adjusted_rand_score(topics, model.labels_) == 1
    assert model.labels_[0] == 0  # numbered as they appear
    assert model.sizes_.sum() == len(texts)
    centres = model.cluster_centers_
    assert np.allclose(np.linalg.norm(centres, axis=1), 1)
    V = model.embedding_ if not refine else None
    X = model.vectorizer_.transform(texts)
    X = sparse.diags_array(1 / sparse.linalg.norm(X, axis=1)) @ X
    cosines = (X @ centres.T) if refine else V @ centres.T
    assert np.allclose(model.cosines_, cosines.max(axis=1), atol=1e-5)
    assert np.array_equal(model.labels_, cosines.argmax(axis=1))
    ordered = np.sort(cosines, axis=1)
    assert np.allclose(model.margins_, ordered[:, -1] - ordered[:, -2], atol=1e-5)


def test_the_fitted_texts_get_the_same_numbers_again_in_any_portions(clusters, corpus):
    texts = corpus[0]
    again = clusters.assign(texts)
    assert all(np.array_equal(a, b) for a, b in zip(again, clusters.nearest_, strict=True))
    some = clusters.assign(texts[:17])
    assert np.array_equal(some.cosines, clusters.cosines_[:17])
    assert np.array_equal(clusters.predict(iter(texts)), clusters.labels_)
    V = clusters.transform(texts)
    assert np.allclose(np.linalg.norm(V, axis=1), 1)
    assert np.allclose(V, clusters.embedding_, atol=1e-5)


def test_the_number_of_threads_changes_no_bit(make_topics):
    texts, _ = make_topics(6, 3000, share=0.2)
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads):
            found.append(TextClusters(6).fit(texts))
    for a, b in combinations(found, 2):
        assert np.array_equal(a.cosines_, b.cosines_)
        assert np.array_equal(a.margins_, b.margins_)
        assert np.array_equal(a.labels_, b.labels_)
        assert np.array_equal(a.cluster_centers_, b.cluster_centers_)


def test_words_and_examples_tell_what_a_group_is_about(clusters, corpus):
    _texts, topics = corpus
    for group in range(4):
        (topic,) = set(topics[clusters.labels_ == group])
        words = clusters.words(group, 5)
        assert [word.startswith(f"topic{topic}word") for word, _ in words] == [True] * 5
        assert [weight for _, weight in words] == sorted((w for _, w in words), reverse=True)
        typical = clusters.examples(group, 3)
        inside = np.flatnonzero(clusters.labels_ == group)
        assert set(typical) <= set(inside)
        assert clusters.cosines_[typical[0]] == clusters.cosines_[inside].max()
        last = clusters.examples(group, 3, borderline=True)
        assert clusters.margins_[last[0]] == clusters.margins_[inside].min()
    for wrong in (-1, 4):
        with pytest.raises(ParameterError, match="cluster"):
            clusters.words(wrong)
        with pytest.raises(ParameterError, match="cluster"):
            clusters.examples(wrong)


def test_texts_without_a_known_word_are_in_no_group(corpus):
    texts = [*corpus[0], "", "the"]
    with pytest.warns(NoDirectionWarning, match="2 of 242"):
        model = TextClusters(4).fit(texts)
    assert list(model.labels_[-2:]) == [-1, -1]
    assert not model.embedding_[-2:].any()
    assert model.cosines_[-1] == model.margins_[-1] == 0
    assert list(model.predict(["", texts[0]])) == [-1, model.labels_[0]]


def test_groups_are_joined_without_a_new_fit(clusters, corpus):
    texts = corpus[0]
    two = clusters.merge(2, texts)
    assert set(two.labels_) == {0, 1}
    pairs = set(zip(clusters.labels_.tolist(), two.labels_.tolist(), strict=True))
    assert len(pairs) == 4  # every old group is in one new one
    assert np.array_equal(two.cosines_, clusters.cosines_)  # with the nearest of its centres
    assert (two.margins_ >= clusters.margins_).all()
    assert not hasattr(clusters.merge(2), "labels_")
    assert np.array_equal(clusters.merge(2).predict(texts), two.labels_)
    assert clusters.merged_.tolist() == [0, 1, 2, 3]  # left as it was
    one = clusters.merge(1, texts)
    assert np.array_equal(one.margins_, one.cosines_)
    assert len(two.words(0, 3)) == 3
    assert two.merge(1).predict(texts).max() == 0
    for wrong in (0, 5):
        with pytest.raises(ParameterError, match=f"merge={wrong} must be from 1 to 4"):
            clusters.merge(wrong)


def test_the_nearest_centres_are_joined_first():
    """Two pairs of directions, ten degrees from each other."""
    angles = np.radians([0, 10, 90, 100])
    C = np.column_stack([np.cos(angles), np.sin(angles)])
    X = np.repeat(C, 30, axis=0) + 0.005 * np.random.default_rng(0).standard_normal((120, 2))
    model = TextClusters(4, vectorizer="passthrough").fit(X)
    two = model.merge(2).predict(C)
    assert two[0] == two[1] != two[2] == two[3]
    tree = partition.centre_tree(model)
    assert np.allclose(tree[:2, 2], 10, atol=1)
    assert tree[2, 2] == pytest.approx(90, abs=1)


def test_vectors_dense_or_sparse_and_vectorizers_of_ones_own(corpus):
    X = vectors(corpus)
    found = {}
    for name, rows in {"sparse": X, "dense": X.toarray(), "double": X.astype(np.float64)}.items():
        model = TextClusters(4, vectorizer="passthrough").fit(rows)
        assert model.words(0) == []
        found[name] = model.labels_
    assert all(adjusted_rand_score(corpus[1], labels) == 1 for labels in found.values())
    counts = TextClusters(4, vectorizer=CountVectorizer()).fit(corpus[0])
    assert counts.words(0, 2)
    assert adjusted_rand_score(counts.predict(corpus[0]), corpus[1]) > 0.9
    tfidf = TfidfVectorizer(sublinear_tf=True, dtype=np.float32).fit(corpus[0])

    class Encoder:
        def encode(self, texts):
            return tfidf.transform(texts).toarray()

    encoded = TextClusters(4, vectorizer=Encoder()).fit(corpus[0])
    assert np.array_equal(encoded.labels_, found["dense"])
    assert np.array_equal(encoded.predict(corpus[0]), found["dense"])
    assert encoded.words(0) == []


class Counts:
    """It counts words, but is not an estimator of scikit-learn."""

    def __init__(self):
        self.counter = CountVectorizer()

    def fit_transform(self, texts):
        return self.counter.fit_transform(texts).astype(np.float64)

    def transform(self, texts):
        return self.counter.transform(texts).astype(np.float64)


def test_any_object_that_makes_rows_of_texts_is_a_vectorizer(corpus):
    given = Counts()
    model = TextClusters(4, vectorizer=given).fit(corpus[0])
    assert adjusted_rand_score(corpus[1], model.labels_) == 1
    assert np.array_equal(model.predict(corpus[0]), model.labels_)
    assert not hasattr(given.counter, "vocabulary_")  # the fit had a copy


def test_numbers_of_groups_are_whole(clusters):
    for wrong in (1.5, "a", None):
        with pytest.raises(ParameterError, match="must be from 0 to 3"):
            clusters.words(wrong)
        with pytest.raises(ParameterError, match="must be from 1 to 4"):
            clusters.merge(wrong)


def test_input_is_left_as_it_is(corpus):
    X = vectors(corpus)
    X = X[:, ::-1].tocsr()  # indices out of order
    before = X.indices.copy(), X.data.copy()
    TextClusters(4, vectorizer="passthrough").fit(X).predict(X)
    assert np.array_equal(X.indices, before[0])
    assert np.array_equal(X.data, before[1])


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ("one text", "X is a str"),
        ([1, 2], r"X\[0\] has type int.*passthrough"),
        (["a text", None], r"X\[1\] has type NoneType"),
        (np.eye(3), r"X\[0\] has type ndarray"),
        (["the", "and"], "No word"),
        (["apple pear"] * 3, "n_clusters=8 must be at most 3"),
        (["apple", "pear", "plum"], "n_clusters=8 must be at most 3"),
        (["apple pear", "plum"] * 9, "n_clusters=8 must be at most 2, the number of different"),
    ],
)
def test_what_is_no_list_of_texts_is_refused(X, said):
    with pytest.raises(DataError, match=said):
        TextClusters().fit(X)


def test_parameters_are_checked(corpus):
    texts = {"n_components": "many", "vectorizer": "bm25", "refine": "no"}
    for wrong in ({"n_clusters": 0}, *({name: text} for name, text in texts.items())):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            TextClusters(**wrong).fit(corpus[0])
    with pytest.raises(DataError, match="n_components=100000"):
        TextClusters(4, n_components=100_000).fit(corpus[0])
    with pytest.raises(NotFittedError):
        TextClusters().predict(corpus[0])
    assert TextClusters(4, n_components=5).fit(corpus[0]).components_.shape[0] == 5


def test_a_failed_fit_leaves_the_last_one(clusters, corpus):
    model = clone(clusters).fit(corpus[0])
    with pytest.raises(DataError):
        model.fit(["the", "and"])
    assert np.array_equal(model.predict(corpus[0]), clusters.labels_)


def test_progress_names_the_stages(corpus):
    stages = []
    TextClusters("auto").fit(corpus[0], progress=stages.append)
    wanted = ["counting words", "counting groups", "reducing", "grouping", "assigning texts"]
    assert stages == wanted


def test_few_texts_and_groups():
    texts = ["red apple", "green apple", "fast car", "slow car", "red car"]
    for k in (1, 2, 5):
        model = TextClusters(k).fit(texts)
        assert sorted(set(model.labels_)) == list(range(k))
    assert len(TextClusters("auto").fit(texts).sizes_) == 1


def test_equal_texts_make_no_empty_groups():
    for texts, k in ((["red apple"] * 40, 1), (["red apple", "fast car"] * 20, 2)):
        assert (TextClusters("auto").fit(texts).sizes_ == len(texts) // k).all()
        assert (TextClusters(k).fit(texts).sizes_ == len(texts) // k).all()
    with pytest.raises(DataError, match="at most 2, the number of different vectors"):
        TextClusters(3, vectorizer="passthrough").fit(np.repeat(np.eye(2), 5, axis=0))


@pytest.mark.slow("programs of its own for other BLAS kernels")
def test_other_blas_kernels_give_the_same_labels(tmp_path):
    code = (
        "import sys, numpy as np; from sphericalpca import TextClusters\n"
        "from sphericalpca.datasets import load_docstrings\n"
        "np.save(sys.argv[1], TextClusters(20).fit(load_docstrings().texts).labels_)"
    )
    found = []
    for kernel in ("Haswell", "Sandybridge", "Nehalem"):
        path = tmp_path / f"{kernel}.npy"
        variables = {"OPENBLAS_CORETYPE": kernel, "PATH": ""}
        subprocess.run([sys.executable, "-c", code, str(path)], env=variables, check=True)
        found.append(np.load(path))
    assert all((found[0] == labels).mean() >= 0.999 for labels in found[1:])
