"""What is said of gradients that are None names what the program has, and nothing it has not."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import holdfast as tf


class Net(tf.keras.Model):
    """Trains itself through an argmax."""

    def __init__(self) -> None:
        super().__init__()
        self.head = tf.keras.layers.Dense(2, name="head")

    def call(self, x: Any) -> Any:
        return self.head(x)

    def train_step(self, data: Any) -> Any:
        x, y = data
        with tf.GradientTape() as tape:
            chosen = tf.argmax(self(x), axis=-1)
            loss = tf.reduce_mean(tf.abs(tf.cast(chosen, tf.float32) - y))
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        return {"loss": loss}


def test_optimizer_tells_what_the_tape_knew() -> None:
    net = Net()
    net.compile("sgd")
    with pytest.raises(ValueError, match="E0501") as caught:
        net.fit(np.ones((4, 3), "float32"), np.ones(4, "float32"), verbose=0)
    said = caught.value.diagnostic  # type: ignore[attr-defined]
    (cut,) = [label.loc.line for label in said.labels if label.role == "cut"]
    assert "tf.argmax" in pathlib.Path(__file__).read_text().splitlines()[cut - 1]
    assert "head/kernel` is cut off in line" in said.why and "ArgMax" in said.why
    assert "softmax" in said.fixes[0].title


def test_gradients_of_other_variables_are_another_story() -> None:
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.round(v)
    assert tape.gradient(y, v) is None
    with pytest.raises(ValueError, match="all gradients are None") as caught:
        tf.keras.optimizers.SGD().apply_gradients([(None, w)])
    assert "Round" not in str(caught.value)


def test_copy_under_another_name_replaced_no_variable(capfd: Any) -> None:
    v = tf.Variable([1.0, 2.0])
    x = tf.identity(v)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(x * x)
    assert tape.gradient(y, x) is None
    said = capfd.readouterr().err
    assert "`x` is not watched" in said and "assign" not in said


def test_fast_weights_replace_no_variable(capfd: Any) -> None:
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        loss = w * w
    fast = w - 0.1 * tape.gradient(loss, w)
    with tf.GradientTape() as tape:
        loss = fast * fast
    assert tape.gradient(loss, fast) is None
    assert "`fast` is not watched" in capfd.readouterr().err


def test_both_at_once_is_said_of_one_target_only() -> None:
    x, z = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = x * z
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="or ask for both at once"):
        tape.gradient(y, z)
    with tf.GradientTape() as tape:
        y = x * z
        u = y * y
    tape.gradient(y, x)
    with pytest.raises(RuntimeError) as caught:
        tape.gradient(u, x)
    assert "at once" not in str(caught.value)


def test_a_file_is_not_read_for_advice_that_nothing_asks_for(monkeypatch: Any, capfd: Any) -> None:
    from holdfast._messages import rebinding

    def never(*_: Any) -> Any:
        raise AssertionError("the whole file was looked at")

    monkeypatch.setattr(rebinding, "_Gradients", never)
    x, y = tf.Variable(1.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(y)
        z = x * 1.0
    assert tape.gradient(z, y) is None
    said = capfd.readouterr().err
    assert "W0502" in said and "but not from `y`" in said
