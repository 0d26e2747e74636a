"""Variables belong to the strategy in whose scope they are made, and change only under it."""

from __future__ import annotations

import ast
from typing import Any, NoReturn

from .. import _holdfast
from .._messages.diagnostics import Mark, born_loc
from .._messages.source import enclosing
from .._messages.visible import visible_name
from .._variables import strategies
from ..errors import fail, used_here
from .contexts import default_strategy, entry_in_force, refuse_together

__all__ = ["watch_variables"]

_watching = False


def watch_variables() -> None:
    """From the first strategy on, whoever makes or changes a variable is asked for its strategy."""
    global _watching
    if not _watching:
        _watching = True
        _holdfast.watch_variables(strategies.note_owner, _check_owner)
        _holdfast.set_replica_check(_need_one_replica)


def _need_one_replica(what: str) -> None:
    """Refuses what would need the values of other replicas."""
    now = entry_in_force()  # a trace that asks serves under this strategy alone
    if now is not None and now.replica is not None and now.strategy.num_replicas_in_sync > 1:
        refuse_together(what, now.strategy)


def _check_owner(variable: Any) -> None:
    owner = strategies.owner_of(variable)
    if owner is None or not owner.strategy._keeps_copies:
        return
    now = entry_in_force()  # a trace that changes it serves under this strategy alone
    if now is None or now.strategy is default_strategy():
        return
    if now.strategy is not owner.strategy:
        _refuse(variable, owner, now)
    if now.replica is not None and now.strategy.num_replicas_in_sync > 1:
        refuse_together(f"a change of `{_name(variable)}` by each replica", now.strategy)


def _refuse(variable: Any, owner: strategies.Entry, now: strategies.Entry) -> NoReturn:
    name = _name(variable)
    mine, other = _words(owner), _words(now)
    labels = used_here(f"changed here, under {other}")
    born = born_loc(variable)
    if born is not None:
        text = f"`{name}` born here, a Variable of {mine}"
        labels.append({"role": "born", "loc": born, "text": text, "primary": False})
    texts = f"variables that are made in here belong to {mine}", f"{other} is in force from here"
    for entry, text in zip((owner, now), texts, strict=True):
        if entry.at is not None:
            loc = entry.at.loc()
            labels.append({"role": "placed", "loc": loc, "text": text, "primary": False})
    scopes = [_scope(owner, "its own strategy's"), _scope(now, "the other's")]
    fail(
        "E0704",
        f"`{name}` belongs to {mine}, and is changed under {other}",
        "a strategy keeps the copies of its own variables equal, and knows nothing of another's",
        fix=f"change `{name}` under {scopes[0]}, or make it under {scopes[1]}",
        labels=labels,
    )


def _name(variable: Any) -> str:
    return visible_name(lambda value: value is variable) or str(variable._full_name)


def _words(entry: strategies.Entry) -> str:
    name = _strategy_name(entry)
    return f"`{name}`" if name else str(entry.strategy._described())


def _scope(entry: strategies.Entry, otherwise: str) -> str:
    name = _strategy_name(entry)
    return f"`{name}.scope()`" if name else f"{otherwise} `scope()`"


def _strategy_name(entry: strategies.Entry) -> str:
    """What the line that uses a variable calls a strategy; else the one that put it in force."""
    name = visible_name(lambda value: value is entry.strategy)
    return name or ("" if entry.at is None else _written(entry.at))


def _written(at: Mark) -> str:
    """`first` of `with first.scope():` and of `first.run(...)`."""
    for node in reversed(enclosing(at.code, at.lasti)):
        items = node.items if isinstance(node, (ast.With, ast.AsyncWith)) else []
        for call in (node, *(item.context_expr for item in items)):
            asked = call.func if isinstance(call, ast.Call) else None
            if isinstance(asked, ast.Attribute) and asked.attr in ("scope", "run"):
                return ast.unparse(asked.value)
    return ""
