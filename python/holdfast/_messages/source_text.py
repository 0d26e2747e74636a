"""The text of the user's files, read as tracebacks read it, and parsed."""

from __future__ import annotations

import ast
import linecache
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

__all__ = [
    "PerFile",
    "deletions_of",
    "function_at",
    "last_set",
    "line_at",
    "lines_of",
    "parse",
    "tree_of",
    "widened",
]

_REMEMBERED = 64  # files


def lines_of(filename: str, space: dict[str, Any] | None = None) -> list[str]:
    """The lines as tracebacks see them: fresh from disk, from a notebook, or none.

    `space` is the globals of a module, through which archives hand out their sources. Modules that
    are part of Python's program have them in a file all the same.
    """
    if space is not None and filename.startswith("<frozen "):
        filename = space.get("__file__") or filename
    try:
        linecache.checkcache(filename)
        return linecache.getlines(filename, space)
    except (OSError, ValueError):  # a name that no file can have
        return []


def line_at(filename: str, line: int | None) -> str:
    """One line without its end; "" if there is none of that number."""
    lines = lines_of(filename)
    return lines[line - 1].rstrip("\r\n") if line and 0 < line <= len(lines) else ""


def parse(source: str) -> ast.Module | None:
    """The syntax tree of a whole file; None if it has none."""
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT  # notebooks may await in a cell
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = compile(source, "<source>", "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return tree if isinstance(tree, ast.Module) else None


def tree_of(filename: str) -> ast.Module | None:
    """The syntax tree of a file as it is now."""
    return parse("".join(lines_of(filename)))


def function_at(tree: ast.Module, line: int) -> ast.FunctionDef | None:
    """The innermost function that a line is in."""
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return found[-1] if found else None


def last_set(home: ast.FunctionDef, name: str, before: int) -> ast.expr | None:
    """What the last assignment to a name before a line gives it."""
    found = [
        node
        for node in ast.walk(home)
        if isinstance(node, ast.Assign)
        and node.lineno < before
        and any(isinstance(each, ast.Name) and each.id == name for each in node.targets)
    ]
    return max(found, key=lambda node: node.lineno).value if found else None


def deletions_of(
    name: str, filename: str, blocks: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, int]]:
    """Where blocks of a file, each from a line to a line, delete a name: line and columns."""
    tree = tree_of(filename)
    for node in ast.walk(tree) if tree is not None else ():
        if not isinstance(node, ast.Delete):
            continue
        names = [each.id for each in node.targets if isinstance(each, ast.Name)]
        if name in names and any(first <= node.lineno <= last for first, last in blocks):
            yield node.lineno, node.col_offset, node.end_col_offset or -1


def widened(edit: Mapping[str, Any]) -> dict[str, Any]:
    """An edit whose `old` stands first where it is meant, for readers who do not go by columns."""
    file, number, col, old, new = (edit[key] for key in ("file", "line", "col", "old", "new"))
    line = line_at(file, number).encode()
    if old and line[col:].startswith(old.encode()) and line.find(old.encode()) != col:
        head = line[:col].decode()
        col, old, new = 0, head + old, head + new
    return {"file": file, "line": number, "col": col, "old": old, "new": new}


class _OfLines(Protocol):
    lines: list[str]


_T = TypeVar("_T", bound=_OfLines)


class PerFile(Generic[_T]):
    """What was made of the lines of files: remembered for a while, and made anew if they change."""

    def __init__(self, make: Callable[[list[str]], _T]) -> None:
        self._make = make
        self._known: dict[str, _T] = {}

    def get(self, filename: str, space: dict[str, Any] | None = None) -> _T:
        """What is made of the lines of a file."""
        lines = lines_of(filename, space)
        known = self._known.get(filename)
        if known is None or known.lines != lines:
            while len(self._known) >= _REMEMBERED:
                self._known.pop(next(iter(self._known)), None)
            known = self._known[filename] = self._make(list(lines))
        return known
