"""The syntax tree of a function that exists: its file is read as tracebacks read it, and parsed.

A code object knows its file, its first line and its name. Several functions may begin on one line,
most often lambdas; then the columns of the instructions decide. What stays uncertain is not found.
"""

from __future__ import annotations

import ast
import itertools
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from .._messages.source_text import PerFile, parse

__all__ = ["Found", "FunctionNode", "find"]

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Found(NamedTuple):
    """A function as it was written."""

    node: FunctionNode
    class_name: str  # of the class whose private names it may use; "" outside of classes


class _Tree:
    """One parsed file: its functions by the line that their code objects begin on."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.functions: dict[int, list[Found]] = {}
        tree = parse("".join(lines))
        if tree is not None:
            self._gather(tree, "")

    def _gather(self, node: ast.AST, class_name: str) -> None:
        if isinstance(node, FunctionNode):
            decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
            first = decorators[0].lineno if decorators else node.lineno
            self.functions.setdefault(first, []).append(Found(node, class_name))
        elif isinstance(node, ast.ClassDef):
            class_name = node.name
        for child in ast.iter_child_nodes(node):
            self._gather(child, class_name)


_trees = PerFile(_Tree)


def find(code: types.CodeType, space: dict[str, Any] | None = None) -> Found | None:
    """Where `code` was written; None without source, or where two functions cannot be told apart.

    `space` is the globals of the function, through which archives hand out their sources.
    """
    candidates = [
        found
        for found in _trees.get(code.co_filename, space).functions.get(code.co_firstlineno, [])
        if _name(found.node) == code.co_name and _fits(code, found)
    ]
    if len(candidates) > 1:
        candidates = _closest(code, candidates)
    return candidates[0] if len(candidates) == 1 else None


def _name(node: FunctionNode) -> str:
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _fits(code: types.CodeType, found: Found) -> bool:
    """Whether arguments and lines are those of the code: a file may have changed since."""
    node = found.node
    named = code.co_argcount + code.co_kwonlyargcount
    stars = bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    arguments = list(argument_names(node.args))
    if len(arguments) != named + stars:
        return False
    for typed, real in zip(arguments, code.co_varnames, strict=False):
        if typed != real and not (typed.startswith("__") and real.endswith(typed)):
            return False
    last = node.end_lineno or node.lineno
    return all(
        line is None or code.co_firstlineno <= line <= last for _, _, line in code.co_lines()
    )


def argument_names(arguments: ast.arguments) -> Iterator[str]:
    """The names of all parameters, in the order in which code objects list them."""
    for argument in itertools.chain(arguments.posonlyargs, arguments.args, arguments.kwonlyargs):
        yield argument.arg
    for star in (arguments.vararg, arguments.kwarg):
        if star is not None:
            yield star.arg


def _closest(code: types.CodeType, candidates: list[Found]) -> list[Found]:
    """The smallest of the candidates that contain every instruction."""
    locations = [
        ((line, col), (end_line, end_col))
        for line, end_line, col, end_col in code.co_positions()
        if line is not None and end_line is not None and col is not None and end_col
    ]
    if not locations:
        return []
    begin = min(location[0] for location in locations)
    end = max(location[1] for location in locations)
    around = []
    for found in candidates:
        inside = _inside(found.node)
        if inside is not None and inside[0] <= begin and end <= inside[1]:
            around.append((inside, found))
    around.sort(key=lambda each: each[0][0], reverse=True)
    # Functions nest: of those that contain the instructions, the one that begins last is inside
    # all others. One line cannot hold the same function twice.
    return [around[0][1]] if around else []


def _inside(node: FunctionNode) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Where the body of a function begins and ends."""
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    first, last = body[0], body[-1]
    if last.end_lineno is None or last.end_col_offset is None:
        return None
    return (first.lineno, first.col_offset), (last.end_lineno, last.end_col_offset)
