"""A list that grows in a staged loop has grown under every name, or reading it is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import holdfast as tf

kept: list[Any] = []


class Thing:
    """Holds attributes."""


def add(v: list[Any], n: Any) -> None:
    for i in tf.range(n):
        v.append(i)


def by_helper(n: Any) -> Any:
    values: list[Any] = []
    add(values, n)
    return values


def by_second_name(n: Any) -> Any:
    values = other = []  # type: ignore[var-annotated]
    for i in tf.range(n):
        values.append(i)
    return other, len(other), other[1], tf.stack(other), tf.add_n(other)


def in_containers(n: Any) -> Any:
    values: list[Any] = []
    held, pair, row = {"v": values}, (values, n), [values]
    for i in tf.range(n):
        values.append(i)
    return held["v"], held, pair, row, len(pair[0]), len(row[0])


def in_object(n: Any) -> Any:
    thing: Any = Thing()
    thing.first = thing.second = []
    add(thing.first, n)
    return thing.second, len(thing.first)


def by_bound_method(n: Any) -> Any:
    values: list[Any] = []
    push = values.append
    for i in tf.range(n):
        push(i)
    return values


def through_tuple(n: Any) -> Any:
    values = [n]
    pair = (values,)
    for i in tf.range(n):
        pair[0].append(i)
    return values


def again_and_again(n: Any) -> Any:
    values: list[Any] = []
    add(values, n)
    values.append(n)
    values += [n]
    add(values, n)
    total = tf.constant(0)
    for x in values:
        total += x
    for a, b in zip(values, values):
        total += a * b
    return values, total, values[-1], [*values, n]


def in_outer_loop(n: Any) -> Any:
    values: list[Any] = []
    total = tf.constant(0)
    for j in tf.range(n):
        if j > 0:
            add(values, j)
        total += len(values)
    return values, total


def on_one_side(n: Any) -> Any:
    values: list[Any] = []
    if n > 2:
        add(values, n)
    return values


def compared(n: Any) -> Any:
    values = other = []  # type: ignore[var-annotated]
    alike: list[Any] = []
    for i in tf.range(n):
        values.append(i)
    return (
        *(values == [], other == [], values == other, [0, 1] == other, values != [0, 1]),
        *(values is other, other is not values, values is alike, other == alike),
        *(values == (0, 1), values == [0] or n > 3),
    )


def made_in_outer_loop(n: Any) -> Any:
    total = tf.constant(0)
    for j in tf.range(n):
        values: list[Any] = []
        add(values, j)
        total += len(values)
    return total


PROGRAMS = [
    by_helper,
    by_second_name,
    in_containers,
    in_object,
    by_bound_method,
    through_tuple,
    again_and_again,
    in_outer_loop,
    made_in_outer_loop,
    on_one_side,
    compared,
]


def _numbers(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_numbers(part) for part in value]
    if isinstance(value, dict):
        return {key: _numbers(part) for key, part in value.items()}
    return value.numpy().tolist() if isinstance(value, tf.Tensor) else value


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_grows_under_every_name(program: Callable[[Any], Any]) -> None:
    traced = tf.function(program)
    for n in (3, 2, 4):
        assert _numbers(traced(tf.constant(n))) == _numbers(program(tf.constant(n)))


def test_compares_a_list_that_no_iteration_grew() -> None:
    assert _numbers(tf.function(compared)(tf.constant(0))) == _numbers(compared(tf.constant(0)))


def test_object_from_outside_keeps_what_grew() -> None:
    thing: Any = Thing()

    @tf.function
    def store(n: Any) -> Any:
        values: list[Any] = []
        thing.values, thing.held = values, {"v": (values,)}
        add(values, n)
        return len(thing.values)

    for n in (3, 2):
        assert int(store(tf.constant(n))) == n
        assert _numbers(thing.values) == list(range(n))
        assert _numbers(thing.held) == {"v": [list(range(n))]}


def _added(n: Any) -> Any:
    values: list[Any] = []
    add(values, n)
    more = values + [n]
    return more


def test_refuses_what_nobody_can_give() -> None:
    with pytest.raises(ValueError, match="grew in a staged loop") as caught:
        tf.function(_added)(tf.constant(3))
    text = str(caught.value)
    assert "E0901" in text
    assert "for i in tf.range(n):" in text
    assert "is returned here, under another name" in text


def test_advice_for_one_side_works() -> None:
    @tf.function
    def run(n: Any) -> Any:
        values: list[Any] = []
        other = values
        for i in tf.range(n if n > 2 else 0):
            values.append(i)
        return other

    assert _numbers(run(tf.constant(3))) == [0, 1, 2]
    assert _numbers(run(tf.constant(1))) == []


def test_advice_to_return_the_list_works() -> None:
    def added(v: list[Any], n: Any) -> Any:
        for i in tf.range(n):
            v.append(i)
        return v

    @tf.function
    def run(n: Any) -> Any:
        values: list[Any] = []
        values = added(values, n)
        return values + [n]

    assert _numbers(run(tf.constant(2))) == [0, 1, 2]


def test_other_name_of_global_list_is_refused_and_list_stays() -> None:
    kept.clear()

    @tf.function
    def run(n: Any) -> Any:
        grows, other = kept, kept
        for i in tf.range(n):
            grows.append(i)
        return len(other)

    with pytest.raises(NotImplementedError, match="read under another name"):
        run(tf.constant(3))
    assert kept == []


def test_empty_global_list_is_longer_in_the_next_call() -> None:
    kept.clear()

    @tf.function
    def run(n: Any) -> Any:
        for i in tf.range(n):
            kept.append(i)
        return len(kept)

    assert [int(run(tf.constant(3))) for _ in range(3)] == [3, 6, 9]


def test_failed_trace_leaves_no_mark() -> None:
    thing: Any = Thing()
    thing.values = None

    @tf.function
    def run(n: Any) -> Any:
        values: list[Any] = []
        thing.values = values
        add(values, n)
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        run(tf.constant(3))
    assert thing.values is None
