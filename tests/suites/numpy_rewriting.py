"""Rewrites a module of NumPy's tests so that its calls go through numpy_routes."""

import ast

from .numpy_routes import ALIASES, KEYWORDS, METHODS

ROUTES = "_cubc_routes"


def route(attribute):
    return ast.Attribute(ast.Name(ROUTES, ast.Load()), attribute, ast.Load())


class Calls(ast.NodeTransformer):
    """np.sum becomes routes.functions["sum"], and a.sum(...) routes.method("sum", a, ...)."""

    def visit_Attribute(self, node):
        self.generic_visit(node)
        name = ALIASES.get(node.attr, node.attr)
        is_numpy = isinstance(node.value, ast.Name) and node.value.id == "np"
        if is_numpy and isinstance(node.ctx, ast.Load) and name in KEYWORDS:
            return ast.Subscript(route("functions"), ast.Constant(name), ast.Load())
        return node

    def visit_Call(self, node):
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in METHODS:
            node.args = [ast.Constant(function.attr), function.value, *node.args]
            node.func = route("method")
        return node


# For names that the module has imported from NumPy.
REBINDING = f"""
for _name in set(globals()) & set({ROUTES}.NUMPY):
    if globals()[_name] is {ROUTES}.NUMPY[_name]:
        globals()[_name] = {ROUTES}.functions[_name]
"""


def names_in(function):
    """Names that a function mentions, by themselves or after a dot."""
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(function)
        if isinstance(node, ast.Name | ast.Attribute)
    }


def reaching(tree):
    """Names of the functions with a rerouted call in them or in a function that they mention."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    mentioned = [(node.name, names_in(node)) for node in ast.walk(tree) if isinstance(node, kinds)]
    imported = (alias for node in ast.walk(tree) for alias in getattr(node, "names", ()))
    found = {alias.asname or alias.name for alias in imported if isinstance(alias, ast.alias)}
    found = {ROUTES} | (found & KEYWORDS.keys())  # those are rebound
    size = 0
    while size < len(found):
        size = len(found)
        found |= {name for name, names in mentioned if names & found and name[:4] != "Test"}
    return found


class Others(ast.NodeTransformer):
    """Removes the tests that cannot reach cubc, which pytest would collect with all their cases."""

    def __init__(self, reaching):
        self.reaching = reaching

    def visit_FunctionDef(self, node):
        return node if node.name[:4] != "test" or node.name in self.reaching else None

    def visit_ClassDef(self, node):
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node


def rewritten(source):
    """The text of a test module with its calls rerouted, without the tests that make none."""
    tree = Calls().visit(ast.parse(source))
    tree = Others(reaching(tree)).visit(tree)
    imports = [
        k for k, node in enumerate(tree.body) if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    first = imports[0]
    while getattr(tree.body[first], "module", "") == "__future__":
        first += 1
    tree.body[imports[-1] + 1 : imports[-1] + 1] = ast.parse(REBINDING).body
    tree.body.insert(first, ast.parse(f"import suites.numpy_routes as {ROUTES}").body[0])
    return ast.unparse(ast.fix_missing_locations(tree))
