"""Confirmation: which variants are measured again, and in how many rounds.

The best of many is partly lucky. So the best few are measured again, in rounds. A variant that led
by luck falls back, and the one that leads then is measured in rounds too. A variant gets rounds
until its verdict is decided, or until it is certain that it does not lead.
"""

from __future__ import annotations

from collections.abc import Iterator

from ._verdict import LEAST_ROUNDS, MORE_ROUNDS, MOST_ROUNDS
from ._workload_results import WorkloadResults

CANDIDATES = 4  # times as many as asked for, at most, if the leader changes again and again


def undecided(results: WorkloadResults, wanted: int) -> Iterator[tuple[str, int]]:
    """Variants without a verdict yet, with the number of rounds to measure before the next look.

    Parameters
    ----------
    results
        Measurements so far.
    wanted
        Least number of the best variants to confirm; 0 for none.
    """
    ranked = results.ranked()
    begun = [variant for variant in ranked if results.has_rounds(variant)]
    new = [variant for variant in ranked if variant not in begun][: max(0, wanted - len(begun))]
    if wanted and not new and ranked[:1] != begun[:1] and len(begun) < CANDIDATES * wanted:
        new = ranked[:1]
    for variant in new:
        yield variant, LEAST_ROUNDS
    verdicts = {variant: results.group_of(variant).verdict(variant) for variant in begun}
    lead = max((found.low for found in verdicts.values() if found), default=0.0)
    for variant, found in verdicts.items():
        if found is None or found.rounds < LEAST_ROUNDS:
            yield variant, LEAST_ROUNDS
        elif not found.decided and found.high >= lead and found.rounds < MOST_ROUNDS:
            yield variant, found.rounds + MORE_ROUNDS
