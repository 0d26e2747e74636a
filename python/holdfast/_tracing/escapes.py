"""What left a trace: who holds it, and which containers grew where nobody wrote it down."""

from __future__ import annotations

import ast
import dis
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from .._messages.diagnostics import Mark, born_loc, mark, module_alias
from .._messages.listed import key_text
from .._messages.provenance import type_text
from .._messages.rebinding import statement_loc
from .._messages.source_text import tree_of
from .._messages.user_code import is_user_code
from .._tensors.symbols import is_symbol
from ..errors import fail, used_here
from .locations import holds_symbol, leaves

__all__ = ["Containers", "held_as"]

_DEPTH = 3  # attributes and items that are looked through
_LOOKED_AT = 20_000  # values, after which a search ends
_FILLS = ("add", "append", "appendleft", "extend", "extendleft", "insert", "update")

Named = tuple[str, Any]


def _roots(function: Callable[..., Any]) -> Iterator[Named]:
    """What a function can reach by name: its object, its closure, the globals that it speaks of."""
    plain = getattr(function, "__func__", function)
    code = getattr(plain, "__code__", None)
    if code is None:
        return
    owner = getattr(function, "__self__", None)
    if owner is not None:
        yield code.co_varnames[0] if code.co_varnames else "self", owner
    for name, cell in zip(code.co_freevars, plain.__closure__ or (), strict=False):
        if cell != types.CellType():  # an empty one has no contents yet
            yield name, cell.cell_contents
    for name in dict.fromkeys(_global_names(code)):
        if name in plain.__globals__:
            yield name, plain.__globals__[name]


def _global_names(code: types.CodeType) -> Iterator[str]:
    """The names that are no variables of a function, nor of those that it makes."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _global_names(part)


def _parts(name: str, value: Any) -> Iterator[Named]:
    if isinstance(value, (types.FunctionType, types.MethodType)):
        if is_user_code(value.__code__):
            yield from _roots(value)
    elif isinstance(value, dict):
        for key, part in list(value.items()):
            if isinstance(key, (str, int)):
                yield f"{name}[{key_text(key)}]", part
    elif isinstance(value, (list, tuple, deque)):
        yield from ((f"{name}[{i}]", part) for i, part in enumerate(list(value)))
    elif isinstance(value, type):
        if value.__module__.partition(".")[0] not in ("builtins", "holdfast"):
            for key, part in list(vars(value).items()):
                if not key.startswith("__") and not hasattr(type(part), "__get__"):
                    yield f"{name}.{key}", part
    elif not isinstance(value, (types.ModuleType, types.FunctionType)):
        space = getattr(value, "__dict__", None)
        if isinstance(space, dict) and type(value).__module__.partition(".")[0] != "holdfast":
            for key, part in list(space.items()):
                if isinstance(key, str):
                    yield f"{name}.{key}", part


def _reachable(function: Callable[..., Any]) -> Iterator[Named]:
    """Everything within reach, the nearest first, each object once."""
    left, seen = deque((named, 0) for named in _roots(function)), set[int]()
    while left and len(seen) < _LOOKED_AT:
        (name, value), depth = left.popleft()
        if id(value) in seen:
            continue
        seen.add(id(value))
        yield name, value
        if depth < _DEPTH:
            left.extend((part, depth + 1) for part in _parts(name, value))


def held_as(thing: Any, function: Callable[..., Any]) -> str:
    """How code of `function` could reach `thing`: `kept[0]`, `self.total`; "" if it can't."""
    return next((name for name, value in _reachable(function) if value is thing), "")


class Containers:
    """The containers within reach of a function that is traced as it was written.

    Converted code writes down what it appends; code that is not converted does not, and its appends
    would happen at the first call only.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        found = list(_reachable(function))
        self._codes = list(_codes([function, *(value for _, value in found)]))
        self._known = [
            (name, value, len(value))
            for name, value in found
            if isinstance(value, (list, set, deque))  # a dict gets the same key again
        ]
        self._objects = [
            (name, value, dict(vars(value)))
            for name, value in found
            if isinstance(getattr(value, "__dict__", None), dict)
            and not isinstance(value, (type, types.ModuleType))
        ]

    def check(self, function: str) -> None:
        """Refuses the trace if one of them grew by a symbol, or if it reads state that it sets."""
        for name, owner, before in self._objects:
            for attribute, value in list(vars(owner).items()):
                found = self._state(attribute) if holds_symbol(value) else None
                if found is not None:
                    owner.__dict__.pop(attribute)  # the call does not happen
                    owner.__dict__.update(before)
                    _refuse_state(f"{name}.{attribute}", *found, function)
        for name, container, length in self._known:
            items = list(container)
            added = [item for item in items if holds_symbol(item)]
            if len(items) > length and added:
                symbol = next(filter(is_symbol, leaves(added[-1])))
                _take_out(container, added)
                _refuse(name, symbol, function, self._filled(name, symbol))

    def _filled(self, name: str, symbol: Any) -> dict[str, Any] | None:
        """The call that put a symbol into a container; None where the source does not tell."""
        born, found = born_loc(symbol), []
        for file in dict.fromkeys(code.co_filename for code in self._codes):
            tree = tree_of(file)
            for node in ast.walk(tree) if tree is not None else ():
                match node:
                    case ast.Call(func=ast.Attribute(value=holder, attr=attr)) if attr in _FILLS:
                        if ast.unparse(holder) == name.replace('"', "'"):
                            found.append(statement_loc(node, file))
        lines = [each["line"] for each in found]
        if born is not None and born["line"] in lines:
            return born  # the place of the very value, in that call
        return found[0] if len(found) == 1 else born

    def _state(self, attribute: str) -> tuple[Mark, Mark] | None:
        """Where the code reads an attribute before it stores it, and where it stores it."""
        for code in self._codes:
            if attribute not in code.co_names:
                continue
            steps = [step for step in dis.get_instructions(code) if step.argval == attribute]
            read = next((step.offset for step in steps if step.opname.startswith("LOAD")), None)
            stored = next((step.offset for step in steps if step.opname.startswith("STORE")), None)
            if read is not None and stored is not None and read < stored:
                return Mark(code, read), Mark(code, stored)
        return None


def _codes(things: Iterable[Any]) -> Iterator[types.CodeType]:
    """The code of functions, and of the methods of objects, each once and only the user's."""
    seen: set[int] = set()
    for thing in things:
        plain = getattr(thing, "__func__", thing)
        methods = [] if isinstance(thing, type) else list(vars(type(thing)).values())
        for each in (plain, *methods):
            code = each.__code__ if isinstance(each, types.FunctionType) else None
            if code is not None and id(code) not in seen and is_user_code(code):
                seen.add(id(code))
                yield code


def _label(role: str, loc: dict[str, Any], text: str, primary: bool) -> dict[str, Any]:
    return {"role": role, "loc": loc, "text": text, "primary": primary}


def _refuse_state(name: str, read: Mark, stored: Mark, function: str) -> NoReturn:
    tf = module_alias()
    fail(
        "E0106",
        f"`{name}` is state: `{function}` reads what an earlier call of it stored",
        f"`{function}` is not converted, so its trace keeps what line {read.loc()['line']} read "
        "while tracing; later calls would not see the new value",
        fix=f"keep it in a Variable: `{name} = {tf}.Variable(...)` once, then `{name}.assign(...)` "
        "at each call",
        labels=[
            _label("first_use", read.loc(), "read here, once, while tracing", True),
            _label("stored", stored.loc(), "stored here, for the next call", False),
        ],
        subject={"name": name, "owner": {"kind": "function", "name": function}},
    )


def _take_out(container: Any, added: list[Any]) -> None:
    """The call does not happen: what it put there goes."""
    gone = {id(each) for each in added}
    if isinstance(container, set):
        container.difference_update([item for item in container if id(item) in gone])
    else:
        kept = [item for item in container if id(item) not in gone]
        container.clear()
        container.extend(kept)


def _refuse(name: str, symbol: Any, function: str, filled: dict[str, Any] | None) -> NoReturn:
    born = born_loc(symbol)
    text = f"put into `{name}` here, while tracing"
    labels = [_label("stored", filled, text, True)] if filled else []
    if born is not None and filled is not None and born["line"] != filled["line"]:
        labels.append(_label("born", born, f"born here: {type_text(symbol)}", False))
    here = mark()
    if here is not None:
        traced = {"role": "closed", "primary": not labels}
        labels += [label | traced for label in used_here("traced here")]
    fail(
        "E0102",
        f"`{name}` grew while `{function}` was traced, and later calls could not repeat it",
        f"`{function}` is not converted (`autograph=False`, or its source is not there), so "
        f"nothing knows how `{name}` grew; it would grow at the first call and at no other",
        fix=f"`return` the value from `{function}`, and add it to `{name}` where you call it",
        labels=labels,
    )
