"""The C interface: through CFFI, and from a C program without Python."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import cubc

MAIN = Path(__file__).parent / "c_program/main.c"


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


def test_cffi_errors(c):
    ffi, lib, device = c
    x, out = np.arange(10.0), np.zeros(1)
    params, _keep = reduce_params(ffi, lib, x, out)
    params.type = 99
    assert lib.cubc_reduce(device, params, ffi.NULL, 0, ffi.NULL) == lib.CUBC_INVALID_TYPE
    assert "unknown type (99)" in error(ffi, lib)
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


def test_types_and_names(c):
    ffi, lib, device = c
    assert ffi.string(lib.cubc_version()).decode() == cubc.__version__
    assert ffi.string(lib.cubc_device_name(device)) == b"cpu"
    sizes = [lib.cubc_type_size(t) for t in range(lib.CUBC_TYPE_COUNT)]
    assert sizes == [1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8]
    assert lib.cubc_type_size(99) == 0
    assert ffi.string(lib.cubc_type_name(lib.CUBC_BF16)) == b"BF16"
    assert ffi.string(lib.cubc_status_name(lib.CUBC_TIMEOUT)) == b"CUBC_TIMEOUT"


@pytest.mark.skipif(not shutil.which("cc"), reason="builds a C program with cc")
@pytest.mark.parametrize("standard", ["c11", "c++"])
def test_a_c_program(tmp_path, standard):
    """As get_library() says; and the header is C++ too."""
    flags = ["-I", cubc.get_include(), "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    if standard == "c++":
        include = '#include "cubc.h"\n'
        command = ["c++", "-x", "c++", "-fsyntax-only", *flags, "-"]
        subprocess.run(command, input=include, text=True, check=True)
        return
    program = tmp_path / "program"
    library = [cubc.get_library(), "-Wl,--unresolved-symbols=ignore-in-shared-libs"]
    subprocess.run(["cc", "-std=c11", MAIN, *flags, *library, "-o", program], check=True)
    result = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == f"version {cubc.__version__} on cpu"
    assert lines[1:3] == ["sum 99999.5", "last 99999.0"]
    assert "did you mean 'sum'?" in lines[3]
    assert lines[4:] == ["log 1", "status CUBC_NO_DEVICE"]
