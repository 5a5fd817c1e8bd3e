"""The command line, in process and as a command."""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import stores
from searches import TIMING
from stores import confirmed, row, write

from cubc import _core, tuner
from cubc.tuner import _cli as cli
from cubc.tuner._cli import main
from cubc.tuner._result import Result

A, B, C = stores.variants()
EXAMPLE = tuner.example_db()


@pytest.fixture
def db(tmp_path):
    return write(
        tmp_path / "s.db", [row("base", 16), *confirmed(A, 16, 5e-4), *confirmed(B, 16, 1e-4)]
    )


def test_devices(capsys):
    assert main(["devices"]) == 0
    assert _core.device_info("cpu")["model"] in capsys.readouterr().out


def test_devices_without_a_compiler(capsys, monkeypatch):
    known = _core.device_info("cpu") | {"compiler": "none"}  # what it says once a process
    monkeypatch.setattr(_core, "device_info", lambda name: known)
    monkeypatch.setattr(_core, "devices", lambda: ["cpu"])
    assert main(["devices"]) == 0
    assert "no C++ compiler: nothing is computed here without g++" in capsys.readouterr().out


def test_version(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"cubc {_core.__version__}\n"


def test_list(capsys):
    assert main(["search", "-R", ".*reduce.*", "-l", "--device", "cpu"]) == 0
    out = capsys.readouterr().out
    assert "reduce.sum: " in out
    assert "    T{ct} = [" in out
    assert "scan" not in out


def test_search_and_analyze(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cli, "search", functools.partial(cli.search, timing=TIMING))
    db = str(tmp_path / "x.db")
    axes = ["-a", "T{ct}=[F32]", "-a", "Elements{io}[pow2]=16"]
    command = ["search", "-R", "reduce.sum", *axes, "--db", db, "--device", "cpu", "--variants"]
    assert main([*command, "2"]) == 0
    assert "base" in capsys.readouterr().out
    rows = stores.read(db)
    assert len({r["variant"] for r in rows}) == 3
    assert {r["ct"] for r in rows} == {"T{ct}=F32"}
    assert main(["analyze", "--top", "5", "--coverage", str(tmp_path / "*.db")]) == 0
    out = capsys.readouterr().out
    assert "coverage" in out
    assert "score" in out


def test_policies(db, capsys):
    assert main(["analyze", "--policies", str(db)]) == 0
    near = "Elements=16384:262144"
    assert capsys.readouterr().out == f'POLICY("cpu", "reduce.sum", "F32", "{near}", "{B}")\n'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "-R", "reduse"], "no benchmark"),
        (["search", "-R", "reduce.sum", "-a", "T=F99"], "does not declare F99"),
        (["search", "-R", "reduce.sum", "-a", "Elements=[20,1000]"], "expected exponents of two"),
        (["search", "-R", "reduce.sum", "-a", f"Elements={2**64}"], "expected at most 2^40"),
        (["search", "-R", "segmented_reduce.sum", "-a", "SegmentSize=0"], "a positive number"),
        (["search", "-R", "reduce.sum", "-a", "Element=20"], "did you mean Elements"),
        (["search", "-R", "reduce.sum", "-a", "nonsense"], "form"),
        (["search", "-l", "-a", "Elemnts=16"], "and "),
        (["search", "-R", "reduce.sum", "-l", "-a", "Elemnts=16"], "did you mean Elements"),
        (["report", __file__, "-o", "r.html"], "is not a cubc store"),
        (["policy", EXAMPLE, "-o", "none/p"], "; there is no folder "),
        (["policy", EXAMPLE, "-o", "p", "--header"], "-o writes policies: leave it out"),
        (
            ["record", "-o", "x.db", "--", "no-such-program"],
            "there is no program 'no-such-program'",
        ),
        (["bundle", "--", "no-such-program"], "there is no program 'no-such-program'"),
        (["record", "-o", "x.db", "--", EXAMPLE], "is not executable: chmod +x makes it so"),
        (["analyze", EXAMPLE, "-a", "T=F32"], "of this; there is reduce.sum I16, scan."),
        (["search", "-R", "reduce.sum", "-a", "T{ct}=[]"], "'T{ct}=[]' holds no value: write"),
        (["search", "-R", "reduce.sum", "-a", "T="], "not of the form Axis=value"),
        (["search", "-R", "(", "-l"], "no regular expression"),
        (["search", "-R", "reduce.sum", "--device", "tpu"], "tpu"),
        (["search", "-R", "reduce.sum", "--variants", "0"], "at least 1"),
        (["search", "-R", "reduce.sum", "--seconds", "-1"], "positive"),
        (["analyze", "no-such.db"], "no store"),
        (["analyze", "*.nothing"], "no store"),
        (["analyze", "."], "is a folder"),
        (["analyze", ""], "no path of a store"),
        (["compare", "a", "b", "--device", "cpu"], "--device is for --live: stores have what was"),
        (
            ["compare", "a", "b", "--live", "-R", "x", "--drift", "1"],
            "--drift is of stores: --live",
        ),
        *(
            (["verify", *measured, form, "x"], f"{form} is of machine code: --variant and --db")
            for form in ("--write", "--against", "--listings", "--arch")
            for measured in (["--db", EXAMPLE], ["-R", "reduce.sum", "--variant", "ipt_1"])
        ),
        (["verify", "--against", "x", "--device", "cpu"], "--device is for --variant and --db"),
    ],
)
def test_errors_are_one_line_and_status_2(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert message in err
    assert err.startswith(f"cubc {arguments[0]}: ")
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_workloads_that_the_time_did_not_reach_are_told(monkeypatch, capsys):
    groups = tuner.analyze(tuner.example_db()).groups
    found = Result(groups, {}, {"sort.keys I64": "", "reduce.sum F32": "seconds"})
    monkeypatch.setattr(cli, "search", lambda *_, **__: found)
    assert main(["search", "-R", "reduce.sum"]) == 0
    told = "cubc search: no time was left for sort.keys I64: search longer\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize("n", ["0", "-3"])
@pytest.mark.parametrize("more", [[], ["--coverage"]])
def test_a_count_that_is_none(db, n, more, capsys):
    assert main(["analyze", "--top", n, *more, str(db)]) == 2
    assert f"number of variants to show is {n}, must be" in capsys.readouterr().err


def test_a_missing_package_is_one_line(db, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert main(["analyze", str(db)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("cubc analyze: this needs pandas")
    assert err.count("\n") == 1


@pytest.mark.filterwarnings("default")
def test_rows_left_out_are_said_once(tmp_path, capsys):
    bad = [row(A, 16, status="bogus"), row(C, 16, status="bogus")]
    db = write(tmp_path / "b.db", [row("base", 16), *bad])
    assert main(["analyze", str(db)]) == 0
    assert capsys.readouterr().err.count("2 of its rows left out") == 1


def test_wrong_usage():
    with pytest.raises(SystemExit, match="2"):
        main(["search", "--nonsense"])


def test_as_a_module(db):
    command = [sys.executable, "-m", "cubc", "analyze", "--top", "1", str(db)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert B in done.stdout
    assert not done.stderr


def test_a_reader_that_leaves(db):
    """It leaves before the first line, and the command keeps few lines until it ends."""
    command = [sys.executable, "-m", "cubc", "analyze", str(db)]
    for unbuffered in ("", "1"):
        reader, writer = os.pipe()
        os.close(reader)
        env = os.environ | {"PYTHONUNBUFFERED": unbuffered}
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, env=env, check=False)
        os.close(writer)
        assert (done.returncode, done.stderr) == (0, b"")


def test_profile_of_everything_is_not_meant(capsys):
    assert main(["profile"]) == 2
    assert "cubc profile: -R is needed" in capsys.readouterr().err


def test_profile(capsys):
    """One line a workload; the kernel ran."""
    arguments = ["profile", "-R", "reduce.sum", "-a", "T=F32", "-a", "Elements=[16,20]"]
    assert main([*arguments, "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["reduce.sum", "F32", f"Elements{{io}}[pow2]={n}"] for n in (16, 20)
    ]
    assert main([*arguments, "--device", "cpu", "--variant", "ipt_1"]) == 2
    assert "ipt_1" in capsys.readouterr().err


COMMANDS = [
    [shutil.which("cubc", path=Path(sys.executable).parent)],
    [sys.executable, "-m", "cubc"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=["cubc", "-m"])
@pytest.mark.parametrize("interrupted", [True, False])
def test_an_interrupt_while_modules_are_imported_is_no_traceback(tmp_path, command, interrupted):
    raises = "KeyboardInterrupt" if interrupted else "ValueError('of numpy')"
    (tmp_path / "numpy.py").write_text(f"raise {raises}")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([*command, "devices"], env=environment, capture_output=True, text=True)
    assert done.returncode == (130 if interrupted else 1)
    assert done.stderr.endswith("" if interrupted else "ValueError: of numpy\n")
    assert not interrupted or not done.stderr


def test_without_a_command_it_says_what_there_is(capsys):
    assert main([]) == 2
    assert "search    measure variants into a store" in capsys.readouterr().err


def test_no_output_at_all(tmp_path):
    """A process whose output is closed has none to flush."""
    command = [sys.executable, "-P", "-m", "cubc", "search", "--list-benches"]
    result = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True
    )
    assert result.returncode == 0 and "Traceback" not in result.stderr
