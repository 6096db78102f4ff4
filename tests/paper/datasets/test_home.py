"""Where data files are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from paper.datasets import available, get_data_home
from sphericalpca import DataError


def test_a_given_folder_comes_first_then_the_environment_then_the_cache(monkeypatch, tmp_path):
    assert get_data_home() == tmp_path / "cache" / "sphericalpca"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SPHERICALPCA_DATA_HOME", "~/named")
    assert get_data_home() == tmp_path / "named"
    assert get_data_home(tmp_path / "given") == get_data_home("~/given") == tmp_path / "given"
    monkeypatch.setenv("SPHERICALPCA_DATA_HOME", "")
    assert get_data_home("") == tmp_path / "cache" / "sphericalpca"


@pytest.mark.parametrize("cache", ["", "relative/path", None])
def test_without_a_proper_cache_folder_the_usual_one(monkeypatch, tmp_path, cache):
    monkeypatch.setenv("HOME", str(tmp_path))
    if cache is None:
        monkeypatch.delenv("XDG_CACHE_HOME")
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", cache)
    assert get_data_home() == tmp_path / ".cache" / "sphericalpca"


def test_no_home_folder_at_all(monkeypatch):
    def homeless(self):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "expanduser", homeless)
    with pytest.raises(DataError, match=r"No home folder.*--data-home DIR.*SPHERICALPCA_DATA_HOME"):
        get_data_home()


def test_available(tiny, home):
    assert not available("glass", home)
    home.mkdir()
    (home / "glass.csv.gz").touch()
    assert available("glass", home)
    with pytest.raises(DataError, match="No data set 'brass'"):
        available("brass", home)
