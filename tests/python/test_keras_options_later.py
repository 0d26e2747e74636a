"""Options of optimizers and losses that a program sets once they are made."""

import numpy as np
import pytest

import holdfast as tf
from holdfast import keras


def stepped(optimizer, times=1):
    v = tf.Variable([1.0, 1.0])
    for _ in range(times):
        optimizer.apply_gradients([(tf.constant([3.0, 4.0]), v)])
    return v.numpy()


@pytest.mark.parametrize(
    ("option", "value", "after"),
    [
        ("clipnorm", 0.5, [0.7, 0.6]),
        ("global_clipnorm", 1.0, [0.4, 0.2]),
        ("clipvalue", 2.0, [-1.0, -1.0]),
        ("weight_decay", 0.5, [-2.5, -3.5]),
        ("momentum", 0.5, [-2.0, -3.0]),
    ],
)
def test_an_option_that_is_set_later_holds_from_the_next_step(option, value, after):
    optimizer = keras.optimizers.SGD(1.0)
    setattr(optimizer, option, value)
    np.testing.assert_allclose(stepped(optimizer), after, atol=1e-6)
    made_with = keras.optimizers.SGD(1.0, **{option: value})
    np.testing.assert_allclose(stepped(made_with), after, atol=1e-6)


def test_the_rate_of_an_optimizer_stays_when_another_option_is_set():
    optimizer = keras.optimizers.SGD(1.0)
    optimizer.learning_rate = 0.5
    stepped(optimizer)
    optimizer.clipvalue = 2.0
    np.testing.assert_allclose(stepped(optimizer), [0.0, 0.0], atol=1e-6)
    optimizer.learning_rate = 0.25
    np.testing.assert_allclose(stepped(optimizer), [0.5, 0.5], atol=1e-6)
    assert int(optimizer.iterations) == 3


def test_what_can_not_be_set_any_more_is_refused_and_changes_nothing():
    optimizer = keras.optimizers.Adam(0.1, clipnorm=1.0)
    with pytest.raises((TypeError, ValueError), match="two ways"):
        optimizer.clipvalue = 1.0
    assert optimizer.clipvalue is None and optimizer.clipnorm == 1
    stepped(optimizer)
    with pytest.raises((TypeError, ValueError), match="can't be set any more"):
        optimizer.use_ema = True
    assert optimizer.use_ema is False
    stepped(optimizer)


def test_a_loss_reduces_as_it_was_told_last():
    loss = keras.losses.MeanSquaredError()
    y, p = np.zeros((4, 2), "f"), np.full((4, 2), 2.0, "f")
    assert float(loss(y, p)) == 4
    loss.reduction = "sum"
    assert float(loss(y, p)) == 16
    with pytest.raises((TypeError, ValueError), match="reduction"):
        loss.reduction = "median"
    assert loss.reduction == "sum" and float(loss(y, p)) == 16


def test_the_scale_of_losses_is_shown_as_it_changes():
    optimizer = keras.optimizers.LossScaleOptimizer(
        keras.optimizers.SGD(0.1), initial_scale=8.0, dynamic_growth_steps=2
    )
    assert optimizer.dynamic_scale is None
    v, scales = keras.Variable([1.0, 2.0]), []
    for gradient in ([8.0, 8.0], [8.0, 8.0], [float("inf"), 0.0], [8.0, 8.0]):
        optimizer.apply_gradients([(tf.constant(gradient), v)])
        scales.append((float(optimizer.dynamic_scale), int(optimizer.step_counter)))
    assert scales == [(8.0, 1), (16.0, 0), (8.0, 0), (8.0, 1)]
    np.testing.assert_allclose(v, [0.7, 1.7], rtol=1e-6)


def test_a_scale_that_changes_while_a_model_is_trained_leaves_no_trace_in_its_weights():
    x = np.arange(24, dtype="f").reshape(12, 2) / 24
    y = x[:, :1] * 3
    found = []
    for scaled in (False, True):
        model = keras.Sequential(
            [keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="ones")]
        )
        optimizer = keras.optimizers.SGD(0.1)
        if scaled:
            optimizer = keras.optimizers.LossScaleOptimizer(
                optimizer, initial_scale=8.0, dynamic_growth_steps=2
            )
        model.compile(optimizer, "mse")
        history = model.fit(x, y, batch_size=2, epochs=2, shuffle=False, verbose=0).history
        found.append((history["loss"], model.get_weights()[0]))
    assert float(optimizer.dynamic_scale) == 8 * 2**6
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-5)


def test_a_layer_that_is_no_activation_any_more_is_let_go():
    dense = keras.layers.Dense(3, activation=keras.layers.PReLU())
    dense(np.ones((2, 4), "f"))
    assert len(dense.weights) == 3
    dense.activation = keras.layers.PReLU(shared_axes=[1])
    dense(np.ones((2, 4), "f"))
    assert [w.shape.as_list() for w in dense.trainable_weights] == [[4, 3], [3], [1]]
    dense.activation = "relu"
    assert len(dense.weights) == len(dense.trainable_weights) == 2
    assert dense.submodules == ()


def test_another_policy_is_for_calls_and_for_weights_to_come():
    layer = keras.layers.Dense(3)
    layer.dtype_policy = "mixed_bfloat16"
    assert layer.dtype_policy.name == "mixed_bfloat16"
    assert (layer.compute_dtype, layer.variable_dtype) == ("bfloat16", "float32")
    assert layer(np.ones((2, 4), "f")).dtype == "bfloat16"
    assert layer.get_config()["dtype"]["config"]["name"] == "mixed_bfloat16"
    layer.dtype_policy = keras.DTypePolicy("float32")
    assert layer(np.ones((2, 4), "f")).dtype == "float32"
    with pytest.raises((TypeError, ValueError)):
        layer.dtype_policy = "mixed_up"
    assert layer.dtype_policy.name == "float32"

    class Own(keras.layers.Layer):
        def call(self, x):
            return x * 2

    own = Own()
    own.dtype_policy = "float16"
    assert own(np.ones(2, "f")).dtype == "float16"
