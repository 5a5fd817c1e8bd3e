"""Stores and recordings beside handlers of signals, forks and what else their program does."""

import signal
import textwrap

import isolated
import pytest

BEGIN = """
import faulthandler, os, signal, subprocess, sys, threading, time, warnings
import cubc, numpy as np
from cubc import _core, tuner

warnings.simplefilter("ignore", DeprecationWarning)  # of threads and fork
faulthandler.dump_traceback_later(120, exit=True)  # also of a thread that waits with the GIL
db, when = sys.argv[1:]
HOLDER = '''
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
'''

class Lock:
    def __init__(self):
        command = [sys.executable, "-c", HOLDER, db]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def free(self):
        self.process.communicate()

def works():
    return cubc.sum(np.arange(10), device="cpu") == 45

works()
done = []

def once_in(name, action):
    "Calls it in a wait within a file of that name."
    def handler(number, frame):
        if not done and frame.f_code.co_filename.endswith(name):
            signal.setitimer(signal.ITIMER_REAL, 0)
            done.append(None)
            done.append(action())
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2, 0.1)
"""

RECORD = """
def record(action):
    "Calls it while a recording of a single call waits for its store."
    global lock
    if when == "begin":
        lock = Lock()
        action()
    with tuner.record(db):
        if when == "end":
            lock = Lock()  # before the call, which would be written while a slow process starts
        works()
        if when == "end":
            action()

def calls(name=db):
    return tuner.recorded(name).calls.tolist()
"""


def output(code, *arguments):
    return isolated.output(BEGIN + RECORD + textwrap.dedent(code), *arguments)


@pytest.mark.parametrize("when", ["begin", "end"])
def test_a_handler_that_records_while_a_recording_waits(tmp_path, when):
    code = """
    def nested():
        try:
            with tuner.record(db + "2"):
                pass
        except ValueError as error:
            return str(error)
        finally:
            lock.free()
    record(lambda: once_in("_recording.py", nested))
    print(calls(), done[1])
    """
    found = output(code, tmp_path / "s.db", when)
    assert found == "[1] record(): calls are recorded already"


@pytest.mark.parametrize("when", ["begin", "end"])
def test_a_handler_that_forks_while_a_recording_waits(tmp_path, when):
    """The child goes on without the recording, and may make its own."""
    code = """
    def fork():
        child = os.fork()
        if child:
            lock.free()
        else:
            lock.process.stdin.close()  # which the one with the lock reads to its end
        return child
    record(lambda: once_in("_recording.py", fork))
    if done[1] == 0:
        with tuner.record(db + "2"):
            works()
        os._exit(calls(db + "2") != [1])
    print(calls(), os.waitpid(done[1], 0)[1])
    """
    assert output(code, tmp_path / "s.db", when) == "[1] 0"


def test_a_thread_that_forks_while_a_recording_waits(tmp_path):
    code = """
    def fork():
        time.sleep(0.5)
        child = os.fork()
        if child == 0:
            os._exit(0)
        done.append(os.waitpid(child, 0)[1])
    thread = threading.Thread(target=fork)
    def start():
        thread.start()
        subprocess.Popen(["sh", "-c", f"sleep 2; kill {lock.process.pid}"])  # needs no GIL
    record(start)
    thread.join()
    print(calls(), done)
    """
    assert output(code, tmp_path / "s.db", "end") == "[1] [0]"


@pytest.mark.parametrize("when", ["begin", "end"])
def test_ctrl_c_while_a_recording_waits(tmp_path, when):
    code = """
    def press():
        os.kill(os.getpid(), signal.SIGINT)
    try:
        record(lambda: once_in("_recording.py", press))
    except KeyboardInterrupt:
        lock.free()
    when = ""
    record(None)
    print(done[0], calls())
    """
    assert output(code, tmp_path / "s.db", when) == "None [1]"


STORE = """
store, info = _core.Store(db, True), _core.device_info("cpu")
store.set_device(info)
lock = Lock()
"""


def test_a_handler_that_reads_a_store_that_waits(tmp_path):
    code = """
    def nested():
        try:
            return next(store.rows(), None)
        except ValueError as error:
            return str(error)
        finally:
            lock.free()
    once_in("<string>", nested)
    store.set_device(info)
    print(done[1], next(store.rows(), None))
    """
    found = output(STORE + textwrap.dedent(code), tmp_path / "s.db", "")
    assert found == ("a call of a store was made from within another, as by a signal handler None")


def test_a_thread_that_asks_for_the_log_of_a_store_that_waits(tmp_path):
    """It has the GIL."""
    code = """
    def ask():
        time.sleep(0.5)
        done.append(store.has_log())
        lock.free()
    threading.Thread(target=ask).start()
    store.set_device(info)
    print(done)
    """
    assert output(STORE + textwrap.dedent(code), tmp_path / "s.db", "") == "[True]"


def test_a_store_in_a_forked_child(tmp_path):
    """It is refused, also where the parent is in a call of it, and may be closed."""
    code = """
    def refused():
        for call in (lambda: store.set_device(info), lambda: next(store.rows())):
            try:
                call()
            except ValueError as error:
                done.append(str(error))
        store.close()
        return len(done) == 2 and all("forked" in text and "with spawn" in text for text in done)
    def fork():
        time.sleep(0.5)
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            os._exit(not refused())
        done.append(os.waitpid(child, 0)[1])
        lock.free()
    threading.Thread(target=fork).start()
    store.set_device(info)
    print(done, next(store.rows(), None))
    """
    assert output(STORE + textwrap.dedent(code), tmp_path / "s.db", "") == "[0] None"


def test_a_handler_that_forks_within_a_call_of_a_store(tmp_path):
    """The child leaves the call to its parent."""
    code = """
    once_in("<string>", os.fork)
    try:
        store.set_device(info)
        said = ""
    except ValueError as error:
        said = str(error)
    if done[1] == 0:
        os._exit("forked during a call of a store" not in said)
    print(os.waitpid(done[1], 0)[1], repr(said))
    """
    free = """
    subprocess.Popen(["sh", "-c", f"sleep 2; kill {lock.process.pid}"])
    """
    found = output(STORE + textwrap.dedent(free + code), tmp_path / "s.db", "")
    assert found == "0 ''"


def test_a_child_does_not_write_what_its_parent_has_open(tmp_path):
    """SQLite takes no lock for it."""
    code = """
    def refused():
        try:
            _core.Store(db, True)
        except ValueError as error:
            return "with spawn" in str(error) and next(_core.Store(db).rows(), None) is None
    def child(right):
        number = os.fork()
        if number == 0:
            os._exit(not right())
        return os.waitpid(number, 0)[1]
    store = _core.Store(db, True)
    first = child(refused)
    store.close()
    print(first, child(lambda: _core.Store(db, True).close() is None))
    """
    assert output(code, tmp_path / "s.db", "") == "0 0"


def test_sigterm_while_a_recording_ends(tmp_path):
    """It ends the process once the calls are written."""
    code = """
    def terminate():
        os.kill(os.getpid(), signal.SIGTERM)
        lock.free()
    record(lambda: once_in("_recording.py", terminate))
    print("goes on")
    """
    code = BEGIN + RECORD + textwrap.dedent(code)
    result = isolated.run(code, tmp_path / "s.db", "end")
    assert (result.returncode, result.stdout) == (-signal.SIGTERM, "")
    assert output("print(calls())", tmp_path / "s.db", "") == "[1]"


def test_an_error_while_a_recording_ends_loses_no_call(tmp_path):
    code = """
    class Stop(Exception):
        pass
    def stop(*_):
        lock.free()
        raise Stop
    signal.signal(signal.SIGALRM, stop)
    try:
        with tuner.record(db):
            lock = Lock()
            for n in range(1, 400):
                cubc.sum(np.ones(n), device="cpu")
            signal.setitimer(signal.ITIMER_REAL, 0.02)
    except Stop:
        print(len(calls()))
    """
    assert output(code, tmp_path / "s.db", "") == "399"


def test_a_recording_of_a_program_that_closes_descriptors(tmp_path):
    code = """
    pipes = {f for f in os.listdir("/proc/self/fd") if f.isdecimal()}
    def close():
        new = {f for f in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/" + f)}
        os.close(max(map(int, new - pipes)))
        begun = time.process_time()
        time.sleep(1)
        done.append(time.process_time() - begun < 0.3)
    with tuner.record(db):
        works()
        close()
    print(calls(), done)
    """
    assert output(code, tmp_path / "s.db", "") == "[1] [True]"


def test_stores_beside_a_shared_cache(tmp_path):
    """The program uses SQLite itself."""
    code = """
    import ctypes
    for name in "ab":
        store = _core.Store(db + name, True)
        store.set_device(_core.device_info("cpu"))
        names = ("benchmark", "source_hash", "ct", "rt", "status", "message")
        samples = ("samples", "base_samples", "clocks", "base_clocks")
        row = dict.fromkeys(names, "x") | dict.fromkeys(samples, b"")
        store.add(row | {"axes": "[]", "variant": name, "round": 0})
        store.close()
    assert ctypes.CDLL("libsqlite3.so.0").sqlite3_enable_shared_cache(1) == 0
    stores = [_core.Store(db + name) for name in "ab"]
    print([row["variant"] for store in stores for row in store.rows()])
    """
    assert output(code, tmp_path / "s.db", "") == "['a', 'b']"
