"""Gauge fields: links from files and arrays, starts, copies, and refusals."""

import copy
from pathlib import Path

import numpy as np
import pytest
from gauge_fields import EXTENT, native
from lattice_reference import adjoint

from cubc import _core, lattice


def test_links_that_are_not_in_su3_are_refused(device, rng, links):
    """Beyond what single precision explains, in rows, determinant, or by a NaN; or projected."""
    for factor, words in (
        (1 + 1e-4, r"0\.0002 and det U - 1 as 0\.0003.*project=True"),
        (np.exp(1e-4j), r"det U - 1 as 0\.0003.*project=True"),
        (0, "as large as 1 and det U - 1 as 1.*project=True"),
        (np.nan, r"as large as nan.*no SU\(3\) matrix is nearest"),
    ):
        wrong = links.copy()
        wrong[1, 5, 3, 7, 3] *= factor
        with pytest.raises(ValueError, match=f"not in SU\\(3\\): .*{words}"):
            lattice.Gauge(wrong, device=device)
    for near in (links * (1 + 3e-5), links.astype(np.complex64)):
        kept = np.asarray(lattice.Gauge(near, device=device).links())
        np.testing.assert_array_equal(kept, near)
    hermitian = rng.normal(size=links.shape) + 1j * rng.normal(size=links.shape)
    far = (np.eye(3) + 0.1 * hermitian @ adjoint(hermitian)) @ links
    u = lattice.Gauge(far, device=device, project=True)
    assert abs(np.asarray(u.links()) - links).max() < 1e-13 and max(u.unitarity()) < 3e-15
    far[0, 0, 0, 0, 0] = np.nan  # which nothing is near to
    with pytest.raises(ValueError, match=r"not in SU.*no SU.* is nearest"):
        lattice.Gauge(far, device=device, project=True)
    with pytest.raises(ValueError, match=r"not in SU.*no SU.* is nearest"):
        lattice.Gauge(0 * links, device=device, project=True)


@pytest.mark.parametrize("project", [False, True])
@pytest.mark.parametrize("phase", [-1, np.exp(0.3j)])
def test_links_with_the_phases_of_a_boundary_are_refused(device, links, project, phase):
    """The SU(3) matrix nearest to one with a sign is another link, and not the only one."""
    signed = links.copy()
    signed[-1, ..., 3, :, :] *= phase
    with pytest.raises(ValueError, match=r"signs or phases.*antiperiodic_t= or theta="):
        lattice.Gauge(signed, device=device, project=project)
    signed[0, 0, 0, 0, 0] *= 1.001  # one that is not unitary does not hide them
    with pytest.raises(ValueError, match="signs or phases" if project else "project=True"):
        lattice.Gauge(signed, device=device, project=project)


MILC = Path(__file__).parents[3] / "shared/data/fields/lat.sample.l4444"


@pytest.mark.skipif(not MILC.exists(), reason="../shared/data/fields is not there")
def test_a_file_of_single_precision(device):
    """MILC's links and 3 times their plaquettes, in space and with time, as MILC measured them."""
    u = lattice.read_gauge(MILC, device=device)
    known = np.array([1.7946751560761731, 1.7744257976067317])
    np.testing.assert_allclose(3 * np.array(u.plaquette()[1:]), known, rtol=0, atol=2e-15)
    assert 1e-7 < max(u.unitarity()) < 1e-6
    projected = lattice.read_gauge(MILC, device=device, project=True)
    assert max(projected.unitarity()) < 3e-15
    assert abs(3 * np.array(projected.plaquette()[1:]) - known).max() > 1e-9


def test_smeared_links_of_a_file(device, links, tmp_path):
    path = tmp_path / "smeared"
    lattice.write_links(path, 0.9 * links)
    with pytest.raises(ValueError, match=rf"^read_gauge\(\): {path}: the links are not .*0.27"):
        lattice.read_gauge(path, device=device)
    u = lattice.read_gauge(path, device=device, project=True)
    assert abs(np.asarray(u.links()) - links).max() < 1e-13


# ---- starts -------------------------------------------------------------------------------------
def test_starts(device):
    unit = lattice.Gauge.unit(EXTENT, device=device)
    assert unit.plaquette() == (1, 1, 1)
    assert unit.link_trace() == 1
    assert (np.asarray(unit.links()) == np.eye(3)).all()
    hot = lattice.Gauge.random((8, 8, 8, 8), 3, device=device)
    links = np.asarray(hot.links())
    assert max(hot.unitarity()) < 3e-15
    # By Haar's measure <tr U> = 0, <|tr U|^2> = 1, <|tr U|^4> = 2, and links are independent.
    trace, n = np.einsum("...ii", links), links.size // 9
    assert abs(trace.mean()) < 4 / np.sqrt(n)
    assert abs((abs(trace) ** 2).mean() - 1) < 4 / np.sqrt(n)
    assert abs((abs(trace) ** 4).mean() - 2) < 4 * np.sqrt(20 / n)
    assert abs(hot.plaquette()[0]) < 4 / np.sqrt(18 * 6 * n / 4)
    assert abs((links[..., 0, :, :] * links[..., 1, :, :].conj()).mean()) < 4 / np.sqrt(9 * n / 4)
    rough = [lattice.Gauge.random(EXTENT, noise=noise, device=device) for noise in (0.0, 0.05, 0.2)]
    assert rough[0].plaquette()[0] == 1 > rough[1].plaquette()[0] > rough[2].plaquette()[0] > 0.5


def test_seeds(device):
    fields = [lattice.Gauge.random(EXTENT, seed, device=device) for seed in (1, 1, 2, 2**40 + 1)]
    first, again, *others = [np.asarray(u.links()) for u in fields]
    assert (first == again).all()
    for other in others:
        assert abs(first - other).max() > 0.5
    cpu = lattice.Gauge.random(EXTENT, 1, device="cpu")
    assert abs(np.asarray(cpu.links()) - first).max() < 1e-12


def test_copy(device, links):
    u = lattice.Gauge(links, device=device)
    for v in (u.copy(), copy.copy(u), copy.deepcopy(u)):
        v.update(6.0)
        assert (np.asarray(u.links()) == links).all()
        assert abs(np.asarray(v.links()) - links).max() > 0.1


# ---- wrong arguments ----------------------------------------------------------------------------
def test_wrong_arguments(links):
    u = lattice.Gauge(links, device="cpu")
    g = lattice.Rotation.random((4, 4, 4, 4), device="cpu")
    with pytest.raises(ValueError, match="different lattices"):
        u.transform(g)
    with pytest.raises(ValueError, match="expected \\(T, Z, Y, X, 3, 3\\)"):
        lattice.Rotation(links)
    with pytest.raises(ValueError, match="extents are even numbers"):
        lattice.Gauge.unit((4, 4, 3, 4), device="cpu")
    with pytest.raises(ValueError, match="sites along x, y, z and t"):
        lattice.Gauge.unit((4, 4, 4), device="cpu")
    with pytest.raises(ValueError, match="noise=inf: expected a finite number"):
        lattice.Gauge.random(EXTENT, noise=np.inf, device="cpu")
    with pytest.raises(ValueError, match="noise=1e"):
        lattice.Gauge.random(EXTENT, noise=1e300, device="cpu")
    assert max(lattice.Gauge.random(EXTENT, noise=1e100, device="cpu").unitarity()) < 1e-12
    given = {**native(u, "float64"), "out": ("float64", (2,), None), "quantity": 0}
    with pytest.raises(ValueError, match="gives 7 numbers"):
        _core.call("gauge_measure", given)
    with pytest.raises(ValueError, match="quantity 4"):
        _core.call("gauge_measure", {**given, "quantity": 4})
    with pytest.raises(ValueError, match="72 a site of a lattice of 8x4x6x4"):
        _core.call("gauge_measure", {**given, "lt": 4})
    half = {**given, "links": u.native(18, "half")}
    with pytest.raises(TypeError, match="F64 or F32, not of I16"):
        _core.call("gauge_measure", half)
