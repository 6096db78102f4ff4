"""Hard conditions, tried at length: what the test suite does in seconds, these do for hours.

::

    kill.py      kill -9 at random moments
    soak.py      thousands of fits in one process
    hostile.py   hostile arrays, many times as many as in the suite
    fuzz.py      damaged files, made by a fuzzer that watches which lines they reach
    targets.py   what is read, and how it is judged
    mutations.py how inputs are changed without breaking what wraps them
    seeds.py     small valid files to begin with
"""

__all__: list[str] = []
