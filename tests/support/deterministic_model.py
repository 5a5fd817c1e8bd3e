"""Deterministic scans by key, item after item in Python.

The order is that of the words of kernels/grid/deterministic.h, deterministic_look.h and
deterministic_scan.cu, for items of 4 and 8 bytes and up to 32 tiles.
"""

import numpy as np

PARTS, ROWS, LANES = 8, 8, 32


def join(a, b):
    """Combine pairs of a sum since the last head and whether there is one; None is nothing."""
    if a is None or b is None:
        return b if a is None else a
    return b if b[1] else (a[0] + b[0], a[1])


def prefixes(items):
    """One after the other."""
    found = []
    for item in items:
        found.append(join(found[-1] if found else None, item))
    return found


def kogge_stone(lanes):
    for d in (1, 2, 4, 8, 16):
        lanes = lanes[:d] + [join(a, b) for a, b in zip(lanes, lanes[d:], strict=False)]
    return lanes


def tree(items):
    """((0 1)(2 3))((4 5)(6 7)) ...; who has no neighbour waits."""
    while len(items) > 1:
        items = [
            join(items[k], items[k + 1] if k + 1 < len(items) else None)
            for k in range(0, len(items), 2)
        ]
    return items[0] if items else None


def chunks(items, size):
    return [items[k : k + size] for k in range(0, len(items), size)]


def scan_by_key(keys, values):
    """Sum at each item."""
    heads = np.append(True, keys[1:] != keys[:-1])
    vector = 16 // values.itemsize
    row, part = LANES * vector, ROWS * LANES * vector
    items = list(zip(values, heads.tolist(), strict=True))
    items += [(values.dtype.type(0), True)] * (-len(items) % (PARTS * part))
    found, totals = [], []
    for tile in chunks(items, PARTS * part):
        before_part, of_parts = tree(totals), []
        for rows in (chunks(p, row) for p in chunks(tile, part)):
            vectors = [[prefixes(v) for v in chunks(r, vector)] for r in rows]
            lanes = [kogge_stone([v[-1] for v in r]) for r in vectors]
            through = prefixes([r[-1] for r in lanes])
            for r in range(ROWS):
                before_row = join(before_part, through[r - 1] if r else None)
                for lane in range(LANES):
                    before = join(before_row, lanes[r][lane - 1] if lane else None)
                    found += [join(before, v)[0] for v in vectors[r][lane]]
            of_parts.append(through[-1])
            before_part = join(before_part, through[-1])
        totals.append(prefixes(of_parts)[-1])
    return np.array(found[: len(keys)], values.dtype)
