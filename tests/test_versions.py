"""The versions that are promised are those that are tested."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
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


@pytest.mark.parametrize("file", ["minimal", "newest", "development"])
def test_every_package_is_pinned_within_its_promise(file):
    pinned = _pinned(file)
    for promise in _promised():
        version = pinned[canonicalize_name(promise.name)]
        assert promise.specifier.contains(version), str(promise)
        if file == "minimal":  # the oldest version promised is the oldest tested
            (lowest,) = [Version(s.version) for s in promise.specifier if s.operator == ">="]
            assert version.release[: len(lowest.release)] == lowest.release, str(promise)


def test_the_lock_has_all_that_a_developer_installs():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    pinned = _pinned("development")
    for text in (text for name in ("test", "docs", "lint") for text in groups[name]):
        if isinstance(text, str):
            wanted = Requirement(text)
            assert wanted.specifier.contains(pinned[canonicalize_name(wanted.name)]), text
