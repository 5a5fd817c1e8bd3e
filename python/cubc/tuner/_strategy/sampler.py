"""Any sampler of Optuna as a strategy: ``strategy=optuna.samplers.TPESampler(seed=1)``.

Optuna is imported only where a sampler is given, so who gives one has it. The sampler sees the
places of the values in their ranges as integers. A proposal that is invalid or was named before is
answered at once, and the sampler is asked for another.
"""

from __future__ import annotations

import contextlib
import copy
from typing import Any

from .._space import Space, named
from .points import Point, PointStrategy

TRIES = 30  # proposals in a row that are of no use before a random point is taken instead
FAILED = 0.0  # the score of a failure in the eyes of the sampler: infinitely slow


def is_sampler(thing: Any) -> bool:
    """True if it is an object with the interface of Optuna's samplers."""
    methods = ("infer_relative_search_space", "sample_relative", "sample_independent")
    return not isinstance(thing, type) and all(hasattr(thing, name) for name in methods)


class Sampled(PointStrategy):
    """A study of Optuna that is asked and told.

    Its seed is the sampler's own. The sampler is copied, so that each space begins with it as it
    was given.
    """

    def __init__(self, sampler: Any, space: Space, seed: int = 0):
        import optuna

        super().__init__(space, seed)
        self._optuna = optuna
        level = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.WARNING)  # else it reports each study
        self._study = optuna.create_study(sampler=copy.deepcopy(sampler), direction="maximize")
        optuna.logging.set_verbosity(level)
        self._choices: dict[str, Any] = {
            name: optuna.distributions.CategoricalDistribution(range(len(values)))
            if named(values)
            else optuna.distributions.IntDistribution(0, len(values) - 1)
            for name, values in space.ranges.items()
        }
        self._trials: dict[Point, Any] = {}

    def propose(self) -> Point | None:
        """Give the sampler's next proposal that is free."""
        for _ in range(TRIES):
            trial = self._study.ask(self._choices)
            point = tuple(trial.params[name] for name in self._choices)
            if self.free(point):
                self._trials[point] = trial
                return point
            self._answer(trial, point)
        return None

    def learn(self, point: Point, score: float | None) -> None:
        """Tell the study, also of points that the sampler did not propose."""
        value = score or FAILED
        if (trial := self._trials.pop(point, None)) is not None:
            self._tell(trial, value)
            return
        known = self._optuna.trial.create_trial(
            params=dict(zip(self._choices, point, strict=True)),
            distributions=self._choices,
            value=value,
        )
        self._study.add_trial(known)

    def _answer(self, trial: Any, point: Point) -> None:
        """Answer a proposal that is not named, unless its outcome is still awaited."""
        if point in self._named and point not in self.scores:
            self._tell(trial, state=self._optuna.trial.TrialState.FAIL)
        else:
            self._tell(trial, self.scores.get(point) or FAILED)

    def _tell(self, trial: Any, value: float | None = None, state: Any = None) -> None:
        # A sampler that has named all there is would end a loop that Optuna does not run here.
        with contextlib.suppress(RuntimeError):
            self._study.tell(trial, value, state)
