"""What HTML pages share; it knows none of them.

::

    document.py   from a template to one file that needs nothing else
    tables.py     what a table is
    pictures.py   what a picture is: SVG in the colours of the page, or a file of its own
    templates/    head, style, theme button, and how tables and pictures are written
"""

__all__: list[str] = []
