"""A name that a branch or a loop gives one of several containers: their contents stay right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import holdfast as tf

shared: list[Any] = [1.0]


class Point:
    """Holds a value."""

    def __init__(self, v: Any) -> None:
        self.v = v


def changed_by_another_name(x: Any) -> Any:
    a = [x]
    b = a
    if x > 0:
        b[0] = x * 2
    else:
        a = [x * 3]
    return a[0], b[0]


def changed_inside(x: Any) -> Any:
    a = {"k": [x]}
    b = a["k"]
    if x > 0:
        b[0] = x * 2
    else:
        a = {"k": [x * 3]}
    return a["k"][0], b[0]


def changed_object(x: Any) -> Any:
    p = Point(x)
    q = p
    if x > 0:
        q.v = x * 2
    else:
        p = Point(x * 3)
    return p.v, q.v


def stored_in_an_attribute(x: Any) -> Any:
    p = Point([x])
    if x > 0:
        p.v = [x * 2]
    p.v[0] = p.v[0] + 1
    p.v.append(x)
    return p.v


def swapped_in_a_loop(x: Any) -> Any:
    a, b = [x], [x * 100]
    for _ in tf.range(3):
        a, b = b, a
        a[0] = a[0] + 1
    return a[0], b[0]


def made_anew_and_changed(x: Any) -> Any:
    state = {"h": x, "c": x + 1}
    for i in tf.range(4):
        state = dict(state, h=state["h"] + 1)
        state["c"] = state["c"] * 2
        if i > 1:
            state["c"] = state["c"] - 1
    return state


def one_in_two_places(x: Any) -> Any:
    row = [x, x]
    rows = [row, row]
    if x > 0:
        rows = [[x + 1, x], [x + 2, x]]
    for _ in tf.range(2):
        rows = [[row[0] + 1.0, row[1]] for row in rows]
    return rows


def grown_in_an_attribute_by_a_loop(x: Any) -> Any:
    values = [x]
    p = Point(values)
    for _ in tf.range(3):
        p.v += [x * 2]
    p.v.append(x)
    values.append(x * 5)
    return values, p.v


def left_as_it_was_by_one_side(x: Any) -> Any:
    values = [x, x * 2]
    kept = values
    if x > 0:
        values.append(x * 3)
        kept = [x, x]
    return kept


RIGHT = [
    one_in_two_places,
    grown_in_an_attribute_by_a_loop,
    left_as_it_was_by_one_side,
    changed_by_another_name,
    changed_inside,
    changed_object,
    stored_in_an_attribute,
    swapped_in_a_loop,
    made_anew_and_changed,
]


def _numbers(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_numbers(part) for part in value]
    if isinstance(value, dict):
        return {key: _numbers(part) for key, part in value.items()}
    return value.numpy().tolist() if isinstance(value, tf.Tensor) else value


@pytest.mark.parametrize("program", RIGHT, ids=lambda program: program.__name__)
def test_gives_what_plain_python_gives(program: Callable[[Any], Any]) -> None:
    traced = tf.function(program)
    for x in (1.0, -1.0):
        assert _numbers(traced(tf.constant(x))) == _numbers(program(tf.constant(x)))


def chosen_then_changed(x: Any) -> Any:
    a, b = [x], [x * 2]
    if x > 0:
        c = a
    else:
        c = b
    c[0] = x * 10
    return a[0], b[0], c[0]


def chosen_then_grown(x: Any) -> Any:
    a, b = [x], [x * 2]
    c = a if x > 0 else b
    c.append(x * 10)
    return len(a), len(b), len(c)


def original_changed(x: Any) -> Any:
    a, b = {"k": x}, {"k": x * 2}
    c = a
    if x > 0:
        c = b
    a["k"] = x * 10
    return c["k"]


def from_outside(x: Any) -> Any:
    c = shared
    if x > 0:
        c = [2.0]
    c[0] = x
    return c[0]


def two_names_in_a_loop(x: Any) -> Any:
    a = [x]
    b = a
    for _ in tf.range(3):
        a[0] = a[0] + 1
        a, b = b, a
    return a[0], b[0]


def first_one_read_after_a_loop(x: Any) -> Any:
    a = [x]
    kept = a
    for _ in tf.range(3):
        a[0] = a[0] + 1
        a = [a[0]]
    return a[0], kept[0]


def joined_twice(x: Any) -> Any:
    a, b, c = [x], [x * 2], [x * 3]
    d, e = (a if x > 0 else b), b
    if x < 2:
        e = a if x > 1 else c
    a[0] = x * 100
    return d[0], e[0]


def inside_of_an_object(x: Any) -> Any:
    values, p = [x], Point([x * 2])
    if x > 0:
        p = Point(values)
    p.v[0] = x * 10
    return values[0]


def inside_of_an_object_of_a_loop(x: Any) -> Any:
    values, p = [x], Point([x * 2])
    for _ in tf.range(3):
        p = Point(values)
    p.v[0] = x * 10
    return values[0]


def left_by_a_loop(x: Any) -> Any:
    values, others = [x], [x * 2]
    for _ in tf.range(3):
        others = values
    others[0] = x * 10
    return values[0]


def lists_that_grew(x: Any) -> Any:
    a, b = [x], [x]
    for _ in tf.range(2):
        a.append(x)
        b.append(x)
    (a if x > 0 else b).append(x * 2)
    return tf.stack(a)


def left_in_an_attribute_by_a_loop(x: Any) -> Any:
    values, p = [x], Point([x * 2])
    for _ in tf.range(3):
        p.v = values
    p.v[0] = x * 10
    return values[0]


def returned_beside_one_that_grew(x: Any) -> Any:
    a, b, grown = [x], [x * 2], [x]
    for _ in tf.range(2):
        grown.append(x)
    c = a if x > 0 else b
    a[0] = x * 10
    return c, grown


REFUSED = [
    joined_twice,
    left_in_an_attribute_by_a_loop,
    returned_beside_one_that_grew,
    inside_of_an_object,
    inside_of_an_object_of_a_loop,
    left_by_a_loop,
    lists_that_grew,
    chosen_then_changed,
    chosen_then_grown,
    original_changed,
    from_outside,
    two_names_in_a_loop,
    first_one_read_after_a_loop,
]


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_refuses_to_read_what_may_have_changed(program: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="one of several") as caught:
        tf.function(program)(tf.constant(-1.0))
    assert "E0902" in str(caught.value) and "is decided here" in str(caught.value)
    assert shared == [1.0]


def test_changing_it_is_fine_where_nobody_reads_the_others() -> None:
    @tf.function
    def run(x: Any) -> Any:
        values = [x]
        if x > 0:
            values = [*values, x * 2]
        else:
            values = [x, x]
        values.append(x)
        values[0] = x * 5
        return values

    assert _numbers(run(tf.constant(1.0))) == [5.0, 2.0, 1.0]


def copied_after_a_store(x: Any) -> Any:
    rows, row = {"a": [x]}, [x, x]
    if x > 0:
        rows["a"] = row
    return dict(rows)["a"]


def longer_by_a_loop(x: Any) -> Any:
    p = Point([x])
    for _ in tf.range(tf.cast(x, tf.int32)):
        p.v = [x, x]
    return x * len(p.v)


@pytest.mark.parametrize("program", [copied_after_a_store, longer_by_a_loop])
def test_refuses_a_length_that_depends_on_the_way(program: Callable[[Any], Any]) -> None:
    with pytest.raises((ValueError, TypeError), match=r"E0901|E0104"):
        tf.function(program)(tf.constant(1.0))
