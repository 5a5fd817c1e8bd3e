"""Lattice files made and read by NumPy alone: the reference for cubc.lattice, and hostile input."""

import struct
import zlib
from pathlib import Path

import numpy as np

WEAK_FIELD = Path(__file__).parents[1] / "data/weak_field.lime"
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


# ---- fields of SciDAC and of tmLQCD --------------------------------------------------------------
def scidac_file(shape):
    t, z, y, x = shape
    text = f"<spacetime>4</spacetime><dims>{x} {y} {z} {t} </dims><volfmt>0</volfmt>"
    return [("scidac-private-file-xml", BEGIN | END, f"<scidacFile>{text}</scidacFile>".encode())]


def scidac_field(field, items=1, type_name="recordtype"):
    """One field's records: complex64 or complex128 of shape (T, Z, Y, X, ...)."""
    data = field.astype(field.dtype.newbyteorder(">")).tobytes()
    sites = int(np.prod(field.shape[:4]))
    text = (
        f"<{type_name}>0</{type_name}><precision>{'FD'[field.dtype == np.complex128]}</precision>"
        f"<typesize>{len(data) // sites // items}</typesize><datacount>{items}</datacount>"
    )
    a, b = scidac_sums(data, sites)
    sums = f"<scidacChecksum><suma>{a:x}</suma><sumb>{b:x}</sumb></scidacChecksum>"
    return [
        ("scidac-private-record-xml", BEGIN, f"<scidacRecord>{text}</scidacRecord>".encode()),
        ("scidac-binary-data", 0, data),
        ("scidac-checksum", END, sums.encode()),
    ]


def scidac(*fields, **options):
    records = scidac_file(fields[0].shape[:4])
    return join([*records, *(r for field in fields for r in scidac_field(field, **options))])


def etmc(*spinors, checksums=True):
    """Spinors one after the other, as tmLQCD writes those of several flavours."""
    t, z, y, x = spinors[0].shape[:4]
    bits = spinors[0].itemsize * 4
    text = (
        f"<etmcFormat><field>diracFermion</field><precision>{bits}</precision>"
        f"<flavours>{len(spinors)}</flavours>"
        f"<lx>{x}</lx><ly>{y}</ly><lz>{z}</lz><lt>{t}</lt></etmcFormat>"
    )
    both = BEGIN | END
    records = [
        ("propagator-type", both, b"DiracFermion_Sink"),
        ("etmc-propagator-format", both, text.encode()),
    ]
    for spinor in spinors:
        data = spinor.astype(spinor.dtype.newbyteorder(">")).tobytes()
        records.append(("scidac-binary-data", both, data))
        if checksums:
            a, b = scidac_sums(data, x * y * z * t)
            sums = f"<scidacChecksum>\n<suma>{a:08x}</suma>\n<sumb>{b:08x}</sumb></scidacChecksum>"
            records.append(("scidac-checksum", both, sums.encode()))
    return join(records)


def tmlqcd(links):
    """A configuration as tmLQCD writes it: its flags make no messages, its checksums begin 0x."""
    data = links.astype(">c16").tobytes()
    t, z, y, x = links.shape[:4]
    text = (
        "<ildgFormat>\n  <version> 1.0 </version>\n  <field> su3gauge </field>\n"
        f"  <precision> 64 </precision>\n  <lx> {x} </lx>\n  <ly> {y} </ly>\n  <lz> {z} </lz>\n"
        f"  <lt> {t} </lt>\n</ildgFormat>"
    )
    a, b = scidac_sums(data, x * y * z * t)
    sums = f"<scidacChecksum><suma>{a:#010x}</suma><sumb>{b:#010x}</sumb></scidacChecksum>"
    return join(
        [
            ("xlf-info", BEGIN | END, b"\n plaquette = 6.069403e-01\n"),
            ("ildg-format", BEGIN, text.encode()),
            ("ildg-binary-data", 0, data),
            ("scidac-checksum", BEGIN, sums.encode()),
        ]
    )


# ---- MILC's and Fermilab's propagators -----------------------------------------------------------
def milc_propagator(propagator, order="<", spins=(0, 1, 2, 3), **changes):
    """MILC's own file, of a Wilson propagator or of a staggered one."""
    t, z, y, x = propagator.shape[:4]
    wilson = propagator.ndim == 8
    out = struct.pack(
        f"{order}I4I64sI", 12781 if wilson else 23209, x, y, z, t, b"Sat Nov 21 2026", 0
    )
    if wilson:
        listed = changes.get("listed", len(spins))
        out += struct.pack(f"{order}I4I", listed, *spins, *[0] * (4 - len(spins)))
    for spin in spins if wilson else (None,):
        for colour in range(3):
            column = propagator[..., spin, :, colour] if wilson else propagator[..., colour]
            data = column.astype(f"{order}c8").tobytes()
            sums = xor29_31(np.frombuffer(data, f"{order}u4"))
            out += struct.pack(f"{order}{'2' if wilson else ''}I2I", *([spin] if wilson else []),
                               changes.get("colour", colour), *sums)  # fmt: skip
            out += data
    return out


def fermilab(field, order="<", columns=False):
    """Fermilab's file: a Wilson or staggered propagator, site after site or column after column."""
    t, z, y, x = field.shape[:4]
    if field.ndim == 6:
        numbers, data = 18, field.swapaxes(4, 5)
    elif columns:
        numbers, data = 24, np.moveaxis(field, (5, 7), (0, 1))
    else:
        numbers, data = 288, field.transpose(0, 1, 2, 3, 5, 7, 4, 6)
    head = struct.pack(f"{order}9I", 0x71626434, 1415973847, 4, numbers, x, y, z, t, 0)
    return head + data.astype(f"{order}c8").tobytes()


# ---- openQCD and DD-alphaAMG ---------------------------------------------------------------------
def mean_plaquette(links):
    return float(np.mean(list(plaquettes(links).values())))


def openqcd(links, order="<", plaquette=None):
    """The universal format of openQCD's export_cnfg, point by point as its archive.c says."""
    t, z, y, x = links.shape[:4]
    plaquette = 3 * mean_plaquette(links) if plaquette is None else plaquette
    out = [struct.pack(f"{order}4id", t, x, y, z, plaquette)]
    sizes = (t, x, y, z)
    for point in np.ndindex(sizes):
        if sum(point) % 2 == 0:
            continue
        for mu, direction in enumerate((3, 0, 1, 2)):
            before = list(point)
            before[mu] = (before[mu] - 1) % sizes[mu]
            for t_, x_, y_, z_ in (point, before):
                out.append(links[t_, z_, y_, x_, direction].astype(f"{order}c16").tobytes())
    return b"".join(out)


def ddalphaamg(links, order="<", plaquette=None):
    t, z, y, x = links.shape[:4]
    plaquette = 3 * mean_plaquette(links) if plaquette is None else plaquette
    data = links[..., [3, 2, 1, 0], :, :].astype(f"{order}c16").tobytes()
    return struct.pack(f"{order}4id", t, z, y, x, plaquette) + data
