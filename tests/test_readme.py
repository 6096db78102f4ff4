"""What the README shows is what happens."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


@pytest.fixture(scope="module")
def run():
    """Every Python block in order, in one session: the names left, what was printed."""
    names: dict[str, object] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        for block in _blocks():
            exec(block, names)
    return names, printed.getvalue().split()


def _blocks():
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_the_numbers_in_the_comments_are_those_printed(run):
    claimed = re.findall(r"print\(.*\)\s+# ([\d.e-]+):", "".join(_blocks()))
    assert len(claimed) == 3
    # A gap near rounding of the data is not the same to the last digit everywhere.
    for claim, found in zip(claimed, run[1], strict=True):
        assert float(found) == pytest.approx(float(claim), rel=0.05)


def test_the_claims_beside_expressions_hold(run):
    names, _ = run
    assert names["V"].shape == (1797, 10)
    theory = names["analyse"](names["paper"].history_, names["paper"].constants_)
    assert theory.applies
    assert theory.sufficient_decrease.all()
    cats, stocks = set(names["found"][:2]), set(names["found"][2:])
    assert len(cats) == len(stocks) == 1
    assert cats != stocks


def test_pictures_and_pages_linked_are_there():
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert links
    for link in links:
        assert (README.parent / link).is_file(), link


def test_it_says_what_it_is_for_in_five_lines_and_a_picture():
    opening = README.read_text(encoding="utf-8").split("\n\n")[1]
    assert len(opening.splitlines()) <= 5
    assert README.read_text(encoding="utf-8").split("\n\n")[2].startswith("![")
