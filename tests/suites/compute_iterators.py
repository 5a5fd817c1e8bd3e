"""Operators, structs and iterators of cuda.compute over cubc: see compute_stand_in.

An iterator is what cubc calls a lazy input, and an output iterator a step after the call.
"""

import enum

import numpy as np

import cubc
from cubc._symbols import Symbol

from .compute_arrays import ndarray


# ---- operators and structs -----------------------------------------------------------------------
class OpKind(enum.Enum):
    """Operators by name, and what cubc calls them."""

    PLUS = "sum"
    MULTIPLIES = "prod"
    MINIMUM = "min"
    MAXIMUM = "max"
    LOGICAL_AND = "all"
    LOGICAL_OR = "any"
    MINUS = "a - b"
    DIVIDES = "a / b"
    MODULUS = "a % b"
    BIT_AND = "a & b"
    BIT_OR = "a | b"
    BIT_XOR = "a ^ b"
    EQUAL_TO = "a == b"
    NOT_EQUAL_TO = "a != b"
    LESS = "a < b"
    LESS_EQUAL = "a <= b"
    GREATER = "a > b"
    GREATER_EQUAL = "a >= b"
    NEGATE = "-a"
    IDENTITY = "a"
    LOGICAL_NOT = "!a"
    BIT_NOT = "~a"


# Those that cubc has by name are texts where each item is computed alone.
ALONE = {"sum": "a + b", "prod": "a * b", "all": "a && b", "any": "a || b"}
ALONE |= {"min": "b < a ? b : a", "max": "a < b ? b : a"}


class Determinism(enum.Enum):
    """Kinds of determinism; whether cubc's deterministic= is needed for one."""

    NOT_GUARANTEED = 0
    RUN_TO_RUN = 1
    GPU_TO_GPU = 2


class SortOrder(enum.Enum):
    """Orders of sorts."""

    ASCENDING = 0
    DESCENDING = 1


def operator(op):
    return op.value if isinstance(op, OpKind) else op


def alone(op):
    """Operator as an expression of the operands a and b."""
    return ALONE.get(operator(op), operator(op))


class Struct:
    """A struct of C; called it makes an item."""

    last = None  # the one that the function made that is being traced

    def __init__(self, name, dtype):
        self.__name__, self.dtype = name, dtype

    def __call__(self, *values):
        """In a kernel it is a tuple, as cubc takes one."""
        if any(isinstance(x, tuple | Symbol) for x in values):
            Struct.last = self
            return values
        return np.array(values, np.dtype((np.record, self.dtype)))[()]


def gpu_struct(given):
    """Makes a struct by a class with annotations, a dict or a dtype."""
    fields = given if isinstance(given, dict) else getattr(given, "__annotations__", None)
    if fields is None:
        return Struct("struct", np.dtype(given, align=True))
    types_of = [
        (name, gpu_struct(of) if isinstance(of, dict) else of) for name, of in fields.items()
    ]
    pairs = [(name, of.dtype if isinstance(of, Struct) else of) for name, of in types_of]
    return Struct(getattr(given, "__name__", "struct"), np.dtype(pairs, align=True))


def first_of(init):
    """First operand as one number, or one struct."""
    if init is None:
        return None
    whole = np.asarray(init).reshape(-1)
    return whole.view(plain_type(whole.dtype))[0]


def plain_type(dtype):
    """Type of a struct whose items are no records."""
    return np.dtype((np.void, dtype)) if dtype.fields else dtype


# ---- iterators -----------------------------------------------------------------------------------
def plain(x):
    """Memory of an array, flat in its order."""
    x = x.view(np.ndarray) if isinstance(x, ndarray) else np.asarray(x)
    return x if x.ndim == 1 else x.ravel(order="K")


def items(x, count):
    """First items of an array or iterator, as cubc takes them."""
    if isinstance(x, Iterator):
        return x.at(cubc.lazy("i", size=count), count)
    return plain(x)[:count]


def picked(x, index, count):
    """Items of an array or iterator by a lazy index."""
    return x.at(index, count) if isinstance(x, Iterator) else cubc.lazy("t[k]", t=plain(x), k=index)


class Iterator:
    """An item for each index."""

    def __add__(self, offset):
        return Shifted(self, offset)

    def stored(self, call, count):
        raise TypeError(f"{type(self).__name__} is no output")


class Shifted(Iterator):
    """An iterator from one of its items on."""

    def __init__(self, of, offset):
        self.of, self.offset = of, int(offset)

    def at(self, index, count):
        return picked(self.of, cubc.lazy("k + d", k=index, d=self.offset), count)


class CountingIterator(Iterator):
    def __init__(self, start):
        self.start = np.asarray(start)

    def at(self, index, count):
        return cubc.lazy("s + k", s=self.start, k=index, dtype=self.start.dtype)


class ConstantIterator(Iterator):
    def __init__(self, value):
        self.value = np.asarray(value)

    def at(self, index, count):
        of = plain_type(self.value.dtype)
        return cubc.lazy("v", v=self.value.astype(of)[()], size=count, dtype=of)


class CacheModifiedInputIterator(Iterator):
    def __init__(self, array, modifier):
        self.array = array

    def at(self, index, count):
        return picked(self.array, index, count)


class ReverseIterator(Iterator):
    """An array from its last item on, or an iterator that counts down."""

    def __init__(self, of):
        self.of = of

    def at(self, index, count):
        if isinstance(self.of, Iterator):
            return self.of.at(cubc.lazy("-k", k=index), count)
        return cubc.lazy("t[n - 1 - k]", t=plain(self.of), n=plain(self.of).size, k=index)

    def stored(self, call, count):
        return stored(plain(self.of)[::-1], call, count)


class PermutationIterator(Iterator):
    def __init__(self, values, indices):
        self.values, self.indices = values, indices

    def at(self, index, count):
        return picked(self.values, picked(self.indices, index, count), count)

    def stored(self, call, count):
        made = call(None)
        cubc.put(plain(self.values), np.asarray(items(self.indices, len(made))), made)
        return made


class TransformIterator(Iterator):
    def __init__(self, of, op):
        self.of, self.op = of, op

    def at(self, index, count):
        given = {self.op.__code__.co_varnames[0]: picked(self.of, index, count)}
        Struct.last = None
        try:
            made = cubc.lazy(self.op, **given)
        except TypeError:
            if Struct.last is None:
                raise
            return cubc.lazy(self.op, **given, dtype=Struct.last.dtype)
        asked = self.op.__annotations__.get("return")
        return (
            made if asked is None else cubc.lazy("x", x=made, dtype=getattr(asked, "dtype", asked))
        )


class ZipIterator(Iterator):
    """Structs of items, whose fields go by their places."""

    def __init__(self, *of):
        self.of = of

    def at(self, index, count):
        parts = {f"value_{k}": picked(one, index, count) for k, one in enumerate(self.of)}
        dtype = np.dtype([(name, one.dtype) for name, one in parts.items()], align=True)
        return cubc.lazy(f"out_t{{{', '.join(parts)}}}", **parts, dtype=dtype)

    def stored(self, call, count):
        made = call(None)
        for name, to in zip(made.dtype.names, self.of, strict=True):
            stored(to, lambda out, name=name: computed(f"s.{name}", out, s=made), len(made))
        return made


class TransformOutputIterator(Iterator):
    """An output that a function goes before."""

    def __init__(self, of, op):
        self.of, self.op = of, op

    def stored(self, call, count):
        made, name = call(None), self.op.__code__.co_varnames[0]
        stored(self.of, lambda out: computed(self.op, out, **{name: made}), len(made))
        return made


class DiscardIterator(Iterator):
    def __init__(self, *of):
        pass

    def stored(self, call, count):
        return call(None)


class DoubleBuffer:
    """Two arrays that a sort may use; the result is in the current one."""

    def __init__(self, current, alternate):
        self.buffers, self.selector = [current, alternate], 0

    def current(self):
        return self.buffers[self.selector]

    def alternate(self):
        return self.buffers[1 - self.selector]


def computed(text, out, **operands):
    """A transform, whose result takes the output's type."""
    return cubc.transform(
        text, **operands, out=out, casting="unsafe" if out is not None else "same_kind"
    )


def stored(to, call, count):
    """Calls with an output where it is an array; an iterator takes the result."""
    if isinstance(to, Iterator):
        return to.stored(call, count)
    return call(plain(to)[:count])


def copied(to, made):
    """Puts results, of which there are as many as there are, into an output."""
    stored(to, lambda out: made if out is None else computed("x", out, x=made), len(made))
    return made
