"""Writes the tables of NOTES.md and of the pages in notes/ from the cells beside CUB in results/.

    python benchmarks/note_tables.py

A page has a table between the comments `<!-- cub.py NAME ... writes what follows -->` and
`<!-- and it ends here -->` for each of these names of cub.py: a line a size and a column a type.
A place without a measured cell has its bound alone. The name `summary` stands for a line a name.
`NAME@DEVICE` takes the cells of another folder of results/.
A test compares the pages with what this script makes.
"""

import math
import re
from pathlib import Path

import cub
from cells import load

from cubc import _core

FOLDER = Path(__file__).parent
PAGES = (FOLDER / "NOTES.md", *sorted((FOLDER / "notes").glob("*.md")))
END = "<!-- and it ends here -->\n"
MARKED = re.compile(r"(<!-- cub\.py ([^>]*) writes what follows -->\n).*?" + re.escape(END), re.S)
DEVICE = "nvidia-h200"
TYPES = ("I8", "U8", "I32", "I64", "F32", "F64")


def shown(us):
    return f"{us:.0f}" if us >= 100 else f"{us:#.3g}"


def bound_of(name, dtype, size, floors):
    """Bound in us: a launch of nothing, and the bytes of the call at the rate of a copy."""
    benchmark, axes = cub.split_name(name)
    rt = cub.elements(size) | cub.further_axes(benchmark, axes)
    rate, launch = (
        next(cell["cubc"] for cell in floors if cell["case"].startswith(case))
        for case in ("device copy", "a launch")
    )
    return launch + _core.traffic(benchmark, {"T{ct}": dtype}, rt) / rate * 1e-3


def text_of(cell, bound):
    """Time in us, its bound, the share that is reached, and the peer's time over cubc's."""
    if not cell:
        return f"({shown(bound)})"
    bound = cell.get("bound", bound)
    ratio = f", x{cell['ratio']:.2f}" if "ratio" in cell else ""
    return f"{shown(cell['cubc'])} ({shown(bound)}), {100 * bound / cell['cubc']:.0f} %{ratio}"


def origin(cells):
    """The peers, days and commits of cells."""
    if not cells:
        return "not measured"
    peers = {f"CUB {cell['peer_version']}" for cell in cells if "peer_version" in cell}
    each = (peers, {cell["date"] for cell in cells}, {cell["commit"] for cell in cells})
    return ", ".join(" and ".join(sorted(values)) for values in each if values)


def table(name, cells, floors):
    types = [dtype for dtype in TYPES if dtype in cub.types_of(name)]
    places = {(cell["size"], cell["type"]): cell for cell in cells}
    yield f"`{name}` ({origin(cells)}):"
    yield ""
    yield "| items | " + " | ".join(types) + " |"
    yield "|---" + "|---" * len(types) + "|"
    for size in sorted(cub.SIZES, key=cub.items):
        text = cub.size_name(size)
        row = [
            text_of(places.get((text, dtype)), bound_of(name, dtype, size, floors))
            for dtype in types
        ]
        yield f"| {text} | " + " | ".join(row) + " |"
    yield ""


def summary(results):
    """A line a name with cells beside CUB, and one for all of them."""
    compared = {name: [c for c in results.get(name, []) if "ratio" in c] for name in cub.NAMES}
    compared = {f"`{name}`": cells for name, cells in compared.items() if cells}
    compared["all"] = [cell for cells in compared.values() for cell in cells]
    yield "| | cells | CUB's time over cubc's, geometric mean | least | below 1 | beside |"
    yield "|---|---|---|---|---|---|"
    for name, cells in compared.items():
        ratios = [cell["ratio"] for cell in cells]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        below = sum(ratio < 1 for ratio in ratios)
        text = f"| {name} | {len(cells)} | x{mean:.2f} | x{min(ratios):.2f} | {below} |"
        yield f"{text} {origin(cells)} |"
    yield ""


def rewritten(text, results=None):
    """Page with its tables made of the results, cells of each benchmark."""
    results = load(DEVICE) if results is None else results

    def fill(match):
        lines = []
        for name in match[2].split():
            what, _, device = name.partition("@")
            cells = load(device) if device else results
            lines += (
                summary(cells)
                if what == "summary"
                else table(what, cells.get(what, []), cells["bounds"])
            )
        return match[1] + "\n" + "\n".join(lines) + "\n" + END

    return MARKED.sub(fill, text)


def main():
    for page in PAGES:
        page.write_text(rewritten(page.read_text()))


if __name__ == "__main__":
    main()
