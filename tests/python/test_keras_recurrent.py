"""Recurrent layers from Python: cells of a program's own, states, masks, configs."""

import numpy as np
import pytest

import holdfast as tf

layers = tf.keras.layers


def sequences(batch=2, time=4, size=3):
    n = batch * time * size
    return tf.constant(np.sin(np.arange(n) * 0.7).reshape(batch, time, size).astype("float32"))


def test_a_cell_of_python_is_repeated_and_may_call_its_states_what_it_likes():
    class Sum(layers.Layer):
        def __init__(self, size, **kwargs):
            super().__init__(**kwargs)
            self.state_size = size

        def call(self, inputs, before):
            after = before[0] + inputs
            return after * 2, [after]

    rnn = layers.RNN(Sum(3), return_sequences=True, return_state=True)
    x = sequences()
    y, last = rnn(x)
    total = np.cumsum(x.numpy(), axis=1)
    np.testing.assert_allclose(y.numpy(), 2 * total, rtol=1e-5)
    np.testing.assert_allclose(last.numpy(), total[:, -1], rtol=1e-5)

    @tf.function(input_signature=[tf.TensorSpec([None, None, 3])])
    def traced(x):
        return rnn(x)[0]

    np.testing.assert_allclose(traced(x).numpy(), y.numpy(), rtol=1e-5)


def test_a_cell_that_derives_from_ours_runs_its_own_call():
    class Twice(layers.GRUCell):
        def call(self, inputs, states, training=None):
            y, after = super().call(inputs, states)
            return y * 2, after

    plain, twice = layers.GRUCell(3), Twice(3)
    x = sequences()
    a, b = layers.RNN(plain), layers.RNN(twice)
    a(x), b(x)
    for mine, theirs in zip(twice.weights, plain.weights, strict=True):
        mine.assign(theirs)
    # Weights are random: what is near zero is a difference of larger numbers.
    np.testing.assert_allclose(b(x).numpy(), 2 * a(x).numpy(), rtol=1e-5, atol=1e-6)


def test_a_cell_says_its_first_states():
    class Ones(layers.SimpleRNNCell):
        def get_initial_state(self, batch_size=None):
            return [tf.ones([batch_size, self.units])]

    cell = Ones(3, kernel_initializer="zeros", recurrent_initializer="identity", activation=None)
    np.testing.assert_allclose(layers.RNN(cell)(sequences()).numpy(), np.ones((2, 3)))


def test_states_come_and_go():
    lstm = layers.LSTM(5, return_state=True, return_sequences=True)
    x = sequences()
    y, h, c = lstm(x)
    assert y.shape == (2, 4, 5) and h.shape == (2, 5) and c.shape == (2, 5)
    np.testing.assert_allclose(y.numpy()[:, -1], h.numpy())
    first, h, c = lstm(x[:, :2])
    second, _, _ = lstm(x[:, 2:], initial_state=[h, c])
    np.testing.assert_allclose(np.concatenate([first, second], 1), y.numpy(), rtol=1e-5)
    names = [w.path.partition("/")[2] for w in lstm.weights]
    assert names == ["lstm_cell/kernel", "lstm_cell/recurrent_kernel", "lstm_cell/bias"]
    assert lstm.cell.units == 5 and lstm.cell.state_size == [5, 5]
    assert isinstance(lstm, layers.RNN)


def test_a_stateful_layer_is_reset():
    gru = layers.GRU(3, stateful=True)
    x = sequences()
    first = gru(x).numpy()
    assert not np.allclose(gru(x).numpy(), first)
    gru.reset_state()
    np.testing.assert_allclose(gru(x).numpy(), first, rtol=1e-6)


def test_configs_hold_the_layers_inside():
    both = layers.Bidirectional(layers.LSTM(3, return_sequences=True), merge_mode="sum")
    config = both.get_config()
    assert config["layer"]["class_name"] == "LSTM"
    assert config["backward_layer"]["config"]["go_backwards"] is True
    again = layers.Bidirectional.from_config(config)
    x = sequences()
    both(x), again(x)
    again.set_weights(both.get_weights())
    np.testing.assert_allclose(again(x).numpy(), both(x).numpy(), rtol=1e-6)
    assert len(both.trainable_weights) == 6
    assert both.forward_layer.cell.units == 3


def test_a_model_of_open_lengths():
    model = tf.keras.Sequential(
        [
            layers.Input((None,), dtype="int32"),
            layers.Embedding(10, 4, mask_zero=True),
            layers.Bidirectional(layers.GRU(3)),
            layers.Dense(2),
        ]
    )
    assert model(tf.constant([[1, 2, 0], [3, 0, 0]])).shape == (2, 2)
    assert model(tf.constant([[1, 2, 3, 4, 5]])).shape == (1, 2)


def test_a_layer_for_each_step():
    x = sequences()
    one = layers.Dense(5)
    np.testing.assert_allclose(
        layers.TimeDistributed(one)(x).numpy(), one(x).numpy(), rtol=1e-5, atol=1e-6
    )


def test_a_layer_that_is_no_cell_is_refused():
    with pytest.raises((TypeError, ValueError), match="state_size"):
        layers.RNN(layers.Dense(3))


def test_a_stateful_layer_says_which_batch_it_goes_on_from():
    """A batch of another size was told of as a kernel's."""
    keras = tf.keras
    model = keras.Sequential(
        [keras.Input(batch_shape=(2, 5, 3)), keras.layers.LSTM(2, stateful=True)]
    )
    x = np.ones((3, 5, 3), "float32")
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"expected shape \[2,"):
        model.predict(x, batch_size=2, verbose=0)
    with pytest.raises(ValueError, match="expected a batch of 2"):
        model(x)
