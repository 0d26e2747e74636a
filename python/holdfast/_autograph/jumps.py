"""`return`, `break` and `continue` as flags, so that every statement runs to its end.

A block that becomes a function can't jump out of the one it came from. So a jump sets its flag, and
what follows runs only if the flag is down. Where one side of an `if` always jumps, what follows
moves into the other side and no flag is asked: most early returns come out as plain if/else.
"""

from __future__ import annotations

import ast
from typing import TypeGuard

from . import names, nodes

__all__ = ["DONE", "VALUE", "CannotLower", "is_total", "leaves", "lower"]

DONE = "hf__done"
VALUE = "hf__value"

_Loop = ast.While | ast.For
_Scopes = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class CannotLower(Exception):
    """A jump out of a `finally`, which also ends an exception: no flag does that."""


def lower(function: ast.FunctionDef) -> None:
    """Rewrites the jumps of `function` in place."""
    lowering = _Lowering()
    body = _reachable(function.body)
    returns = any(
        isinstance(part, (ast.If, ast.While, ast.For)) and _has(part, ast.Return)
        for statement in body
        for part in (statement, *_within(statement))
    )
    if not returns:
        function.body = lowering.loops(body)
        return
    lowering.returns = True
    if not leaves(body):
        nothing = nodes.at(ast.Return(ast.Constant(None)), body[-1])
        nothing.lineno = nothing.end_lineno = (body[-1].end_lineno or body[-1].lineno) + 1
        body = [*body, nothing]  # behind all lines, for messages look for the one that returns
    start = function.body[0]
    function.body = [
        nodes.assign(DONE, ast.Constant(False), start),
        *lowering.block(body)[0],
        nodes.at(ast.Return(nodes.load(VALUE)), body[-1]),
    ]


def leaves(statements: list[ast.stmt]) -> bool:
    """Whether control never comes out at the end of these statements."""
    return any(_leaves(statement) for statement in statements)


def _leaves(statement: ast.stmt) -> bool:
    match statement:
        case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
            return True
        case ast.If():
            return leaves(statement.body) and leaves(statement.orelse)
        case ast.While():
            return _is_endless(statement)
        case ast.Try():
            tried = leaves([*statement.body, *statement.orelse])
            handled = all(leaves(handler.body) for handler in statement.handlers)
            return tried and handled
        case ast.Match():
            cases = statement.cases
            return is_total(cases[-1]) and all(leaves(case.body) for case in cases)
    return False  # also a `with`: its context may swallow what happens inside


def is_total(case: ast.match_case) -> bool:
    """Whether a case of a `match` takes everything."""
    pattern = case.pattern
    return isinstance(pattern, ast.MatchAs) and pattern.pattern is None and case.guard is None


def _is_endless(loop: ast.While) -> bool:
    """`while True:` without a `break`: only a return or an exception ends it."""
    test = loop.test
    return isinstance(test, ast.Constant) and bool(test.value) and not _breaks(loop.body)


def _breaks(statements: list[ast.stmt]) -> bool:
    for statement in statements:
        if isinstance(statement, ast.Break):
            return True
        if isinstance(statement, _Loop):
            if _breaks(statement.orelse):
                return True
        elif not isinstance(statement, _Scopes) and any(
            _breaks(block) for block in _blocks(statement)
        ):
            return True
    return False


def _blocks(statement: ast.AST) -> list[list[ast.stmt]]:
    """The lists of statements directly inside a compound statement."""
    found: list[list[ast.stmt]] = []
    for field in ("body", "orelse", "finalbody"):
        inner = getattr(statement, field, None)
        if isinstance(inner, list):
            found.append(inner)
    for field in ("handlers", "cases"):
        for part in getattr(statement, field, ()):
            found.append(part.body)
    return found


def _within(statement: ast.AST) -> list[ast.stmt]:
    """All statements inside, but not those of functions and classes."""
    if isinstance(statement, _Scopes):
        return []
    found: list[ast.stmt] = []
    for block in _blocks(statement):
        for inner in block:
            found.append(inner)
            found += _within(inner)
    return found


def _has(statement: ast.stmt, kind: type[ast.stmt]) -> bool:
    return any(isinstance(part, kind) for part in _within(statement))


def _reachable(statements: list[ast.stmt]) -> list[ast.stmt]:
    """The statements up to the first that always leaves."""
    for i, statement in enumerate(statements):
        if _leaves(statement):
            return statements[: i + 1]
    return statements


def _is_jump(statement: ast.stmt) -> TypeGuard[ast.Return | ast.Break | ast.Continue]:
    return isinstance(statement, (ast.Return, ast.Break, ast.Continue))


class _Lowering:
    """Carries the flags of the loops around the statement that is being rewritten."""

    def __init__(self) -> None:
        self.returns = False
        self.count = 0
        self.around: list[tuple[str, str]] = []  # break and continue flags, the innermost last

    def loops(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Rewrites loops alone: the returns of this function can stay as they are."""
        out: list[ast.stmt] = []
        for statement in statements:
            if isinstance(statement, _Loop):
                out += self.loop(statement)[0]
            else:
                if not isinstance(statement, _Scopes):
                    for block in _blocks(statement):
                        block[:] = self.loops(block)
                out.append(statement)
        return out

    def block(self, statements: list[ast.stmt]) -> tuple[list[ast.stmt], set[str]]:
        """The statements without jumps, and the flags that they may have raised."""
        out: list[ast.stmt] = []
        raised: set[str] = set()
        statements = _reachable(statements)
        for i, statement in enumerate(statements):
            rest = statements[i + 1 :]
            if isinstance(statement, ast.If) and rest:
                # The side that does not jump is where the rest goes on.
                if leaves(statement.body) and not leaves(statement.orelse):
                    statement.orelse, rest = [*statement.orelse, *rest], []
                elif leaves(statement.orelse) and not leaves(statement.body):
                    statement.body, rest = [*statement.body, *rest], []
            new, flags = self.statement(statement)
            out += new
            raised |= flags
            if flags and rest:
                inner, more = self.block(rest)
                out.append(_unless(flags, inner, statement))
                return out, raised | more
            if not rest:
                break
        return out, raised

    def statement(self, statement: ast.stmt) -> tuple[list[ast.stmt], set[str]]:
        """One statement without jumps, and the flags that it may have raised."""
        if _is_jump(statement):
            return self.jump(statement)
        if isinstance(statement, _Loop):
            return self.loop(statement)
        if isinstance(statement, _Scopes):
            return [statement], set()
        raised: set[str] = set()
        if isinstance(statement, (ast.Try, ast.TryStar)):
            if any(_is_jump(part) for block in statement.finalbody for part in _of(block)):
                raise CannotLower
            statement.body, raised = self.block(statement.body)
            if statement.orelse:
                inner, more = self.block(statement.orelse)
                statement.orelse = [_unless(raised, inner, statement)] if raised else inner
                raised = raised | more
            for handler in statement.handlers:
                handler.body, more = self.block(handler.body)
                raised = raised | more
            statement.finalbody = self.block(statement.finalbody)[0]
            return [statement], raised
        side_leaves = any(map(leaves, _blocks(statement)))
        for block in _blocks(statement):
            if block:
                block[:], more = self.block(block)
                raised |= more
        statement.ag_jumps = bool(raised) and side_leaves  # type: ignore[attr-defined]
        return [statement], raised

    def jump(
        self, statement: ast.Return | ast.Break | ast.Continue
    ) -> tuple[list[ast.stmt], set[str]]:
        """The assignments that stand for a jump."""
        if isinstance(statement, ast.Return):
            if not self.returns:
                return [statement], set()
            value = statement.value or ast.Constant(None)
            return [
                nodes.assign(VALUE, value, statement),
                nodes.assign(DONE, ast.Constant(True), statement),
            ], {DONE}
        flag = self.around[-1][0 if isinstance(statement, ast.Break) else 1]
        return [nodes.assign(flag, ast.Constant(True), statement)], {flag}

    def loop(self, loop: _Loop) -> tuple[list[ast.stmt], set[str]]:
        """A loop whose body runs to its end, and which stops at a flag that is up."""
        if isinstance(loop, ast.While) and names.bindings([loop.test]).names:
            # The test sets names that the body reads, so it belongs into the body.
            refused = ast.UnaryOp(ast.Not(), loop.test)
            end = nodes.at(ast.Break(), loop.test)
            leave = nodes.at(ast.If(refused, [*loop.orelse, end], []), loop.test)
            always = nodes.at(ast.Constant(True), loop.test)
            loop.test, loop.body, loop.orelse = always, [leave, *loop.body], []
        self.count += 1
        stop, skip = f"hf__break_{self.count}", f"hf__continue_{self.count}"
        self.around.append((stop, skip))
        loop.body, raised = self.block(loop.body)
        self.around.pop()
        if skip in raised:
            loop.body.insert(0, nodes.assign(skip, ast.Constant(False), loop.body[0]))
        exits = raised - {skip}
        out: list[ast.stmt] = [loop]
        if stop in raised:
            out.insert(0, nodes.assign(stop, ast.Constant(False), loop))
        if isinstance(loop, ast.While):
            if exits:
                go_on = nodes.none_of(sorted(exits), loop.test)
                both = ast.BoolOp(ast.And(), [go_on, loop.test])
                loop.test = nodes.at(both, loop.test)
        else:
            loop.ag_exits = sorted(exits)  # type: ignore[attr-defined]
        left = exits - {stop}
        if loop.orelse:
            orelse, more = self.block(loop.orelse)
            out += [_unless(exits, orelse, loop)] if exits else orelse
            left |= more
            loop.orelse = []
        return out, left


def _of(statement: ast.stmt) -> list[ast.stmt]:
    """The statements whose jumps leave `statement`'s block: loops keep their own."""
    if isinstance(statement, _Loop):
        return [part for part in _within(statement) if isinstance(part, ast.Return)]
    if isinstance(statement, _Scopes):
        return []
    return [statement, *(part for block in _blocks(statement) for s in block for part in _of(s))]


def _unless(flags: set[str], body: list[ast.stmt], where: ast.stmt) -> ast.stmt:
    test = nodes.none_of(sorted(flags), where)
    made = nodes.at(ast.If(test, body, []), where)
    made.ag_jumps = True  # type: ignore[attr-defined]
    return made
