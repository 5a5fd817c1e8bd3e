"""The C interface: through CFFI, and from a C program without Python."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import cubc

MAIN = Path(__file__).parents[1] / "c/program.c"


@pytest.fixture(scope="module")
def c():
    """CFFI's handle, and a device of it."""
    ffi, lib = cubc.ffi()
    opened = ffi.new("cubc_device **")
    assert lib.cubc_device_open(b"cpu", opened) == lib.CUBC_OK
    yield ffi, lib, opened[0]
    lib.cubc_device_close(opened[0])


def error(ffi, lib):
    return ffi.string(lib.cubc_error_message()).decode()


def reduce_params(ffi, lib, x, out):
    params = ffi.new("cubc_reduce_params *")
    keep = ffi.new("char[]", b"sum"), ffi.from_buffer(x), ffi.from_buffer(out)
    params.op, setattr_in, params.out = keep
    setattr(params, "in", setattr_in)
    params.n = x.size
    params.type = params.acc_type = params.out_type = lib.CUBC_F64
    return params, keep


def test_cffi_reduces(c):
    ffi, lib, device = c
    x, out = np.arange(100_001.0), np.zeros(1)
    params, _keep = reduce_params(ffi, lib, x, out)
    status = lib.cubc_reduce(device, params, ffi.NULL, 0, ffi.NULL)
    assert status == lib.CUBC_OK, error(ffi, lib)
    assert lib.cubc_synchronize(device, ffi.NULL) == lib.CUBC_OK
    assert out[0] == x.sum()


def test_cffi_in_two_phases(c):
    ffi, lib, device = c
    x, out = np.arange(100_001.0), np.zeros(1)
    params, _keep = reduce_params(ffi, lib, x, out)
    needed = ffi.new("size_t *")
    assert lib.cubc_reduce_temp_bytes(device, params, needed) == lib.CUBC_OK
    temp = np.full(needed[0] // 8, 0xFF, np.uint64)
    place = ffi.from_buffer(temp)
    for _ in range(3):
        out[0] = 0
        assert lib.cubc_reduce(device, params, place, temp.nbytes, ffi.NULL) == lib.CUBC_OK
        assert out[0] == x.sum()
    status = lib.cubc_reduce(device, params, place, needed[0] - 1, ffi.NULL)
    assert status == lib.CUBC_INVALID_ARGUMENT
    assert "workspace" in error(ffi, lib)


def test_cffi_transforms(c):
    ffi, lib, device = c
    x, out = np.arange(1000, dtype=np.int32), np.zeros(1000, np.int32)
    operand = ffi.new("cubc_operand[1]")
    texts = ffi.new("char[]", b"x"), ffi.new("char[]", b"x * x")
    operand[0].name, operand[0].type, operand[0].data = texts[0], lib.CUBC_I32, ffi.from_buffer(x)
    params = ffi.new("cubc_transform_params *")
    params.out, params.out_type, params.n = ffi.from_buffer(out), lib.CUBC_I32, x.size
    params.expression, params.operands, params.operand_count = texts[1], operand, 1
    status = lib.cubc_transform(device, params, ffi.NULL, 0, ffi.NULL)
    assert status == lib.CUBC_OK, error(ffi, lib)
    assert np.array_equal(out, x * x)


def test_cffi_lazy(c):
    """The sum of a matrix's products with a row, which is nowhere in memory."""
    ffi, lib, device = c
    x, y = np.arange(6000.0).reshape(60, 100), np.arange(100.0)
    out = np.zeros(1)
    operands, lazy = ffi.new("cubc_operand[2]"), ffi.new("cubc_lazy *")
    keep = [ffi.new("char[]", text) for text in (b"x * y", b"x", b"y")]
    keep += [ffi.new("ptrdiff_t[]", shape) for shape in ((60, 100), (100,))]
    keep += [ffi.from_buffer(x), ffi.from_buffer(y)]
    for k in range(2):
        operands[k].name, operands[k].type, operands[k].data = (
            keep[1 + k],
            lib.CUBC_F64,
            keep[5 + k],
        )
    operands[1].ndim, operands[1].shape = 1, keep[4]
    lazy.expression, lazy.type, lazy.operands, lazy.operand_count = (
        keep[0],
        lib.CUBC_F64,
        operands,
        2,
    )
    lazy.ndim, lazy.shape = 2, keep[3]
    params, _more = reduce_params(ffi, lib, x, out)
    setattr(params, "in", lazy)
    params.type = lib.CUBC_LAZY
    status = lib.cubc_reduce(device, params, ffi.NULL, 0, ffi.NULL)
    assert status == lib.CUBC_OK, error(ffi, lib)
    assert out[0] == (x * y).sum()
    lazy.shape = ffi.new("ptrdiff_t[]", (60, 99))
    assert lib.cubc_reduce(device, params, ffi.NULL, 0, ffi.NULL) == lib.CUBC_INVALID_ARGUMENT
    assert "5940 items" in error(ffi, lib)
    lazy.ndim = 0
    assert lib.cubc_reduce(device, params, ffi.NULL, 0, ffi.NULL) == lib.CUBC_INVALID_ARGUMENT
    assert "along an axis" in error(ffi, lib)


def test_cffi_errors(c):
    ffi, lib, device = c
    x, out = np.arange(10.0), np.zeros(1)
    params, _keep = reduce_params(ffi, lib, x, out)
    params.type = lib.CUBC_TYPE_LAST
    assert lib.cubc_reduce(device, params, ffi.NULL, 0, ffi.NULL) == lib.CUBC_INVALID_TYPE
    assert f"unknown type ({lib.CUBC_TYPE_LAST})" in error(ffi, lib)
    params.type = lib.CUBC_F64
    setattr(params, "in", ffi.NULL)
    assert lib.cubc_reduce(device, params, ffi.NULL, 0, ffi.NULL) == lib.CUBC_INVALID_ARGUMENT
    assert "NULL" in error(ffi, lib)
    setattr(params, "in", ffi.cast("char *", ffi.from_buffer(x)) + 1)
    assert lib.cubc_reduce(device, params, ffi.NULL, 0, ffi.NULL) == lib.CUBC_INVALID_ARGUMENT
    assert "not aligned" in error(ffi, lib)
    params.op = ffi.NULL
    assert lib.cubc_reduce(device, params, ffi.NULL, 0, ffi.NULL) == lib.CUBC_INVALID_ARGUMENT
    assert lib.cubc_reduce(ffi.NULL, params, ffi.NULL, 0, ffi.NULL) == lib.CUBC_INVALID_ARGUMENT


def test_cffi_segments_with_ends(c):
    """Their operators, of which C checks more than Python lets through."""
    ffi, lib, device = c
    x, out, begins, ends = np.arange(10.0), np.zeros(2), np.array([4, 0]), np.array([10, 5])
    params = ffi.new("cubc_segmented_reduce_params *")
    keep = [ffi.from_buffer(a) for a in (x, out, begins, ends)]
    setattr(params, "in", keep[0])
    params.out, params.offsets, params.ends = keep[1:]
    params.n, params.segments = x.size, 2
    params.type = params.acc_type = params.out_type = lib.CUBC_F64
    params.offset_type = params.end_type = lib.CUBC_I64

    def status_of(op, deterministic=0):
        text = ffi.new("char[]", op) if op else ffi.NULL
        params.op, params.deterministic = text, deterministic
        return lib.cubc_segmented_reduce(device, params, ffi.NULL, 0, ffi.NULL)

    assert status_of(b"sum") == lib.CUBC_OK, error(ffi, lib)
    assert out.tolist() == [x[4:].sum(), x[:5].sum()]
    assert status_of(None) == lib.CUBC_INVALID_ARGUMENT
    assert "an operator is needed" in error(ffi, lib)
    assert status_of(b"smu") == lib.CUBC_NOT_FOUND
    assert status_of(b"max", deterministic=1) == lib.CUBC_INVALID_ARGUMENT
    assert "deterministic" in error(ffi, lib)
    keep.append(ffi.new("double *"))
    params.init = keep[-1]
    assert status_of(b"a - b") == lib.CUBC_INVALID_ARGUMENT
    assert "commutative" in error(ffi, lib)


def test_types_and_names(c):
    ffi, lib, device = c
    assert ffi.string(lib.cubc_version()).decode() == cubc.__version__
    assert ffi.string(lib.cubc_device_name(device)) == b"cpu"
    sizes = [lib.cubc_type_size(t) for t in range(lib.CUBC_TYPE_COUNT)]
    assert sizes == [1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16]
    assert lib.cubc_type_size(lib.CUBC_TYPE_LAST + 1) == 0
    assert ffi.string(lib.cubc_type_name(lib.CUBC_BF16)) == b"BF16"
    assert ffi.string(lib.cubc_status_name(lib.CUBC_TIMEOUT)) == b"CUBC_TIMEOUT"


@pytest.mark.skipif(not shutil.which("cc"), reason="builds a C program with cc")
@pytest.mark.parametrize("standard", ["c11", "c++"])
def test_a_c_program(tmp_path, standard):
    """As get_library() says; and the header is C++ too."""
    flags = ["-I", cubc.get_include(), "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    if standard == "c++":
        include = '#include "cubc/lattice.h"\n'
        command = ["c++", "-x", "c++", "-fsyntax-only", *flags, "-"]
        subprocess.run(command, input=include, text=True, check=True)
        return
    program = tmp_path / "program"
    library = [cubc.get_library(), "-Wl,--unresolved-symbols=ignore-in-shared-libs"]
    subprocess.run(["cc", "-std=c11", MAIN, *flags, *library, "-o", program], check=True)
    result = subprocess.run([program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == f"version {cubc.__version__} on cpu"
    assert lines[1:3] == ["sum 99999.5", "last 99999.0"]
    assert "did you mean 'sum'?" in lines[3]
    assert lines[4:] == ["log 1", "status CUBC_NO_DEVICE"]


# ---- several inputs and outputs -----------------------------------------------------------------
def in_two_phases(ffi, lib, device, name, params):
    """Run a call in temporary storage of exactly the bytes that it asks for."""
    needed = ffi.new("size_t *")
    assert getattr(lib, f"cubc_{name}_temp_bytes")(device, params, needed) == lib.CUBC_OK
    room = np.full(needed[0] + 512, 0x5A, np.uint8)
    begin = -room.ctypes.data % 256
    place = ffi.cast("void *", room.ctypes.data + begin)
    call = getattr(lib, f"cubc_{name}")
    assert call(device, params, place, needed[0], ffi.NULL) == lib.CUBC_OK, error(ffi, lib)
    assert (room[begin + needed[0] :] == 0x5A).all()
    assert call(device, params, place, needed[0] - 1, ffi.NULL) == lib.CUBC_INVALID_ARGUMENT


def pointer(ffi, x):
    return ffi.cast("void *", x.ctypes.data)


def test_cffi_sorts_pairs(c):
    ffi, lib, device = c
    keys = np.random.default_rng(0).integers(0, 1000, 300_001, dtype=np.int32)
    out, places = np.zeros_like(keys), np.zeros(keys.size, np.int64)
    params = ffi.new("cubc_sort_params *")
    params.keys_in, params.keys_out = pointer(ffi, keys), pointer(ffi, out)
    params.values_out, params.value_bytes = pointer(ffi, places), 8  # without values_in: argsort
    params.n, params.type = keys.size, lib.CUBC_I32
    in_two_phases(ffi, lib, device, "sort", params)
    np.testing.assert_array_equal(places, np.argsort(keys, kind="stable"))
    np.testing.assert_array_equal(out, np.sort(keys))
    for wrong in (3, -1, -(2**31)):
        params.value_bytes = wrong
        assert lib.cubc_sort(device, params, ffi.NULL, 0, ffi.NULL) == lib.CUBC_INVALID_TYPE
        assert f"values of 1, 2, 4, 8 or 16 bytes, not of {wrong}" in error(ffi, lib)


def test_cffi_selects_indices(c):
    ffi, lib, device = c
    out, count = np.zeros(100_001, np.int64), np.zeros(1, np.int64)
    params, predicate = ffi.new("cubc_select_params *"), ffi.new("char[]", b"x % 7 == 3")
    params.out, params.predicate = pointer(ffi, out), predicate
    params.count = ffi.cast("int64_t *", count.ctypes.data)
    params.n, params.type = out.size, lib.CUBC_I64
    in_two_phases(ffi, lib, device, "select", params)
    np.testing.assert_array_equal(out[: count[0]], np.arange(3, out.size, 7))
    for change, words in (
        ({"type": lib.CUBC_I32}, "indices are I64, not I32"),
        ({"mask": pointer(ffi, out)}, "a mask or a predicate, not both"),
        ({"predicate": ffi.NULL}, "select of indices needs a mask or a predicate"),
    ):
        wrong = ffi.new("cubc_select_params *", params[0])
        for field, value in change.items():
            setattr(wrong, field, value)
        assert lib.cubc_select(device, wrong, ffi.NULL, 0, ffi.NULL) != lib.CUBC_OK
        assert words in error(ffi, lib)


def test_cffi_counts_channels(c):
    ffi, lib, device = c
    x = np.random.default_rng(0).integers(0, 256, (50_001, 3), dtype=np.uint8)
    out = np.zeros(256 + 10, np.uint32)
    params = ffi.new("cubc_histogram_params *")
    setattr(params, "in", pointer(ffi, x))
    params.out, params.n = pointer(ffi, out), x.size
    params.type, params.out_type = lib.CUBC_U8, lib.CUBC_U32
    params.edge_type = params.step_type = lib.CUBC_F64
    params.channels, params.active = 3, 2
    for level, (bins, upper) in zip(params.levels, ((256, 256.0), (10, 99.0)), strict=False):
        level.bins, level.upper = bins, upper
    needed, room = ffi.new("size_t *"), np.zeros(1, np.uint64)  # it needs none, which is never said
    assert lib.cubc_histogram_temp_bytes(device, params, needed) == lib.CUBC_OK
    assert needed[0] == room.nbytes
    status = lib.cubc_histogram(device, params, pointer(ffi, room), room.nbytes, ffi.NULL)
    assert status == lib.CUBC_OK, error(ffi, lib)
    np.testing.assert_array_equal(out[:256], np.bincount(x[:, 0], minlength=256))
    np.testing.assert_array_equal(out[256:], np.histogram(x[:, 1], 10, (0, 99))[0])
    for field, value, words in (
        ("channels", 5, "of 5 channels"),
        ("n", 7, "7 items are no pixels of 3 channels"),
        ("weights", pointer(ffi, x), "weights of one channel"),
        ("out_type", lib.CUBC_F16, "not F16"),
        ("step_type", lib.CUBC_I32, "edges of even bins are F32 or F64, not I32"),
        *((f, v, f"unknown type ({v})") for f in ("edge_type", "step_type") for v in (254, 1000)),
        ("edges", pointer(ffi, x), "0 edges, expected 268"),
    ):
        wrong = ffi.new("cubc_histogram_params *", params[0])
        setattr(wrong, field, value)
        assert lib.cubc_histogram(device, wrong, ffi.NULL, 0, ffi.NULL) != lib.CUBC_OK
        assert words in error(ffi, lib)
    params.levels[1].bins = 0
    assert lib.cubc_histogram(device, params, ffi.NULL, 0, ffi.NULL) != lib.CUBC_OK
    assert "0 bins in channel 1; expected 1 to 2^30" in error(ffi, lib)


# ---- initial values -----------------------------------------------------------------------------
def truths_of(c, name, op, acc_type, init, in_memory=0):
    """Return the status and the result of cubc_reduce, or the last item of cubc_scan."""
    ffi, lib, device = c
    x, out = np.full(3, op == b"all"), np.zeros(3, bool)
    params = ffi.new(f"cubc_{name}_params *")
    keep = ffi.new("char[]", op), ffi.from_buffer(x), ffi.from_buffer(out), ffi.from_buffer(init)
    params.op, setattr_in, params.out, params.init = keep
    setattr(params, "in", setattr_in)
    params.n, params.acc_type, params.init_in_memory = x.size, acc_type, in_memory
    params.type = params.out_type = lib.CUBC_BOOL
    status = getattr(lib, f"cubc_{name}")(device, params, ffi.NULL, 0, ffi.NULL)
    assert lib.cubc_synchronize(device, ffi.NULL) == lib.CUBC_OK
    return status, bool(out[0])


@pytest.mark.parametrize("name", ["reduce", "scan"])
@pytest.mark.parametrize(
    ("acc_type", "value", "truth"),
    [
        ("F64", np.float64(1), True),
        ("F64", np.float64(-0.0), False),
        ("F64", np.float64(np.nan), True),
        ("F16", np.float16(0.5), True),
        ("F16", np.float16(-0.0), False),
        ("I32", np.int32(256), True),
        ("I64", np.int64(-(2**63)), True),
        ("I64", np.int64(0), False),
        ("C64", np.complex64(complex(-0.0, -0.0)), False),
        ("C64", np.complex64(2j), True),
        ("BOOL", np.uint8(2), True),
    ],
)
def test_cffi_begins_with_the_truth_of_a_number(c, name, acc_type, value, truth):
    _ffi, lib, _device = c
    for op in (b"any", b"all"):
        init = np.array([value])
        got = truths_of(c, name, op, getattr(lib, f"CUBC_{acc_type}"), init)
        assert got == (lib.CUBC_OK, truth)


@pytest.mark.parametrize("name", ["reduce", "scan"])
def test_cffi_truths_in_memory_are_bools(c, name):
    ffi, lib, _device = c
    assert truths_of(c, name, b"any", lib.CUBC_BOOL, np.array([True]), 1) == (lib.CUBC_OK, True)
    status, _out = truths_of(c, name, b"any", lib.CUBC_F64, np.array([1.0]), 1)
    assert status == lib.CUBC_INVALID_TYPE
    assert "any with init_in_memory needs acc_type BOOL, not F64" in error(ffi, lib)


def test_cffi_truths_of_structs_are_refused(c):
    ffi, lib, _device = c
    name, struct = ffi.new("char[]", b"k"), ffi.new("cubc_type *")
    members = ffi.new("cubc_member *", {"name": name, "type": lib.CUBC_F64})
    assert lib.cubc_type_struct(members, 1, 8, struct) == lib.CUBC_OK
    status, _out = truths_of(c, "reduce", b"any", struct[0], np.array([1.0]))
    assert status == lib.CUBC_INVALID_TYPE
    assert "give BOOL" in error(ffi, lib)


# ---- indices ------------------------------------------------------------------------------------
@pytest.mark.parametrize("columns", [1, 2])
def test_cffi_indices_without_a_sign(c, columns):
    """From 2**63 on, too, which are beyond the end."""
    ffi, lib, device = c
    x = np.arange(5 * columns, dtype=np.int32)
    indices = np.array([2, 7, 2**63, 2**63 + 1, 2**64 - 1], np.uint64)
    rows, out = x.reshape(5, columns), np.zeros((5, columns), np.int32)
    wrapped = [int(k) % 5 for k in indices]
    clipped = [min(int(k), 4) for k in indices]
    for mode, expected in ((0, clipped), (1, wrapped), (2, clipped)):
        take = ffi.new("cubc_take_params *")
        setattr(take, "in", pointer(ffi, x))
        take.indices, take.out = pointer(ffi, indices), pointer(ffi, out)
        take.n, take.index_count, take.total = x.size, indices.size, out.size
        take.length, take.columns, take.mode = 5, columns, mode
        take.type, take.index_type = lib.CUBC_I32, lib.CUBC_U64
        assert lib.cubc_take(device, take, ffi.NULL, 0, ffi.NULL) == lib.CUBC_OK, error(ffi, lib)
        assert lib.cubc_synchronize(device, ffi.NULL) == lib.CUBC_OK
        np.testing.assert_array_equal(out, rows[expected])
        added, ones = np.zeros_like(rows), np.ones_like(rows)
        scatter, op = ffi.new("cubc_scatter_params *"), ffi.new("char[]", b"sum")
        setattr(scatter, "in", pointer(ffi, added))
        scatter.indices, scatter.values = pointer(ffi, indices), pointer(ffi, ones)
        scatter.out, scatter.op = pointer(ffi, added), op
        scatter.n, scatter.index_count, scatter.total = x.size, indices.size, out.size
        scatter.length, scatter.columns, scatter.mode = 5, columns, mode
        scatter.type = scatter.value_type = lib.CUBC_I32
        scatter.index_type = lib.CUBC_U64
        status = lib.cubc_scatter(device, scatter, ffi.NULL, 0, ffi.NULL)
        assert status == lib.CUBC_OK, error(ffi, lib)
        assert lib.cubc_synchronize(device, ffi.NULL) == lib.CUBC_OK
        assert added[:, 0].tolist() == np.bincount(expected, minlength=5).tolist()
