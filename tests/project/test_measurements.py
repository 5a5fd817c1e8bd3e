"""Measurements: each cell once, and the README's table made of the cells."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from cubc import _core

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


PAGES = [BENCHMARKS / "NOTES.md", *sorted(BENCHMARKS.glob("notes/*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_the_tables_that_the_cells_make(page, monkeypatch):
    note_tables = script("note_tables", monkeypatch)
    text = page.read_text()
    assert text.count("<!-- cub.py ") == text.count(note_tables.END)
    assert text == note_tables.rewritten(text)


def test_cells_beside_cub_are_of_benchmarks_and_axes_that_there_are(monkeypatch):
    cub = script("cub", monkeypatch)
    declared, peer = _core.benchmarks(), (BENCHMARKS / "cub_reference.cu").read_text()
    for name in cub.NAMES:
        benchmark, values = cub.split_name(name)
        assert set(cub.further_axes(benchmark, values)) == set(declared[benchmark]) - {
            "T{ct}",
            "Elements{io}[pow2]",
        }
        assert f'"{cub.peers_name(benchmark)}"' in peer or benchmark == "histogram.range"


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


def test_counters_are_shares_of_a_kernel_and_its_longest_waits(monkeypatch):
    counters = script("counters", monkeypatch)
    names = ["ID", "Kernel Name", *counters.METRICS]
    waits = [
        6 if reason == "barrier" else 2 if reason == "wait" else 0 for reason in counters.REASONS
    ]
    lines = [names, [""] * len(names), ["0", "scan_tiles", "1,234,560", 61.4, 86, 49, 33, *waits]]
    text = "==PROF== Connected\n" + "\n".join(
        ",".join(f'"{value}"' for value in line) for line in lines
    )
    (row,) = counters.rows_of(text)
    assert row["Kernel Name"] == "scan_tiles"
    found = counters.figures(row)
    assert found.pop("stalls").startswith("barrier 75 %, wait 25 %")
    assert found == {
        "cubc": 1234.56,
        "unit": "us",
        "memory_percent": 61,
        "l2_percent": 86,
        "issue_percent": 49,
        "warps_percent": 33,
    }
    assert counters.rows_of("==ERROR== no driver") == []


@pytest.mark.parametrize(
    ("now", "speed", "differs"),
    [
        ({"cubc": 10.1, "peer": 20.1}, 10 / 10.1, False),
        ({"cubc": 11.0, "peer": 20.1}, 10 / 11, True),
        ({"cubc": 11.0, "peer": 22.0}, 10 / 11, False),  # the peer took longer too
        ({"cubc": 11.0, "peer": 22.0, "peer_version": "3.6"}, 10 / 11, True),
        ({"cubc": 11.0, "unit": "GFLOPS"}, 1.1, True),
    ],
)
def test_a_change_beyond_noise_is_one_of_the_cell_and_of_its_ratio(
    now, speed, differs, monkeypatch
):
    changed = script("changed", monkeypatch)

    def cell(**figures):
        made = {"benchmark": "b", "type": "I32", "size": "2^16", "unit": "us", "date": "d"}
        made |= {"peer_version": "3.0"} | figures
        return made | ({"ratio": made["peer"] / made["cubc"]} if "peer" in made else {})

    before = cell(cubc=10.0, peer=20.0) if "peer" in now else cell(cubc=10.0, unit="GFLOPS")
    ((_, _, found, beyond),) = changed.compared([cell(**now)], [before], percent=3)
    assert (found, beyond) == (pytest.approx(speed), differs)
    assert not list(changed.compared([before], [before], percent=3))


@pytest.mark.parametrize(
    ("model", "kind", "sm_count", "name"),
    [
        ("NVIDIA H200", "cuda", 132, "nvidia-h200"),
        ("Intel(R) Xeon(R) Processor @ 2.50GHz", "cpu", 2, "intel-xeon-2-cores"),
    ],
)
def test_a_device_has_one_folder(model, kind, sm_count, name, monkeypatch):
    cells = script("cells", monkeypatch)
    assert cells.folder_name({"model": model, "kind": kind, "sm_count": sm_count}) == name


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
