"""Mistakes in a benchmark of one's own: each is told where it was made."""

import isolated
import pytest

from cubc import tuner

SOURCE = """
// %RANGE% THREADS tpb 1,32
__global__ void twice(float* x, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) x[i] *= 2;
}
"""
PROGRAM = """
from cubc import tuner

@tuner.benchmark("twice.cu", {"Elements": [8]})
def twice(state):
    x = state.random(dtype="F32")
    state.exec(lambda launch: launch.kernel("twice", x, x.size, MISTAKE))

tuner.search(twice, db="s.db", device="cpu", variants=1, confirm=0)
"""
FACTORY = """
from cubc import tuner

def search(check, metric):
    def named(y):
        return check(y)

    @tuner.benchmark("twice.cu", {"Elements": [8]})
    def twice(state):
        x = state.random(dtype="F32")
        state.writes(x)
        state.verify(x, named)
        state.metric("score", metric)
        state.exec(lambda launch: launch.kernel("twice", x, x.size))

    tuner.search(twice, db="s.db", device="cpu", variants=1, confirm=0)
"""
CALLER = """
import factory

def score(values):
    return {}["score"]

factory.search(lambda y: CHECK, score)
"""


def error_of_base(program):
    """The end of what a program prints whose benchmark's base does not run."""
    code = "import os, runpy, sys\nos.chdir(sys.argv[1])\nsys.path.insert(0, sys.argv[1])\n"
    code += "runpy.run_path(sys.argv[2], run_name='__main__')"
    done = isolated.run(code, program.parent, program)
    return done.stderr.rpartition("base does not run: ")[2]


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("shared='x'", "TypeError: kernel(): shared is 'x', must be a whole number"),
        ("shared=-1", "ValueError: kernel(): shared is -1, must be a whole number of at least 0"),
        ("shared=1 << 40", "ValueError: kernel(): shared is 1099511627776, must be"),
    ],
)
def test_an_error_names_the_line_of_the_function(tmp_path, mistake, message):
    """The function is pickled, which forgets its file, and is called through cubc."""
    (tmp_path / "twice.cu").write_text(SOURCE)
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("MISTAKE", mistake))
    told = error_of_base(program)
    line = PROGRAM.replace("MISTAKE", mistake).split("\n")[6].strip()
    assert f'File "{program}", line 7, in <lambda>\n    {line}\n' in told
    assert message in told and "_calls.py" not in told


def test_an_error_names_the_file_of_each_function(tmp_path):
    """A check and a metric need not be of the module that makes the benchmark."""
    (tmp_path / "twice.cu").write_text(SOURCE)
    factory, program = tmp_path / "factory.py", tmp_path / "program.py"
    factory.write_text(FACTORY)
    program.write_text(CALLER.replace("CHECK", "1 / 0"))
    told = error_of_base(program)
    assert f'File "{factory}", line 6, in named\n    return check(y)\n' in told
    assert f'File "{program}", line 7, in <lambda>\n    factory.search(lambda y: 1 / 0' in told
    program.write_text(CALLER.replace("CHECK", "True"))
    told = error_of_base(program)
    assert f'File "{program}", line 5, in score\n    return {{}}["score"]\n' in told


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ({"Elements{oi}": [8]}, r"axis Elements\{oi\} has a flag \{oi\}; one is \{ct\}, \{io\}"),
        ({"Elements[pow3]": [8]}, r"has a flag \[pow3\]"),
        ({"Elements": [8], "Elements{io}": [9]}, "axis Elements is declared twice"),
        ({"T{ct}": ["F32"], "T{ct}{io}": ["F64"]}, "axis T is declared twice"),
    ],
)
def test_axes_that_a_store_could_not_keep(axes, message):
    with pytest.raises(ValueError, match=message):
        tuner.benchmark(SOURCE, axes)(lambda_named_twice)


@pytest.mark.parametrize(
    ("macro", "axes", "message"),
    [
        ("TUNE_T", {"T{ct}": ["F32"]}, r"parameter x and axis T\{ct\} are both the macro TUNE_T"),
        ("T", {"T{ct}": ["F32"]}, r"parameter x and axis T\{ct\} are both the macro T:"),
        ("A", {"T{ct}": ["F32"], "TUNE_T{ct}": ["F64"]}, r"axis T\{ct\} and axis TUNE_T\{ct\} are"),
    ],
)
def test_a_macro_of_two_things(macro, axes, message):
    source = f"// %RANGE% {macro} x 1:2:1\n__global__ void k(float* x) {{}}\n"
    with pytest.raises(ValueError, match=message):
        tuner.benchmark(source, axes)(lambda_named_twice)
    tuner.benchmark(source, {"T": [1], "OF_T{ct}": ["F32"]})(lambda_named_twice)


def lambda_named_twice(state):
    """Function of a benchmark."""


def test_a_type_and_an_extent_may_share_a_name():
    found = tuner.benchmark(SOURCE, {"T{ct}": ["F32"], "T": [9]})(lambda_named_twice)
    assert [axis.name for axis in found.axes] == ["T{ct}", "T"]
