"""Error rates of verdicts where the truth is known: times are drawn, not measured.

    python benchmarks/verdict_errors.py [--trials N] [--drift 0.02] [--correlation 0.9] [--json]

The machine drifts by 2 % while a verdict is made, and its noise (2 %) lasts: neighbours in time
have a correlation of 0.9. On top come noise of each sample alone (0.5 %), outliers (one in twenty,
10 % on average), and the spread of openings: how much it matters where a variant has its code and
memory. True differences are planted. Three ways to a verdict are tried as the tuner goes them:

- `search`: rounds of a variant and base, sampled by turns in one process;
- `live`: processes of two installations by turns (`cubc compare --live`), where the lasting noise
  is between processes;
- `stores`: two searches, one after the other (`cubc compare a.db b.db`), whose levels differ by
  chance (2 % each) besides.

False is FASTER or SLOWER where nothing differs; where something does, it is any word but the right
one and UNDECIDED; and of a difference of just the threshold any word but UNDECIDED.
"""

import argparse
import math
from collections import Counter

import numpy as np

from cubc.tuner._verdict import (
    DRIFT,
    FASTER,
    LEAST_ROUNDS,
    MORE_ROUNDS,
    MOST_ROUNDS,
    SAME,
    SLOWER,
    THRESHOLD,
    TRIM,
    UNDECIDED,
    WORDS,
    judge,
    judge_apart,
)

PAIRS = 20  # of samples in a round
NOISE, OWN, OUTLIERS = 0.02, 0.005, (0.05, 0.1)
TIMES = 40  # of base in a store


class Machine:
    """Draws logarithms of times."""

    def __init__(self, seed, drift=DRIFT, correlation=0.9):
        self.draw = np.random.default_rng(seed)
        self.drift, self.correlation = drift, correlation

    def noise(self, trials, times, spread):
        """Noise of neighbours in time, of the same spread whatever the correlation."""
        noise = self.draw.normal(0, spread, (times, trials))
        noise[1:] *= math.sqrt(1 - self.correlation**2)
        for now in range(1, times):
            noise[now] += self.correlation * noise[now - 1]
        return noise.T

    def times(self, trials, times, spread=NOISE):
        """As many times one after the other while the machine drifts."""
        return self.noise(trials, times, spread) + self.drift * np.linspace(0, 1, times)

    def search(self, trials, difference, openings):
        """Ratios of the rounds of a variant."""
        samples = self.times(trials, MOST_ROUNDS * PAIRS * 2)
        samples += self.draw.normal(0, OWN, samples.shape)
        share, size = OUTLIERS
        samples += (self.draw.random(samples.shape) < share) * self.draw.exponential(
            size, samples.shape
        )
        pairs = samples.reshape(trials, MOST_ROUNDS, PAIRS, 2)
        ratios = pairs[..., 1] - pairs[..., 0]
        ratios[:, :, 1::2] *= -1  # A B, B A, A B, ...
        cut = int(TRIM * PAIRS)
        rounds = np.sort(ratios, axis=2)[:, :, cut : PAIRS - cut].mean(axis=2)
        return rounds + self.draw.normal(0, openings, rounds.shape) + math.log1p(difference)

    def live(self, trials, difference, openings):
        """Ratios of the rounds of two installations."""
        processes = self.times(trials, 2 * MOST_ROUNDS).reshape(trials, MOST_ROUNDS, 2)
        ratios = processes[..., 1] - processes[..., 0]
        ratios[:, 1::2] *= -1
        spread = self.draw.normal(0, openings, ratios.shape)
        return ratios + spread + math.log1p(difference)

    def stores(self, trials, difference, openings):
        """Times of base in either store, the second of which is faster by the difference."""
        times = self.times(trials, 2 * TIMES, NOISE / 2)
        times += self.draw.normal(0, openings, times.shape)
        both = times.reshape(trials, 2, TIMES)
        both = both + self.draw.normal(0, self.drift, (trials, 2, 1))
        both[:, 1] -= math.log1p(difference)
        return both


def word_of_rounds(ratios):
    """Word that a row of logarithms ends with, looked at as often as a search does."""
    for rounds in range(LEAST_ROUNDS, MOST_ROUNDS + 1, MORE_ROUNDS):
        verdict = judge(np.exp(ratios[:rounds]))
        if verdict.decided:
            break
    return verdict.word


def word_of_stores(times):
    """Word on two stores."""
    a, b = np.exp(times)
    return judge_apart(faster=b, slower=a).word


def words(machine, way, trials, difference, openings):
    """Frequency of each word, given a true difference in speed."""
    word = word_of_stores if way == "stores" else word_of_rounds
    drawn = getattr(machine, way)(trials, difference, openings)
    return Counter(word(one) for one in drawn)


def right(difference):
    """Words that are true of a difference in speed."""
    if math.isclose(abs(difference), THRESHOLD):
        return {UNDECIDED}
    known = SAME if abs(difference) < THRESHOLD else FASTER if difference > 0 else SLOWER
    return {known, UNDECIDED}


def false_share(machine, way, trials, difference, openings):
    """Share of false words."""
    found = words(machine, way, trials, difference, openings)
    return sum(found[word] for word in WORDS if word not in right(difference)) / trials


def false_winners(machine, trials, openings, variants=5):
    """Share of searches in which one of some variants wins that are none but base."""
    lost = 0
    for _ in range(variants):
        found = [word_of_rounds(one) for one in machine.search(trials, 0.0, openings)]
        lost = lost | (np.array(found) == FASTER)
    return lost.mean()


def main():
    """Print a table for each way."""
    import cells  # here, as a test loads this file alone

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--drift", type=float, default=DRIFT)
    parser.add_argument("--correlation", type=float, default=0.9)
    cells.add_option(parser)
    options = parser.parse_args()
    shares = []
    machine = Machine(1, options.drift, options.correlation)
    for way in ("search", "live", "stores"):
        large = (0.1, 0.15) if way == "stores" else ()
        print(f"\n{way}, {options.trials} trials, drift {options.drift:.1%}\n")
        print(f"| spread of openings | true difference | {' | '.join(WORDS)} | false |")
        print("|---|---|---|---|---|---|---|")
        for openings in (0.002, 0.005, 0.015):
            for difference in (0.0, THRESHOLD, 0.01, 0.02, 0.05, *large):
                found = words(machine, way, options.trials, difference, openings)
                columns = " | ".join(f"{found[word] / options.trials:.1%}" for word in WORDS)
                false = sum(found[word] for word in WORDS if word not in right(difference))
                print(
                    f"| {openings:.1%} | {difference:.1%} | {columns} "
                    f"| {false / options.trials:.1%} |",
                    flush=True,
                )
                cell = {"size": f"{difference:.1%}", "case": f"{way}, openings {openings:.1%}"}
                for word in WORDS:
                    cell[f"{word.lower()}_percent"] = round(100 * found[word] / options.trials, 1)
                shares.append(cell | {"false_percent": round(100 * false / options.trials, 1)})
    for openings in (0.002, 0.015):
        share = false_winners(machine, options.trials // 2, openings)
        print(f"\none of five variants that are base wins, openings {openings:.1%}: {share:.1%}")
        case = f"one of five that are base wins, openings {openings:.1%}"
        shares.append({"size": "0%", "case": case, "false_percent": round(100 * share, 1)})
    if options.json:
        put(cells, shares, options)


def put(cells, shares, options):
    """Writes the shares as cells of no machine."""
    drawn = {"trials": options.trials, "drift_percent": 100 * options.drift}
    drawn["correlation"] = options.correlation
    cells.put(
        [{"benchmark": "verdict_errors"} | cell | drawn | cells.origin(None) for cell in shares],
        "any-machine",
        options.json,
    )


if __name__ == "__main__":
    main()
