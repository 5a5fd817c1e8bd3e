"""Tables that print whole at 80 columns: pandas leaves columns out where a line is too long.

Imported once pandas is known to be there.
"""

from __future__ import annotations

import shutil
from typing import Any

import pandas as pd

ABOUT = ["benchmark", "ct", "device"]
CALLS = ["device", "shape", "variant", "searchable"]


class Table(pd.DataFrame):
    """A DataFrame of variants whose text has a heading for each group, and every column.

    The variant stands at the end of its line, or below it if there is no room. A part of a
    table, such as ``table.head()``, is a Table where it has the same columns.
    """

    @property
    def _constructor(self) -> Any:
        return _made

    def __repr__(self) -> str:
        if not {*ABOUT, "variant"} <= {*self.columns} or self.empty:
            return super().__repr__()
        width = shutil.get_terminal_size().columns
        groups = self.groupby(ABOUT, sort=False)
        return "\n\n".join(_group(key, rows, width) for key, rows in groups)


def _made(*arguments: Any, **options: Any) -> pd.DataFrame:
    frame = pd.DataFrame(*arguments, **options)
    return Table(frame) if {*ABOUT, "variant"} <= {*frame.columns} else frame


class Coverage(pd.DataFrame):
    """A DataFrame of a row for each group, whose text has every column.

    Where the lines are too long a group has a heading.
    """

    @property
    def _constructor(self) -> Any:
        return pd.DataFrame

    def __repr__(self) -> str:
        if not {*ABOUT} < {*self.columns} or self.empty:
            return super().__repr__()
        width = shutil.get_terminal_size().columns
        text = _shares(self)
        if max(map(len, text.split("\n"))) <= width:
            return text
        parts = []
        for row, (_, about) in enumerate(self[ABOUT].iterrows()):
            rest = pd.DataFrame(self[row : row + 1]).drop(columns=ABOUT)
            parts.append(f"{_heading(*about)}\n{_shares(rest)}")
        return "\n\n".join(parts)


def _shares(frame: pd.DataFrame) -> str:
    return frame.to_string(index=False, float_format="{:.1%}".format, line_width=None)


class Recorded(pd.DataFrame):
    """A DataFrame of recorded calls whose text has a heading for each device, and every column.

    Below a line stand the variant, and why a search cannot take the calls; if there is no room, the
    shape too.
    """

    @property
    def _constructor(self) -> Any:
        return _made_of_calls

    def __repr__(self) -> str:
        if not {*CALLS} <= {*self.columns} or self.empty:
            return super().__repr__()
        width = shutil.get_terminal_size().columns
        groups = self.groupby("device", sort=False)
        return "\n\n".join(_calls(str(device), rows, width) for device, rows in groups)


def _made_of_calls(*arguments: Any, **options: Any) -> pd.DataFrame:
    frame = pd.DataFrame(*arguments, **options)
    return Recorded(frame) if {*CALLS} <= {*frame.columns} else frame


def _number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 1000 else f"{value:.2e}"


def _heading(benchmark: str, ct: str, device: str) -> str:
    return f"{' '.join(filter(None, [benchmark, ct]))} on {device}"


def _group(key: tuple, rows: pd.DataFrame, width: int) -> str:
    benchmark, ct, device = key
    heading = _heading(benchmark, ct, device)
    numbers = pd.DataFrame(rows).drop(columns=[*ABOUT, "variant"])
    names, *lines = _lines(numbers)
    variants = list(rows["variant"])
    if len(names) + 2 + max(map(len, variants)) <= width:
        pairs = zip([names, *lines], ["variant", *variants], strict=True)
        return "\n".join([heading, *(f"{line}  {variant}" for line, variant in pairs)])
    pairs = zip(lines, variants, strict=True)
    return "\n".join([heading, names, *(f"{line}\n    {variant}" for line, variant in pairs)])


def _calls(device: str, rows: pd.DataFrame, width: int) -> str:
    below = ["variant"]
    numbers = pd.DataFrame(rows).drop(columns=["device", "variant", "searchable"])
    text = _lines(numbers)
    if max(map(len, text)) > width:
        below = ["shape", "variant"]
        text = _lines(numbers.drop(columns="shape"))
    found = [f"calls on {device}", text[0]]
    for line, (_, row) in zip(text[1:], rows.iterrows(), strict=True):
        found += [line, *(f"    {row[name]}" for name in below)]
        if row.searchable != "yes":
            found.append(f"    no search: {row.searchable.removeprefix('no: ')}")
    return "\n".join(found)


def _lines(frame: pd.DataFrame) -> list[str]:
    text = frame.to_string(index=False, float_format=_number, na_rep="", line_width=None)
    return text.split("\n")
