"""The names of `cubc.tuner`, which it takes from here when the first of them is asked for."""

# ruff: noqa: F401
from cubc._calls import named

from ._analyze import Analysis, analyze
from ._benchmark import Benchmark, benchmark
from ._best import Best
from ._compare import Comparison, compare
from ._example import example_db
from ._launch import Launch
from ._live import compare_live
from ._merge import Merged, merge
from ._profile import profile
from ._recorded_calls import recorded
from ._recording import record
from ._remote_bench import BaseFailed
from ._result import Result
from ._search import Search, search
from ._state import State
from ._verify import verify, verify_winners

# Errors name these. The command `cubc`, which calls them as well, names itself.
analyze = named(analyze)
compare = named(compare)
compare_live = named(compare_live)
merge = named(merge)
profile = named(profile)
recorded = named(recorded)
search = named(search)
verify = named(verify)
verify_winners = named(verify_winners)
