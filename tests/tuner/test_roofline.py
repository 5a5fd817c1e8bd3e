"""Plots of throughput: bandwidth, and the roofline with flops."""

import matplotlib
import numpy as np
import pytest
import stores
import synthetic
from drawn import curve

from cubc import tuner

BEST = "ipt_12.tpb_384.ld_0"
matplotlib.use("Agg")
pytestmark = pytest.mark.usefixtures("figures")


@pytest.fixture(scope="module")
def analysis(tmp_path_factory):
    return tuner.analyze(synthetic.write(tmp_path_factory.mktemp("stores") / "gpu.db"))


def test_bandwidth(analysis):
    axes = analysis.plot_bandwidth(BEST, peak=4800)
    frame = analysis.to_frame().set_index(["variant", "Elements", "Entropy"])
    base = frame.base_us.loc[:, 24, 1].median() * 1e-6
    expected = frame.speedup[BEST, 24, 1] * (8 << 24) / base * 1e-9
    assert curve(axes, BEST)[1][-1] == pytest.approx(expected, rel=1e-3)
    assert "GB/s" in axes.get_ylabel()
    assert curve(axes, "memory: 4800 GB/s")[1].tolist() == [4800, 4800]


def test_throughput_is_over_time_whatever_the_objective_is(tmp_path):
    more = {"hot": 1e-3, "source_hash": "0" * 64, "flops": 1e6}
    rows = [stores.row("base", 16, power=100.0, **more)]
    rows.append(stores.row("x_1", 16, 5e-4, power=10.0, **more))
    analysis = tuner.analyze(stores.write(tmp_path / "s.db", rows), objective="energy")
    assert analysis.best().score == pytest.approx(10)
    for axes in (analysis.plot_bandwidth(), analysis.plot_roofline()):
        [mine], [base] = curve(axes, "x_1")[1], curve(axes, "base")[1]
        assert mine / base == pytest.approx(2)


def test_bandwidth_is_logarithmic_where_it_spans_a_decade(analysis):
    axes = analysis.plot_bandwidth(BEST)
    rates = dict(zip(analysis.groups[0].rts, curve(axes, "base")[1], strict=True))
    assert max(rates.values()) > 10 * min(rates.values())
    assert axes.get_yscale() == "log"
    assert all("$" not in text.get_text() for text in axes.get_yticklabels())  # 200, not 2e2
    for cells in analysis.groups[0].cells.values():
        for rt, cell in cells.items():
            cell.extra["bytes"] /= rates[rt]
    axes = analysis.plot_bandwidth(BEST)
    assert axes.get_yscale() == "linear"
    assert axes.get_ylim()[0] == 0


def test_roofline_needs_flops(analysis):
    with pytest.raises(ValueError, match="declares no bytes and flops; plot_bandwidth"):
        analysis.plot_roofline()


def test_roofline(tmp_path):
    analysis = tuner.analyze(synthetic.write(tmp_path / "flops.db"))
    for cells in analysis.groups[0].cells.values():
        for cell in cells.values():
            cell.extra["flops"] = cell.extra["bytes"] / 4
    axes = analysis.plot_roofline(BEST, peak_gbps=4800, peak_gflops=60_000)
    x, y = curve(axes, BEST)
    np.testing.assert_allclose(x, 0.25)
    rate = curve(analysis.plot_bandwidth(BEST), BEST)[1]
    np.testing.assert_allclose(y, rate / 4)
    roof = curve(axes, "memory: 4800 GB/s")
    np.testing.assert_allclose(roof[1], 4800 * roof[0])
    assert roof[0][-1] == pytest.approx(60_000 / 4800)


def test_roofline_of_a_benchmark_that_declares_no_flops(tmp_path):
    analysis = tuner.analyze(synthetic.write(tmp_path / "no_flops.db"))
    axes = analysis.plot_roofline(BEST, flops=2)
    x, y = curve(axes, BEST)
    np.testing.assert_allclose(x, 2 / 8)  # bytes of an element
    rate = curve(analysis.plot_bandwidth(BEST), BEST)[1]
    np.testing.assert_allclose(y, rate * x)
