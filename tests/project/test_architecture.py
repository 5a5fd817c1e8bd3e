"""The house rules that a machine can check: include directions, forbidden calls, file sizes.

Each rule is a function from a path and its text to a list of offences. It runs over every source
file, and over a planted offence, so that a rule that has gone blind shows as well.
"""

import re
import warnings
from functools import cache
from pathlib import Path

import pytest
from graphs import circle

ROOT = Path(__file__).resolve().parents[2]
LONG = 500  # lines, above which a file is named in a warning
LONGEST = 800

# A layer of csrc/ is a folder: it includes itself, these, and what they may include.
LAYERS = {
    "include": "",
    "base": "include",
    "device": "base",
    "device/cpu": "device",
    "device/cuda": "device",
    "compile": "device",
    "run": "compile",
    "primitives": "run",
    "measure": "run",
    "store": "run",
    "lattice/io": "base",
    "lattice/grid": "device",
    "lattice/operators": "run lattice/grid",
    "lattice/gauge": "lattice/operators",
    "lattice/solver": "lattice/operators",
    "python": "primitives measure store lattice/io lattice/gauge lattice/solver",
}
# Includes against the direction, and why they are still there.
EXCEPTIONS = {
    ("python", "device/cuda/cuda_api.h"): "Python says where CUDA's libraries are",
    ("python", "device/cpu/hostcc.h"): "a worker says how many compilers it has started",
}
# The same of kernels/. A kernel includes by bare name: the core knows the folders.
KERNEL_LAYERS = {
    "dialect": "",
    "block": "dialect",
    "grid": "block",
    "shared": "grid",
    "cpu": "shared",
    "primitives": "shared",
    "lattice/solver": "grid",
    "lattice": "shared lattice/solver",
}
# Algorithms without a test of their own name, and the tests that are of them.
TESTED_IN = {
    "clover_apply": "test_clover_term",
    "clover_invert": "test_clover_term",
    "deterministic_reduce": "test_deterministic",
    "deterministic_scan": "test_deterministic",
    "field_update": "test_solvers",
    "long_links": "test_fat_links",
    "spinor_twist": "test_dslash_twisted",
}
# Kernels that choose a size, a loop or no body by SIMT_SINGLE_THREAD, and why they are no kernel of
# the CPU.
SINGLE_THREAD = {
    "copy_batch.cu": "a single thread copies whole copies, where a thread of many takes 16 bytes",
    "histogram.cu": "neighbouring items count in different copies, as neighbouring lanes do",
    "ranks.h": "a single thread waits for many sites, and looks for a failure each time",
    "reduce.cu": "bytes are added four at a time where no compiler vectorises the loop",
    "runs.cu": "a single thread adds while it stores, without a branch",
    "scan.cu": "a single thread takes tiles alone, and has no teams",
    "select.cu": "a single thread stores without a branch",
    "topk.cu": "a single thread does not filter",
}
# Kernels with quotients of their own, rounded up. With the common one a kernel of segment_topk.h
# spills for doubles on compute capability 9.0.
OWN_QUOTIENTS = ("segment_topk.h",)  # whose comment says why
CUDA_HEADER = re.compile(r"^(cuda|nvrtc|nvml|nvJitLink|cub/|thrust/|cupti|driver_types)")


def source_files(folder, *suffixes):
    found = (path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)
    return sorted(p for p in found if p.is_file() and not p.parent.is_symlink())


CORE = source_files("csrc", ".c", ".h", ".def")
KERNELS = source_files("kernels", ".cu", ".h")
C_TESTS = [*source_files("tests/c", ".c", ".h"), *source_files("tests/fuzz", ".c", ".h")]
PYTHON = [
    path
    for folder in ("python", "tests", "benchmarks", "tools")
    for path in source_files(folder, ".py", ".pyi")
]
EVERYTHING = [
    *CORE,
    *KERNELS,
    *C_TESTS,
    *PYTHON,
    *source_files("benchmarks", ".cu"),
    *source_files("tools", ".sh"),
    ROOT / "setup.py",
    ROOT / "Makefile",
]
PROSE = [
    *ROOT.glob("*.md"),
    ROOT / "pyproject.toml",
    ROOT / ".ci/run",
    *source_files("notebooks", ".ipynb"),
    *source_files("docs", ".md"),
    *source_files("benchmarks", ".md", ".json", ".jsonl", ".csv"),
]


@cache
def without_comments(text, keep_strings=False):
    """Blank out comments (and the contents of literals), keeping the line structure."""
    token = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''

    def blank(match):
        word = match.group()
        if word[0] in "\"'":
            return word if keep_strings else word[0] * 2
        return "\n" * word.count("\n")

    return re.sub(token, blank, text, flags=re.DOTALL)


def includes(text):
    code = without_comments(text, keep_strings=True)
    return re.findall(r'^\s*#\s*include\s*[<"]([^">]+)[">]', code, flags=re.MULTILINE)


def below(layer, layers=LAYERS):
    """All layers that one may include."""
    return {layer}.union(*(below(other, layers) for other in layers[layer].split()))


def layer_of(path):
    """The folder of a file of csrc/; that of a public header is include/."""
    folder = path.relative_to(ROOT / "csrc").parent.as_posix()
    return "include" if folder.startswith("include") else folder


def include_direction(path, text):
    here, offences = layer_of(path), []
    if here not in LAYERS:
        return [f"no layer is known for {here}/: add it to LAYERS"]
    for header in includes(text):
        if (ROOT / "csrc/include" / header).exists():
            continue  # public: the lowest layer
        found = ROOT / "csrc" / header
        if not found.exists():
            if (path.parent / header).exists() or header.startswith("."):
                offences.append(f"{header} is not written from csrc/ on")
            continue  # the system's
        if layer_of(found) not in below(here) and (here, header) not in EXCEPTIONS:
            offences.append(f"{here} includes {header}, which is not below it")
    return offences


def python_only_in_bindings(path, text):
    if (ROOT / "csrc/python") in path.parents:
        return []
    return [h for h in includes(text) if Path(h).name in ("Python.h", "structmember.h")]


def sqlite_only_in_store(path, text):
    if (ROOT / "csrc/store") in path.parents and path.suffix == ".c":
        return []
    return [header for header in includes(text) if header.startswith("sqlite3")]


def no_cuda_headers(path, text):
    foreign = [header for header in includes(text) if not (ROOT / "csrc" / header).exists()]
    return [header for header in foreign if CUDA_HEADER.match(header)]


def core_knows_no_kernels(path, text):
    return [h for h in includes(text) if "kernels" in Path(h).parts or h.endswith(".cu")]


def nothing_prints_or_exits(path, text):
    code = without_comments(text)
    calls = r"(?:v?printf|puts|putchar|perror|exit|abort|assert)\s*\("
    stdio = r"(?:fprintf|fputs|fputc|putc|fwrite)\s*\([^;]*?\b(?:stdout|stderr)\b"
    return [m.group() for m in re.finditer(rf"\b(?:{calls}|{stdio})", code)]


def allocations_are_checked(path, text):
    if path.parent.name == "base" and path.name in ("error.c", "memory.c"):
        return []
    return re.findall(r"\b(?:malloc|calloc|realloc|strdup)\s*\(", without_comments(text))


def kernel_folder(path):
    return path.parent.relative_to(ROOT / "kernels").as_posix()


def kernels_include_only_kernels(path, text):
    """And of these only what is below."""
    folders, offences = {p.name: kernel_folder(p) for p in KERNELS}, []
    here = folders.get(path.name, path.parent.name)
    if here not in KERNEL_LAYERS:
        return [f"no layer is known for {here}/: add it to KERNEL_LAYERS"]
    for header in includes(text):
        if header not in folders:
            offences.append(f"{header} is none of kernels/, by bare name")
        elif folders[header] not in below(here, KERNEL_LAYERS):
            offences.append(f"{here} includes {header}, which is not below it")
    return offences


def no_device_conditionals(path, text):
    """A block of one thread is the CPU: what only it compiles is a kernel of its own."""
    device = r"SIMT_\w+|__CUDA_ARCH__|__CUDACC\w*|__NVCC__|__GNUC__|__clang__"
    conditional = rf"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b[^\n]*\b(?:{device})\b[^\n]*"
    return re.findall(conditional, without_comments(text), flags=re.MULTILINE)


def nvrtc_12_0_takes_it(path, text):
    """NVRTC knows no unnamed struct as a member before 12.8, and cannot link __dp4a before 12.3."""
    return re.findall(r"(?<!typedef )\bstruct\s*\{|\b__dp4a\b", without_comments(text))


def single_threads_are_listed(path, text):
    """And asked for by one word, but in what users' kernels include."""
    if path.parent.name in ("dialect", "block"):
        return []
    code = without_comments(text)
    offences = re.findall(r"\bSIMT_(?:THREADS|WARP)\s*(?:[=!<>]=?|[<>])\s*[12]\b", code)
    if ("SIMT_SINGLE_THREAD" in code) != (path.name in SINGLE_THREAD):
        offences.append("SIMT_SINGLE_THREAD and the list of its users do not agree")
    return offences


def workloads_take_the_calls_way(path, text):
    """A benchmark makes the parameters of a call, and its problem as the call does."""
    bodies = re.findall(r"^static cubc_status \w+_workload\([^;{}]*\)\n\{.*?^\}", text, re.M | re.S)
    return [body.split("(")[0] for body in bodies if not re.search(r"\w_problem\(&", body)]


def quotients_are_of_ceil_div(path, text):
    """Rounded up they are of one function, as is round_up, but in what users' kernels include."""
    if path.parent.name == "block" or path.name in ("integer.h", "simt.h", *OWN_QUOTIENTS):
        return []
    code = re.sub(r"\s+", " ", without_comments(text))
    by_itself = (
        r"\b(\w+)(?:\(\))? - 1u?\)+ (?:/|& ~\(?) ?(?:\(?[\w.>-]*?\b)?\1\b"  # (a + b - 1) / b
    )
    found = [m.group() for m in re.finditer(by_itself, code)]
    found += re.findall(r"- 1u?\) / [^;,/]*?\+ 1\b", code)  # (a - 1) / b + 1
    found += [  # a / b + (a % b != 0)
        m.group() for m in re.finditer(r"% ([^;%]*?) != 0\)", code) if f"/ {m[1]} +" in code
    ]
    triangular = r"\* \((?:\w+ \+ 1)\) / 2"
    code = re.sub(triangular, "", code)
    by_number = re.finditer(r"\+ (\d+)u?\) / (\d+)\b", code)  # (a + 3) / 4
    return found + [m.group() for m in by_number if int(m[2]) == int(m[1]) + 1]


def opens_with_comment(path, text):
    first = re.sub(r"\A#![^\n]*\n", "", text).lstrip()
    start = ("#",) if path.suffix in (".sh", "") else ("//", "/*")
    if path.suffix in (".py", ".pyi"):
        start = ('"""', 'r"""', "#")
    return [] if first.startswith(start) else ["says nothing of what it is for"]


def not_too_long(path, text):
    lines = text.count("\n")
    return [f"{lines} lines, more than {LONGEST}: nobody reads so many"] if lines > LONGEST else []


def no_machine_paths(path, text):
    homes = "|".join(["work", "farm", "root", "Users/\\w+", "home/\\w+", "tmp/\\w+_jobs"])
    return re.findall(rf"(?<![\w.)}}])/(?:{homes})/[^\s\"']*", text)


def nothing_left_undone(path, text):
    text = re.sub(r'"image/png": "[^"]*"', "", text)  # its letters may spell anything
    return re.findall("|".join([r"\bTO" + "DO", r"\bFIX" + "ME", r"\bX" + r"XX\b"]), text)


def begins_plainly(path, text):
    """Comments, docstrings and paragraphs begin with a noun or a verb in the third person."""
    riddle, offences, before = r"(?:What|Whether|Of)\b", [], ""
    mark = "//" if path.suffix in (".c", ".h", ".cu", ".def") else "#"
    for line in map(str.strip, text.splitlines()):
        if path.suffix == ".md":
            found = re.match(rf"(?:- |\d+\. )?{riddle}", line) and (line[0] in "-1" or not before)
        else:
            begins = rf'r?"""{riddle}|.*\s{mark} {riddle}|.*"{riddle} '
            if not before.startswith(mark):
                begins += rf"|{mark} {riddle}"
            found = re.match(begins, line)
        if found:
            offences.append(line)
        before = line
    return offences


# Rule, the files it holds for, and an offence it must see: (name, text).
RULES = [
    (include_direction, CORE, ("base/error.c", '#include "device/device.h"')),
    (include_direction, CORE, ("base/error.c", '#include "types.h"')),
    (include_direction, CORE, ("device/device.c", '#include "device/cpu/simt.h"')),
    (include_direction, CORE, ("measure/timing.c", '#include "store/store.h"')),
    (include_direction, CORE, ("primitives/scan.c", '#include "measure/timing.h"')),
    (include_direction, CORE, ("lattice/io/lime.c", '#include "device/device.h"')),
    (include_direction, CORE, ("unheard_of/error.c", "")),
    (
        python_only_in_bindings,
        [*CORE, *C_TESTS],
        ("device/cpu/device_cpu.c", "#include <Python.h>"),
    ),
    (sqlite_only_in_store, [*CORE, *C_TESTS], ("compile/policy.c", " # include <sqlite3.h>")),
    (
        no_cuda_headers,
        [*CORE, *KERNELS, *C_TESTS],
        ("device/cuda/device_cuda.c", "#include <cuda_runtime.h>"),
    ),
    (core_knows_no_kernels, CORE, ("run/algorithm.c", '#include "../kernels/simt.h"')),
    (nothing_prints_or_exits, CORE, ("base/error.c", 'void f(void) { printf("no"); }')),
    (nothing_prints_or_exits, CORE, ("base/error.c", 'void f(void) { fprintf(stderr, "no"); }')),
    (nothing_prints_or_exits, CORE, ("base/error.c", "void f(int n) { assert(n > 0); }")),
    (allocations_are_checked, CORE, ("store/store.c", "char *p = malloc(n);")),
    (kernels_include_only_kernels, KERNELS, ("reduce.cu", "#include <cstdint>")),
    (kernels_include_only_kernels, KERNELS, ("simt.h", '#include "block.h"')),
    (kernels_include_only_kernels, KERNELS, ("reduce.cu", '#include "block/block.h"')),
    (kernels_include_only_kernels, KERNELS, ("unheard_of/new.cu", "")),
    (
        no_device_conditionals,
        [path for path in KERNELS if path.suffix == ".cu"],
        ("reduce.cu", "#if defined(SIMT_CUDA)"),
    ),
    (no_device_conditionals, [], ("sort.cu", "#if SIMT_THREADS == 1")),
    (nvrtc_12_0_takes_it, KERNELS, ("topk.cu", "union { struct { int a, b; }; long c; };")),
    (nvrtc_12_0_takes_it, KERNELS, ("packed.h", "return __dp4a(a, b, sum);")),
    (single_threads_are_listed, KERNELS, ("reduce.cu", "if constexpr (SIMT_THREADS > 1)")),
    (single_threads_are_listed, KERNELS, ("sort.cu", "enum { N = SIMT_SINGLE_THREAD ? 1 : 2 };")),
    (single_threads_are_listed, KERNELS, ("reduce.cu", "enum { N = SIMT_THREADS };")),
    (
        workloads_take_the_calls_way,
        CORE,
        (
            "primitives/scan.c",
            "static cubc_status scan_workload(problem *out)\n{\n    return scan_build(out);\n}\n",
        ),
    ),
    (quotients_are_of_ceil_div, [*CORE, *KERNELS], ("a.c", "x = (n + tile - 1) / tile;")),
    (quotients_are_of_ceil_div, [], ("a.c", "x = (n + of->tile - 1) / of->tile;")),
    (quotients_are_of_ceil_div, [], ("a.cu", "x = ((1 << B) + blocks() - 1) / blocks();")),
    (quotients_are_of_ceil_div, [], ("a.c", "x = (at + align - 1) & ~(align - 1);")),
    (quotients_are_of_ceil_div, [], ("a.c", "x = (n - 1) / (uint64_t)tile + 1;")),
    (quotients_are_of_ceil_div, [], ("a.c", "x = n / tile + (n % tile != 0);")),
    (quotients_are_of_ceil_div, [], ("a.c", "x = ((uint64_t)bytes(p) + 3) / 4;")),
    (opens_with_comment, EVERYTHING, ("reduce.c", "#include <stddef.h>")),
    (opens_with_comment, EVERYTHING, ("cli.py", "import sys")),
    (not_too_long, EVERYTHING, ("long.c", "// one\n" * (LONGEST + 1))),
    (no_machine_paths, [*EVERYTHING, *PROSE], ("a.c", '"' + "/" + 'home/me/kernels"')),
    (nothing_left_undone, [*EVERYTHING, *PROSE], ("a.c", "// TO" + "DO")),
    (begins_plainly, [*EVERYTHING, *PROSE], ("a.c", "// Wh" + "at a call needs.")),
    (begins_plainly, [*EVERYTHING, *PROSE], ("a.c", "int n; // Wh" + "ether there is one")),
    (begins_plainly, [*EVERYTHING, *PROSE], ("a.py", '"""O' + 'f a call."""')),
    (begins_plainly, [*EVERYTHING, *PROSE], ("a.c", '{"info", "Wh' + 'at it says."}')),
    (begins_plainly, [*EVERYTHING, *PROSE], ("a.md", "\n- Wh" + "at comes back")),
]


# A function that others may call, with its brace: a definition of clang-format's layout.
DEFINITION = re.compile(r"^(?!static\b)\w[\w *]*?\b(\w+)\([^;{}]*\)\n\{", flags=re.MULTILINE)


def calls(texts):
    """The files whose functions each file names."""
    code = {path: without_comments(text) for path, text in texts.items()}
    owner = {name: path for path, text in code.items() for name in DEFINITION.findall(text)}
    return {
        path: {owner[name] for name in re.findall(r"\w+", text) if name in owner} - {path}
        for path, text in code.items()
    }


def test_no_files_of_the_core_call_each_other():
    files = [p for p in CORE if p.suffix == ".c"]
    graph = calls({p.relative_to(ROOT).as_posix(): p.read_text(encoding="utf-8") for p in files})
    assert "csrc/base/error.c" in graph["csrc/device/device.c"]
    assert circle(graph) is None


def test_files_that_call_each_other_are_seen():
    one = "int one(int n,\n        int m)\n{\n    return two(n) + m;\n}\n"
    two = "static int zero(void)\n{\n    return 0;\n}\n\nint two(int n)\n{\n    return %s;\n}\n"
    graph = calls({"one.c": one, "two.c": two % "one(n, zero())"})
    assert graph == {"one.c": {"two.c"}, "two.c": {"one.c"}}
    assert circle(graph)
    assert circle(calls({"one.c": one, "two.c": two % "zero(/* one() */)"})) is None


def called(rule):
    function, _, (name, text) = rule
    return f"{function.__name__}-{name}-{text.strip().splitlines()[0][:30] if text else 'empty'}"


@pytest.mark.parametrize("rule", RULES, ids=called)
def test_the_rule_sees_an_offence(rule):
    function, _, (name, text) = rule
    assert function(ROOT / "csrc" / name, text)


@pytest.mark.parametrize("function", dict.fromkeys(rule[0] for rule in RULES))
def test_the_tree_keeps_the_rule(function):
    files = next(files for rule, files, _ in RULES if rule is function)
    assert files
    offences = [
        f"{path.relative_to(ROOT)}: {offence}"
        for path in files
        for offence in function(path, path.read_text(encoding="utf-8"))
    ]
    assert not offences, "\n".join(offences)


def long_files(files):
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in files}
    return [
        f"{path.name} has {count} lines: is it one idea?"
        for path, count in lines.items()
        if count > LONG
    ]


@pytest.mark.filterwarnings("default")
def test_long_files_are_named():
    for sentence in long_files(EVERYTHING):
        warnings.warn(sentence, stacklevel=1)


def test_a_long_file_is_seen(tmp_path):
    for count in (LONG, LONG + 1):
        (tmp_path / f"{count}.c").write_text("// one\n" * count)
    assert long_files(sorted(tmp_path.iterdir())) == ["501.c has 501 lines: is it one idea?"]


def test_kernels_are_found_by_bare_name():
    names = [path.name for path in KERNELS]
    assert len(names) == len(set(names))
    listed = (ROOT / "csrc/compile/source.c").read_text()
    listed = listed.split("source_folders[] = {", 1)[1].split("}", 1)[0]
    assert re.findall(r'"([\w/]+)"', listed) == list(KERNEL_LAYERS)
    assert {kernel_folder(path) for path in KERNELS} == set(KERNEL_LAYERS)


def test_comments_and_literals_are_not_code():
    text = '// abort();\nchar *s = "exit(1)"; /* assert(\n0) */ int snprintf_like, _exit;'
    assert not nothing_prints_or_exits(ROOT / "csrc/base/error.c", text)


def test_an_algorithm_has_a_test_of_its_name():
    names = re.findall(r"^\w+\((\w+)\)$", (ROOT / "csrc/run/list.def").read_text(), re.MULTILINE)
    tests = {path.stem for path in (ROOT / "tests").rglob("test_*.py")}
    assert "reduce" in names
    assert {TESTED_IN.get(name, f"test_{name}") for name in names} <= tests
    assert not {name for name in TESTED_IN if name not in names or f"test_{name}" in tests}


def test_names_of_tests_are_unique():
    """Two test files of one name are one module for pytest, which then runs neither."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert not {name for name in names if names.count(name) > 1}
