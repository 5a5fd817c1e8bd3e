"""Runs the notebooks on the cpu and writes their outputs into them.

python tools/notebooks.py [NOTEBOOK ...]

All by default, each in a folder of its own. Standard error, such as progress, is left out. The
metadata has a hash of the code that the outputs are of; a test compares it.
"""

import hashlib
import os
import sys
import tempfile
from pathlib import Path

import nbclient
import nbformat

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
SECONDS = 600  # a cell


def code_hash(notebook):
    """Hash of the code cells, by which outputs of other code are noticed."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def shown(output):
    """Say if an output is for a reader of the page."""
    if output.output_type == "stream":
        return output.name == "stdout"
    return "application/vnd.jupyter.widget-view+json" not in output.get("data", {})


def write(path):
    """Run a notebook from top to bottom and keep what it gives."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        client = nbclient.NotebookClient(
            notebook, timeout=SECONDS, kernel_name="python3", resources=resources
        )
        client.execute(env=os.environ | {"CUBC_DEVICE": "cpu", "JUPYTER_PLATFORM_DIRS": "1"})
    for cell in notebook.cells:
        cell.metadata = {}
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if shown(output)]
    notebook.metadata = {
        "cubc": {"outputs_of": code_hash(notebook)},
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, path)
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB", flush=True)


if __name__ == "__main__":
    for each in map(Path, sys.argv[1:]) if sys.argv[1:] else sorted(FOLDER.glob("*.ipynb")):
        write(each)
