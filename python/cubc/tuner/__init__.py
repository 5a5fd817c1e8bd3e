"""The tuner: search a parameter space, analyse what was measured, run the best of it.

>>> from cubc import tuner
>>> r = tuner.search("reduce.sum", axes={"T": ["F32", "I64"]}, db="my.db")   # doctest: +SKIP
>>> tuner.analyze("my.db").top(5)                                            # doctest: +SKIP
>>> cubc.use_policies("my.db")                                               # doctest: +SKIP
"""

from ._analyze import Analysis, Best, analyze
from ._benchmark import Benchmark, benchmark
from ._compare import Comparison, compare
from ._example import example_db
from ._live import compare_live
from ._policies import use_policies
from ._profile import profile
from ._recorded import recorded
from ._recording import record
from ._remote_bench import BaseFailed
from ._search import Result, Search, search
from ._state import Launch, State
from ._verify import verify, verify_winners

__all__ = [
    "Analysis",
    "BaseFailed",
    "Benchmark",
    "Best",
    "Comparison",
    "Launch",
    "Result",
    "Search",
    "State",
    "analyze",
    "benchmark",
    "compare",
    "compare_live",
    "example_db",
    "profile",
    "record",
    "recorded",
    "search",
    "use_policies",
    "verify",
    "verify_winners",
]
