"""SECURITY.md names whatever reads stores."""

import re
from pathlib import Path

import pytest

from cubc.tuner import _cli as cli

PAGE = Path(__file__).resolve().parents[2] / "SECURITY.md"
STORES = {"db", "files", "before", "recording"}  # names of arguments that are stores
NONE = {"profile", "bundle", "devices"}


@pytest.mark.skipif(not PAGE.exists(), reason="there is no SECURITY.md here")
def test_each_command_that_takes_a_store_is_named():
    row = re.search(r"^\| stores .*$", PAGE.read_text(), re.MULTILINE)[0]
    known = set(re.findall(r"\w+", row[row.index("`cubc ") :]))
    (commands,) = (one for one in cli.make_parser(cli.RUNS)._actions if one.choices)
    takes = {
        name
        for name, parser in commands.choices.items()
        if STORES.intersection(action.dest for action in parser._actions)
    }
    assert takes == {*commands.choices} - NONE
    assert takes - known == set()
