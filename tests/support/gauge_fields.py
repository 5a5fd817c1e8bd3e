"""The core's parameters for a gauge field."""


def native(u, kind):
    """Links in one of the precisions, and the extents."""
    links = u.native(precision="single" if kind == "float32" else "double")
    return {"links": links, **dict(zip(("lx", "ly", "lz", "lt"), u.extent, strict=True))}
