"""Print the changelog's section of a version; ends with a sentence if version and package differ.

``python tools/release_notes.py 0.2.0``; CONTRIBUTING.md says what a release is.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(version):
    """Print the section."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    known = tomllib.loads(project)["project"]["version"]
    if version != known:
        sys.exit(f"pyproject.toml has version {known}, the tag has {version}")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    section = re.search(
        rf"^## \[?{re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", changes, re.MULTILINE | re.DOTALL
    )
    if not section:
        sys.exit(f"CHANGELOG.md has no section {version}: rename Unreleased, with the date")
    print(section[1].strip())


if __name__ == "__main__":
    main(*sys.argv[1:])
