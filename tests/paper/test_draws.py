"""The data of a trial: formulas against brute force, and what all methods share."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import mutual_info_score

from paper.datasets import has_minilm, load_minilm, load_newsgroups
from paper.draws import DOCUMENTS_PER_GROUP, WORDS, draw, word_information
from paper.plan import EXPERIMENTS, ExperimentPlan, Trial


@pytest.fixture
def counts(rng):
    table = rng.poisson(0.7, (12, 9))
    table[3] = 0  # an empty document
    table[:, 5] = 0  # an unused word
    return table


def test_word_information_is_the_sum_over_documents(counts):
    total = counts.sum()
    for word, found in enumerate(word_information(sparse.csr_matrix(counts))):
        expected = 0.0
        for document in range(len(counts)):
            joint = counts[document, word] / total
            if joint:
                marginals = counts[document].sum() * counts[:, word].sum() / total**2
                expected += joint * math.log(joint / marginals)
        assert found == pytest.approx(expected)


def test_word_information_of_all_words_is_mutual_information(counts, rng):
    everything = word_information(sparse.csr_matrix(counts)).sum()
    documents, words = np.nonzero(counts)
    times = counts[documents, words]
    pairs = np.repeat(documents, times), np.repeat(words, times)
    assert everything == pytest.approx(mutual_info_score(*pairs))
    classes = rng.integers(0, 3, len(counts))
    by_class = word_information(sparse.csr_matrix(counts), classes).sum()
    assert by_class == pytest.approx(mutual_info_score(classes[pairs[0]], pairs[1]))
    assert by_class <= everything


@pytest.fixture(scope="module")
def plan():
    from paper.reproduction import embed  # noqa: PLC0415

    return embed(ExperimentPlan.quick())


@pytest.mark.parametrize("experiment", [name for name in EXPERIMENTS if name != "embeddings"])
def test_methods_and_only_methods_share_a_draw(plan, experiment):
    """And no empty rows reach a method."""
    trials = list(plan.trials(experiment))
    shared = ("variant",) if experiment != "constants" else ()  # those belong to the method
    first = trials[0]
    for trial in trials:
        same = all(
            getattr(trial, name) == getattr(first, name)
            for name in ("dataset", "groups", *shared, "repetitions")
        )
        assert (draw(trial, None) is draw(first, None)) == same
        if trial.repetitions != first.repetitions:
            break
    for trial in trials[::7]:
        data = draw(trial, None)
        assert data.X.shape[0] == len(data.labels)
        X = data.X.toarray() if sparse.issparse(data.X) else data.X
        assert np.isfinite(X).all()
        assert X.any(axis=1).all()
        assert len(np.unique(data.labels)) == trial.n_groups


def test_documents_and_words_are_those_of_the_protocol(plan):
    trials = [t for t in plan.trials("newsgroups") if "pca" in t.methods]
    for trial in trials:
        data = draw(trial, None)
        assert data.X.shape[1] == WORDS
        sizes = np.bincount(data.labels)
        assert sizes.max() <= DOCUMENTS_PER_GROUP
        np.testing.assert_allclose(data.X.multiply(data.X).sum(axis=1), 1.0)
    again = [draw(t, None) for t in trials[:2]]
    assert (again[0].X != again[1].X).nnz > 0


def test_bootstrap_redraws_documents_of_the_whole(plan):
    trials = {t.variant: t for t in plan.trials("lsa")}
    whole, redrawn = (draw(trials[name], None) for name in ("seeds", "bootstrap"))
    assert whole.X.shape == redrawn.X.shape
    known = {row.tobytes() for row in whole.X.toarray()}
    assert all(row.tobytes() in known for row in redrawn.X.toarray())
    assert len({row.tobytes() for row in redrawn.X.toarray()}) < 0.75 * len(known)


@pytest.mark.slow("experiment")
def test_named_groups_are_the_papers(data_home):
    data, stripped = (
        draw(Trial("newsgroups", "20newsgroups", "5 named", variant, (0,), ("pca",), 5), data_home)
        for variant in ("main", "stripped")
    )
    assert (np.bincount(data.labels, minlength=20) > 0).nonzero()[0].tolist() == [1, 8, 9, 14, 17]
    assert data.dropped + len(data.labels) == stripped.dropped + len(stripped.labels) == 1000
    assert stripped.dropped > data.dropped


@pytest.mark.slow("experiment")
def test_embeddings_are_of_the_documents_that_table_1_draws(data_home):
    if not has_minilm(data_home):
        pytest.skip("the vectors are not there")
    words, vectors = (
        draw(Trial(name, "20newsgroups", "10", variant, (3,), ("pca",), 10), data_home)
        for name, variant in (("newsgroups", "main"), ("embeddings", "minilm"))
    )
    assert vectors.X.shape == (2000, 384)
    assert words.dropped + len(words.labels) == len(vectors.labels)
    assert set(words.labels) == set(vectors.labels)
    assert load_minilm(data_home).labels.tolist() == load_newsgroups(data_home).labels.tolist()
