"""The model of lattices over many GPUs: it predicts the runs that it is not made from."""

import dataclasses
import math

import pytest
from test_measurements import BENCHMARKS, script

pytestmark = pytest.mark.skipif(
    not (BENCHMARKS / "lattice_model.py").exists(), reason="there are no benchmarks"
)
BOUND = 0.1
SMALL = (16, 16, 16, 16)
PRECISIONS = ("double", "single", "half")


@pytest.fixture
def scripted(monkeypatch):
    return script("lattice_model", monkeypatch)


def errors(scripted, model):
    """Errors of each run left out: from the time of one GPU, where there is one, and without."""
    found = {}
    for case, measured, *predicted in scripted.checks(model):
        found[case] = [abs(p / measured - 1) if p else 0.0 for p in predicted]
    return found


def test_it_predicts_the_runs_that_it_is_not_made_from(scripted):
    found = errors(scripted, scripted.fitted())
    assert len(found) == 17
    assert not {case for case, missed in found.items() if max(missed) > BOUND}


def test_it_has_the_runs_that_it_is_made_from(scripted):
    hops, solves = scripted.runs()
    model = scripted.fitted()
    for precision in scripted.PRECISIONS:
        for size in (scripted.TINY, scripted.SMALL, scripted.LARGE):
            cell = hops["wilson", precision, size]
            predicted = model.hop("wilson", precision, scripted.part_of(cell), (3,))
            assert predicted == pytest.approx(cell["cubc"])
    assert model.cg(SMALL, (3,)) == pytest.approx(solves[scripted.SMALL]["cubc"])


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("longer", lambda a, b: a + b),
        ("bytes_of_face", lambda operator, precision, part, d: 200 * math.prod(part) / part[d]),
        ("sites_of", math.prod),
    ],
)
def test_a_wrong_formula_predicts_them_wrong(scripted, monkeypatch, name, wrong):
    model = scripted.fitted()
    monkeypatch.setattr(scripted, name, wrong)
    found = errors(scripted, model)
    assert [case for case, (_, alone) in found.items() if alone > BOUND]


@pytest.mark.parametrize(
    "change",
    [
        {"stores": dict.fromkeys(PRECISIONS, 1e5)},
        {"first": dict.fromkeys(PRECISIONS, 40.0)},
        {"each": dict.fromkeys(PRECISIONS, 1e-4)},
        {"end": 20.0},
        {"iteration_rates": {True: 0.0, False: 0.0}},
    ],
)
def test_a_wrong_number_predicts_them_wrong(scripted, change):
    found = errors(scripted, dataclasses.replace(scripted.fitted(), **change))
    assert [case for case, (_, alone) in found.items() if alone > BOUND]


def test_slower_networks_and_smaller_parts(scripted):
    model = scripted.fitted()
    slow = dataclasses.replace(model, latency=30.0, network=20.0)
    for part in (SMALL, (48, 48, 12, 12)):
        times = [m.cg(part, (2, 3), outside={3: 1}, nodes=4) for m in (model, slow)]
        assert model.cg(part, (2, 3)) < times[0] < times[1]
        pays = [
            m.schwarz(part, (2, 3), outside={3: 1}, nodes=4) / t
            for m, t in zip((model, slow), times, strict=True)
        ]
        assert pays[1] < pays[0] < model.schwarz(part, (2, 3)) / model.cg(part, (2, 3))
    hops = [model.hop("wilson", "half", (32, 32, 32, t), (3,)) for t in (32, 16, 8)]
    assert hops == sorted(hops, reverse=True) and hops[2] > hops[0] / 4


def test_grids_have_equal_parts_and_leave_their_node(scripted):
    found = dict(scripted.grids(8, (48, 48, 48, 96)))
    assert found[1, 1, 1, 8] == (48, 48, 48, 12) and found[1, 2, 2, 2] == (48, 24, 24, 48)
    assert all(grid[0] == 1 and math.prod(grid) == 8 for grid in found)
    assert not dict(scripted.grids(8, (8, 4, 4, 8)))
    assert scripted.faces_outside((1, 1, 1, 8), 1) == {}
    assert scripted.faces_outside((1, 1, 1, 16), 2) == {3: 0.5}
    assert scripted.faces_outside((1, 1, 8, 4), 4) == {3: 1}


def test_the_page_has_its_tables(scripted):
    text = scripted.NOTE.read_text()
    assert len(scripted.MARK.findall(text)) == 2
    assert text == scripted.rewritten(text), "python benchmarks/lattice_model.py --write"
