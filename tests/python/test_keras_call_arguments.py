"""Arguments of layers' calls by their places, masks that are merged, and shapes of several outputs."""

import csv

import numpy as np
import pytest

import holdfast as tf
from holdfast import keras
from holdfast.keras import layers


def test_a_mask_may_be_the_second_argument():
    x = np.array([[[1.0, 2.0], [3.0, 4.0], [50.0, 60.0]]], "f")
    mask = np.array([[True, True, False]])
    pooled = layers.GlobalAveragePooling1D()
    assert np.allclose(pooled(x, mask), [[2, 3]])
    assert np.allclose(pooled(x, mask), pooled(x, mask=mask))
    soft = layers.Softmax()(np.zeros((1, 3), "f"), mask)
    assert np.allclose(soft, [[0.5, 0.5, 0]])
    lstm = layers.LSTM(3)
    first = [np.ones((1, 3), "f"), np.ones((1, 3), "f")]
    assert np.allclose(lstm(x, first, mask), lstm(x, initial_state=first, mask=mask))


def test_too_many_arguments_are_refused_with_the_names_of_those_it_takes():
    with pytest.raises(TypeError, match="5 arguments by position") as e:
        layers.LSTM(2)(np.ones((1, 2, 2), "f"), None, None, False, 7)
    assert "`initial_state`" in str(e.value)


def masked(values):
    return layers.Masking()(tf.constant(values))


@pytest.mark.parametrize(
    ("layer", "one_mask", "both_masks"),
    [
        (layers.Multiply, [[0, 0], [0, 0], [5, 6]], [[0, 0], [3, 4], [5, 6]]),
        (layers.Maximum, [[0, 0], [3, 4], [5, 6]], [[0, 0], [3, 4], [5, 6]]),
        (layers.Minimum, [[0, 0], [0, 0], [5, 6]], [[0, 0], [3, 4], [5, 6]]),
    ],
)
def test_what_a_mask_leaves_out_does_not_count(layer, one_mask, both_masks):
    a = masked([[[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]]])
    plain = [[[0.0, 0.0], [0.0, 0.0], [5.0, 6.0]]]
    assert np.allclose(layer()([a, tf.constant(plain)]), [one_mask])
    out = layer()([a, masked(plain)])
    assert np.allclose(out, [both_masks])


def test_steps_of_integers_can_be_masked_and_averaged():
    a, b = masked([[[0, 0], [1, 2]]]), masked([[[0, 0], [2, 4]]])
    out = layers.Average()([a, b])
    assert out.dtype == tf.float32
    assert np.allclose(out, [[[0, 0], [1.5, 3]]])
    kept = layers.Add().compute_mask([a, b], [np.array([[1.0, 0.0]]), np.array([[0.0, 0.0]])])
    assert kept.numpy().tolist() == [[True, False]]


def test_a_merging_layer_wants_a_mask_for_each_input():
    x = np.ones((1, 2, 2), "f")
    for mask in (np.ones((1, 2), bool), [np.ones((1, 2), bool)]):
        with pytest.raises((ValueError, TypeError), match="expected a list of 2"):
            layers.Add().compute_mask([x, x], mask)


def test_the_mask_of_attention_is_that_of_the_query():
    query = np.array([[True, False, True]])
    for layer in (layers.Attention(), layers.AdditiveAttention()):
        out = layer.compute_mask(inputs=[np.ones((1, 3, 2))] * 2, mask=[query, query])
        assert out.numpy().tolist() == query.tolist()


def test_attention_scores_are_what_dropout_left():
    keras.utils.set_random_seed(3)
    x = np.ones((1, 40, 2), "f")
    out, scores = layers.Attention(dropout=0.5)([x, x], return_attention_scores=True, training=True)
    assert np.any(scores.numpy() == 0)
    assert np.allclose(out, scores.numpy() @ x, atol=1e-5)


def test_the_shape_of_several_outputs():
    rnn = layers.LSTM(4, return_sequences=True, return_state=True)
    assert rnn.compute_output_shape((2, 3, 5)) == ((2, 3, 4), (2, 4), (2, 4))
    assert layers.GRU(4).compute_output_shape((None, 3, 5)) == (None, 4)
    attention = layers.MultiHeadAttention(2, 3, output_shape=7)
    assert attention.compute_output_shape((2, 4, 5), (2, 6, 5)) == (2, 4, 7)
    named = {"query_shape": (2, 4, 5), "value_shape": (2, 6, 5), "key_shape": (2, 6, 5)}
    assert layers.MultiHeadAttention(2, 3).compute_output_shape(**named) == (2, 4, 5)


class Counts(layers.Layer):
    state_size = 2
    output_size = 2

    def call(self, inputs, states, training=None):
        return states[0] + 1, [states[0] + 1]


def test_a_cell_of_one_state_in_a_stack_gives_that_state():
    out, first, second = layers.RNN([Counts(), Counts()], return_state=True)(
        np.ones((3, 4, 2), "f")
    )
    assert out.shape == first.shape == second.shape == (3, 2)
    assert np.all(first.numpy() == 4)


def test_layer_normalization_over_the_deviation_alone():
    x = np.array([[1.0, 2.0, 6.0]], "f")
    layer = layers.LayerNormalization(rms_scaling=True)
    assert np.allclose(layer(x), x / np.sqrt(x.var() + 1e-3), atol=1e-5)
    assert len(layer.weights) == 1


class Summed(keras.losses.Loss):
    def __call__(self, y_true, y_pred, sample_weight=None):
        return tf.reduce_sum(y_pred)


class Doubled(keras.losses.MeanSquaredError):
    def __call__(self, y_true, y_pred, sample_weight=None):
        return 2 * super().__call__(y_true, y_pred, sample_weight)


def test_a_loss_may_say_the_whole_of_its_call():
    x, y = np.ones((8, 2), "f"), np.full((8, 1), 3.0, "f")
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", Summed())
    assert model.evaluate(x, y, batch_size=8, verbose=0) == pytest.approx(16)
    model.compile("sgd", Doubled())
    assert model.evaluate(x, y, batch_size=4, verbose=0) == pytest.approx(2)
    assert model.fit(x, y, batch_size=8, verbose=0).history["loss"] == [pytest.approx(2)]


def test_the_log_has_columns_for_later_validations(tmp_path):
    x, y = np.ones((4, 2), "f"), np.ones((4, 1), "f")
    model = keras.Sequential([keras.Input((2,)), layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    path = tmp_path / "log.csv"
    history = model.fit(
        x,
        y,
        epochs=3,
        validation_data=(x, y),
        validation_freq=2,
        verbose=0,
        callbacks=[keras.callbacks.CSVLogger(str(path))],
    ).history
    with path.open() as f:
        rows = list(csv.DictReader(f))
    assert list(rows[0]) == ["epoch", "loss", "mae", "val_loss", "val_mae"]
    assert [row["val_loss"] for row in rows] == ["NA", str(history["val_loss"][0]), "NA"]
    assert [row["loss"] for row in rows] == [str(v) for v in history["loss"]]


def test_a_number_that_is_none_is_written_as_nan(tmp_path):
    path = tmp_path / "log.csv"
    log = keras.callbacks.CSVLogger(str(path))
    log.on_train_begin({})
    log.on_epoch_end(0, {"loss": -float("nan")})
    log.on_train_end({})
    assert path.read_text().splitlines()[1].split(",")[1] == "nan"


def test_arguments_by_place_come_back_from_a_file(tmp_path):
    x = keras.Input((3, 2))
    mask = keras.Input((3,), dtype="bool")
    model = keras.Model([x, mask], layers.GlobalAveragePooling1D()(x, mask))
    config = model.get_config()
    again = keras.Model.from_config(config)
    values = [np.arange(6, dtype="f").reshape(1, 3, 2), np.array([[True, False, True]])]
    assert np.allclose(again(values), model(values))
    pooled = next(c for c in config["layers"] if c["class_name"] == "GlobalAveragePooling1D")
    node = pooled["inbound_nodes"][0]
    node["args"], node["kwargs"] = [*node["args"], node["kwargs"].pop("mask")], node["kwargs"]
    assert np.allclose(keras.Model.from_config(config)(values), model(values))


def test_tracebacks_can_be_shown_whole():
    assert keras.config.is_traceback_filtering_enabled()
    keras.config.disable_traceback_filtering()
    try:
        assert not tf.debugging.is_traceback_filtering_enabled()
    finally:
        keras.config.enable_traceback_filtering()
    assert keras.config.is_traceback_filtering_enabled()


def test_layers_inside_are_listed_before_what_they_hold():
    inner = keras.Sequential([layers.Dense(2, name="a"), layers.Dense(2, name="b")], name="inner")
    x = keras.Input((2,), name="x")
    model = keras.Model(x, layers.Dense(1, name="c")(inner(x)), name="outer")
    assert [p.name for p in model._flatten_layers()] == ["outer", "x", "inner", "a", "b", "c"]
    assert [p.name for p in model._flatten_layers(False, False)] == ["x", "inner", "c"]
