"""Small tables of HTML for notebooks; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


def escape(text: str) -> str:
    """As html.escape, whose module takes a millisecond of the import of cubc."""
    import html

    return html.escape(text)


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], title: str = "") -> str:
    """Table with a line of heads; numbers stand on the right."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f'<td style="text-align: left">{escape(str(value))}</td>'
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return f'<td style="text-align: right">{text}</td>'
