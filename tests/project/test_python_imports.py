"""The direction of imports between the modules of python/cubc.

A layer is a folder, or a file that is one alone; within a layer no modules import each other in a
circle. Imports inside functions count; those for annotations alone do not.
"""

import ast
from functools import cache
from pathlib import Path

import pytest
from graphs import circle

PACKAGE = Path(__file__).resolve().parents[2] / "python/cubc"

# A layer imports itself, these, and what they may import. "." has the other files of python/cubc.
LAYERS = {
    "_core": "",
    ".": "_core",
    "array_api": ".",
    "lattice": ".",
    "__init__": ".",
    "tuner": "__init__",  # it measures what users call
    "__main__": "tuner",
}
# Imports against the direction or in a circle, and why they are there: of a module, or of a layer.
EXCEPTIONS = {
    ("_autotune", "tuner"): "a first call may search",
    ("__init__", "tuner"): "use_policies reads stores, and record writes one",
    ("_methods", "array_api"): "an array names its namespace",
    ("_calls", "_callables"): "a function becomes a text by arithmetic, which calls do",
    ("_lazy", "_callables"): "the same",
    ("_segment_ends", "_scatter"): "what goes to one place is sorted, and sorts are of segments",
}


def module_of(path):
    """The dotted name within cubc: `tuner._axes`, `tuner.__init__`."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts)


FILES = {module_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}
MODULES = {*FILES, "_core"}  # which is of csrc/python


def layer_of(module):
    return module.split(".")[0] if "." in module else module if module in LAYERS else "."


def below(layer):
    return {layer}.union(*map(below, LAYERS[layer].split()))


def statements(tree):
    """Imports, in functions as well, but none that only a type checker makes."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            yield from statements(node)


def found(parts):
    """The module of a dotted name, or None: `tuner` is `tuner.__init__`."""
    return next(
        (m for m in (".".join(parts), ".".join([*parts, "__init__"])) if m in MODULES), None
    )


@cache
def imported(module, text):
    """Modules of cubc that this one imports."""
    here = module.split(".")[:-1]
    modules = set()
    for node in statements(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [one.name.split(".") for one in node.names]
            modules |= {found(parts[1:]) for parts in names if parts[0] == "cubc"}
            continue
        of = node.module.split(".") if node.module else []
        if node.level:
            of = [*here[: len(here) - node.level + 1], *of]
        elif of[:1] == ["cubc"]:
            of = of[1:]
        else:
            continue
        modules |= {found([*of, one.name]) or found(of) for one in node.names}
    return modules - {module, None}


def is_excepted(module, other):
    return (module, other) in EXCEPTIONS or (module, layer_of(other)) in EXCEPTIONS


def offences(module, text):
    """Imports of layers that are not below, and each exception that is none any more."""
    others, layer = imported(module, text), layer_of(module)
    wrong = [other for other in others if layer_of(other) not in below(layer)]
    gone = [
        f"{name} imports {other} no longer"
        for name, other in EXCEPTIONS
        if name == module and not any(other in (one, layer_of(one)) for one in others)
    ]
    said = [f"{module} imports {one}" for one in sorted(wrong) if not is_excepted(module, one)]
    return said + gone


def graph_of(texts):
    return {
        module: {one for one in imported(module, text) if not is_excepted(module, one)}
        for module, text in texts.items()
    }


def texts():
    return {module: path.read_text(encoding="utf-8") for module, path in FILES.items()}


def test_each_folder_is_a_layer():
    assert {layer_of(module) for module in MODULES} == LAYERS.keys()


def test_imports_go_down():
    found = [offence for module, text in texts().items() for offence in offences(module, text)]
    assert not found, "\n".join(found)


def test_no_modules_import_each_other():
    graph = graph_of(texts())
    assert "_axes" in graph["_take"]
    assert "_workload" in {one.removeprefix("tuner.") for one in graph["tuner._search"]}
    assert circle(graph) is None


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("lattice._updates", "from ..tuner._search import search"),
        ("lattice._updates", "def f():\n    import cubc.tuner"),
        ("_take", "from .lattice import _gauge"),
        ("_take", "import cubc"),
        ("array_api._items", "from cubc import lattice"),
        ("_autotune", ""),
    ],
)
def test_an_offence_is_seen(module, text):
    assert offences(module, text)


def test_what_is_allowed_is_none():
    for text in ("from ._axes import items_of", "import numpy", "from . import _sorting"):
        assert not offences("_take", text)
    assert not offences("tuner._best", "import cubc\nfrom .. import _html")
    only_types = "if TYPE_CHECKING:\n    from .tuner._best import Best"
    assert not offences("_take", only_types)


def test_a_circle_is_seen():
    assert circle(graph_of({"_take": "from ._sets import isin", "_sets": "from . import _take"}))
