"""Tables that notebooks show; what a stranger's store says stays text."""

import re

from cubc import tuner
from cubc._html import table
from cubc.lattice import Gauge, SolveInfo


def cells(text):
    return re.findall(r"<td[^>]*>(.*?)</td>", text)


def test_every_text_is_escaped():
    text = table(["<a>"], [["<b>", 1.23456789, 7, True]], "x & y")
    assert cells(text) == ["&lt;b&gt;", "1.235", "7", "True"]
    assert "&lt;a&gt;" in text and "x &amp; y" in text


def test_a_gauge_field_and_a_solve():
    gauge = Gauge.unit((4, 2, 2, 6), device="cpu")
    assert cells(gauge._repr_html_())[:6] == ["4", "2", "2", "6", "96", "cpu"]
    one = SolveInfo(True, "converged", 8, 1, 1e-11, 0.5, 12.0)
    assert cells(one._repr_html_())[1:4] == ["converged", "1e-11", "8"]
    both = SolveInfo(True, "converged", 8, 1, 1e-11, 0.5, 12.0, sources=(one, one))
    assert [row[0] for row in zip(*[iter(cells(both._repr_html_()))] * 7, strict=True)] == [
        "all",
        "0",
        "1",
    ]


def test_a_comparison():
    found = tuner.compare(tuner.example_db(), tuner.example_db(), "reduce.sum")
    text = found._repr_html_()
    assert cells(text)[0] == "reduce.sum" and len(cells(text)) == 8 * len(found.workloads)
    assert "geometric mean x1.000" in text
