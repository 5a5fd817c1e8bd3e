"""The winner of a search of one's own kernel is a callable for arrays."""

import numpy as np
import pytest
import stores

from cubc import _core, tuner
from cubc.tuner._benchmark import SourceSpace
from cubc.tuner._demo import saxpy
from cubc.tuner._result import Result

WINNER, BASE = "tpb_128.ipt_4", "tpb_64.ipt_1"
OWN = {"benchmark": "saxpy.saxpy", "source_hash": "0" * 64}


def result(tmp_path, benchmark=saxpy, types=("F32",), **own):
    rows = []
    for ct in types:
        found = [stores.row("base", 16, ct=ct), *stores.confirmed(WINNER, 16, 5e-4, ct=ct)]
        found.append(stores.row("tpb_64.ipt_2", 16, 1e-4, ct=ct))  # faster, by luck
        rows += [one | OWN | own for one in found]
    groups = tuner.analyze(stores.write(tmp_path / "own.db", rows)).groups
    return Result(groups, {}, {}, benchmark)


@pytest.fixture
def arrays():
    x = np.arange(1000, dtype="f4")
    return x, np.ones(1000, "f4")


def test_the_winner_is_called_with_arrays(tmp_path, arrays):
    x, y = arrays
    kernel = result(tmp_path).kernel()
    assert (kernel.label, kernel.values, kernel.device) == (WINNER, {"tpb": 128, "ipt": 4}, "cpu")
    kernel(x, y, 2.0, x.size)
    np.testing.assert_array_equal(y, 2 * x + 1)
    kernel(x, y, 1.0, 100, grid=1, block=128)
    np.testing.assert_array_equal(y[100:], 2 * x[100:] + 1)
    assert y[99] == 3 * 99 + 1


GRIDS = """
// %RANGE% TUNE_THREADS tpb 64,128
// %RANGE% TUNE_ITEMS ipt 1,4
extern __shared__ char bytes[];
__global__ void shape(int* out, const float* x, int n)
{
    out[0] = gridDim.x, out[1] = gridDim.y, out[2] = blockDim.x, out[3] = blockDim.y;
}
"""


def shape_of(tmp_path, launch_of, rt="Elements", calls=None):
    """Function that calls the tuned kernel, and gives the grid and block that it had."""

    def shape(state):
        n = state[rt]
        if calls is not None:
            calls.append(n)
        out, x = state.zeros(4, "I32"), state.zeros((n, 2), "F32")
        state.writes(out)
        state.exec(lambda launch: launch_of(launch, out, x, n))

    benchmark = tuner.benchmark(GRIDS, {rt: [1000, 3000]})(shape)
    own = OWN | {"benchmark": "shape.shape", "axes": f'[["{rt}", [1000, 3000]]]', "ct": ""}
    rows = [
        one | own | {"rt": f"{rt}={n}"}
        for n in (1000, 3000)
        for one in (stores.row("base", 16), *stores.confirmed(WINNER, 16, 5e-4))
    ]
    groups = tuner.analyze(stores.write(tmp_path / "own.db", rows)).groups
    kernel = Result(groups, {}, {}, benchmark).kernel()
    assert kernel.label == WINNER

    def call(n, **given):
        out = np.zeros(4, "i4")
        kernel(out, np.zeros((n, 2), "f4"), n, **given)
        return (int(out[0]), int(out[1])), (int(out[2]), int(out[3]))

    return call


def left_out(launch, out, x, n):
    launch.kernel("shape", out, x, n)


def test_a_grid_that_is_left_out_goes_by_the_axis_elements(tmp_path):
    calls = []
    call = shape_of(tmp_path, left_out, calls=calls)
    assert not calls  # until it is called
    assert call(1024) == ((2, 1), (128, 1))  # the largest array has 2048 items
    assert call(5000) == ((10, 1), (128, 1))
    assert call(5000, grid=3, block=32, shared=0) == ((3, 1), (32, 1))
    assert calls == [1000]


def test_a_grid_of_the_largest_array_without_the_axis(tmp_path):
    assert shape_of(tmp_path, left_out, "Rows")(1024) == ((4, 1), (128, 1))


def test_a_grid_by_a_function_of_the_arguments(tmp_path):
    def launch_of(launch, out, x, n):
        def grid(out, x, n):
            return n // launch.ipt, 2

        launch.kernel("shape", out, x, n, grid=grid, block=(launch.tpb // 4, 4), shared=16)

    call = shape_of(tmp_path, launch_of)
    assert call(400) == ((100, 2), (32, 4))
    assert call(400, grid=7) == ((7, 1), (32, 4))
    assert call(400, block=64) == ((100, 2), (64, 1))


def test_a_grid_in_numbers_holds_for_the_sizes_that_were_measured(tmp_path):
    def launch_of(launch, out, x, n):
        launch.kernel("shape", out, x, n, grid=(n // 100, 2), block=32)

    call = shape_of(tmp_path, launch_of)
    assert call(1000) == ((10, 2), (32, 1))
    assert call(3000) == ((30, 2), (32, 1))
    assert call(2000, grid=5) == ((5, 1), (32, 1))
    with pytest.raises(ValueError, match="numbers for arguments of other sizes: give grid="):
        call(2000)


def test_several_launches_of_a_kernel(tmp_path):
    def launch_of(launch, out, x, n):
        launch.kernel("shape", out, x, n, grid=2)
        launch.kernel("shape", out, x, 1, grid=1)

    call = shape_of(tmp_path, launch_of)
    assert call(1000) == ((2, 1), (128, 1))
    with pytest.raises(ValueError, match="several shapes of launches for arguments of other"):
        call(10)


def test_no_argument_tells_the_elements(tmp_path):
    call = shape_of(tmp_path, lambda launch, out, x, n: launch.kernel("shape", out, x, 7))
    with pytest.raises(ValueError, match="of the axis Elements, which none of its arguments"):
        call(10)


def test_base_and_other_variants(tmp_path):
    found = result(tmp_path)
    assert found.kernel(variant="base").label == BASE
    assert found.kernel("saxpy", variant="tpb_64.ipt_2", device="cpu").label == "tpb_64.ipt_2"
    with pytest.raises(LookupError, match=r"no variant 'tpb_64.ipt_3'; did you mean"):
        found.kernel(variant="tpb_64.ipt_3")
    with pytest.raises(LookupError, match="no kernel 'axpy'"):
        found.kernel("axpy")


def test_coverage_of_the_space_that_the_source_declares(tmp_path):
    found = result(tmp_path)
    [row] = found.coverage().itertuples()
    assert row.valid == SourceSpace(saxpy.source, "cpu", ()).count()
    assert row.coverage == row.measured / row.valid
    assert tuner.analyze(tmp_path / "own.db").coverage().valid.isna().all()  # no source is there


def test_base_where_nothing_is_faster(tmp_path):
    rows = [stores.row("base", 16) | OWN, stores.row(WINNER, 16, 1e-4) | OWN]
    groups = tuner.analyze(stores.write(tmp_path / "own.db", rows)).groups
    assert Result(groups, {}, {}, saxpy).kernel().label == BASE


def test_one_of_several_workloads(tmp_path):
    found = result(tmp_path, types=("F32", "F64"))
    with pytest.raises(ValueError, match=r"there are 2 groups, .*F32, .*F64: take one, as r\[0\]"):
        found.kernel()
    x, y = np.arange(10.0), np.ones(10)
    found[1].kernel()(x, y, 2.0, 10)
    np.testing.assert_array_equal(y, 2 * x + 1)


def test_a_search_of_a_function_of_cubc(tmp_path):
    db = stores.write(tmp_path / "f.db", [stores.row("base", 16)])
    with pytest.raises(ValueError, match=r"reduce.sum is no kernel of your own: .*use_policies"):
        Result(tuner.analyze(db).groups, {}, {}).kernel()


def test_a_device_that_is_not_here(tmp_path, monkeypatch):
    found = result(tmp_path)
    found.groups[0].arch = "sm_75"
    monkeypatch.setattr(_core, "devices", lambda: ["cpu"])
    monkeypatch.setenv("CUBC_DEVICE", "cpu")
    with pytest.raises(ValueError, match=r"\(sm_75\) was searched, which is not here"):
        found.kernel()
