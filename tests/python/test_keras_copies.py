"""Copies and pickles of layers: config and weights."""

import copy
import pickle

import numpy as np
import pytest

import holdfast as tf
from holdfast import keras


class Scaled(keras.layers.Dense):
    """A Dense with an argument of its own, which its config says."""

    def __init__(self, units, factor=1.0, **kwargs):
        super().__init__(units, **kwargs)
        self.factor = factor

    def call(self, x, training=None):
        return super().call(x, training=training) * self.factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


class Pair(keras.layers.Layer):
    """Layers inside, built when they are called."""

    def __init__(self, units, name=None):
        super().__init__(name=name)
        self.units = units
        self.first = keras.layers.Dense(units, activation="relu")
        self.second = Scaled(2, factor=0.5)

    def call(self, x):
        return self.second(self.first(x))

    def get_config(self):
        return {"units": self.units, "name": self.name}


class Bare(keras.layers.Layer):
    """Takes nothing, not even a name."""

    def __init__(self):
        super().__init__()
        self.count = self.add_weight((2,), "ones", name="count")

    def call(self, x):
        return x + self.count


class Forgets(keras.layers.Layer):
    """Its config does not say `factor`."""

    def __init__(self, factor=2.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor


class Needs(keras.layers.Layer):
    """Has its own config, without what `__init__` needs."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)

    def get_config(self):
        return super().get_config()


_WAYS = [copy.deepcopy, copy.copy, lambda layer: pickle.loads(pickle.dumps(layer))]


@pytest.mark.parametrize("copied", _WAYS)
@pytest.mark.parametrize(
    "make",
    [
        lambda: keras.layers.Dense(3, activation="tanh", name="head"),
        lambda: Scaled(3, factor=2.0),
        lambda: Pair(4),
        lambda: Bare(),
        lambda: keras.Sequential([keras.layers.Dense(3), Scaled(2, factor=3.0)], name="net"),
        lambda: keras.Sequential([Pair(3), keras.layers.Dense(1, use_bias=False)]),
    ],
)
def test_a_copy_computes_the_same_and_goes_its_own_way(make, copied):
    layer = make()
    x = tf.constant([[1.0, -2.0], [0.5, 3.0]])
    before = layer(x).numpy()
    twin = copied(layer)
    assert type(twin) is type(layer)
    assert (twin.name, twin.built) == (layer.name, layer.built)
    if not isinstance(layer, Bare):  # its weight is made before it can have another name
        assert [w.name for w in twin.weights] == [w.name for w in layer.weights]
    np.testing.assert_array_equal(twin(x), before)
    for weight in twin.weights:
        weight.assign(tf.zeros_like(weight))
    np.testing.assert_array_equal(layer(x), before)


@pytest.mark.parametrize("copied", _WAYS)
def test_what_was_not_built_is_built_by_its_first_call(copied):
    twin = copied(Pair(3, name="pair"))
    assert not twin.built
    assert not twin.weights
    assert twin(tf.ones([1, 5])).shape == (1, 2)
    assert twin.first.kernel.shape == (5, 3)


def test_options_and_what_is_trainable_are_copied():
    layer = keras.layers.Dense(2, use_bias=False, kernel_initializer="ones", dtype="float64")
    layer.trainable = False
    layer.build((None, 3))
    twin = copy.deepcopy(layer)
    assert (twin.use_bias, twin.trainable, twin.dtype) == (False, False, tf.float64)
    assert twin.kernel.shape == (3, 2)
    assert twin.kernel is not layer.kernel


def test_a_module_with_layers_is_copied_with_them():
    class Net(tf.Module):
        def __init__(self):
            super().__init__()
            self.layers = [keras.layers.Dense(2), Pair(3)]
            self.last = self.layers[1]

    net = Net()
    for layer in net.layers:
        layer(tf.ones([1, 4]))
    twin = copy.deepcopy(net)
    assert twin.last is twin.layers[1] is not net.last
    for mine, other in zip(net.variables, twin.variables, strict=True):
        assert mine is not other
        np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("copied", _WAYS)
@pytest.mark.parametrize(
    ("make", "what"), [(lambda: Forgets(tf.constant(3.0)), "factor"), (lambda: Needs(3), "units")]
)
def test_a_config_that_leaves_something_out_is_refused(make, what, copied):
    layer = make()
    with pytest.raises(NotImplementedError, match=f"its config lacks `{what}`") as caught:
        copied(layer)
    assert caught.value.code == "E1105"
    assert layer.name in str(caught.value)


@pytest.mark.parametrize("copied", _WAYS)
def test_plain_arguments_are_the_config_where_a_class_says_none(copied):
    assert copied(Forgets(3.0)).factor == 3.0


def test_weights_that_no_build_makes_are_refused():
    class Late(keras.layers.Layer):
        def call(self, x):
            self.w = self.add_weight((2,), "ones")
            return x * self.w

    layer = Late()
    layer(tf.ones([1, 2]))
    with pytest.raises(NotImplementedError, match="1 weights, and its copy makes 0"):
        copy.deepcopy(layer)


def test_a_class_that_says_itself_how_it_is_copied():
    class Own(keras.layers.Layer):
        def __reduce__(self):
            return Own, ()

    assert isinstance(copy.copy(Own()), Own)


def _trained(**options):
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
    model.compile(**options)
    x = np.random.default_rng(0).normal(size=(8, 4)).astype("float32")
    model.fit(x, x[:, :1], verbose=0, shuffle=False)
    return model, x


@pytest.mark.parametrize("way", _WAYS)
def test_a_copy_of_a_trained_model_goes_on_where_that_stands(way):
    rate = tf.keras.optimizers.schedules.CosineDecay(0.1, 10)
    model, x = _trained(optimizer=tf.keras.optimizers.Adam(rate), loss="huber", metrics=["mae"])
    twin = way(model)
    assert int(twin.optimizer.iterations) == 1
    logs = [m.fit(x, x[:, :1], verbose=0, shuffle=False).history for m in (model, twin)]
    assert logs[0] == logs[1]
    for mine, its in zip(model.get_weights(), twin.get_weights(), strict=True):
        np.testing.assert_array_equal(mine, its)


def _difference(y_true, y_pred):
    return tf.abs(y_true - y_pred)


@pytest.mark.parametrize("way", _WAYS)
def test_a_copy_is_not_compiled_with_what_the_program_alone_knows(way):
    for loss in (_difference, lambda y_true, y_pred: y_true - y_pred):
        model, x = _trained(optimizer="sgd", loss=loss)
        twin = way(model)
        assert not twin.compiled
        np.testing.assert_array_equal(twin(x).numpy(), model(x).numpy())
