"""What layers, metrics and optimizers do with values that are given: nothing is left behind."""

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras


def values(variables):
    return [v.numpy() for v in variables]


def model():
    made = keras.Sequential(
        [keras.Input((3,)), keras.layers.Dense(4), keras.layers.BatchNormalization(momentum=0.5)]
    )
    made.add(keras.layers.Dense(2, kernel_regularizer="l2"))
    return made


X = np.arange(12, dtype=np.float32).reshape(4, 3) / 6


def test_a_call_leaves_nothing_behind():
    made = model()
    before = values(made.variables)
    trained = [2 * v for v in values(made.trainable_variables)]
    rest = values(made.non_trainable_variables)
    y, after = made.stateless_call(trained, rest, X, training=True)
    assert all(np.array_equal(a, b) for a, b in zip(before, values(made.variables), strict=True))
    for variable, value in zip(made.trainable_variables, trained, strict=True):
        variable.assign(value)
    np.testing.assert_allclose(y, made(X, training=True), rtol=1e-6)
    for variable, value in zip(made.non_trainable_variables, after, strict=True):
        np.testing.assert_allclose(variable, value, rtol=1e-6)


def test_losses_come_along():
    made = model()
    state = (values(made.trainable_variables), values(made.non_trainable_variables))
    y, after, losses = made.stateless_call(*state, X, return_losses=True)
    assert y.shape == (4, 2) and len(after) == 2
    np.testing.assert_allclose(losses[0], made.losses[0], rtol=1e-6)


@pytest.mark.parametrize("traced", [False, True])
def test_gradients_are_those_of_the_values(traced):
    layer = keras.layers.Dense(2)
    layer.build((None, 3))

    def slopes(kernel, bias, x):
        with tf.GradientTape() as tape:
            tape.watch([kernel, bias, x])
            y, _ = layer.stateless_call([kernel, bias], [], x)
            loss = tf.reduce_sum(y * y)
        return tape.gradient(loss, [kernel, bias, x])

    kernel, bias, x = tf.constant(X[:3, :2]), tf.constant([1.0, -1.0]), tf.constant(X)
    found = (tf.function(slopes) if traced else slopes)(kernel, bias, x)
    with tf.GradientTape() as tape:
        tape.watch([kernel, bias, x])
        y = x @ kernel + bias
        loss = tf.reduce_sum(y * y)
    for got, want in zip(found, tape.gradient(loss, [kernel, bias, x]), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_a_metric():
    metric = keras.metrics.Mean()
    metric.update_state([5.0])
    first = metric.stateless_reset_state()
    second = metric.stateless_update_state(first, [1.0, 3.0])
    third = metric.stateless_update_state(second, [8.0])
    assert float(metric.stateless_result(third)) == 4.0
    assert float(metric.result()) == 5.0


def test_an_optimizer_trains_as_its_own_steps_do():
    weights = [tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])]
    grads = [tf.constant([0.5, -0.5]), tf.constant([[1.0]])]
    optimizer = keras.optimizers.Adam(0.1)
    optimizer.build(weights)
    state, kept = values(weights), values(optimizer.variables)
    for _ in range(3):
        state, kept = optimizer.stateless_apply(kept, grads, state)
    assert int(optimizer.iterations) == 0 and weights[0].numpy().tolist() == [1.0, 2.0]
    for _ in range(3):
        optimizer.apply(grads, weights)
    for value, variable in zip([*state, *kept], [*weights, *optimizer.variables], strict=True):
        np.testing.assert_allclose(value, variable, rtol=1e-6)


def test_refusals():
    layer = keras.layers.Dense(2)
    with pytest.raises(TypeError, match="before there are variables"):
        layer.stateless_call([], [], X)
    layer.build((None, 3))
    with pytest.raises(TypeError, match="has 1 values, expected 2"):
        layer.stateless_call([np.ones((3, 2))], [], X)
    with pytest.raises(ValueError, match=r"has the shape \(4, 2\) for"):
        layer.stateless_call([np.ones((4, 2)), np.ones(2)], [], X)
    with pytest.raises(tf.errors.UnimplementedError):
        layer.quantize("int8")
