"""CUDA C sources of users: reading with includes, and the text that is compiled.

Kernels are found by their ``__global__``. Each gets C linkage, so that it is found by name, and an
entry that describes its arguments (kernels/dialect/entry.h). For CUDA nothing else is changed. On
the cpu kernels/dialect/cuda.h defines CUDA's names. A header of cubc that the source includes, as
block.h, comes in front of all macros of the source, which may therefore have any name. A source
with such a header is compiled for one number of threads of a block.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _core

if TYPE_CHECKING:
    from pathlib import Path

# Their declarations are there without them; NVRTC does not have the files.
_GIVEN = r"cuda_runtime\.h|cuda\.h|device_launch_parameters\.h|math\.h|cmath|stdio\.h|cstdio"
_OWN = r"(?:thread|warp|types|modulus|philox|su2|block\w*)\.h"  # for kernels of a user's own
_TOKEN = r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_GUARD = re.compile(
    r"\s*#\s*(?:ifndef\s+|if\s*!\s*defined\b[\s(]*)(\w+)[\s)]*\n\s*#\s*define\s+\1\b"
)
_DIRECTIVE = r"^[ \t]*#(?:\\\n|.)*"
_DYNAMIC = re.compile(
    r"\bextern\s+__shared__\s+(?:__align__\s*\([^)]*\)\s*)?(\w[\w\s:]*?)\s*\b(\w+)\s*\[\s*\]\s*;"
)


class Source:
    """Source of kernels: a file, or a text that has lines or ``__global__``.

    Attributes
    ----------
    name : str
        Name of the file, without its ending.
    text : str
        Text with the files that it includes.
    given : str
        The same, or the text that was given in place of a path.
    kernels : list of str
        Names of the kernels that can be launched.
    collective : bool
        True if it includes a header of cubc.

    Raises
    ------
    FileNotFoundError
        If there is no such file, or none that it includes.
    ValueError
        If it has no kernel.
    """

    def __init__(self, source: str | os.PathLike, name: str):
        from pathlib import Path  # takes a tenth of the import of cubc

        reader = _Reader()
        if isinstance(source, str) and ("\n" in source or "__global__" in source):
            self.name = name
            self.given = source  # the text names lines by the function's name
            self.text = reader.flat(source, f"{name}.cu", Path())
        else:
            path = Path(source)
            self.name = re.sub(r"\W", "_", path.stem, flags=re.ASCII)  # as a store takes names
            self.text = self.given = reader.file(path, path.name)
        self.collective = bool(reader.own)
        self._own = "".join(reader.own)
        self.kernels, self._plain = _with_linkage(self.text)
        if not self.kernels:
            raise ValueError(f"{self.name}.cu has no kernel: none of its functions is __global__")

    def compiled(
        self, arch: str, macros: Mapping[str, Any], threads: int = 0, options: Iterable[str] = ()
    ) -> str:
        """Return the text to compile for an architecture, with macros of these values.

        `threads` is the number of threads of a block that a collective source is compiled for;
        `options` are of the compiler, which finds them in the text.
        """
        prelude = _core.source_prelude(
            "cpu" if arch == "cpu" else "cuda", threads if self.collective else 0
        )
        asked = [f"// %OPTION% {option}\n" for option in options]
        defined = [f"#define {name} {value}\n" for name, value in macros.items()]
        plain = self._plain
        if arch == "cpu":
            plain = _DYNAMIC.sub(
                r"\1* const \2 = static_cast<\1*>(cubc_cuda::dynamic_shared);", plain
            )
        return "".join([*asked, prelude, self._own, *defined, plain, self._end(macros)])

    def _end(self, macros: Mapping[str, Any]) -> str:
        """Entries of the kernels; where a brace is open, an error there instead."""
        if self._open and not re.search("[{}]", " ".join(map(str, macros.values()))):
            file, line = self._open
            return f'#line {line} "{file}"\n#error the brace that opens here is never closed\n'
        return "".join(f"\nKERNEL_ENTRY({name})" for name in self.kernels) + "\n"

    @cached_property
    def _open(self) -> tuple[str, int] | None:
        return _open_brace(self._plain)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no source {path}") from None
    except IsADirectoryError:
        raise IsADirectoryError(f"{path} is a folder; a source is a file or its text") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text in UTF-8: {error}") from None


def _header(name: str) -> Path:
    """Find a header of cubc by its bare name."""
    from pathlib import Path

    folder = Path(_core.source_folder())
    return next(folder.rglob(name), folder / name)


class _Reader:
    """Reader that replaces includes by quotes with the files, as often as the preprocessor does.

    Headers of cubc are collected apart, in an order in which each follows those that it needs.
    """

    def __init__(self) -> None:
        self.own: list[str] = []
        self._done: set[Path] = set()  # files that are read once
        self._open: dict[Path, bool] = {}  # files that are being read, and if they have a guard

    def file(self, path: Path, shown: str) -> str:
        text, place = _read(path), path.resolve()
        code = _without_comments(text)
        if re.search(r"^\s*#\s*pragma\s+once\b", code, re.MULTILINE):
            self._done.add(place)
        self._open[place] = bool(_GUARD.match(code))
        flat = self.flat(text, shown, path.parent)
        del self._open[place]
        return flat

    def flat(self, text: str, shown: str, folder: Path) -> str:
        lines, code = [f'#line 1 "{shown}"'], _without_comments(text)
        conditions = -1 if _GUARD.match(code) else 0  # but for the guard
        for number, (line, words) in enumerate(
            zip(text.splitlines(), code.splitlines(), strict=True), 1
        ):
            if re.match(rf"\s*#\s*include\s*<(?:{_GIVEN})>|\s*#\s*pragma\s+once\b", words):
                lines.append("")
            elif match := re.match(r'\s*#\s*include\s*"([^"]+)"', words):
                found = self._included(match[1], folder, conditions > 0)
                lines += [line if found is None else found, f'#line {number + 1} "{shown}"']
            else:
                begins, ends = (re.match(rf"\s*#\s*{w}", words) for w in ("if", "endif"))
                conditions += bool(begins) - bool(ends)
                lines.append(line)
        return "\n".join(lines) + "\n"

    def _included(self, name: str, folder: Path, conditional: bool) -> str | None:
        """Text of a file; None if there is none, which is an error where a condition holds."""
        path = folder / name
        if not path.exists() and re.fullmatch(_OWN, name) and _header(name).exists():
            self._take(_header(name))
            return ""
        if conditional and not path.exists():
            return None
        place = path.resolve()
        if place in self._done or self._open.get(place):
            return ""
        if place in self._open:
            raise ValueError(f"{name} includes itself: give it an include guard or #pragma once")
        return self.file(path, name)

    def _take(self, header: Path) -> None:
        if header in self._done:
            return
        self._done.add(header)
        text = _read(header)
        for name in re.findall(r'^#include "([^"]+)"', text, re.MULTILINE):
            if name != "simt.h":  # comes before all
                self._take(_header(name))
        text = re.sub(r"^#(?:include|pragma once).*", "", text, flags=re.MULTILINE)
        self.own.append(f'#line 1 "{header.name}"\n{text}')


def _with_linkage(text: str) -> tuple[list[str], str]:
    """Return the names of the kernels in a text, and the text with C linkage for them.

    Templates and static functions cannot be found by name and are left as they are.
    """
    code = re.sub(_TOKEN, _blank, text, flags=re.DOTALL)
    code = re.sub(_DIRECTIVE, _blank, code, flags=re.MULTILINE)
    names: dict[str, None] = {}
    parts, end = [], 0
    for match in re.finditer(r"\b__global__\b", code):
        before = code[: match.start()].rstrip()
        name = _declared(code, match.end())
        if name is None or re.search(r"(>|\bstatic|\binline)$", before):
            continue
        names[name] = None
        parts += [text[end : match.start()], 'extern "C" ']
        end = match.start()
    return list(names), "".join([*parts, text[end:]])


def _open_brace(text: str) -> tuple[str, int] | None:
    """File and line of the first brace that is never closed.

    A compiler would complain of what follows the source. None where it alone can tell: if parts of
    the text depend on conditions, or a macro may have a brace.
    """
    code = re.sub(_TOKEN, _blank, text, flags=re.DOTALL)
    for directive in re.findall(_DIRECTIVE, code, re.MULTILINE):
        if re.match(r"\s*#\s*(if|define\b[^{}]*[{}])", directive, re.DOTALL) or 'R"' in text:
            return None
    opened: list[tuple[str, int]] = []
    file, number = "", 0
    for line, words in zip(text.split("\n"), code.split("\n"), strict=True):
        number += 1
        if found := re.fullmatch(r'#line (\d+) "([^"]*)"', line):
            file, number = found[2], int(found[1]) - 1
        for sign in re.findall("[{}]", words):
            if sign == "{":
                opened.append((file, number))
            elif opened:
                opened.pop()
    return opened[0] if opened else None


def _without_comments(text: str) -> str:
    """Text with the same lines, and blanks for comments."""

    def blank(match: re.Match) -> str:
        return re.sub(r"\S", " ", match[0]) if match[0].startswith("/") else match[0]

    return re.sub(_TOKEN, blank, text, flags=re.DOTALL)


def _blank(match: re.Match) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _declared(code: str, at: int) -> str | None:
    """Return the name of the function declared from a place on: the word before its parenthesis."""
    while (opening := code.find("(", at)) >= 0:
        word = re.search(r"(\w+)\s*$", code[at:opening])
        if word is None:
            return None
        if not word[1].startswith("__"):
            return word[1]
        depth, at = 1, opening + 1  # of an attribute: go on behind its parentheses
        while depth and at < len(code):
            depth += {"(": 1, ")": -1}.get(code[at], 0)
            at += 1
    return None
