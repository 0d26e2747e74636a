"""Classes of programs as Keras takes them: configs from arguments, inputs in the declared form."""

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
layers = keras.layers


class Block(layers.Layer):
    """Says no config."""

    def __init__(self, units, sizes=(1, 2), act="relu", **kwargs):
        super().__init__(**kwargs)
        self.units, self.sizes = units, sizes
        self.dense = layers.Dense(units, activation=act)

    def call(self, x):
        return self.dense(x)


def test_what_a_layer_is_made_with_is_its_config(tmp_path):
    config = Block(3, act="tanh", name="b").get_config()
    config.pop("dtype")
    assert config == {
        "name": "b",
        "trainable": True,
        "units": 3,
        "sizes": (1, 2),
        "act": "tanh",
    }
    x = keras.Input((4,))
    model = keras.Model(x, Block(5)(x))
    made = keras.Model.from_config(model.get_config(), custom_objects={"Block": Block})
    assert made.layers[1].units == 5
    path = str(tmp_path / "m.keras")
    model.save(path)
    read = keras.models.load_model(path, custom_objects={"Block": Block})
    data = np.ones((2, 4), "float32")
    np.testing.assert_array_equal(model(data), read(data))


def test_what_a_class_does_not_take_is_not_in_its_config():
    class Times(layers.Layer):
        def __init__(self, by):
            super().__init__()
            self.by = by

        def call(self, x):
            return x * self.by

    class Said(Times):
        def get_config(self):
            return {**super().get_config(), "by": self.by, "more": 1}

    assert Times(2).get_config() == {"by": 2}
    assert Times.from_config(Times(2).get_config()).by == 2
    assert sorted(Said(2).get_config()) == ["by", "dtype", "more", "name", "trainable"]


def test_arguments_that_no_file_holds_are_in_no_config():
    class Wraps(layers.Layer):
        def __init__(self, inner, **kwargs):
            super().__init__(**kwargs)
            self.inner = inner

        def call(self, x):
            return self.inner(x)

    assert "inner" not in Wraps(layers.Dense(2)).get_config()


def test_a_model_s_own_arguments(tmp_path):
    class Net(keras.Model):
        def __init__(self, hidden=3, **kwargs):
            super().__init__(**kwargs)
            self.dense = layers.Dense(hidden)

        def call(self, x):
            return self.dense(x)

    x = np.ones((2, 4), "float32")
    model = Net(5)
    y = model(x)
    path = str(tmp_path / "net.keras")
    model.save(path)
    read = keras.models.load_model(path, custom_objects={"Net": Net})
    np.testing.assert_array_equal(y, read(x))


def test_a_functional_model_with_an_argument_more():
    class Named(keras.Model):
        def __init__(self, *args, param=1, **kwargs):
            super().__init__(*args, **kwargs)
            self.param = param

        def get_config(self):
            return {**super().get_config(), "param": self.param}

    x = keras.Input((3,))
    made = Named.from_config(Named(inputs=x, outputs=layers.Dense(5)(x), param=3).get_config())
    assert made.param == 3 and len(made.layers) == 2


def test_inputs_come_in_the_dtype_that_is_declared():
    half, whole = keras.Input((2,), dtype="float16"), keras.Input((2,), dtype="int32")
    model = keras.Model((half, whole), (half + 2, whole + 2))
    a, b = model((np.ones((2, 2)), np.ones((2, 2))))
    assert (a.dtype.name, b.dtype.name) == ("float16", "int32")
    a, b = model([np.ones((2, 2), "int64"), np.full((2, 2), 2.5)])
    assert (a.dtype.name, b.numpy().tolist()) == ("float16", [[4, 4], [4, 4]])


def test_a_last_axis_of_one_is_put_there_and_taken_away():
    x = keras.Input((3,))
    model = keras.Model(x, layers.Dense(2)(x))
    assert model(np.ones((4, 3, 1))).shape == (4, 2)
    with pytest.raises(ValueError, match="has the shape"):
        model(np.ones((4, 3, 2)))
    x = keras.Input((3, 1))
    model = keras.Model(x, layers.Dense(2)(x))
    assert model(np.ones((4, 3))).shape == (4, 3, 2)
    assert model.predict(np.ones((4, 3)), verbose=0).shape == (4, 3, 2)


def test_a_dict_of_other_names_is_refused():
    a, b = keras.Input((3,)), keras.Input((4,))
    model = keras.Model({"c": a, "d": b}, layers.Concatenate()([a, b]))
    with pytest.raises(ValueError, match="without some of its inputs"):
        model({"a": np.ones((2, 3)), "b": np.ones((2, 4))})
    with pytest.raises(ValueError, match="expected a dict"):
        keras.models.clone_model(model, input_tensors=(a, b))


def test_training_is_what_a_call_says_where_nobody_says_it():
    seen = []

    class Looks(layers.Layer):
        def call(self, x, training=True):
            seen.append(training)
            return x

    layer = Looks()
    layer(np.ones(2))
    layer(np.ones(2), training=False)
    x = keras.Input((3,))
    model = keras.Model(x, Looks()(x))
    del seen[2:]
    model(np.ones((2, 3)))
    model(np.ones((2, 3)), training=False)
    assert seen == [True, False, True, False]


def test_a_sequential_that_begins_with_a_model_is_built():
    x = keras.Input((8, 8, 3))
    first = keras.Model(x, layers.Conv2D(4, 3)(x))
    model = keras.Sequential([first, layers.Flatten(), layers.Dense(1)])
    assert model.built and model.input_shape == (None, 8, 8, 3)
    assert all(layer.built for layer in model.layers)
    words = keras.Sequential([keras.Input((4,), dtype="int32"), layers.Embedding(5, 2)])
    model = keras.Sequential([words, layers.GlobalMaxPooling1D(), layers.Dense(1)])
    assert model.built and model.inputs[0].dtype == "int32"
    assert model(np.zeros((2, 4), "int32")).shape == (2, 1)
    again = keras.Sequential.from_config(model.get_config())
    assert again(np.zeros((2, 4), "int32")).shape == (2, 1)


@pytest.mark.parametrize("kind", [dict, list])
def test_a_sequential_takes_what_its_first_layer_takes(kind):
    class Same(layers.Layer):
        def call(self, x):
            assert isinstance(x, kind)
            return x

    x = np.ones((3, 2), "float32")
    given = {"a": x, "b": x} if kind is dict else [x, x]
    assert type(keras.Sequential([Same()])(given)) is kind


def test_one_loss_of_several_outputs_is_told_once():
    x = keras.Input((3,))
    model = keras.Model(x, {"a": layers.Dense(1)(x), "b": layers.Dense(1)(x)})
    model.compile("sgd", loss={"a": "mse"})
    y = np.ones((4, 1), "float32")
    logs = model.fit(np.ones((4, 3), "float32"), {"a": y, "b": y}, verbose=0).history
    assert list(logs) == ["loss"]


def test_a_list_that_holds_itself(tmp_path):
    class Cyclic(keras.Model):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.blocks = []
            self.blocks.append(self.blocks)
            self.out = layers.Dense(2)

        def call(self, x):
            return self.out(x)

    x = np.ones((2, 4), "float32")
    model = Cyclic()
    y = model(x)
    path = str(tmp_path / "m.keras")
    model.save(path)
    read = keras.models.load_model(path, custom_objects={"Cyclic": Cyclic})
    np.testing.assert_array_equal(y, read(x))


def test_the_global_seed_begins_the_shared_stream_anew():
    keras.utils.set_random_seed(3)
    first = keras.random.normal((3,))
    keras.utils.set_random_seed(3)
    np.testing.assert_array_equal(first, keras.random.normal((3,)))


def test_arrays_as_options():
    layer = layers.Normalization(mean=np.array([1.0, 2.0]), variance=np.array([4.0, 1.0]))
    np.testing.assert_allclose(layer(np.array([[3.0, 3.0]], "float32")), [[1.0, 1.0]])
    assert layer.get_config()["mean"] == [1.0, 2.0]


def test_a_class_without_from_config_is_refused_by_name():
    class Grown:
        def get_config(self):
            return {}

    config = {"class_name": "Grown", "config": {}, "module": None, "registered_name": None}
    with pytest.raises(TypeError, match="`Grown` can't be made from its config"):
        keras.saving.deserialize_keras_object(config, custom_objects={"Grown": Grown})


def test_a_state_tree_of_plain_numbers():
    x = keras.Input((2,))
    model = keras.Model(x, layers.Dense(1, name="last")(x))
    model.compile(keras.optimizers.Adam(name="moves"))
    model.set_state_tree(
        {
            "optimizer_variables": {"moves": {"iteration": 7}},
            "trainable_variables": {"last": {"bias": [0.5]}},
        }
    )
    assert int(model.optimizer.iterations) == 7
    assert model.layers[1].bias.numpy().tolist() == [0.5]


class Doubled(keras.layers.Layer):
    def call(self, x):
        rows = []
        for i in tf.range(tf.shape(x)[0]):
            rows.append(x[i] * 2.0)
        return tf.stack(rows)


@pytest.mark.parametrize("eagerly", [False, True])
def test_a_list_that_grows_in_call_is_stacked(eagerly):
    tf.config.run_functions_eagerly(eagerly)
    try:
        inputs = keras.Input((2,))
        model = keras.Model(inputs, Doubled()(inputs))
        x = np.arange(6, dtype="float32").reshape(3, 2)
        assert model(x).numpy().tolist() == (2 * x).tolist()
        assert model.predict(x, verbose=0).tolist() == (2 * x).tolist()
    finally:
        tf.config.run_functions_eagerly(False)
