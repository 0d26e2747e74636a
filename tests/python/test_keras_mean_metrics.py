"""Means and sums over batches whose values have steps, with weights and masks, as Keras' are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import holdfast as tf

metrics = tf.keras.metrics
X = np.array([[1.0, 2.0, 6.0], [4.0, 0.0, 2.0]], "float32")
STEPS = np.array([[True, False, True], [True, True, False]])


def masked(values: Any, mask: Any) -> tf.Tensor:
    """Values as a layer that knows a mask gives them."""
    given = tf.constant(values)
    given._keras_mask = tf.constant(mask)  # as programs set it
    return given


def test_an_example_counts_once_however_many_steps_it_has() -> None:
    mean = metrics.Mean()
    mean.update_state([[1.0, 3.0]])  # 2
    mean.update_state([[4.0, 5.0, 6.0, 9.0], [0.0, 0.0, 0.0, 8.0]])  # 6 and 2
    assert float(mean.result()) == pytest.approx(10 / 3)
    assert float(mean.variables[1]) == 3  # examples
    mean.reset_state()
    mean.update_state([[1.0, 3.0]], [2.0])
    mean.update_state([[4.0, 5.0, 6.0, 9.0]], [[1.0, 1.0, 0.0, 0.0]])  # 9 / 4, weighs 1 / 2
    assert float(mean.result()) == pytest.approx((4 + 9 / 4) / (2 + 1 / 2))
    error = metrics.MeanAbsoluteError()
    error.update_state(np.zeros((1, 2, 1)), np.full((1, 2, 1), 3.0))
    error.update_state(np.zeros((1, 6, 1)), np.full((1, 6, 1), 9.0))
    assert float(error.result()) == pytest.approx(6)


def test_a_number_for_all_weighs_as_one_value() -> None:
    mean = metrics.Mean()
    mean.update_state(X, 2.0)
    assert float(mean.result()) == pytest.approx(X.mean())
    assert float(mean.variables[1]) == 2
    mean.update_state(7.0)
    assert float(mean.variables[1]) == 3


def test_sums_of_steps() -> None:
    total = metrics.Sum()
    total.update_state(X, [1.0, 10.0])
    assert float(total.result()) == pytest.approx(9 + 60)
    total.reset_state()
    total.update_state(X, [[1.0], [10.0]])
    assert float(total.result()) == pytest.approx(9 + 60)


def test_masks_of_means_and_sums_count_where_there_are_weights() -> None:
    weights = np.array([[1.0, 1.0, 2.0], [3.0, 1.0, 1.0]], "float32")
    for mask, kept in ((STEPS, STEPS), ([True, False], np.array([[True], [False]]))):
        w = weights * kept
        mean, total = metrics.Mean(), metrics.Sum()
        mean.update_state(masked(X, mask), weights)
        total.update_state(masked(X, mask), weights)
        assert float(mean.result()) == pytest.approx((X * w).mean(1).sum() / w.mean(1).sum())
        assert float(total.result()) == pytest.approx((X * w).sum())
        mean.reset_state()
        mean.update_state(masked(X, mask))
        assert float(mean.result()) == pytest.approx(X.mean())


def test_weights_of_examples_and_masks_of_steps() -> None:
    y = np.zeros((2, 3, 1), "float32")
    w = np.array([1.0, 5.0])[:, None] * STEPS
    for weights in (np.array([1.0, 5.0]), np.array([[1.0], [5.0]])):
        error = metrics.MeanAbsoluteError()
        error.update_state(y, masked(X[..., None], STEPS), weights)
        assert float(error.result()) == pytest.approx((X * w).mean(1).sum() / w.mean(1).sum())


def test_the_root_of_a_mean_knows_no_mask() -> None:
    root = metrics.RootMeanSquaredError()
    root.update_state(np.zeros_like(X), masked(X, STEPS))
    assert float(root.result()) == pytest.approx(np.sqrt((X**2).mean()))
    root.update_state(np.zeros_like(X), masked(X, STEPS), [1.0, 0.0])
    expected = ((X**2).mean(1).sum() + (X[0] ** 2).mean()) / 3
    assert float(root.result()) == pytest.approx(np.sqrt(expected))


def test_in_a_trace_that_knows_no_shapes() -> None:
    mean = metrics.Mean()

    @tf.function(input_signature=[tf.TensorSpec(None, "float32")])
    def gather(values: tf.Tensor) -> None:
        mean.update_state(values)

    gather(np.array([[1.0, 3.0]], "float32"))
    gather(np.array([[4.0, 5.0, 6.0, 9.0], [0.0, 0.0, 0.0, 8.0]], "float32"))
    gather(np.float32(5))
    assert float(mean.result()) == pytest.approx(15 / 4)
    assert float(mean.variables[1]) == 4


@pytest.mark.parametrize("kind", [metrics.Mean, metrics.Sum])
def test_weights_and_masks_in_a_trace_that_knows_no_shapes(kind: Any) -> None:
    traced, eager = kind(), kind()

    @tf.function(input_signature=[tf.TensorSpec(None, "float32")] * 2)
    def gather(values: tf.Tensor, weights: tf.Tensor) -> None:
        traced.update_state(values, weights)

    @tf.function(input_signature=[tf.TensorSpec(None, d) for d in ("float32", "bool", "float32")])
    def gather_masked(values: tf.Tensor, mask: tf.Tensor, weights: tf.Tensor) -> None:
        values._keras_mask = mask
        traced.update_state(values, weights)

    of_examples = np.array([1.0, 5.0], "float32")
    for weights in (of_examples, of_examples[:, None], X, np.float32(2)):
        gather(X, weights)
        eager.update_state(X, weights)
        gather_masked(X, STEPS, weights)
        eager.update_state(masked(X, STEPS), weights)
    np.testing.assert_allclose(
        [v.numpy() for v in traced.variables], [v.numpy() for v in eager.variables], rtol=1e-6
    )


def test_weights_that_fit_no_values_are_refused() -> None:
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="2"):
        metrics.Mean().update_state(X, [1.0, 2.0, 3.0, 4.0])
