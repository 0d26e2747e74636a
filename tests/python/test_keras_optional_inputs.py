"""Inputs of models that a call may leave out."""

import numpy as np
import pytest

import holdfast as tf
from holdfast import keras

X, Y = np.ones((4, 2), "f"), np.full((4, 2), 3, "f")


class Added(keras.layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.dense = keras.layers.Dense(2, kernel_initializer="identity")

    def call(self, x, y=None):
        return self.dense(x if y is None else x + y)


def made(form):
    a, b = keras.Input((2,), name="a"), keras.Input((2,), name="b", optional=True)
    return keras.Model({"a": a, "b": b} if form is dict else [a, b], Added()(a, b))


@pytest.mark.parametrize("form", [list, dict])
def test_none_may_be_given_for_it(form):
    model = made(form)
    for y, wanted in ((None, X), (Y, X + Y)):
        given = {"a": X, "b": y} if form is dict else [X, y]
        np.testing.assert_allclose(model(given), wanted)
        np.testing.assert_allclose(model.predict(given, verbose=0), wanted)
        np.testing.assert_allclose(tf.function(model)(given), wanted)
    again = keras.Model.from_config(model.get_config(), custom_objects={"Added": Added})
    again.set_weights(model.get_weights())
    np.testing.assert_allclose(again([X, None] if form is list else {"a": X, "b": None}), X)


@pytest.mark.parametrize("y", [None, Y])
@pytest.mark.parametrize("batches", ["arrays", "generator"])
def test_training_leaves_it_out_too(y, batches):
    model = made(dict)
    model.compile("sgd", "mse")

    def generator(labels=True):
        for _ in range(3):
            yield ({"a": X, "b": y}, X) if labels else ({"a": X, "b": y},)

    if batches == "arrays":
        model.fit({"a": X, "b": y}, X, verbose=0)
        loss = model.evaluate({"a": X, "b": y}, X, verbose=0)
        out = model.predict({"a": X, "b": y}, verbose=0)
    else:
        model.fit(generator(), verbose=0)
        loss = model.evaluate(generator(), verbose=0)
        out = model.predict(generator(labels=False), verbose=0)
    assert np.isfinite(loss) and out.shape == (4 if batches == "arrays" else 12, 2)


def test_none_for_another_input_is_refused_by_its_name():
    a, b = keras.Input((2,), name="a"), keras.Input((2,), name="needed")
    model = keras.Model([a, b], Added()(a, b))
    with pytest.raises((TypeError, ValueError), match="None for its input `needed`"):
        model([X, None])


def test_an_op_can_not_do_without_it():
    a, b = keras.Input((2,), name="a"), keras.Input((2,), name="b", optional=True)
    model = keras.Model([a, b], a + b)
    np.testing.assert_allclose(model([X, Y]), X + Y)
    with pytest.raises((TypeError, ValueError), match="None for its input `b`"):
        model([X, None])
