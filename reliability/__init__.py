"""Hard conditions, tried at length: what the test suite does in seconds, these do for hours.

::

    fuzz.py      damaged files, made by a fuzzer that watches which lines they reach
    targets.py   what is read, how it is judged, and how inputs are changed
    seeds.py     small valid files to begin with
"""

__all__: list[str] = []
