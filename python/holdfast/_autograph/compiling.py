"""From a function to its converted code: rewritten, compiled under the user's own file and lines.

The hooks and the sites of staged statements are constants of the code, put in after compiling. So
converted code has the free variables of the original, in the same order: it takes the same closure,
and can even stand in for the original in an existing function.
"""

from __future__ import annotations

import ast
import copy
import inspect
import types
from typing import Any, NamedTuple

from . import nodes
from .expressions import Expressions, Scope
from .finding import Found, find
from .identity import ByIdentity
from .sites import Site
from .statements import rewrite

__all__ = ["Converted", "compile_converted", "is_block", "is_converted"]

_FUTURES = 0x1000000 | 0x0800000 | 0x0400000 | 0x0200000 | 0x0100000 | 0x0080000
_MARK = "\0holdfast "


class Converted(NamedTuple):
    """What a code object became."""

    code: types.CodeType
    source: str


class _Marks(ast.NodeTransformer):
    """Names of ours as marked constants, which become the objects themselves."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id == nodes.HOOKS or node.id.startswith("hf__site_"):
            return ast.copy_location(ast.Constant(_MARK + node.id), node)
        return node


_NOT_PRIVATE = (ast.ClassDef, ast.alias, ast.keyword)


class _Private(ast.NodeTransformer):
    """Private names as the class around them spells them: the class is not compiled with us."""

    def __init__(self, class_name: str) -> None:
        self.prefix = "_" + class_name.lstrip("_")

    def spell(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return self.prefix + name if private else name

    def visit(self, node: ast.AST) -> Any:
        for field in ("id", "attr", "arg", "name", "asname"):
            value = getattr(node, field, None)
            if isinstance(value, str) and not isinstance(node, _NOT_PRIVATE):
                setattr(node, field, self.spell(value))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [self.spell(name) for name in node.names]
        if isinstance(node, ast.ClassDef):
            return node  # it spells its own
        return self.generic_visit(node)


_ours: ByIdentity[bool] = ByIdentity()  # the code objects made here
_blocks: ByIdentity[bool] = ByIdentity()  # those of them that are pieces of a function


def is_converted(code: types.CodeType) -> bool:
    """Whether `code` is ours."""
    return code in _ours


def is_block(code: types.CodeType) -> bool:
    """Whether `code` is a piece of a converted function, which runs as a function of its own."""
    return code in _blocks


def compile_converted(code: types.CodeType, space: dict[str, Any], hooks: Any) -> Converted | None:
    """The converted form of `code`, whose globals are `space`; None if its source is not known."""
    found = find(code, space)
    if found is None:
        return None
    made: list[Site] = []
    node = _rewritten(found, code, space, made)
    source = ast.unparse(node).replace("lambda *hf__: ", "lambda: ")
    objects = {_MARK + nodes.HOOKS: hooks}
    objects |= {f"{_MARK}hf__site_{i}": site for i, site in enumerate(made)}
    inner = _compile(_Marks().visit(node), code)
    return Converted(_finish(inner, code.co_qualname, code.co_name, objects), source)


def _rewritten(
    found: Found, code: types.CodeType, space: dict[str, Any], made: list[Site]
) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda:
    node = copy.deepcopy(found.node)
    if found.class_name:
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        private = _Private(found.class_name)
        private.visit(node.args)
        for part in body:
            private.visit(part)
    outer = frozenset(code.co_freevars)
    node.args.defaults = []
    node.args.kw_defaults = [None] * len(node.args.kw_defaults)
    scope = Scope(node, None, outer, space)
    if isinstance(node, ast.Lambda):
        node.body = Expressions(scope).visit(node.body)
        return node
    node.decorator_list, node.returns = [], None
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    if isinstance(node, ast.FunctionDef):
        rewrite(node, scope, code.co_filename, code.co_qualname, made)
    return node


def _compile(node: Any, code: types.CodeType) -> types.CodeType:
    """The code of `node`, compiled inside a function that owns its free variables."""
    if not isinstance(node, ast.Lambda):
        node.name = "hf__function"  # its own name is the module's, or a free variable
    inside: list[ast.stmt] = [ast.Return(node) if isinstance(node, ast.Lambda) else node]
    if code.co_freevars:
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in code.co_freevars]
        inside.insert(0, ast.Assign(targets, ast.Constant(None)))
    factory = nodes.at(ast.FunctionDef("hf__factory", nodes.nothing(), inside, []), node)
    tree = ast.fix_missing_locations(ast.Module([factory], []))
    flags = code.co_flags & _FUTURES
    module = compile(tree, code.co_filename, "exec", flags, dont_inherit=True)
    return _inner(_inner(module))


def _inner(code: types.CodeType) -> types.CodeType:
    return next(part for part in code.co_consts if isinstance(part, types.CodeType))


def _finish(
    code: types.CodeType, qualname: str, name: str, objects: dict[str, Any], ours: bool = True
) -> types.CodeType:
    """`code` under its user's name, with `objects` for the marks in it and in what it holds.

    The methods of a class in it are as the user wrote them, and not `ours`.
    """
    ours = ours and bool(code.co_flags & inspect.CO_OPTIMIZED)
    consts: list[Any] = []
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            if _is_block(part):
                part = _finish(part, qualname, name, objects, ours)
                _blocks[part] = True
            else:
                inner = qualname + part.co_qualname[len(code.co_qualname) :]
                part = _finish(part, inner, part.co_name, objects, ours)
        elif isinstance(part, str):
            # A class's body holds its own long name.
            part = qualname if part == code.co_qualname else objects.get(part, part)
        consts.append(part)
    new = code.replace(co_consts=tuple(consts), co_qualname=qualname, co_name=name)
    if ours:
        _ours[new] = True
    return new


def _is_block(code: types.CodeType) -> bool:
    """Whether `code` is a piece of the function around it, made a function by us."""
    stars = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount + stars]
    return code.co_name.startswith("hf__") or any(each.startswith("hf__") for each in arguments)
