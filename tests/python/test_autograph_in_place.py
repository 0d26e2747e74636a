"""What staged code changes where it is: containers by operators and by functions of others, arrays."""

from __future__ import annotations

import bisect
import heapq
from collections import Counter
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pytest

import holdfast as tf


class Total:
    """Adds up where it is."""

    def __init__(self, v: Any) -> None:
        self.v = v

    def __iadd__(self, other: Any) -> Self:
        self.v = self.v + other
        return self

    def __imul__(self, other: Any) -> Self:
        self.v = self.v * other
        return self


class Doubled(dict[str, Any]):
    """Its own way of storing."""

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value * 2)


def by_own_operators(x: Any) -> Any:
    total = Total(x)
    if x > 0:
        total += 5.0
        total *= 3.0
    return total.v


def by_own_store(x: Any) -> Any:
    kept = Doubled()
    kept["a"] = x
    return kept["a"]


def joined(x: Any) -> Any:
    d = {"a": x}
    if x > 0:
        d |= {"a": x * 2}
    return d["a"]


def numbers(x: Any) -> Any:
    n = 7
    n //= 2
    n <<= 3
    n -= 1
    x *= n
    x /= 2.0
    x **= 2.0
    return x


def on_its_side(x: Any) -> Any:
    heap, seen, rows, y = [3, 5], {"a", "b"}, [x], x
    if x > 0:
        heapq.heappush(heap, 1)
        seen -= {"a"}
        rows *= 3
        y = x * heap[0] + len(seen) + len(rows)
    return y


def own_array(x: Any) -> Any:
    a = np.ones(2, "float32")
    if x > 0:
        a = a.copy()
        a[0] = 5
        a *= 2
        a.fill(3)
    return x * a


def plain_array(x: Any) -> Any:
    a = np.ones(2, "float32")
    a[0] = 5
    a *= 2
    return x * a


def sorted_numbers(x: Any) -> Any:
    values = [3, 1, 2]
    if x > 0:
        values.sort()
    return x * tf.cast(values[0], tf.float32)


def reversed_tensors(x: Any) -> Any:
    values = [x, x * 2]
    if x > 0:
        values.reverse()
    return values[0]


RIGHT = [
    reversed_tensors,
    sorted_numbers,
    by_own_operators,
    by_own_store,
    joined,
    numbers,
    on_its_side,
    own_array,
    plain_array,
]


@pytest.mark.parametrize("program", RIGHT, ids=lambda program: program.__name__)
def test_gives_what_plain_python_gives(program: Callable[[Any], Any]) -> None:
    traced = tf.function(program)
    for x in (1.0, -1.0):
        given = traced(tf.constant(x)).numpy().tolist()
        assert given == program(tf.constant(x)).numpy().tolist()


kept = [3, 1, 2]


def sorted_(x: Any) -> Any:
    values = kept
    if x > 0:
        values.sort()
    return x * values[0]


def reversed_(x: Any) -> Any:
    values = kept
    if x > 0:
        values.reverse()
    return x * values[0]


def texts(x: Any) -> Any:
    values = ["b", "a"]
    if x > 0:
        values.sort()
    return x * len(values[0])


def pushed(x: Any) -> Any:
    values = [3, 5]
    if x > 0:
        heapq.heappush(values, 1)
    return x * values[0]


def inserted(x: Any) -> Any:
    values = [1, 3]
    if x > 0:
        bisect.insort(values, 2)
    return x * values[1]


def counted(x: Any) -> Any:
    values = Counter("ab")
    if x > 0:
        values.update("a")
    return x * values["a"]


def fewer(x: Any) -> Any:
    values = {"a", "b"}
    if x > 0:
        values -= {"a"}
    return x * len(values)


def fewer_in_a_loop(x: Any) -> Any:
    values = {"a", "b"}
    for _ in tf.range(tf.cast(x, tf.int32)):
        values &= {"a"}
    return x * len(values)


def array(x: Any) -> Any:
    values = np.ones(2, "float32")
    if x > 0:
        values *= 3
    return x * values


def item_of_an_array(x: Any) -> Any:
    values = np.ones(2, "float32")
    for _ in tf.range(3):
        values[0] = values[0] + 1
    return x * values


def filled_array(x: Any) -> Any:
    values = np.ones(2, "float32")
    if x > 0:
        values.fill(7)
    return x * values


def bytes_(x: Any) -> Any:
    values = bytearray(b"ab")
    if x > 0:
        values.append(3)
    return x * len(values)


REFUSED = [
    sorted_,
    reversed_,
    texts,
    pushed,
    inserted,
    counted,
    fewer,
    fewer_in_a_loop,
    array,
    item_of_an_array,
    filled_array,
    bytes_,
]


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_refuses_what_depends_on_the_way_of_the_graph(program: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match="E0901") as caught:
        tf.function(program)(tf.constant(1.0))
    assert "`values`" in str(caught.value).splitlines()[0]


def test_says_what_to_write() -> None:
    said = {}
    for program in (sorted_, reversed_, texts, array):
        with pytest.raises(ValueError, match="E0901") as caught:
            tf.function(program)(tf.constant(1.0))
        said[program.__name__] = str(caught.value)
    assert "`values = sorted(values)`" in said["sorted_"]
    assert "`values = values[::-1]`" in said["reversed_"]
    assert "`values = sorted(values)`" not in said["texts"]  # which a graph could not choose
    assert "`values = values.copy()`" in said["array"]
