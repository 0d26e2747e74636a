"""Layers: C++ classes that Python subclasses, holds and trains."""

import gc
import json
import weakref

import numpy as np
import pytest

import holdfast as tf
from holdfast import _holdfast

keras = tf.keras


class MyDense(keras.layers.Dense):
    """One with a `call` and attributes of its own."""

    def __init__(self, units, factor=2.0, **kwargs):
        super().__init__(units, **kwargs)
        self.factor = factor
        self.seen = []

    def call(self, x, training=None):
        self.seen.append(training)
        return super().call(x) * self.factor


# Dense.


def test_a_dense_multiplies_adds_and_activates():
    layer = keras.layers.Dense(2, activation="relu", name="head")
    assert not layer.built and layer.weights == []
    y = layer([[1.0, -2.0, 3.0]])
    kernel, bias = layer.kernel, layer.bias
    assert (kernel.shape, bias.shape) == ((3, 2), (2,))
    assert (kernel.name, kernel.path) == ("kernel", "head/kernel")
    expected = np.maximum(np.array([[1.0, -2.0, 3.0]]) @ kernel.numpy() + bias.numpy(), 0)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)
    assert layer.weights[0] is kernel and len(layer.trainable_weights) == 2
    assert layer(np.ones([2, 5, 3])).shape == (2, 5, 2)  # NumPy's float64 becomes the layer's


def test_options_of_a_dense():
    layer = keras.layers.Dense(
        3,
        activation=lambda x: x + 1,
        use_bias=False,
        kernel_initializer=lambda shape, dtype: tf.ones(shape, dtype) * 2,
        kernel_constraint=tf.nn.relu,
    )
    assert layer(tf.ones([1, 2])).numpy().tolist() == [[5, 5, 5]]
    assert layer.bias is None and layer.kernel.constraint is tf.nn.relu and layer.units == 3
    zeros = keras.layers.Dense(1, kernel_initializer=tf.zeros_initializer())
    assert float(zeros(tf.ones([1, 2]))[0, 0]) == 0.0
    glorot = keras.layers.Dense(50)
    glorot(tf.ones([1, 50]))
    assert 0.1 < float(tf.reduce_max(tf.abs(glorot.kernel))) <= (6 / 100) ** 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: keras.layers.Dense(0), "`units` is 0"),
        (lambda: keras.layers.Dense(2, activation="rely"), '"rely" is not known'),
        (lambda: keras.layers.Dense(2, activation=3), "`activation` of Dense is 3"),
        (lambda: keras.layers.Dense(2, kernel_initializer="ones_"), '"ones_" is not known'),
        (lambda: keras.layers.Dense(2, unknown=1), "`unknown`"),
        (lambda: keras.layers.Dense(2, name="a/b"), "without `/`"),
        (lambda: keras.layers.Dense(2, kernel_constraint=3), "`kernel_constraint` of Dense is 3"),
    ],
)
def test_bad_options_are_refused(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()


@pytest.mark.parametrize(
    "use",
    [
        lambda: keras.layers.Dense(2, weights=[1.0]),
        lambda: keras.layers.TextVectorization(),
        lambda: keras.applications,
    ],
)
def test_what_is_not_there_says_so(use):
    with pytest.raises(NotImplementedError) as caught:
        use()
    assert caught.value.code == "E1105"


def test_other_names_are_plain_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'Dens'"):
        _ = keras.layers.Dens
    with pytest.raises(AttributeError, match="no attribute 'foo'"):
        _ = keras.layers.Dense(2).foo


def test_wrong_shapes_name_layer_argument_and_what_was_expected():
    layer = keras.layers.Dense(2, name="head")
    with pytest.raises(ValueError, match=r"layer `head` \(Dense\): `inputs` has the shape \[3\]"):
        layer(tf.ones([3]))
    assert not layer.built
    layer(tf.ones([1, 4]))
    with pytest.raises(ValueError, match=r"built for \[1,4\], and got \[1,5\]"):
        layer(tf.ones([1, 5]))
    with pytest.raises(TypeError, match="called without `inputs`"):
        layer()
    mine = MyDense(2, name="mine")
    mine(tf.ones([1, 4]))
    with pytest.raises(ValueError, match=r"layer `mine` \(MyDense\)"):
        mine(tf.ones([1, 5]))


# Subclasses.


def test_a_subclass_has_its_own_call_and_super():
    layer = MyDense(2, factor=3.0, kernel_initializer="ones")
    assert layer(tf.ones([1, 4]), training=True).numpy().tolist() == [[12, 12]]
    assert layer(tf.ones([1, 4])).numpy().tolist() == [[12, 12]]
    assert layer.seen == [True, None] and layer.name.startswith("my_dense")


def test_a_subclass_that_cpp_alone_holds_comes_back_as_it_was():
    def make():
        layer = MyDense(2, factor=5.0, kernel_initializer="ones", use_bias=False)
        layer.note = ["mine"]
        return keras.Sequential([layer]), id(layer), weakref.ref(layer)

    model, was, ref = make()
    gc.collect()
    assert model(tf.ones([1, 3])).numpy().tolist() == [[15, 15]]
    (layer,) = model.layers
    assert id(layer) == was and ref() is layer and type(layer) is MyDense
    assert layer.note == ["mine"] and layer.factor == 5.0
    del layer
    assert ref() is not None
    del model
    gc.collect()
    assert ref() is None


def test_cpp_calls_what_the_class_says_now():
    class Own(keras.layers.Layer):
        def call(self, x):
            return x + 1

    model = keras.Sequential([Own()])
    assert float(model(tf.ones([1]))) == 2.0
    Own.call = lambda self, x: x + 10
    assert float(model(tf.ones([1]))) == 11.0
    del Own.call
    with pytest.raises(NotImplementedError, match="has no `call`"):
        model(tf.ones([1]))


class Scale(keras.layers.Layer):
    def build(self, input_shape):
        self.scale = self.add_weight(
            name="scale", shape=[input_shape[-1]], initializer="ones", trainable=True
        )
        self.count = self.add_weight(
            name="count", shape=(), dtype="int32", initializer="zeros", trainable=False
        )

    def call(self, x, training=None):
        self.count.assign_add(1)
        return x * self.scale


def test_weights_of_a_layer_of_ones_own():
    layer = Scale(name="s")
    layer(tf.ones([2, 3]))
    layer(tf.ones([2, 3]))
    assert [v.path for v in layer.weights] == ["s/scale", "s/count"]
    assert int(layer.count) == 2 and layer.count.dtype == tf.int32
    assert layer.trainable_weights[0] is layer.scale and layer.non_trainable_weights == [
        layer.count
    ]
    layer.trainable = False
    assert layer.trainable_weights == [] and len(layer.non_trainable_weights) == 2


def test_attributes_of_a_layer_are_tracked_as_those_of_a_module():
    class Net(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.layers_ = [keras.layers.Dense(2), {"last": Scale()}]
            self.extra = tf.Variable(1.0)

        def call(self, x):
            return self.layers_[1]["last"](self.layers_[0](x)) * self.extra

    net = Net()
    net(tf.ones([1, 2]))
    assert len(net.trainable_variables) == 4 and len(net.variables) == 5
    module = tf.Module()
    module.net = net
    assert len(module.variables) == 5 and net in module.submodules


def test_weights_refuse_what_they_cannot_be():
    layer = Scale(name="bad")
    with pytest.raises(ValueError, match=r"`add_weight\(\"w\"\)` got the shape \[\?\]"):
        layer.add_weight(name="w", shape=[None])
    with pytest.raises(ValueError, match="the initializer gave"):
        layer.add_weight(name="w", shape=[2], initializer=lambda shape, dtype: tf.ones([3]))
    with pytest.raises(NotImplementedError):
        layer.add_weight(name="w", shape=[2], overwrite_with_gradient=True)


def test_a_dense_with_a_build_of_its_own():
    class Tied(keras.layers.Dense):
        def build(self, input_shape):
            super().build(input_shape)
            self.built_for = tuple(input_shape)

    class Given(keras.layers.Dense):
        def build(self, input_shape):
            self.kernel = self.add_weight(name="k", shape=(input_shape[-1], 2), initializer="ones")

    tied = Tied(3)
    assert tied(tf.ones([1, 2])).shape == (1, 3) and tied.built_for == (1, 2)
    assert Given(2, use_bias=False)(tf.ones([1, 4])).numpy().tolist() == [[4, 4]]


def test_gradients_flow_through_layers():
    model = keras.Sequential([MyDense(4, activation="tanh"), Scale(), keras.layers.Dense(1)])
    x = tf.constant([[0.5, -1.0]])
    model(x)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(x) ** 2)
    slopes = tape.gradient(loss, model.trainable_variables)
    assert len(slopes) == 5 and all(s is not None for s in slopes)


def test_a_layer_is_built_inside_a_traced_function():
    model = keras.Sequential([MyDense(2, kernel_initializer="ones"), Scale()])

    @tf.function
    def f(x):
        return model(x, training=False)

    for _ in range(3):
        assert f(tf.ones([1, 3])).numpy().tolist() == [[6, 6]]
    assert int(model.layers[1].count) == 3
    assert f.experimental_get_tracing_count() == 1
    model.layers[1].scale.assign([2.0, 3.0])
    assert f(tf.ones([1, 3])).numpy().tolist() == [[12, 18]]


# What C++ drives.


def test_a_loop_in_cpp_trains_a_python_layer_through_a_traced_step():
    tf.random.set_seed(3)

    class Wave(MyDense):
        def call(self, x, training=None):
            return tf.sin(super().call(x, training=training))

    wave = Wave(16, factor=1.0)
    model = keras.Sequential([wave, keras.layers.Dense(1)])
    x = tf.reshape(tf.linspace(-1.0, 1.0, 32), [32, 1])
    losses = _holdfast.train_steps(model, x, 2 * x + 0.5, 200, 0.1)
    assert losses[-1] < losses[0] / 50
    assert wave.seen == [None, None, True]  # for its shape, to build it, to trace the step
    assert model.layers[0] is wave


def test_a_branch_on_a_tensor_is_converted_for_cpp_too():
    class Steps(keras.layers.Layer):
        def build(self, input_shape):
            self.w = self.add_weight(name="w", shape=(), initializer="ones")

        def call(self, x):
            if tf.reduce_sum(x) > 0:
                y = x * self.w
            else:
                y = -x * self.w
            return y

    losses = _holdfast.train_steps(Steps(), tf.ones([4, 1]), tf.ones([4, 1]) * 3, 50, 0.1)
    assert losses[-1] < 0.01 * losses[0]


def test_an_error_of_a_python_call_comes_out_as_it_was():
    class Bad(keras.layers.Layer):
        def call(self, x):
            raise KeyError("mine")

    class NoTensor(keras.layers.Layer):
        def call(self, x):
            return "text"

    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            keras.Sequential([Bad()])(tf.ones([1]))
        with pytest.raises(KeyError, match="mine"):
            _holdfast.train_steps(Bad(), tf.ones([1]), tf.ones([1]), 1, 0.1)
    with pytest.raises(TypeError, match="`call` gave 'text', expected a tensor"):
        keras.Sequential([NoTensor(name="n")])(tf.ones([1]))


# Cycles.


def test_a_cycle_of_layer_and_callback_is_collected():
    class Callback:
        def __init__(self, layer):
            self.layer = layer

        def __call__(self, x):
            return tf.nn.relu(x)

    layer = MyDense(2)
    layer.callback = Callback(layer)  # through attributes
    other = keras.layers.Dense(2)
    holder = {}
    inner = keras.layers.Dense(2, activation=lambda x, own=holder: own and x)  # through C++
    model = holder["model"] = keras.Sequential([layer, inner])
    model(tf.ones([1, 2]))
    other.model = model
    inner.kernel.owner = model
    gone = [weakref.ref(x) for x in (layer, other, inner, model, inner.kernel, layer.callback)]
    del layer, other, inner, model, holder
    gc.collect()
    assert [ref() for ref in gone] == [None] * 6


def test_layers_go_without_a_collection_where_there_is_no_cycle():
    gc.disable()
    try:
        model = keras.Sequential([MyDense(2), keras.layers.Dense(1)])
        model(tf.ones([1, 2]))
        gone = [weakref.ref(x) for x in (model, *model.layers, *model.weights)]
        del model
        assert [ref() for ref in gone] == [None] * len(gone)
    finally:
        gc.enable()


def test_a_layer_that_is_held_is_not_collected():
    model = keras.Sequential([MyDense(2)])
    model.layers[0].me = model.layers[0]
    model(tf.ones([1, 2]))
    gc.collect()
    assert model.layers[0].me is model.layers[0] and len(model.weights) == 2


# Configs.


def test_a_config_makes_the_layer_again():
    layer = keras.layers.Dense(3, activation="relu", name="head", use_bias=False)
    config = layer.get_config()
    assert config["units"] == 3 and config["activation"] == "relu"
    assert config["kernel_initializer"]["class_name"] == "GlorotUniform"
    again = keras.layers.Dense.from_config(config)
    assert again.get_config() == config
    json.dumps(config)


@keras.saving.register_keras_serializable(package="tests")
class Registered(keras.layers.Dense):
    def __init__(self, units, factor=1.0, **kwargs):
        super().__init__(units, **kwargs)
        self.factor = factor

    def call(self, x):
        return super().call(x) * self.factor

    def get_config(self):
        return {**super().get_config(), "factor": self.factor}


def test_models_of_registered_classes_go_to_json_and_back():
    model = keras.Sequential([Registered(2, factor=4.0), keras.layers.Dense(1)], name="m")
    text = model.to_json(indent=2)
    assert json.loads(text)["config"]["layers"][0]["registered_name"] == "tests>Registered"
    again = keras.models.model_from_json(text)
    assert type(again) is keras.Sequential and again.name == "m"
    assert type(again.layers[0]) is Registered and again.layers[0].factor == 4.0
    assert again.get_config() == model.get_config()
    assert keras.saving.get_registered_name(Registered) == "tests>Registered"
    assert keras.saving.get_registered_object("tests>Registered") is Registered


def test_a_subclass_of_a_registered_class_is_not_registered():
    class Below(Registered):
        pass

    text = keras.Sequential([Below(2)]).to_json()
    with pytest.raises(TypeError, match="`Below` is not known"):
        keras.models.model_from_json(text)
    model = keras.models.model_from_json(text, custom_objects={"Below": Below})
    assert type(model.layers[0]) is Below


def test_bad_json_is_told_with_line_and_column():
    with pytest.raises(ValueError, match="line 2, column 8: there is `}`, expected a value"):
        keras.models.model_from_json('{\n  "a": }')
    with pytest.raises(TypeError, match="names no class"):
        keras.models.model_from_json("[1]")
    described = {"class_name": "Nothing", "config": {}}
    with pytest.raises(TypeError, match="the class `Nothing` is not known"):
        keras.layers.deserialize(described)


@pytest.mark.parametrize(
    "value",
    [None, True, 3, -0.5, "text é", [], [1, [2.0]], {"a": {"b": None}}, {"x": [True, "y"]}, 1e300],
)
def test_values_go_to_json_and_back(value):
    text = _holdfast.config_to_json(value)
    assert _holdfast.config_from_json(text) == value == json.loads(text)
    assert _holdfast.config_from_json(json.dumps(value)) == value


def test_what_a_config_cannot_say_is_refused_with_its_path():
    with pytest.raises(TypeError, match=r'a config\["a"\]\[1\] is '):
        _holdfast.plain_config({"a": [1, object()]})
    loop = []
    loop.append(loop)
    with pytest.raises(TypeError, match="levels"):
        _holdfast.plain_config(loop)
    assert _holdfast.plain_config({"d": tf.float32, "n": np.int64(3), "f": np.float32(0.5)}) == {
        "d": "float32",
        "n": 3,
        "f": 0.5,
    }
    with pytest.raises(NotImplementedError, match="a function has no name in a config"):
        keras.layers.Dense(2, activation=lambda x: x).get_config()
