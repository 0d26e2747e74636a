"""What mixed policies leave of inputs: ids, masks, and numbers that a narrow dtype does not hold."""

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
layers = keras.layers


def test_ids_that_come_as_floats_are_the_rows_they_name():
    ids = np.array([[257.0, 301.0, 999.0]], "float32")  # bfloat16 holds none of them
    table = np.arange(1000, dtype="float32")[:, None] % 64
    for policy in ("float32", "mixed_bfloat16", "mixed_float16"):
        layer = layers.Embedding(1000, 1, weights=table, dtype=policy)
        assert not layer.autocast
        found = layer(ids)
        assert found.dtype == layer.compute_dtype
        np.testing.assert_array_equal(tf.cast(found, "float32")[0, :, 0], ids[0] % 64)


@pytest.mark.parametrize("make", [layers.LayerNormalization, layers.GroupNormalization])
def test_statistics_are_those_of_the_inputs_as_they_came(make):
    options = {"groups": 2} if make is layers.GroupNormalization else {}
    x = np.full((2, 4, 8), 70000.0, "float32")  # above what float16 holds
    x[..., 0] += 64
    out = make(dtype="mixed_float16", **options)(x)
    assert out.dtype == "float16"
    np.testing.assert_allclose(out, make(**options)(x), atol=2e-3)


class Outer(layers.Layer):
    """A layer of a program's, whose inner layer goes by the mask of what it was given."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.inner = layers.GlobalAveragePooling1D(dtype=kwargs.get("dtype"))

    def call(self, x, mask=None):
        assert mask is not None
        return self.inner(x)


@pytest.mark.parametrize("policy", ["float32", "mixed_float16"])
def test_a_mask_stays_with_inputs_that_are_cast(policy):
    x = np.array([[[1.0], [3.0], [0.0]]], "float32")
    masked = layers.Masking(dtype="float32")(x)
    assert float(Outer(dtype=policy)(masked)[0, 0]) == 2
    inputs = keras.Input((3, 1))
    model = keras.Model(inputs, Outer(dtype=policy)(layers.Masking(dtype="float32")(inputs)))
    assert float(model(x)[0, 0]) == 2
    assert float(model.predict(x, verbose=0)[0, 0]) == 2


class Both(layers.Layer):
    """Takes the mask of each of its inputs by name."""

    def __init__(self):
        super().__init__()
        self.supports_masking = True

    def call(self, left, right, left_mask=None, right_mask=None):
        kept = [keras.ops.cast(mask, "float32")[..., None] for mask in (left_mask, right_mask)]
        return left * kept[0] + right * kept[1]

    def compute_mask(self, inputs, mask=None):
        return None


def test_masks_of_several_arguments_come_by_name():
    masking = layers.Masking(9.0)
    a = np.array([[[1.0], [9.0]]], "float32")
    b = np.array([[[9.0], [2.0]]], "float32")
    for out in (Both()(masking(a), masking(b)), Both()(left=masking(a), right=masking(b))):
        np.testing.assert_array_equal(out, [[[1.0], [2.0]]])
    told = Both()(masking(a), masking(b), right_mask=tf.constant([[False, False]]))
    np.testing.assert_array_equal(told, [[[1.0], [0.0]]])


def test_inputs_that_are_not_cast_stay_as_they_are():
    x = np.ones((2, 3), "float32")
    assert layers.Dense(2, dtype="mixed_bfloat16", autocast=False)(x).dtype == "float32"
    assert layers.Dense(2, dtype="mixed_bfloat16")(x).dtype == "bfloat16"


def test_an_input_in_a_dict_may_be_left_out():
    class Sums(layers.Layer):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(2)

        def call(self, xs):
            out = self.dense(xs["a"])
            return out if xs["b"] is None else out + self.dense(xs["b"])

    layer = Sums()
    assert layer({"a": keras.KerasTensor((3, 4)), "b": None}).shape == (3, 2)
    assert layer({"a": np.ones((3, 4), "f"), "b": None}).shape == (3, 2)


def test_int_is_a_dtype_of_layers():
    class Counts(layers.Layer):
        def call(self, x):
            return x

    assert Counts(dtype="int").dtype == "int64"
