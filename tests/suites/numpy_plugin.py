"""A pytest plugin for rewritten modules: runs some of their tests, and logs what reached cubc."""

import gc
import json
import os
from collections import defaultdict

import pytest
from hypothesis import HealthCheck, settings

from . import numpy_routes

MOST = 5  # of the cases of one test, spread evenly; some have a thousand
MOST_OF_TYPES = 2  # where the cases are types, each of which compiles kernels of its own
TYPES = {"dt", "dtype", "typecode"}
# Tests that go through all types by themselves, and compile as much as a hundred others. Types are
# the subject of tests/primitives.
ALL_TYPES = {
    "test_count_nonzero_axis_all_dtypes",
    "test_dtype_from_char",
    "test_dtype_from_dtype",
    "test_dtype_from_input",
    "test_prod",
    "test_unique_1d",
    "test_unique_axis",
    "test_zeros",
    "TestCumprod::test_basic",
    "TestCumsum::test_basic",
    "TestMethods::test_searchsorted_type_specific",
    "TestProd::test_basic",
    "TestWhere::test_basic",
}

# NumPy's tests that draw arrays are slow beside other tests, or where they compile kernels.
settings.register_profile("slow", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("slow")


def pytest_collection_modifyitems(items):
    """Keep some cases of most tests; CUBC_TESTS=all keeps all."""
    every = os.environ.get("CUBC_TESTS") == "all"
    tests = defaultdict(list)
    for item in items:
        names = {item.originalname, f"{item.parent.name}::{item.originalname}"}
        if names & ALL_TYPES and not every:
            continue
        tests[item.parent, item.originalname].append(item)
    items.clear()
    for cases in tests.values():
        of_types = any(
            TYPES & set(item.callspec.params) for item in cases if hasattr(item, "callspec")
        )
        step = 1 if every else max(1, len(cases) / (MOST_OF_TYPES if of_types else MOST))
        items += [cases[int(k * step)] for k in range(int(len(cases) / step))]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    numpy_routes.reached.clear()
    if "leak" in item.name:  # it counts references, which garbage of the tests before may hold
        gc.collect()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call" and numpy_routes.reached:
        row = {
            "module": item.path.name,
            "test": item.nodeid.partition("::")[2],
            "outcome": report.outcome,
            "functions": sorted(set(numpy_routes.reached)),
            "why": str(report.longrepr)[-600:] if report.failed else "",
        }
        with open(os.environ["CUBC_SUITE_LOG"], "a") as log:
            log.write(json.dumps(row) + "\n")
    return report
