"""Small pieces of syntax tree, made at a place of the user's own."""

from __future__ import annotations

import ast
from typing import TypeVar

__all__ = ["assign", "at", "call", "hook", "lambda_", "load", "none_of", "nothing", "point", "text"]

HOOKS = "hf__"

_Node = TypeVar("_Node", bound=ast.AST)


def at(node: _Node, where: ast.AST) -> _Node:
    """`node`, and what was made with it, at the place of `where`."""
    if not hasattr(node, "lineno"):
        location = {
            key: getattr(where, key)
            for key in ("lineno", "col_offset", "end_lineno", "end_col_offset")
            if hasattr(where, key)
        }
        for part in _new(node):
            for key, value in location.items():
                setattr(part, key, value)
    return node


def _new(node: ast.AST) -> list[ast.AST]:
    """`node` and the nodes below it that have no place yet."""
    found = [node] if "lineno" in node._attributes else []
    for child in ast.iter_child_nodes(node):
        if not hasattr(child, "lineno"):
            found += _new(child)
    return found


def point(node: _Node, where: ast.AST) -> _Node:
    """`node` at the first character of `where`.

    The compiler moves a call of a method that spans lines to the line of the method's name; one
    without an extent stays where it is.
    """
    line, col = getattr(where, "lineno", 1), getattr(where, "col_offset", 0)
    for part in _new(node):
        part.lineno = part.end_lineno = line  # type: ignore[attr-defined]
        part.col_offset = part.end_col_offset = col  # type: ignore[attr-defined]
    return node


def load(name: str) -> ast.Name:
    """The value of a name."""
    return ast.Name(name, ast.Load())


def text(value: str | int) -> ast.Constant:
    """A literal."""
    return ast.Constant(value)


def assign(name: str, value: ast.expr, where: ast.AST) -> ast.Assign:
    """`name = value`."""
    return at(ast.Assign([ast.Name(name, ast.Store())], value), where)


def none_of(flags: list[str], where: ast.AST) -> ast.expr:
    """`not (a or b)`."""
    names: list[ast.expr] = [load(flag) for flag in flags]
    either = names[0] if len(names) == 1 else ast.BoolOp(ast.Or(), names)
    return at(ast.UnaryOp(ast.Not(), either), where)


def hook(name: str, where: ast.AST) -> ast.expr:
    """The hook of that name."""
    return point(ast.Attribute(load(HOOKS), name, ast.Load()), where)


def call(name: str, arguments: list[ast.expr], where: ast.AST) -> ast.Call:
    """A call of the hook of that name."""
    return at(ast.Call(hook(name, where), arguments, []), where)


def nothing() -> ast.arguments:
    """No parameters."""
    return ast.arguments(
        posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[], vararg=None, kwarg=None
    )


def lambda_(body: ast.expr) -> ast.Lambda:
    """A function that gives `body`. Its parameter takes nothing; it tells ours from the user's."""
    arguments = nothing()
    arguments.vararg = ast.arg(HOOKS)
    made = ast.copy_location(ast.Lambda(arguments, body), body)
    return point(made, body)
