"""Settings of Sphinx: ``make docs`` builds the pages, with warnings as errors."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

project = "cubc"
author = "the authors of cubc"
release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "myst_nb"]
html_theme = "furo"
html_title = f"cubc {release}"
exclude_patterns = ["_build"]
default_role = "py:obj"

autosummary_generate = True
autosummary_generate_overwrite = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the sections of a docstring say more
numpydoc_show_class_members = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the tests run the notebooks; pages show what was committed

# Pages of the repository that are included here link to its files.
suppress_warnings = ["myst.xref_missing"]
