"""Records the store that ships with the package, tuner.example_db(), on the GPU of this machine.

python tools/record_example.py OUT.db

To be run again after a change of the kernels: analyses of the example count what is declared now.
"""

import sys

from cubc import tuner

TIMING = {"max_samples": 100}  # the samples are most of the file
for benchmark, type, variants in (("reduce.sum", "I16", 160), ("scan.exclusive.sum", "I16", 90)):
    axes = {"T": type}
    options = {"variants": variants, "timing": TIMING, "racing": False}
    print(tuner.search(benchmark, axes, db=sys.argv[1], **options).top(3))
