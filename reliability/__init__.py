"""Stress tests: hours of what the test suite does in seconds.

::

    kill.py      kill -9 at random moments
    soak.py      thousands of fits in one process
    hostile.py   hostile arrays, with many times the examples of the suite
    fuzz.py      damaged files, from a coverage-guided fuzzer
    targets.py   fuzz targets: readers, and checks of their results
    mutations.py changes of inputs that keep checksums and frames intact
    seeds.py     small valid files as initial inputs
"""

__all__: list[str] = []
