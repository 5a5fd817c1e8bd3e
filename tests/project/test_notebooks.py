"""The notebooks run from top to bottom, and are kept with outputs of the code that they have."""

import hashlib
import os
from pathlib import Path

import nbclient
import nbformat
import pytest

from cubc import _core

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SECONDS = 90  # a cell


def read(path):
    return nbformat.read(path, as_version=4)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def printed(cell):
    """All text that a cell gave: what it printed and its value, but not its progress."""
    texts = []
    for output in cell.outputs:
        if output.output_type == "stream" and output.name == "stdout":
            texts.append(output.text)
        elif output.output_type == "execute_result":
            texts.append(output.data["text/plain"])
    return "".join(texts)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_its_outputs(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert notebook.cells[0].source.startswith("# ")
    texts = "\0".join(cell.source for cell in code(notebook))
    made_of = notebook.metadata.get("cubc", {}).get("outputs_of")
    assert made_of == hashlib.sha256(texts.encode()).hexdigest(), (
        f"the outputs are of other code: python tools/notebooks.py {path.relative_to(ROOT)}"
    )
    assert [cell.execution_count for cell in code(notebook)] == [*range(1, len(code(notebook)) + 1)]
    assert not any(out.output_type == "error" for cell in code(notebook) for out in cell.outputs)


@pytest.fixture
def execute(tmp_path, monkeypatch):
    """Execute a notebook on the cpu device in a folder of its own."""
    monkeypatch.setenv("CUBC_DEVICE", "cpu")
    monkeypatch.delenv("CUBC_POLICIES", raising=False)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")

    def run(path, shorter=()):
        """Give what the cells print, once parts of them are replaced by what takes less time."""
        notebook = read(path)
        for long, short in dict(shorter).items():
            assert any(long in cell.source for cell in code(notebook)), f"{long} is not in {path}"
            for cell in code(notebook):
                cell.source = cell.source.replace(long, short)
        resources = {"metadata": {"path": str(tmp_path)}}
        client = nbclient.NotebookClient(
            notebook, timeout=SECONDS, kernel_name="python3", resources=resources
        )
        client.execute(env=dict(os.environ))
        return [printed(cell) for cell in code(notebook)]

    return run


@pytest.mark.slow
@pytest.mark.usefixtures("optimised")  # it measures
def test_tune_a_reduction(execute, tmp_path):
    shorter = {"seconds=25": "seconds=3", "rounds=50": "rounds=5"}
    outputs = execute(FOLDER / "02_tune_a_reduction.ipynb", shorter)
    assert _core.device_info("cpu")["model"] in outputs[0]
    top = outputs[3]
    assert "score" in top
    assert "reduce.sum" in top
    store = _core.Store(str(tmp_path / "reduction.db"))
    variants = {row["variant"] for row in store.rows()}
    store.close()
    assert "base" in variants  # on a busy machine the time may end with it
    assert "before" in outputs[-1]
    applied = int(outputs[-1].split(" policies applied")[0])  # maybe none: nothing was FASTER
    lines = [line for line in outputs[-1].splitlines() if line.startswith("POLICY(")]
    assert len(lines) == applied
    assert all(line.split('"')[7] in variants for line in lines)


def test_first_steps(execute):
    """Its errors are those that were kept, to the words of the compiler."""
    path = FOLDER / "01_first_steps.ipynb"
    outputs = execute(path)
    kept = [printed(cell) for cell in code(read(path))]
    assert outputs[0].startswith("['cpu'")
    assert outputs[3].partition("error:")[0] == kept[3].partition("error:")[0]
    assert outputs[-1] == kept[-1]
    assert "True" in outputs[1]
    assert "does not compile" in outputs[3]
    assert "did you mean 'sum'?" in outputs[-1]


def test_read_an_analysis(execute):
    """It says today what it said when its outputs were kept."""
    path = FOLDER / "03_read_an_analysis.ipynb"
    outputs = execute(path, {"scan.plot_importance()": "scan.plot_importance"})  # see its docstring
    kept = [printed(cell) for cell in code(read(path))]
    tables = [k for k, text in enumerate(kept) if "reduce.sum" in text]
    assert len(tables) >= 3
    assert [outputs[k] for k in tables] == [kept[k] for k in tables]


@pytest.mark.slow
def test_tune_your_own_kernel(execute, tmp_path):
    shorter = {"variants=12": "variants=3", "variants=6": "variants=2", "[8, 9]": "[5, 6]"}
    outputs = execute(FOLDER / "04_tune_your_own_kernel.ipynb", shorter | {"[8]": "[6]"})
    assert "transpose.transpose" in outputs[3]
    assert "wrong" in outputs[-1]
    rows = list(_core.Store(str(tmp_path / "transpose.db")).rows())
    assert {row["status"] for row in rows} <= {"ok", "lost"}
    assert len({row["variant"] for row in rows}) > 1


@pytest.mark.usefixtures("optimised")  # the kernels of the lattice's tests
def test_lattice(execute):
    shorter = {
        "seconds=10": "seconds=1",
        "sweeps=20": "sweeps=2",
        "tol=1e-8": "tol=1e-2",
        "tol=1e-10": "tol=1e-6",
        "calls=20": "calls=3",
        "variants=6": "variants=1, confirm=0",
        "(4, 4, 4, 8)": "(4, 2, 4, 6)",  # the lattice and the links of the solvers' tests
        "(8, 4, 4, 4, 4, 3)": "(6, 4, 2, 4, 4, 3)",
        "np.arange(1, 7)": "np.arange(1, 5)",
        "reconstruct=18": "reconstruct=12",
        "wilson.r18": "wilson.r12",
    }
    text = "\n".join(execute(FOLDER / "05_lattice.ipynb", shorter))
    assert "Gauge(4x2x4x6 on cpu)" in text
    assert text.count("<converged: residual") == 1
    assert "half     8:  16 bytes a link" in text
    assert "dslash.wilson.r12" in text


@pytest.mark.usefixtures("optimised")  # the kernels of the lattice's tests
def test_staggered_and_domain_wall(execute):
    shorter = {
        "sweeps=20": "sweeps=2",
        "tol=1e-10": "tol=1e-6",
        "(4, 4, 4, 8)": "(4, 2, 4, 6)",  # the lattices of the tests of these operators
        "random((4, 4, 4, 4)": "random((2, 2, 2, 2)",
        "(1.0, 0.0), (1.5, 0.5)": "(1.5, 0.5),",
    }
    outputs = execute(FOLDER / "06_staggered_and_domain_wall.ipynb", shorter)
    assert "Gauge(4x2x4x6 on cpu)" in outputs[1]
    assert "(3, 6, 4, 2, 4, 3)" in outputs[3]
    masses = [float(line.rsplit(" ", 1)[1]) for line in outputs[-1].splitlines()]
    assert masses[1] < masses[0] / 2
