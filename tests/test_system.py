"""The description of an installation: versions, libraries, kernels."""

from __future__ import annotations

import platform
from importlib import metadata

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import sphericalpca
from sphericalpca import kernels, system
from sphericalpca.kernels.library import VARIABLE


def facts():
    """Sections, and the lines of each."""
    sections = system.describe_system().split("\n\n")
    titles = [section.partition("\n")[0] for section in sections]
    assert titles == ["System", "Packages", "Linear algebra and OpenMP", "Kernels"]
    lines = [section.splitlines()[1:] for section in sections]
    return [[(line[2:25].strip(), line[25:]) for line in section] for section in lines]


def test_it_prints_what_it_describes(capsys):
    assert sphericalpca.show_versions() is None
    assert capsys.readouterr().out == f"{system.describe_system()}\n"


def test_versions_are_those_of_the_packages():
    (python, machine), packages, *_ = facts()
    assert python[1].startswith(platform.python_version())
    assert machine[1] == platform.platform()
    found = dict(packages)
    assert found.pop("sphericalpca") == sphericalpca.__version__
    assert {"numpy", "scipy", "scikit-learn", "threadpoolctl", "click", "rich"} <= found.keys()
    for name, version in found.items():
        assert metadata.version(name) == version


def test_extras_that_are_not_installed_are_left_out(monkeypatch):
    needed = ["numpy>=2.0", "no-such-package[all]>=1; extra == 'more'", "click; extra == 'cli'"]
    monkeypatch.setattr(system.metadata, "requires", lambda name: needed)
    names = [name for name, _ in facts()[1]]
    assert names == ["sphericalpca", *system.NEEDED, "click"]


def test_sources_that_are_not_installed(monkeypatch):
    def requires(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(system.metadata, "requires", requires)
    assert [name for name, _ in facts()[1]] == ["sphericalpca", *system.NEEDED]


def test_every_library_of_products_is_there_with_its_threads():
    _, _, libraries, _ = facts()
    for found in threadpool_info():
        (told,) = (
            fact
            for name, fact in libraries
            if name == found["internal_api"] and fact.endswith(found["filepath"].split("/")[-1])
        )
        assert f"threads: {found['num_threads']}, " in told
        assert (found["version"] or "") in told


@pytest.mark.parametrize("wanted", kernels.instruction_sets())
def test_kernels_and_threads_in_use(wanted, monkeypatch):
    monkeypatch.setenv(VARIABLE, wanted)
    with threadpool_limits(3, user_api="blas"):
        told = dict(facts()[-1])
    assert told["in use"] == wanted
    assert told["available"] == ", ".join(kernels.instruction_sets())
    assert told["threads"] == "3"


def test_a_wrong_choice_is_told_too(monkeypatch):
    monkeypatch.setenv(VARIABLE, "mmx")
    assert "SPHERICALPCA_KERNELS=mmx is not available here" in system.describe_system()
