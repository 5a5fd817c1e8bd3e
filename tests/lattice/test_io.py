"""Gauge configurations and propagators in files: what others wrote, and what we write ourselves."""

import hashlib
import os
import re
import stat

import lattice_files as files
import numpy as np
import pytest

import cubc
from cubc import lattice


@pytest.fixture(scope="module")
def weak_field():
    return lattice.read_links(files.WEAK_FIELD)


def wrote(tmp_path, blob):
    path = tmp_path / "configuration"
    path.write_bytes(blob)
    return path


def distance_from_su3(u):
    unitary = np.abs(u @ u.conj().swapaxes(-1, -2) - np.eye(3)).max()
    return max(unitary, np.abs(np.linalg.det(u) - 1).max())


# ---- a file of Chroma's -------------------------------------------------------------------------
def test_the_file_is_the_one_that_others_test_with():
    blob = files.WEAK_FIELD.read_bytes()
    digest = "de4de48d80869ed537432e237e7cdd99aae36b31f05e2e6f6b4d0b0bc3b28576"
    assert hashlib.sha256(blob).hexdigest() == digest
    assert [(kind, at) for kind, at, _, _ in files.lime_records(blob)] == [
        ("scidac-private-file-xml", 0),
        ("scidac-file-xml", 296),
        ("scidac-private-record-xml", 496),
        ("scidac-record-xml", 944),
        ("ildg-format", 1144),
        ("ildg-binary-data", 1608),
        ("scidac-checksum", 296664),
    ]


def test_what_it_says(weak_field):
    links, info = weak_field
    assert links.shape == (8, 4, 4, 4, 4, 3, 3)
    assert links.dtype == np.complex128
    assert links.flags.c_contiguous
    assert links.flags.writeable
    assert info == lattice.FileInfo(
        format="ildg",
        kind="links",
        extent=(4, 4, 4, 8),
        precision="double",
        rows=3,
        byte_order="big",
        checksum=(0xA2C41090, 0x11193C39),
        source=None,
        data_offset=1752,
        data_bytes=294912,
        plaquette=None,
        link_trace=None,
    )


def test_its_links_are_the_bytes_of_the_file(weak_field):
    blob = files.WEAK_FIELD.read_bytes()
    data = np.frombuffer(blob, ">c16", 294912 // 16, 1752)
    np.testing.assert_array_equal(weak_field[0].ravel(), data)
    assert files.scidac_sums(data.tobytes(), 512) == weak_field[1].checksum


def test_its_plaquettes(weak_field):
    links, _ = weak_field
    found = files.plaquettes(links)
    known = {
        "xy": 0.9947037332453218,
        "xz": 0.9949269574866808,
        "xt": 0.9946933200353529,
        "yz": 0.9947650442919065,
        "yt": 0.994854049218729,
        "zt": 0.9948816893222068,
    }
    assert found == pytest.approx(known, abs=1e-13)
    assert np.mean(list(found.values())) == pytest.approx(0.9948041322666996, abs=1e-13)
    trace = np.einsum("...ii", links).real.mean() / 3
    assert trace == pytest.approx(0.379449348715193, abs=1e-13)
    assert distance_from_su3(links) < 2e-15


def test_written_again_it_is_the_same(weak_field, tmp_path):
    links, info = weak_field
    path = tmp_path / "again.lime"
    lattice.write_links(path, links)
    again, said = lattice.read_links(path)
    np.testing.assert_array_equal(again, links)
    assert said.checksum == info.checksum
    old, new = (files.lime_records(p.read_bytes()) for p in (files.WEAK_FIELD, path))
    assert [(kind, flags) for kind, _, flags, _ in old] == [(k, flags) for k, _, flags, _ in new]
    same = {"scidac-private-file-xml", "ildg-format", "ildg-binary-data", "scidac-checksum"}
    bodies = {kind: data for kind, _, _, data in new}
    for kind, _, _, data in old:
        if kind in same:
            # The checksum's text and the links' order of attributes are ours; what they say is not.
            tags = re.findall(rb"<(\w+)>([^<]+)</", data)
            assert re.findall(rb"<(\w+)>([^<]+)</", bodies[kind]) == tags
    assert bodies["ildg-binary-data"] == files.WEAK_FIELD.read_bytes()[1752:296664]


def test_the_c_interface(weak_field):
    ffi, lib = cubc.ffi()
    opened = ffi.new("cubc_field_file **")
    assert lib.cubc_field_open(bytes(files.WEAK_FIELD), 0, opened) == lib.CUBC_OK
    info = lib.cubc_field_describe(opened[0], 0)
    assert lib.cubc_field_count(opened[0]) == 1
    assert lib.cubc_field_describe(opened[0], 1) == ffi.NULL
    assert (ffi.string(info.format), list(info.extent), info.bytes) == (
        b"ildg",
        [4, 4, 4, 8],
        294912,
    )
    out = np.empty(info.bytes // 16, complex)
    room = ffi.cast("void *", out.ctypes.data)
    assert lib.cubc_field_read(opened[0], 0, room, out.nbytes) == lib.CUBC_OK
    assert lib.cubc_field_read(opened[0], 0, room, out.nbytes - 16) == lib.CUBC_INVALID_ARGUMENT
    lib.cubc_field_close(opened[0])
    np.testing.assert_array_equal(out, weak_field[0].ravel())


# ---- every format -------------------------------------------------------------------------------
SHAPE = (3, 4, 1, 2)  # T, Z, Y, X


@pytest.mark.parametrize("precision", [64, 32])
@pytest.mark.parametrize(
    "write",
    [
        files.ildg,
        files.nersc,
        lambda u, p: files.nersc(u, p, "LITTLE"),
        lambda u, p: files.nersc(u, p, rows=2),
        lambda u, p: files.nersc(u, p, "LITTLE", rows=2),
        lambda u, p: files.nersc(u, p, "", rows=3).replace(b"IEEE%d" % p, b"IEEE%dbig" % p),
        lambda u, p: files.milc(u, "<"),
        lambda u, p: files.milc(u, ">"),
    ],
    ids=["ildg", "nersc", "nersc-le", "nersc-2", "nersc-2-le", "nersc-case", "milc", "milc-be"],
)
def test_what_numpy_wrote_is_read(write, precision, tmp_path):
    links = files.random_links(SHAPE, precision)
    path = wrote(tmp_path, write(links, precision))
    found, info = lattice.read_links(path, project=True)
    single = info.precision == "single"
    assert info.extent == SHAPE[::-1]
    assert np.abs(found - links).max() < (2e-7 if single else 2e-15)
    assert distance_from_su3(found) < 2e-15
    if not single and info.rows == 3:
        np.testing.assert_array_equal(found, links)
    plain, _ = lattice.read_links(path, verify=False)
    if single and info.rows == 3:
        np.testing.assert_array_equal(plain, links.astype(np.complex64))
    stated = files.plaquettes(links)
    if info.format == "nersc":
        assert info.plaquette == pytest.approx(np.mean(list(stated.values())), abs=1e-9)


@pytest.mark.parametrize("threads", ["1", "7"])
@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize(("format", "rows"), [("ildg", 3), ("nersc", 3), ("nersc", 2)])
def test_what_we_write_is_read(format, rows, precision, threads, tmp_path, monkeypatch):
    """More than one chunk of 1 MiB of sites, by one thread and by several."""
    monkeypatch.setenv("CUBC_CPU_THREADS", threads)
    links = files.random_links((16, 8, 8, 7), 1)
    path = tmp_path / "links"
    lattice.write_links(path, links, format, precision, rows)
    found, info = lattice.read_links(path)
    assert (info.format, info.precision, info.rows) == (format, precision, rows)
    assert np.abs(found - links).max() < (2e-7 if precision == "single" else 2e-15)
    if precision == "double" and rows == 3:
        np.testing.assert_array_equal(found, links)
    again = tmp_path / "again"
    lattice.write_links(again, links, format, precision, rows)
    assert again.read_bytes() == path.read_bytes()
    if format == "nersc":
        mean = np.mean(list(files.plaquettes(links).values()))
        assert info.plaquette == pytest.approx(mean, abs=1e-13)
        assert info.link_trace == pytest.approx(np.einsum("...ii", links).real.mean() / 3)


def test_what_we_write_is_read_by_numpy(tmp_path):
    links = files.random_links(SHAPE)
    path = tmp_path / "links"
    for precision, kind in (("double", ">c16"), ("single", ">c8")):
        lattice.write_links(path, links, precision=precision)
        bodies = {kind: data for kind, _, _, data in files.lime_records(path.read_bytes())}
        data = bodies["ildg-binary-data"]
        np.testing.assert_array_equal(np.frombuffer(data, kind), links.astype(kind).ravel())
        a, b = files.scidac_sums(data, links[..., 0, 0, 0].size)
        assert f"<suma>{a:x}</suma><sumb>{b:x}</sumb>".encode() in bodies["scidac-checksum"]
        lattice.write_links(path, links, "nersc", precision)
        header, data = path.read_bytes().split(b"END_HEADER\n")
        np.testing.assert_array_equal(np.frombuffer(data, kind), links.astype(kind).ravel())
        total = int(np.frombuffer(data, ">u4").astype(np.uint64).sum()) & 0xFFFFFFFF
        assert f"CHECKSUM = {total:08x}\n".encode() in header


@pytest.mark.parametrize("precision", ["double", "single"])
def test_propagators(precision, tmp_path):
    propagator = files.random_propagator((4, 3, 2, 5))
    path = tmp_path / "propagator.lime"
    lattice.write_propagator(path, propagator, precision)
    found, info = lattice.read_propagator(path)
    expected = propagator if precision == "double" else propagator.astype(np.complex64)
    np.testing.assert_array_equal(found, expected)
    assert (info.format, info.kind, info.extent) == ("scidac", "propagator", (5, 2, 3, 4))
    kinds = [kind for kind, _, _, _ in files.lime_records(path.read_bytes())]
    assert "scidac-binary-data" in kinds
    assert "ildg-format" not in kinds
    with pytest.raises(ValueError, match=r"holds a propagator, not links.*read_propagator"):
        lattice.read_links(path)
    with pytest.raises(ValueError, match=r"holds links, not a propagator.*read_links"):
        lattice.read_propagator(files.WEAK_FIELD)


def test_a_scidac_file_of_links(tmp_path):
    links = files.random_links(SHAPE)
    blob = files.ildg(links, ildg_format=None)
    path = wrote(tmp_path, blob.replace(b"ildg-binary-data\0\0", b"scidac-binary-data"))
    found, info = lattice.read_links(path)
    np.testing.assert_array_equal(found, links)
    assert info.format == "scidac"


# ---- projection ---------------------------------------------------------------------------------
def test_projection_is_to_the_nearest(tmp_path):
    """Against the polar decomposition, from errors a hundred times those of single precision."""
    links = files.random_links(SHAPE)
    rng = np.random.default_rng(2)
    noise = rng.normal(size=links.shape) + 1j * rng.normal(size=links.shape)
    near = (links + 3e-6 * noise).astype(np.complex64)
    found, _ = lattice.read_links(wrote(tmp_path, files.ildg(near, 32)), project=True)
    v, _, w = np.linalg.svd(near.astype(np.complex128))
    polar = v @ w
    polar /= np.linalg.det(polar)[..., None, None] ** (1 / 3)
    assert np.abs(found - polar).max() < 1e-9  # the square of what was wrong
    assert np.abs(near - polar).max() > 1e-6
    assert distance_from_su3(found) < 2e-15


def test_smeared_links_are_not_projected(tmp_path):
    links = files.random_links(SHAPE)
    links[2, 1, 0, 1, 3] *= 0.9
    path = wrote(tmp_path, files.ildg(links, 32))
    with pytest.raises(OSError, match=r"link 3 of site .* = \(2, 1, 0, 1\) is 0.27 away from SU"):
        lattice.read_links(path, project=True)
    found, _ = lattice.read_links(path)
    np.testing.assert_array_equal(found, links.astype(np.complex64))
    double = wrote(tmp_path, files.ildg(links))
    np.testing.assert_array_equal(lattice.read_links(double)[0], links)
    with pytest.raises(ValueError, match=r"link 3 of site .* two rows do not hold it"):
        lattice.write_links(double, links, "nersc", rows=2)


# ---- writing ------------------------------------------------------------------------------------
def test_arguments(tmp_path):
    links, path = files.random_links(SHAPE), tmp_path / "links"
    for wrong in (links[0], links[..., :2], links[..., None], np.zeros((0, 1, 1, 1, 4, 3, 3))):
        with pytest.raises(ValueError, match=r"shape|must be positive"):
            lattice.write_links(path, wrong)
    with pytest.raises(ValueError, match="precision is 'half'"):
        lattice.write_links(path, links, precision="half")
    expected = r'format is "npy", .*\(links\) one of "ildg", "scidac", "nersc", "milc"'
    with pytest.raises(ValueError, match=expected):
        lattice.write_links(path, links, "npy")
    with pytest.raises(ValueError, match='files of format "milc" are of single precision'):
        lattice.write_links(path, links, "milc", "double")
    with pytest.raises(ValueError, match="rows is 2, must be 3, or 2 of a NERSC file"):
        lattice.write_links(path, links, rows=2)
    for bad, words in ((np.nan, "no field may hold"), (1e300, "single precision cannot hold")):
        wrong = links.copy()
        wrong[1, 2, 0, 1, 2, 0, 0] = bad
        with pytest.raises(ValueError, match=rf"link 2 of site .* \(1, 2, 0, 1\) .*{words}"):
            lattice.write_links(path, wrong, precision="single")
    assert list(tmp_path.iterdir()) == []  # nothing half-written is left
    lattice.write_links(str(path), links[:, ::-1])  # a view is copied
    np.testing.assert_array_equal(lattice.read_links(str(path))[0], links[:, ::-1])


def test_a_failed_write_leaves_the_old_file(tmp_path):
    links, path = files.random_links(SHAPE), tmp_path / "links"
    lattice.write_links(path, links)
    path.chmod(0o640)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="no field may hold"):
        lattice.write_links(path, np.full_like(links, np.inf))
    assert path.read_bytes() == before
    link = tmp_path / "link"
    link.symlink_to(path)
    lattice.write_links(link, links, "nersc")
    assert link.is_symlink()
    assert path.read_bytes().startswith(b"BEGIN_HEADER")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "links"]


def test_a_link_to_a_file_that_is_not_there_yet_stays(tmp_path):
    links, folder = files.random_links(SHAPE), tmp_path / "scratch"
    folder.mkdir()
    (tmp_path / "link").symlink_to("other")
    (tmp_path / "other").symlink_to("scratch/links")
    (tmp_path / "loop").symlink_to("loop")
    lattice.write_links(tmp_path / "link", links)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "other").is_symlink()
    assert [path.name for path in folder.iterdir()] == ["links"]
    np.testing.assert_array_equal(lattice.read_links(folder / "links")[0], links)
    with pytest.raises(OSError, match="symbolic links"):
        lattice.write_links(tmp_path / "loop", links)
    assert (tmp_path / "loop").is_symlink()


def test_only_regular_files_are_replaced(tmp_path):
    links = files.random_links(SHAPE)
    pipe = tmp_path / "pipe"  # never one of /dev, which root could replace if the check were gone
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="something else than a regular file"):
        lattice.write_links(pipe, links)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with pytest.raises(OSError, match="something else than a regular file"):
        lattice.write_links(tmp_path, links)
    with pytest.raises(OSError, match="cannot make a file in its folder: No such file"):
        lattice.write_links(tmp_path / "none/links", links)
