"""What the code after a statement still needs, and which names may not be set where they are read.

Runs over a function whose jumps are flags already, so control only nests. Two questions:

- *liveness*, from the end to the start: the names whose value after a statement is read by
  somebody. Only those need a value on both sides of a branch, or travel through a loop.
- *definedness*, from the start to the end: the reads of a name that some path leaves unset. They
  are marked, because a staged branch can't leave a name unset by chance.
"""

from __future__ import annotations

import ast

from .jumps import is_total
from .names import bindings, parameters, read_later, reads

__all__ = ["analyse"]

_Scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def analyse(function: ast.FunctionDef, local: set[str]) -> None:
    """Marks the statements of `function` with `ag_after`, `ag_before`, and reads with `ag_maybe`.

    `local` holds the names that belong to the function.
    """
    later = read_later(function.body) & local
    _Liveness(local, later).block(function.body, set(later), set())
    _Definedness(local).block(function.body, parameters(function))
    _MaybeUnset(_maybe_none(function) & local).block(function.body)


class _Liveness:
    def __init__(self, local: set[str], later: set[str]) -> None:
        self.local, self.later = local, later

    def reads(self, *nodes: ast.AST | None) -> set[str]:
        return reads(node for node in nodes if node is not None) & self.local

    def block(self, statements: list[ast.stmt], after: set[str], caught: set[str]) -> set[str]:
        """The names that are live before the statements, given those live after them.

        `caught` are the names that handlers around read: an exception may come from anywhere.
        """
        live = after | caught
        for statement in reversed(statements):
            statement.ag_after = live  # type: ignore[attr-defined]
            live = self.statement(statement, live, caught) | caught | self.later
            statement.ag_before = live  # type: ignore[attr-defined]
        return live

    def statement(self, statement: ast.stmt, after: set[str], caught: set[str]) -> set[str]:
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                sides = self.block(body, after, caught) | self.block(orelse, after, caught)
                return sides | self.reads(test)
            case ast.While() | ast.For():
                return self.loop(statement, after, caught)
            case ast.With(items=items, body=body):
                inner = self.block(body, after, caught)
                return (inner - bindings(items).names) | self.reads(*items)
            case ast.Try() | ast.TryStar():
                return self.attempt(statement, after, caught)
            case ast.Match(subject=subject, cases=cases):
                live = set(after)
                for case in cases:
                    inner = self.block(case.body, after, caught)
                    live |= inner | self.reads(case.pattern, case.guard)
                return live | self.reads(subject)
            case ast.Return(value=value):
                return self.reads(value)
            case ast.Raise():
                return self.reads(statement)
        return (after - self.killed(statement)) | self.reads(statement)

    def killed(self, statement: ast.stmt) -> set[str]:
        """The names that a simple statement certainly sets."""
        match statement:
            case ast.Assign(targets=targets):
                return {
                    part.id
                    for target in targets
                    for part in ast.walk(target)
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
                }
            case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                return {name}
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                return {statement.name}
            case ast.Import() | ast.ImportFrom() | ast.Delete():
                return bindings([statement]).names
        return set()

    def loop(self, loop: ast.While | ast.For, after: set[str], caught: set[str]) -> set[str]:
        flags = set(getattr(loop, "ag_exits", ()))
        own = {loop.test} if isinstance(loop, ast.While) else set()
        head = after | self.reads(*own) | flags
        exposed = self.block(loop.body, set(), caught)
        if isinstance(loop, ast.For):
            exposed -= bindings([loop.target]).names
        loop.ag_exposed = exposed | self.reads(*own) | flags  # type: ignore[union-attr]
        while True:
            inner = self.block(loop.body, head, caught)
            if isinstance(loop, ast.For):
                inner = inner - bindings([loop.target]).names | self.reads(loop.target)
            if inner <= head:
                break
            head = head | inner
        loop.ag_head = head  # type: ignore[union-attr]
        if isinstance(loop, ast.For):
            return head | self.reads(loop.iter)
        return head

    def attempt(
        self, statement: ast.Try | ast.TryStar, after: set[str], caught: set[str]
    ) -> set[str]:
        end = self.block(statement.finalbody, after, caught) if statement.finalbody else after
        handled: set[str] = set()
        for handler in statement.handlers:
            inner = self.block(handler.body, end, caught | end)
            handled |= (inner - ({handler.name} if handler.name else set())) | self.reads(
                handler.type
            )
        thrown = caught | handled | end
        normal = self.block(statement.orelse, end, caught | end)
        return self.block(statement.body, normal, thrown)


class _Definedness:
    def __init__(self, local: set[str]) -> None:
        self.local = local

    def look(self, defined: set[str], *nodes: ast.AST | None) -> None:
        """Marks the reads of names that are not certainly set."""
        for node in nodes:
            if node is not None:
                _MaybeUnset(self.local - defined).visit(node)

    def block(self, statements: list[ast.stmt], defined: set[str]) -> set[str]:
        """The names that are certainly set after the statements."""
        for statement in statements:
            defined = self.statement(statement, defined)
        return defined

    def statement(self, statement: ast.stmt, defined: set[str]) -> set[str]:
        match statement:
            case ast.If(test=test, body=body, orelse=orelse):
                self.look(defined, test)
                return self.block(body, defined) & self.block(orelse, defined)
            case ast.While(test=test, body=body):
                self.look(defined, test)
                self.block(body, defined)
                return defined
            case ast.For(target=target, iter=iterated, body=body):
                self.look(defined, iterated, target)
                self.block(body, defined | bindings([target]).names)
                return defined
            case ast.With(items=items, body=body):
                self.look(defined, *items)
                return self.block(body, defined | bindings(items).names)
            case ast.Try() | ast.TryStar():
                done = self.block(statement.orelse, self.block(statement.body, defined))
                for handler in statement.handlers:
                    self.look(defined, handler.type)
                    named = {handler.name} if handler.name else set()
                    done &= self.block(handler.body, defined | named) - named
                return done | self.block(statement.finalbody, defined)
            case ast.Match(subject=subject, cases=cases):
                self.look(defined, subject)
                done = set(self.local) if is_total(cases[-1]) else defined
                for case in cases:
                    caught = defined | bindings([case.pattern]).names
                    self.look(caught, case.guard)
                    done = done & self.block(case.body, caught)
                return done
            case ast.Delete():
                self.look(defined, statement)
                return defined - bindings([statement]).names
            case ast.AugAssign(target=ast.Name(id=name) as target):
                if name in self.local - defined:
                    target.ag_maybe = True  # type: ignore[attr-defined]
        self.look(defined, statement)
        if isinstance(statement, (ast.Return, ast.Raise)):
            return set(self.local)  # nothing comes after
        return defined | bindings([statement]).names


def _maybe_none(function: ast.FunctionDef) -> set[str]:
    """The names that may hold None: those that are given it, or that are compared with it.

    What is read from somewhere may be None too, and so may what another name or a call gives.
    """
    found: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Compare(left=ast.Name(id=name), comparators=[ast.Constant(value=None)]):
                found.add(name)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    found |= _given_none(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                found |= _given_none(target, value)
            case ast.NamedExpr(target=target, value=value):
                found |= _given_none(target, value)
    return found


def _given_none(target: ast.expr, value: ast.expr) -> set[str]:
    match target, value:
        case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
            return set().union(*map(_given_none, targets, values))
        case ast.Tuple(elts=targets), ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call():
            return {each.id for each in targets if isinstance(each, ast.Name)}
        case ast.Name(id=name), ast.Constant(value=None) | ast.IfExp() | ast.BoolOp():
            return {name}
        case ast.Name(id=name), ast.Name() | ast.Attribute() | ast.Subscript() | ast.Call():
            return {name}
    return set()


class _MaybeUnset(ast.NodeVisitor):
    """Marks reads of `names`; functions inside read theirs when they are called."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            self.visit(statement)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name) and node.target.id in self.names:
            node.target.ag_maybe = True  # type: ignore[attr-defined]
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in self.names:
            node.ag_maybe = True  # type: ignore[attr-defined]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for part in (*node.decorator_list, *node.args.defaults):
            self.visit(part)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for part in node.args.defaults:
            self.visit(part)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases):
            self.visit(part)
