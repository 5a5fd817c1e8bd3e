"""for_each: statements that are run for each index, for what they write.

It is a `cubc.Kernel` whose source is made here: of a text of C as it is, or of a Python function,
which is called with symbols and leaves the statements. Items are loaded into variables, so that a
value stays when a later statement writes to its item.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._arrays import as_array, is_cpu, is_read_only, item_dtype, whole_name
from ._callables import _parameters, _prepared
from ._calls import named, whole
from ._core import Array, Lazy, asarray, device_info, is_binding
from ._environment import is_on
from ._kernel import Kernel
from ._lazy import dialect
from ._symbols import MOST_ENDS, Symbol, Trace, converted, number_of, plain_of, refuse
from ._symbols import named as name_of

_EACH_ON_CPU = 4096  # indices of a block of one thread
_MANY = 1 << 22  # indices from which a thread takes several of short items
_OWN = "cubc_"  # how names of the source begin that are not the caller's
_SOURCE = """\
#include "modulus.h"
{bools}{structs}{checks}
__global__ void for_each({parameters})
{{
{arrays}
    constexpr u64 cubc_each = {each}; // known, so that no instructions for a loop precede the loads
    for (u64 cubc_k = 0; cubc_k < cubc_each; cubc_k++) {{
        const i64 i = static_cast<i64>((blockIdx.x * cubc_each + cubc_k) * blockDim.x
                                       + threadIdx.x);
        if (i < cubc_n) {{
#line 1 "body"
{body}
        }}
    }}
}}
"""
# A bool in memory, of any byte: 0 is False, and all else is True. What is written is 0 or 1.
_BOOLS = """\
struct cubc_bool {
    u8 byte;
    cubc_bool() = default;
    FUNCTION_MEMBER cubc_bool(bool v) : byte(v) {}
    FUNCTION_MEMBER cubc_bool(const cubc_bool& v) : byte(v.byte != 0) {}
    FUNCTION_MEMBER operator bool() const { return byte != 0; }
    FUNCTION_MEMBER cubc_bool& operator=(const cubc_bool& v)
    {
        byte = v.byte != 0;
        return *this;
    }
    FUNCTION_MEMBER cubc_bool& operator|=(bool v) { return *this = *this || v; }
    FUNCTION_MEMBER cubc_bool& operator&=(bool v) { return *this = *this && v; }
    FUNCTION_MEMBER cubc_bool& operator^=(bool v) { return *this = *this != v; }
};
"""
# The first index outside of an array is noted; what is written there goes behind the note. That is
# memory as the arrays are: NVRTC 13 loses what is written to either an array or a variable.
_CHECKS = """\
template <class T>
struct cubc_plain {
    typedef T type;
};
template <class T>
struct cubc_plain<const T> {
    typedef T type;
};
template <class T>
struct cubc_checked {
    T* items;
    i64 n;
    unsigned long long* note;
    u64 which;
    FUNCTION_MEMBER T& item(bool inside, unsigned long long k, u64 is_unsigned) const
    {
        if (inside) return items[k];
        const unsigned long long said = (which + 1ull) | (is_unsigned << 63);
        if (atomicCAS(note, 0ull, said) == 0ull) note[1] = k;
        typedef typename cubc_plain<T>::type plain;
        plain* none = reinterpret_cast<plain*>(note + 2);
        *none = plain{};
        return *none;
    }
    FUNCTION_MEMBER T& of_signed(long long k) const
    {
        return item(k >= 0 && k < n, static_cast<unsigned long long>(k), 0);
    }
    FUNCTION_MEMBER T& of_unsigned(unsigned long long k) const
    {
        return item(k < static_cast<unsigned long long>(n), k, 1);
    }
    // One for each type of integers, so that what is none is no index, as in a pointer's brackets.
    FUNCTION_MEMBER T& operator[](int k) const { return of_signed(k); }
    FUNCTION_MEMBER T& operator[](long k) const { return of_signed(k); }
    FUNCTION_MEMBER T& operator[](long long k) const { return of_signed(k); }
    FUNCTION_MEMBER T& operator[](unsigned k) const { return of_unsigned(k); }
    FUNCTION_MEMBER T& operator[](unsigned long k) const { return of_unsigned(k); }
    FUNCTION_MEMBER T& operator[](unsigned long long k) const { return of_unsigned(k); }
};
"""


@named
def for_each(body, n, /, *, check=None, stream=None, device=None, **operands) -> None:
    """Run statements for each index i from 0 to n - 1, in any order, for what they write.

    Parameters
    ----------
    body : str or function
        Statements of CUDA C++, which read and write items of the operands by a flat index, as in
        ``"y[k[i]] = x[i]; if (x[i] > 0) atomicAdd(&count[0], 1ull);"``. The types of the kernels
        (``f16``, ``c64``, ``i64`` and so on) are known. Or a Python function with the operands'
        names, and perhaps i, as parameters, which assigns items: ``y[i] = x[i] * s``.
    n : int
        Number of indices.
    check : bool, optional
        True looks at each index: one outside of its array raises IndexError, and nothing is read or
        written there. The call then waits. False leaves it to the statements to stay inside: the
        memory of others may be written otherwise. By default ``CUBC_CHECK=1`` in the environment
        makes it True, but within `bind`.
    stream
        As for `transform`.
    device : str, optional
        Device that computes; only without arrays.
    **operands : array_like or number
        Arrays by name, contiguous and of one device; those in host memory are the cpu's. A
        read-only array, a list or a lazy object can only be read. Any byte of a bool but 0 is true;
        0 and 1 are written. An int is int64, or uint64 from 2^63 on, a float float64, and a NumPy
        scalar has its own type.

    Raises
    ------
    CompileError
        If the statements do not compile; `log` has the compiler's output.
    IndexError
        With `check`, for an index outside of an array.
    OverflowError
        For an int that 64 bits do not hold.
    TypeError
        For an operand that is neither; for a function that computes what has no expression.
    ValueError
        For a negative n; for arrays of different devices, or with strides.

    Notes
    -----
    Indices run at the same time: statements of one must not read what those of another write,
    unless by atomics. For blocks, shared memory or several kernels there is `Kernel`, which this is
    one of; for one result an index there is `transform`.

    Examples
    --------
    >>> x, y = np.arange(4.0), np.zeros(4)
    >>> cubc.for_each("y[3 - i] = 2 * x[i]", 4, x=x, y=y)
    >>> print(y)
    [6. 4. 2. 0.]
    >>> def swap(x, y, i):
    ...     x[i], y[i] = y[i], x[i]
    >>> cubc.for_each(swap, 4, x=x, y=y)
    >>> print(x)
    [6. 4. 2. 0.]
    """
    n = whole("for_each", "n", n)
    if n < 0:
        raise ValueError(f"n is {n}: expected 0 or more")
    if check is None:
        check = is_on("CUBC_CHECK") and not is_binding()
    if not isinstance(check, bool | np.bool):
        raise TypeError(
            f"check is of the type {type(check).__name__}: expected True or False; an operand "
            "takes another name"
        )
    arrays, numbers = _sorted_out(operands)
    if callable(body):
        body, more = _statements(body, arrays, numbers)
        numbers = more
    elif not isinstance(body, str) or not body.strip():
        raise TypeError(f"the body is {body!r:.60}: expected statements of C or a function")
    place = _place_of(arrays, device)
    if n:
        _launch(body, n, arrays, numbers, bool(check), stream, place)


def _sorted_out(operands: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the arrays and the numbers, by name."""
    arrays, numbers = {}, {}
    for name, x in operands.items():
        if name == "i" or name.startswith(_OWN) or not name.isascii():
            raise ValueError(f"'{name}' cannot name an operand: take another identifier of ASCII")
        if isinstance(x, bool | int | float | complex | np.generic):
            numbers[name] = _in_64_bits(name, x)
        elif isinstance(x, Lazy):
            arrays[name] = _read_only(x.array())
        else:
            array = as_array(x)
            arrays[name] = _read_only(array) if isinstance(x, list | tuple) else array
    return arrays, numbers


def _in_64_bits(name: str, x: Any) -> Any:
    if isinstance(x, int) and not -(2**63) <= x < 2**64:
        raise OverflowError(f"the operand '{name}' is {x:.3e}: an int has 64 bits; give a float")
    return x


def _read_only(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        x = x.view()
        x.flags.writeable = False
    return x


def _place_of(arrays: dict[str, Any], device: Any) -> str | None:
    """Return the name of the device that the arrays are on."""
    for x in arrays.values():
        found = "cpu" if isinstance(x, np.ndarray) else str(asarray(x).device)
        if device is not None and whole_name(device) != found:
            raise ValueError(
                f"the arrays are on {found}: move them with cubc.asarray(x, device={device!r})"
            )
        return found
    return device


# ---- the kernel ----------------------------------------------------------------------------------
def _type(dtype: Any, structs: dict[str, str]) -> str:
    """Return the C++ type of items in memory; that of a struct is defined."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return f"{_OWN}bool"
    if not dtype.fields:
        if dtype.name != "bfloat16" and (dtype.kind not in "biufc" or dtype.itemsize > 16):
            raise TypeError(f"an operand has the dtype {dtype}: for_each takes numbers and structs")
        return dialect(dtype)
    fields = [(name, dtype.fields[name][0]) for name in dtype.names or ()]
    if dtype != np.dtype(fields, align=True) or any(of.subdtype for _, of in fields):
        raise TypeError(
            f"an array of structs {dtype}: for_each takes those that lie as in C, of numbers "
            "alone: np.dtype(fields, align=True)"
        )
    name = f"{_OWN}struct_{len(structs)}"
    # Types are looked up globally, since a field may have the name of one.
    inside = " ".join(f"::{_type(of, structs)} {field};" for field, of in fields)
    text = f"{{ {inside} }};"
    name = next((known for known, other in structs.items() if other == text), name)
    structs[name] = text
    return name


def _number(x: Any) -> Any:
    """Return a number of Python or NumPy as one of NumPy with the type that it has in C++."""
    if isinstance(x, np.generic | np.ndarray):
        x = np.asarray(x)[()]
        return np.float32(x) if x.dtype.name in ("float16", "bfloat16") else x
    if isinstance(x, bool | float | complex):
        return np.asarray(x)[()]
    return np.uint64(x) if x >= 2**63 else np.int64(x)


def _launch(
    body: str,
    n: int,
    arrays: dict[str, Any],
    numbers: dict[str, Any],
    check: bool,
    stream: Any,
    device: str | None,
) -> None:
    values = {name: _number(x) for name, x in numbers.items()}
    place = str(device_info(device)["name"])
    on_cpu = is_cpu(place)
    short = all(item_dtype(x).itemsize <= 4 for x in arrays.values())
    threads, each = (128, 4) if short and n >= _MANY else (256, 1)
    if on_cpu:
        threads, each = 1, _EACH_ON_CPU
    each = max(each, -(-n // (threads * (2**31 - 1))))
    kernel = _kernel(
        body.strip() + ("" if body.rstrip().endswith((";", "}")) else ";"),
        tuple((name, item_dtype(x), is_read_only(x)) for name, x in arrays.items()),
        tuple((name, x.dtype) for name, x in values.items()),
        check,
        each,
        place,
    )
    given = [x.tobytes() if x.dtype.kind in "cV" else x.item() for x in values.values()]
    note: Any = None
    if check:
        longest = max([item_dtype(x).itemsize for x in arrays.values()], default=0)
        note = np.zeros(2 + -(-longest // 8), np.uint64)
        note = note if on_cpu else asarray(note, device=kernel.device, stream=stream)
        given += [int(np.prod(x.shape)) for x in arrays.values()] + [note]
    grid = -(-n // (threads * each))
    kernel(*arrays.values(), *given, n, grid=grid, block=threads, stream=stream)
    if check:
        _raise_noted(note, arrays)


def _raise_noted(note: Any, arrays: dict[str, Any]) -> None:
    which, index = (note.numpy() if isinstance(note, Array) else note)[:2].tolist()
    if which:
        is_unsigned, which = which >> 63, which & (2**63 - 1)
        name = list(arrays)[which - 1]
        at = index - 2**64 if index >= 2**63 and not is_unsigned else index
        size = int(np.prod(arrays[name].shape))
        raise IndexError(f"for_each(): {name}[{at}] is outside of the {size} items of {name}")


@functools.lru_cache(maxsize=256)
def _kernel(
    body: str,
    arrays: Sequence[tuple[str, Any, bool]],
    numbers: Sequence[tuple[str, Any]],
    check: bool,
    each: int,
    device: str,
) -> Kernel:
    structs: dict[str, str] = {}
    parameters, inside = [], []
    for k, (name, dtype, read_only) in enumerate(arrays):
        of = f"{'const ' * read_only}{_type(dtype, structs)}"
        own = f"{_OWN}{k}" if check else name
        parameters.append(f"{of}* {own}")
        if check:
            made = f"const cubc_checked<{of}> {name}{{{own}, {own}_n, cubc_note, {k}}};"
            inside += [f"    {made}", f"    (void){name};"]
    for name, dtype in numbers:
        of = "bool" if dtype.kind == "b" else _type(dtype, structs)
        parameters.append(f"const {of} {name}")
    if check:
        parameters += [f"const i64 {_OWN}{k}_n" for k in range(len(arrays))]
        parameters.append("unsigned long long* cubc_note")
    parameters.append("const i64 cubc_n")
    known = "".join(f"struct {name} {text}\n" for name, text in structs.items())
    uses_bools = f"{_OWN}bool" in known + "".join(parameters)
    source = _SOURCE.format(
        bools=_BOOLS if uses_bools else "",
        structs=known,
        checks=_CHECKS if check else "",
        parameters=", ".join(parameters),
        arrays="\n".join(inside),
        each=each,
        body=body,
    )
    return Kernel(source, "for_each", device=device)


# ---- functions -----------------------------------------------------------------------------------
class _Effects(Trace):
    """A function that is traced for the statements that it leaves, in order."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__(function, True)
        self.lines: list[list[str]] = [[]]  # between the conditions that are asked
        self.loads = 0

    def ask(self, condition: Symbol) -> bool:
        before = len(self.asked)
        answer = super().ask(condition)
        self.lines += [[] for _ in range(len(self.asked) - before)]
        return answer

    def say(self, line: str) -> None:
        self.lines[-1].append(line)

    def statements(self, call: Callable[[], Any], known: list[bool]) -> str:
        """Return what the function says when these conditions have these answers, from there on."""
        self.answers, self.asked, self.lines, self.loads = [*known], [], [[]], 0
        if call() is not None:
            raise TypeError(f"{name_of(self.function)} returns something: it is to assign items")
        asked, text = self.asked, "\n".join(self.lines[len(known)])
        if len(asked) == len(known):
            self.ends += 1
            if self.ends > MOST_ENDS:
                name = name_of(self.function)
                raise ValueError(f"{name} has more than {MOST_ENDS} ends: write it in C")
            return text
        condition = asked[len(known)].text
        yes, no = (self.statements(call, [*known, answer]) for answer in (True, False))
        return f"{text}\nif ({condition}) {{\n{yes}\n}} else {{\n{no}\n}}"


class _Items:
    """An array in a function: its items are loaded and stored by an index."""

    def __init__(self, trace: _Effects, name: str, dtype: Any):
        self._trace, self._name, self._dtype = trace, name, dtype

    def __getitem__(self, index: Any) -> Any:
        trace = self._trace
        name = f"{_OWN}x{trace.loads}"
        trace.loads += 1
        of = "auto" if self._dtype.fields else f"in_expression<{dialect(self._dtype)}>"
        trace.say(f"const {of} {name} = {self._name}[{self._index(index)}];")
        return Symbol(trace, name, self._dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        at = self._index(index)
        if isinstance(value, Symbol) and value.dtype.fields:
            made = value.text
        elif self._dtype.fields:
            refuse("an item is a struct: assign one of another item")
        else:
            of = dialect(self._dtype)
            made = f"convert<{of}>({converted(self._trace, value, self._dtype)})"
        self._trace.say(f"{self._name}[{at}] = {made};")

    def _index(self, index: Any) -> str:
        kind = index.dtype.kind if hasattr(index, "dtype") else ""
        if kind not in ("i", "u") and not isinstance(index, int):
            refuse(f"an index is {plain_of(index)!r:.40}: expected one integer")
        return converted(self._trace, index, np.dtype("i8"))


def _statements(
    function: Callable[..., Any], arrays: dict[str, Any], numbers: dict[str, Any]
) -> tuple[str, dict[str, Any]]:
    """Return the statements of a function, and the numbers that they take."""
    wanted = _parameters(function)
    if set(wanted) - {"i"} != arrays.keys() | numbers.keys():
        raise TypeError(
            f"{name_of(function)} has the parameters {', '.join(wanted) or 'none'}, and the "
            f"operands are {', '.join([*arrays, *numbers]) or 'none'}: give each by its name"
        )
    trace = _Effects(function)
    trace.taken = {*arrays, "i"}
    given: dict[str, Any] = {}
    for name in wanted:
        if name == "i":
            given[name] = Symbol(trace, "i", np.dtype("i8"))
        elif name in arrays:
            given[name] = _Items(trace, name, np.dtype(item_dtype(arrays[name])))
        else:
            given[name] = number_of(plain_of(numbers[name]), name)
    prepared = _prepared(function, {})
    text = trace.statements(lambda: prepared(*given.values()), [])
    return text or ";", trace.operands
