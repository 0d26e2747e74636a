"""What only some path through staged code put into a container or an object: who asks is told.

Whether a staged branch or a loop's body runs is known when the graph does. Names remember that they
may be unset; a dict, a list, a set or an object that the trace made has no way to, so questions
that need to know are refused: how long it is, what is in it, what a function gives that holds it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from .. import _holdfast
from .._messages.diagnostics import module_alias
from .._messages.visible import visible_name
from .._tensors.symbols import is_symbol
from ..errors import fail, used_here
from .journal import (
    Change,
    Growth,
    Journal,
    Set,
    changes_of,
    chosen,
    conditional,
    conditional_at,
    conditional_beside,
    stale,
)
from .locations import MISSING, AttributeLocation, ItemLocation, Location, item_of, leaves
from .made_objects import attributes_of
from .moved import parts_of
from .substituted_code import substitutions

__all__ = [
    "LIST_ADDS",
    "LIST_TAKES",
    "is_same",
    "refuse_copied",
    "refuse_grown",
    "refuse_held",
    "refuse_item",
    "refuse_length",
    "refuse_presence",
    "refuse_read",
    "refuse_stale",
    "refuse_walk",
    "stage_held",
]


# What a list of the graph does in place of a Python list whose length a branch decides.
LIST_ADDS = frozenset({"append", "extend", "insert"})
LIST_TAKES = frozenset({"pop", "remove", "clear", "__delitem__"})


def _is_new(change: Change) -> bool:
    """Whether it makes a container larger or smaller."""
    return isinstance(change, Growth) or change.old is MISSING


def _asks_itself(change: Change) -> bool:
    """Whether what it put there stops the program where it was not set."""
    return isinstance(change, Set) and change.checked


def _are_two(change: Change) -> bool:
    """Whether both sides of a branch set a place, to values that do not go together."""
    return isinstance(change, Set) and change.both is not None


def refuse_length(container: Any) -> None:
    """How much a container holds must not depend on the way the graph goes."""
    for change in conditional(container):
        if _is_new(change):
            _refuse(change, "how much there is, is asked here")


def refuse_walk(container: Any) -> None:
    """Nor what is walked through, or handed to code that may do so."""
    for change in conditional(container):
        if _asks_itself(change):
            continue
        if _is_new(change) or _are_two(change) or not _says_so(change.inside):
            _refuse(change, "all of it is read here")


def _says_so(value: Any) -> bool:
    """Whether a value holds a symbol of a branch, which says so itself when it is used."""
    symbols = [leaf for leaf in leaves(value) if is_symbol(leaf)]
    return any(not _holdfast.scope_of(leaf)["open"] for leaf in symbols)


def refuse_item(container: Any, item: Any) -> None:
    """Nor one item, where a method may have put another there.

    What a function given to `tf.cond` made says so itself, when it is used.
    """
    for change in changes_of(container):
        if not isinstance(change, Growth) or not _reaches(change, container, item):
            continue
        by_hand = change.site is not None and change.site.sides
        symbols = [leaf for leaf in leaves(item_of(container, item)) if is_symbol(leaf)]
        if not by_hand or all(_holdfast.scope_of(leaf)["open"] for leaf in symbols):
            _refuse(change, "it is read here")


def _reaches(change: Growth, container: Any, item: Any) -> bool:
    """Whether a method that may have been called has to do with an item."""
    if isinstance(container, dict):
        known = change.method in ("update", "setdefault", "pop", "__setitem__", "__delitem__")
        keys = change.value[0] if change.method == "update" and change.value else change.value[:1]
        return not known or item in keys
    adds = change.method in ("append", "extend")
    return not (adds and isinstance(item, int) and 0 <= item < change.size)


def refuse_presence(container: Any, key: tuple[Any, ...] | None) -> None:
    """Nor whether something is in it: the place with this key, or any element."""
    for change in conditional(container):
        if isinstance(change, Growth) or (change.old is MISSING and key == change.location.key):
            _refuse(change, "whether it is there, is asked here")


def refuse_read(location: Location, value: Any) -> None:
    """Nor what two sides of a branch set to values that do not go together.

    Nor a tensor that was there before a branch, and that one side put somewhere else. One that the
    branch itself made says so when it is used.
    """
    change = conditional_at(location.key)
    if change is None or _asks_itself(change):
        return
    if _are_two(change):
        _refuse(change, "it is read here")
    symbols = [leaf for leaf in leaves(value) if is_symbol(leaf)]
    if symbols and all(_holdfast.scope_of(leaf)["open"] for leaf in symbols):
        _refuse(change, "it is read here")


def refuse_held(journal: Journal, values: Iterable[Any], outside: Any) -> None:
    """Nor what a function gives or stores, as far as the trace made it.

    `outside` tells of a container whether it is from around the trace, where calls repeat stores.
    """
    if not any(journal.conditional.values()):
        return
    seen: set[int] = set()
    todo = list(values)
    while todo:
        thing = todo.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        for change in journal.conditional.get(id(thing), {}).values():
            if not _asks_itself(change) and not outside(change):
                _refuse(change, "it is given here")
        if isinstance(thing, Mapping):
            todo += thing.values()
        elif isinstance(thing, (list, tuple, set, frozenset, deque)):
            todo += thing
        elif journal.made(thing):
            todo += attributes_of(thing).values()


def refuse_copied(journal: Journal, values: Iterable[Any]) -> None:
    """Nor what a side of a branch or an iteration hands on: the copy of it knows no condition."""
    refuse_held(journal, values, lambda change: False)


def refuse_stale(container: Any, closed: Journal | None = None) -> None:
    """Nor a container, where another one was changed that may be the same by a staged choice."""
    found = stale(container, closed)
    if found is None:
        return
    (name, site), kind = found, getattr(container, "kind", type(container)).__name__
    named = name if " " in name else f"`{name}`"
    decided = {"role": "placed", "loc": site.loc(), "primary": False}
    fail(
        "E0902",
        f"{named} is one of several {kind}s, and was changed since; another of them is read",
        f"which {kind} {named} is, is known when the graph runs, and a Python {kind} is changed "
        "while it is traced",
        fix=f"give {named} a {kind} of its own before the loop: `{name} = {kind}({name})`"
        if site.kind != "if"
        else f"change it on each side of the choice; or choose between copies, `{kind}(...)`, if "
        "it is to be another one",
        labels=[
            decided | {"text": f"which {kind} it is, is decided here"},
            *used_here(f"a {kind} is read here that may be the one that was changed"),
        ],
        subject={"name": name},
        op=site.kind,
    )


def is_same(one: Any, other: Any) -> bool:
    """Whether two things are one object; which one a staged choice gave, nobody may ask."""
    found = None if one is other else chosen(one, other)
    if found is None:
        return one is other
    (name, site), kind = found, getattr(one, "kind", type(one)).__name__
    named = name if " " in name else f"`{name}`"
    decided = {"role": "placed", "loc": site.loc(), "primary": False}
    fail(
        "E0902",
        f"whether a {kind} is another one is asked, and {named} is one of several",
        f"which {kind} {named} is, is known when the graph runs, and Python compares objects while "
        "code is traced",
        fix=f"let a tensor say which one {named} is: set it where {named} is set, and ask that",
        labels=[
            decided | {"text": f"which {kind} it is, is decided here"},
            *used_here("asked here"),
        ],
        subject={"name": name},
        op=site.kind,
    )


def _text(change: Change) -> str:
    """The program's own text for the place, if one line of the statement sets it; else ""."""
    site = change.site
    if isinstance(change, Growth) or site is None:
        return ""
    if not isinstance(change.location, (ItemLocation, AttributeLocation)):
        return ""
    return str(site.set_as(change.location))


def _named(change: Change) -> str:
    if isinstance(change, Growth):
        known = change.site.grown_by(change.method) if change.site is not None else None
        container = change.container.read()
        text = visible_name(lambda value: value is container) if known is None else known[1]
        return f"`{text}`" if text else f"a {type(container).__name__}"
    text = _text(change)
    return f"`{text}`" if text else change.location.describe()


# What makes a container longer, whatever kind it is.
_ADDING = frozenset({"add", "append", "appendleft", "extend", "extendleft", "insert", "update"})


def refuse_grown(
    site: Any, container: Any, method: str, used: list[dict[str, Any]] | None = None
) -> NoReturn:
    """E0103: a container got something in each iteration that no stack can be made of."""
    labels = used or []
    known = site.grown_by(method)
    kind = type(container).__name__
    name = f"`{known[1]}`" if known is not None else f"a {kind}"
    loop = {"role": "placed", "loc": site.loc(), "text": "the loop", "primary": not used}
    if known is not None:
        born = {"role": "born", "loc": site.home.loc(known[0]), "primary": False}
        labels = [born | {"text": f"`{method}` in a loop's body: one value per iteration"}, *labels]
    alias = module_alias()
    by = "by what is no tensor, and is used after it"
    if not isinstance(container, list):
        by = f"and is used after it; it is a {kind}, not a list"
    fail(
        "E0103",
        f"{name} grows in a staged loop {by}",
        f"the body makes one value per iteration, and is traced once: a list can be stacked after "
        f"the loop where each `{method if isinstance(container, list) else 'append'}` gives it one "
        "tensor, or a number",
        fix=f"carry a `{alias}.TensorArray` for each tensor: `ta = ta.write(i, ...)` in the body, "
        "`ta.stack()` after it",
        labels=[loop, *labels],
        subject={"name": name.strip("`")},
        op=site.kind,
    )


def _refuse(change: Change, asked: str) -> NoReturn:
    name, site, text = _named(change), change.site, _text(change)
    labels = used_here(asked)
    loop = site is not None and site.kind != "if"
    places = substitutions()
    if isinstance(change, Growth) and _may_be_staged(change) and places is not None:
        places.stage_lists(site.key)
    if isinstance(change, Growth) and loop and change.method in _ADDING:
        refuse_grown(site, change.container.read(), change.method, labels)
    sides: list[Any] = []
    if site is not None:
        about = "this loop is staged" if loop else "this condition has no value while tracing"
        labels.insert(0, {"role": "placed", "loc": site.loc(), "text": about, "primary": False})
        sides = [site.set_in(block, text) if text else None for block in range(len(site.blocks))]
        for spot in filter(None, sides):
            born = {"role": "born", "loc": site.home.loc(spot), "primary": False}
            labels.append(born | {"text": f"{name} is set here"})
    if _are_two(change) or (len(sides) == 2 and all(sides) and not loop):
        _refuse_kinds(change, name, labels)
    if isinstance(change, Growth):
        _refuse_growth(change, name, labels)
    where = "in a staged loop" if loop else "on one side of a staged `if`"
    fail(
        "E0901",
        f"{name} is set {where} only, and read after it",
        "whether that runs is known when the graph does, and Python's containers and objects have "
        "to be settled while it is traced",
        fix="set it before the loop too, to a tensor like those it gets inside"
        if loop
        else "set it in the `else` too, or before the `if`, to a tensor of the same dtype",
        labels=labels,
        subject={"name": name.strip("`")},
        op=site.kind if site is not None else "if",
    )


def stage_held(journal: Journal, values: Iterable[Any]) -> None:
    """What a side of a branch hands on, and a branch before may have changed, is read.

    Lists that grew become the graph's; what else it is, goes on as a copy that knows no condition.
    """
    places, held = substitutions(), list(values)
    for part in parts_of(held) if places is not None else ():
        inside = journal.conditional.get(id(part), {}).values()
        for change in (*inside, *changes_of(part)) if type(part) is list else ():
            if places is not None and isinstance(change, Growth) and _may_be_staged(change):
                places.stage_lists(change.site.key)
    refuse_copied(journal, held)


def _may_be_staged(change: Growth) -> bool:
    """Whether a list grows in a branch, so that a list of the graph may take its place."""
    site = change.site
    branch = site is not None and site.kind == "if" and not site.sides
    is_list = type(change.container.read()) is list
    within = change.container.within
    reachable = within is None or within.writable  # nothing can stand for an argument
    # When the graph has run, a list from outside is extended; no more can be done to it.
    known = LIST_ADDS - {"insert"} if change.outlives else LIST_ADDS | LIST_TAKES
    return branch and is_list and reachable and change.method in known and not change.foreign


def _refuse_growth(change: Growth, name: str, labels: list[dict[str, Any]]) -> NoReturn:
    """E0901: a method changes a container on some path only, and by what no graph holds."""
    site, kind = change.site, type(change.container.read()).__name__
    known = site.grown_by(change.method) if site is not None else None
    if known is not None:
        born = {"role": "born", "loc": site.home.loc(known[0]), "primary": False}
        labels.insert(1, born | {"text": f"`{change.method}` here"})
    loop = site is not None and site.kind != "if"
    where = "in a staged loop" if loop else "on one side of a staged `if` only"
    if change.both:
        where = "in two ways by the sides of a staged `if`"
    done = "grows" if change.method in _ADDING else "is changed"
    alike = f"change {name} before the loop, or after it" if loop else _alike(change, name)
    if change.outlives and not loop and change.method in ("append", "extend"):
        bare = name.strip("`")
        alike = f"append to a list that the function makes, read that, and `{bare}.extend` it"
    elif done == "grows" and not loop and isinstance(change.container.read(), list):
        alike = f"append tensors of one dtype, which a list of the graph can hold; or {alike}"
    fail(
        "E0901",
        f"{name} {done} {where}, and is read after it",
        f"whether that runs is known when the graph does, and what a Python {kind} holds has to be "
        "settled while it is traced; a graph has lists of tensors of one dtype",
        fix=alike,
        labels=labels,
        subject={"name": name.strip("`")},
        op=site.kind if site is not None else "if",
    )


def _alike(change: Growth, name: str) -> str:
    """What to write in place of a change that only one side of a branch makes."""
    anew = {"sort": "sorted({0})", "reverse": "{0}[::-1]"}.get(change.method)
    bare = name.strip("`")
    if anew is not None and bare != name and change.outlives:
        return f"give it another list, which a graph can choose: `{bare} = {anew.format(bare)}`"
    return f"change {name} on both sides alike, or before the `if`"


def _kind(value: Any) -> str:
    if isinstance(value, _holdfast.Tensor):
        return str(value.dtype.name)
    if hasattr(type(value), "__carries__"):  # one of the graph's
        return f"a {value.kind.__name__} that grows"
    if isinstance(value, (list, tuple)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a Python {type(value).__name__}" if value is not None else "None"


def _refuse_kinds(change: Change, name: str, labels: list[dict[str, Any]]) -> NoReturn:
    """E0902: both sides set it, to what does not go together."""
    values = change.both or [each.value for each in conditional_beside(change)]
    numbers = all(isinstance(each, (_holdfast.Tensor, bool, int, float)) for each in values)
    kinds = list(dict.fromkeys(map(_kind, values)))
    what = "two dtypes: " if numbers else "two kinds of value: "
    if len(kinds) == 1:
        what = "two values that don't go together, each "
    fail(
        "E0902",
        f"the two sides of a staged `if` give {name} {what}{' and '.join(kinds)}",
        f"a tensor of a graph has one dtype, whichever way line {labels[0]['loc']['line']} goes"
        if numbers
        else f"which way line {labels[0]['loc']['line']} goes is known when the graph runs; it can "
        "choose between tensors of one dtype",
        fix=f"give both the same dtype with `{module_alias()}.cast`"
        if numbers
        else f"let both give {name} tensors of the same dtype, and as many of them",
        labels=labels,
        subject={"name": name.strip("`")},
        op="if",
    )
