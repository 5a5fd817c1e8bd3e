"""Files of many codes: each format from its definition, by NumPy alone, and real files of others.

The real ones are small files of the public test suites of tmLQCD, MILC and QDP++, in the folder of
shared data beside the project; where it is not there, the files made here are all the evidence.
"""

import struct
from pathlib import Path

import lattice_files as files
import numpy as np
import pytest

from cubc import lattice

REAL = Path(__file__).resolve().parents[3] / "shared/data/fields"
SHAPE = (2, 4, 2, 6)  # T, Z, Y, X: all different from their mirror image


@pytest.fixture
def path(tmp_path):
    return tmp_path / "field"


def real(name):
    if not (REAL / name).exists():
        pytest.skip(f"{name} of another code is not in ../shared/data/fields")
    return REAL / name


def field_of(*site, shape=SHAPE, kind=np.complex64, seed=0):
    rng = np.random.default_rng(seed)
    size = (*shape, *site)
    return (rng.normal(size=size) + 1j * rng.normal(size=size)).astype(kind)


# ---- configurations ------------------------------------------------------------------------------
def test_tmlqcd_writes_links(path):
    """Its checksums begin 0x, and the record of them begins a message that never ends."""
    links = files.random_links(SHAPE)
    path.write_bytes(files.tmlqcd(links))
    found, info = lattice.read_links(path)
    np.testing.assert_array_equal(found, links)
    data = links.astype(">c16").tobytes()
    assert info.checksum == files.scidac_sums(data, links[..., 0, 0, 0].size)
    blob = path.read_bytes()
    path.write_bytes(blob.replace(b"<suma>0x", b"<suma>1x"))
    with pytest.raises(OSError, match='<suma> is "1x'):
        lattice.read_links(path)
    found, info = lattice.read_links(path, verify=False)
    np.testing.assert_array_equal(found, links)
    assert info.checksum is None
    damaged = bytearray(blob)
    damaged[blob.index(b"ildg-binary-data") + 128 + 99] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(OSError, match="its checksums are"):
        lattice.read_links(path)


def test_milc_leaves_the_field_out(path):
    links = files.random_links(SHAPE)
    t, z, y, x = SHAPE
    text = f"<precision>64</precision><lx>{x}</lx><ly>{y}</ly><lz>{z}</lz><lt>{t}</lt>"
    path.write_bytes(files.ildg(links, ildg_format=text))
    np.testing.assert_array_equal(lattice.read_links(path)[0], links)


def test_nersc_checksums_are_not_read_without_verification(path):
    links = files.random_links(SHAPE)
    path.write_bytes(files.nersc(links, CHECKSUM="none", PLAQUETTE="?"))
    with pytest.raises(OSError, match="CHECKSUM is"):
        lattice.read_links(path)
    found, info = lattice.read_links(path, verify=False)
    np.testing.assert_array_equal(found, links)
    assert (info.checksum, info.plaquette) == (None, None)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("name", ["openqcd", "ddalphaamg"])
@pytest.mark.parametrize("shape", [SHAPE, (4, 4, 4, 4), (2, 2, 2, 2)])
def test_openqcd_and_ddalphaamg(name, order, shape, path):
    """Neither has a magic number, and both have the same header: the plaquette tells them apart."""
    links = files.random_links(shape)
    path.write_bytes(getattr(files, name)(links, order))
    found, info = lattice.read_links(path)
    np.testing.assert_array_equal(found, links)
    assert (info.format, info.extent) == (name, shape[::-1])
    assert info.byte_order == {"<": "little", ">": "big"}[order]
    assert info.plaquette == pytest.approx(files.mean_plaquette(links), abs=1e-14)


@pytest.mark.parametrize("name", ["openqcd", "ddalphaamg"])
def test_plaquettes_near_zero_tell_them_apart(name, path):
    """Some of the points may be nearer in the wrong order by chance; all of them never are."""
    for seed in range(6):
        links = files.random_links((6, 4, 6, 4), seed)
        path.write_bytes(getattr(files, name)(links))
        found, info = lattice.read_links(path)
        assert info.format == name
        np.testing.assert_array_equal(found, links)


def test_ddalphaamg_of_odd_extents(path):
    links = files.random_links((3, 2, 5, 1))
    path.write_bytes(files.ddalphaamg(links))
    found, info = lattice.read_links(path)
    np.testing.assert_array_equal(found, links)
    assert info.format == "ddalphaamg"


def test_a_wrong_plaquette(path):
    links = files.random_links(SHAPE)
    for write in (files.openqcd, files.ddalphaamg):
        path.write_bytes(write(links, plaquette=2.0))
        with pytest.raises(
            OSError, match=r"data at byte 24: the plaquette is .* says 0\.6666666667"
        ):
            lattice.read_links(path)


@pytest.mark.parametrize("cut", [-1, 1, -576, 576])
def test_openqcd_of_another_size_is_not_recognised(cut, path):
    blob = files.openqcd(files.random_links(SHAPE))
    path.write_bytes(blob[:cut] if cut < 0 else blob + b"\0" * cut)
    with pytest.raises(OSError, match=r"the first bytes are 02000000, .* openQCD or DD-alphaAMG"):
        lattice.read_links(path)


def test_a_number_that_is_none_in_openqcd(path):
    links = files.random_links(SHAPE)
    for write in (files.openqcd, files.ddalphaamg):
        blob = bytearray(write(links))
        blob[24 + 144 * 7 + 8 : 24 + 144 * 7 + 16] = struct.pack("<d", np.nan)
        path.write_bytes(blob)
        with pytest.raises(OSError, match=f"nan at byte {24 + 144 * 7 + 8}, in "):
            lattice.read_links(path)


# ---- single fields and propagators of LIME -------------------------------------------------------
KINDS = {
    "propagator": (4, 4, 3, 3),
    "spinor": (4, 3),
    "staggered_propagator": (3, 3),
    "colour_vector": (3,),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("precision", ["double", "single"])
def test_scidac_round_trip(kind, precision, path):
    field = field_of(*KINDS[kind], kind=np.complex128)
    getattr(lattice, f"write_{kind}")(path, field, precision)
    found, info = getattr(lattice, f"read_{kind}")(path)
    single = field.astype(np.complex64)
    np.testing.assert_array_equal(found, field if precision == "double" else single)
    assert (info.kind, info.precision, info.format) == (kind.replace("_", " "), precision, "scidac")
    ours, theirs = (
        {name: data for name, _, _, data in files.lime_records(blob)}
        for blob in (path.read_bytes(), files.scidac(field if precision == "double" else single))
    )
    assert ours["scidac-binary-data"] == theirs["scidac-binary-data"]
    sums = theirs["scidac-checksum"].removeprefix(b"<scidacChecksum>")
    assert ours["scidac-checksum"].endswith(sums + b"\0")
    path.write_bytes(path.read_bytes().replace(b"<recordtype>", b"<globaldata>").replace(
        b"</recordtype>", b"</globaldata>"))  # fmt: skip
    np.testing.assert_array_equal(getattr(lattice, f"read_{kind}")(path)[0], found)


def test_kinds_are_told_apart(path):
    lattice.write_spinor(path, field_of(4, 3))
    for kind in ("propagator", "staggered_propagator", "colour_vector", "links"):
        if kind == "propagator":
            continue  # one spinor is a propagator's column: see below
        words = rf"holds a spinor, not .*{kind[:5]}.*; read it with cubc\.lattice\.read_spinor"
        with pytest.raises(ValueError, match=words):
            getattr(lattice, f"read_{kind}")(path)
    with pytest.raises(ValueError, match=r"1 fields of kind spinor, .* reads each, are not the 12"):
        lattice.read_propagator(path)
    with pytest.raises(ValueError, match=r"shape \(T, Z, Y, X, 4, 3\)"):
        lattice.write_spinor(path, field_of(3, 4))


def test_unknown_items(path):
    path.write_bytes(files.scidac(field_of(5)))
    with pytest.raises(OSError, match="1 items a site of 40 bytes in 32 bits are no links"):
        lattice.read_spinor(path)
    path.write_bytes(files.scidac(field_of(12, 4, 3), items=12))
    with pytest.raises(OSError, match="12 items a site of 96 bytes"):
        lattice.read_propagator(path)


@pytest.mark.parametrize("kind, items", [("propagator", (4, 3)), ("staggered_propagator", (3,))])
def test_a_record_is_a_propagator_of_columns(kind, items, path):
    """A file may hold several, which are not mixed."""
    read, found = getattr(lattice, f"read_{kind}"), {}
    each = range(np.prod(items))
    columns = {n: [field_of(*items, seed=20 * n + k) for k in each] for n in (1, 2)}
    for seed in (1, 2):
        path.write_bytes(files.scidac(*columns[seed]))
        found[seed] = read(path)[0]
        np.testing.assert_array_equal(read(path, record=0)[0], found[seed])
        with pytest.raises(ValueError, match="record 7 of a file that holds 1 "):
            read(path, record=7)
        with pytest.raises(TypeError, match="record is 'x'"):
            read(path, record="x")
    path.write_bytes(files.scidac(*columns[1], *columns[2]))
    for record in (0, 1):
        np.testing.assert_array_equal(read(path, record=record)[0], found[record + 1])
    with pytest.raises(ValueError, match="record 2 of a file that holds 2 "):
        read(path, record=2)
    path.write_bytes(files.scidac(*columns[1], *columns[2], *columns[1]))
    with pytest.raises(ValueError, match=r"may be 3 propagators: .* from 0 to 2"):
        read(path)


def test_a_list_has_a_file_for_each_column(path):
    lattice.write_propagator(path, field_of(4, 4, 3, 3))
    with pytest.raises(ValueError, match=r"not a spinor: a list has .* give the path by itself"):
        lattice.read_propagator([path])


def test_columns_make_a_propagator(path, tmp_path):
    """Twelve records of a file, with sources between them or one in front, or twelve files."""
    propagator = field_of(4, 4, 3, 3)
    columns = [propagator[..., k // 3, :, k % 3] for k in range(12)]
    source, number = field_of(4, 3, seed=1), field_of(seed=2)
    for fields in (
        columns,
        [number, *columns],
        [f for column in columns for f in (number, column)],
        [f for column in columns for f in (source, column)],
    ):
        path.write_bytes(files.scidac(*fields))
        found, info = lattice.read_propagator(path)
        np.testing.assert_array_equal(found, propagator)
        assert (info.kind, info.extent) == ("propagator", SHAPE[::-1])
    assert len(lattice.read_info(path)) == 24
    with pytest.raises(ValueError, match="holds 24 fields of this kind"):
        lattice.read_spinor(path)
    np.testing.assert_array_equal(lattice.read_spinor(path, record=3)[0], columns[1])
    for outside in (24, -1):
        with pytest.raises(ValueError, match=f"record {outside} of a file that holds 24"):
            lattice.read_spinor(path, record=outside)
    paths = [tmp_path / f"source.{k:02d}.inverted" for k in range(12)]
    for one, column in zip(paths, columns, strict=True):
        one.write_bytes(files.etmc(column))
    found, info = lattice.read_propagator(paths)
    np.testing.assert_array_equal(found, propagator)
    assert info.format == "etmc"
    with pytest.raises(ValueError, match="12 files: record 1 of a file that holds 1 "):
        lattice.read_propagator(paths, record=1)
    with pytest.raises(ValueError, match="11 files are not the 12 columns"):
        lattice.read_propagator(paths[:11])
    paths[3].write_bytes(files.etmc(field_of(4, 3, shape=(2, 2, 2, 2))))
    with pytest.raises(ValueError, match="12 files are of different lattices"):
        lattice.read_propagator(paths)


def test_three_vectors_make_a_staggered_propagator(path):
    propagator = field_of(3, 3)
    columns = [propagator[..., k] for k in range(3)]
    path.write_bytes(files.scidac(field_of(seed=1), *columns))
    np.testing.assert_array_equal(lattice.read_staggered_propagator(path)[0], propagator)
    # As one field, three vectors a site: the source's colour first.
    path.write_bytes(files.scidac(propagator.swapaxes(4, 5), items=3))
    np.testing.assert_array_equal(lattice.read_staggered_propagator(path)[0], propagator)


def test_a_file_of_links_and_more(path):
    """Each field goes by the records before it; its checksum is the one behind it."""
    links, spinor = files.random_links(SHAPE), field_of(4, 3)
    blob = files.ildg(links) + files.scidac(spinor)
    path.write_bytes(blob)
    np.testing.assert_array_equal(lattice.read_links(path)[0], links)
    np.testing.assert_array_equal(lattice.read_spinor(path)[0], spinor)
    assert [i.kind for i in lattice.read_info(path)] == ["links", "spinor"]
    damaged = bytearray(blob)
    damaged[-400] ^= 1  # of the spinor
    path.write_bytes(damaged)
    lattice.read_links(path)
    with pytest.raises(OSError, match=r"'scidac-binary-data' at byte .*: its checksums are"):
        lattice.read_spinor(path)
    path.write_bytes(blob + blob)
    with pytest.raises(ValueError, match=r"holds 2 fields of this kind \(links\)"):
        lattice.read_links(path)
    np.testing.assert_array_equal(lattice.read_links(path, record=1)[0], links)


@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
@pytest.mark.parametrize("checksums", [False, True])
def test_etmc_propagators(kind, checksums, path):
    up, down = field_of(4, 3, kind=kind), field_of(4, 3, kind=kind, seed=1)
    path.write_bytes(files.etmc(up, checksums=checksums))
    found, info = lattice.read_spinor(path)
    np.testing.assert_array_equal(found, up)
    assert (info.format, info.checksum is None) == ("etmc", not checksums)
    path.write_bytes(files.etmc(up, down, checksums=checksums))  # of two flavours
    for record, expected in enumerate((up, down)):
        np.testing.assert_array_equal(lattice.read_spinor(path, record=record)[0], expected)
    path.write_bytes(files.etmc(up).replace(b"diracFermion", b"somethingels"))
    with pytest.raises(OSError, match='<field> is "somethingels", expected diracFermion'):
        lattice.read_spinor(path)


# ---- MILC's and Fermilab's propagators -----------------------------------------------------------
@pytest.mark.parametrize("order", "<>")
def test_milc_propagators(order, path):
    propagator, staggered = field_of(4, 4, 3, 3), field_of(3, 3)
    path.write_bytes(files.milc_propagator(propagator, order))
    np.testing.assert_array_equal(lattice.read_propagator(path)[0], propagator)
    column, info = lattice.read_spinor(path, record=7)
    np.testing.assert_array_equal(column, propagator[..., 2, :, 1])
    assert (info.format, info.source) == ("milc-prop", (2, 1))
    path.write_bytes(files.milc_propagator(propagator, order, spins=(3, 1, 0, 2)))
    np.testing.assert_array_equal(lattice.read_propagator(path)[0], propagator)
    path.write_bytes(files.milc_propagator(propagator, order, spins=(3,)))
    assert lattice.read_spinor(path, record=2)[1].source == (3, 2)
    with pytest.raises(ValueError, match=r"3 fields of kind spinor, .* reads each, are not the 12"):
        lattice.read_propagator(path)
    path.write_bytes(files.milc_propagator(staggered, order))
    np.testing.assert_array_equal(lattice.read_staggered_propagator(path)[0], staggered)
    assert lattice.read_colour_vector(path, record=2)[1].source == (2,)


def test_damaged_milc_propagators(path):
    propagator = field_of(4, 4, 3, 3, shape=(2, 1, 2, 1))
    blob = files.milc_propagator(propagator)
    for damaged, words in (
        (blob[:-1], "are not 12 columns of one size"),
        (blob[:100], r"header: 108 bytes at byte 0 are not there"),
        (files.milc_propagator(propagator, listed=5), "5 source spins, expected 1 to 4"),
        (files.milc_propagator(propagator, listed=0), "0 source spins"),
        (files.milc_propagator(propagator, colour=7), "colour 7, expected colour 0"),
        (blob[:4] + b"\xff" * 16 + blob[20:], "column 1 at byte 108: 384 bytes, but a lattice"),
        (blob[:-3] + b"\1" + blob[-2:], "column 12 at byte .*: its checksums are"),
        (files.milc_propagator(propagator, spins=(1, 1, 1, 1)), "are not of all sources"),
    ):
        path.write_bytes(damaged)
        with pytest.raises((OSError, ValueError), match=words):
            lattice.read_propagator(path)


@pytest.mark.parametrize("order", "<>")
def test_fermilab(order, path):
    propagator, staggered = field_of(4, 4, 3, 3), field_of(3, 3)
    for columns in (False, True):
        path.write_bytes(files.fermilab(propagator, order, columns))
        found, info = lattice.read_propagator(path)
        np.testing.assert_array_equal(found, propagator)
        assert info.format == "fermilab"
    path.write_bytes(files.fermilab(staggered, order))
    np.testing.assert_array_equal(lattice.read_staggered_propagator(path)[0], staggered)


def test_damaged_fermilab(path):
    blob = files.fermilab(field_of(3, 3))
    for damaged, words in (
        (blob[:-1], "has more"),
        (blob + b"\0" * 4, "has fewer"),
        (blob[:12] + b"\x13" + blob[13:], "19 numbers a site of 4 bytes, expected 288, 24 or 18"),
        (blob[:16] + b"\xff" * 16 + blob[32:], "but a lattice of 4294967295 x"),
        (files.fermilab(field_of(4, 4, 3, 3), columns=True)[:-8], "are not twelve spinors"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(OSError, match=words):
            lattice.read_staggered_propagator(path)


# ---- writing -------------------------------------------------------------------------------------
@pytest.mark.parametrize("format", ["ildg", "scidac", "nersc", "milc"])
def test_write_gauge(format, path):
    links = files.random_links((2, 4, 2, 4))
    gauge = lattice.Gauge(links, device="cpu")
    single = format == "milc"
    expected = links.astype(np.complex64) if single else links
    for field in (gauge, links):
        lattice.write_gauge(path, field, format=format)
        found, info = lattice.read_links(path)
        np.testing.assert_array_equal(found, expected)
        assert (info.format, info.precision) == (format, "single" if single else "double")


def test_milc_files_are_what_numpy_writes(path):
    links = files.random_links(SHAPE)
    lattice.write_links(path, links, "milc")
    ours, theirs = path.read_bytes(), files.milc(links, "<")
    assert (ours[:20], ours[84:]) == (theirs[:20], theirs[84:])  # but for the date
    again = path.with_name("again")
    lattice.write_links(again, links, "milc", "single")
    assert again.read_bytes() == ours


@pytest.mark.parametrize("format", ["milc-prop", "fermilab"])
def test_staggered_propagators_are_what_numpy_writes(format, path):
    propagator = field_of(3, 3)
    lattice.write_staggered_propagator(path, propagator, format=format)
    write = files.milc_propagator if format == "milc-prop" else files.fermilab
    theirs, ours = write(propagator, "<"), path.read_bytes()
    dates = slice(20, 84) if format == "milc-prop" else slice(4, 8)
    for begin, end in ((None, dates.start), (dates.stop, None)):
        assert ours[begin:end] == theirs[begin:end]
    with pytest.raises(ValueError, match=f'"{format}" are of single precision'):
        lattice.write_staggered_propagator(path, propagator, "double", format)
    for wrong, words in ((np.nan, "no field may hold"), (1e39, "single precision cannot hold")):
        damaged = propagator.astype(complex)
        damaged[1, 2, 1, 4, 2, 0] = wrong
        with pytest.raises(ValueError, match=rf"\(1, 2, 1, 4\) is .*, which {words}"):
            lattice.write_staggered_propagator(path, damaged, format=format)
    assert path.read_bytes() == ours


# ---- files that other codes wrote ----------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "format", "known"),
    [
        ("conf48.0000", "ildg", {"mean": (0.6069403203, 5e-11)}),
        (
            "lat.sample.l4444",
            "milc",
            {"s": (1.7946751560761731, 1e-13), "t": (1.7744257976067317, 1e-13)},
        ),
        ("lat.sample.l4448.gf", "milc", {"s": (1.72374831, 5e-9), "t": (1.69058604, 6e-9)}),
        ("lat.sample.l8", "scidac", {"s": (2.62039787107, 1e-11), "t": (2.62144737541, 1e-11)}),
        ("t_nersc.cfg", "nersc", {"mean": (0.0382422893, 1e-10)}),
    ],
)
def test_plaquettes_of_others(name, format, known):
    links, info = lattice.read_links(real(name))
    planes = files.plaquettes(links)
    found = {
        "s": 3 * np.mean([planes[p] for p in ("xy", "xz", "yz")]),
        "t": 3 * np.mean([planes[p] for p in ("xt", "yt", "zt")]),
        "mean": np.mean(list(planes.values())),
    }
    assert info.format == format
    for key, (value, digits) in known.items():
        assert found[key] == pytest.approx(value, abs=digits)


@pytest.mark.parametrize(
    ("name", "norm"),
    [("ksvector.src.sample.l8", 6903550.72648), ("ksvector.ans.Minv.sample.l8", 12219.20941)],
)
def test_colour_vectors_of_milc(name, norm, tmp_path):
    vector, info = lattice.read_colour_vector(real(name))
    assert (info.kind, info.extent) == ("colour vector", (8, 8, 8, 8))
    assert (abs(vector) ** 2).sum() == pytest.approx(norm, abs=5e-6)
    again = tmp_path / "again"
    lattice.write_colour_vector(again, vector, "single")
    ours, theirs = (
        next(data for kind, _, _, data in files.lime_records(blob) if kind == "scidac-binary-data")
        for blob in (again.read_bytes(), real(name).read_bytes())
    )
    assert ours == theirs
    assert lattice.read_info(again)[0].checksum == info.checksum


def test_a_staggered_propagator_of_milc(tmp_path):
    """Propagator of a point: at the origin the sink's colour is mostly the source's."""
    propagator, info = lattice.read_staggered_propagator(real("ksprop_fm.sample.l4448.ll"))
    assert (info.format, info.extent, info.byte_order) == ("fermilab", (4, 4, 4, 8), "little")
    again = tmp_path / "again"
    lattice.write_staggered_propagator(again, propagator, format="fermilab")
    assert again.read_bytes()[8:] == real("ksprop_fm.sample.l4448.ll").read_bytes()[8:]  # the time
    origin = abs(propagator[0, 0, 0, 0])
    assert origin.diagonal().min() > 4 * (origin - np.diag(origin.diagonal())).max()


def test_spinors_of_tmlqcd():
    for name, extent in (
        ("source48_u.00.inverted", (4, 4, 4, 8)),
        ("source.9999.01.00.inverted", (4, 4, 4, 4)),
    ):
        spinor, info = lattice.read_spinor(real(name))
        assert (info.format, info.extent) == ("etmc", extent)
        assert np.isfinite(spinor).all()
