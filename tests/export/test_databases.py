"""The texts are right for unit vectors: by their meaning in numpy, and by running them."""

from __future__ import annotations

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from sphericalpca import DataError, SphericalPCA
from sphericalpca.export import databases
from sphericalpca.export.databases import lancedb_snippet, pgvector_snippet, qdrant_snippet

# pgvector's operators; each orders ascending, and each has a class of indexes.
MEANING = {
    "<#>": (lambda A, b: -(A @ b), "vector_ip_ops"),
    "<=>": (
        lambda A, b: 1 - A @ b / np.linalg.norm(A, axis=1) / np.linalg.norm(b),
        "vector_cosine_ops",
    ),
    "<->": (lambda A, b: np.linalg.norm(A - b, axis=1), "vector_l2_ops"),
}


def nearest(V, v, k=10):
    return list(np.argsort(-(V @ v), kind="stable")[:k])


@pytest.fixture(scope="module")
def V(plain_model, X):
    return plain_model.transform(X)


def statements(text):
    """SQL without its comments, a list of statements."""
    code = re.sub(r"--.*", "", text)
    return [" ".join(part.split()) for part in code.split(";") if part.strip()]


def test_sql_is_whole_and_has_the_dimension(model):
    text = pgvector_snippet(model)
    assert f"embedding vector({len(model.components_)}) NOT NULL" in text
    assert not re.search(r"\$\{|\{", text)
    starts = [s.split()[0] for s in statements(text)]
    assert starts == ["CREATE", "CREATE", "PREPARE", "CREATE", "PREPARE"]


def test_the_operator_of_sql_ranks_as_the_cosine(plain_model, V):
    query = next(s for s in statements(pgvector_snippet(plain_model)) if "SELECT" in s)
    order = re.search(r"ORDER BY embedding (\S+) \$1 LIMIT \$2$", query)[1]
    distance, operators = MEANING[order]
    for v in V[:20]:
        assert list(np.argsort(distance(V, v), kind="stable")[:10]) == nearest(V, v)
    index = next(s for s in statements(pgvector_snippet(plain_model)) if "INDEX" in s)
    assert index == f"CREATE INDEX ON items USING hnsw (embedding {operators})"
    told, operator = re.search(r"SELECT id, (-?)\(embedding (\S+) \$1\) AS cosine", query).groups()
    cosine = MEANING[operator][0](V, V[0]) * (-1 if told else 1)
    np.testing.assert_allclose(cosine, V @ V[0], atol=1e-6)


def test_pgvectors_limits(plain_model, monkeypatch):
    def sized(r):
        reducer = SimpleNamespace(n_components=r, n_features=20_000)
        monkeypatch.setattr(databases, "unit_map", lambda model: reducer)
        return pgvector_snippet(plain_model)

    for r, indexed in ((2000, True), (2001, False), (16_000, False)):
        assert any("INDEX" in s for s in statements(sized(r))) == indexed
    with pytest.raises(DataError, match=r"has 16001 components, .* at most 16000"):
        sized(16_001)


@pytest.mark.parametrize("snippet", [qdrant_snippet, lancedb_snippet])
def test_python_texts_are_python_of_the_right_dimension(model, snippet):
    text = snippet(model, "a 'b'/model.safetensors")
    compile(text, "snippet", "exec")
    assert repr("a 'b'/model.safetensors") in text
    assert "${" not in text
    size = re.search(r"(?:size=|pa\.float32\(\), )(\d+)", text)[1]
    assert int(size) == len(model.components_)
    assert all(len(line) <= 100 for line in text.splitlines())


@pytest.fixture
def module(plain_model, monkeypatch):
    """A text as a module, with the model that it loads."""

    def run(text, **packages):
        for name, package in packages.items():
            monkeypatch.setitem(sys.modules, name, package)
        monkeypatch.setattr(SphericalPCA, "load", classmethod(lambda cls, path: plain_model))
        names = {}
        exec(text, names)
        return SimpleNamespace(**names)

    return run


class Qdrant:
    """As much of its client as the text calls, with the scores of its documentation."""

    SCORES = {"Dot": lambda V, v: V @ v, "Euclid": lambda V, v: -np.linalg.norm(V - v, axis=1)}  # noqa: RUF012

    def __init__(self, url):
        self.collections = {}

    def create_collection(self, collection_name, vectors_config):
        self.collections[collection_name] = SimpleNamespace(config=vectors_config)

    def upload_collection(self, collection_name, vectors, ids):
        collection = self.collections[collection_name]
        assert vectors.shape == (len(ids), collection.config.size)
        assert vectors.dtype == np.float32
        collection.ids, collection.vectors = list(ids), vectors

    def query_points(self, collection_name, query, limit):
        collection = self.collections[collection_name]
        score = self.SCORES[collection.config.distance](collection.vectors, np.array(query))
        order = np.argsort(-score, kind="stable")[:limit]
        points = [SimpleNamespace(id=collection.ids[i], score=score[i]) for i in order]
        return SimpleNamespace(points=points)


def test_the_text_for_qdrant_runs(plain_model, module, X, V):
    models = SimpleNamespace(
        VectorParams=lambda size, distance: SimpleNamespace(size=size, distance=distance),
        Distance=SimpleNamespace(DOT="Dot", EUCLID="Euclid", COSINE="Cosine"),
    )
    package = SimpleNamespace(QdrantClient=Qdrant, models=models)
    made = module(qdrant_snippet(plain_model), qdrant_client=package)
    made.create()
    made.add(range(len(X)), X)
    for row in range(10):
        points = made.search(X[row])
        assert [point.id for point in points] == nearest(V, V[row])
        np.testing.assert_allclose(
            [p.score for p in points], np.sort(V @ V[row])[:-11:-1], atol=1e-6
        )


class Lance:
    """As much of LanceDB's connection, table and query as the text calls."""

    DISTANCES = {"dot": lambda V, v: 1 - V @ v, "l2": lambda V, v: ((V - v) ** 2).sum(axis=1)}  # noqa: RUF012

    def __init__(self, folder=None):
        self.metric = "l2"

    def create_table(self, name, schema):
        self.schema = schema
        return self

    def add(self, table):
        assert table.schema == self.schema
        rows = table.to_pylist()
        self.ids, self.vectors = [r["id"] for r in rows], np.array([r["vector"] for r in rows])

    def create_index(self, *, metric, index_type):
        self.index = (metric, index_type)

    def search(self, query):
        self.query = query
        return self

    def distance_type(self, metric):
        self.metric = metric
        return self

    def limit(self, k):
        self.k = k
        return self

    def to_list(self):
        distance = self.DISTANCES[self.metric](self.vectors, self.query)
        return [{"id": self.ids[i]} for i in np.argsort(distance, kind="stable")[: self.k]]


def test_the_text_for_lancedb_runs(plain_model, module, X, V):
    pytest.importorskip("pyarrow")
    made = module(lancedb_snippet(plain_model), lancedb=SimpleNamespace(connect=Lance))
    table = made.create()
    made.add(table, range(len(X)), X)
    made.index(table)
    for row in range(10):
        assert [found["id"] for found in made.search(table, X[row])] == nearest(V, V[row])
    assert table.metric == table.index[0] == "dot"
