"""The random numbers of lattices: known answers, and distributions against their densities."""

from pathlib import Path

import numpy as np
import pytest

import cubc

KERNELS = Path(__file__).parents[1] / "kernels" / "random.cu"
DRAWS = 20_000


def launch(device, name, *arguments, out, n):
    """Call a kernel of one item a thread; arrays travel to the device, the last one back."""
    kernel = cubc.Kernel(KERNELS, name, block=64, device=device)
    result = cubc.asarray(out, device=device)
    there = [cubc.asarray(a, device=device) if isinstance(a, np.ndarray) else a for a in arguments]
    kernel(*there, result, n, grid=-(-n // 64))
    return result.numpy()


# From the kat_vectors of the authors' Random123: counter, key, result.
KNOWN = [
    ([0, 0, 0, 0], 0, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ([0xFFFFFFFF] * 4, 2**64 - 1, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
    (
        [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
        0x299F31D0A4093822,
        [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
    ),
]


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_known_answers(device, counter, key, answer):
    counter = np.array(counter, np.uint32)
    out = launch(device, "words", counter, np.uint64(key), out=np.zeros(4, np.uint32), n=1)
    assert out.tolist() == answer


def test_parts_of_a_turn(device):
    part = np.concatenate([np.linspace(0, 1, 10_001), np.nextafter([0.125, 0.375, 0.875, 1], 0)])
    out = launch(device, "turns", part, out=np.zeros(2 * part.size), n=part.size).reshape(-1, 2)
    exact = np.exp(2j * np.pi * part.astype(np.longdouble))
    assert abs(out[:, 0] - exact.real).max() < 4e-16
    assert abs(out[:, 1] - exact.imag).max() < 4e-16


def worst_distance(sample, distribution):
    """Kolmogorov and Smirnov's statistic times the root of the number of items."""
    x = distribution(np.sort(sample))
    n = x.size
    steps = np.arange(n + 1) / n
    return max((steps[1:] - x).max(), (x - steps[:-1]).max()) * np.sqrt(n)


LIMIT = 1.95  # exceeded by chance once in a thousand seeds; this one is fixed


def test_normal_numbers(device):
    from statistics import NormalDist

    drawn = launch(device, "normals", np.uint64(3), out=np.zeros(2 * DRAWS), n=DRAWS)
    both = drawn.reshape(-1, 2)
    for sample in (both[:, 0], both[:, 1], both.sum(1) / np.sqrt(2)):
        assert worst_distance(sample, np.vectorize(NormalDist().cdf)) < LIMIT


# From Creutz's candidates (up to 2) to Kennedy and Pendleton's.
@pytest.mark.parametrize("alpha", [0, 0.01, 1, 2, 2.01, 6, 14, 300])
def test_heat_bath_of_su2(device, alpha):
    drawn = launch(device, "elements", np.uint64(5), float(alpha), out=np.zeros(4 * DRAWS), n=DRAWS)
    a = drawn.reshape(-1, 4)
    assert abs((a * a).sum(1) - 1).max() < 1e-14
    x = np.cos(np.linspace(np.pi, 0, 200_001))  # dense where the density is steep
    density = np.sqrt(np.maximum(0, 1 - x * x)) * np.exp(alpha * (x - 1))
    sums = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2 * np.diff(x))])
    scalar = a[:, 0]
    assert worst_distance(scalar, lambda s: np.interp(s, x, sums / sums[-1])) < LIMIT
    # The direction is uniform: each component is, by Archimedes, and they are independent.
    unit = a[:, 1:] / np.sqrt(1 - scalar * scalar)[:, None]
    for k in range(3):
        assert worst_distance(unit[:, k], lambda u: (1 + u) / 2) < LIMIT
        assert abs(np.corrcoef(unit[:, k], scalar)[0, 1]) < 4 / np.sqrt(DRAWS)
        assert abs((unit[:, k] * unit[:, k - 1]).mean()) < 4 / np.sqrt(9 * DRAWS)
