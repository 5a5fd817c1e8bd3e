"""Writes the calls of python/cubc/_core.pyi whose help() begins with their signature.

python tools/stub.py [--check]

Names and defaults are those of csrc/python/py_docs.c and py_array_docs.c, where they are typed. A
default of True, False or a text gives the type; other parameters have the type of their name.
"""

import inspect
import subprocess
import sys
from pathlib import Path

from cubc import _core

STUB = Path(__file__).resolve().parents[1] / "python/cubc/_core.pyi"
BEGIN, NEXT = "# ---- written by tools/stub.py\n", "# ---- "
TYPES = {
    "algorithm": "str",
    "axis": "int | tuple[int, ...] | None",
    "device": "str | None",
    "expression": "str | Lazy | Callable[..., Any] | Sequence[str]",
    "op": "str | Callable[..., Any] | Sequence[Any]",
    "parameters": "dict[str, Any]",
    "size": "int | None",
}
RESULTS = {
    "asarray": "Array",
    "call": "tuple[Any, ...]",
    "device_info": "dict[str, Any]",
    "devices": "list[str]",
    "empty": "Array",
    "operator_types": "tuple[str, str]",
    "synchronize": "None",
    "topk_in_order": "int",
}


def typed(parameter):
    """Return a parameter with its type."""
    name, default = parameter.name, parameter.default
    plain = type(default).__name__ if isinstance(default, (bool, str)) else "Any"
    return parameter.replace(annotation=TYPES.get(name, plain))


def definition(name):
    """Return the line that declares a call."""
    signature = inspect.signature(getattr(_core, name))
    parameters = [typed(parameter) for parameter in signature.parameters.values()]
    text = str(signature.replace(parameters=parameters))
    # Annotations that are texts have quotes.
    for annotation in {parameter.annotation for parameter in parameters}:
        text = text.replace(f": {annotation!r}", f": {annotation}")
    return f"def {name}{text} -> {RESULTS.get(name, 'Any')}: ...\n"


def written(stub):
    """Return the stub with its part of today."""
    before, rest = stub.split(BEGIN)
    after = rest[rest.index(NEXT) :]
    names = [name for name in dir(_core) if getattr(_core, name).__doc__]
    calls = [n for n in names if getattr(getattr(_core, n), "__text_signature__", None)]
    text = before + BEGIN + "".join(map(definition, calls)) + "\n" + after
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", STUB.name, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    stub = STUB.read_text(encoding="utf-8")
    if "--check" not in sys.argv:
        STUB.write_text(written(stub), encoding="utf-8")
    elif written(stub) != stub:
        sys.exit("python/cubc/_core.pyi is not what tools/stub.py writes: run `make format`")
