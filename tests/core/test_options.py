"""The options that every primitive has, as help(), static checkers and Python see them."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

import cubc
from cubc import _options

PLACEMENT = ("stream", "workspace", "device")
PUBLIC = {name: getattr(cubc, name) for name in cubc.__all__}
CALLS = {
    name: call
    for name, call in PUBLIC.items()
    if "placement" in getattr(getattr(call, "__wrapped__", None), "__annotations__", ())
}


def test_the_primitives_are_found():
    assert {"sort", "select", "histogram", "segmented_scan", "repeat", "topk"} <= set(CALLS)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_primitive_lists_where_it_runs(name):
    parameters = inspect.signature(CALLS[name]).parameters.values()
    assert tuple(p.name for p in parameters)[-3:] == PLACEMENT
    assert all(p.kind is not p.VAR_KEYWORD for p in parameters)
    entries, _, rest = inspect.getdoc(CALLS[name]).partition("\n\nReturns\n-------\n")
    assert all(f"\n{option} :" in entries for option in PLACEMENT)
    assert rest.partition("\nRaises\n------\n")[2].count("DeviceMemoryError") == 1


# Their operands have names of the caller's, and `bind` takes the arguments of another call.
OPEN = {"bind", "for_each", "lazy", "transform"}


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_completion_shows_each_option(name):
    call = PUBLIC[name]
    if inspect.isclass(call) or not callable(call) or name in OPEN:
        return
    parameters = inspect.signature(call).parameters
    assert all(p.kind is not p.VAR_KEYWORD for p in parameters.values())
    assert "stream" not in parameters or "device" in parameters


def test_options_that_are_passed_on_have_their_defaults():
    for name, call in (("sum", "reduce"), ("nanmax", "reduce"), ("cumsum", "scan")):
        inner = inspect.signature(getattr(cubc, call)).parameters
        shown = inspect.signature(PUBLIC[name]).parameters
        passed = {"commutative", "deterministic", "inclusive", "init"} & shown.keys()
        assert passed, name
        assert {key: shown[key].default for key in passed} == {
            key: inner[key].default for key in passed
        }
        for key in passed - {"init"}:
            PUBLIC[name](np.arange(3.0), **{key: inner[key].default})


def test_a_primitive_names_what_it_takes():
    with pytest.raises(TypeError, match="no argument 'streem'; did you mean 'stream'"):
        cubc.sort([1], streem=None)
    with pytest.raises(TypeError, match="it takes axis, out, count, stream, workspace, device"):
        cubc.select([1], "x", along=0)


def test_without_docstrings():
    subprocess.run([sys.executable, "-OO", "-c", "import cubc; cubc.sort([1])"], check=True)


def test_a_docstring_without_a_section_is_named():
    def take(x, /, **placement):
        """Take items.

        Parameters
        ----------
        x : array
        """

    with pytest.raises(ValueError, match="no section Raises: Take items"):
        _options.documented(take, None)
