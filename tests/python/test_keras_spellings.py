"""Spellings and manners that guides and older programs use."""

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras


class Times(keras.layers.Layer):
    """Its config leaves the name out."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def call(self, x):
        return x * self.factor

    def get_config(self):
        return {"factor": self.factor}


def test_configs_without_names_are_read_by_what_the_model_calls_them(tmp_path):
    x = keras.Input((4,))
    twice = Times(2.0)
    model = keras.Model(x, keras.layers.Dense(1)(twice(twice(x))))
    known = {"Times": Times}
    rows = np.arange(8, dtype="float32").reshape(2, 4)
    again = keras.Model.from_config(model.get_config(), custom_objects=known)
    again.set_weights(model.get_weights())
    np.testing.assert_array_equal(again(rows), model(rows))
    model.save(tmp_path / "m.keras")
    read = keras.models.load_model(tmp_path / "m.keras", custom_objects=known)
    np.testing.assert_array_equal(read(rows), model(rows))


def test_the_width_of_an_embedding_is_its_own():
    model = keras.Sequential([keras.layers.Embedding(input_dim=10, output_dim=4)])
    assert model(np.array([[1, 9]])).shape == (1, 2, 4)
    dense = keras.Sequential([keras.layers.Dense(2, input_dim=3)])
    assert dense.built and dense.input_shape == (None, 3)


def test_the_states_of_recurrent_layers_can_be_handed_on():
    x = np.ones((2, 3, 4), "float32")
    for kind, count in ((keras.layers.LSTM, 2), (keras.layers.GRU, 1), (keras.layers.SimpleRNN, 1)):
        assert kind(5).states is None
        layer = kind(5, stateful=True)
        layer(x)
        assert [tuple(s.shape) for s in layer.states] == [(2, 5)] * count
        other = kind(5)
        other(x)
        other.set_weights(layer.get_weights())
        np.testing.assert_array_equal(other(x, initial_state=layer.states), layer(x))
    repeated = keras.layers.RNN(keras.layers.LSTMCell(3), stateful=True)
    repeated(x)
    assert len(repeated.states) == 2


def test_an_empty_name_is_none():
    class Model(keras.Model):
        def __init__(self):
            super().__init__(name="")

    assert Model().name.startswith("model")
    assert keras.layers.Dense(1, name="").name.startswith("dense")


def test_a_model_without_weights_has_a_loss_and_says_that_fit_changes_nothing():
    x = keras.Input((3,))
    model = keras.Model(x, keras.layers.ActivityRegularization(l2=1.0)(x))
    rows = np.ones((2, 3), "float32")
    for loss in ("mse", None):
        model.compile("adam", loss)
        with pytest.warns(UserWarning, match="no trainable weights"):
            history = model.fit(rows, rows, verbose=0).history
        assert history["loss"][0] > 0
    frozen = keras.Sequential([keras.layers.Dense(3)])
    frozen.trainable = False
    frozen.compile("sgd", "mse")
    with pytest.warns(UserWarning, match="no trainable weights"):
        frozen.fit(rows, rows, verbose=0)


def test_reductions_by_their_older_names():
    Reduction = keras.losses.Reduction
    each = keras.losses.MeanSquaredError(reduction=Reduction.NONE)
    assert each(np.ones((2, 3)), np.zeros((2, 3))).shape == (2,)
    total = keras.losses.MeanSquaredError(reduction=Reduction.SUM)
    assert float(total(np.ones((2, 3)), np.zeros((2, 3)))) == 2.0
    assert Reduction.SUM_OVER_BATCH_SIZE in Reduction.all()
    Reduction.validate("none")
    with pytest.raises(ValueError, match="`reduction` is 'product'"):
        Reduction.validate("product")
