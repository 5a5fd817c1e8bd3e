"""The hopping term of staggered fermions in NumPy."""

import numpy as np
from lattice_reference import shift


def eta(phases, mu, extent):
    """The signs of hops in a direction at each site."""
    t, z, y, x = np.indices(extent[::-1])
    table = {
        "milc": (t, t + x, t + x + y, 0 * t),
        "chroma": (0 * t, x, x + y, x + y + z),
        "tifr": (1 + t + z + y, t + z, 1 + t, 0 * t),
    }
    return (-1.0) ** table[phases][mu]


def hopping(fat, longer, chi, phases="milc", antiperiodic=True, theta=(0, 0, 0, 0)):
    """D chi of all sites; the sites of chi are its last axes but one."""
    extent = fat.shape[:4][::-1]
    out = np.zeros_like(chi)
    for links, steps in ((fat, 1), (longer, 3)):
        for mu in range(4 if links is not None else 0):
            u = links[..., mu, :, :] * eta(phases, mu, extent)[..., None, None]
            crossings = (np.arange(extent[mu]) + steps) // extent[mu]
            angle = theta[mu] + np.pi * (antiperiodic and mu == 3)
            across = np.exp(1j * angle * crossings)
            u = u * across.reshape([-1 if axis == 3 - mu else 1 for axis in range(6)])
            for k in np.ndindex(chi.shape[:-5]):
                out[k] += np.einsum("...ab,...b->...a", u, shift(chi[k], mu, steps))
                out[k] -= shift(np.einsum("...ba,...b->...a", u.conj(), chi[k]), mu, -steps)
    return out
