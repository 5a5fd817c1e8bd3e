"""The lattice of the tests of gauge fields, and fields in the core's order."""

from cubc import _core, lattice

EXTENT = (8, 4, 6, 2)


def native(u, kind):
    """Links in one of the precisions, and the extents."""
    links = u.native(precision="single" if kind == "float32" else "double")
    return {"links": links, **dict(zip(("lx", "ly", "lz", "lt"), u.extent, strict=True))}


def unchecked(links, device):
    """A field of any matrices."""
    u = lattice.Gauge.unit(links.shape[3::-1], device=device)
    given = {
        "from": _core.asarray(links, device=device),
        "to": ("float64", (u.native().size,), u.native()),
        "from_order": 0,
        "to_order": 2,
        "from_reals": 18,
        "to_reals": 18,
        **dict(zip(("lx", "ly", "lz", "lt"), u.extent, strict=True)),
    }
    _core.call("link_copy", given)
    return u
