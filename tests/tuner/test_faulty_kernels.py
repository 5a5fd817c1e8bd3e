"""Kernels with faults planted in them: a search records what each variant did and goes on."""

import re
import shutil
from pathlib import Path

import pytest
import stores
from commands import Command

KERNELS = Path(__file__).parents[2] / "kernels"
ITEMS = "TUNE_ITEMS_PER_THREAD"  # 1024, 2048, 3072 and 5120 are visited; base has 4096
KERNEL, ITEM = (
    "    (void)s;\n",
    "            evaluate_input(a.in, first, raw[l], result);\n",
)  # begin the kernel of transform.cu, and make its results


def planted(folder, name, **lines):
    """Environment with a kernel that has a line added behind each of some others."""
    kernels = folder / "kernels"
    shutil.copytree(KERNELS, kernels)
    (file,) = kernels.rglob(name)
    text = file.read_text()
    for place, added in lines.items():
        after = {"kernel": KERNEL, "item": ITEM, "types": '#include "operator.h"\n'}[place]
        assert text.count(after) == 1
        text = text.replace(after, f"{after}{added}\n")
    file.write_text(text)
    return {"CUBC_KERNELS": kernels, "CUBC_CACHE": folder / "cache"}


def outcomes(db):
    """Status and message of each variant, by its items a thread."""
    rows = [r for r in stores.read(db) if r["variant"] != "base"]
    parts = [(r["variant"].split(".")[0], r) for r in rows]
    return {int(part.removeprefix("ipt_")): (r["status"], r["message"]) for part, r in parts}


def test_variants_that_hang_stray_and_lie(tmp_path):
    env = planted(
        tmp_path,
        "transform.cu",
        kernel=f"if ({ITEMS} == 1024) for (volatile int spin = 1; spin;) continue;\n"
        f"if ({ITEMS} == 2048) a.out[1ull << 40] = 0;",
        item=f"if ({ITEMS} == 3072) for (out_t& r : result) r = static_cast<out_t>("
        '__builtin_nanf(""));',
    )
    search = Command(tmp_path, "hurry", env=env)
    code, _, err = search.end()
    assert (code, err) == (0, "")
    found = outcomes(search.db)
    assert found[1024] == ("timeout", "ran for over 2.5 s")
    assert found[2048][0] == "fault"
    assert "died of SIGSEGV" in found[2048][1]
    assert found[3072] == ("wrong", "65536 items differ from base's output")
    assert found[5120] == ("ok", "")
    # More after the hang, after the fault, to confirm the wrong result, and for what follows it.
    assert 4 <= len(search.workers) <= 5


@pytest.mark.parametrize("types", ["I64", "[F32,I64]"])
def test_a_base_that_does_not_compile(tmp_path, types):
    """The log is shown; what else was asked for is searched."""
    broken = 'static_assert(sizeof(item_t) != 8, "planted");'
    env = planted(tmp_path, "reduce.cu", types=broken)
    search = Command(tmp_path, benchmark="reduce.sum", types=types, env=env)
    code, out, err = search.end()
    both = types != "I64"
    assert code == (0 if both else 2)
    assert err.startswith("cubc search: reduce.sum I64: base does not run: ")
    assert "static assertion failed: planted" in err
    assert re.search(r"reduce\.cu:\d+:\d+: error", err)
    assert "Traceback" not in err
    assert ("reduce.sum" in out) == both
    assert {r["ct"] for r in stores.read(search.db)} == ({"T{ct}=F32"} if both else set())


def test_a_variant_that_spoils_its_input(tmp_path):
    """The launch after it is compared with base on the same input."""
    env = planted(
        tmp_path,
        "transform.cu",
        kernel=f"if ({ITEMS} == 1024) (*reinterpret_cast<volatile u32* const*>(&a.in))[5] = 1;",
    )
    search = Command(tmp_path, benchmark="transform.mul", env=env)
    assert search.end()[0] == 0
    found = outcomes(search.db)
    assert [found[items][0] for items in (2048, 3072, 5120)] == ["ok"] * 3
