"""Two stores side by side, and the header that a store makes."""

import re
import shutil
import subprocess

import numpy as np
import pytest
import stores

from cubc import tuner
from cubc.tuner._cli import main
from cubc.tuner._verdict import UNDECIDED, judge_apart

LABELS = stores.variants(count=12)


def store(path, center, *, seed=0, rounds=True, **device):
    """Base at about `center` seconds in twelve rounds at one size, and once at another."""
    rng = np.random.default_rng(seed)
    rows = [stores.row("base", 16, center), stores.row("base", 20, 2e-3)]
    for number, label in enumerate(LABELS, 1):
        time = center * np.exp(rng.normal(0, 0.002))
        rows.append(stores.row(label, 16, 1e-3, time, round=number if rounds else 0))
    return str(stores.write(path, rows, **device))


@pytest.mark.parametrize(
    ("factor", "word"),
    [(1.0, UNDECIDED), (1.05, UNDECIDED), (1.12, "SLOWER"), (0.88, "FASTER")],
)
def test_verdicts(tmp_path, factor, word):
    """Two searches differ by a few per cent whatever changed in between."""
    a, b = store(tmp_path / "a.db", 1e-3), store(tmp_path / "b.db", factor * 1e-3, seed=1)
    found = tuner.compare(a, b)
    many, once = found.workloads
    assert many.verdict.word == word
    assert many.verdict.ratio == pytest.approx(1 / factor, rel=0.002)
    assert many.verdict.rounds == 24
    assert once.verdict.word == UNDECIDED and not once.verdict.decided  # one time says nothing
    assert [one.rt for one in found.slower] == ([many.rt] if word == "SLOWER" else [])
    frame = found.to_frame()
    assert frame.verdict.tolist() == [word, UNDECIDED]
    assert frame.a_us[0] == pytest.approx(1000, rel=0.01)
    words = ("FASTER", "SAME", "SLOWER", UNDECIDED)
    counts = ", ".join(f"{[word, UNDECIDED].count(each)} {each}" for each in words)
    assert counts in str(found) and "a drift of 2.0% allowed to each; cubc compare --live" in str(
        found
    )


@pytest.mark.parametrize(("factor", "word"), [(1.0, "SAME"), (1.05, "SLOWER"), (0.95, "FASTER")])
def test_who_knows_the_drift_may_say_so(tmp_path, factor, word):
    a, b = (store(tmp_path / f"{n}.db", t) for n, t in ((1, 1e-3), (2, factor * 1e-3)))
    one = {"axes": {"Elements": 16}}
    assert tuner.compare(a, b, **one, drift=0).workloads[0].verdict.word == UNDECIDED or factor != 1
    assert tuner.compare(a, a, **one, drift=0.0).workloads[0].verdict.ratio == 1
    if factor != 1:
        assert tuner.compare(a, b, **one, drift=0.001).workloads[0].verdict.word == word
    for wrong in (-0.1, 1.5, "much"):
        with pytest.raises((TypeError, ValueError), match="drift"):
            tuner.compare(a, b, drift=wrong)


def test_a_label_is_compared_too(tmp_path):
    a, b = store(tmp_path / "a.db", 1e-3), store(tmp_path / "b.db", 1e-3)
    (one,) = tuner.compare(a, b, variant=LABELS[0], axes={"Elements": 16}).workloads
    assert one.a == one.b == pytest.approx(1e-3)


def test_other_devices_are_not_compared(tmp_path):
    a = store(tmp_path / "a.db", 1e-3)
    b = store(tmp_path / "b.db", 1e-3, uuid="another")
    with pytest.warns(RuntimeWarning, match="on the same device"), pytest.raises(ValueError):
        tuner.compare(a, b)
    both = shutil.copy(b, tmp_path / "both.db")
    store(both, 1e-3)
    assert len(tuner.compare(a, both).workloads) == 2


def test_each_shape_has_a_verdict(tmp_path):
    """Shapes that were searched one by one are groups of their own, as those of a recording."""
    paths = []
    for name, slower in (("a.db", 1), ("b.db", 3)):
        rows = []
        for n, base in ((50000, slower * 1e-3), (7000000, 1e-3)):
            at = {"axes": f'[["Elements{{io}}", [{n}]]]', "rt": f"Elements{{io}}={n}"}
            rows += [stores.row("base", 16, base, **at)]
            rows += stores.confirmed(LABELS[0], 16, 1e-3, base, **at)
        paths.append(str(stores.write(tmp_path / name, rows)))
    found = tuner.compare(*paths)
    assert [one.rt for one in found.workloads] == ["Elements{io}=50000", "Elements{io}=7000000"]
    assert [one.rt for one in found.slower] == ["Elements{io}=50000"]


@pytest.mark.parametrize("status", ["wrong", None])
def test_what_the_second_store_lacks_is_named(tmp_path, status):
    """It must not look as if nothing had become slower."""
    label = LABELS[0]
    a = [stores.row(name, size) for name in ("base", label) for size in (16, 20)]
    b = [*a[:3], stores.row(label, 20, status=status)] if status else a[:3]
    a, b = (str(stores.write(tmp_path / n, rows)) for n, rows in (("a.db", a), ("b.db", b)))
    place = f"F32 {stores.ELEMENTS}=20 on"
    with pytest.warns(RuntimeWarning, match=re.escape(place)) as warned:
        (one,) = tuner.compare(a, b, variant=label).workloads
    assert "=16 on" not in str(warned[0].message) and one.rt.endswith("=16")
    assert len(tuner.compare(b, a, variant=label).workloads) == 1  # more in the second is no loss


def test_a_label_that_neither_has_is_refused(tmp_path):
    a = store(tmp_path / "a.db", 1e-3)
    with pytest.raises(LookupError, match=f"nearest: .*{LABELS[0]}"):
        tuner.compare(a, a, variant=LABELS[0].replace("tpb", "tbp"))


def test_the_interval_of_times_apart():
    """A side's variance is that of one of its times and of the drift, which is known."""
    x, y = np.exp([0.0, 0.1, 0.2]), np.exp([0.5, 0.7, 0.6, 0.8])
    stats = pytest.importorskip("scipy.stats")
    one, other = np.log(x).var(ddof=1), np.log(y).var(ddof=1)
    for drift in (0.0, 0.2):
        found = judge_apart(x, y, confidence=0.95, drift=drift)
        error = np.sqrt(one + other + 2 * drift**2)
        degrees = error**4 / (one**2 / 2 + other**2 / 3)
        width = stats.t(degrees).ppf(0.975) * error
        assert np.log([found.low, found.high]) == pytest.approx([0.55 - width, 0.55 + width])
    assert judge_apart([1, 1], [2, 2]).word == "FASTER"
    assert judge_apart([1, 1], [1.05, 1.05]).word == UNDECIDED


def test_the_command(tmp_path, capsys):
    a, b = store(tmp_path / "a.db", 1e-3), store(tmp_path / "b.db", 1.2e-3)
    near = store(tmp_path / "near.db", 1.05e-3)
    assert main(["compare", a, b, "-a", "Elements=16"]) == 0
    out = capsys.readouterr().out
    assert "| SLOWER |" in out and "geometric mean x0.83" in out
    assert main(["compare", a, b, "--fail-on-slower"]) == 1
    assert main(["compare", b, a, "--fail-on-slower"]) == 0
    assert main(["compare", a, near, "--fail-on-slower"]) == 0
    assert "| UNDECIDED |" in capsys.readouterr().out
    assert main(["compare", a, near, "--drift", "0.002", "--fail-on-slower"]) == 1
    assert main(["compare", a, str(tmp_path / "none.db")]) == 2
    assert main(["compare", "--live", a, b]) == 2
    assert "cubc compare: --live needs -R" in capsys.readouterr().err
    assert main(["compare", a, b, "--rounds", "3"]) == 2
    assert "cubc compare: --rounds is for --live" in capsys.readouterr().err


def test_a_header_compiles(tmp_path, capsys):
    assert main(["policy", "--header", tuner.example_db()]) == 0
    path = tmp_path / "tuned.h"
    path.write_text(capsys.readouterr().out)
    (best,) = (b for b in tuner.analyze(tuner.example_db()).best() if b.label != "base")
    items = dict(word.split("_") for word in best.label.split("."))["ipt"]
    said = f"#define CUBC_SM_90_SCAN_EXCLUSIVE_SUM_I16_ITEMS_PER_THREAD {items}\n"
    assert said in path.read_text()
    if shutil.which("cc"):
        subprocess.run(["cc", "-Wall", "-Werror", "-fsyntax-only", path], check=True)
    assert main(["policy", tuner.example_db()]) == 0
    assert (
        'POLICY("sm_90", "reduce.sum", "I16", "Elements=16384:262144", ' in capsys.readouterr().out
    )


def test_a_header_of_kernels_of_ones_own(tmp_path):
    """They are of the source that was measured last, whatever an earlier one was."""
    for source, label, center in (("1", "ipt_5", 1e-4), ("0", "ipt_3", 5e-4)):
        more = {"benchmark": "mine.kernel", "ct": "", "source_hash": source * 64}
        rows = [stores.row("base", 16), *stores.confirmed(label, 16, center)]
        path = stores.write(tmp_path / "own.db", [one | more for one in rows])
    header = tuner.analyze(path).header()
    assert "\n#define CUBC_CPU_MINE_KERNEL_IPT 3\n" in header and "IPT 5" not in header
    assert "ipt_3, score 2.000, source 000000000000\n" in header


def test_a_header_of_a_replay(tmp_path):
    """Its architecture is none that a compiler knows."""
    rows = [stores.row("base", 16), *stores.confirmed(LABELS[0], 16, 5e-4)]
    path = stores.write(tmp_path / "replay.db", rows, arch="replay")
    assert "CUBC_REPLAY_REDUCE_SUM_F32_ITEMS_PER_THREAD" in tuner.analyze(path).header()
