"""Lines for Python's logging: what is compiled, found and chosen, once for a kind of call."""

import isolated

CODE = """
import cubc, numpy as np, sys
from cubc import _core
def call(): cubc.reduce(np.arange(100.0), 'sum', device='cpu')
if sys.argv[1] == 'late':
    call()
    assert 'logging' not in sys.modules  # who does not listen pays for nothing
import logging
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout)
call()
print('then')
label = _core.base('reduce.sum', {'T{ct}': 'F64'}, 'cpu')
_core.use_policy('reduce.sum', {'T{ct}': 'F64'}, 'cpu', label, {'Elements{io}': 100})
call()
call()
print([type(one).__name__ for one in logging.getLogger('cubc').handlers])
"""


def test_lines_of_a_program(tmp_path):
    said = [isolated.output(CODE, when, CUBC_CACHE=tmp_path) for when in ("early", "late")]
    compiled, shipped, then, found, handlers = said[0].splitlines()
    assert compiled.startswith("INFO:cubc.compile:reduce.sum ")
    assert " for cpu compiled in " in compiled
    assert shipped.startswith("INFO:cubc.policy:reduce.sum on cpu: calls like this one run ")
    assert shipped.endswith(", as shipped")
    assert found == shipped.replace("as shipped", "as a search found")
    assert handlers == "['NullHandler']"
    assert said[1].splitlines() == [then, found, handlers]  # a warm call says nothing
    code = CODE.replace("'late'", "'never'")
    assert " for cpu is in the cache\nINFO:" in isolated.output(code, "late", CUBC_CACHE=tmp_path)
