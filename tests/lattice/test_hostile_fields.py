"""Lattice files that are damaged or made to do damage: an error that says where, and no more."""

import os
import re
import struct
import time
import tracemalloc

import lattice_files as files
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cubc import lattice

LINKS = files.random_links((2, 1, 3, 2))
SEEDS = {
    "ildg": files.ildg(LINKS),
    "ildg-single": files.ildg(LINKS, 32),
    "nersc": files.nersc(LINKS),
    "nersc-2": files.nersc(LINKS, 32, "LITTLE", rows=2),
    "milc": files.milc(LINKS),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "configuration"


def refuses(path, blob, *words, **options):
    """It raises OSError with all the words, and takes no more memory than the file justifies."""
    path.write_bytes(blob)
    tracemalloc.start()
    with pytest.raises(OSError) as caught:
        lattice.read_links(path, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    message = str(caught.value)
    assert message.startswith(f"read_links(): {path}: ")
    for word in words:
        assert word in message
    assert re.search(r"at byte \d+|first bytes", message), message
    assert peak < 3 * len(blob) + 200_000


def data_at(blob):
    return next(at for kind, at, _, _ in files.lime_records(blob) if kind == "ildg-binary-data")


# ---- LIME ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("length", [0, 1, 3, 4, 143, 144, 200, -1, -8, -1000])
@pytest.mark.parametrize("name", SEEDS)
def test_truncated(name, length, path):
    refuses(path, SEEDS[name][:length])


@pytest.mark.parametrize(
    "length", [2**63, 2**64 - 1, 2**64 - 8, 2**64 - 2000, 2**63 - 1, 2**62, 1 << 40]
)
def test_lengths_that_the_file_does_not_have(length, path):
    blob = bytearray(SEEDS["ildg"])
    at = data_at(blob)
    blob[at + 8 : at + 16] = struct.pack(">Q", length)
    refuses(path, bytes(blob), f"'ildg-binary-data' at byte {at}")


def test_headers(path):
    blob = SEEDS["ildg"]
    at = data_at(blob)
    for offset, new, words in (
        (0, b"XXXX", "begins with 58585858 and not with LIME's 456789ab"),
        (5, b"\7", "version 7"),
        (16, b"\n\xff\0", "'scidac-checksum'"),
    ):
        damaged = bytearray(blob)
        damaged[at + offset : at + offset + len(new)] = new
        refuses(path, bytes(damaged), "record 4 " if offset < 16 else "record 5 ", words)
    refuses(path, blob + b"\0" * 7, "record 6", "are not there", f"at byte {len(blob)}")
    refuses(path, blob + b"\0" * 144, "begins with 00000000", f"at byte {len(blob)}")
    loose = files.lime_record("ildg-binary-data", b"", 0)
    refuses(path, loose, "record 1 'ildg-binary-data' at byte 0", "there is no record ildg-format")
    none = files.lime_record("scidac-record-xml", b"<a/>", 0)
    refuses(path, none, "1 records, the last ending at byte 148", "none of type ildg-binary-data")
    ends = blob.replace(struct.pack(">HH", 1, 0x4000), struct.pack(">HH", 1, 0))
    refuses(path, ends, "within its message: it is truncated")
    flood = files.lime_record("x", b"", 0xC000) * 10001
    refuses(path, flood, "more than 10000 records, at byte 1440000")


SPINOR = np.ones((2, 2, 2, 2, 4, 3), complex)


@pytest.mark.parametrize(
    ("blob", "words"),
    [
        (files.WEAK_FIELD.read_bytes(), "within its message: it is truncated"),
        (files.ildg(LINKS), "within its message: it is truncated"),
        (files.scidac(SPINOR, SPINOR), "within its message: it is truncated"),
        (files.tmlqcd(LINKS), "within its message: it is truncated"),
        (2 * files.tmlqcd(LINKS), "that fields before it have: it is truncated"),
        (files.etmc(SPINOR, SPINOR), "that fields before it have: it is truncated"),
    ],
    ids=["QIO", "ildg", "scidac", "tmlqcd", "two of tmlqcd", "two of etmc"],
)
def test_cut_before_the_last_checksum(blob, words, path):
    *_, (kind, at, _, _) = files.lime_records(blob)
    assert kind == "scidac-checksum"
    path.write_bytes(blob[:at])
    with pytest.raises(OSError, match=words):
        lattice.read_info(path)
    assert lattice.read_info(path, verify=False)[-1].checksum is None
    path.write_bytes(blob)
    assert lattice.read_info(path)[-1].checksum


def test_unverified_it_is_what_can_be_read(path):
    blob = bytearray(SEEDS["ildg"] + b"\0" * 7)
    at = data_at(SEEDS["ildg"]) + 144
    blob[at : at + 8] = struct.pack(">d", np.nan)
    path.write_bytes(bytes(blob))
    links, info = lattice.read_links(path, verify=False)
    assert np.isnan(links.flat[0].real)
    np.testing.assert_array_equal(links.flat[1:], LINKS.flat[1:])
    assert info.checksum is None  # not even looked at


def test_a_malformed_record_behind_a_good_one(path):
    """Its extents do not mix with those of the other, which would swap axes."""
    field = np.zeros((2, 2, 2, 4, 4, 3), complex)
    good, *rest = (*files.scidac_file(field.shape[:4]), *files.scidac_field(field))
    kind, flags, _ = good
    bad = b"<scidacFile><spacetime>4</spacetime><dims>2 4 2</dims><volfmt>0</volfmt></scidacFile>"
    refuses(path, files.join([good, (kind, flags, bad), *rest]), '<dims> is "2 4 2"')


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"ildg_format": None}, "there is no record ildg-format"),
        ({"ildg_binary_data": None}, "there is no field before it whose checksums these could be"),
        (
            {"ildg_binary_data": None, "scidac_checksum": None},
            "within its message: it is truncated",
        ),
        ({"ildg_binary_data": b""}, "0 bytes, but a lattice of 2 x 3 x 1 x 2 sites"),
        ({"ildg_format": ""}, "has 0 elements <precision>, expected one"),
        ({"ildg_format": "<a><field>su3gauge</field><field>u1</field></a>"}, "has 2 elements"),
        ({"ildg_format": "<field>u1gauge</field>"}, '<field> is "u1gauge"'),
        ({"ildg_format": "<field>su3gauge</field><precision>16</precision>"}, "is 16, expected 32"),
        ({"ildg_format": "<field>su3gauge</field"}, "<field> holds something else than a text"),
        ({"ildg_format": "<field"}, "has 0 elements <precision>"),
        ({"ildg_format": "<field "}, "the tag <field> is not closed"),
        ({"ildg_format": f"<field>{'x' * 5000}</field>"}, "holds 5000 characters"),
        ({"ildg_format": "x" * 70000}, "70000 bytes, expected a text of at most"),
        ({"scidac_checksum": "<suma>1</suma>"}, "has 0 elements <sumb>"),
        ({"scidac_checksum": "<suma>100000000</suma><sumb>0</sumb>"}, '<suma> is "100000000"'),
        ({"scidac_checksum": "<suma>-1</suma><sumb>0</sumb>"}, '<suma> is "-1"'),
        ({"scidac_private_file_xml": "<spacetime>4</spacetime><dims>2 3 1</dims>"}, "2 3 1"),
        ({"scidac_private_file_xml": "<spacetime>5</spacetime><dims>2 3 1 2</dims>"}, "of 5"),
        (
            {"scidac_private_file_xml": "<spacetime>4</spacetime><dims>3 2 1 2</dims>"},
            "extent 1 is 3 in scidac-private-file-xml and 2 in ildg-format",
        ),
        (
            {
                "scidac_private_file_xml": "<spacetime>4</spacetime><dims>2 3 1 2</dims>"
                "<volfmt>1</volfmt>"
            },
            "spread over several files",
        ),
        (
            {
                "scidac_private_record_xml": "<precision>F</precision><typesize>72</typesize>"
                "<datacount>4</datacount>"
            },
            "288 bytes a site in 32 bits",
        ),
        (
            {
                "scidac_private_record_xml": "<precision>Q</precision><typesize>72</typesize>"
                "<datacount>4</datacount>"
            },
            '<precision> is "Q"',
        ),
    ],
)
def test_records_that_do_not_fit(change, words, path):
    refuses(path, files.ildg(LINKS, **change), words)


def extents(x, y, z, t):
    return (
        "<field>su3gauge</field><precision>64</precision>"
        f"<lx>{x}</lx><ly>{y}</ly><lz>{z}</lz><lt>{t}</lt>"
    )


@pytest.mark.parametrize(
    "sizes",
    [
        (2, 3, 1, 3),
        (2, 3, 1, 1),
        (65536, 65536, 65536, 65536),  # 0 modulo 2^64
        (2147483647, 2147483647, 2147483647, 2147483647),
        (2147483648, 1, 1, 1),
        (1 << 62, 3, 1, 2),
        (10**30, 3, 1, 2),
        (0, 3, 1, 2),
        (-2, -3, 1, 2),
        ("2.0", 3, 1, 2),
        ("0x2", 3, 1, 2),
        ("", 3, 1, 2),
        ("2 2", 3, 1, 2),
        ("&two;", 3, 1, 2),
    ],
)
def test_dimensions_that_the_file_does_not_have(sizes, path):
    blob = files.ildg(LINKS, ildg_format=extents(*sizes), scidac_private_file_xml=None)
    refuses(path, blob)


BILLION_LAUGHS = (
    '<!DOCTYPE lolz [<!ENTITY lol "lol">'
    + "".join(f'<!ENTITY lol{k} "{f"&lol{k - 1};" * 10}">' for k in range(1, 10))
    + "]><ildgFormat><field>&lol9;</field></ildgFormat>"
)


@pytest.mark.parametrize(
    "bomb",
    [
        BILLION_LAUGHS,
        '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>',
        "<![CDATA[<field>su3gauge</field>]]>",
        "<a>" * 20000,
        "<" * 65000,
        "<field" * 10000,
        "<!--" * 16000,
        "<field>" * 9000,
    ],
)
def test_bombs(bomb, path):
    begin = time.process_time()
    refuses(path, files.ildg(LINKS, ildg_format=bomb), "record 3 'ildg-format' at byte ")
    assert time.process_time() - begin < 1


def test_comments_are_no_elements(path):
    text = "<!-- <lx>9</lx> --><?xml version='1.0'?>" + extents(" 2\n", 3, 1, 2)
    path.write_bytes(files.ildg(LINKS, ildg_format=text))
    assert lattice.read_links(path)[1].extent == (2, 3, 1, 2)
    for declared in ("<!DOCTYPE a>", "<![CDATA[x]]>"):
        text = declared + extents(2, 3, 1, 2)
        refuses(path, files.ildg(LINKS, ildg_format=text), "has a document type or marked section")


def test_a_second_field_that_nothing_describes(path):
    blob = SEEDS["ildg"]
    for kind, words in (
        ("ildg-binary-data", "8 bytes, but a lattice of 2 x 3 x 1 x 2 sites of 576 bytes has more"),
        ("scidac-binary-data", "8 bytes, but a lattice of 2 x 3 x 1 x 2 sites of 576 bytes"),
    ):
        again = files.lime_record(kind, b"12345678", 0xC000)
        refuses(path, blob + again, f"record 6 '{kind}'", words)
    checksum = files.lime_record("scidac-checksum", b"<suma>0</suma><sumb>0</sumb>", 0xC000)
    refuses(path, blob + checksum, "record 6 'scidac-checksum'", "no field before it")


# ---- numbers ------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SEEDS)
def test_every_bit_of_the_data_is_checked(name, path):
    blob = SEEDS[name]
    rng = np.random.default_rng(0)
    begin = len(blob) - 1000 if "ildg" not in name else data_at(blob) + 144
    for place in rng.integers(begin, begin + 600, 20):
        damaged = bytearray(blob)
        damaged[place] ^= 1 << int(rng.integers(8))
        refuses(path, bytes(damaged))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none(value, path):
    links = LINKS.copy()
    links[1, 0, 2, 1, 3, 2, 1] = complex(0, value)
    at = (
        data_at(SEEDS["ildg"]) + 144 + 16 * np.ravel_multi_index((1, 0, 2, 1, 3, 2, 1), LINKS.shape)
    )
    word = "nan" if np.isnan(value) else "an infinity"
    with np.errstate(invalid="ignore"):
        refuses(
            path,
            files.ildg(links),
            f"{word} at byte {at + 8}, in link 3 of site (t, z, y, x) = (1, 0, 2, 1)",
        )
        refuses(
            path,
            files.nersc(links, 32, PLAQUETTE=None, LINK_TRACE=None),
            "data at byte",
            word,
            "link 3",
        )
        refuses(path, files.milc(links), "data at byte 96", word, "link 3")


def test_checksums(path):
    blob = SEEDS["ildg"]
    a, b = files.scidac_sums(LINKS.astype(">c16").tobytes(), 12)
    wrong = blob.replace(f"<sumb>{b:x}".encode(), f"<sumb>{b ^ 1:x}".encode())
    refuses(path, wrong, f"its checksums are {a:08x} and {b:08x}, the file says", "record 4")
    refuses(path, files.milc(LINKS, sums=(1, 2)), "the file says 00000001 and 00000002")
    refuses(path, files.nersc(LINKS, CHECKSUM="abc"), "the header says 00000abc")
    # Without verification none of them is looked at.
    path.write_bytes(wrong)
    np.testing.assert_array_equal(lattice.read_links(path, verify=False)[0], LINKS)
    # A file without a checksum is no error: ILDG does not ask for one.
    path.write_bytes(blob.replace(b"scidac-checksum", b"scidac-nothing\0"))
    links, info = lattice.read_links(path)
    np.testing.assert_array_equal(links, LINKS)
    assert info.checksum is None


# ---- NERSC and MILC -----------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"DATATYPE": "4D_SU2_GAUGE"}, 'DATATYPE is "4D_SU2_GAUGE"'),
        ({"DATATYPE": None}, 'DATATYPE is ""'),
        ({"FLOATING_POINT": "VAX"}, 'FLOATING_POINT is "VAX"'),
        ({"FLOATING_POINT": "IEEE64MIDDLE"}, "expected IEEE32 or IEEE64"),
        ({"FLOATING_POINT": "IEEE32BIG"}, "has fewer"),
        ({"DIMENSION_3": "0"}, "DIMENSION_3 is"),
        ({"DIMENSION_3": "2"}, "has more"),
        ({"DIMENSION_3": "4294967296"}, "DIMENSION_3 is"),
        ({"DIMENSION_3": None}, 'DIMENSION_3 is ""'),
        ({"DIMENSION_3": "1\nDIMENSION_3 = 1"}, "given twice"),
        ({"CHECKSUM": "xyz"}, "CHECKSUM is"),
        ({"PLAQUETTE": "nan"}, "PLAQUETTE is"),
        ({"PLAQUETTE": "0.5"}, "the header says 0.5000000000"),
        ({"LINK_TRACE": "0.5"}, "the link trace is"),
        ({"LINK_TRACE": "9" * 100}, "is no short word"),
        ({"X": "y" * 20000}, "no line END_HEADER"),
    ],
)
def test_nersc_headers(change, words, path):
    refuses(path, files.nersc(LINKS, **change), words)


def test_nersc_without_plaquette(path):
    path.write_bytes(files.nersc(LINKS, PLAQUETTE=None, LINK_TRACE=None))
    info = lattice.read_links(path)[1]
    assert info.plaquette is None
    assert info.link_trace is None


def test_milc_headers(path):
    refuses(path, files.milc(LINKS, site_order=1), "order of sites is 1")
    refuses(path, files.milc(LINKS, shape=(2, 1, 3, 3)), "has more")
    refuses(path, files.milc(LINKS, shape=(0, 1, 3, 3)), "has more")
    refuses(path, files.milc(LINKS, shape=(65536,) * 4), "has more")
    refuses(path, files.milc(LINKS) + b"\0", "has fewer")


# ---- what is no file ----------------------------------------------------------------------------
def test_no_regular_file(tmp_path, path):
    with pytest.raises(FileNotFoundError):
        lattice.read_links(path)
    with pytest.raises(OSError, match="not a regular file"):
        lattice.read_links(tmp_path)
    with pytest.raises(OSError, match="not a regular file"):
        lattice.read_links("/dev/zero")
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        lattice.read_links(path)
    path.unlink()
    refuses(
        path, b"GIF89a, or whatever", "first bytes are 47494638, expected those of a file of LIME"
    )


def test_offsets_beyond_32_bits(path):
    """A record of 5 GiB, of which the disk keeps nothing, before those of the field."""
    hole = 5 << 30
    blob = bytearray(SEEDS["ildg"])
    with path.open("wb") as file:
        file.write(files.lime_record("nothing", b"", 0xC000, length=hole))
        file.truncate(144 + hole)
        file.seek(144 + hole)
        file.write(blob)
    links, info = lattice.read_links(path)
    np.testing.assert_array_equal(links, LINKS)
    assert info.data_offset == 144 + hole + data_at(blob) + 144
    with path.open("r+b") as file:
        file.seek(info.data_offset + 16)
        file.write(struct.pack(">d", np.nan))
    with pytest.raises(OSError, match=f"nan at byte {info.data_offset + 16}, in link 0"):
        lattice.read_links(path)


# ---- whatever else ------------------------------------------------------------------------------
# One change of a file is seen, or what is read is what was there (what changed is a comment, a
# date, padding).
WORDS = [0, 1, 2**63, 2**64 - 1, 2**32, 2**31, 0x7FF0000000000000, 0x456789AB00018000]


@st.composite
def changed(draw):
    name = draw(st.sampled_from(sorted(SEEDS)))
    blob = SEEDS[name]
    # Headers and the records behind the data are worth more than the data.
    spread = draw(st.sampled_from([1200, len(blob)]))
    at = draw(st.integers(0, min(spread, len(blob)) - 1))
    if draw(st.booleans()) and spread == 1200:
        at = len(blob) - 1 - at % len(blob)
    how = draw(st.sampled_from(["flip", "byte", "word", "cut", "drop", "double", "insert"]))
    size = draw(st.integers(1, 300))
    if how == "flip":
        new = bytes([blob[at] ^ 1 << draw(st.integers(0, 7))])
    elif how == "byte":
        new = draw(st.binary(min_size=1, max_size=4))
    else:
        new = struct.pack(draw(st.sampled_from("<>")) + "Q", draw(st.sampled_from(WORDS)))
    changes = {
        "cut": blob[:at],
        "drop": blob[:at] + blob[at + size :],
        "double": blob[: at + size] + blob[at:],
        "insert": blob[:at] + new + blob[at:],
    }
    return name, changes.get(how, blob[:at] + new + blob[at + len(new) :])


@settings(
    max_examples=300,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(case=changed(), project=st.booleans())
def test_a_change_is_seen_or_does_not_matter(path, case, project):
    name, blob = case
    path.write_bytes(SEEDS[name])
    whole, _ = lattice.read_links(path, project=project)
    path.write_bytes(blob)
    try:
        found, _ = lattice.read_links(path, project=project)
    except OSError as error:
        assert str(error).startswith(f"read_links(): {path}: ")
    else:
        np.testing.assert_array_equal(found.ravel(), whole.ravel())
    try:  # unverified, nothing is promised but to come back
        lattice.read_links(path, verify=False, project=project)
    except OSError as error:
        assert str(error).startswith(f"read_links(): {path}: ")
