"""A text that UTF-8 has no bytes for (half of a pair) is refused where Keras' names are read."""

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras

HALF = "\ud800"


def fitted(*callbacks):
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model.fit(np.ones((2, 2)), np.ones((2, 1)), verbose=0, callbacks=list(callbacks))


def test_the_registered_name_of_a_layer():
    class Own(keras.layers.Layer):
        pass

    Own._registered_name = HALF
    with pytest.raises(UnicodeEncodeError):
        keras.layers.serialize(Own())


@pytest.mark.parametrize("value", [1.0, np.ones(3)])
def test_what_a_callback_adds_to_the_logs(value):
    class Adds(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            logs[HALF] = value

    with pytest.raises(UnicodeEncodeError):
        fitted(Adds())


def test_the_logs_that_a_callback_passes_on():
    class PassesOn(keras.callbacks.EarlyStopping):
        def on_epoch_end(self, epoch, logs=None):
            super().on_epoch_end(epoch, {**logs, HALF: 1.0})

    with pytest.raises(UnicodeEncodeError):
        fitted(PassesOn(monitor="loss"))


@pytest.mark.parametrize("called", [keras.layers.Dense.__call__, keras.layers.Dense.call])
def test_an_argument_of_a_call(called):
    layer = keras.layers.Dense(2)
    layer.build((1, 2))
    with pytest.raises((UnicodeEncodeError, TypeError)):
        called(layer, tf.ones([1, 2]), **{HALF: 1})
