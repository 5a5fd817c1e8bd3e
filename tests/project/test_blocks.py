"""Every fenced block of README.md and docs/ runs alone, in a fresh process, on the cpu.

Blocks that take long are shortened by replacements; each has to be in its block, so that none
outlives the text that it is for. Files that a block names lie beside it.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import isolated
import numpy as np
import pytest
import stores

from cubc import lattice, tuner
from cubc.tuner import _cli as cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

# By a word of the block that they are for. A search keeps base and one variant, at one size.
ONE = "variants=1, confirm=0"
SHORTER = {
    "a.coverage()": {"seconds=60": ONE, "[16, 20, 24]": "[16]"},
    "ProcessPoolExecutor": {
        "seconds=60": ONE,
        "[16, 20]": "[16]",
        "target=1.2, patience=30": f"target=1.2, patience=30, {ONE}",
    },
    "tuner.record(": {"seconds=300": ONE},
    "saxpy.cu": {"seconds=60": ONE, '"F32", "F64"': '"F32"', "[16, 20]": "[14]"},
    "lattice.quenched": {"(4, 4, 4, 8)": "(4, 2, 4, 6)", "sweeps=5": "sweeps=1"},
    "D(grid.part(b))": {"(4, 4, 4, 8)": "(4, 2, 4, 6)"},  # the lattice of the solvers' tests
    "plot_heatmap": {"a.importance()": "a.importance"},  # which its docstring calls
    "--coverage my.db": {"--seconds 60": "--variants 1 --confirm 0", "[16:24:4]": "16"},
    "cubc record": {"--seconds 300": "--variants 1 --confirm 0"},
    # So short a search finds nothing FASTER; my.db has a winner.
    "my.policies work.db": {"my.policies work.db": "my.policies my.db"},
}
# Commands that compile or measure for minutes: their words are checked, and they are not run.
LONG = r"cubc (?:compare --live|verify) .*"
PROGRAM = "import cubc, numpy\ncubc.sum(numpy.ones(1 << 16, 'f4'))\n"
COMMANDS = """
import ast, sys
from cubc.tuner._cli import main
sys.exit(max(main(words) for words in ast.literal_eval(sys.argv[1])))
"""
DOCTEST = "import doctest, sys\nsys.exit(doctest.testfile('block.txt', module_relative=False)[0])"


class Block(NamedTuple):
    """A fenced block: where it begins, its language and its text."""

    page: str
    line: int
    language: str
    text: str


def blocks_of(path):
    page = path.read_text() if path.exists() else ""
    for match in re.finditer(r"^```([^\n]*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        if not match[1].startswith("{"):  # those are directives of the pages' builder
            yield Block(path.name, page.count("\n", 0, match.start()) + 1, match[1], match[2])


# Those that solve come last: their kernels are those of the lattice's tests.
BLOCKS = sorted((b for path in PAGES for b in blocks_of(path)), key=lambda b: "Wilson(" in b.text)
# A source is in a file of its kernel's name.
KERNELS = [re.search(r"__global__ void (\w+)", block.text) for block in BLOCKS]
SOURCES = {
    f"{kernel[1]}.cu": kernel.string
    for kernel, block in zip(KERNELS, BLOCKS, strict=True)
    if kernel and block.language == "c"
}
SOURCES["main.c"] = next(block.text for block in BLOCKS if "int main(" in block.text)


def shortened(text):
    for word, replacements in SHORTER.items():
        if word in text:
            for long, short in replacements.items():
                assert long in text, f"{long} is not in the block of {word}"
                text = text.replace(long, short)
    return text


def run(command, folder):
    """Run a command in a folder, on the cpu, with the `python` and `cubc` of this environment."""
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    changes = {"CUBC_DEVICE": "cpu", "CUBC_POLICIES": None, "MPLBACKEND": "agg", "PATH": path}
    environment = isolated.environment(**changes)
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.parametrize("block", BLOCKS, ids=lambda b: f"{b.page}:{b.line}:{b.language}")
def test_a_block(block, tmp_path, request):
    if "Wilson(" in block.text:
        request.getfixturevalue("optimised")
    (tmp_path / "program.py").write_text(PROGRAM)
    for name, text in SOURCES.items():
        (tmp_path / name).write_text(text)
    if block.language == "python":
        if ">>>" in block.text:
            (tmp_path / "block.txt").write_text(block.text)
            run([sys.executable, "-c", DOCTEST], tmp_path)
        else:
            if spinor := re.search(r'read_spinor\("(.*?)"\)', block.text):
                lattice.write_spinor(tmp_path / spinor[1], np.zeros((2, 2, 2, 2, 4, 3), complex))
            # As typed: a file with a pool needs a guard, since a process of it may begin anew.
            run([sys.executable, "-c", shortened(block.text)], tmp_path)
    elif block.language == "sh":
        shell(block.text, tmp_path)
    else:  # run by the block that names its file
        assert block.language == "c"
        name = next(name for name, text in SOURCES.items() if text == block.text)
        assert any(name in other.text for other in BLOCKS if other.language != "c")


def shell(text, folder):
    """Run the lines of a block, with stores that somebody measured where it names some."""
    for name in ("before.db", "after.db"):
        shutil.copy(tuner.example_db(), folder / name)
    # The example's winners are of an earlier version of the kernels, which no policy is of.
    variant, *_ = stores.variants()
    winner = stores.confirmed(variant, 16, 5e-4)
    stores.write(folder / "my.db", [stores.row("base", 16), *winner])
    for line in re.findall(LONG, text):
        words = shlex.split(line, comments=True)
        cli.make_parser(cli.RUNS).parse_args(words[1:])
    text = re.sub(LONG, ":", shortened(text))
    if "make " in text:  # the checks themselves, and minutes long
        targets = re.findall(r"^make ([\w-]+)", text, re.MULTILINE)
        makefile = (ROOT / "Makefile").read_text()
        assert [name for name in targets if not re.search(rf"^{name}:", makefile, re.M)] == []
        return
    commands = re.compile("cubc (?!record )")  # record becomes the program that it is given
    for is_cubc, lines in groupby(text.splitlines(), lambda line: bool(commands.match(line))):
        if is_cubc:  # one process for several commands, since it takes longer to start than they
            several = [shlex.split(line, comments=True)[1:] for line in lines]
            run([sys.executable, "-c", COMMANDS, repr(several)], folder)
        else:
            run(["sh", "-ec", "\n".join(lines)], folder)
