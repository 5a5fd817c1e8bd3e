"""The page of a store: what it holds, and that a stranger's text stays text."""

import json
import re

import pytest
import stores
from stores import confirmed, row, write

from cubc import tuner
from cubc.tuner import _cli as cli
from cubc.tuner import _report
from cubc.tuner._report import page

A, B, C = stores.variants()
HOSTILE = "</script><script>alert(1)</script> & <b>"


@pytest.fixture
def db(tmp_path):
    rows = [row("base", 16), *confirmed(A, 16, 5e-4), row(B, 16, 2e-3)]
    rows.append(row(C, 16, status="fault", message=HOSTILE))
    return write(tmp_path / "s.db", rows, model=HOSTILE)


def data(text):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found[1])


def test_what_a_page_holds(db):
    text = page(tuner.analyze(db), [str(db)])
    assert text.count("<script") == 2 and "alert(1)</script>" not in text
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)  # nothing is fetched
    found = data(text)
    [[benchmark, types, device, place, word, ratio, *_, label]] = found["winners"]
    assert (benchmark, types, device, place) == ("reduce.sum", "F32", HOSTILE, "Elements=2^16")
    assert (word, label) == ("FASTER", A) and ratio == pytest.approx(2)
    [group] = found["groups"]
    assert [line[0] for line in group["top"]] == [A, "base", B]
    assert {one["label"]: one["status"] for one in group["variants"]} == {
        A: "ok",
        B: "ok",
        C: "fault",
    }
    assert group["failures"] == [[C, "fault", HOSTILE]]
    assert group["policies"].startswith(
        'POLICY("cpu", "reduce.sum", "F32", "Elements=16384:262144"'
    )
    for one in group["variants"]:
        assert len(one["at"]) == len(group["names"]) == len(group["values"])


def test_failures_of_rounds_have_their_messages(tmp_path):
    rows = [row("base", 16), row(A, 16, 5e-4)]
    rows.append(row(A, 16, status="wrong", message="3 items differ", round=1))
    db = write(tmp_path / "s.db", rows)
    [group] = data(page(tuner.analyze(db), [str(db)]))["groups"]
    assert group["failures"] == [[A, "wrong", "3 items differ"]]


def test_all_failures_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(_report, "FAILURES", 2)
    rows = [row(label, 16, status="fault") for label in (A, B, C)]
    db = write(tmp_path / "s.db", [row("base", 16), *rows])
    [group] = data(page(tuner.analyze(db), [str(db)]))["groups"]
    assert (group["failed"], len(group["failures"])) == (3, 2)


def test_a_page_draws_as_many_variants_as_there_are(db):
    """A browser refuses a call of more than some ten thousand arguments."""
    assert not re.search(r"Math\.\w+\([^()]*\.\.\.", page(tuner.analyze(db), [str(db)]))


def test_a_policy_that_another_device_disputes_is_in_no_list(tmp_path):
    db = write(tmp_path / "s.db", [row("base", 16), *confirmed(A, 16, 5e-4)], uuid="one")
    write(db, [row("base", 16), *confirmed(A, 16, 2e-3)], uuid="two")
    found = data(page(tuner.analyze(db), [str(db)]))
    assert found["winners"] == [] and [group["policies"] for group in found["groups"]] == ["", ""]


def test_the_command(db, tmp_path, capsys, monkeypatch):
    out = tmp_path / "r.html"
    assert cli.main(["report", str(db), "-o", str(out)]) == 0
    assert str(out.stat().st_size) in capsys.readouterr().out
    assert data(out.read_text())["again"] == 0
    times = []

    def sleep(seconds):
        times.append(seconds)
        if len(times) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(cli.time, "sleep", sleep)
    assert cli.main(["report", str(db), "-o", str(out), "--watch", "5"]) == 130
    assert times == [5, 5]
    assert capsys.readouterr().out.count("\n") == 1  # the store has not changed meanwhile
    assert data(out.read_text())["again"] == 5
    assert tuner.analyze(db).report(out) == out.stat().st_size


def test_a_page_is_written_again_when_a_store_has_changed(db, tmp_path, capsys, monkeypatch):
    out, rows = tmp_path / "r.html", iter([[row("base", 18)], [], None])

    def sleep(seconds):
        more = next(rows)
        if more is None:
            raise KeyboardInterrupt
        if more:
            write(db, more, model=HOSTILE)

    monkeypatch.setattr(cli.time, "sleep", sleep)
    assert cli.main(["report", str(db), "-o", str(out), "--watch", "1"]) == 130
    assert capsys.readouterr().out.count(f"{out}: ") == 2


def test_tables_for_programs(db, capsys):
    assert cli.main(["analyze", "--json", "--top", "2", "--coverage", str(db)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["variant"] for one in found["top"]] == [A, "base"]
    assert found["coverage"][0]["benchmark"] == "reduce.sum"
    assert cli.main(["analyze", "--csv", str(db)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("benchmark,") and len(lines) == 13
    assert cli.main(["analyze", "--csv", "--top", "2", "--coverage", str(db)]) == 2
    assert "CSV is one table" in capsys.readouterr().err


def test_a_page_that_cannot_be_written_is_named(tmp_path):
    where = tmp_path / "none" / "report.html"
    with pytest.raises(FileNotFoundError) as told:
        tuner.analyze(tuner.example_db()).report(where)
    assert told.value.filename == str(where)
