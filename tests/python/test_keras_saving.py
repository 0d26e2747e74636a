"""Models that are saved come back, also into other programs' classes; what does not fit changes nothing."""

import io
import json
import zipfile

import h5py
import numpy as np
import pytest

import holdfast as tf

layers = tf.keras.layers


def sequential(units=3):
    model = tf.keras.Sequential([layers.Dense(4, activation="relu"), layers.Dense(units)])
    model(tf.ones([2, 5]))
    return model


@tf.keras.saving.register_keras_serializable("tests")
class Net(tf.keras.Model):
    """A model with a `call` of its own, and layers in attributes, lists and dicts."""

    def __init__(self, width=4, **kwargs):
        super().__init__(**kwargs)
        self.width = width
        self.first = layers.Dense(width)
        self.blocks = [layers.Dense(width), layers.Dense(width)]
        self.heads = {"a": layers.Dense(2), "deep": [layers.Dense(1)]}
        self.zoom = layers.Dense(width)

    def call(self, x):
        x = self.zoom(self.first(x))
        for block in self.blocks:
            x = block(x)
        return self.heads["a"](x) + self.heads["deep"][0](x)

    def get_config(self):
        return {**super().get_config(), "width": self.width}


def groups(path):
    with h5py.File(path, "r") as f:
        found = []
        f.visititems(lambda name, item: found.append(name) if name.endswith("vars") else None)
    return sorted(found)


def test_weights_of_a_sequential_come_back(tmp_path):
    path, x = tmp_path / "m.weights.h5", tf.random.normal([3, 5])
    model, other = sequential(), sequential()
    model.save_weights(path)
    assert groups(path) == ["layers/dense/vars", "layers/dense_1/vars", "vars"]
    other.load_weights(path)
    assert np.array_equal(model(x).numpy(), other(x).numpy())


def test_paths_are_those_of_keras(tmp_path):
    path = tmp_path / "m.weights.h5"
    model = Net()
    x = tf.random.normal([3, 5])
    model(x)
    model.save_weights(path)
    assert groups(path) == [
        "blocks/dense/vars",
        "blocks/dense_1/vars",
        "first/vars",
        "heads/container/dense/vars",
        "heads/dense/vars",
        "layers/dense_5/vars",  # `zoom` comes after `layers`
        "vars",
    ]
    other = Net()
    other(x)
    other.load_weights(path)
    assert np.array_equal(model(x).numpy(), other(x).numpy())


def test_a_whole_model_comes_back(tmp_path):
    path, x = tmp_path / "m.keras", tf.random.normal([3, 5])
    for model in (sequential(), Net(width=6)):
        model(x)
        model.save(path)
        again = tf.keras.models.load_model(path)
        assert type(again) is type(model)
        assert np.array_equal(model(x).numpy(), again(x).numpy())


def functional(kind=layers.Dense):
    """Two inputs, a layer that is called twice, a model inside, several outputs."""
    a, b = tf.keras.Input((4,), name="a"), tf.keras.Input((4,))
    shared = kind(3, name="shared")
    inner = sequential()
    x, y = shared(a), shared(b)
    z = layers.Dense(5)(x)
    return tf.keras.Model([a, b], {"y": y, "z": inner(z)}, name="whole")


def test_a_model_of_calls_comes_back(tmp_path):
    path = tmp_path / "m.keras"
    model = functional()
    model.save(path)
    again = tf.keras.models.load_model(path)
    assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
    given = [tf.random.normal([2, 4]), tf.random.normal([2, 4])]
    first, second = model(given), again(given)
    assert first.keys() == second.keys()
    for key in first:
        assert np.array_equal(first[key].numpy(), second[key].numpy())
    with zipfile.ZipFile(path) as z:
        config = json.loads(z.read("config.json"))
    assert config["config"]["input_layers"][0] == ["a", 0, 0]
    assert config["config"]["output_layers"]["y"][0] == "shared"


def test_custom_objects_reach_into_models(tmp_path):
    class Mine(layers.Dense):
        pass

    path = tmp_path / "m.keras"
    functional(Mine).save(path)
    with pytest.raises((ValueError, TypeError), match="Mine"):
        tf.keras.models.load_model(path)
    again = tf.keras.models.load_model(path, custom_objects={"Mine": Mine})
    assert type(again.get_layer("shared")) is Mine
    with pytest.raises((ValueError, TypeError), match="Mine"):
        tf.keras.models.load_model(path)


def test_custom_objects_stand_in_for_classes(tmp_path):
    class Mine(layers.Layer):
        def build(self, shape):
            self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")

        def call(self, x):
            return x * self.scale

    path = tmp_path / "m.keras"
    model = tf.keras.Sequential([layers.Dense(2), Mine()])
    x = tf.ones([1, 3])
    model(x)
    model.layers[1].scale.assign([3.0, 4.0])
    model.save(path)
    with pytest.raises((ValueError, TypeError), match="Mine"):
        tf.keras.models.load_model(path)
    again = tf.keras.models.load_model(path, custom_objects={"Mine": Mine})
    assert np.array_equal(model(x).numpy(), again(x).numpy())


def test_what_does_not_fit_changes_nothing(tmp_path):
    path = tmp_path / "m.weights.h5"
    sequential(units=2).save_weights(path)
    model = sequential(units=3)
    before = [w.numpy() for w in model.weights]
    with pytest.raises(tf.errors.InvalidArgumentError, match="E1301") as caught:
        model.load_weights(path)
    said = " ".join(str(caught.value).split())
    assert "has shape [4,3], and the file has [4,2]" in said and "`layers/dense_1`" in said
    assert all(np.array_equal(a, w.numpy()) for a, w in zip(before, model.weights, strict=True))
    model.load_weights(path, skip_mismatch=True)
    assert not np.array_equal(before[0], model.weights[0].numpy())
    assert np.array_equal(before[2], model.weights[2].numpy())


def test_arguments_that_make_no_sense(tmp_path):
    model = sequential()
    for call, said in [
        (lambda: model.save_weights(tmp_path / "m.h5"), "ends in `.weights.h5`"),
        (lambda: model.save(tmp_path / "m.zip"), "ends in `.keras`"),
        (lambda: model.save(7), "expected a path"),
        (lambda: tf.keras.models.load_model(tmp_path / "m.zip"), "ends in `.keras`"),
        (lambda: tf.keras.models.load_model(tmp_path / "none.keras"), "No such file"),
        (
            lambda: tf.keras.Sequential([layers.Dense(1)]).save_weights(tmp_path / "a.weights.h5"),
            "not built",
        ),
        (lambda: model.load_weights(tmp_path / "x.weights.h5", wrong=1), "no argument `wrong`"),
    ]:
        with pytest.raises((ValueError, TypeError)) as caught:
            call()
        assert said in " ".join(str(caught.value).split())
    for refused in (
        lambda: model.save_weights(tmp_path / "m.weights.h5", max_shard_size=1),
        lambda: model.load_weights(tmp_path / "m.weights.h5", by_name=True),
        lambda: model.save(tmp_path / "m.h5"),
        lambda: model.save(tmp_path / "m", zipped=False),
        lambda: tf.keras.models.load_model(tmp_path / "m.keras", safe_mode=False),
    ):
        with pytest.raises(NotImplementedError):
            refused()
    model.save(tmp_path / "m.keras")
    with pytest.raises(ValueError, match="there already"):
        model.save(tmp_path / "m.keras", overwrite=False)


def test_an_archive_is_what_keras_reads(tmp_path):
    path = tmp_path / "m.keras"
    sequential().save(path)
    with zipfile.ZipFile(path) as z:
        assert z.namelist() == ["metadata.json", "config.json", "model.weights.h5"]
        config = json.loads(z.read("config.json"))
        assert {"keras_version", "date_saved"} <= json.loads(z.read("metadata.json")).keys()
        with h5py.File(io.BytesIO(z.read("model.weights.h5")), "r") as f:
            assert f["layers/dense_1/vars/0"].shape == (4, 3)
    assert (config["module"], config["class_name"]) == ("keras", "Sequential")
    assert config["build_config"] == {"input_shape": [None, 5]}  # batches of any size
    assert config["config"]["layers"][0]["module"] == "keras.layers"


def test_code_in_a_file_is_never_run(tmp_path):
    path = tmp_path / "m.keras"
    sequential().save(path)
    with zipfile.ZipFile(path) as z:
        parts = {name: z.read(name) for name in z.namelist()}
    config = json.loads(parts["config.json"])
    config["config"]["layers"][0]["config"]["activation"] = {
        "class_name": "__lambda__",
        "config": {"value": ["4wEAAAA=", None, None]},
    }
    parts["config.json"] = json.dumps(config).encode()
    with zipfile.ZipFile(path, "w") as z:
        for name, data in parts.items():
            z.writestr(name, data)
    with pytest.raises((ValueError, TypeError, NotImplementedError)):
        tf.keras.models.load_model(path)


def test_a_compiled_model_comes_back_with_its_optimizer(tmp_path):
    model = sequential(1)
    loss = tf.keras.losses.Huber(0.5)
    metrics = ["mae", tf.keras.metrics.RootMeanSquaredError()]
    model.compile(tf.keras.optimizers.Adam(0.25), loss, metrics=metrics)
    x, y = np.ones((8, 5), "f4"), np.ones((8, 1), "f4")
    model.fit(x, y, epochs=3, verbose=0)
    path = tmp_path / "m.keras"
    model.save(path)
    assert "optimizer/vars" in weight_groups(path)
    again = tf.keras.models.load_model(path)
    assert again.optimizer.iterations.numpy() == 3 and float(again.optimizer.learning_rate) == 0.25
    for mine, its in zip(again.optimizer.variables, model.optimizer.variables, strict=True):
        assert np.array_equal(mine.numpy(), its.numpy())
    wanted = model.fit(x, y, verbose=0).history
    assert again.fit(x, y, verbose=0).history == wanted and len(wanted) == 3
    plain = tf.keras.models.load_model(path, compile=False)
    assert plain.optimizer is None and plain.get_compile_config() is None


def weight_groups(path):
    with zipfile.ZipFile(path) as archive:
        return groups(io.BytesIO(archive.read("model.weights.h5")))


def test_functions_that_a_model_was_compiled_with_are_found_by_name(tmp_path):
    def squares(y, y_pred):
        return tf.reduce_mean((y - y_pred) ** 2, axis=-1)

    model, path = sequential(1), tmp_path / "m.keras"
    model.compile("sgd", squares)
    model.save(path)
    with pytest.raises((TypeError, ValueError), match="`squares`"):
        tf.keras.models.load_model(path)
    again = tf.keras.models.load_model(path, custom_objects={"squares": squares})
    assert again.loss is squares
    assert tf.keras.models.load_model(path, compile=False).optimizer is None


def test_classes_say_how_their_variables_are_kept(tmp_path):
    @tf.keras.saving.register_keras_serializable("own")
    class Counted(layers.Layer):
        def build(self, shape):
            self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", name="scale")
            self.seen = 0

        def call(self, x):
            return x * self.scale

        def save_own_variables(self, store):
            super().save_own_variables(store)
            store["seen"] = np.int64(self.seen)

        def load_own_variables(self, store):
            self.seen = int(store["seen"])
            super().load_own_variables({"0": store["0"]})

    model = tf.keras.Sequential([tf.keras.Input((3,)), Counted(), layers.Dense(2)])
    model.layers[0].seen = 41
    model.layers[0].scale.assign([1.0, 2.0, 3.0])
    for name in ("m.keras", "m.weights.h5"):
        path = tmp_path / name
        model.save(path) if name.endswith(".keras") else model.save_weights(path)
        other = tf.keras.Sequential([tf.keras.Input((3,)), Counted(), layers.Dense(2)])
        other.load_weights(path)
        assert other.layers[0].seen == 41
        assert np.array_equal(other(np.ones((1, 3))).numpy(), model(np.ones((1, 3))).numpy())
    assert tf.keras.models.load_model(tmp_path / "m.keras").layers[0].seen == 41


def test_a_model_says_how_it_is_built_again(tmp_path):
    @tf.keras.saving.register_keras_serializable("own")
    class Wide(tf.keras.Model):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.inner = layers.Dense(2)

        def call(self, x):
            return self.inner(x["a"])

        def get_build_config(self):
            return {"width": 7}

        def build_from_config(self, config):
            self({"a": tf.zeros([1, config["width"]])})

    model = Wide()
    value = {"a": np.ones((3, 7), "f4")}
    wanted = model(value).numpy()
    model.save(tmp_path / "m.keras")
    assert np.array_equal(tf.keras.models.load_model(tmp_path / "m.keras")(value).numpy(), wanted)


def test_a_sequential_tells_its_input():
    model = tf.keras.Sequential([tf.keras.Input((3,), name="x"), layers.Dense(2)])
    config = model.get_config()
    assert [one["class_name"] for one in config["layers"]] == ["InputLayer", "Dense"]
    assert tuple(config["build_input_shape"]) == (None, 3)
    again = tf.keras.Sequential.from_config(config)
    assert again.built and again.inputs[0].shape == (None, 3)
    called = tf.keras.Sequential([layers.Dense(2)])
    called(tf.ones([4, 3]))
    assert tuple(called.get_config()["build_input_shape"]) == (4, 3)
    assert tf.keras.Sequential.from_config(called.get_config()).built


def test_options_that_are_none_are_taken_where_keras_has_them():
    config = {**layers.Dense(2).get_config(), "quantization_config": None, "lora_rank": None}
    assert layers.Dense.from_config(config).units == 2
    assert layers.Dense(2, lora_rank=None).lora_rank is None
    table = layers.Embedding(3, 2, "uniform", None, None, True, None, None, None)
    assert table.mask_zero
    for make in (
        lambda: layers.Dense(2, lora_rank=4),
        lambda: layers.EinsumDense("ab,bc->ac", 2, gptq_unpacked_column_size=4),
        lambda: layers.Embedding(3, 2, lora_rank=4),
    ):
        with pytest.raises(NotImplementedError, match="is not supported"):
            make()


def test_weights_as_plain_tensors(tmp_path):
    def made():
        x = tf.keras.Input((4,))
        h = layers.BatchNormalization()(layers.Dense(3)(x))
        rough = tf.cast(layers.Dense(2, dtype="bfloat16")(h), tf.float32)
        return tf.keras.Model(x, layers.Dense(2)(h) + rough)

    path, model, other = str(tmp_path / "m.safetensors"), made(), made()
    model.compile("adam", "mse")  # what an optimizer keeps is no weight
    model.fit(np.ones((4, 4)), np.ones((4, 2)), verbose=0)
    model.save_weights(path)
    with open(path, "rb") as f:
        size = int.from_bytes(f.read(8), "little")
        header = json.loads(f.read(size))
    header.pop("__metadata__", None)
    assert len(header) == len(model.weights)
    assert header["layers/dense/kernel"]["shape"] == [4, 3]
    assert header["layers/batch_normalization/moving_mean"]["dtype"] == "F32"
    other.load_weights(path)
    for mine, its in zip(other.weights, model.weights, strict=True):
        assert np.array_equal(plain(mine), plain(its))
    small = tf.keras.Sequential([tf.keras.Input((4,)), layers.Dense(3)])
    before = small.get_weights()
    with pytest.raises(tf.errors.InvalidArgumentError, match="of which 2 are weights"):
        small.load_weights(path)
    assert np.array_equal(before[0], small.get_weights()[0])
    small.load_weights(path, skip_mismatch=True)
    assert np.array_equal(small.get_weights()[0], plain(model.weights[0]))
    wide = tf.keras.Sequential([tf.keras.Input((5,)), layers.Dense(3)])
    with pytest.raises(tf.errors.InvalidArgumentError, match="has shape"):
        wide.load_weights(path)


def plain(variable):
    return tf.cast(variable, tf.float32).numpy()
