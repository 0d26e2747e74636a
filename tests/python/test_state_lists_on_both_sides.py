"""Lists from outside that one side of a branch appends to, beside a list that the other grows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import holdfast as tf


class Holder:
    """Has lists."""


log: list[Any] = []
other: list[Any] = []
table: dict[str, Any] = {}
holder: Any = Holder()


def by_global(x: Any) -> Any:
    v = [x]
    if x > 2:
        log.append(x)
    else:
        v.append(x)
    return tf.stack(v)


def by_attribute(x: Any) -> Any:
    v = [x]
    if x > 2:
        holder.items.append(x)
    else:
        v.append(x)
    return tf.stack(v)


def by_item(x: Any) -> Any:
    v = [x]
    if x > 2:
        table["log"].append(x)
    else:
        v.append(x)
    return tf.stack(v)


def by_operator(x: Any) -> Any:
    v = [x]
    if x > 2:
        holder.items += [x, x * 2]
    else:
        v.append(x)
    return tf.stack(v)


def by_insert(x: Any) -> Any:
    v = [x]
    if x > 2:
        log.insert(0, x)
    else:
        v.append(x)
    return tf.stack(v)


def by_extend(x: Any) -> Any:
    v = [x]
    if x > 2:
        log.extend([x, x * 2])
    else:
        v.append(x)
    return tf.stack(v)


def on_both_sides(x: Any) -> Any:
    v = [x]
    if x > 2:
        log.append(x)
        v.append(x)
    else:
        log.append(-x)
        v += [x, x * 3]
    return tf.stack(v)


def without_else(x: Any) -> Any:
    v = [x]
    if x > 2:
        log.append(x)
        v.append(x)
    return tf.stack(v)


def in_a_loop(x: Any) -> Any:
    v = [x]
    for i in tf.range(3):
        if x > 2:
            log.append(x)
        else:
            v.append(x * tf.cast(i, tf.float32))
    return tf.stack(v)


def two_lists(x: Any) -> Any:
    v = [x]
    if x > 2:
        log.append(x)
    else:
        other.append(x)
        v.append(x)
    return tf.stack(v)


def held_elsewhere(x: Any) -> Any:
    v = [x]
    if x > 2:
        log.append(x)
    else:
        v.append(x)
    holder.kept = log
    return tf.stack(v)


def held_elsewhere_after_a_loop(x: Any) -> Any:
    for _ in tf.range(2):
        log.append(x)
    holder.kept = log
    return x


PROGRAMS = [
    by_global,
    by_attribute,
    by_item,
    by_operator,
    by_insert,
    by_extend,
    on_both_sides,
    without_else,
    in_a_loop,
    two_lists,
    held_elsewhere,
    held_elsewhere_after_a_loop,
]


def _left(program: Callable[[Any], Any]) -> list[Any]:
    """What three calls give and leave."""
    log.clear()
    other.clear()
    table["log"] = in_table = []
    holder.items = in_attribute = []
    holder.kept = None
    found: list[Any] = []
    for x in (3.0, 1.0, 4.0):
        found.append(program(tf.constant(x)).numpy().tolist())
        for values in (log, other, table["log"], holder.items):
            found.append([float(each) for each in values])
        assert table["log"] is in_table and holder.items is in_attribute
        assert holder.kept is None or holder.kept is log
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_they_hold_what_plain_code_leaves(program: Callable[[Any], Any]) -> None:
    assert _left(tf.function(program)) == _left(program)
