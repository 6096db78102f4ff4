"""An evaluation as one HTML page, in the look of the report of the experiments.

::

    tables.py    what stands in each table
    figures.py   what each picture shows
    page.py      the page; templates/ holds its text
"""

from sphericalpca.evaluation_report.page import render

__all__ = ["render"]
