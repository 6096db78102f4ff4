"""Where data files are looked for."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from paper.datasets import DATASETS, available, get_data_home
from paper.datasets.home import existing_file, fetch_command
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
    with pytest.raises(DataError, match=r"no home folder.*--data-home DIR.*SPHERICALPCA_DATA_HOME"):
        get_data_home()


def test_available(tiny, home):
    assert not available("glass")
    assert not get_data_home().exists()
    assert not available("glass", home)
    home.mkdir()
    (home / "glass.csv.gz").touch()
    assert available("glass", home)
    with pytest.raises(DataError, match="No data set 'brass'"):
        available("brass", home)


def test_a_missing_file_is_named_with_the_place_and_the_remedy(home):
    with pytest.raises(DataError) as caught:
        existing_file(DATASETS["mfeat-fac"], home)
    message = str(caught.value)
    assert "\n" not in message
    for part in ("mfeat_fac.csv.gz", str(home), "fetch mfeat-fac", "--data-home DIR"):
        assert part in message
    assert "SPHERICALPCA_DATA_HOME" in message


def test_the_command_leads_to_the_same_folder(tmp_path):
    assert fetch_command(["glass"], get_data_home()) == "python -m paper datasets fetch glass"
    odd = tmp_path / "my data"
    words = shlex.split(fetch_command(["glass", "mfeat"], odd, force=True))
    assert words[4:] == ["fetch", "glass", "mfeat", "--force", "--data-home", str(odd)]
