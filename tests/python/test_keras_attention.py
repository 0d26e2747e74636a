"""Layers of attention from Python."""

import numpy as np
import pytest

import holdfast as tf

layers = tf.keras.layers


def places(*shape):
    return tf.constant(np.sin(np.arange(np.prod(shape)) * 0.7).reshape(shape).astype("float32"))


def test_heads_take_query_and_value_by_place_and_flags_by_name():
    heads = layers.MultiHeadAttention(2, 3)
    q, v = places(2, 3, 4), places(2, 5, 6)
    y, scores = heads(q, v, return_attention_scores=True, use_causal_mask=True)
    assert y.shape == (2, 3, 4) and scores.shape == (2, 2, 3, 5)
    assert np.all(scores.numpy()[:, :, 0, 1:] == 0)
    np.testing.assert_allclose(scores.numpy().sum(-1), 1, rtol=1e-5)
    assert heads(q, v, key=places(2, 5, 6)).shape == (2, 3, 4)
    assert heads.query_dense.kernel.shape == (4, 2, 3)
    assert len(heads.weights) == 8


def test_heads_in_a_model_of_open_lengths():
    x = tf.keras.Input((None, 4))
    y = layers.MultiHeadAttention(2, 3)(x, x)
    y = layers.GroupQueryAttention(2, 4, 2)(y, x, use_causal_mask=True)
    y = layers.Attention()([y, x])
    model = tf.keras.Model(x, layers.AdditiveAttention()([y, x]))
    for time in (2, 7):
        assert model(places(1, time, 4)).shape == (1, time, 4)


def test_a_config_makes_the_same_layer():
    heads = layers.MultiHeadAttention(2, 3, value_dim=2, output_shape=5, dropout=0.1, seed=3)
    again = layers.MultiHeadAttention.from_config(heads.get_config())
    x = places(1, 3, 4)
    heads(x, x), again(x, x)
    again.set_weights(heads.get_weights())
    np.testing.assert_allclose(again(x, x).numpy(), heads(x, x).numpy(), rtol=1e-6)


def test_a_value_that_is_missing_is_named():
    with pytest.raises((TypeError, ValueError), match="`value`"):
        layers.MultiHeadAttention(2, 3)(places(1, 2, 4))


def test_projections_spread_by_how_many_inputs_they_join():
    # Kernels [32, 8, 16] join 32 inputs with 128 outputs, and [8, 16, 32] the other way round.
    layer = tf.keras.layers.MultiHeadAttention(8, 16, kernel_initializer="lecun_normal")
    layer.build((None, 10, 32), (None, 10, 32))
    assert np.std(layer.query_dense.kernel) == pytest.approx(32**-0.5, rel=0.1)
    assert np.std(layer.output_dense.kernel) == pytest.approx(128**-0.5, rel=0.1)
    dense = tf.keras.layers.EinsumDense(
        "abc,cde->abde", (None, 4, 5), kernel_initializer="he_uniform"
    )
    dense.build((None, 7, 6))
    assert np.abs(dense.kernel).max() == pytest.approx(1.0, rel=0.1)  # sqrt(3 * 2 / 6)
    told = tf.keras.initializers.LecunNormal(input_axes=[0, 1], output_axes=[2])
    layer = tf.keras.layers.EinsumDense("abc,cde->abde", (None, 40, 50), kernel_initializer=told)
    layer.build((None, 7, 6))
    assert np.std(layer.kernel) == pytest.approx(240**-0.5, rel=0.1)


def test_places_that_may_look_at_nothing():
    """Keras' kernel has them look at all places alike; where scores are wanted, at none."""
    x = np.random.default_rng(3).normal(size=(1, 3, 4)).astype("float32")
    mask = np.array([[[True, True, False], [True, False, False], [False, False, False]]])
    layer = tf.keras.layers.MultiHeadAttention(2, 3)
    y = layer(x, x, attention_mask=mask)
    weights = {w.path.split("/", 1)[1]: w.numpy() for w in layer.weights}
    value = np.einsum("bsd,dnh->bsnh", x, weights["value/kernel"]) + weights["value/bias"]
    kernel, bias = weights["attention_output/kernel"], weights["attention_output/bias"]
    wanted = np.einsum("bnh,nhd->bd", value.mean(1), kernel) + bias
    np.testing.assert_allclose(y[:, 2], wanted, atol=1e-5)
    y, scores = layer(x, x, attention_mask=mask, return_attention_scores=True)
    np.testing.assert_array_equal(scores[0, :, 2], 0)
    np.testing.assert_allclose(y[:, 2], [bias], atol=1e-6)


def test_an_example_without_values_gets_their_mean_as_in_keras():
    q, v = places(2, 3, 4), places(2, 5, 4)
    mask = np.array([[True, True, False, True, False], [False] * 5])
    for layer in (layers.Attention(), layers.AdditiveAttention(use_scale=False)):
        y, weights = layer([q, v], mask=[None, mask], return_attention_scores=True)
        assert np.all(weights.numpy()[0][:, [2, 4]] == 0)
        np.testing.assert_allclose(weights[1], np.full((3, 5), 0.2), rtol=1e-6)
        np.testing.assert_allclose(y[1], np.tile(np.mean(v[1], 0), (3, 1)), rtol=1e-5)
