"""The counts of a long run are those that hypothesis prints."""

from __future__ import annotations

import pytest

from reliability.hostile import counted

PRINTED = """
tests/hostile/test_a.py::test_fit[x y]:

  - during reuse phase (1.50 seconds):
    - 2 passing {}, 0 failing {}, {} 1 invalid {}
  - during generate phase (0.25 seconds):
    - Typical runtimes: ~ 1-9 ms, of which ~ 1-7 ms in data generation
    - 5 passing {}, 1 failing {}, {} 3 invalid {}


tests/hostile/test_b.py::test_other:

  - during generate phase (2.00 seconds):
    - 7 passing {}, 0 failing {}, {} 0 invalid {}
"""


@pytest.mark.parametrize("words", [("examples", "examples", "", "examples"), ("", "", "and", "")])
def test_counts(words):
    first, other = counted(PRINTED.format(*3 * words))
    assert first == {
        "test": "test_a.py::test_fit[x y]",
        "passed": 7,
        "failed": 1,
        "invalid": 4,
        "seconds": 1.75,
    }
    assert (other["test"], other["passed"], other["seconds"]) == ("test_b.py::test_other", 7, 2.0)
