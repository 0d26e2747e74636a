"""`match` as `if`: patterns that compare the whole subject with values, or give it a name.

    match x:                        if x == 1:
        case 1: a()                     a()
        case 2 | 3: b()             elif x == 2 or x == 3:
        case n if n > 9: c()            b()
        case _: d()                 else:
                                        n = x
                                        if n > 9: ...

So a subject without a value decides as it does in an `if`. Patterns that take a subject apart stay
Python's.
"""

from __future__ import annotations

import ast
import copy

from . import nodes

__all__ = ["plain_matches"]


def plain_matches(function: ast.FunctionDef) -> None:
    """Rewrites such statements of a function in place."""
    rewriting = _Matches()
    function.body = rewriting.block(function.body)


class _Matches(ast.NodeTransformer):
    def __init__(self) -> None:
        self.count = 0

    def block(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for statement in statements:
            new = self.visit(statement)
            out += new if isinstance(new, list) else [new]
        return out

    def _function(self, node: ast.stmt) -> ast.stmt:
        return node  # rewritten when its turn comes

    visit_FunctionDef = visit_AsyncFunctionDef = visit_ClassDef = _function

    def visit_Match(self, node: ast.Match) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        subject = node.subject
        before: list[ast.stmt] = []
        if not isinstance(subject, ast.Name):
            name = f"hf__subject_{self.count}"
            self.count += 1
            before = [nodes.assign(name, subject, node)]
            subject = nodes.at(nodes.load(name), node.subject)
        rest: list[ast.stmt] = []
        for case in reversed(node.cases):
            made = _case(case, subject, rest)
            if made is None:
                return node
            rest = made
        return [*before, *rest]


def _case(case: ast.match_case, subject: ast.expr, rest: list[ast.stmt]) -> list[ast.stmt] | None:
    """One case, and `rest` where it is not taken; None where no `if` says the same."""
    pattern: ast.pattern | None = case.pattern
    named: list[ast.stmt] = []
    while isinstance(pattern, ast.MatchAs):
        if pattern.name is not None:
            named.append(nodes.assign(pattern.name, copy.deepcopy(subject), case.pattern))
        pattern = pattern.pattern
    if pattern is None:  # it takes everything
        if case.guard is None:
            return [*named, *case.body]
        return [*named, _if(case.guard, case.body, rest)]
    test = _test(pattern, subject)
    if test is None or (named and case.guard is not None):  # which reads the names
        return None
    if case.guard is not None:
        test = nodes.at(ast.BoolOp(ast.And(), [test, case.guard]), case.pattern)
    return [_if(test, [*named, *case.body], rest)]


def _if(test: ast.expr, body: list[ast.stmt], rest: list[ast.stmt]) -> ast.stmt:
    made = ast.copy_location(ast.If(test, body, rest), test)
    made.end_lineno, made.end_col_offset = body[-1].end_lineno, body[-1].end_col_offset
    return made


def _test(pattern: ast.pattern, subject: ast.expr) -> ast.expr | None:
    """What asks whether the subject is as a pattern says."""
    match pattern:
        case ast.MatchValue(value=value):
            same = ast.Compare(copy.deepcopy(subject), [ast.Eq()], [value])
        case ast.MatchSingleton(value=constant):
            same = ast.Compare(
                copy.deepcopy(subject), [ast.Is()], [nodes.at(ast.Constant(constant), pattern)]
            )
        case ast.MatchOr(patterns=patterns):
            tests = [_test(each, subject) for each in patterns]
            known = [each for each in tests if each is not None]
            if len(known) < len(tests):
                return None
            return nodes.at(ast.BoolOp(ast.Or(), known), pattern)
        case _:
            return None
    return nodes.at(same, pattern)
