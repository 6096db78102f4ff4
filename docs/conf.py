"""The site: ``make docs``, or ``python -m sphinx -W --keep-going docs build/docs``."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.append(str(HERE.parent))  # paper and benchmarks are not installed

import sphericalpca  # noqa: E402

project = "sphericalpca"
author = "The sphericalpca developers"
copyright = "the sphericalpca developers"  # noqa: A001 - Sphinx's name
version = release = sphericalpca.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "extensions.dark",
    "extensions.drawn",
    "extensions.markdown",
    "extensions.mathml",
    "extensions.look",
    "extensions.public",
]

templates_path = ["templates"]
exclude_patterns = ["drawn", "extensions", "measurements", "templates", "gallery/*.ipynb"]
# One backquote means a name of ours, if there is one, and code in any case.
default_role = "py:obj"
nitpicky = False
pygments_style = "tango"
highlight_language = "text"  # formulas after "::" are not programs

# Signatures show names and defaults; the types stand in the text, in words.
autodoc_typehints = "none"
autosummary_generate = True
numpydoc_show_class_members = False
# ``certify()`` in the list beside the text, where ``SphericalPCA.certify()`` would be cut off.
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "sphericalpca"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/favicon.svg"
html_extra_path = ["drawn/pages"]
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}  # else the theme complains on the console
html_show_sourcelink = False
html_theme_options = {
    "logo": {
        "text": "sphericalpca",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
    },
    "show_prev_next": True,
    "navigation_with_keys": False,
    # Wide tables get the room beside them.
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        "paper": [],
        "results/benchmarks": [],
        "results/reproduction": [],
    },
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
# "Start" has no pages beside it; the widest tables need the whole width.
html_sidebars = {"start": [], "results/benchmarks": [], "results/reproduction": []}

copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = False

# Examples run with as many threads as a reader would have.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "ignore_pattern": r"__init__|docstrings_csv",  # the latter only writes a file for `make demo`
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("sphericalpca",),
    "within_subsection_order": "extensions.look.ReadingOrder",
    "reset_modules": ("matplotlib", "extensions.look.set_look"),
    "capture_repr": (),
    "show_signature": False,
    "remove_config_comments": True,
    "download_all_examples": False,
    "write_computation_times": False,
    "image_scrapers": ("extensions.look.scrape",),
    "plot_gallery": "True",
    "min_reported_time": 1,
}

# Worker processes of examples must find the package where this one did.
os.environ.setdefault("PYTHONPATH", str(Path(sphericalpca.__file__).parents[1]))
