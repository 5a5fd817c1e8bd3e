"""Bad input gets a clear error, and the next call works."""

import numpy as np
import pytest
from inputs import on

import cubc
from cubc import _core

X = np.arange(100, dtype=np.float32)


# ---- types ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "call", [cubc.sum, cubc.scan, lambda x, **k: cubc.transform("x", x=x, **k)]
)
@pytest.mark.parametrize(
    "x",
    [
        np.zeros(3, np.clongdouble),
        np.array(["a"]),
        np.array([None]),
        np.zeros(3, ">f4"),
        np.zeros(3, ">i2").T,
        np.zeros(3, "M8[s]"),
        np.zeros(3, np.longdouble),
        np.zeros(3, [("x", "f4"), ("y", ">i4")]),
    ],
    ids=lambda x: str(x.dtype),
)
def test_unsupported_types(device, call, x):
    with pytest.raises(TypeError, match="supported are bool, int8 to int64"):
        call(x, device=device)


@pytest.mark.parametrize(
    ("x", "name", "advice"),
    [
        (np.zeros(3, np.clongdouble), "clongdouble", "x.astype('complex128')"),
        (np.array(["a"]), "str", "x.astype('float64')"),
        (np.array([None]), "object", "x.astype('float64')"),
        (np.zeros(3, ">f8"), "big-endian float64", "x.astype(x.dtype.newbyteorder('='))"),
        ([np.clongdouble(1j), 2], "clongdouble", "x.astype('complex128')"),
        (memoryview(b"ab").cast("c"), "bytes", "x.astype('float64')"),
    ],
)
def test_types_have_numpys_names(x, name, advice):
    with pytest.raises(TypeError) as caught:
        cubc.sum(x, device="cpu")
    assert f"the array has the dtype {name}; " in str(caught.value)
    assert advice in str(caught.value)


def test_the_type_of_a_cuda_array():
    elsewhere = type("Elsewhere", (), {})()
    elsewhere.__cuda_array_interface__ = {"shape": (3,), "typestr": "<c32", "data": (0, False)}
    with pytest.raises(TypeError, match="the array has the dtype clongdouble; "):
        cubc.sum(elsewhere)


def test_masked_arrays(device):
    x = np.ma.array(X, mask=X > 3)
    for call in (
        lambda: cubc.sum(x, device=device),
        lambda: cubc.transform("x", x=x, device=device),
        lambda: cubc.scan(X, out=x, device=device),
        lambda: cubc.asarray(x, device=device),
    ):
        with pytest.raises(TypeError, match=r"is a masked array.*x\.filled.*x\.compressed"):
            call()
    assert cubc.sum(x.compressed(), device=device) == 6
    assert cubc.sum(X[:4].view(type("Subclass", (np.ndarray,), {})), device=device) == 6


def test_no_array_at_all(device):
    with pytest.raises(TypeError):
        cubc.sum(object(), device=device)
    with pytest.raises((TypeError, ValueError)):
        cubc.sum([[1], [2, 3]], device=device)
    with pytest.raises(TypeError, match="needs the argument 'x'"):
        cubc.reduce()


@pytest.mark.parametrize("dtype", ["complex256", "F31", np.void, 3])
def test_unsupported_result(device, dtype):
    with pytest.raises(TypeError, match=r"dtype cannot be .*; supported are"):
        cubc.sum(X, dtype=dtype, device=device)
    with pytest.raises(TypeError, match=r"dtype cannot be .*; supported are"):
        cubc.empty(3, dtype, device=device)


# ---- operators and expressions -------------------------------------------------------------------
@pytest.mark.parametrize(
    ("op", "near"), [("smu", "sum"), ("Sum", "sum"), ("maxx", "max"), ("argmn", "argmin")]
)
@pytest.mark.parametrize("call", [cubc.reduce, cubc.scan])
def test_unknown_operator(device, call, op, near):
    with pytest.raises(LookupError, match=f"no operator '{op}', did you mean '{near}'"):
        call(X, op, device=device)


def test_an_operator_is_text(device):
    with pytest.raises(TypeError):
        cubc.reduce(X, 3, device=device)
    with pytest.raises(ValueError, match="op is empty"):
        cubc.reduce(X, "", device=device)
    with pytest.raises(ValueError, match="op contains a NUL"):
        cubc.reduce(X, "a\0", device=device)


@pytest.mark.parametrize("expression", ["a +* b", "a + nonsense(b)", "a + b; q", "a +"])
@pytest.mark.parametrize("call", [cubc.reduce, cubc.scan])
def test_an_expression_that_does_not_compile(device, call, expression):
    with pytest.raises(cubc.CompileError) as caught:
        call(X, expression, device=device)
    text = str(caught.value)
    assert f"the expression '{expression}' does not compile" in text
    assert text.count("error:") == 1
    assert len(text) < 300
    assert "TUNE" not in text and "<stdin>" not in text
    assert "error" in caught.value.log
    assert call(X, "sum", device=device) is not None


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("a) + (b", "closes a bracket that is not open"),
        ("a + b; }", "closes a bracket that is not open"),
        ("(a + b", "opens a bracket and does not close it"),
        ("a + b /*", "has a comment"),
        ("a + b // c", "has a comment"),
        ("a + b'", "opens a quotation and does not close it"),
        ("a + u'\"') + (b + u'\"'", "closes a bracket that is not open"),
        ('a + R"(")") + (b + R"(")"', "has a raw string"),
    ],
)
def test_an_expression_that_reaches_into_the_kernel_around_it(device, expression, why):
    x = on(device, X)
    for call in (
        lambda: cubc.reduce(x, expression),
        lambda: cubc.merge_sort(x, expression),
        lambda: cubc.sum(cubc.lazy(expression, a=x, b=x)),
        lambda: cubc.unique_consecutive(x, equal=expression),
    ):
        with pytest.raises(cubc.CompileError, match=rf"^\w+\(\): the expression '.*it {why}"):
            call()


def test_brackets_in_quotes(device):
    x = on(device, X[:2].astype("i4"))
    assert int(cubc.reduce(x, "(a + b) + (1'000)")) == 1001
    assert int(cubc.reduce(x, "a + b + '('")) == 1 + ord("(")
    assert int(cubc.reduce(x, "a + b + '\\''")) == 1 + ord("'")
    assert int(cubc.reduce(x, "a + b + u'('")) == 1 + ord("(")


def test_a_transform_that_does_not_compile(device):
    with pytest.raises(
        cubc.CompileError, match=r"^transform\(\): the expression 'x \+ z' .*error.*z"
    ) as caught:
        cubc.transform("x + z", x=X, device=device)
    assert "z" in caught.value.log
    with pytest.raises(ValueError, match="an expression is needed"):
        cubc.transform("  ", x=X, device=device)


def test_an_exclusive_scan_begins_with_something(device):
    for op in ("max", "min", "a * b"):
        with pytest.raises(ValueError, match="needs an initial value"):
            cubc.scan(X, op, inclusive=False, device=device)
    for op in ("argmin", "argmax"):
        with pytest.raises(ValueError, match=f"scan does not take {op}"):
            cubc.scan(X, op, device=device)
    with pytest.raises(ValueError, match="takes no initial value"):
        cubc.reduce(X, "argmin", init=3, device=device)


@pytest.mark.parametrize(("init", "error"), [([1, 2], ValueError), ("three", TypeError)])
def test_wrong_init(device, init, error):
    with pytest.raises(error, match=r"(?:init|initial) (?:is 'three'|must be a single value)"):
        cubc.sum(X, init=init, device=device)


def test_an_init_that_does_not_fit(device):
    x = np.arange(3, dtype=np.int8)
    with pytest.raises(OverflowError, match="initial is 300, which int8 cannot hold"):
        cubc.max(x, init=300, device=device)
    with pytest.raises(ValueError, match=r"init: 1\.5 is not an integer, as int8 takes"):
        cubc.max(x, init=1.5, device=device)


# ---- out and other arguments ---------------------------------------------------------------------
def read_only(x):
    x.flags.writeable = False
    return x


@pytest.mark.parametrize(
    ("call", "out", "error", "message"),
    [
        (cubc.sum, np.zeros(2, np.float32), ValueError, r"shape \(2,\), expected \(\)"),
        (cubc.scan, np.zeros(99, np.float32), ValueError, r"shape \(99,\), expected \(100,\)"),
        (cubc.scan, np.zeros((10, 10), np.float32), ValueError, r"shape \(10, 10\), expected"),
        (cubc.argmax, np.zeros((), np.int32), TypeError, "index: its result is int64, not int32"),
        (cubc.sum, read_only(np.zeros((), np.float32)), ValueError, "out is read-only"),
        (cubc.scan, np.zeros(202, np.float32)[::2], ValueError, r"shape \(101,\), expected"),
        (cubc.scan, np.zeros(100, np.longdouble), TypeError, "out has the dtype"),
        (cubc.scan, np.zeros(100, ">f4"), TypeError, "out has the dtype"),
        (cubc.scan, [0.0] * 100, TypeError, "out must be an array"),
    ],
)
def test_wrong_out(device, call, out, error, message):
    with pytest.raises(error, match=message):
        call(X, out=out, device=device)


def test_dtype_against_out(device):
    with pytest.raises(TypeError, match="dtype is float64 but out has float32"):
        cubc.reduce(X, dtype="F64", out=np.zeros((), np.float32), device=device)
    with pytest.raises(TypeError, match="dtype is float64 but out has float32"):
        cubc.transform("x", x=X, dtype="F64", out=np.zeros(100, np.float32), device=device)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: cubc.transform("v * w", v=x),
        lambda x: cubc.select(x, "y > 3"),
        lambda x: cubc.reduce(x, "c + d"),
        lambda x: cubc.sum(cubc.lazy("v + w", v=x)),
    ],
)
def test_a_name_that_is_not_known(device, call):
    with pytest.raises(cubc.CompileError, match="; operators know the names a and b, cond"):
        call(cubc.asarray([1.0, 2.0], device=device))


def test_out_elsewhere(device):
    array = cubc.empty((), np.float32, device=device)
    with pytest.raises(ValueError, match=r"out must lie in host memory|in the host's memory"):
        cubc.sum(X, out=array, device=device)
    with pytest.raises(ValueError, match=f"out must lie on {device}"):
        cubc.sum(cubc.asarray(X, device=device), out=np.zeros((), np.float32))


@pytest.mark.parametrize("shift", [1, 50, -3])
def test_overlap(shift):
    x = np.arange(300, dtype=np.float32)
    source, target = x[100:200], x[100 + shift : 200 + shift]
    with pytest.raises(ValueError, match="input and output overlap"):
        cubc.scan(source, out=target, device="cpu")
    with pytest.raises(ValueError, match="input and output overlap"):
        cubc.transform("x", x=source, out=target, device="cpu")
    with pytest.raises(ValueError, match="input and output overlap"):
        wide = x[:200].view(np.float64)
        cubc.scan(x[:100], out=wide, device="cpu")
    assert np.array_equal(x, np.arange(300))


def test_transform_operands(device):
    with pytest.raises(ValueError, match=r"together: operand 'y' has \(50,\), .* \(100,\)"):
        cubc.transform("x + y", x=X, y=X[:50], device=device)
    with pytest.raises(ValueError, match="do not go together"):
        cubc.transform("x + y", x=X, y=X.reshape(10, 10), device=device)
    with pytest.raises(ValueError, match="cannot name an operand"):
        cubc.transform("do", do=X, device=device)
    with pytest.raises(ValueError, match="cannot name an operand"):
        cubc.transform("1", **{"x; }": X}, device=device)
    with pytest.raises(ValueError, match="at most 8"):
        cubc.transform("x0", **{f"x{k}": X for k in range(9)}, device=device)
    with pytest.raises(ValueError, match="needs out= or size="):
        cubc.transform("i", device=device)
    with pytest.raises(ValueError, match="not be negative"):
        cubc.transform("i", size=-1, device=device)
    with pytest.raises(TypeError, match="operand 'z' has the dtype clongdouble"):
        cubc.transform("z", z=np.array(3j, np.clongdouble), device=device)
    for c, type in ((2**64, "uint64"), (-(2**63) - 1, "int64")):
        with pytest.raises(OverflowError, match=f"operand 'c' is {c}, which {type} cannot hold"):
            cubc.transform("c + x", x=np.arange(3), c=c, device=device)


def test_transform_size(device):
    """It may repeat what the arrays say, and nothing else."""
    assert cubc.transform("x", x=X, size=100, device=device).shape == (100,)
    with pytest.raises(ValueError, match="size is 3, but the arrays have 100 items"):
        cubc.transform("x", x=X, size=3, device=device)
    with pytest.raises(ValueError, match="size is 4, but out has 3 items"):
        cubc.transform("i", out=np.zeros(3), size=4, device=device)
    twos = cubc.transform("s", s=np.float32(2), size=3, device=device)
    assert twos.numpy().tolist() == [2.0] * 3


@pytest.mark.parametrize(
    ("expression", "operands", "message"),
    [
        ("x + 1", {"x": X, "scale": 2}, "use the operand 'scale'$"),
        ("x * scal", {"x": X, "scale": 2}, "'scale'; did you mean 'scale' for 'scal'"),
        ("x", {"x": X, "y": X, "z": X}, "use the operands 'y', 'z'$"),
        ("xs.x + 0x1p3f + exp(y)", {"x": X, "xs": X, "y": X, "exp": 1, "p3f": 1}, "'x', 'p3f'"),
    ],
)
def test_operands_that_are_not_used(device, expression, operands, message):
    with pytest.raises(ValueError, match=message):
        cubc.transform(expression, device=device, **operands)


@pytest.mark.parametrize(
    "name", ["int", "class", "u64", "convert", "KERNEL", "TUNE_O", "_A", "a__b"]
)
def test_reserved_names(device, name):
    with pytest.raises(ValueError, match=f"'{name}' cannot name an operand: it is a word"):
        cubc.transform(name, **{name: X}, device=device)


@pytest.mark.parametrize("call", [cubc.reduce, cubc.scan])
def test_arguments(call):
    with pytest.raises(TypeError, match="no argument 'dtpye'; did you mean 'dtype'"):
        call(X, dtpye="F64")
    with pytest.raises(TypeError, match="no argument 'where'; help"):
        call(X, where=True)
    with pytest.raises(TypeError, match=r"got 'op' twice.*cubc\.sum"):
        call(X, "sum", op="sum")
    with pytest.raises(TypeError, match="at most 2 positional"):
        call(X, "sum", 3)
    for stream in ("fast", True, cubc.asarray(X, device="cpu")):
        with pytest.raises(TypeError, match="stream must be"):
            call(X, stream=stream, device="cpu")


def test_workspace(device):
    x = on(device, np.arange(100_000, dtype=np.int64))
    for workspace, message in (
        (np.zeros(1, np.uint64), "workspace"),
        (np.zeros(9000, np.uint8)[1:8194], "aligned"),
    ):
        for call in (cubc.sum, cubc.scan):
            if device == "cpu":
                with pytest.raises(ValueError, match=message):
                    call(x, workspace=workspace)
    with pytest.raises(ValueError, match="read-only"):
        cubc.sum(x, workspace=b"\0" * 8192)
    if device != "cpu":
        with pytest.raises(ValueError, match="memory of the device"):
            cubc.sum(x, workspace=np.zeros(8192, np.uint8))


# ---- devices -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "name",
    [
        "gpu",
        "CPU",
        "cpu:0",
        "cpu:01",
        "cpu:x",
        "cuda:",
        "cuda:zero",
        "cuda:-1",
        "cuda:00",
        "cuda:99999999999",
    ],
)
def test_what_names_no_device(name):
    known = f'no device "{name}"; a name is "cpu" or "cuda:N", and there is: .*cpu'
    with pytest.raises(cubc.NoDeviceError, match=known):
        cubc.sum(X, device=name)
    with pytest.raises(cubc.NoDeviceError), cubc.device(name):
        pass


def test_no_such_device():
    with pytest.raises(cubc.NoDeviceError, match=r'no device "cuda:99"; there is: .*cpu'):
        cubc.sum(X, device="cuda:99")


def test_a_device_is_named_by_text():
    for name in (0, "\ud800"):
        with pytest.raises(TypeError, match="device must be a str such as 'cuda:0'"):
            cubc.sum(X, device=name)
    with pytest.raises(ValueError, match="device contains a NUL"):
        cubc.sum(X, device="c\0pu")


def test_the_arrays_decide(device):
    other = "cpu" if device != "cpu" else "cuda:0"
    if other not in cubc.devices():
        return
    with pytest.raises(ValueError, match="move them"):
        cubc.sum(cubc.asarray(X, device=device), device=other)


def test_default_device(monkeypatch):
    with cubc.device("cpu"):
        assert cubc.empty(3).device == "cpu"
    monkeypatch.setenv("CUBC_DEVICE", "nonsense")
    with pytest.raises(cubc.NoDeviceError, match=r'"nonsense" \(of CUBC_DEVICE\)'):
        cubc.empty(3)


# ---- labels --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "label",
    [
        "",
        "base ",
        "ipt_512",
        "ipt_512.ipt_512",
        'ipt_512" -DEVIL',
        "ipt_512\n#define EVIL 1",
        "ipt_99999999999999999999",
        "ipt_+512",
        "ipt_0x10",
        "ipt_512." * 50,
        "$(touch evil)",
    ],
)
def test_hostile_labels(label):
    ct = {"T{ct}": "F32"}
    rest = ".tpb_1.ipv_5.ld_0.sm_0.wav_4.ms_32.ord_0"
    workload = _core.Workload("reduce.sum", ct, {"Elements{io}[pow2]": 10}, "cpu")
    for text in (label, label + rest, label.replace("ipt_512", "ipt_513") + rest):
        if text == "ipt_512" + rest:
            continue
        with pytest.raises(ValueError, match="variant"):
            _core.use_policy("reduce.sum", ct, "cpu", text)
        with pytest.raises(ValueError, match="variant"):
            workload.variant(text)
        with pytest.raises(ValueError, match="variant"):
            _core.compile("reduce.sum", ct, "cpu", text)


# ---- memory --------------------------------------------------------------------------------------
WARM = {
    "reduce": lambda x: cubc.sum(x),
    "scan": lambda x: cubc.scan(x),
    "reduce a device array": lambda x: cubc.sum(cubc.asarray(x, device="cpu")),
    "scan a device array": lambda x: cubc.scan(cubc.asarray(x, device="cpu")),
}


@pytest.fixture
def failing():
    yield _core._fail_allocation
    _core._fail_allocation(0)


@pytest.mark.parametrize("name", WARM)
def test_allocations_of_a_warm_call_fail(failing, name):
    call, x = WARM[name], np.arange(70_001)
    expected = np.asarray(call(x))
    failures = 0
    for nth in range(1, 30):
        before = _core._outstanding()
        failing(nth)
        try:
            result = call(x)
        except MemoryError:
            failures += 1
        else:
            np.testing.assert_array_equal(np.asarray(result), expected)
            del result
        failing(0)
        assert _core._outstanding() == before
        np.testing.assert_array_equal(np.asarray(call(x)), expected)
    assert failures or "device" not in name


def test_allocations_of_a_first_call_fail(failing):
    """Finding, compiling, loading: each failure is an error, and the call works in the end."""
    x = np.arange(1000)
    cubc.reduce(x, "a + b + 0 * 0", device="cpu")
    failures = 0
    for nth in range(1, 100):
        before = _core._outstanding()
        failing(nth)
        try:
            result = cubc.reduce(x, "a + b + 0 * 1", device="cpu")
        except (MemoryError, cubc.CompileError):
            failures += 1
            failing(0)
            assert _core._outstanding() == before
        else:
            assert result == x.sum()
            break
    assert failures > 5


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        (lambda: cubc.mismatch(X, X, equal="a @ b"), "the expression 'a @ b' does"),
        (lambda: cubc.array_equal(X, X, equal="a @ b"), "the expression 'a @ b' does"),
        (lambda: cubc.is_sorted(X, "a @ b"), "the expression 'a @ b' does"),
        (lambda: cubc.unique_consecutive(X, equal="a @ b"), "the expression 'a @ b' does"),
        (lambda: cubc.run_length_encode(X, equal="a @ b"), "the expression 'a @ b' does"),
        (
            lambda: cubc.reduce_by_key(X, X, "a + b", equal="a @ b"),
            "the expression 'a [+] b', or 'a @ b', does",
        ),
        (lambda: cubc.partition_if(X, "x > 1", "x @ 2"), "'x > 1', or 'x @ 2', does"),
        (lambda: cubc.reduce(X, ["sum", "a @ b"]), "the expression 'a @ b' does"),
    ],
)
def test_what_does_not_compile_is_shown_as_it_was_given(call, shown):
    with pytest.raises(cubc.CompileError, match=shown):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: cubc.mismatch(X, X, equal="p == q"),
        lambda: cubc.is_sorted(X, "p < q"),
        lambda: cubc.diff(X, op="p - q"),
    ],
)
def test_an_expression_of_two_items_uses_both(call):
    with pytest.raises(ValueError, match=r"'p .* q' does not use 'a' and 'b': expected one of"):
        call()
