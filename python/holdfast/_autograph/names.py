"""Which names a piece of a function binds and reads, by Python's scoping rules."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from .finding import argument_names

__all__ = ["Bindings", "bindings", "free_names", "parameters", "reads"]

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class _Visitor(ast.NodeVisitor):
    """Meets the four kinds of comprehensions as one."""

    def _comprehension(self, node: _Comprehension) -> None:
        raise NotImplementedError

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)


class Bindings(_Visitor):
    """The names that statements bind in the scope they stand in."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.yields = False

    @property
    def locals(self) -> set[str]:
        """The names that are local to the function."""
        return self.names - self.globals - self.nonlocals

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def _function(self, node: _Function) -> None:
        self.names.add(node.name)
        for part in (*node.decorator_list, *_defaults(node.args)):
            self.visit(part)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.names.add(node.name)
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in _defaults(node.args):
            self.visit(part)

    def _comprehension(self, node: _Comprehension) -> None:
        # Its targets are its own; what `:=` names inside belongs to the function around it.
        for part in _outside_functions(node):
            if isinstance(part, ast.NamedExpr):
                self.visit(part.target)
            elif isinstance(part, (ast.Yield, ast.YieldFrom, ast.Await)):
                self.yields = True

    def visit_alias(self, node: ast.alias) -> None:
        self.names.add(node.asname or node.name.partition(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.names.add(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self.names.add(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self.names.add(node.rest)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.globals.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.nonlocals.update(node.names)

    def _yield(self, node: ast.AST) -> None:
        self.yields = True
        self.generic_visit(node)

    visit_Yield = visit_YieldFrom = visit_Await = _yield
    visit_AsyncFor = visit_AsyncWith = _yield


def bindings(nodes: Iterable[ast.AST]) -> Bindings:
    """What `nodes` bind."""
    found = Bindings()
    for node in nodes:
        found.visit(node)
    return found


def parameters(node: _Function | ast.Lambda) -> set[str]:
    """The names of all parameters."""
    return set(argument_names(node.args))


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(each for each in arguments.kw_defaults if each is not None)]


def _outside_functions(node: ast.AST) -> Iterable[ast.AST]:
    """The nodes below `node`, but not those in functions and lambdas."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from _outside_functions(child)


class _Reads(_Visitor):
    """The names that are read, also by the functions and comprehensions inside."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.later: set[str] = set()  # by functions, which run whenever they are called

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.names.add(node.id)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self.names.add(node.target.id)
        self.generic_visit(node)

    def _function(self, node: _Function | ast.Lambda) -> None:
        outside: list[ast.AST] = list(_defaults(node.args))
        if not isinstance(node, ast.Lambda):
            outside += node.decorator_list
            for argument in ast.walk(node.args):
                if isinstance(argument, ast.arg) and argument.annotation is not None:
                    outside.append(argument.annotation)
            if node.returns is not None:
                outside.append(node.returns)
        for part in outside:
            self.visit(part)
        free = free_names(node)
        self.names |= free
        self.later |= free

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        # A name of a class's body may be the function's or the class's own: both are counted.
        before = set(self.names)
        self.generic_visit(node)
        self.later |= self.names - before

    def _comprehension(self, node: _Comprehension) -> None:
        inner = _Reads()
        for child in ast.iter_child_nodes(node):
            inner.visit(child)
        own = bindings(part.target for part in node.generators).names
        first = _Reads()
        first.visit(node.generators[0].iter)
        self.names |= (inner.names - own) | first.names
        self.later |= inner.later - own
        if isinstance(node, ast.GeneratorExp):
            self.later |= inner.names - own


def reads(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that `nodes` read."""
    found = _Reads()
    for node in nodes:
        found.visit(node)
    return found.names


def read_later(nodes: Iterable[ast.AST]) -> set[str]:
    """The names that functions made by `nodes` read or bind whenever they are called."""
    found = _Reads()
    for node in nodes:
        found.visit(node)
    return found.later


def free_names(node: _Function | ast.Lambda) -> set[str]:
    """The names that a function reads or rebinds and does not own."""
    body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    bound = bindings(body)
    inner = _Reads()
    for part in body:
        inner.visit(part)
    own = bound.locals | parameters(node)
    return (inner.names | bound.nonlocals) - own - bound.globals
