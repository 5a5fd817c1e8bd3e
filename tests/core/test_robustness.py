"""Calls amid trouble: traps, forks, threads, foreign handles, odd operands."""

import textwrap
import threading

import isolated
import numpy as np
import pytest

import cubc
from cubc import _core


def test_the_temporary_storage_is_enough():
    """Nothing is written behind the bytes that the call asks for, whatever is accumulated."""
    ffi, lib = cubc.ffi()
    device = ffi.new("cubc_device **")
    assert lib.cubc_device_open(b"cpu", device) == 0
    codes = {"uint8": 5, "float32": 11, "float64": 12, "int64": 4}
    for name, code in codes.items():
        x = np.ones(1 << 21, name)
        for op in (b"sum", b"argmax", b"a + b"):
            out = np.zeros(1, np.int64 if op == b"argmax" else name)
            params = ffi.new("cubc_reduce_params *")
            params.__setattr__("in", ffi.cast("void *", x.ctypes.data))
            params.out = ffi.cast("void *", out.ctypes.data)
            params.n, params.type, params.acc_type = x.size, code, code
            params.out_type = 4 if op == b"argmax" else code
            text = ffi.new("char[]", op)
            params.op = text
            need = ffi.new("size_t *")
            assert lib.cubc_reduce_temp_bytes(device[0], params, need) == 0
            temp = np.full(need[0] // 8 + 64, 0x5A5A5A5A5A5A5A5A, np.uint64)
            where = ffi.cast("void *", temp.ctypes.data)
            assert lib.cubc_reduce(device[0], params, where, need[0], ffi.NULL) == 0
            assert (temp[-64:] == 0x5A5A5A5A5A5A5A5A).all(), (name, op)
    lib.cubc_device_close(device[0])


def test_an_integer_division_by_zero_is_a_fault():
    with pytest.raises(cubc.KernelFault, match="divided an integer by zero"):
        cubc.transform("x / y", x=np.arange(5), y=np.zeros(5, int), device="cpu")
    assert cubc.reduce(np.arange(10), device="cpu") == 45


@pytest.mark.parametrize("expression", ["x / 0", "x % 0"])
def test_a_division_by_a_literal_zero_is_a_fault(expression):
    """Compilers put an instruction there that no processor has."""
    x = np.arange(5)
    with pytest.raises(cubc.KernelFault, match=r"by a literal 0|divided an integer by zero"):
        cubc.transform(expression, x=x, device="cpu")
    with pytest.raises(cubc.KernelFault, match=r"by a literal 0|divided an integer by zero"):
        cubc.select(x, expression, device="cpu")
    assert cubc.reduce(x, device="cpu") == 10


def test_padding_does_not_reach_the_operator():
    """A ragged tile must not divide by items that are not there."""
    x = np.ones(101, np.int32)
    assert (cubc.scan(x, "a / b", device="cpu") == 1).all()


def test_a_call_after_a_fault_is_right():
    """An abandoned launch leaves half of its messages; the next one must not read them."""
    x = np.ones(1 << 20, np.int64)
    bad = x.copy()
    bad[-1] = 0
    expected = cubc.reduce(x, device="cpu")
    for _ in range(3):
        with pytest.raises(cubc.KernelFault):
            cubc.reduce(bad, "a + 10 / b", init=0, commutative=True, device="cpu")
        assert cubc.reduce(x, device="cpu") == expected
        assert cubc.scan(x, device="cpu")[-1] == expected


def test_a_foreign_stream_on_the_cpu_is_ignored():
    assert cubc.reduce(np.arange(100), device="cpu", stream=1) == 4950
    assert cubc.reduce(np.arange(100), device="cpu", stream=0x7F00DEADBEEF) == 4950


def test_a_child_of_fork_computes():
    """Even if another thread was in a call when the process forked."""
    isolated.output(
        textwrap.dedent("""
        import warnings
        warnings.simplefilter("ignore")  # of later Pythons about threads and fork
        import os, sys, threading, numpy as np, cubc
        x = np.ones(1 << 22)
        stop = False
        def work():
            while not stop:
                cubc.reduce(x, device="cpu")
        threads = [threading.Thread(target=work) for _ in range(2)]
        [t.start() for t in threads]
        bad = 0
        for _ in range(8):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if cubc.reduce(x, device="cpu") == x.size else 1)
            bad += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0
        stop = True
        [t.join() for t in threads]
        assert bad == 0, bad
        """)
    )


class OnlyArray:
    """As some libraries' columns: no buffer, no sequence, only ``__array__``."""

    def __array__(self, dtype=None, copy=None):
        return np.arange(10.0)


class Raises:
    @property
    def __cuda_array_interface__(self):
        raise KeyboardInterrupt


def test_odd_operands(device):
    assert cubc.reduce(OnlyArray(), device="cpu") == 45
    assert cubc.reduce((1, 2, 3), device="cpu") == 6
    with pytest.raises(KeyboardInterrupt):
        cubc.reduce(Raises())
    with pytest.raises(ValueError, match=r"0\.9 is not an integer"):
        cubc.reduce(np.arange(3), init=0.9, device="cpu")
    with pytest.raises(ValueError, match="ambiguous"):
        cubc.scan(np.arange(3), inclusive=np.array([1, 2]), device="cpu")
    x = cubc.asarray(np.arange(4, dtype="f4"), device=device)
    y = cubc.transform("x * s", x=x, s=np.float32(2))
    assert y.numpy().tolist() == [0, 2, 4, 6]
    assert cubc.asarray(x, dtype="int16").device == device


def test_a_policy_that_does_not_fit_gives_way_to_the_base():
    """A label is checked for its type; other accumulators of that type may be too many for it."""
    label = "ipt_16384.tpb_1.mb_1.pk_0.ipv_7.ld_0.la_0.ord_0.lb_1.ns_0.l2w_0"
    try:
        _core.use_policy("scan.inclusive.sum", {"T{ct}": "I8"}, "cpu", label)
        assert cubc.scan(np.ones(1000, np.int8), dtype="float64", device="cpu")[-1] == 1000
    finally:
        cubc.clear_policies()


def test_the_default_device_is_the_threads_own():
    with cubc.device("cpu"):
        seen = []
        thread = threading.Thread(target=lambda: seen.append(_core._set_default_device("")))
        thread.start()
        thread.join()
        assert seen == [""]
        assert cubc.device_info()["name"] == "cpu"


def test_a_store_is_closed_when_its_last_user_is_done(tmp_path):
    store = _core.Store(str(tmp_path / "s.db"), create=True)
    store.set_device(_core.device_info("cpu"))
    rows = store.rows()
    store.close()
    with pytest.raises(ValueError, match="closed"):
        next(rows)
    with pytest.raises(ValueError, match="closed"):
        store.find({"benchmark": "x"})
    del rows


def test_what_is_no_store(tmp_path):
    """The message says what to do; nothing is made or changed."""

    def refused(name, create=False):
        with pytest.raises((cubc.StoreError, OSError)) as caught:
            _core.Store(str(tmp_path / name), create=create)
        assert str(tmp_path / name) in str(caught.value)
        return str(caught.value)

    (tmp_path / "empty.db").touch()
    (tmp_path / "junk.db").write_bytes(b"no store at all" * 1000)
    assert "a search writes one" in refused("gone.db")
    assert '"cubc search" fills one, or give another file' in refused("empty.db")
    assert "move it away, or restore a copy" in refused("junk.db")
    assert "move it away, or restore a copy" in refused("junk.db", create=True)
    assert "its folder must be there" in refused("gone/s.db", create=True)
    assert {path.name for path in tmp_path.iterdir()} == {"empty.db", "junk.db"}


@pytest.mark.parametrize("content", [None, b"", b"no store at all" * 1000])
def test_broken_policies_do_not_stop_a_program(tmp_path, content):
    store = tmp_path / "p.db"
    if content is not None:
        store.write_bytes(content)
    code = "import warnings; warnings.simplefilter('always'); import cubc; print('goes on')"
    result = isolated.run(code, CUBC_POLICIES=store)
    assert result.stdout == "goes on\n"
    assert result.stderr.count("UserWarning: CUBC_POLICIES is ignored: ") == 1
    assert str(store) in result.stderr


def test_ctrl_c_ends_a_compilation(tmp_path):
    """The host's compiler is stopped with all its children, and its folder goes."""
    compiler = tmp_path / "cxx"
    compiler.write_text('#!/bin/sh\n[ "$1" = --version ] && exec echo "cxx 1.0"\nsleep 1000\n')
    compiler.chmod(0o755)
    (tmp_path / "tmp").mkdir()
    code = """
        import os, signal, threading, time
        import cubc, numpy as np

        def press():
            while not os.listdir(os.environ["TMPDIR"]):
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=press, daemon=True).start()
        try:
            cubc.sum(np.ones(4), device="cpu")
        except KeyboardInterrupt:
            print("ended", os.listdir(os.environ["TMPDIR"]))
    """
    places = {"CUBC_CXX": compiler, "CUBC_CACHE": tmp_path / "c", "TMPDIR": tmp_path / "tmp"}
    assert isolated.output(textwrap.dedent(code), **places) == "ended []"


def test_a_store_in_many_threads(tmp_path):
    store = _core.Store(str(tmp_path / "s.db"), create=True)
    store.set_device(_core.device_info("cpu"))
    key = {"benchmark": "b", "axes": "[]", "source_hash": "h", "ct": "T{ct}=F32", "status": "ok"}
    errors = []

    def add(first):
        try:
            for k in range(40):
                store.add(key | {"variant": f"ipt_{first + k}", "rt": "n", "samples": b"\0\0\x80?"})
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=add, args=(1000 * t,)) for t in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    assert len(list(store.rows())) == 160
    store.close()


def test_read_only_memory_is_not_an_output():
    x = np.arange(4.0)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        cubc.scan(np.arange(4.0), out=x, device="cpu")


@pytest.mark.parametrize(
    ("benchmark", "type", "places"),
    [
        ("segmented_topk.segments", "F32", {"SegmentSize": 4096, "K": 4096}),
        ("sort.keys", "C64", {}),
    ],
)
def test_a_workload_that_is_refused(benchmark, type, places):
    """Its arrays have no memory then."""
    code = """
        import sys
        from cubc import _core
        places = {"Elements{io}[pow2]": 16} | eval(sys.argv[3])
        try:
            _core.Workload(sys.argv[1], {"T{ct}": sys.argv[2]}, places, "cpu")
        except (TypeError, ValueError):
            print("refused")
    """
    assert isolated.output(textwrap.dedent(code), benchmark, type, places) == "refused"
