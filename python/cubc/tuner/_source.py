"""A user's source that declares a parameter space in its ``%RANGE%`` comments."""

from __future__ import annotations

from collections.abc import Mapping

from cubc import _core, _source

from . import _axes as ax
from ._space import parse_label

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

    def parameters(self, arch: str) -> list[tuple[str, str, int, int, int]]:
        """Macro, label, start, end and step of each parameter.

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

    def complete(self, arch: str, ct: Mapping[str, str], variant: str = "") -> str:
        """Text to be compiled for an architecture, a compile-time workload and a variant.

        ValueError if it uses collectives and has no parameter tpb, the threads of a block.
        """
        values = parse_label(variant) if variant else {}
        macros: dict[str, str | int] = {}
        for axis, value in ct.items():
            name = ax.split_name(axis)[0]
            macros |= dict.fromkeys((name, f"TUNE_{name}"), TYPES.get(value, value))
        for macro, label, *_ in self.parameters(arch) if variant else ():
            macros[macro] = values[label]
        if self.collective and variant and "tpb" not in values:
            raise ValueError(
                f"{self.name}.cu includes collectives of cubc, which are compiled for the threads "
                "of a block: declare them as a parameter, // %RANGE% TUNE_THREADS tpb 64:1024:64"
            )
        return self.compiled(arch, macros, values.get("tpb", 32))
