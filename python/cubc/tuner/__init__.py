"""The tuner: search a parameter space, analyse what was measured, run the best of it.

>>> from cubc import tuner
>>> r = tuner.search("reduce.sum", axes={"T": ["F32", "I64"]}, db="my.db")   # doctest: +SKIP
>>> tuner.analyze("my.db").top(5)                                            # doctest: +SKIP
>>> cubc.use_policies("my.db")                                               # doctest: +SKIP
"""

# ruff: noqa: F403, F405
import typing as _typing

if _typing.TYPE_CHECKING:
    from ._public import *

__all__ = [
    "Analysis",
    "BaseFailed",
    "Benchmark",
    "Best",
    "Comparison",
    "Launch",
    "Merged",
    "Result",
    "Search",
    "State",
    "analyze",
    "benchmark",
    "compare",
    "compare_live",
    "example_db",
    "merge",
    "profile",
    "record",
    "recorded",
    "search",
    "verify",
    "verify_winners",
]


def __getattr__(name: str) -> _typing.Any:
    """Import what is behind the public names: a measuring process needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _public

    globals().update({public: getattr(_public, public) for public in __all__})
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
