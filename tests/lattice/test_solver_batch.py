"""Sources that have stopped leave the batch, and come back in their order."""

import numpy as np
import pytest
from inputs import value
from lattice_system import KAPPA, LINKS, SHAPE, random_spinors

from cubc import lattice, tuner

B = np.stack([random_spinors(SHAPE, k) for k in range(8)])
EARLY = [0, 2, 3, 5, 6, 7]  # near their solutions


@pytest.fixture(scope="module")
def operator(device):
    return lattice.Wilson(lattice.Gauge(LINKS, device=device), KAPPA, precision="double")


@pytest.mark.some(3)
@pytest.mark.parametrize(
    ("solver", "options"),
    [
        ("cg", {"sloppy": "half"}),
        ("bicgstab", {}),
        ("gcr", {"sloppy": "single", "normal": True}),
        ("gcr", {"sloppy": "half", "schwarz": 1}),
        ("ca_cg", {"sloppy": "half"}),
    ],
)
def test_each_source_is_solved_as_alone(operator, tmp_path, solver, options):
    options = {"solver": solver, "delta": 0.05} | options
    x0 = np.zeros_like(B)
    x0[EARLY] = operator.solve(B[EARLY], tol=1e-6, **options)[0]
    options["tol"] = 1e-10
    with tuner.record(tmp_path / "calls.db"):
        x, info = operator.solve(B, x0=x0, **options)
    assert info.converged
    for pair in ([1, 3], [7, 4]):
        alone, two = operator.solve(B[pair], x0=x0[pair], **options)
        for k, y, one in zip(pair, alone, two.sources, strict=True):
            assert one.iterations == info.sources[k].iterations
            np.testing.assert_allclose(x[k], y, rtol=0, atol=1e-9 * abs(y).max())
    product = value(operator(x))
    if options.get("normal"):
        product = value(operator.dagger(product))
    axes = tuple(range(1, B.ndim))
    left = np.sqrt((abs(product - B) ** 2).sum(axes) / (abs(B) ** 2).sum(axes))
    np.testing.assert_allclose([one.residual for one in info.sources], left, rtol=1e-2, atol=1e-14)
    table = tuner.recorded(tmp_path / "calls.db")
    sizes = {
        int(shape.rpartition("=")[2])
        for name, shape in zip(table.benchmark, table["shape"], strict=True)
        if name == "field_update.cg"
    }
    assert max(sizes) == 8 and 2 <= min(sizes) <= 4
