"""A `build` and a `compute_mask` of a program's own, as Keras takes them."""

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
layers = keras.layers
X = np.arange(6).reshape(2, 3).astype("float32")


class Product(layers.Layer):
    """Does not say that it is built."""

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], 2), name="kernel")

    def call(self, x):
        return tf.matmul(x, self.kernel)


class Shifted(Product):
    def build(self, input_shape):
        super().build(input_shape)
        self.shift = self.add_weight(shape=(2,), name="shift")

    def call(self, x):
        return super().call(x) + self.shift


class Wider(layers.Dense):
    def build(self, input_shape):
        super().build(input_shape)
        self.extra = self.add_weight(shape=(2,), name="extra")


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (Product, ["kernel"]),
        (Shifted, ["kernel", "shift"]),
        (lambda: Wider(2), ["kernel", "bias", "extra"]),
    ],
    ids=["one", "two", "ours"],
)
def test_weights_are_made_once(make, names):
    """A layer that was built, and then called, had its weights twice."""
    built, called = make(), make()
    built.build((None, 3))
    assert built.built and built.get_build_config() == {"input_shape": [None, 3]}
    built(X)
    called(X)
    called.build((None, 3))
    for layer in (built, called):
        assert [w.name.split("/")[-1] for w in layer.weights] == names
        with pytest.raises(ValueError, match="was built for"):
            layer.build((None, 4))


class Two(layers.Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first = layers.Dense(2, name="first")
        self.second = Product(name="second")

    def build(self, input_shape):
        self.first.build(input_shape)
        self.second.build((None, 2))

    def call(self, x):
        return self.second(self.first(x))


class Net(keras.Model):
    def __init__(self):
        super().__init__(name="net")
        self.two = Two(name="two")

    def build(self, input_shape):
        self.two.build(input_shape)

    def call(self, x):
        return self.two(x)


def test_weights_are_named_by_the_layers_that_build_them():
    wanted = ["two/first/kernel", "two/first/bias", "two/second/kernel"]

    def paths(layer):
        return [w.path for w in layer.weights]

    layer = Two(name="two")
    layer.build((None, 3))
    assert paths(layer) == wanted
    layer = Two(name="two")
    layer(X)
    assert paths(layer) == wanted
    inputs = keras.Input((3,))
    assert paths(keras.Model(inputs, Two(name="two")(inputs))) == wanted
    model = keras.Sequential([keras.Input((3,)), Two(name="two")], name="s")
    assert paths(model) == [f"s/{name}" for name in wanted]
    net = Net()
    net.build((None, 3))
    assert paths(net) == [f"net/{name}" for name in wanted] and net.built
    alone = layers.Dense(1, name="alone")
    alone.build((None, 3))
    assert paths(alone) == ["alone/kernel", "alone/bias"]


def test_a_build_that_fails_leaves_nothing_open():
    class Fails(layers.Layer):
        def build(self, input_shape):
            raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        Fails().build((None, 3))
    dense = layers.Dense(1, name="later")
    dense.build((None, 3))
    assert dense.kernel.path == "later/kernel"


def test_a_build_takes_what_it_likes():
    class Sized(layers.Layer):
        def build(self, size):
            self.w = self.add_weight(shape=(size,), name="w")

    layer = Sized()
    layer.build(4)
    assert layer.built and layer.w.shape == (4,)


class NotZero(layers.Layer):
    """Says which steps count, and nothing else of masks."""

    def call(self, x):
        return x * 2

    def compute_mask(self, inputs, mask=None):
        return tf.reduce_any(inputs != 0, -1)


class Halves(layers.Layer):
    def call(self, x):
        return tf.split(x, 2, axis=1)

    def compute_mask(self, inputs, mask=None):
        return None if mask is None else tf.split(mask, 2, axis=1)


def test_a_class_that_says_its_mask_has_one():
    """It was not asked, unless it said that it supports masks."""
    x = np.ones((2, 4, 3), "float32")
    x[1, 2:] = 0
    kept = [[True] * 4, [True, True, False, False]]
    layer = NotZero()
    assert layer.supports_masking and not Product().supports_masking
    np.testing.assert_array_equal(layer(x)._keras_mask, kept)
    first, second = Halves()(layers.Masking()(x))
    np.testing.assert_array_equal(second._keras_mask, [[True, True], [False, False]])
    assert first._keras_mask.shape == (2, 2) and Halves()(x)[0]._keras_mask is None
    mean = layers.GlobalAveragePooling1D()
    inputs = keras.Input((4, 3))
    x[1, :2] = 3
    wanted = [[2.0] * 3, [6.0] * 3]
    for model in (
        keras.Sequential([NotZero(), mean]),
        keras.Model(inputs, mean(NotZero()(inputs))),
    ):
        np.testing.assert_allclose(model(x), wanted)
        np.testing.assert_allclose(model.predict(x, verbose=0), wanted)


def test_a_class_may_say_that_it_has_no_mask():
    layer = NotZero()
    layer.supports_masking = False
    assert layer(np.ones((1, 2, 3), "float32"))._keras_mask is None
