"""Parameters of every kind: ranges, lists of numbers and of names, options of the compiler."""

import random
import time
from types import SimpleNamespace

import numpy as np
import pytest
import stores
from nvrtc import why_no_nvrtc
from searches import TIMING

import cubc
from cubc import _core, tuner
from cubc.tuner import _strategy as strategy
from cubc.tuner._benchmark import SourceSpace
from cubc.tuner._constraints import Constraint
from cubc.tuner._importance import varied
from cubc.tuner._replay import TableSpace, replay
from cubc.tuner._search import scores_of_others
from cubc.tuner._source import Source
from cubc.tuner._space import parse_label
from cubc.tuner._strategy.distance import Distances
from cubc.tuner._strategy.points import place

CHECK = """
// %RANGE% TUNE_THREADS tpb 32,96,64
// %RANGE% TUNE_SIZED acc float,double,two_words cpu=two_words,float
// %RANGE% -DNUMBER= num 0,17
// %RANGE% -DSWITCH on 0:1:1
struct two_words { long long words[2]; };
#ifndef NUMBER
#define NUMBER 0
#endif
#ifdef SWITCH
#define IS_ON 1
#else
#define IS_ON 0
#endif
// Every item says which of the values are not what the variant has.
__global__ void check(unsigned* wrong, unsigned threads, unsigned bytes, unsigned number,
                      unsigned on, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        wrong[i] = (threads != TUNE_THREADS) + 2 * (bytes != sizeof(TUNE_SIZED)) +
                   4 * (number != NUMBER) + 8 * (on != IS_ON);
}
"""
BYTES = {"float": 4, "double": 8, "two_words": 16}


def declared(*lines, arch="cpu"):
    text = "".join(f"// %RANGE% {line}\n" for line in lines)
    return _core.source_parameters(text, arch)


def test_values_as_they_are_declared():
    found = declared("TUNE_A a 1:9:4", "TUNE_B b 32,64,100", "TUNE_C c one,x_y", "TUNE_D d 7")
    assert [values for *_, values in found] == [
        range(1, 10, 4),
        (32, 64, 100),
        ("one", "x_y"),
        (7,),
    ]
    found = declared("-O= o 1,2 cpu=3:5:1 cuda=x,y", arch="sm_90")
    assert found == [("-O=", "o", ("x", "y"))]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("TUNE_A a 32,,64", "a list has"),
        ("TUNE_A a 32,64,", "a list has"),
        ("TUNE_A a ,32", "a list has"),
        ("TUNE_A a 32,float", "a list has"),
        ("TUNE_A a float,32", "a list has"),
        ("TUNE_A a -1,2", "a list has"),
        ("TUNE_A a 100000000,2", "a list has"),
        ("TUNE_A a x;y,z", "a list has"),
        ("TUNE_A a x_8,z", "a list has"),
        ("TUNE_A a _x,z", "a list has"),
        ("TUNE_A a " + "x" * 24, "a list has"),
        ("TUNE_A a 32,64,032", "twice"),
        ("TUNE_A a float,double,float", "twice"),
        ("TUNE_A a 1,2 cpu=x,x", "twice"),
        ("TUNE_A a 1,2 cpu=", "start:end:step"),
        ("TUNE_A a 1,2 cpu", "only kind=values"),
        ("TUNE_A a 1,2 cpuu=128", "a kind is cpu or cuda"),
        ("TUNE_A a 1:9:1 gpu=7,8", "a kind is cpu or cuda"),
        ("TUNE_A a 1,2 cuda=3 CPU=128", "a kind is cpu or cuda"),
        ("TUNE_A a 1,2 =128", "a kind is cpu or cuda"),
        ("-o/tmp/x a 0,1", "nor an option"),
        ("-f,g a 0,1", "nor an option"),
        ("- a 0,1", "nor an option"),
        ("-fast a 0,2", "takes no value"),
        ("-fast a 0:2:1", "takes no value"),
        ("-fast a yes,no", "takes no value"),
    ],
)
def test_malformed_values(line, wrong):
    with pytest.raises(ValueError, match=f"line 1: malformed %RANGE%: .*{wrong}"):
        declared(line)


@pytest.mark.parametrize(
    "line",
    [
        "#define TUNE_A 1 // %RANGE% TUNE_A a 1:8:1",
        "/* %RANGE% TUNE_A a 1,2 */",
        "/* %RANGE% TUNE_A a 1,2*/",
        " * %RANGE% --maxrregcount= a 32,64 cpu=0",
        "int percent = 3 % 2; // %RANGE% TUNE_A a 1:8:1 of the threads",
    ],
)
def test_declarations_that_are_no_lines_of_their_own(line):
    with pytest.raises(ValueError, match="line 2: malformed %RANGE%: it is a line of its own"):
        _core.source_parameters(f"// %RANGE% TUNE_B b 1,2\n{line}\n", "cpu")


@pytest.mark.parametrize(
    "line",
    [
        "// Its %RANGE% lines are read.",
        "int x; // a %RANGE% MACRO label start:end:step",
        "int x; // the %RANGE% lines of 7",
        "int x = a %RANGE% b;",
    ],
)
def test_words_about_declarations(line):
    assert len(_core.source_parameters(f"// %RANGE% TUNE_B b 1,2\n{line}\n", "cpu")) == 1


def own(source=CHECK, name="check", **options):
    def function(state):
        wrong = state.zeros(dtype="U32")
        state.writes(wrong)
        state.exec(
            lambda launch: launch.kernel(
                name, wrong, launch.tpb, BYTES[launch.acc], launch.num, launch.on, wrong.size,
                grid=(wrong.size + launch.tpb - 1) // launch.tpb, block=launch.tpb,
            )
        )  # fmt: skip
        state.verify(wrong, np.zeros(wrong.size, np.uint32))

    return tuner.benchmark(source, {"Elements{io}[pow2]": [8]}, **options)(function)


def search(db, device, **options):
    options = {"timing": TIMING, "racing": False, "confirm": 0, "variants": 40} | options
    return tuner.search(own(base={"acc": "float"}), db=db, device=device, **options)


def test_a_variant_has_its_names_and_options(tmp_path, device):
    db = tmp_path / "own.db"
    result = search(db, device)
    rows = {row["variant"]: row for row in stores.read(db)}
    assert {(row["status"], row["message"]) for v, row in rows.items() if v != "base"} == {
        ("ok", "")
    }
    assert rows["base"]["message"] == "tpb_32.acc_float.num_0.on_0"
    kinds = 2 if device == "cpu" else 3
    assert len(rows) == 3 * kinds * 2 * 2
    assert "tpb_96.acc_two_words.num_17.on_1" in rows
    assert result.best().label in rows


def test_names_are_compared_in_constraints(tmp_path, device):
    db = tmp_path / "own.db"
    search(db, device, constraints="acc != 'float' and (on == 1 or tpb < 96)")
    labels = {row["variant"] for row in stores.read(db)} - {"base"}
    assert labels
    assert not any("float" in label for label in labels)
    assert not any("tpb_96" in label and "on_0" in label for label in labels)


def test_constraints_that_compute_with_names_hold_never():
    """Python would repeat a text, or format it."""
    for text in ("acc * 9 == 1", "acc % 3 == 1", "-acc == 1", "acc < 1"):
        assert not Constraint(text)({"acc": "float"})
    assert Constraint("acc == 'float'")({"acc": "float"})
    assert Constraint("acc == 'float' or acc == 'double'")({"acc": "double"})


def space(*lines):
    text = "".join(f"// %RANGE% {line}\n" for line in lines)
    return SourceSpace(Source(text + "__global__ void f() {}\n", "own"), "cpu", ())


def test_places_of_labels():
    made = space("TUNE_A a 64,32", "TUNE_B b float,x_y", "TUNE_C c 0:8:4")
    labels = [made.label(number) for number in range(made.size)]
    assert labels[0] == "a_64.b_float.c_0"
    assert [place(made, label) for label in labels[:4]] == [
        (0, 0, 0),
        (0, 0, 1),
        (0, 0, 2),
        (0, 1, 0),
    ]
    assert all(made.valid(label) for label in labels)
    for other in ("a_64.b_floaty.c_0", "a_64.b_0.c_0", "a_33.b_float.c_0", "a_64.b_float"):
        assert place(made, other) is None
        assert not made.valid(other)
    assert parse_label("a_64.b_x_y.c_0") == {"a": 64, "b": "x_y", "c": 0}
    assert parse_label("block_size_x_32") == {"block_size_x": 32}


def test_a_base_that_is_not_declared():
    with pytest.raises(ValueError, match=r"base has acc=half, declared is two_words,float"):
        own(base={"acc": "half"}).base("cpu")
    with pytest.raises(TypeError, match="must be a whole number"):
        own(base={"tpb": "float"})
    assert own(base={"acc": "double"}).base("sm_90") == "tpb_32.acc_double.num_0.on_0"


def test_names_are_all_equally_far():
    distances = Distances([("a", "b", "c"), (1, 2)])
    seen = distances.see([(0, 0), (1, 0), (2, 0)])
    apart = distances.squared(seen, seen, np.ones(2))
    assert np.allclose(apart, 1 - np.eye(3))


def table():
    """Times of which one kind of accumulator is right, and only with the right block."""
    names = ("float", "double", "half", "mixed", "fixed")
    rng = random.Random(0)
    times = {
        f"acc_{name}.tpb_{tpb}.ipt_{ipt}": 1 + abs(ipt - 7) / 8 + (name != "half") * 0.3
        + abs(tpb - 192) / 300 + rng.random() / 100
        for name in names for tpb in range(32, 513, 32) for ipt in range(1, 17)
    }  # fmt: skip
    return TableSpace(times)


@pytest.mark.parametrize("name", ["model", "genetic", "annealing"])
def test_strategies_learn_names(name):
    made = table()
    found = [made.best / replay(strategy.make(name), made, 120, seed, 4)[-1] for seed in range(3)]
    chance = [made.best / replay(strategy.make("random"), made, 120, s, 4)[-1] for s in range(3)]
    assert sum(found) > sum(chance)
    assert max(found) > 0.97


def test_a_sampler_of_optuna_chooses_names():
    optuna = pytest.importorskip("optuna", reason="Optuna is not installed")
    made = table()
    chosen = strategy.make(optuna.samplers.RandomSampler(seed=1))(made, 0)
    kinds = chosen._choices
    assert type(kinds["acc"]).__name__ == "CategoricalDistribution"
    assert type(kinds["tpb"]).__name__ == "IntDistribution"
    for _ in range(5):
        label = chosen.ask()
        assert made.valid(label)
        chosen.tell(label, made.score(label))


def test_an_analysis_of_names(tmp_path, device):
    db = tmp_path / "own.db"
    search(db, device)
    analysis = tuner.analyze(db)
    (group,) = analysis.groups
    assert varied(group)["acc"] == ["float", "two_words"] if device == "cpu" else sorted(BYTES)
    assert {"acc", "tpb", "num", "on"} == set(analysis.importance()["parameter"])
    matplotlib = pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    analysis.plot_parallel()
    axes = analysis.plot_heatmap("acc", "tpb")
    assert [tick.get_text() for tick in axes.get_xticklabels()] == varied(group)["acc"]
    matplotlib.pyplot.close("all")


def test_a_program_has_as_many_launches_as_fit_behind_a_held_stream():
    kernel = Source("__global__ void f(int* x) { *x += 1; }\n", "own")
    program = _core.Program(kernel.compiled("cpu", {}), "own", "cpu", 0)
    x = cubc.asarray(np.zeros(1, np.int32), device="cpu")
    for _ in range(900):
        program.add("f", (x,), (1, 1, 1), (1, 1, 1), 0)
    with pytest.raises(ValueError, match="more than 900 launches"):
        program.add("f", (x,), (1, 1, 1), (1, 1, 1), 0)
    program.run()
    assert x.tolist() == [900]


def test_options_reach_the_compiler():
    kernel = Source("__global__ void f(int* x) { *x = 1; }\n", "own")
    for arch in ("cpu",) if why_no_nvrtc() else ("cpu", "sm_90"):
        _core.source_compile(kernel.compiled(arch, {}), arch, "own", 60)
        with pytest.raises(_core.CompileError):
            text = kernel.compiled(arch, {}, options=["--certainly-no-option"])
            _core.source_compile(text, arch, "own", 60)


@pytest.mark.gpu
def test_what_nvrtc_keeps_is_told_apart_by_options():
    """The sine of a large number is far off with fast arithmetic."""
    seed = time.time_ns() % 10**9  # a source that was never compiled
    kernel = Source(f"__global__ void f(float* x) {{ *x = sinf(*x) + 0 * {seed}; }}\n", "own")
    found = []
    for options in ([], ["--use_fast_math"], ["--maxrregcount=64"]):
        text = kernel.compiled(cubc.device_info("cuda:0")["arch"], {}, options=options)
        program = _core.Program(text, "own", "cuda:0", 0)
        x = cubc.asarray(np.array([123456.0], np.float32), device="cuda:0")
        program.add("f", (x,), (1, 1, 1), (1, 1, 1), 0)
        program.run()
        found.append(float(x.numpy()[0]))
    assert found[0] == found[2] == pytest.approx(np.sin(123456.0), rel=1e-5)
    assert abs(found[1] - found[0]) > 1e-4


def test_an_option_of_a_stranger_is_no_path():
    kernel = Source("__global__ void f(int* x) { *x = 1; }\n", "own")
    for option in ("-o/tmp/x", "-a -b", "x", "-a;b"):
        with pytest.raises(ValueError, match="is no option"):
            _core.source_compile(kernel.compiled("cpu", {}, options=[option]), "cpu", "own", 60)


# ---- parameters of earlier versions --------------------------------------------------------------
NOW = "ipt_16.tpb_256.mb_1.ipv_2.ld_1.la_0.ord_1.ns_350.l2w_450"
EARLIER = NOW.replace(".ns_", ".lb_1.ns_")


def test_a_label_of_an_earlier_version_names_its_variant(policies):
    """A parameter that is gone has one value left, which the code has now."""
    where = ("select.if", {"T{ct}": "F32"}, "sm_90")
    assert _core.current_label("select.if", "sm_90", EARLIER) == NOW
    assert _core.variant_invalid(*where, EARLIER) is None
    _core.use_policy(*where, EARLIER)
    assert _core.policy(*where) == NOW
    other = EARLIER.replace("lb_1", "lb_2")
    assert _core.current_label("select.if", "sm_90", other) == other
    with pytest.raises(ValueError, match="the labels being ipt, tpb"):
        _core.use_policy(*where, other)
    assert _core.current_label("a kernel of one's own", "sm_90", EARLIER) == EARLIER


def test_a_gone_parameter_may_have_another_value_on_the_cpu():
    def of(arch, label):
        return _core.current_label("deterministic_scan.sum", arch, label)

    assert of("cpu", "tpb_1.ld_0.ord_0") == "tpb_1.ld_0"
    assert of("sm_90", "tpb_64.ld_2.ord_1") == "tpb_64.ld_2"
    for arch, other in [("cpu", "tpb_1.ld_0.ord_1"), ("sm_90", "tpb_64.ld_2.ord_0")]:
        assert of(arch, other) == other  # another program, of which there is none now


def test_a_warm_search_takes_labels_of_earlier_versions():
    def group(device, *ranked):
        return SimpleNamespace(
            benchmark="select.if", ct={}, arch="sm_90", device=device, key=device,
            ranked=lambda: ranked,
        )  # fmt: skip

    stored = group("other", (2.0, EARLIER), (1.0, "base"))
    assert scores_of_others([group("mine")], [stored]) == [{NOW: 2.0}]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("lb", "expected: label value"),
        ("lb 1 2", "behind the value only kind=value may follow"),
        ("lb 1 cpu=x", "behind the value only kind=value may follow"),
        ("lb 1 gpu=2", "a kind is cpu or cuda"),
        ("l_b 1", "expected: label value"),
        ("lb x", "expected: label value"),
        ("tpb 1", "the label was used"),
    ],
)
def test_malformed_lines_of_gone_parameters(line, wrong):
    text = f"// %RANGE% TUNE_THREADS tpb 32,64\n// %GONE% {line}\n"
    with pytest.raises(ValueError, match=f"line 2: malformed %GONE%: {wrong}"):
        _core.source_parameters(text, "cpu")


def test_a_parameter_that_is_gone_is_declared_no_more():
    with pytest.raises(ValueError, match="malformed %RANGE%: the label is gone"):
        _core.source_parameters("// %GONE% tpb 1\n// %RANGE% TUNE_THREADS tpb 32,64\n", "cpu")
    lines = "".join(f"// %GONE% a{k} 1\n" for k in range(9))
    with pytest.raises(ValueError, match="more than 8"):
        _core.source_parameters(lines, "cpu")
