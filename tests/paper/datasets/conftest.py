"""A small world: tiny data sets under the real names, and a server on this machine."""

from __future__ import annotations

import dataclasses
import io
import zipfile

import numpy as np
import pytest

from paper.datasets import registry
from paper.datasets.corpus import corpus_facts
from paper.datasets.tables import LabelledTable, table_facts
from sphericalpca.datasets import Corpus

VIEWS = ("fac", "fou", "kar", "mor", "pix", "zer")


def _numbers(n, m, seed):
    """Numbers as data files print them: integers, few decimals, many decimals, tiny ones."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, m)).round(3)
    X[:, 0] = rng.integers(0, 1000, n)
    X[0] = rng.standard_normal(m) * 1e-9
    return X


def _tiny_contents():
    views = {view: _numbers(6, 2 + j, j) for j, view in enumerate(VIEWS)}
    digits = np.repeat([0, 1, 2], 2)
    rng = np.random.default_rng(1)
    contents = {
        "glass": LabelledTable(_numbers(9, 4, 10), np.array([1, 1, 1, 2, 2, 5, 5, 7, 7])),
        "diabetes": LabelledTable(_numbers(7, 3, 11), np.array([1, 0, 1, 0, 0, 1, 0])),
        "isolet": LabelledTable(_numbers(8, 5, 12), rng.permutation([1, 1, 2, 2, 25, 25, 26, 26])),
        "mfeat": LabelledTable(np.hstack(list(views.values())), digits),
        **{f"mfeat-{view}": LabelledTable(X, digits) for view, X in views.items()},
        "newsgroups": Corpus.of(
            ["alt.tea/9", "alt.tea/10", "sci.sea/3", "alt.tea/2", "sci.sea/11"],
            ["alt.tea", "alt.tea", "sci.sea", "alt.tea", "sci.sea"],
            ["train", "train", "train", "test", "test"],
            ["From: a\n\nTea is hot.", "caf\xe9\r\nau lait", "waves", "\x85 \x1c green", ""],
        ),
    }
    return {name: contents[name] for name in registry.DATASETS}


def _record(real, content):
    facts = corpus_facts(content) if isinstance(content, Corpus) else table_facts(content)
    return dataclasses.replace(real, sha256="0" * 64, **dataclasses.asdict(facts))


@pytest.fixture
def tiny(monkeypatch):
    """Contents by name; the registry knows them and forgets the real ones."""
    contents = _tiny_contents()
    for name, content in contents.items():
        record = _record(registry.DATASETS[name], content)
        monkeypatch.setitem(registry.DATASETS, name, record)
    return contents


@pytest.fixture
def home(tmp_path):
    return tmp_path / "data"


@pytest.fixture(scope="session")
def same():
    """Whether two contents are equal to the last bit, and of the same types."""

    def compare(one, other):
        if isinstance(one, Corpus):
            columns = ("labels", "group_names", "subset", "ids")
            return one.texts == other.texts and all(
                np.array_equal(getattr(one, c), getattr(other, c)) for c in columns
            )
        pairs = zip(one, other, strict=True)
        return all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in pairs)

    return compare


class Uci:
    """UCI's archives, on the server on this machine."""

    def __init__(self, server, monkeypatch):
        self.server = server
        self.monkeypatch = monkeypatch

    def serve(self, name, *answers):
        """Let a data set, and its views, come from here; returns the URL."""
        url = self.server.play(f"/{name}.zip", *answers)
        for record in list(registry.DATASETS.values()):
            if record.name.split("-")[0] == name:
                source = dataclasses.replace(record.source, address=url)
                moved = dataclasses.replace(record, source=source)
                self.monkeypatch.setitem(registry.DATASETS, record.name, moved)
        return url

    def serve_files(self, name, members):
        return self.serve(name, self.zip(members))

    @staticmethod
    def zip(members):
        """Bytes of a zip archive with these members."""
        raw = io.BytesIO()
        with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, text in members.items():
                archive.writestr(name, text)
        return raw.getvalue()

    @staticmethod
    def glass(table, folder=""):
        """The files of the archive: a number first, the class last."""
        lines = (
            ",".join([str(i), *map(repr, row), str(label)])
            for i, (row, label) in enumerate(zip(table.X.tolist(), table.y.tolist(), strict=True))
        )
        files = {"Index": "index", "glass.data": "\n".join(lines) + "\n", "glass.names": "names"}
        return {folder + name: text for name, text in files.items()}

    @staticmethod
    def mfeat(contents, folder=""):
        """The files of the archive: one per view, separated by blanks."""
        files = {"mfeat.info": "about"}
        for view in VIEWS:
            rows = contents[f"mfeat-{view}"].X.tolist()
            files[f"mfeat-{view}"] = "".join(f" {'   '.join(map(repr, row))}\n" for row in rows)
        return {folder + name: text for name, text in files.items()}


@pytest.fixture
def uci(server, monkeypatch):
    return Uci(server, monkeypatch)


@pytest.fixture
def naps():
    """Seconds that were slept, without sleeping; call it to sleep."""

    class Naps(list):
        def __call__(self, seconds):
            self.append(seconds)

    return Naps()
