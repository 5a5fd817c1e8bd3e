"""The tuner: search a parameter space, analyse what was measured, run the best of it.

>>> from cubc import tuner
>>> r = tuner.search("reduce.sum", axes={"T": ["F32", "I64"]}, db="my.db")   # doctest: +SKIP
>>> tuner.analyze("my.db").top(5)                                            # doctest: +SKIP
>>> cubc.use_policies("my.db")                                               # doctest: +SKIP
"""

from .analyze import Analysis, Best, analyze
from .benchmark import Benchmark, benchmark
from .compare import Comparison, compare
from .example import example_db
from .live import compare_live
from .policies import use_policies
from .profile import profile
from .remote_bench import BaseFailed
from .search import Result, Search, search
from .state import Launch, State
from .verify import verify, verify_winners

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
    "search",
    "use_policies",
    "verify",
    "verify_winners",
]
