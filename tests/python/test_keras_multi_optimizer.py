"""Optimizers for some variables each, and optimizers whose `apply` is a program's own."""

import numpy as np
import pytest

import holdfast as tf
from holdfast import keras

optimizers = keras.optimizers
RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(32, 4)).astype("f"), RNG.normal(size=(32, 2)).astype("f")


def model_of(seed=1):
    keras.utils.set_random_seed(seed)
    return keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(3, name="encoder"),
            keras.layers.Dense(2, name="head"),
        ],
        name="net",
    )


def trained(optimizer, freeze=None):
    model = model_of()
    if freeze:
        model.get_layer(freeze).trainable = False
    model.compile(optimizer, "mse")
    model.fit(X, Y, batch_size=32, epochs=1, shuffle=False, verbose=0)
    return model


def test_each_variable_moves_as_its_optimizer_says():
    both = trained(
        optimizers.MultiOptimizer(
            optimizers.OptimizerMap(optimizers.SGD(0.1), {".*encoder/.*": optimizers.Adam(0.01)})
        )
    )
    # One step moves a part of a model the same whether or not the other part moves.
    head = trained(optimizers.SGD(0.1), freeze="encoder").get_layer("head")
    encoder = trained(optimizers.Adam(0.01), freeze="head").get_layer("encoder")
    for name, wanted in (("head", head), ("encoder", encoder)):
        for a, b in zip(both.get_layer(name).get_weights(), wanted.get_weights(), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def test_steps_are_counted_once_for_each_optimizer():
    adam, sgd = optimizers.Adam(0.01), optimizers.SGD(0.1)
    multi = optimizers.MultiOptimizer(lambda v: adam if "encoder" in v.path else sgd)
    model = model_of()
    model.compile(multi, "mse")
    model.fit(X, Y, batch_size=8, epochs=2, verbose=0)
    assert [int(o.iterations) for o in (multi, adam, sgd)] == [8, 8, 8]
    assert [type(o).__name__ for o in multi.optimizers] == ["Adam", "SGD"]


def test_a_model_with_it_is_saved_and_goes_on(tmp_path):
    table = {".*head/kernel": optimizers.Adam(0.01), ".*encoder.*": optimizers.RMSprop(0.01)}
    multi = optimizers.MultiOptimizer(optimizers.OptimizerMap(optimizers.SGD(0.1), table))
    model = model_of()
    model.compile(multi, "mse")
    model.fit(X, Y, epochs=1, shuffle=False, verbose=0)
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    kinds = [type(o).__name__ for o in again.optimizer.optimizers]
    assert kinds == ["Adam", "RMSprop", "SGD"]
    for one in (model, again):
        one.fit(X, Y, epochs=1, shuffle=False, verbose=0)
    for a, b in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_a_map_is_asked_by_path_then_by_pattern():
    adam, sgd, rms = optimizers.Adam(), optimizers.SGD(), optimizers.RMSprop()
    table = optimizers.OptimizerMap(rms)
    table["encoder/0/dense"] = adam
    table["encoder/.*"] = sgd
    assert table["encoder/0/dense"] is adam and table["encoder/1"] is sgd
    assert table["encoder"] is rms and len(table) == 2 and next(iter(table)) == "encoder/0/dense"
    table["enc.*"] = adam
    with pytest.raises(ValueError, match="2 patterns fit"):
        table["encoder/1"]
    with pytest.raises(ValueError, match="already"):
        table["enc.*"] = sgd
    with pytest.raises(ValueError, match="MultiOptimizer"):
        table["x"] = optimizers.MultiOptimizer(optimizers.OptimizerMap(sgd))
    with pytest.raises(ValueError, match="LossScaleOptimizer"):
        table["x"] = optimizers.LossScaleOptimizer(sgd)
    with pytest.raises(TypeError, match="expected an optimizer"):
        optimizers.OptimizerMap("sgd")
    with pytest.raises((TypeError, AttributeError), match="learning rate"):
        optimizers.MultiOptimizer(table).learning_rate  # noqa: B018


def test_training_calls_an_apply_of_the_program():
    class Halved(optimizers.SGD):
        calls = 0

        def apply(self, grads, trainable_variables=None):
            type(self).calls += 1
            super().apply([0.5 * g for g in grads], trainable_variables)

    halved = trained(Halved(0.2))
    plain = trained(optimizers.SGD(0.1))
    assert Halved.calls > 0
    for a, b in zip(halved.get_weights(), plain.get_weights(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_steps_without_a_gradient_are_refused_and_rows_are_scaled():
    table = keras.Variable(np.ones((4, 2), "f"))
    table_of = optimizers.OptimizerMap(optimizers.SGD(1.0))
    several = optimizers.MultiOptimizer(table_of, loss_scale_factor=2.0)
    with pytest.raises(ValueError):
        several.apply([None], [table])
    assert int(several.iterations) == 0
    rows = tf.IndexedSlices(tf.fill([1, 2], 2.0), tf.constant([1]), tf.constant([4, 2]))
    several.apply([rows], [table])
    np.testing.assert_allclose(table, [[1, 1], [0, 0], [1, 1], [1, 1]])


def test_training_calls_an_apply_that_an_object_has():
    sgd, calls = optimizers.SGD(0.1), []
    own = sgd.apply

    def noted(grads, trainable_variables=None):
        calls.append(len(grads))
        return own(grads, trainable_variables)

    sgd.apply = noted
    trained(sgd)
    assert calls


def test_callbacks_of_the_learning_rate_find_none(tmp_path):
    several = optimizers.MultiOptimizer(optimizers.OptimizerMap(optimizers.SGD(0.1)))
    model = model_of()
    model.compile(several, "mse")
    schedule = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    with pytest.raises((TypeError, ValueError), match="learning rate of a MultiOptimizer"):
        model.fit(X, Y, verbose=0, callbacks=[schedule])
    model.fit(X, Y, verbose=0, callbacks=[keras.callbacks.TensorBoard(tmp_path)])


def test_its_scale_stands_for_those_of_its_optimizers():
    inner = optimizers.SGD(0.1, loss_scale_factor=2.0)
    several = optimizers.MultiOptimizer(
        optimizers.OptimizerMap(default_optimizer=inner), loss_scale_factor=5.0
    )
    weight = tf.keras.Variable([2.0], name="kernel")
    several.apply([tf.constant([10.0])], [weight])
    np.testing.assert_allclose(weight.numpy(), [1.8], rtol=1e-6)
