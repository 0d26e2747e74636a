"""A value that a traced function returns and can't hand out: the message points at the `return`."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, NoReturn

from .. import _holdfast
from .._structures import nesting
from .diagnostics import born_loc
from .rebinding import statement_loc
from .source_text import tree_of

__all__ = ["loc_of_return", "raise_at_return"]

_LONGEST = 48  # an expression that names a value


def raise_at_return(error: Any, function: Callable[..., Any], result: Any, writer: Any) -> NoReturn:
    """Raises an error about a value in `result` again, used where `function` returns it.

    `writer` writes the graph that can't have the value.
    """
    said = dict(error._said)
    born = said["subject"]["born"]
    leaves = [
        leaf
        for leaf in nesting.flatten(result)
        if isinstance(leaf, _holdfast.Tensor) and born_loc(leaf) == born
    ]
    found = _returned(function) if leaves else None
    if found is None:
        raise error
    value, filename = found
    if isinstance(value, ast.Tuple) and isinstance(result, tuple):
        for part, given in zip(value.elts, result, strict=False):
            if given is leaves[0]:
                value = part
    words = ast.unparse(value)
    alone = value is not found[0] or result is leaves[0]
    if alone and len(words) <= _LONGEST:
        said = writer.refusal(leaves[0], words) or said
    returned = {"loc": statement_loc(value, filename), "text": "returned here"}
    said["labels"] = [
        label | returned if label["primary"] else dict(label) for label in said["labels"]
    ]
    _holdfast.raise_diagnostic(said)
    raise AssertionError("raise_diagnostic returned")


def loc_of_return(function: Callable[..., Any]) -> Any:
    """Where the only `return` of a function is; None if there are several."""
    found = _returned(function)
    return None if found is None else statement_loc(*found)


def _returned(function: Callable[..., Any]) -> tuple[ast.expr, str] | None:
    """What the only `return` of a function hands out, and its file; None if there are several."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    tree = None if code is None else tree_of(code.co_filename)
    if code is None or tree is None:
        return None
    defined = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.Lambda))
        and getattr(node, "name", "<lambda>") == code.co_name
        and code.co_firstlineno in (node.lineno, *(d.lineno for d in _decorators(node)))
    ]
    if len(defined) != 1:
        return None
    if isinstance(defined[0], ast.Lambda):
        return defined[0].body, code.co_filename
    values = [each.value for each in _returns(defined[0].body) if each.value is not None]
    return (values[0], code.co_filename) if len(values) == 1 else None


def _decorators(node: ast.FunctionDef | ast.Lambda) -> list[ast.expr]:
    return node.decorator_list if isinstance(node, ast.FunctionDef) else []


def _returns(body: list[ast.stmt]) -> list[ast.Return]:
    """The `return` statements of a function's own, not of those inside it."""
    found: list[ast.Return] = []
    left: list[ast.AST] = list(body)
    while left:
        node = left.pop()
        if isinstance(node, ast.Return):
            found.append(node)
        elif not isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
        ):
            left.extend(ast.iter_child_nodes(node))
    return found
