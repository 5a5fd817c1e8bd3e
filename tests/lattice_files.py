"""Lattice files made and read by NumPy alone: the reference for cubc.lattice, and hostile input."""

import struct
import zlib
from pathlib import Path

import numpy as np

WEAK_FIELD = Path(__file__).parent / "data/weak_field.lime"
BEGIN, END = 0x8000, 0x4000


def random_links(shape, seed=0):
    """SU(3) links of shape (T, Z, Y, X, 4, 3, 3)."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(*shape, 4, 3, 3)) + 1j * rng.normal(size=(*shape, 4, 3, 3))
    u = np.linalg.qr(a)[0]
    return u / np.linalg.det(u)[..., None, None] ** (1 / 3)


def random_propagator(shape, seed=0):
    rng = np.random.default_rng(seed)
    sites = (*shape, 4, 4, 3, 3)
    return rng.normal(size=sites) + 1j * rng.normal(size=sites)


def plaquettes(u):
    """Mean of Re tr P / 3 by plane: {"xy": ..., "xz": ...}."""
    found = {}
    names = "xyzt"
    for mu in range(4):
        for nu in range(mu + 1, 4):
            a, b = u[..., mu, :, :], u[..., nu, :, :]
            upper = a @ np.roll(b, -1, 3 - mu)
            lower = b @ np.roll(a, -1, 3 - nu)
            found[names[mu] + names[nu]] = np.einsum("...ij,...ij->...", upper, lower.conj()).real
    return {name: values.mean() / 3 for name, values in found.items()}


def rotated(words, k):
    k = np.asarray(k).astype(np.uint64)
    words = np.asarray(words).astype(np.uint64)
    return ((words << k | words >> (np.uint64(32) - k)) & np.uint64(0xFFFFFFFF)).astype(np.uint64)


def xor29_31(words):
    rank = np.arange(len(words))
    return tuple(int(np.bitwise_xor.reduce(rotated(words, rank % n))) for n in (29, 31))


def scidac_sums(data, sites):
    size = len(data) // sites
    return xor29_31([zlib.crc32(data[k * size : (k + 1) * size]) for k in range(sites)])


# ---- LIME ---------------------------------------------------------------------------------------
def lime_record(kind, data, flags=0, length=None, magic=0x456789AB, version=1):
    length = len(data) if length is None else length
    header = struct.pack(">IHHQ128s", magic, version, flags, length, kind.encode())
    return header + data + b"\0" * (-len(data) % 8)


def lime_records(blob):
    """[(type, header's offset, flags, data)] of a file that is in order."""
    found, at = [], 0
    while at < len(blob):
        magic, version, flags, length, kind = struct.unpack_from(">IHHQ128s", blob, at)
        assert (magic, version) == (0x456789AB, 1)
        found.append((kind.rstrip(b"\0").decode(), at, flags, blob[at + 144 : at + 144 + length]))
        at += 144 + (length + 7) // 8 * 8
    return found


def join(records):
    return b"".join(lime_record(kind, data, flags) for kind, flags, data in records)


def ildg(links, precision=64, **changes):
    """An ILDG file's records by type; `changes` replaces data, None leaves a record out."""
    data = links.astype(">c16" if precision == 64 else ">c8").tobytes()
    t, z, y, x = links.shape[:4]
    a, b = scidac_sums(data, x * y * z * t)
    bytes_ = precision // 8
    records = {
        "scidac-private-file-xml": (
            BEGIN | END,
            f"<scidacFile><version>1.1</version><spacetime>4</spacetime><dims>{x} {y} {z} {t} "
            "</dims><volfmt>0</volfmt></scidacFile>",
        ),
        "scidac-private-record-xml": (
            BEGIN,
            f"<scidacRecord><recordtype>0</recordtype><precision>{'FD'[precision == 64]}"
            f"</precision><colors>3</colors><typesize>{18 * bytes_}</typesize>"
            "<datacount>4</datacount></scidacRecord>",
        ),
        "ildg-format": (
            0,
            f"<ildgFormat><version>1.0</version><field>su3gauge</field><precision>{precision}"
            f"</precision><lx>{x}</lx><ly>{y}</ly><lz>{z}</lz><lt>{t}</lt></ildgFormat>",
        ),
        "ildg-binary-data": (0, data),
        "scidac-checksum": (
            END,
            f"<scidacChecksum><suma>{a:x}</suma><sumb>{b:x}</sumb></scidacChecksum>",
        ),
    }
    out = []
    for kind, (flags, body) in records.items():
        body = changes.get(kind.replace("-", "_"), body)
        if body is not None:
            out.append((kind, flags, body.encode() if isinstance(body, str) else body))
    return join(out)


# ---- NERSC and MILC -----------------------------------------------------------------------------
def nersc(links, precision=64, order="BIG", rows=3, **changes):
    kind = np.dtype(("<" if order == "LITTLE" else ">") + ("c16" if precision == 64 else "c8"))
    data = np.ascontiguousarray(links[..., :rows, :]).astype(kind).tobytes()
    words = np.frombuffer(data, "<u4" if order == "LITTLE" else ">u4")
    t, z, y, x = links.shape[:4]
    header = {
        "DATATYPE": "4D_SU3_GAUGE_3x3" if rows == 3 else "4D_SU3_GAUGE",
        **{f"DIMENSION_{k + 1}": n for k, n in enumerate((x, y, z, t))},
        "CHECKSUM": f"{int(words.astype(np.uint64).sum()) & 0xFFFFFFFF:x}",
        "LINK_TRACE": f"{np.einsum('...ii', links).real.mean() / 3:.10f}",
        "PLAQUETTE": f"{np.mean(list(plaquettes(links).values())):.10f}",
        "FLOATING_POINT": f"IEEE{precision}{order}",
    }
    header.update(changes)
    lines = "".join(f"{key} = {value}\n" for key, value in header.items() if value is not None)
    return f"BEGIN_HEADER\n{lines}END_HEADER\n".encode() + data


def milc(links, order="<", **changes):
    data = links.astype(f"{order}c8").tobytes()
    t, z, y, x = changes.get("shape", links.shape[:4])
    sums = changes.get("sums", xor29_31(np.frombuffer(data, f"{order}u4")))
    date = b"Sat Nov 21 12:00:00 2026"
    sites = changes.get("site_order", 0)
    return struct.pack(f"{order}I4I64sI2I", 20103, x, y, z, t, date, sites, *sums) + data
