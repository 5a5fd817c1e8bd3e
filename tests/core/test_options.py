"""The options that every primitive has, as help(), static checkers and Python see them."""

import inspect
import subprocess
import sys

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
