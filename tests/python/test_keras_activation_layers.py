"""Layers in the place of activations."""

import numpy as np
import pytest

import holdfast as tf
from holdfast import keras

layers = keras.layers
X = np.array([[-2.0, 1.0, 3.0]], "f")


@pytest.mark.parametrize(
    "activation",
    [
        lambda: layers.LeakyReLU(0.1),
        lambda: layers.ReLU(max_value=1.5, negative_slope=0.5),
        lambda: layers.ELU(),
        lambda: layers.Softmax(),
        lambda: layers.Activation("tanh"),
    ],
)
@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda a: layers.Dense(3, activation=a, kernel_initializer="identity"), (1, 3)),
        (lambda a: layers.Conv1D(1, 1, activation=a, kernel_initializer="ones"), (1, 3, 1)),
        (lambda a: layers.Activation(a), (1, 3)),
        (lambda a: layers.EinsumDense("ab,bc->ac", 3, activation=a), (1, 3)),
    ],
)
def test_a_layer_ends_with_the_layer_it_is_given(activation, make, shape):
    keras.utils.set_random_seed(1)
    x = X.reshape(shape)
    plain = make(None)
    between = plain(x)
    ended = make(activation())
    ended.build(shape)
    ended.set_weights(plain.get_weights())
    np.testing.assert_allclose(ended(x), activation()(between), rtol=1e-6)
    np.testing.assert_allclose(tf.function(ended)(x), ended(x), rtol=1e-6)
    again = type(ended).from_config(ended.get_config())
    assert type(again.activation) is type(ended.activation)
    assert again.activation.get_config() == ended.activation.get_config()


def test_the_weights_of_such_a_layer_are_trained_and_saved(tmp_path):
    x = np.random.default_rng(0).normal(size=(16, 3)).astype("f")
    model = keras.Sequential([keras.Input((3,)), layers.Dense(4, activation=layers.PReLU())])
    assert len(model.trainable_variables) == 3
    model.compile(keras.optimizers.SGD(0.5), "mse")
    before = model.layers[0].activation.alpha.numpy()
    model.fit(x, np.ones((16, 4)), epochs=2, verbose=0)
    assert not np.allclose(model.layers[0].activation.alpha, before)
    model.save(tmp_path / "m.keras")
    again = keras.models.load_model(tmp_path / "m.keras")
    np.testing.assert_array_equal(again.predict(x, verbose=0), model.predict(x, verbose=0))


def test_what_is_neither_a_name_nor_a_function_nor_a_layer_is_refused():
    with pytest.raises(TypeError, match="`activation` of Dense"):
        layers.Dense(2, activation=keras.losses.MeanSquaredError())


def test_a_layer_that_is_set_afterwards_is_held_too():
    dense = layers.Dense(4)
    dense.activation = layers.PReLU()
    dense.build((None, 3))
    dense(np.ones((2, 3), "f"))
    assert len(dense.trainable_variables) == 3


def test_a_mask_that_is_larger_than_the_logits_is_refused():
    mask = np.array([[True, False, True], [False, True, False]])
    with pytest.raises(ValueError, match="broadcasts"):
        tf.keras.layers.Softmax()(np.ones((1, 3), "f"), mask=mask)
    out = tf.keras.layers.Softmax()(np.ones((2, 3), "f"), mask=mask[:1])
    np.testing.assert_allclose(out, [[0.5, 0, 0.5]] * 2)
