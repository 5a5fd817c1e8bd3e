"""For a wrong word the command names the nearest right one, in a sentence."""

import pytest

from cubc import tuner
from cubc.tuner._cli import main
from cubc.tuner._words import instead, nearest

EXAMPLE = tuner.example_db()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["serch"], "cubc: there is no command 'serch'; did you mean search?"),
        (["search", "--secs=3"], "cubc search: there is no option --secs; did you mean --seconds?"),
        (["analyze", "--tpo", "3", "a.db"], "there is no option --tpo; did you mean --top?"),
        (["search"], "cubc search: this would search all benchmarks: name some"),
        (["search", "-R", "reduce.sum", "--strategy", "modle"], "'modle'; did you mean model?"),
        (["devices", "all"], "cubc devices: nothing is expected where 'all' stands"),
        (["search", "-R", "redcue.sum"], "no benchmark 'redcue.sum'; did you mean reduce.sum?"),
        (["search", "-R", "dslash.wlson"], "did you mean dslash."),
        (["search", "-R", "scna"], "no benchmark 'scna'; did you mean scan."),
        (["analyze", "-R", "scna", EXAMPLE], "'scna'; did you mean scan.exclusive.sum? it has"),
        (["--verion"], "cubc: there is no option --verion; did you mean --version?"),
        (["search", "--seconds", "abc"], "cubc search: --seconds is 'abc': expected a number ("),
        (["search", "--patience", "2.5"], "--patience is '2.5': expected a whole number ("),
        (["analyze"], "cubc analyze: the following arguments are required: files ("),
        (["report", "--wach", "a.db"], "did you mean --watch? it has --help, -R, -a, -o, --watch"),
        (["search", "-R", "reduce.sum", "--constraint", "itp<3"], "'itp'; did you mean ipt?"),
        (
            ["search", "reduce.sum"],
            "cubc search: a benchmark follows -R: cubc search -R reduce.sum",
        ),
        (
            ["search", "-R", "reduce.sum", "-a", "Elemnts=16"],
            "'Elemnts'; did you mean Elements{io}",
        ),
        (["search", "-R", "reduce.sum", "-a", "T=f32"], "f32 on axis T{ct}; did you mean F32?"),
        (["search", "-R", "reduce.sum", "--constraint", "tbp<3"], "'tbp'; did you mean tpb?"),
        (["search", "-R", "reduce.sum", "--objective", "tmie"], "'tmie'; did you mean time?"),
    ],
)
def test_the_nearest_right_word(words, sentence, capsys):
    try:
        status = main(words)
    except SystemExit as end:
        status = end.code
    error = capsys.readouterr().err
    assert status == 2
    assert sentence in error
    assert error.count("\n") == 1 and len(error) < 250


def test_a_part_of_a_name_and_its_flags():
    names = ["scan.sum", "reduce.sum", "sort.keys", "T{ct}"]
    assert nearest("keys", names) == "sort.keys"
    assert nearest("t", names) == "T{ct}"
    assert nearest("xyz", names) is None


def test_many_names_are_not_listed():
    many = [f"name{number}" for number in range(100)]
    assert instead("nmae7", many) == "did you mean name7?"
    assert instead("other", many).endswith("name7 and 92 more")
    assert instead("other", ["one", "two"]) == "it has one, two"
