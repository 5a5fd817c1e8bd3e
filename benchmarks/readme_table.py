"""Writes README.md's table of measurements from the cells in results/, or prints it.

    python benchmarks/readme_table.py [--print]

Each row takes its figures from the cells of results/<device>/<benchmark>.jsonl. The table stands
between two comments in README.md; a test compares it with what this script makes.
"""

import argparse
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from cells import load

README = Path(__file__).parent.parent / "README.md"
BEGIN = "<!-- python benchmarks/readme_table.py writes what follows -->\n"
END = "<!-- and it ends here -->\n"
H200 = load("nvidia-h200")
XEON = load("intel-xeon-2-cores")
ANY = load("any-machine")
INTEGERS, NUMBERS = ("I32", "I64"), ("I32", "I64", "F32", "F64")


def pick(cells, **wanted):
    """Cells that have these values; a tuple names several."""
    chosen = [
        cell
        for cell in cells
        if all(
            cell.get(name) in value if isinstance(value, tuple) else cell.get(name) == value
            for name, value in wanted.items()
        )
    ]
    if not chosen:
        raise LookupError(f"no cell has {wanted}")
    return chosen


def one(cells, **wanted):
    (cell,) = pick(cells, **wanted)
    return cell


def rounded(value, digits=0):
    """Value with so many decimals; a half is rounded up, as a reader does."""
    return str(Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def tens(value):
    return int(round(value, -1))


def span(values, digits=0):
    """Least and greatest value, once if they print alike."""
    low, high = (rounded(value, digits) for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def ratios(cells, digits=2, **wanted):
    return span([cell["ratio"] for cell in pick(cells, **wanted)], digits)


def rates(cells):
    """GB/s of 2^28 items, to ten."""
    return span([tens(cell["gb_per_s"]) for cell in pick(cells, size="2^28")])


def placed(cell):
    """Ratio of a cell, and its size."""
    return f"{rounded(cell['ratio'], 2)} ({cell['size']})"


def beside_cub(*names):
    """The peer of these cells: its versions, the oldest first."""
    versions = {cell["peer_version"] for name in names for cell in H200[name] if "ratio" in cell}
    return "beside CUB " + " and ".join(sorted(versions))


def reduce_cub():
    cells = pick(H200["reduce.sum"], type=NUMBERS)
    faster = {size: ratios(cells, size=size) for size in ("2^16", "2^20", "2^24", "2^28")}
    faster["2^16"] += " times faster"
    if odd := tuple({cell["size"] for cell in cells} - set(faster)):
        faster["other sizes"] = ratios(cells, size=odd)
    return "; ".join(f"{size}: {text}" for size, text in faster.items()) + f", {rates(cells)} GB/s"


def scan_cub():
    cells = H200["scan.exclusive.sum"]
    groups = (pick(cells, type=("I32", "F32")), pick(cells, type=("I64", "F64")))
    (low, high), (low8, high8) = (
        [end(group, key=lambda cell: cell["ratio"]) for end in (min, max)] for group in groups
    )
    copy = one(H200["bounds"], case="device copy of 2^28 F32")["cubc"]
    shares = [100 * cell["gb_per_s"] / copy for cell in pick(groups[0], size="2^28")]
    return (
        f"I32, F32: {placed(low)} to {placed(high)} times faster, {rates(groups[0])} GB/s at 2^28, "
        f"{span(shares)} % of a device copy; "
        f"I64, F64: {placed(low8)} to {rounded(high8['ratio'], 2)}; "
        f"I8: {ratios(cells, 1, type='I8')}"
    )


def sort_cub():
    keys, pairs = H200["sort.keys"], pick(H200["sort.pairs"], type=INTEGERS)
    rate = {
        kind: rounded(2**28 / one(keys, type=kind, size="2^28")["cubc"] * 1e-3) for kind in INTEGERS
    }
    return (
        f"I32: {ratios(keys, type='I32')} times faster, {rate['I32']} GKey/s at 2^28; "
        f"I64: {ratios(keys, type='I64')}, {rate['I64']} GKey/s; with values {ratios(pairs)}"
    )


def host_time():
    cells = pick(H200["host_time"], case="cubc.reduce(x, out=o)")
    cupy, torch = (
        next(cell for cell in cells if cell["peer_name"].startswith(name))
        for name in ("CuPy", "PyTorch")
    )
    mine = rounded(cupy["cubc"], 1)
    others = f"CuPy {rounded(cupy['peer'], 1)} us and PyTorch {rounded(torch['peer'], 1)} us"
    if "among_hosts" not in cupy:
        return f"{mine} us; {others}"
    bound = rounded(one(H200["host_time"], case="cubc.bind(...)()")["cubc"], 1)
    hosts = f"{span(cupy['among_hosts'], 1)} us from host to host"
    return f"{hosts}; where it is {mine}, a bound call takes {bound}, {others}"


def search_rate():
    cell = one(H200["search_rate"], case="races")
    return (
        f"{tens(cell['cubc'] / 10) * 10} verified variants a minute, "
        f"the GPU busy for {cell['busy_percent']} % of it"
    )


def dslash():
    cells = pick(H200["dslash_wilson"], case="1 source")
    speed = {
        precision: tens(one(cells, type=f"{precision} 12", size="32x32x32x32")["cubc"])
        for precision in ("double", "single", "half")
    }
    compared = [cell for cell in cells if "ratio" in cell]
    return (
        ", ".join(f"{precision} {value}" for precision, value in speed.items())
        + f" GFLOPS with 12 numbers a link; {ratios(compared)} times QUDA in {len(compared)} cells"
    )


def conjugate_gradients():
    us, faster = {}, {}
    for size in ("16^4", "32^4"):
        cell = one(H200["solve"], type="double, half inside", size=size, case="cg")
        us[size], faster[size] = rounded(cell["cubc"]), rounded(cell["ratio"], 1)
    return (
        f"16^4: {us['16^4']} us an iteration, {faster['16^4']} times faster; "
        f"32^4: {us['32^4']} us, {faster['32^4']} times"
    )


def verdicts():
    cells = pick(H200["verdicts"], size=("2^16", "2^20"))
    false = max(cell["false_percent"] for cell in cells)
    found = min(cell["found_percent"] for cell in cells)
    never = "never called different" if false == 0 else f"called different in {false} %"
    always = "always found" if found == 100 else f"found in {found} %"
    return f"{never}; 2 % planted: {always}"


def verdict_errors():
    rounds = [cell for cell in ANY["verdict_errors"] if cell["case"].startswith(("search", "live"))]
    false = max(cell["false_percent"] for cell in rounds)
    found = {cell["case"]: cell["faster_percent"] for cell in pick(rounds, size="2.0%")}
    case, least = min(found.items(), key=lambda item: item[1])
    return (
        f"at most {false} % false; 2 % found in {rounded(least)} % "
        f"(openings that differ by {case.split()[-1][:-1]} %) to {rounded(max(found.values()))} %"
    )


def first_call():
    return f"{rounded(one(H200['startup'], case='first call')['cubc'])} ms"


def beside_numpy(benchmark):
    cell = one(XEON[benchmark], type="F32")
    return f"{cell['cubc']} ms to {cell['peer']} ms, {rounded(cell['ratio'], 1)} times faster"


def sort_numpy():
    cells = pick(XEON["sort"], case="random")
    shown = one(cells, type="U32")
    least = {  # of the types of so many bits; the host was busy when those of 16 were measured
        bits: min(
            cell["processor_ratio" if bits == 16 else "ratio"]
            for cell in pick(cells, type=(f"U{bits}", f"I{bits}", f"F{bits}"))
        )
        for bits in (8, 16, 32, 64)
    }
    return (
        f"4 bytes: {rounded(shown['cubc'])} ms to {rounded(shown['peer'])} ms, "
        f"{rounded(least[32], 1)} times faster; 8 bytes {rounded(least[64], 1)}; "
        f"2 bytes {rounded(least[16])} (of the processor's time); 1 byte {rounded(least[8])}"
    )


ROWS = (
    (
        f"`reduce.sum` I32, I64, F32, F64, cold, {beside_cub('reduce.sum')}",
        reduce_cub,
        "H200",
        "`python benchmarks/cub.py --names reduce.sum`",
    ),
    (
        f"`scan.exclusive.sum`, cold, {beside_cub('scan.exclusive.sum')}",
        scan_cub,
        "H200",
        "`python benchmarks/cub.py --names scan.exclusive.sum`",
    ),
    (
        f"`sort`, cold, {beside_cub('sort.keys', 'sort.pairs')}",
        sort_cub,
        "H200",
        "`python benchmarks/cub.py --names sort.keys sort.pairs`",
    ),
    (
        "host time of `cubc.reduce(x, out=o)` on a device array",
        host_time,
        "H200",
        "`python benchmarks/overhead.py`",
    ),
    (
        "search of `reduce.sum` F32 at four sizes",
        search_rate,
        "H200, 16 cores",
        "`python benchmarks/search_rate.py --cold-cache`",
    ),
    (
        "Wilson Dslash of one parity, 32^4, beside QUDA's recorded speed",
        dslash,
        "H200",
        "`python benchmarks/lattice_dslash.py`",
    ),
    (
        "conjugate gradients to 1e-10, half inside double, beside QUDA's recorded speed",
        conjugate_gradients,
        "H200",
        "`python benchmarks/lattice_cg.py`",
    ),
    (
        "verdict on one variant against itself, 300 trials at 2^16 and at 2^20",
        verdicts,
        "H200",
        "`python benchmarks/verdicts.py --device cuda:0 --trials 300`",
    ),
    (
        "verdicts on drawn times: drift of 2 %, noise with a correlation of 0.9, 2000 trials",
        verdict_errors,
        "any machine",
        "`python benchmarks/verdict_errors.py --trials 2000`",
    ),
    (
        "first call of a process, kernel in the cache, CUDA started",
        first_call,
        "H200",
        "`python benchmarks/startup.py`",
    ),
    (
        "`reduce.sum`, 10^7 F32 in host memory, beside `numpy.sum`",
        lambda: beside_numpy("reduce.sum"),
        "2 cores, Xeon 2.5 GHz",
        "`python benchmarks/cpu.py --only reduce`",
    ),
    (
        "`scan.inclusive.sum`, the same, beside `numpy.cumsum`",
        lambda: beside_numpy("scan.inclusive.sum"),
        "the same",
        "`python benchmarks/cpu.py --only scan`",
    ),
    (
        "`transform` `x + s * y`, the same, beside NumPy's two passes",
        lambda: beside_numpy("transform.triad"),
        "the same",
        "`python benchmarks/cpu.py --only transform`",
    ),
    (
        "`sort`, 10^7 random keys in host memory, beside `numpy.sort`",
        sort_numpy,
        "2 cores, Xeon with AVX-512",
        "`python benchmarks/cpu.py --only sort.random`",
    ),
)


def table():
    lines = ["| what | measured | on | command |", "|---|---|---|---|"]
    lines += [f"| {what} | {figures()} | {on} | {how} |" for what, figures, on, how in ROWS]
    return "\n".join(lines) + "\n"


def parts(text):
    """The text before the table, the table, and the text behind it."""
    before, _, rest = text.partition(BEGIN)
    old, _, after = rest.partition(END)
    return before + BEGIN, old, END + after


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--print", action="store_true", help="print it and leave README.md alone")
    if parser.parse_args().print:
        print(table(), end="")
        return
    before, _, after = parts(README.read_text())
    README.write_text(before + table() + after)


if __name__ == "__main__":
    main()
