"""What a program's layer says of its results, without a run of its call."""

import numpy as np
import pytest

import holdfast as tf
from holdfast import keras


class Counted(keras.layers.Layer):
    """Fails where its call is run for a batch of no known size."""

    def call(self, x, training=False):
        if x.shape[0] is None:
            raise RuntimeError("run")
        return tf.reduce_sum(x, axis=-1)


class WithSpec(Counted):
    def compute_output_spec(self, x, training=False):
        return keras.KerasTensor(x.shape[:-1], dtype=x.dtype)


class WithShape(Counted):
    def compute_output_shape(self, input_shape):
        return input_shape[:-1]


@pytest.mark.parametrize("kind", [WithSpec, WithShape])
def test_a_model_asks_the_class_and_not_its_call(kind):
    inputs = keras.Input((5, 3))
    outputs = kind()(inputs)
    assert outputs.shape == (None, 5) and outputs.dtype == "float32"
    model = keras.Model(inputs, outputs)
    x = np.arange(30, dtype="f").reshape(2, 5, 3)
    np.testing.assert_allclose(model(x), x.sum(-1))


def test_a_class_that_says_nothing_is_run():
    with pytest.raises(RuntimeError, match="run"):
        Counted()(keras.Input((5, 3)))


def test_layers_inside_are_built_all_the_same():
    class Outer(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.inner = keras.layers.Dense(2)

        def call(self, x):
            return self.inner(x)

        def compute_output_shape(self, input_shape):
            return (*input_shape[:-1], 2)

    inputs = keras.Input((3,))
    model = keras.Model(inputs, Outer()(inputs))
    assert len(model.weights) == 2


def test_masks_go_through_a_class_that_says_its_shape():
    class Same(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.supports_masking = True

        def call(self, x):
            return x * 1.0

        def compute_output_shape(self, input_shape):
            return input_shape

    inputs = keras.Input((4,), dtype="int32")
    masked = Same()(keras.layers.Embedding(5, 2, mask_zero=True)(inputs))
    model = keras.Model(inputs, keras.layers.GlobalAveragePooling1D()(masked))
    table = model.layers[1].embeddings.numpy()
    np.testing.assert_allclose(model(np.array([[1, 2, 0, 0]]))[0], table[1:3].mean(0), rtol=1e-6)


def test_several_results_have_the_form_that_is_said():
    class Two(keras.layers.Layer):
        def call(self, x):
            return {"sum": x + 1.0, "rest": (x, x)}

        def compute_output_spec(self, x):
            like = keras.KerasTensor(x.shape, dtype=x.dtype)
            return {"sum": like, "rest": (keras.KerasTensor(x.shape), keras.KerasTensor(x.shape))}

    inputs = keras.Input((3,))
    out = Two()(inputs)
    model = keras.Model(inputs, [out["sum"], out["rest"][1]])
    a, b = model(np.ones((2, 3), "f"))
    np.testing.assert_array_equal(a, np.full((2, 3), 2))
    np.testing.assert_array_equal(b, np.ones((2, 3)))
