"""The versions that are promised are those that are tested."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
FILES = ["minimal", "newest", "development"]
# Too large to be installed for each run; CI has the newest.
LARGE = {"sentence-transformers"}


def _promised():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    found = [Requirement(text) for one in lists for text in one]
    return [one for one in found if one.name not in {"sphericalpca", *LARGE}]


def _pinned(name):
    lines = (ROOT / "constraints" / f"{name}.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if line and not line.startswith("#")]
    assert all(str(one.specifier).startswith("==") for one in pins)
    return {canonicalize_name(one.name): Version(str(one.specifier)[2:]) for one in pins}


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("promise", _promised(), ids=str)
def test_every_package_is_pinned_within_its_promise(promise, file):
    assert promise.specifier.contains(_pinned(file)[canonicalize_name(promise.name)])


@pytest.mark.parametrize("promise", _promised(), ids=str)
def test_the_oldest_version_promised_is_the_oldest_tested(promise):
    (lowest,) = [Version(s.version) for s in promise.specifier if s.operator == ">="]
    pinned = _pinned("minimal")[canonicalize_name(promise.name)]
    assert pinned.release[: len(lowest.release)] == lowest.release


def _of_developers():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    lists = [groups[name] for name in ("test", "docs", "lint")]
    return [Requirement(text) for one in lists for text in one if isinstance(text, str)]


@pytest.mark.parametrize("wanted", _of_developers(), ids=str)
def test_the_lock_has_all_that_a_developer_installs(wanted):
    assert wanted.specifier.contains(_pinned("development")[canonicalize_name(wanted.name)])
