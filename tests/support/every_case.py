"""The choice between some cases of a test and all: CUBC_TESTS=all runs all."""

import os

EVERY_CASE = os.environ.get("CUBC_TESTS") == "all"
# Precisions of an iteration whose residual is double: each has kernels of its own.
SLOPPY = ("double", "half", *["single"] * EVERY_CASE)
