"""Layers, metrics and optimizers that a traced function makes: each call would go on with the first.

Plain code begins anew at each call, so the function is refused (E0401).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import holdfast as tf

weight = tf.Variable(1.0)


def mean(x: Any) -> Any:
    metric = tf.keras.metrics.Mean()
    metric.update_state(x)
    return metric.result()


def dense(x: Any) -> Any:
    return tf.keras.layers.Dense(2)(x)


def step(x: Any) -> Any:
    optimizer = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    with tf.GradientTape() as tape:
        loss = weight * weight
    optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
    return loss


@pytest.mark.parametrize("function", [mean, dense, step], ids=lambda each: each.__name__)
def test_is_refused(function: Callable[[Any], Any]) -> None:
    with pytest.raises(ValueError, match="E0401") as caught:
        tf.function(function)(tf.ones((1, 2)))
    text = str(caught.value)
    assert "on each call" in text and "outside of" in text


def test_one_that_lasts_may_be_built_by_the_first_call() -> None:
    layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    total = tf.keras.metrics.Sum()

    @tf.function
    def run(x: Any) -> Any:
        total.update_state(x)
        return layer(x)

    for _ in range(2):
        assert run(tf.ones((1, 2))).numpy().tolist() == [[2.0, 2.0]]
    assert float(total.result()) == 4.0


def dropped(x: Any) -> Any:
    return tf.keras.layers.Dropout(0.5)(x, training=True)


def test_stream_without_a_seed_may_go_on() -> None:
    run = tf.function(dropped)
    first, second = (run(tf.ones((64,))).numpy().tolist() for _ in range(2))
    assert set(first) == set(second) == {0.0, 2.0}
    assert first != second


def test_message_names_what_is_made() -> None:
    with pytest.raises(ValueError, match="E0401") as caught:
        tf.function(mean)(tf.ones((1, 2)))
    text = str(caught.value)
    assert "`mean` makes `metric` on each call, and lets it go" in text
    assert "metric = tf.keras.metrics.Mean()" in text
    said = caught.value.diagnostic  # type: ignore[attr-defined]
    assert said.fixes[0].title == "make `metric` once, outside of `mean`"
    with pytest.raises(ValueError, match=r"makes `tf.keras.layers.Dense\(2\)` on each call"):
        tf.function(dense)(tf.ones((1, 2)))


def test_variable_of_an_iteration_begins_with_its_value() -> None:
    @tf.function
    def run(n: Any) -> Any:
        total = tf.constant(0)
        for i in tf.range(n):
            v = tf.Variable(i)
            v.assign_add(1)
            total += v
        return total

    assert [int(run(tf.constant(n))) for n in (3, 4, 0)] == [6, 10, 0]


def test_variable_of_a_branch_begins_with_its_value() -> None:
    @tf.function
    def run(x: Any) -> Any:
        if x > 0:
            y = x * 2
            v = tf.Variable(y)
            v.assign_add(1.0)
            return v.read_value()
        return x

    assert [float(run(tf.constant(x))) for x in (3.0, -1.0, 4.0)] == [7.0, -1.0, 9.0]
