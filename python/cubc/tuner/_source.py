"""A user's source that declares a parameter space in its ``%RANGE%`` comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cubc import _core, _source

from . import _axes as ax
from ._space import Value, parse_label

TYPES = {
    "I8": "signed char",
    "I16": "short",
    "I32": "int",
    "I64": "long long",
    "U8": "unsigned char",
    "U16": "unsigned short",
    "U32": "unsigned int",
    "U64": "unsigned long long",
    "F32": "float",
    "F64": "double",
}


class Source(_source.Source):
    """A source that declares parameters."""

    def parameters(self, arch: str) -> Sequence[tuple[str, str, Sequence[Value]]]:
        """Macro, or option of the compiler, label and values of each parameter.

        ValueError if one is malformed, or there is none.
        """
        try:
            found = _core.source_parameters(self.text, arch)
        except ValueError as error:
            raise ValueError(f"{self.name}.cu: {error}") from None
        if not found:
            like = "// %RANGE% TUNE_THREADS tpb 64:1024:64"
            raise ValueError(f"{self.name}.cu has no parameter: declare one in a line as {like}")
        return found

    def check_macros(self, axes: Sequence[ax.Axis]) -> None:
        """Raise ValueError if two compile-time axes, or one and a parameter, are one macro."""
        taken = {macro: f"parameter {label}" for macro, label, _ in self.parameters("cpu")}
        for axis in axes:
            for macro in _macros(axis.name) if axis.compile_time else ():
                if macro in taken:
                    raise ValueError(
                        f"{self.name}.cu: {taken[macro]} and axis {axis.name} are both the macro "
                        f"{macro}: give one of them another name"
                    )
                taken[macro] = f"axis {axis.name}"

    def complete(self, arch: str, ct: Mapping[str, str], variant: str = "") -> str:
        """Text to be compiled for an architecture, a compile-time workload and a variant.

        ValueError if it uses collectives and has no parameter tpb, the threads of a block.
        """
        values = parse_label(variant) if variant else {}
        macros: dict[str, Value] = {}
        for axis, value in ct.items():
            macros |= dict.fromkeys(_macros(axis), TYPES.get(value, value))
        options = []
        for macro, label, _ in self.parameters(arch) if variant else ():
            if not macro.startswith("-"):
                macros[macro] = values[label]
            elif values[label] != 0:
                options.append(f"{macro}{values[label]}" if macro.endswith("=") else macro)
        threads = values.get("tpb")
        if self.collective and variant and not isinstance(threads, int):
            raise ValueError(
                f"{self.name}.cu includes collectives of cubc, which are compiled for the threads "
                "of a block: declare them as a parameter, // %RANGE% TUNE_THREADS tpb 64:1024:64"
            )
        return self.compiled(arch, macros, threads if isinstance(threads, int) else 32, options)


def _macros(axis: str) -> tuple[str, str]:
    """Macros of a compile-time axis."""
    name = ax.split_name(axis)[0]
    return name, f"TUNE_{name}"
