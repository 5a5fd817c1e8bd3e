"""What was measured: each cell once, and the README's table made of the cells."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
FILES = sorted(BENCHMARKS.glob("results/*/*.jsonl"))
pytestmark = pytest.mark.skipif(not FILES, reason="there are no benchmarks beside the tests")


def script(name, monkeypatch):
    """A script of benchmarks/ as a module; it finds those that it imports."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    monkeypatch.delitem(sys.modules, "cells", raising=False)
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_has_the_table_that_the_cells_make(monkeypatch):
    readme_table = script("readme_table", monkeypatch)
    _, table, after = readme_table.parts(readme_table.README.read_text())
    assert after != readme_table.END, "README.md has no mark where the table ends"
    assert table == readme_table.table()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_has_each_cell_once_with_its_origin(path, monkeypatch):
    cells = script("cells", monkeypatch)
    found = cells.read(path)
    assert len({cells.key(cell) for cell in found}) == len(found)
    for cell in found:
        assert cell["benchmark"] == path.stem
        assert all(cell.get(name) for name in ("date", "commit", "command"))
        assert path.parent.name == "any-machine" or cell["device"]
        if "peer" in cell:
            assert cell["peer_name"]
            faster_is_more = cell["unit"] == "GFLOPS"
            ratio = cell["cubc"] / cell["peer"] if faster_is_more else cell["peer"] / cell["cubc"]
            assert cell["ratio"] == pytest.approx(ratio, rel=0.006)


@pytest.mark.parametrize(
    ("model", "kind", "units", "name"),
    [
        ("NVIDIA H200", "cuda", 132, "nvidia-h200"),
        ("Intel(R) Xeon(R) Processor @ 2.50GHz", "cpu", 2, "intel-xeon-2-cores"),
    ],
)
def test_a_device_has_one_folder(model, kind, units, name, monkeypatch):
    cells = script("cells", monkeypatch)
    assert cells.folder_name({"model": model, "kind": kind, "units": units}) == name


@pytest.mark.parametrize("device", sorted({path.parent.name for path in FILES}))
def test_every_cell_is_a_line_of_a_printed_table(device, monkeypatch):
    cells = script("cells", monkeypatch)
    for found in cells.load(device).values():
        head, _, *lines = cells.table(found)
        assert len(lines) == len(found)
        assert {line.count("|") for line in lines} == {head.count("|")}


def test_a_new_figure_takes_the_place_of_the_one_before(tmp_path, monkeypatch):
    cells = script("cells", monkeypatch)
    first = [
        {"benchmark": "b", "type": kind, "size": "2^16", "cubc": 1.0} for kind in ("I8", "I32")
    ]
    cells.put(first, "device", tmp_path)
    cells.put([first[0] | {"cubc": 2.0}, first[0] | {"size": "2^20"}], "device", tmp_path)
    lines = (tmp_path / "device" / "b.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        first[0] | {"cubc": 2.0},
        first[1],
        first[0] | {"size": "2^20"},
    ]
