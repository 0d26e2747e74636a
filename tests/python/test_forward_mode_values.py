"""Products with tangents, against differences: also where a gradient's formula looks at signs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import holdfast as tf

STEP = 1e-6


def check(function: Callable[[Any], Any], x: np.ndarray) -> None:
    tangent = np.random.default_rng(3).normal(size=x.shape)
    given = tf.constant(x)
    with tf.autodiff.ForwardAccumulator(given, tf.constant(tangent)) as forward:
        y = function(given)
    difference = function(tf.constant(x + STEP * tangent)) - function(
        tf.constant(x - STEP * tangent)
    )
    expected = difference.numpy() / (2 * STEP)
    known = np.isfinite(expected)
    np.testing.assert_allclose(forward.jvp(y).numpy()[known], expected[known], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums_of_exponentials(exclusive: bool, reverse: bool) -> None:
    x = np.random.default_rng(1).normal(size=(3, 4))
    check(
        lambda x: tf.math.cumulative_logsumexp(x, axis=1, exclusive=exclusive, reverse=reverse), x
    )


def test_ctc() -> None:
    x = np.random.default_rng(1).normal(size=(5, 2, 4))
    check(lambda x: tf.nn.ctc_loss([[1, 2], [2, 2]], x, [2, 2], [5, 4]), x)
    logits = tf.constant(x)
    with tf.GradientTape() as outer:
        outer.watch(logits)
        with tf.GradientTape() as inner:
            inner.watch(logits)
            loss = tf.reduce_sum(tf.nn.ctc_loss([[1, 2], [2, 2]], logits, [2, 2], [5, 4]) ** 2)
        slope = inner.gradient(loss, logits)
    with pytest.raises(tf.errors.UnimplementedError, match="no gradient by its logits"):
        outer.gradient(slope, logits)


REFUSED = {
    "dilation": lambda x: tf.nn.dilation2d(
        x, np.ones((2, 2, 1)), [1, 1, 1, 1], "SAME", "NHWC", [1, 1, 1, 1]
    ),
    "fractional max": lambda x: tf.nn.fractional_max_pool(x, [1.0, 1.5, 1.5, 1.0], seed=1)[0],
    "fractional mean": lambda x: tf.nn.fractional_avg_pool(x, [1.0, 1.5, 1.5, 1.0], seed=1)[0],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_second_gradient_is_refused(name: str) -> None:
    x = tf.constant(np.random.default_rng(1).normal(size=(1, 6, 6, 1)))
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
        y = REFUSED[name](x) + tf.reduce_sum(x)
    with pytest.raises(tf.errors.UnimplementedError, match="has no gradient of its own"):
        forward.jvp(y)  # was the sum's alone
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = REFUSED[name](x)
    assert np.abs(tape.gradient(y, x)).sum() > 0
