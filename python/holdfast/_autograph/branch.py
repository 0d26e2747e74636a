"""`if`, `and` and the like: Python's own where the condition has a value, staged where not."""

from __future__ import annotations

import dataclasses
import dis
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._flow.checks import Assert
from .._messages.diagnostics import mark
from .._messages.user_code import is_user_code
from .._tensors import registry
from .._tensors.symbols import is_symbol, only_types
from .._tracing.conditional import stage_held
from .._tracing.journal import Journal, Set
from .._tracing.moved import current
from .._tracing.perhaps import perhaps_of, reread
from .._tracing.recorder import recording
from ..errors import DiagnosticError
from .iterables import Staged
from .merge import merge
from .one_of import OneOf, each_way, staged_by
from .outcome import Outcome
from .records import as_left, changed_lists, note_new
from .sites import Home, Site, Spot
from .state import Cells, as_bool
from .walking import own_method

__all__ = ["and_", "chain", "decided", "if_", "if_expression", "not_", "or_", "truth"]


def decided(value: Any) -> Any:
    """The truth of a value: a Python bool, or a symbol where it has none yet."""
    value = current(value)
    if type(value) is OneOf:
        return each_way(value, decided, "the choice of a condition")
    if isinstance(value, _holdfast.VariableBase):
        value = value.read()
    if isinstance(value, Staged):
        value = value.length() > 0
    if is_symbol(value):
        known = perhaps_of(value)
        if known is None:
            return value
        return registry.function("logical_and")(known.ran, as_bool(known.value))
    if isinstance(value, (list, dict, set)) and (recorder := recording()) is not None:
        recorder.note_length(value)
    own = own_method(value, "__bool__")
    return bool(value) if own is None else decided(own())


def truth(value: Any) -> Any:
    """The truth of a value where only a Python bool will do: a symbol says why it has none."""
    return bool(decided(value))


def if_(test: Any, body: Callable[[], None], orelse: Callable[[], None], site: Site) -> None:
    """The statement."""
    taken = decided(test)
    if taken is True:
        body()
    elif taken is False:
        orelse()
    elif only_types.on:
        try:
            staged_if(taken, body, orelse, site)
        except DiagnosticError:  # of datasets, which no graph joins, one side tells what they are
            body()
    else:
        staged_if(taken, body, orelse, site)


def staged_if(
    predicate: Any,
    body: Callable[[], None],
    orelse: Callable[[], None],
    site: Site,
    cells: Cells | None = None,
) -> None:
    """The statement, with a condition that has no value yet."""
    cells = cells or Cells(body, orelse)
    note_new(cells)

    errors: list[Exception] = []

    def side(block: Callable[[], None]) -> Outcome:
        journal, raised = Journal(), ""
        before = cells.read_all(site.modified)
        try:
            with journal:
                block()
            stage_held(journal, [*cells.read_all(site.outputs).values(), *_kept(journal)])
        except Exception as error:
            raised = _said(error)
            if not raised or errors:  # nothing to stage, or both sides raise: then Python does
                raise
            errors.append(error)
        finally:
            names, lists = cells.read_all(site.outputs), changed_lists(journal)
            left = as_left([*names.values(), *_stored(journal), *lists.values()], journal)
            journal.undo_outside()
            cells.write_all(before)  # last: a function inside may have set one that was set before
        return Outcome(names, left, journal, lists, raised)

    raised: dict[bool, str] = {}

    def first() -> Outcome:
        errors.clear()
        outcome = side(body)
        raised[True] = outcome.raised
        return outcome

    def second() -> Outcome:
        outcome = side(orelse)
        raised[False] = outcome.raised
        return outcome

    predicate = as_bool(predicate)
    try:
        cells.write_all(merge(predicate, first, second, site, cells))
    finally:
        errors.clear()  # they hold frames, and these hold symbols
    for taken, said in raised.items():
        if said:
            allowed = registry.function("logical_not")(predicate) if taken else predicate
            Assert(allowed, [said])


def _stored(journal: Journal) -> list[Any]:
    return [change.value for change in journal.changes if isinstance(change, Set)]


def _kept(journal: Journal) -> list[Any]:
    """What was stored in things that were there before."""
    sets = [change for change in journal.changes if isinstance(change, Set)]
    return [each.value for each in sets if not journal.made(each.location.holder())]


def _said(error: Exception) -> str:
    """What a `raise` of the user's says; "" for an error that comes from anywhere else."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or isinstance(error, DiagnosticError):
        return ""
    code = trace.tb_frame.f_code
    if not is_user_code(code) or dis.opname[code.co_code[trace.tb_lasti]] != "RAISE_VARARGS":
        return ""
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


# Expressions.


def _expression_site() -> Site:
    """A site for an expression, at the line that is executing."""
    here = mark()
    if here is None:
        return Site("if", Home("", "", {}), Spot(0, 0, 0))
    loc = here.loc()
    home = Home(here.code.co_filename, here.code.co_qualname, {})
    return Site("if", home, Spot(loc["line"], loc["col_begin"], loc["col_end"]))


def _choose(predicate: Any, first: Callable[[], Any], second: Callable[[], Any], label: str) -> Any:
    """The value of one of two expressions."""

    def side(expression: Callable[[], Any]) -> Outcome:
        journal = Journal()
        try:
            with journal:
                names = {label: current(expression())}
            stage_held(journal, [*names.values(), *_kept(journal)])
            lists = changed_lists(journal)
            left = as_left([*names.values(), *_stored(journal), *lists.values()], journal)
        finally:
            journal.undo_outside()
        return Outcome(names, left, journal, lists)

    site = _expression_site()
    cells = Cells(first, second)
    taken = as_bool(predicate)
    return merge(taken, lambda: side(first), lambda: side(second), site, cells)[label]


def _stage(taken: Any, first: Callable[[], Any], second: Callable[[], Any], label: str) -> Any:
    """One of two expressions, of which either may raise, and store where it is taken."""
    if taken is True or taken is False:
        return first() if taken else second()
    cells = Cells(first, second, more=[label])
    site = dataclasses.replace(_expression_site(), modified=(label,), outputs=(label,))

    def side(expression: Callable[[], Any]) -> Callable[[], None]:
        return lambda: cells.write(label, current(expression()))

    staged_if(taken, side(first), side(second), site, cells)
    return cells.read(label)


staged_by(_stage)


def if_expression(test: Any, first: Callable[[], Any], second: Callable[[], Any]) -> Any:
    """`first if test else second`."""
    taken = decided(test)
    if taken is True:
        return first()
    if taken is False:
        return second()
    try:
        return _choose(taken, first, second, "the conditional expression")
    except DiagnosticError:
        if not only_types.on:
            raise
        return first()  # of datasets, which no graph joins, one side tells what they are


def and_(value: Any, *rest: Callable[[], Any]) -> Any:
    """`a and b`: the first that is false, or the last."""
    for i, each in enumerate(rest):
        taken = decided(value)
        if taken is False:
            return value
        if taken is not True:
            return _staged_and(value, taken, each, rest[i + 1 :])
        value = each()
    return value


def _staged_and(
    value: Any, taken: Any, each: Callable[[], Any], others: tuple[Callable[[], Any], ...]
) -> Any:
    if perhaps_of(value) is not None:
        return _choose(taken, lambda: and_(each(), *others), lambda: reread(value), "`and`")
    return _both(taken, lambda: and_(each(), *others), lambda: taken, "and")


def or_(value: Any, *rest: Callable[[], Any]) -> Any:
    """`a or b`: the first that is true, or the last."""
    for i, each in enumerate(rest):
        taken = decided(value)
        if taken is True:
            return value
        if taken is not False:
            return _staged_or(value, taken, each, rest[i + 1 :])
        value = each()
    return value


def _staged_or(
    value: Any, taken: Any, each: Callable[[], Any], others: tuple[Callable[[], Any], ...]
) -> Any:
    if perhaps_of(value) is not None:
        return _choose(taken, lambda: reread(value), lambda: or_(each(), *others), "`or`")
    return _both(taken, lambda: taken, lambda: or_(each(), *others), "or")


def _both(predicate: Any, first: Callable[[], Any], second: Callable[[], Any], word: str) -> Any:
    """`and` or `or` of a symbol: the values themselves if they go together, else their truths."""

    def truths(expression: Callable[[], Any]) -> Callable[[], Any]:
        def asked() -> Any:
            value = decided(expression())
            return value if isinstance(value, bool) else as_bool(value)

        return asked

    if predicate.dtype.name != "bool":
        try:
            return _choose(predicate, first, second, f"`{word}`")
        except DiagnosticError as error:
            if error.code != "E0902":
                raise
    return _choose(predicate, truths(first), truths(second), f"`{word}`")


def not_(value: Any) -> Any:
    """`not a`."""
    taken = decided(value)
    if isinstance(taken, bool):
        return not taken
    return registry.function("logical_not")(as_bool(taken))


def chain(left: Any, *pairs: Callable[..., Any]) -> Any:
    """`a < b < c`: each term once, from left to right, until a comparison fails."""
    right = pairs[0]()
    found = pairs[1](left, right)
    if len(pairs) == 2:
        return found
    return and_(found, lambda: chain(right, *pairs[2:]))
