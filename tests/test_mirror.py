"""Every module has tests that `make check` runs when it changes."""

from pathlib import Path

import pytest

from reliability.mirror import OTHERS, PACKAGE, ROOT, mirrored_tests

pytestmark = pytest.mark.skipif(not (ROOT / PACKAGE).is_dir(), reason="the sources are not here")


def test_every_module_of_the_package_has_tests_that_exist():
    for path in (ROOT / PACKAGE).rglob("*.py"):
        tests = mirrored_tests(path.relative_to(ROOT).as_posix())
        if path.name != "__init__.py":
            assert tests, path
        assert all((ROOT / test).exists() for test in tests)


def test_the_modules_and_tests_that_are_named_exist():
    for name, tests in OTHERS.items():
        assert (ROOT / PACKAGE / name).exists() or (ROOT / name).exists(), name
        for test in tests:
            assert (ROOT / "tests" / test).exists(), (name, test)


def test_a_test_mirrors_to_itself_and_what_is_none_to_nothing():
    own = Path(__file__).relative_to(ROOT).as_posix()
    assert mirrored_tests(own) == [own]
    assert mirrored_tests("tests/test_that_is_gone.py") == []
    assert mirrored_tests("tests/cli/conftest.py") == ["tests/cli"]
    assert mirrored_tests("README.md") == ["tests/test_readme.py"]
    assert mirrored_tests("docs/start.rst") == ["tests/docs/test_code.py"]
    assert mirrored_tests("LICENSE") == []
    assert mirrored_tests("src/sphericalpca/cli/fit.py") == ["tests/cli/test_fit.py"]
    assert mirrored_tests("paper/ceiling.py") == ["tests/paper/test_ceiling.py"]
