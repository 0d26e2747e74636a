"""Statements as operators: `if`, `while` and `for` become functions and a call that decides.

    if x > 0:                       def hf__if_1():
        y = x                           nonlocal y
    else:                               y = x
        y = -x                      def hf__else_1():
                                        nonlocal y
                                        y = -x
                                    hf__.if_(x > 0, hf__if_1, hf__else_1, hf__site_1)

The names that a block sets stay the function's own, in cells that the operators find in the
closures of the functions; so an unset name is simply an empty cell.
"""

from __future__ import annotations

import ast
import copy
from typing import Any

from . import nodes
from .expressions import Expressions, Scope
from .flow import analyse
from .jumps import CannotLower, lower
from .matches import plain_matches
from .names import Bindings, bindings, free_names, parameters
from .sites import Home, Site, grows, sets, spot_of

__all__ = ["Statements", "rewrite"]


class Statements(Expressions):
    """Rewrites the statements of one function."""

    def __init__(self, scope: Scope, home: Home, made: list[Site], staged: bool) -> None:
        super().__init__(scope)
        self.home, self.made, self.staged = home, made, staged

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements, rewritten."""
        out: list[ast.stmt] = []
        for statement in statements:
            new = self.visit(statement)
            out += new if isinstance(new, list) else [new] if new is not None else []
        return out

    # Blocks that decide.

    def visit_If(self, node: ast.If) -> Any:
        if not self.staged:
            node.test = nodes.call("truth", [self.visit(node.test)], node.test)
            node.body, node.orelse = self.block(node.body), self.block(node.orelse)
            return node
        sides = [bindings(side) for side in (node.body, node.orelse)]
        modified = sorted((sides[0].names | sides[1].names) & self.scope.local)
        after: set[str] = getattr(node, "ag_after", set())
        blocks = tuple(_lines(side) for side in (node.body, node.orelse))
        outputs = tuple(name for name in modified if name in after)
        site_of_it = Site(
            "if", self.home, spot_of(node.test), tuple(modified), outputs, blocks=blocks
        )
        site_of_it.jumps = getattr(node, "ag_jumps", False)
        n, site = self.note(site_of_it)
        test = self.visit(node.test)
        body, orelse = f"hf__if_{n}", f"hf__else_{n}"
        arguments = [test, nodes.load(body), nodes.load(orelse), nodes.load(site)]
        return [
            self.function(body, node.body, sides[0], node),
            self.function(orelse, node.orelse, sides[1], node),
            nodes.at(ast.Expr(nodes.call("if_", arguments, node.test)), node.test),
        ]

    def visit_While(self, node: ast.While) -> Any:
        if not self.staged:
            node.test = nodes.call("truth", [self.visit(node.test)], node.test)
            node.body, node.orelse = self.block(node.body), self.block(node.orelse)
            return node
        bound = bindings([node.test, *node.body])
        modified = sorted(bound.names & self.scope.local)
        n, site = self.loop_site("while", node, node.test, modified)
        test, body = f"hf__test_{n}", f"hf__body_{n}"
        asked = ast.copy_location(ast.Return(node.test), node.test)
        arguments: list[ast.expr] = [nodes.load(name) for name in (test, body, site)]
        return [
            self.function(test, [asked], bindings([node.test]), node.test),
            self.function(body, node.body, bindings(node.body), node),
            nodes.at(ast.Expr(nodes.call("while_", arguments, node.test)), node.test),
        ]

    def visit_For(self, node: ast.For) -> Any:
        iterated = self.visit(node.iter)
        if not self.staged:
            node.target = self.visit(node.target)
            node.iter = nodes.call("iterated", [iterated], node.iter)
            node.body, node.orelse = self.block(node.body), self.block(node.orelse)
            return node
        flags: list[str] = getattr(node, "ag_exits", [])
        item = nodes.at(nodes.load("hf__item"), node.target)
        first = nodes.at(ast.Assign([node.target], item), node.target)
        bound = bindings([node.target, *node.body])
        modified = sorted(bound.names & self.scope.local)
        n, site = self.loop_site("for", node, node.iter, modified)
        body = f"hf__body_{n}"
        go_on: ast.expr = ast.Constant(None)
        if flags:
            go_on = nodes.lambda_(self.visit(nodes.none_of(flags, node.iter)))
        arguments = [iterated, nodes.load(body), go_on, nodes.load(site)]
        made = self.function(body, [first, *node.body], bound, node)
        made.args.args = [nodes.at(ast.arg("hf__item"), node.target)]
        return [made, nodes.at(ast.Expr(nodes.call("for_", arguments, node.iter)), node.iter)]

    def loop_site(
        self, kind: str, node: Any, where: ast.expr, modified: list[str]
    ) -> tuple[int, str]:
        """Notes a loop."""
        carried = tuple(name for name in modified if name in node.ag_head)
        exposed = tuple(name for name in carried if name in node.ag_exposed)
        blocks = (_lines(node.body),)
        return self.note(
            Site(kind, self.home, spot_of(where), tuple(modified), (), carried, exposed, blocks)
        )

    def note(self, site: Site) -> tuple[int, str]:
        """Notes a staged statement; its number, and the name that stands for it."""
        self.made.append(site)
        return len(self.made) - 1, f"hf__site_{len(self.made) - 1}"

    def function(
        self, name: str, body: list[ast.stmt], bound: Bindings, where: ast.AST
    ) -> ast.FunctionDef:
        """A block as a function, which sets the names of the function around it."""
        inner: list[ast.stmt] = []
        shared = sorted(bound.names & self.scope.local)
        if shared:
            inner.append(nodes.at(ast.Nonlocal(shared), where))
        inner += self.declarations(bound.names, where)
        inner += self.block(body)
        if not inner or isinstance(inner[-1], (ast.Nonlocal, ast.Global)):
            inner.append(nodes.at(ast.Pass(), where))
        made = ast.FunctionDef(name, nodes.nothing(), inner, [])
        return ast.copy_location(made, where)

    def declarations(self, names: set[str], where: ast.AST) -> list[ast.stmt]:
        """`global` and `nonlocal`, as the user declared them, for what a block sets."""
        out: list[ast.stmt] = []
        if shared := sorted(names & self.scope.globals):
            out.append(nodes.at(ast.Global(shared), where))
        if shared := sorted(names & self.scope.nonlocals):
            out.append(nodes.at(ast.Nonlocal(shared), where))
        return out

    # Statements that stay, with other expressions in them.

    def _declared(self, node: ast.stmt) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node)  # declared again where needed

    visit_Global = visit_Nonlocal = _declared

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        node.value = self.visit(node.value)
        counts = [_count(target) for target in node.targets]
        if len(counts) == 1 and counts[0] is not None:
            count = nodes.at(ast.Constant(counts[0]), node.value)
            node.value = nodes.call("unpacked", [node.value, count], node.value)
        elif any(count is not None for count in counts):  # each target takes the value itself
            node.value = nodes.call("spread", [node.value], node.value)
        node.targets = self.all(node.targets)
        return node

    def visit_With(self, node: ast.With) -> ast.stmt:
        self.generic_visit(node)
        for item in node.items:
            item.context_expr = nodes.call("managed", [item.context_expr], item.context_expr)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        plain = ast.copy_location(ast.Assign([node.target], node.value), node)
        return self.visit_Assign(plain)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        node.value = self.visit(node.value)
        target = node.target
        if isinstance(target, ast.Name) and self.scope.kind(target.id) == "local":
            now: ast.expr = nodes.at(nodes.load(target.id), target)
            if getattr(target, "ag_maybe", False):
                now = nodes.call("local", [now, nodes.text(target.id)], target)
            if not isinstance(node.op, (ast.Add, ast.BitOr)):
                return _in_place(node, target, now)
            # A list that grows or a set that takes more in, perhaps one from outside.
            name = "add_in_place" if isinstance(node.op, ast.Add) else "join_in_place"
            value = nodes.call(name, [now, node.value], node)
            return ast.copy_location(ast.Assign([target], value), node)
        node.target = self.visit(target)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        node.test = self.visit(node.test)
        message = self.visit(node.msg) if node.msg is not None else ast.Constant(None)
        if not __debug__:
            return node
        nodes.at(message, node.test)
        arguments = [node.test, nodes.lambda_(message)]
        return ast.copy_location(ast.Expr(nodes.call("assert_", arguments, node.test)), node)

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        node.subject = self.visit(node.subject)
        classes = [each for each in ast.walk(node) if isinstance(each, ast.MatchClass)]
        if classes:
            names = dict.fromkeys(name for each in classes for name in each.kwd_attrs)
            arguments = [node.subject, *map(nodes.text, names)]
            node.subject = nodes.call("matched", arguments, node.subject)
        for case in node.cases:  # patterns say what to compare with, and stay as they are
            if case.guard is not None:
                case.guard = nodes.call("truth", [self.visit(case.guard)], case.guard)
            case.body = self.block(case.body)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        # Methods are converted when they are called; the class itself is Python's business.
        node.decorator_list = self.all(node.decorator_list)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.decorator_list = self.all(node.decorator_list)
        node.args.defaults = self.all(node.args.defaults)
        node.args.kw_defaults = [each and self.visit(each) for each in node.args.kw_defaults]
        free = free_names(node)
        name = f"{self.home.function}.<locals>.{node.name}"
        rewrite(node, Scope(node, self.scope), self.home.filename, name, self.made)
        has_defaults = node.args.defaults or node.args.kw_defaults
        if has_defaults or any(self.scope.kind(name) == "local" for name in free):
            node.decorator_list.append(self.made_here(free, node))
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return node


def _lines(statements: list[ast.stmt]) -> tuple[int, int]:
    if not statements:
        return 0, -1
    return statements[0].lineno, max(each.end_lineno or each.lineno for each in statements)


_OPERATORS = {
    ast.Sub: "isub",
    ast.Mult: "imul",
    ast.Div: "itruediv",
    ast.FloorDiv: "ifloordiv",
    ast.Mod: "imod",
    ast.Pow: "ipow",
    ast.MatMult: "imatmul",
    ast.LShift: "ilshift",
    ast.RShift: "irshift",
    ast.BitAnd: "iand",
    ast.BitXor: "ixor",
}


def _in_place(node: ast.AugAssign, target: ast.Name, now: ast.expr) -> ast.stmt:
    """`name op= value`: for what changes where it is, a hook; for all else Python's statement."""
    name = _OPERATORS[type(node.op)]
    asked = nodes.call("is_changed", [nodes.text(name), now], target)
    changed = nodes.call("in_place", [nodes.text(name), now, copy.deepcopy(node.value)], node)
    done = ast.copy_location(ast.Assign([target], changed), node)
    return ast.copy_location(ast.If(asked, [done], [node]), node)


def rewrite(
    node: ast.FunctionDef, scope: Scope, filename: str, name: str, made: list[Site]
) -> None:
    """Rewrites a function in place; its staged statements are added to `made`.

    A generator or coroutine, or a function that jumps out of a `finally`, keeps its statements:
    their conditions have to be Python values.
    """
    home = Home(filename, name, sets(node), grows(node))
    start = [node.body.pop(0)] if ast.get_docstring(node, clean=False) is not None else []
    if not node.body:
        node.body = [nodes.at(ast.Pass(), node)]
    staged = not scope.yields
    if staged:
        before = copy.deepcopy(node.body)
        try:
            plain_matches(node)
            lower(node)
        except CannotLower:
            node.body, staged = before, False
    if staged:
        flags = {each for each in bindings(node.body).names if each.startswith("hf__")}
        scope.local |= flags
        analyse(node, scope.local)
    body = Statements(scope, home, made, staged).block(node.body)
    node.body = [*start, *_opening(node, scope), *body]


def _opening(node: ast.FunctionDef, scope: Scope) -> list[ast.stmt]:
    """Declares the names of a function to the compiler, which sees some in inner functions only."""
    out: list[ast.stmt] = []
    if scope.globals:
        out.append(ast.Global(sorted(scope.globals)))
    if scope.nonlocals:
        out.append(ast.Nonlocal(sorted(scope.nonlocals)))
    names = sorted(scope.local - parameters(node))
    if names:
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
        never = ast.Assign(targets, ast.Constant(None))
        out.append(ast.If(ast.Constant(False), [never], []))
    if scope.parent is None and scope.outer:
        reads: list[ast.expr] = [nodes.load(name) for name in sorted(scope.outer)]
        kept = ast.Expr(ast.Tuple(reads, ast.Load()))
        out.append(ast.If(ast.Constant(False), [kept], []))
    if node.args.kwarg is not None:  # Python makes the dict for this call
        out.append(ast.Expr(nodes.call("fresh", [nodes.load(node.args.kwarg.arg)], node)))
    return [nodes.at(statement, node) for statement in out]


def _count(target: ast.expr) -> int | None:
    """How many values a target takes; -1 for any number, None for one that takes the whole."""
    if not isinstance(target, (ast.Tuple, ast.List)):
        return None
    starred = any(isinstance(each, ast.Starred) for each in target.elts)
    return -1 if starred else len(target.elts)
