"""A list that grows more on one side of a staged branch than on the other is a list of the graph."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import holdfast as tf


class Bag:
    """Collects."""

    def __init__(self) -> None:
        self.items: list[Any] = []

    def add(self, x: Any) -> None:
        self.items.append(x)


def appended(x: Any) -> Any:
    values = [x]
    if x > 0:
        values.append(x * 2)
    return values, len(values), values[-1], tf.stack(values), tf.add_n(values)


def nested(x: Any) -> Any:
    values: list[Any] = []
    if x > 0:
        values.append(x)
        if x > 1:
            values.extend([x * 2, x * 3])
    elif x < -1:
        values += [-x]
    return values


def loop_on_one_side(x: Any) -> Any:
    values: list[Any] = []
    if x > 1:
        for i in tf.range(3):
            values.append(tf.cast(i, tf.float32))
    else:
        values.append(x)
    return tf.stack(values), len(values)


def held_elsewhere(x: Any) -> Any:
    bag = Bag()
    held = {"v": bag.items}
    if x > 0:
        bag.add(x)
    bag.add(x + 1)
    return bag.items, len(held["v"])


def in_loop(x: Any) -> Any:
    out: list[Any] = []
    for i in tf.range(4):
        row: list[Any] = []
        if i > 1:
            row.append(i)
        for j in tf.range(i):
            if j > 0:
                row.append(j)
        out.append(len(row))
        if i > 2:
            out.append(-i)
    return tf.stack(out)


def before_break(x: Any) -> Any:
    values: list[Any] = []
    for each in [x, x * 2, x * 3]:
        if each > 2:
            break
        values.append(each)
    return tf.stack(values) if values else tf.zeros(1)


def by_expression(x: Any) -> Any:
    values = [x]
    values.append(x * 2) if x > 0 else None
    return tf.add_n(values)


def asked(x: Any) -> Any:
    values: list[Any] = []
    if x > 0:
        values.append(x)
    if not values:
        return x - 1
    return sum(values) + max(values) + min(values)


def used_on_its_side(x: Any) -> Any:
    values, y = [x], x
    if x > 0:
        values.append(x + 1)
        values[0] = values[0] * 5
        y = tf.add_n([a * b for a, b in itertools.pairwise(values)])
        for i, value in enumerate(reversed(values)):
            y = y * 10 + value * float(i)
        y = y + values.copy()[-1]
    return y


def a_shape_on_its_side(x: Any) -> Any:
    shape = [2]
    if x > 0:
        shape.append(3)
        x = x + tf.reduce_sum(tf.ones(shape)) * shape[-1]
    return x


def many(x: Any) -> Any:
    rows = {name: [x] for name in "abcdefghijklmnop"}
    if x > 0:
        for row in rows.values():
            row.append(x + 1)
    return [tf.stack(row) for row in rows.values()]


def many_in_a_loop(x: Any) -> Any:
    rows = {name: [x] for name in "abcdefghijklmnop"}
    for i in tf.range(3):
        for row in rows.values():
            if i > 0:
                row.append(x + 1)
    return [tf.stack(row) for row in rows.values()]


def last_of_it(x: Any) -> Any:
    values = [x]
    if x > 0:
        values.append(x * 2)
    return values[-1], values[0]


def by_setdefault(x: Any) -> Any:
    rows: dict[str, list[Any]] = {}
    rows.setdefault("a", []).append(x)
    if x > 0:
        rows.setdefault("a", []).append(x + 1)
    return tf.stack(rows["a"])


def compared(x: Any) -> Any:
    values, others = [x], [x]
    if x > 0:
        values.append(x)
    return values == others


def taken_into_a_loop(x: Any) -> Any:
    values = [x]
    if x > 0:
        values.append(x * 2)
    for _ in tf.range(2):
        if len(values) > 5:
            values = [*values, x]
    return tf.stack(values)


def chosen_after_it(x: Any) -> Any:
    values = [x]
    other = values
    if x > 0:
        values.append(x * 2)
    chosen = values if x > 1 else other
    return tf.stack(chosen)


def _numbers(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_numbers(part) for part in value]
    return value.numpy().tolist() if isinstance(value, tf.Tensor) else value


PROGRAMS = [
    appended,
    nested,
    loop_on_one_side,
    held_elsewhere,
    in_loop,
    before_break,
    by_expression,
    asked,
    used_on_its_side,
    a_shape_on_its_side,
    many,
    many_in_a_loop,
    last_of_it,
    by_setdefault,
    compared,
    taken_into_a_loop,
    chosen_after_it,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_grows_as_in_plain_python(program: Callable[[Any], Any]) -> None:
    traced = tf.function(program)
    for x in (1.0, 2.0, -1.0, -2.0):
        assert _numbers(traced(tf.constant(x))) == _numbers(program(tf.constant(x)))


def test_gradient_goes_through_it() -> None:
    w = tf.Variable(2.0)

    @tf.function
    def run(x: Any) -> Any:
        with tf.GradientTape() as tape:
            values = [w * x]
            if x > 0:
                values.append(w * w)
            y = tf.reduce_sum(tf.stack(values))
        return tape.gradient(y, w)

    assert [float(run(tf.constant(x))) for x in (1.0, -1.0)] == [5.0, -1.0]


def _of_texts(x: Any) -> Any:
    names: list[Any] = []
    if x > 0:
        names.append("positive")
    return len(names)


def test_what_is_no_tensor_is_refused_by_its_name() -> None:
    with pytest.raises(ValueError, match="E0901") as caught:
        tf.function(_of_texts)(tf.constant(1.0))
    first, *rest = str(caught.value).splitlines()
    assert "`names` grows on one side of a staged `if` only" in first
    assert any("`append` here" in line for line in rest)


def test_list_from_outside_is_read_after_it() -> None:
    bag, plain = Bag(), Bag()

    def run(bag: Any, x: Any) -> Any:
        if x > 0:
            bag.add(x + 1)
        return tf.add_n([x, *bag.items])

    traced = tf.function(run)
    for x in (1.0, -1.0, 2.0):
        assert float(traced(bag, tf.constant(x))) == float(run(plain, tf.constant(x)))
    assert _numbers(bag.items) == _numbers(plain.items) == [2.0, 3.0]


def test_elements_that_only_the_graph_can_count() -> None:
    @tf.function
    def run(x: Any) -> Any:
        values = [x]
        if x > 0:
            values.append(x)
        return max(*values)

    with pytest.raises(TypeError, match="E0202") as caught:
        run(tf.constant(1.0))
    assert "all elements of `values` are wanted at once" in str(caught.value)
