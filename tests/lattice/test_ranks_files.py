"""Files over ranks: each reads and writes its part, with bytes and checksums of one rank."""

import os
import re
import resource
import signal
import time
from pathlib import Path

import lattice_files as files
import numpy as np
import pytest
import ranks

from cubc import lattice
from cubc.lattice import _gauge_write

PART = (2, 4, 2, 4)  # X, Y, Z, T of a rank
GRIDS = {
    2: [((1, 1, 1, 2), ""), ((1, 1, 2, 1), "y"), ((1, 2, 1, 1), "")],
    4: [((1, 1, 1, 4), ""), ((1, 1, 2, 2), ""), ((1, 2, 2, 1), "t")],
}
REAL = Path(__file__).resolve().parents[3] / "shared/data/fields"
REAL_LINKS = {"conf48.0000": 4, "lat.sample.l4448.gf": 2, "lat.sample.l8": 4, "t_nersc.cfg": 2}
SITES = {
    "spinor": (4, 3),
    "propagator": (4, 4, 3, 3),
    "staggered_propagator": (3, 3),
    "colour_vector": (3,),
}


def shape_of(grid):
    """T, Z, Y, X of the whole lattice."""
    return tuple(e * n for e, n in zip(PART, grid, strict=True))[::-1]


def field_of(shape, site, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(*shape, *site)) + 1j * rng.normal(size=(*shape, *site))


def raised(work):
    """The error of this rank, as text."""
    try:
        work()
    except (OSError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def only(folder):
    """The names in a folder."""
    return sorted(path.name for path in folder.iterdir())


# ---- what ranks read is what was written --------------------------------------------------------
def read_all_formats(comm):
    for shape, cut in GRIDS[comm.size]:
        grid = lattice.Grid(shape, comm, cut=cut)
        links = files.random_links(shape_of(shape))
        single = links.astype(np.complex64)
        made = {
            "ildg": (files.ildg(links), links),
            "ildg32": (files.ildg(single, precision=32), single),
            "nersc": (files.nersc(links), links),
            "nersc rows": (files.nersc(links, rows=2), links),
            "milc": (files.milc(single, order=">"), single),
            "openqcd": (files.openqcd(links), links),
            "ddalphaamg": (files.ddalphaamg(links, order=">"), links),
            "tmlqcd": (files.tmlqcd(links), links),
        }
        for name, (blob, expected) in made.items():
            path = comm.folder / name
            if comm.rank == 0:
                path.write_bytes(blob)
            comm.allgather(None)
            found = lattice.read_gauge(path, grid=grid)
            assert found.grid is grid and found.device == grid.device
            part = grid.part(np.asarray(expected, complex))
            np.testing.assert_allclose(found.links().numpy(), part, rtol=0, atol=1e-14)
            projected = lattice.read_gauge(path, grid=grid, project=True)
            assert max(projected.unitarity()) < 1e-14
        comm.allgather(None)


@pytest.mark.parametrize("size", GRIDS)
def test_ranks_read_their_parts(tmp_path, size):
    ranks.run(size, read_all_formats, tmp_path)


def bytes_read():
    """Bytes that this process has read so far."""
    return int(re.search(r"rchar: (\d+)", Path("/proc/self/io").read_text())[1])


def read_and_count(comm):
    """The first rank reads headers besides, and the messages of the others are files here."""
    spinor = field_of(shape_of((1, 2, 2, 8)), (4, 3))
    path = comm.folder / "spinor"
    grid = lattice.Grid((1, 2, 1, 2), comm)
    lattice.write_spinor(path, grid.part(spinor), grid=grid)
    comm.allgather(None)
    before = bytes_read()
    found = lattice.read_spinor(path, grid=grid)[0]
    read = bytes_read() - before
    np.testing.assert_array_equal(found, grid.part(spinor))
    assert found.nbytes < read < 1.5 * found.nbytes
    assert 4 * found.nbytes < path.stat().st_size


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="there is no /proc/self/io")
def test_a_rank_reads_its_part_alone(tmp_path):
    ranks.run(4, read_and_count, tmp_path)


def read_real(comm):
    grid = lattice.Grid((1, 1, 1, comm.size), comm)
    for name in REAL_LINKS:
        expected, info = lattice.read_links(REAL / name)
        found = lattice.read_gauge(REAL / name, grid=grid)
        np.testing.assert_array_equal(found.links().numpy(), grid.part(expected))
        assert found.extent == (*info.extent[:3], info.extent[3] // comm.size)
    expected = lattice.read_staggered_propagator(REAL / "ksprop_fm.sample.l4448.ll")[0]
    found, info = lattice.read_staggered_propagator(REAL / "ksprop_fm.sample.l4448.ll", grid=grid)
    np.testing.assert_array_equal(found, grid.part(expected))
    assert info.extent == (4, 4, 4, 8)


@pytest.mark.skipif(not REAL.exists(), reason="../shared/data/fields is not there")
def test_ranks_read_files_of_other_codes(tmp_path):
    ranks.run(2, read_real, tmp_path)


# ---- the bytes of one rank ----------------------------------------------------------------------
def write_all_formats(comm):
    one, several = comm.folder / "one", comm.folder / "several"
    for shape, cut in GRIDS[comm.size]:
        grid = lattice.Grid(shape, comm, cut=cut)
        links = files.random_links(shape_of(shape))
        gauge = lattice.Gauge(grid.part(links), grid=grid)
        fields = {name: field_of(shape_of(shape), site) for name, site in SITES.items()}
        for format in ("ildg", "scidac", "nersc", "milc"):
            for precision in ("double", "single") if format != "milc" else (None,):
                gauge.write(several, format, precision)
                if comm.rank == 0:
                    lattice.write_links(one, links, format, precision)
                    assert several.read_bytes() == one.read_bytes(), format
                comm.allgather(None)
        for name, field in fields.items():
            write = getattr(lattice, f"write_{name}")
            read = getattr(lattice, f"read_{name}")
            formats = ("scidac", "milc-prop", "fermilab") if name.startswith("stag") else (None,)
            for format in formats:
                given = {"format": format} if format else {}
                write(several, grid.part(field), grid=grid, **given)
                if comm.rank == 0:
                    write(one, field, **given)
                    assert several.read_bytes() == one.read_bytes(), (name, format)
                comm.allgather(None)
                found = read(several, grid=grid)[0]
                np.testing.assert_array_equal(found, grid.part(read(several)[0]))
        columns = [comm.folder / f"column{k}" for k in range(12)]
        if comm.rank == 0:
            for k, path in enumerate(columns):
                path.write_bytes(files.etmc(fields["propagator"][..., k // 3, :, k % 3]))
        comm.allgather(None)
        found = lattice.read_propagator(columns, grid=grid)[0]
        np.testing.assert_array_equal(found, grid.part(fields["propagator"]))
        comm.allgather(None)
    if comm.rank == 0:
        assert not [name for name in only(comm.folder) if name.endswith(".part")]


@pytest.mark.parametrize("size", GRIDS)
def test_ranks_write_the_bytes_of_one(tmp_path, size):
    ranks.run(size, write_all_formats, tmp_path)


def test_ranks_of_a_process(tmp_path):
    shape, devices = (1, 1, 1, 2), ["cpu", "cpu:1"]
    links = files.random_links(shape_of(shape))
    gauge = lattice.Gauge(links, grid=shape, devices=devices)
    for format in ("ildg", "nersc"):
        gauge.write(tmp_path / "several", format)
        lattice.write_links(tmp_path / "one", links, format)
        assert (tmp_path / "several").read_bytes() == (tmp_path / "one").read_bytes()
        found = lattice.read_gauge(tmp_path / "one", grid=shape, devices=devices)
        assert found.device == "cpu, cpu:1"
        np.testing.assert_array_equal(found.links().numpy(), links)
    blob = bytearray((tmp_path / "one").read_bytes())
    blob[-5] ^= 1  # in the part of the second rank
    (tmp_path / "one").write_bytes(blob)
    with pytest.raises(OSError, match="its checksum is"):
        lattice.read_gauge(tmp_path / "one", grid=shape, devices=devices)


# ---- what goes wrong on one rank goes wrong on all ----------------------------------------------
def read_damaged(comm):
    """Each rank says how it failed, on each file."""
    grid = lattice.Grid((1, 1, 1, comm.size), comm)
    shape = shape_of(grid.grid)
    links = files.random_links(shape)
    last = links.copy()
    last[-1, -1, -1, -1, 3, 2, 2] = np.nan  # in the part of the last rank
    far = links.copy()
    far[-1, -1, -1, -1, 3] *= 1.1
    whole = files.ildg(links)
    flipped = bytearray(files.nersc(links))
    flipped[-3] ^= 64
    made = {
        "absent": None,
        "truncated": whole[: len(whole) - 5000],
        "flipped": bytes(flipped),
        "nan": files.ildg(last),
        "far": files.ildg(far),
        "plaquette": files.openqcd(links, plaquette=3 * (files.mean_plaquette(links) + 1e-4)),
        "other kind": files.scidac(field_of(shape, (4, 3))),
    }
    said = {}
    for name, blob in made.items():
        path = comm.folder / name
        if comm.rank == 0 and blob is not None:
            path.write_bytes(blob)
        comm.allgather(None)
        said[name] = raised(lambda path=path: lattice.read_gauge(path, grid=grid))
    lattice.read_gauge(comm.folder / "flipped", grid=grid, verify=False)
    gauge = lattice.Gauge(grid.part(links), grid=grid)  # the ranks are of use still
    gauge.write(comm.folder / "good")
    found = lattice.read_gauge(comm.folder / "good", grid=grid)
    np.testing.assert_array_equal(found.links().numpy(), grid.part(links))
    print(said)


def test_damaged_files_are_errors_of_all_ranks(tmp_path):
    said = [eval(text.strip().splitlines()[-1]) for text in ranks.run(2, read_damaged, tmp_path)]
    expected = {
        "absent": "FileNotFoundError.*absent",
        "truncated": "OSError: .*truncated",
        "flipped": "OSError: .*its checksum is [0-9a-f]+, the header says",
        "nan": r"OSError: .*nan at byte .*site \(t, z, y, x\) = \(7, 1, 3, 1\)",
        "far": "ValueError: .*far: the links are not in SU",
        "plaquette": "OSError: .*the plaquette is .* the header says",
        "other kind": "ValueError: .*it holds a spinor, not links",
    }
    for name, says in expected.items():
        for rank, one in enumerate(said):
            assert re.match(says.replace(": ", ": (rank 1 of 2: )?", 1), one[name]), (rank, one)
    for name in ("nan", "far"):  # which only the second rank sees
        assert "rank 1 of 2: " in said[0][name] and "rank" not in said[1][name]


def fail_to_write(comm):
    """The second rank has a number that is none, and then a disk that is full."""
    grid = lattice.Grid((1, 1, 1, comm.size), comm)
    links = files.random_links(shape_of(grid.grid))
    gauge = lattice.Gauge(grid.part(links), grid=grid)
    path = comm.folder / "files/links"
    spinor = field_of(PART[::-1], (4, 3))
    if comm.rank == 1:
        spinor[1, 0, 0, 0, 2, 1] = np.nan
    said = [raised(lambda: lattice.write_spinor(path, spinor, grid=grid))]
    fewer, other = (spinor[:2], spinor[..., :2]) if comm.rank == 1 else (spinor, spinor)
    said += [raised(lambda x=x: lattice.write_spinor(path, x, grid=grid)) for x in (fewer, other)]
    comm.allgather(None)
    said.append(only(path.parent))
    comm.allgather(None)  # nobody writes while others look
    # Shares the memory that ranks reach and compiles kernels: a file's limit is for them, too.
    gauge.plaquette()
    gauge.write(comm.folder / "before", "nersc")
    if comm.rank == 1:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, resource.RLIM_INFINITY))
    said += [raised(lambda f=format: gauge.write(path, f)) for format in ("ildg", "nersc")]
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    comm.allgather(None)
    said.append(only(path.parent))
    comm.allgather(None)  # nobody writes while others look
    gauge.write(path)
    comm.allgather(None)
    said.append(only(path.parent))
    comm.allgather(None)  # nobody writes while others look
    print(said)


def test_a_rank_that_fails_while_it_writes(tmp_path):
    (tmp_path / "files").mkdir()
    said = [eval(text.strip().splitlines()[-1]) for text in ranks.run(2, fail_to_write, tmp_path)]
    for rank, (nan, fewer, other, after, *full, later, last) in enumerate(said):
        assert "ValueError: " in fewer and "rank 1 gives another part" in fewer
        expected = r"ValueError: .*rank 1 of 2: .*NULL", "ValueError: .*complex128 array of shape"
        assert re.search(expected[rank], other)
        assert re.search(r"ValueError: .*\(t, z, y, x\) = \(5, 0, 0, 0\) is nan", nan), rank
        for one in full:
            assert re.search(f"OSError: .*cannot write at byte .*{os.strerror(27)}", one), rank
        assert (after, later, last) == ([], [], ["links"])
    assert "rank 1 of 2" in said[0][0] and "rank 1 of 2" in said[0][4]


def refuse_on_the_second(comm):
    """The second rank refuses its arguments, or has no room, before its part is asked for."""
    grid = lattice.Grid((1, 1, 1, comm.size), comm)
    gauge = lattice.Gauge.unit(shape_of(grid.grid)[::-1], grid=grid)
    path, second = comm.folder / "links", comm.rank == 1
    precision = "half" if second else "double"
    spinor = field_of(PART[::-1], (4, 3))
    gauge.write(path, "nersc")  # compiles
    begun = time.monotonic()
    said = [raised(lambda: gauge.write(path, "nersc", precision))]
    said.append(raised(lambda: lattice.write_spinor(path, spinor, precision, grid=grid)))
    around = _gauge_write._links_around

    def no_room(gauge):
        around(gauge)
        raise OSError("no room")

    if second:
        _gauge_write._links_around = no_room
    said.append(raised(lambda: gauge.write(path, "nersc")))
    waited = time.monotonic() - begun
    _gauge_write._links_around = around
    gauge.write(path, "nersc")
    print((said, waited))


def test_what_one_rank_refuses_is_an_error_of_all_at_once(tmp_path):
    texts = ranks.run(2, refuse_on_the_second, tmp_path)
    for rank, text in enumerate(texts):
        said, waited = eval(text.strip().splitlines()[-1])
        assert waited < 15  # less than ranks wait for each other
        for one, says in zip(said, ["'half'", "'half'", "no room"], strict=True):
            assert says in one and ("rank 1 of 2: " in one) == (rank == 0)


def write_nowhere(comm):
    """The first rank can make no file."""
    grid = lattice.Grid((1, 1, 1, comm.size), comm)
    gauge = lattice.Gauge.unit(tuple(shape_of(grid.grid)[::-1]), grid=grid)
    print(raised(lambda: gauge.write(comm.folder / "absent/links")))


def test_a_folder_that_there_is_not(tmp_path):
    for text in ranks.run(2, write_nowhere, tmp_path):
        assert re.search(f"OSError: .*cannot make a file.*{os.strerror(2)}", text)


def test_what_is_no_grid(tmp_path):
    lattice.write_spinor(tmp_path / "s", np.ones((2, 2, 2, 2, 4, 3), complex))
    with pytest.raises(TypeError, match="grid is a tuple: expected a Grid"):
        lattice.read_spinor(tmp_path / "s", grid=(1, 1, 1, 2))
    alone = lattice.Grid(device="cpu")
    assert lattice.read_spinor(tmp_path / "s", grid=alone)[0].shape == (2, 2, 2, 2, 4, 3)
