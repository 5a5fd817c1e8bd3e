"""Texts of strangers that Python reads: axes, workloads, arguments, manifests, replies of a worker.

    python tests/fuzz/fuzz_texts.py [RUNS] [SEED]

Each run changes a text at random for every reader. A reader returns, or raises ValueError with a
sentence; its result is written and read back as the same. A find is printed with its seed, and ends
the program.
"""

import random
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

from cubc.tuner import _axes as axes
from cubc.tuner import _frames as frames
from cubc.tuner import _machine_code as machine_code

WORDS = [
    *'[]{},:"=-',
    " ",
    "\n",
    "\0",
    "{ct}",
    "{io}",
    "[pow2]",
    "[[",
    "16:28:4",
    "T",
    "null",
    "NaN",
]
WORDS += ["1e999", "9" * 30, "\\u0000", "\udcff", '"kind"', '"result"']

FOLDER = tempfile.TemporaryDirectory(prefix="cubc-fuzz-")
MANIFEST = Path(FOLDER.name, "manifest.json")


def read_axes(text):
    declared = axes.parse_axes(text)
    assert axes.parse_axes(axes.axes_text(declared)) == declared
    assert len(declared) <= axes.MOST_AXES


def read_workload(text):
    workload = axes.parse_workload(text)
    assert axes.parse_workload(axes.workload_text(workload)) == workload
    axes.items({name: value for name, value in workload.items() if value.isascii()})


def read_argument(text):
    name, values = axes.parse_argument(text)
    assert name and 1 <= len(values) <= max(axes.MOST_VALUES, len(text))


def read_reply(text):
    reply = frames.decode(text.encode("utf-8", "surrogateescape"))
    assert reply[0] in ("opened", "refused", "result", "done")


def read_manifest(text):
    MANIFEST.write_text(text, encoding="utf-8", errors="surrogateescape")
    found = machine_code.read_manifest(MANIFEST)
    machine_code.write_manifest(MANIFEST, found)
    assert machine_code.read_manifest(MANIFEST) == found


SEEDS = {
    read_axes: ['[["Elements{io}[pow2]", [16, 20]]]', '[["A", [1]], ["B{io}", [2, 3]]]', "[]"],
    read_workload: ["T{ct}=F32,OffsetT{ct}=I64", "Elements{io}[pow2]=16", ""],
    read_argument: ["Elements=[16:28:4]", "T{ct}=[F32,I64]", "A=(1,2,3)", "A=x"],
    read_reply: [
        frames.encode(("opened",)).decode(),
        frames.encode(("refused", "it is wrong")).decode(),
        frames.encode(("done",)).decode(),
    ],
    read_manifest: ['{"a": {"code": "0f", "instructions": "1"}}', "{}"],
}


def change(rng, text):
    """Text with one to four random changes."""
    for _ in range(rng.randint(1, 4)):
        begin, end = sorted(rng.randint(0, len(text)) for _ in range(2))
        part = rng.choice(
            ["", rng.choice(WORDS), chr(rng.randint(0, 255)), text[begin:end] * rng.randint(2, 4)]
        )
        if rng.random() < 0.5:
            end = begin
        text = (text[:begin] + part + text[end:])[:16384]
    return text


def run(runs, seed):
    """Number of texts that were taken, of `runs` for each reader; the rest were refused."""
    taken = 0
    for k, (reader, seeds) in product(range(seed, seed + runs), SEEDS.items()):
        rng = random.Random(k)
        text = change(rng, rng.choice(seeds))
        try:
            reader(text)
            taken += 1
        except ValueError as error:
            assert str(error), f"seed {k}: {reader.__name__} refuses {text!r} without a sentence"
        except Exception:
            print(f"seed {k}: {reader.__name__}({text!r})", file=sys.stderr)
            raise
    return taken


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    print(
        f"fuzz_texts: {runs} runs of {len(SEEDS)} readers, {run(runs, seed)} texts taken, no find"
    )


if __name__ == "__main__":
    main()
