"""The nearest right word for a wrong one, and a parser of commands that names it."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

FEW = 16  # names that a message lists; of more it has some
SOME = 8


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of some names that is most like a wrong one; None if none is like it.

    Flags of axes and the case of letters are of no account, and a part of a name finds the name, or
    what is like its first word: "scna" finds a scan.
    """
    wrong = _plain(name)
    folded = {_plain(text): text for text in sorted(names, reverse=True)}
    if wrong in folded:
        return folded[wrong]
    parts = [text for text in folded if len(wrong) > 2 and wrong in text]
    near = [min(parts, key=len)] if parts else difflib.get_close_matches(wrong, folded, n=3)
    if not near:
        firsts = {text.partition(".")[0]: text for text in sorted(folded, key=len, reverse=True)}
        near = [firsts[word] for word in difflib.get_close_matches(wrong, firsts, n=3)]
    near = sorted(near, key=lambda text: sorted(text) != sorted(wrong))  # letters in another order
    return folded[near[0]] if near else None


def _plain(name: str) -> str:
    return re.sub(r"[\[{].*", "", name).casefold()


def listed(names: Iterable[str]) -> str:
    """Some names as a message has them."""
    known = list(names)
    if len(known) <= FEW:
        return ", ".join(known) or "none"
    return f"{', '.join(known[:SOME])} and {len(known) - SOME} more"


def instead(name: str, names: Iterable[str], verb: str = "has") -> str:
    """End of the sentence that a name is wrong: the nearest, and the others if they are few."""
    known = list(names)
    near = nearest(name, known)
    if near and len(known) > FEW:
        return f"did you mean {near}?"
    return f"{f'did you mean {near}? ' if near else ''}it {verb} {listed(known)}"


# Words of argparse for a value that is no number.
_WRONG_NUMBER = re.compile(r"argument (\S+): invalid (int|float) value: (.*)")


def _wrong_number(option: str, kind: str, value: str) -> str:
    return f"{option} is {value}: expected a {'whole number' if kind == 'int' else 'number'}"


def _spelt(action: argparse.Action, wrong: str) -> list[str]:
    """Names of an option with as many dashes as a wrong one, or all if it has none of those."""
    dashes = wrong.startswith("--")
    alike = [name for name in action.option_strings if name.startswith("--") == dashes]
    return alike or list(action.option_strings)


class Parser(argparse.ArgumentParser):
    """Parser of a command whose errors name the nearest right word."""

    def parse_args(  # type: ignore[override] # of overloads
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Parse all arguments; what is left over ends the program with a sentence."""
        options, rest = self.parse_known_args(args, namespace)
        if rest:
            parser = getattr(options, "parser", self)
            wrong = next((word for word in rest if word.startswith("-")), None)
            if wrong is None:
                parser.end(f"nothing is expected where {rest[0]!r} stands")
            wrong = str(wrong).partition("=")[0]
            names = [text for action in parser._actions for text in _spelt(action, wrong)]
            parser.end(f"there is no option {wrong}; {instead(wrong, names)}")
        return options

    def error(self, message: str) -> NoReturn:
        """End the program with what argparse found wrong."""
        self.end(_WRONG_NUMBER.sub(lambda found: _wrong_number(*found.groups()), message))

    def end(self, sentence: str) -> NoReturn:
        """End the program with a sentence and the way to more."""
        self.exit(2, f"{self.prog}: {sentence} ({self.prog} --help says more)\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            kind = action.metavar or (action.option_strings or [action.dest])[0].lstrip("-")
            self.end(f"there is no {kind} {value!r}; {instead(str(value), action.choices)}")
