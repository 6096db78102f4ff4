"""Damaged files: cases that fuzzing has found, and a few new ones every time.

``python -m reliability.fuzz`` does the same for hours, led by what it reaches.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy import sparse

from reliability.seeds import MATRIX, SOLVER_NAMES, checkpoint_fit, seeds
from reliability.targets import TARGETS, judge
from sphericalpca import DataError, SphericalPCA, open_rows
from sphericalpca.rows.sources import hdf5

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::sphericalpca.NoDirectionWarning"),
]

ROOT = Path(__file__).parents[2]
CASES = sorted((Path(__file__).parent / "cases").iterdir())


@pytest.mark.parametrize("target", sorted({case.suffix[1:] for case in CASES}))
def test_found_cases_are_refused(target):
    """In another process: some of them ended it."""
    files = [str(case) for case in CASES if case.suffix[1:] == target]
    command = [sys.executable, "-m", "reliability.fuzz", target, "--read", *files]
    paths = os.pathsep.join([str(ROOT), *sys.path])
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    answers = done.stdout.splitlines()
    assert len(answers) == len(files)
    assert "answer" not in answers


@pytest.mark.parametrize("target", TARGETS)
def test_seeds_are_read(target, tmp_path):
    """Else a fuzzer would try error messages only."""
    path = tmp_path / f"seed{TARGETS[target].suffix}"
    assert {judge(TARGETS[target], seed, path) for seed in seeds(target)} == {"answer"}


def _plain(rng):
    """A few bytes changed, moved or cut, as a fuzzer would."""

    def change(data, size):
        content = bytearray(data[:size])
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(content) + 1)
            length = rng.choice([0, 1, 1, 1, 4, 8])
            content[place : place + length] = rng.randbytes(rng.choice([0, 1, 1, 1, 4, 8]))
        return bytes(content)

    return change


# What may still end the process is tried in others only.
@pytest.mark.parametrize("target", sorted(t for t in TARGETS if not TARGETS[t].crashes))
def test_a_few_damaged_files(target, tmp_path):
    reader, rng = TARGETS[target], random.Random(3)
    path = tmp_path / f"input{reader.suffix}"
    good, answers = seeds(target), set()
    for _ in range(40):
        answers.add(judge(reader, reader.mutate(rng.choice(good), 8192, rng, _plain(rng)), path))
    assert len(answers) > 1


# ------------------------------------------------------------------------------ written by hand


def test_more_columns_than_indices_can_count(tmp_path):
    """A matrix that is wider than its 32-bit indices could say is read all the same."""
    S = sparse.csr_array(MATRIX)
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr}
    np.savez(tmp_path / "S.npz", format=b"csr", shape=(9, 2**40), **parts)
    source = open_rows(tmp_path / "S.npz")
    blocks = list(source.read(slice(0, 9), 9))
    assert source.shape == blocks[0].shape == (9, 2**40)
    np.testing.assert_array_equal(blocks[0][:, :4].toarray(), MATRIX)


def test_shapes_that_are_none(tmp_path):
    S = sparse.csr_array(MATRIX)
    parts = {"data": S.data, "indices": S.indices, "indptr": S.indptr}
    for shape in [(9, -4), (9.0, 4.0), (9,), (9, 4, 1), (9, 2**64 - 1)]:
        np.savez(tmp_path / "S.npz", format=b"csr", shape=np.array(shape), **parts)
        with pytest.raises(DataError, match="must fit together"):
            open_rows(tmp_path / "S.npz")


def test_more_rows_than_lengths_could_be_kept_of(tmp_path, monkeypatch):
    """Chunks that were never written take no room in a file; such files are refused before."""
    monkeypatch.setattr(hdf5, "MOST_PACKED", 2**63)
    path = tmp_path / "t.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("train", shape=(2**55, 4), dtype="f4", chunks=(100, 4))
    with pytest.raises(DataError, match=f"declares {2**55} rows, but there is not enough memory"):
        SphericalPCA(1).fit(open_rows(path))


def test_an_hdf5_file_that_announces_more_than_it_holds(tmp_path):
    path = tmp_path / "t.h5"
    with h5py.File(path, "w") as file:
        file["train"] = MATRIX
    content = path.read_bytes()
    path.write_bytes(content.replace((9).to_bytes(8, "little"), (2**40).to_bytes(8, "little")))
    with pytest.raises(DataError, match=r"damaged|cut short"):
        open_rows(path)


@pytest.mark.parametrize("solver", SOLVER_NAMES)
def test_a_checkpoint_of_which_one_number_was_changed(solver, tmp_path):
    """The checksums of the archive are right again, its own is not."""
    path = tmp_path / "checkpoint"
    checkpoint_fit(solver, path, 2)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in members if name.startswith("state."))
    members[name] = members[name][:-1] + bytes([members[name][-1] ^ 1])
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    with pytest.raises(DataError, match="does not match its checksum"):
        checkpoint_fit(solver, path, 3)


def test_a_checkpoint_whose_members_are_nowhere(tmp_path):
    """Places before the beginning of the file: seeking there is an OSError."""
    path = tmp_path / "checkpoint"
    checkpoint_fit("alternating", path, 2)
    content = bytearray(path.read_bytes())
    end = content.rindex(b"PK\x05\x06")
    content[end + 16 : end + 20] = (2**31).to_bytes(4, "little")
    path.write_bytes(bytes(content))
    with pytest.raises(DataError, match="is not a checkpoint of sphericalpca, or is damaged"):
        checkpoint_fit("alternating", path, 3)


def test_models_in_types_that_are_none_of_ours(tmp_path):
    model, path = seeds("model")[0], tmp_path / "model"
    length = int.from_bytes(model[:8], "little")
    header, numbers = model[8 : 8 + length], model[8 + length :]
    for kind, size in {"F8_E4M3": 1, "BF16": 2, "I64": 8, "F16": 2}.items():
        shape = f'"components":{{"dtype":"{kind}","shape":[2,{32 // size}]'.encode()
        text = header.replace(b'"components":{"dtype":"F64","shape":[2,4]', shape)
        assert text != header
        path.write_bytes(len(text).to_bytes(8, "little") + text + numbers)
        with pytest.raises(DataError, match="save the model again"):
            SphericalPCA.load(path)
