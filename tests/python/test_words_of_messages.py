"""Messages speak of what the program has: its functions, its containers, ways out that can be gone."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import holdfast as tf

table = np.array([10.0, 20.0], "float32")
names = {0: "zero", 1: "one"}


class Point:
    """Holds a value."""

    def __init__(self, v: Any) -> None:
        self.v = v


def key_in_a_loop(n: Any) -> Any:
    found = {}
    for i in tf.range(n):
        found[int(i)] = n
    return len(found)


def looked_up(n: Any) -> Any:
    return tf.constant(names.get(int(n), "many"))


def kept_in_an_array(n: Any) -> Any:
    out = np.zeros(2)
    for i in range(2):
        out[i] = n * i
    return out


def item_of_an_array(n: Any) -> Any:
    return table[n] * 2


def added_to_an_array(n: Any) -> Any:
    total = np.ones(2, "int32")
    total += n
    return total


def filtered(n: Any) -> Any:
    return [each for each in (n, n + 1) if each > 1]


def objects(n: Any) -> Any:
    found = []
    for i in tf.range(n):
        found.append(Point(i))
    return [each.v for each in found]


def in_a_deque(n: Any) -> Any:
    found: Any = deque()
    for i in tf.range(n):
        found.append(i)
    return list(found)


def number_on_a_side(n: Any) -> Any:
    if names:
        n = tf.constant(float(n))
    return n


def repeated(n: Any) -> Any:
    return [n] * int(n)


def counted(n: Any) -> Any:
    return list(range(n))


def through_a_filter(n: Any) -> Any:
    return list(filter(lambda v: v > 0, [n, -n]))


def among_keys(n: Any) -> Any:
    return n in {1: "one", 2: "two"}


def sized_by_it(n: Any) -> Any:
    return np.zeros(n)


def texts(n: Any) -> Any:
    return "positive" if n > 0 else "negative"


SAID: list[tuple[Callable[[Any], Any], str, str]] = [
    (key_in_a_loop, "E0201", "while `key_in_a_loop` is traced"),
    (key_in_a_loop, "E0201", "`i` is another one in each iteration"),
    (looked_up, "E0201", "tf.switch_case(n, [lambda: names[0], lambda: names[1]])"),
    (kept_in_an_array, "E0201", "collect tensors in a list, in place of `out`"),
    (item_of_an_array, "E0204", "`tf.gather(table, n)`"),
    (added_to_an_array, "E0204", "`total = total + n` makes a tensor"),
    (repeated, "E0201", "`tf.repeat([n], n)`"),
    (counted, "E0201", "`n` is asked for an int"),
    (counted, "E0201", "`tf.range(n)`"),
    (through_a_filter, "E0201", "`v > 0` is asked for its truth"),
    (through_a_filter, "E0201", "tf.boolean_mask"),
    (among_keys, "E0201", "`tf.reduce_any(tf.equal(n, [1, 2]))`"),
    (sized_by_it, "E0204", "`tf.zeros` is part of the graph"),
    (texts, "E0902", "`tf.constant('positive')` and `tf.constant('negative')`"),
    (number_on_a_side, "E0201", "stay in the graph: `tf.cast(n, tf.float32)`"),
    (filtered, "E0201", "tf.boolean_mask"),
    (objects, "E0103", "`found` grows in a staged loop by what is no tensor"),
    (in_a_deque, "E0103", "it is a deque, not a list"),
]


@pytest.mark.parametrize(("function", "code", "words"), SAID)
def test_says(function: Callable[[Any], Any], code: str, words: str) -> None:
    with pytest.raises(tf.errors.DiagnosticError) as caught:
        tf.function(function)(tf.constant(1))
    text = str(caught.value)
    assert caught.value.code == code and words in text
    assert "loop in line" not in text and "captured" not in text


def test_length_that_changes_is_called_a_length(capfd: Any) -> None:
    box = Point([])

    @tf.function
    def step(x: Any) -> Any:
        box.v.append(x)
        return tf.add_n(box.v)

    assert [float(step(tf.constant(1.0))) for _ in range(4)] == [1.0, 2.0, 3.0, 4.0]
    said = capfd.readouterr().err
    assert "1 long, now 2 long" in said and "keep its length" in said


def test_dict_of_inputs_gets_a_key() -> None:
    inputs = {name: tf.keras.Input((1,), name=name) for name in ("age", "income")}
    joined = tf.keras.layers.Concatenate()(list(inputs.values()))
    with pytest.raises(ValueError, match="E0301") as caught:
        tf.keras.Model({"age": inputs["age"]}, tf.keras.layers.Dense(1)(joined))
    (edit,) = caught.value.diagnostic.fixes[0].edits  # type: ignore[attr-defined]
    assert '"income": inputs["income"]' in edit.new
