"""Which words count, and which describe a group."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer

from sphericalpca import DataError
from sphericalpca.groups.partition import directions
from sphericalpca.groups.texts import WordVectorizer, distinctive


@pytest.mark.parametrize(("n", "least"), [(100, 1), (399, 1), (400, 2), (1000, 5), (3000, 5)])
def test_rare_words_count_in_small_corpora_only(n, least):
    rng = np.random.default_rng(0)
    texts = [f"the common{k % 3} word{w}" for k, w in enumerate(rng.integers(n // 4, size=n))]
    ours = WordVectorizer()
    X = ours.fit_transform(iter(texts))
    theirs = TfidfVectorizer(
        stop_words="english", sublinear_tf=True, max_df=0.5, min_df=least, norm=None
    )
    Y = theirs.fit_transform(texts)
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    assert abs(X - Y).max() < 1e-5
    assert X.dtype == np.float32
    assert abs(ours.transform(texts) - X).max() == 0


def test_words_of_most_texts_are_kept_where_many_texts_have_no_others():
    same, others = ["apple pear"] * 30, [f"kiwi lime{k % 4} plum{k % 3}" for k in range(20)]
    X = WordVectorizer().fit_transform([*same, *others])
    assert (X.getnnz(axis=1) > 0).all()
    most = [f"apple {text}" for text in others]
    model = WordVectorizer()
    X = model.fit_transform(most)
    assert not {"apple", "kiwi"} & set(model.vocabulary_)
    assert abs(model.transform(most) - X).max() == 0


def test_stop_words_and_clones():
    texts = ["apple the pear", "apple plum", "the kiwi", "lime"]
    assert "the" not in WordVectorizer().fit(texts).vocabulary_
    model = clone(WordVectorizer(stop_words=["apple"])).fit(texts)
    assert "the" in model.vocabulary_
    assert "apple" not in model.vocabulary_
    with pytest.raises(DataError, match="No word"):
        WordVectorizer().fit_transform(["the"])


def test_distinctive_words_are_not_the_common_ones():
    P = np.array([[0.9, 0.5, 0.0, 0.1], [0.9, 0.0, 0.5, 0.1], [0.9, 0.1, 0.1, 0.1]])
    words = ["common", "first", "second", "rare"]
    assert distinctive(P, 0, 4, words) == [("first", pytest.approx(0.45))]
    assert distinctive(P, 1, 1, words)[0][0] == "second"
    assert distinctive(P[:1], 0, 1, words)[0][0] == "common"  # there are no others


def test_distinctive_words_are_words_and_in_one_number():
    words = ["car", "cars", "__", "as", "a_s", "bikes", "bike"]
    P = np.array([[7, 6, 5, 4, 3, 2, 1.0], [0] * 7])
    assert [word for word, _ in distinctive(P, 0, 9, words)] == ["car", "as", "a_s", "bikes"]
    assert [word for word, _ in distinctive(P, 0, 2, words)] == ["car", "as"]


def test_profiles_are_directions_of_sums():
    X = WordVectorizer().fit_transform(["apple pear", "apple plum", "kiwi", "lime kiwi plum"])
    labels = np.array([0, 0, 1, -1])
    dense = X.toarray()
    sums = np.array([dense[:2].sum(axis=0), dense[2]])
    assert np.allclose(directions(X, labels, 2), sums / np.linalg.norm(sums, axis=1, keepdims=True))


def test_words_of_every_script_stay_whole():
    """Vowels of Indic scripts are marks, and so are accents that are written apart."""
    texts = ["हवा में पानी", "தமிழ் மொழி", "cafe\u0301 olé", "ab\u200ccd", "dont_split a1 b"]
    vectorizer = WordVectorizer(stop_words=None)
    vectorizer.fit_transform(texts)
    wanted = {word for text in texts for word in text.split()} - {"b"}
    assert set(vectorizer.get_feature_names_out()) == wanted
