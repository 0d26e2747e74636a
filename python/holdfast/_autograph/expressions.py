"""Expressions as hooks: what is read is noted, what is called may be converted, and `and`, `or`,
`not`, conditional expressions and chains of comparisons decide while tracing whether to stage.

Assigning to an attribute, an item, a global or an outer function's name assigns to `.value` of a
place, whatever the statement: `self.h = v` becomes `hf__.attribute_place(self, 'h').value = v`. So
the order in which things are evaluated stays Python's own.
"""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Iterable
from typing import Any

from . import nodes
from .names import bindings, free_names, parameters

__all__ = ["Expressions", "Scope"]

_BUILTINS = frozenset(vars(builtins))
# They look at the frame that calls them, or name what the compiler itself must see.
_LEFT_ALONE = {"super", "locals", "globals", "vars", "dir", "eval", "exec", "__class__"}
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Scope:
    """The names of one function that is being rewritten, and the functions around it."""

    def __init__(
        self,
        node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
        parent: Scope | None,
        outer: frozenset[str] = frozenset(),
        space: dict[str, Any] | None = None,
    ) -> None:
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
        bound = bindings(body)
        self.parent = parent
        self.local = bound.locals | parameters(node)
        self.globals, self.nonlocals = bound.globals, bound.nonlocals
        self.yields = bound.yields or isinstance(node, ast.AsyncFunctionDef)
        self.outer: frozenset[str] = parent.outer if parent is not None else outer
        self.space: dict[str, Any] = parent.space if parent is not None else space or {}
        self.first = next(iter(_arguments(node)), "")

    def kind(self, name: str) -> str:
        """Where a name belongs: "local", "free" or "global"."""
        if name in self.local:
            return "local"
        scope: Scope | None = self
        while scope is not None:
            if name in scope.globals:
                return "global"
            if scope is not self and name in scope.local:
                return "free"
            scope = scope.parent
        return "free" if name in self.outer else "global"


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterable[str]:
    return (each.arg for each in (*node.args.posonlyargs, *node.args.args))


class Expressions(ast.NodeTransformer):
    """Rewrites the expressions of one function."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.own: list[set[str]] = []  # the targets of the comprehensions around

    def all(self, parts: Iterable[Any]) -> list[Any]:
        return [self.visit(part) for part in parts]

    # Names.

    def visit_Name(self, node: ast.Name) -> ast.expr:
        name = node.id
        if name.startswith("hf__") or any(name in targets for targets in self.own):
            return node
        kind = self.scope.kind(name)
        if not isinstance(node.ctx, ast.Load):
            return self.target(node, kind)
        if kind == "local":
            if getattr(node, "ag_maybe", False):
                return nodes.call("local", [node, nodes.text(name)], node)
            return node
        if kind == "free":
            if name in _LEFT_ALONE:
                return node
            return nodes.call("free", [nodes.text(name), nodes.lambda_(node)], node)
        if name in _BUILTINS and name not in self.scope.space:
            return node
        if isinstance(self.scope.space.get(name), types.ModuleType):
            return node
        return nodes.call("global_", [nodes.text(name), node], node)

    def target(self, node: ast.Name, kind: str) -> ast.expr:
        """A name that is set or deleted."""
        name, location = node.id, None
        if kind == "global":
            location = nodes.call("global_place", [nodes.text(name)], node)
        elif kind == "free":
            inside = nodes.lambda_(nodes.at(nodes.load(name), node))
            location = nodes.call("cell_place", [nodes.text(name), inside], node)
        return node if location is None else _value_of(location, node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.visit(node.value)
        if self.scope.kind(node.target.id) == "local":
            return node
        # `:=` takes plain names only, so the hook itself does the assignment.
        location = self.target(node.target, self.scope.kind(node.target.id))
        assert isinstance(location, ast.Attribute)
        return nodes.call("assign", [location.value, node.value], node)

    # Attributes and items.

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        node.value = self.visit(node.value)
        arguments = [node.value, nodes.text(node.attr)]
        if isinstance(node.ctx, ast.Load):
            return nodes.call("attribute", arguments, _attribute_place(node, node))
        return _value_of(nodes.call("attribute_place", arguments, node), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        node.value, node.slice = self.visit(node.value), self.visit(node.slice)
        if isinstance(node.slice, ast.Tuple) and any(
            isinstance(part, (ast.Slice, ast.Starred)) for part in node.slice.elts
        ):
            return node
        index: ast.expr = node.slice
        if isinstance(index, ast.Slice):
            bounds = [index.lower, index.upper, index.step]
            parts = [part or ast.Constant(None) for part in bounds]
            index = nodes.call("slice_", parts, index)
        if isinstance(node.ctx, ast.Load):
            return nodes.call("item", [node.value, index], node)
        return _value_of(nodes.call("item_place", [node.value, index], node), node)

    # Calls.

    def visit_Call(self, node: ast.Call) -> ast.expr:
        func = node.func
        plain = isinstance(func, ast.Name) and func.id in _LEFT_ALONE
        if isinstance(func, ast.Name) and func.id == "vars" and node.args:
            plain = False  # it looks at an object, not at its caller
        if isinstance(func, ast.Name) and func.id == "super" and not (node.args or node.keywords):
            node.args = self.super_arguments(node)
            return node
        where = _method_place(node)
        if isinstance(func, ast.Attribute):
            # The hook stands where the method's name stands, so that the call keeps its line.
            arguments = [self.visit(func.value), nodes.text(func.attr)]
            node.func = nodes.call("method", arguments, func)
        elif not plain:
            node.func = nodes.call("call", [self.visit(func)], func)
        node.args = self.all(node.args)
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
            if keyword.arg is None:
                keyword.value = nodes.call("spread", [keyword.value], keyword.value)
        return ast.copy_location(node, where)

    def super_arguments(self, node: ast.Call) -> list[ast.expr]:
        """What `super()` finds in its frame: a block that became a function has another one."""
        scope: Scope | None = self.scope
        while scope is not None and scope.parent is not None and not scope.first:
            scope = scope.parent
        if scope is None or not scope.first:
            return []
        return [nodes.at(nodes.load(name), node) for name in ("__class__", scope.first)]

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        node.value = self.visit(node.value)
        if isinstance(node.ctx, ast.Load):
            node.value = nodes.call("spread", [node.value], node.value)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        node.values = [
            self.visit(value) if key else nodes.call("spread", [self.visit(value)], value)
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        node.keys = [key and self.visit(key) for key in node.keys]
        return nodes.call("fresh", [node], node)

    def display(self, node: ast.List | ast.Tuple) -> ast.expr:
        """`[*values, x]`: what is taken apart may be a list of the graph."""
        stars = "".join("*" if isinstance(each, ast.Starred) else "." for each in node.elts)
        kind = nodes.text("list" if isinstance(node, ast.List) else "tuple")
        parts = [
            nodes.call("star", [self.visit(each.value)], each.value)
            if isinstance(each, ast.Starred)
            else self.visit(each)
            for each in node.elts
        ]
        return nodes.call("display", [kind, nodes.text(stars), *parts], node)

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and any(isinstance(e, ast.Starred) for e in node.elts):
            return self.display(node)
        node.elts = self.all(node.elts)
        return node

    def visit_List(self, node: ast.List) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and any(isinstance(e, ast.Starred) for e in node.elts):
            return self.display(node)
        node.elts = self.all(node.elts)
        return nodes.call("fresh", [node], node) if isinstance(node.ctx, ast.Load) else node

    def visit_Set(self, node: ast.Set) -> ast.expr:
        node.elts = self.all(node.elts)
        return nodes.call("fresh", [node], node)

    # What decides.

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        node.values = self.all(node.values)
        if not _can_wait(node.values[1:]):
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        rest = [nodes.lambda_(value) for value in node.values[1:]]
        return nodes.call(name, [node.values[0], *rest], node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not):
            return nodes.call("not_", [node.operand], node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test, node.body, node.orelse = self.all([node.test, node.body, node.orelse])
        if not _can_wait([node.body, node.orelse]):
            node.test = nodes.call("truth", [node.test], node.test)
            return node
        sides = [nodes.lambda_(node.body), nodes.lambda_(node.orelse)]
        return nodes.call("if_expression", [node.test, *sides], node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        node.left, node.comparators = self.visit(node.left), self.all(node.comparators)
        if len(node.ops) == 1:
            if isinstance(node.ops[0], (ast.In, ast.NotIn)):
                name = "contains" if isinstance(node.ops[0], ast.In) else "lacks"
                return nodes.call(name, [node.left, node.comparators[0]], node)
            return _of_lists(node)
        if not _can_wait(node.comparators):
            return node
        pairs: list[ast.expr] = []
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            pairs += [nodes.lambda_(right), _comparison(op, left, right)]
            left = right
        return nodes.call("chain", [node.left, *pairs], node)

    # Functions and comprehensions.

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        arguments = node.args
        arguments.defaults = self.all(arguments.defaults)
        arguments.kw_defaults = [each and self.visit(each) for each in arguments.kw_defaults]
        shadowed = set().union(*self.own) if self.own else set()
        inner = Expressions(Scope(node, self.scope))
        # A comprehension's targets are free names of the lambda that need no note.
        inner.own = [shadowed - inner.scope.local]
        free = free_names(node)
        node.body = inner.visit(node.body)
        has_defaults = arguments.defaults or arguments.kw_defaults
        if has_defaults or any(self.scope.kind(name) == "local" for name in free - shadowed):
            mark = self.made_here(free - shadowed, node)
            return nodes.at(ast.Call(mark, [node], []), node)
        return node

    def made_here(self, free: set[str], where: ast.AST) -> ast.expr:
        """What marks the cells of a function that belong to the function being rewritten."""
        names = sorted(name for name in free if self.scope.kind(name) == "local")
        return nodes.call("made", [nodes.text(name) for name in names], where)

    def comprehension(self, node: Any, elements: tuple[str, ...]) -> Any:
        own: set[str] = set()
        for i, part in enumerate(node.generators):
            if i:
                self.own.append(own)
            part.iter = nodes.call("iterated", [self.visit(part.iter)], part.iter)
            if i:
                self.own.pop()
            own = own | bindings([part.target]).names
        self.own.append(own)
        for part in node.generators:
            part.target = self.visit(part.target)
            if part is node.generators[-1] and _may_choose(node):
                part.ifs = self.all(part.ifs)
                continue
            part.ifs = [nodes.call("truth", [self.visit(each)], each) for each in part.ifs]
        for field in elements:
            setattr(node, field, self.visit(getattr(node, field)))
        self.own.pop()
        return node

    def visit_ListComp(self, node: ast.ListComp) -> Any:
        return nodes.call("fresh", [self.comprehension(node, ("elt",))], node)

    def visit_SetComp(self, node: ast.SetComp) -> Any:
        return nodes.call("fresh", [self.comprehension(node, ("elt",))], node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        chosen = _may_choose(node)
        node = self.comprehension(node, ("elt",))
        if not chosen:
            return node
        # Who takes the elements may be able to choose in the graph, as `sum` is.
        last, elt = node.generators[-1], node.elt
        test = last.ifs[0]
        if len(last.ifs) > 1:
            test = nodes.call("and_", [test, *map(nodes.lambda_, last.ifs[1:])], test)
        pair = ast.Tuple([test, nodes.at(nodes.lambda_(elt), elt)], ast.Load())
        node.elt, last.ifs = ast.copy_location(pair, elt), []
        return nodes.call("Chosen", [node], node)

    def visit_DictComp(self, node: ast.DictComp) -> Any:
        return nodes.call("fresh", [self.comprehension(node, ("key", "value"))], node)


def _may_choose(node: Any) -> bool:
    """Whether it is a generator with a condition, of which the elements can wait for that."""
    if not isinstance(node, ast.GeneratorExp) or node.generators[-1].is_async:
        return False
    conditions = node.generators[-1].ifs
    return bool(conditions) and _can_wait([node.elt, *conditions])


def _value_of(location: ast.expr, node: ast.expr) -> ast.Attribute:
    context: ast.expr_context = node.ctx  # type: ignore[attr-defined]
    return ast.copy_location(ast.Attribute(location, "value", context), node)


def _method_place(node: ast.Call) -> ast.expr:
    """Where the compiler says that a call stands: at its method's name, if that is lines below."""
    return _attribute_place(node.func, node) if isinstance(node.func, ast.Attribute) else node


def _attribute_place(attribute: ast.Attribute, whole: ast.expr) -> ast.expr:
    if attribute.end_lineno in (None, whole.lineno):
        return whole
    moved = ast.copy_location(ast.Constant(None), whole)
    moved.lineno = attribute.end_lineno or whole.lineno
    moved.col_offset = (attribute.end_col_offset or 0) - len(attribute.attr)
    return moved


def _comparison(op: ast.cmpop, left: ast.expr, right: ast.expr) -> ast.expr:
    """`lambda a, b: a < b`, at the place of the two that it compares."""
    both = nodes.nothing()
    both.args = [ast.arg("hf__l"), ast.arg("hf__r")]
    body = _of_lists(ast.Compare(nodes.load("hf__l"), [op], [nodes.load("hf__r")]))
    where = ast.copy_location(ast.Constant(None), left)
    where.end_lineno, where.end_col_offset = right.end_lineno, right.end_col_offset
    return nodes.at(ast.Lambda(both, body), where)


def _of_lists(node: ast.Compare) -> ast.expr:
    """A comparison of what may be lists: of one that grew, the graph's is asked."""
    sides, op = [node.left, node.comparators[0]], node.ops[0]
    if isinstance(op, (ast.Is, ast.IsNot)) and _is_none(sides[1]):
        none = nodes.call("is_none", [sides[0]], node)
        return none if isinstance(op, ast.Is) else nodes.call("not_", [none], node)
    if isinstance(op, (ast.Eq, ast.NotEq)) and _is_none(sides[1]):
        none = nodes.call("equals_none", [sides[0]], node)
        return none if isinstance(op, ast.Eq) else nodes.call("not_", [none], node)
    if any(isinstance(side, ast.Constant) for side in sides):
        return node
    if isinstance(op, (ast.Eq, ast.NotEq)):
        node.left, node.comparators[0] = (
            nodes.call("looked_through", [side], side) for side in sides
        )
    elif isinstance(op, (ast.Is, ast.IsNot)):
        same = nodes.call("is_", sides, node)
        return same if isinstance(op, ast.Is) else nodes.call("not_", [same], node)
    return node


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _can_wait(expressions: list[ast.expr]) -> bool:
    """Whether expressions may move into functions: not if they set names or hand over control."""
    bound = bindings(expressions)
    return not (bound.names or bound.yields)
