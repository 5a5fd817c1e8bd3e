"""Constraints: expressions that a variant has to fulfil, as ``"tpb * ipt <= 4096"``.

An expression over parameters alone is evaluated before anything is compiled. One that names a
figure of the compiled variant (`COMPILED`) is evaluated after compiling and before running.
Constraints may come from a command line or somebody else's file, so they are not evaluated by
Python: they consist of numbers, names, arithmetic, comparisons, ``and``, ``or`` and ``not``. A
parameter whose values are names is compared with one in quotes: ``"acc == 'double'"``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from . import _axes as ax

COMPILED = (
    "registers",  # a thread's
    "local_bytes",  # a thread's spills and stack
    "shared_bytes",  # a block's
    "blocks_per_sm",  # resident at once on a multiprocessor
    "threads",  # a block's
    "occupancy",  # resident threads over the most that a multiprocessor takes, 0 to 1
)
LONGEST = 500  # characters of an expression

_BINARY: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARE: dict[type, Callable] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_UNARY: dict[type, Callable] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


class Expression:
    """A parsed expression.

    Attributes
    ----------
    text : str
        As it was written.
    names : frozenset of str
        Names in it.

    Raises
    ------
    TypeError
        If `text` is no text.
    ValueError
        If it is no such expression; the message has what it may be made of.
    """

    kind, like = "expression", "time * energy"

    def __init__(self, text: str):
        if not isinstance(text, str):
            raise TypeError(f"a {self.kind} is a text as '{self.like}', not {text!r:.80}")
        self.text = text.strip()
        try:
            if len(text) > LONGEST:
                raise ValueError(f"it is longer than {LONGEST} characters")
            self._body = ast.parse(self.text, mode="eval").body
            self.names = frozenset(_names(self._body))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = error.msg if isinstance(error, SyntaxError) else str(error)
            made_of = "numbers, parameters, + - * / // %, comparisons, and, or, not"
            raise ValueError(
                f"{text!r:.80} is no {self.kind} ({reason}); one is made of {made_of}"
            ) from None

    def value(self, values: Mapping[str, float | str]) -> Any:
        """Value, given those by name; None if it divides by zero, overflows or has no number."""
        try:
            return _value(self._body, values)
        except (ArithmeticError, TypeError):
            return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"


class Constraint(Expression):
    """An expression that holds or does not; call it with values by name."""

    kind, like = "constraint", "tpb * ipt <= 4096"

    @property
    def needs_compiling(self) -> bool:
        """True if it names a figure of the compiled variant."""
        return not self.names.isdisjoint(COMPILED)

    def __call__(self, values: Mapping[str, float | str]) -> bool:
        """True if it holds; False if it divides by zero or overflows, or computes with names."""
        return bool(self.value(values))

    def parts(self) -> Iterable[Constraint]:
        """Constraints that must all hold: the terms of an ``and``, or this one."""
        if not isinstance(self._body, ast.BoolOp) or isinstance(self._body.op, ast.Or):
            return [self]
        terms = (Constraint(ast.unparse(term)) for term in self._body.values)
        return [part for term in terms for part in term.parts()]


def _names(node: ast.expr) -> Iterable[str]:
    """Names in an expression; ValueError if something else is in it."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Constant(value=bool() | int() | float()):
            pass
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            yield from _names(left)
            yield from _names(right)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            yield from _names(operand)
        case ast.BoolOp(values=values):
            for value in values:
                yield from _names(value)
        case ast.Compare(left=left, ops=ops, comparators=others) if _COMPARE.keys() >= set(
            map(type, ops)
        ):
            equal = all(isinstance(op, ast.Eq | ast.NotEq) for op in ops)
            for value in (left, *others):
                if not (equal and _is_text(value)):
                    yield from _names(value)
        case _:
            raise ValueError(f"{ast.unparse(node)!r:.60} cannot be in it")


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _number(node: ast.expr, values: Mapping[str, float | str]) -> Any:
    """Value to compute with; TypeError if it is a name, which Python would repeat or format."""
    found = _value(node, values)
    if isinstance(found, str):
        raise TypeError(f"{found} is no number")
    return found


def _value(node: ast.expr, values: Mapping[str, float | str]) -> Any:
    match node:
        case ast.Name(id=name):
            return values[name]
        case ast.Constant(value=value):
            return value
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_number(left, values), _number(right, values))
        case ast.UnaryOp(op=op, operand=operand):
            return _UNARY[type(op)](_value(operand, values))
        case ast.BoolOp(op=op, values=several):
            combine = all if isinstance(op, ast.And) else any
            return combine(_value(value, values) for value in several)
        case ast.Compare(left=left, ops=ops, comparators=others):
            terms = [_value(term, values) for term in (left, *others)]
            pairs = zip(ops, terms, terms[1:], strict=False)
            return all(_COMPARE[type(op)](one, other) for op, one, other in pairs)
    raise AssertionError(node)


def parse(constraints: str | Iterable[str]) -> tuple[Constraint, ...]:
    """Parse one expression or several; the terms of an ``and`` are constraints of their own."""
    several = [constraints] if isinstance(constraints, str) else constraints
    if not isinstance(several, Iterable):
        raise TypeError(f"constraints are texts as 'tpb * ipt <= 4096', not {constraints!r:.80}")
    return tuple(part for text in several for part in Constraint(text).parts())


def check_names(owner: str, constraints: Sequence[Constraint], parameters: Iterable[str]) -> None:
    """Raise LookupError, with the nearest name, if a constraint has an unknown name."""
    known = {*parameters, *COMPILED}
    for constraint in constraints:
        for name in sorted(constraint.names - known):
            raise ax.unknown(owner, "parameter", name, known)


def compiled(info: Mapping[str, Any], threads_per_sm: int) -> dict[str, float]:
    """Values that constraints on the compiled variant may name, from its ``info``."""
    found = {name: info[name] for name in COMPILED if name in info}
    resident = info["threads"] * info["blocks_per_sm"]
    return found | {"occupancy": resident / threads_per_sm if threads_per_sm else 1.0}
