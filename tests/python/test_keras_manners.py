"""What programs expect of Keras beside layers: arguments by name, specs, symbols, wrappers."""

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
layers = keras.layers


def test_methods_take_their_arguments_by_name():
    model = keras.Sequential([layers.Dense(2)])
    model.build(input_shape=(None, 3))
    assert model.weights[0].shape == (3, 2)
    dense = layers.Dense(4)
    dense.build(input_shape=[None, 3])
    assert dense.compute_output_shape(input_shape=(None, 3)) == (None, 4)
    optimizer = keras.optimizers.Adam()
    optimizer.build(variables=dense.weights)
    assert len(optimizer.variables) == 2 + 2 * len(dense.weights)
    model.compile("sgd", "mse")
    assert "loss" in model.train_step(data=(tf.ones([2, 3]), tf.ones([2, 2])))
    with pytest.raises(TypeError, match="dense"):
        dense.compute_output_shape()


def test_a_model_of_several_inputs_is_built_by_a_dict_of_shapes():
    class Both(keras.Model):
        def __init__(self):
            super().__init__()
            self.one, self.two = layers.Dense(1), layers.Dense(1)

        def call(self, inputs):
            return self.one(inputs["a"]) + self.two(inputs["b"])

    model = Both()
    model({"a": tf.ones([1, 2]), "b": tf.ones([1, 3])})
    assert [w.shape.as_list() for w in model.weights] == [[2, 1], [1], [3, 1], [1]]


def test_input_specs_are_asked_at_every_call():
    class Picky(layers.Layer):
        def __init__(self, spec):
            super().__init__(name="picky")
            self.input_spec = spec

        def call(self, x):
            return x

    spec = layers.InputSpec(ndim=3, axes={-1: 2})
    assert repr(spec) == "InputSpec(ndim=3, axes={-1: 2})"
    assert keras.InputSpec.from_config(spec.get_config()).axes == {-1: 2}
    picky = Picky(spec)
    assert picky(tf.ones([1, 5, 2])).shape == (1, 5, 2)
    with pytest.raises(ValueError, match=r"`picky`.*expected 3 axes, got shape \(5, 2\)"):
        picky(tf.ones([5, 2]))
    with pytest.raises(ValueError, match="size 2 along axis -1"):
        picky(keras.Input((5, 3)))
    for spec, value, word in (
        (layers.InputSpec(min_ndim=2), tf.ones([2]), "at least 2"),
        (layers.InputSpec(max_ndim=1), tf.ones([2, 2]), "at most 1"),
        (layers.InputSpec(shape=(None, 4)), tf.ones([2, 3]), r"shape \(None, 4\)"),
        (layers.InputSpec(dtype="int32"), tf.ones([2]), "dtype int32"),
    ):
        with pytest.raises((ValueError, TypeError), match=word):
            Picky(spec)(value)
    two = Picky([layers.InputSpec(ndim=1), layers.InputSpec(ndim=2)])
    with pytest.raises(TypeError, match="got 1 inputs, expected 2"):
        two(tf.ones([3]))
    with pytest.raises(ValueError, match="axis 3"):
        layers.InputSpec(ndim=2, axes={3: 1})


def test_symbols_are_keras_tensors():
    x = keras.Input((3,))
    assert isinstance(x, keras.KerasTensor) and isinstance(layers.Dense(2)(x), keras.KerasTensor)
    assert not isinstance(tf.ones([1]), keras.KerasTensor) and not isinstance(1, keras.KerasTensor)
    made = keras.KerasTensor((None, 4), "int32", name="made")
    assert made.shape.as_list() == [None, 4] and made.dtype == tf.int32
    with pytest.raises(tf.errors.UnimplementedError, match="record_history"):
        keras.KerasTensor((1,), record_history=False)


def test_wrappers():
    class Twice(layers.Wrapper):
        def call(self, x):
            return self.layer(x) * 2

    twice = Twice(layers.Dense(1, kernel_initializer="ones"))
    assert twice(tf.ones([1, 3])).numpy() == 6
    assert len(twice.weights) == 2
    again = Twice.from_config(twice.get_config())
    assert again.layer.units == 1 and again(tf.ones([1, 3])).numpy() == 6
    with pytest.raises(TypeError, match="str"):
        Twice("dense")


def test_policies_by_name_and_config():
    policies = keras.dtype_policies
    assert keras.DTypePolicy().name == keras.mixed_precision.global_policy().name
    mixed = policies.get("mixed_bfloat16")
    assert (mixed.compute_dtype, mixed.variable_dtype) == ("bfloat16", "float32")
    assert policies.get(mixed) is mixed and policies.get(tf.float64).name == "float64"
    config = {"class_name": "DTypePolicy", "config": {"name": "float16"}}
    assert policies.deserialize(config).name == policies.get(config).name == "float16"
    with pytest.raises(TypeError, match="describes no policy"):
        policies.deserialize({"class_name": "Dense", "config": {}})


def test_models_of_layers_of_the_program_come_from_their_configs():
    class Double(layers.Layer):
        def call(self, x):
            return 2 * x

    class Named(keras.Model):
        pass

    inputs = keras.Input((3,))
    model = keras.Model(inputs, Double()(layers.Dense(2)(inputs)), name="graph")
    config, known = model.get_config(), {"Double": Double}
    for made in (
        keras.Model.from_config(config, known),
        Named.from_config(config, custom_objects=known),
        keras.models.model_from_json(model.to_json(), known),
    ):
        made.set_weights(model.get_weights())
        x = tf.ones([2, 3])
        np.testing.assert_array_equal(made(x), model(x))
        assert made.name == "graph"
    assert type(Named.from_config(config, known)) is Named
    with pytest.raises(TypeError, match="Double"):
        keras.Model.from_config(config)


def test_optimizers_keep_variables_beside_others():
    class Momentum(keras.optimizers.Optimizer):
        def build(self, variables):
            super().build(variables)
            self.speed, self.age = self.add_optimizer_variables(
                variables, ["speed", "age"], initializer=["zeros", "ones"]
            )

    one = tf.Variable([1.0, 2.0])
    optimizer = Momentum(learning_rate=0.1, name="momentum")
    optimizer.build([one])
    assert optimizer.speed[0].numpy().tolist() == [0, 0]
    assert optimizer.age[0].numpy().tolist() == [1, 1]
    with pytest.raises(TypeError, match="2 initializers for 1 names"):
        optimizer.add_optimizer_variables([one], ["a"], ["zeros", "ones"])


def test_draws_of_a_beta_distribution_are_keras_own():
    np.testing.assert_allclose(
        keras.random.beta((4,), 2.0, 3.0, seed=7),
        [0.24321287870407104, 0.638441264629364, 0.5494970083236694, 0.30597689747810364],
        rtol=1e-6,
    )


def test_windows_over_a_series():
    windows = keras.utils.timeseries_dataset_from_array(
        np.arange(20),
        np.arange(20) * 10,
        4,
        sequence_stride=3,
        sampling_rate=2,
        batch_size=3,
        start_index=1,
        end_index=19,
    )
    batches = [(x.numpy().tolist(), y.numpy().tolist()) for x, y in windows]
    assert batches == [
        ([[1, 3, 5, 7], [4, 6, 8, 10], [7, 9, 11, 13]], [10, 40, 70]),
        ([[10, 12, 14, 16]], [100]),
    ]
    shuffled = keras.utils.timeseries_dataset_from_array(
        np.arange(10), None, 3, batch_size=4, shuffle=True, seed=5
    )
    begins = np.concatenate([x.numpy()[:, 0] for x in shuffled])
    assert sorted(begins) == list(range(8)) and list(begins) != list(range(8))
    for wrong in ({"sequence_stride": 0}, {"sampling_rate": 10}, {"end_index": 99}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            keras.utils.timeseries_dataset_from_array(np.arange(10), None, 3, **wrong)


def test_circle_against_further_embeddings():
    e = np.array([[1, 0], [0.6, 0.8], [0, 1], [0.8, 0.6]], "float32")
    y = np.array([0, 0, 1, 1])
    np.testing.assert_allclose(
        keras.losses.circle(y, e), [38.4, 60.928009, 38.4, 60.928009], rtol=1e-6
    )
    given = keras.losses.circle(
        y,
        e,
        ref_labels=np.array([0, 1]),
        ref_embeddings=e[[1, 2]],
        remove_diagonal=False,
        gamma=2.0,
    )
    np.testing.assert_allclose(given, [0.545893, 1.0634966, 1.0634966, 1.7204211], rtol=1e-6)


def test_masks_and_weights_of_metrics():
    p = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]], "float32")
    metric = keras.metrics.SparseCategoricalCrossentropy(ignore_class=1)
    metric.update_state([0, 1, 2], p)
    np.testing.assert_allclose(metric.result(), 0.42432189, rtol=1e-6)
    metric.reset_state()
    metric.update_state([0, 1, 2], p, sample_weight=[1.0, 2.0, 3.0])
    np.testing.assert_allclose(metric.result(), 0.7763868, rtol=1e-6)

    x, y = np.array([[1, 2, 0, 0], [3, 0, 0, 0]]), np.array([[1, 0, 1, 0], [0, 1, 1, 1]])
    model = keras.Sequential(
        [
            layers.Embedding(5, 3, mask_zero=True, embeddings_initializer="ones"),
            layers.Dense(2, activation="softmax", kernel_initializer="ones"),
        ]
    )
    model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
    logs = model.evaluate(x, y, verbose=0, return_dict=True)
    np.testing.assert_allclose(logs["accuracy"], 2 / 3, rtol=1e-6)
    accuracy = keras.metrics.SparseCategoricalAccuracy()
    accuracy.update_state(y, model(x))
    np.testing.assert_allclose(accuracy.result(), 2 / 3, rtol=1e-6)
    accuracy.reset_state()
    accuracy.update_state(y, model(x), sample_weight=np.array([[1.0, 2, 3, 4], [5, 6, 7, 8]]))
    np.testing.assert_allclose(accuracy.result(), 0.875, rtol=1e-6)


def test_the_weight_of_an_example_is_that_of_its_steps():
    loss = keras.losses.MeanSquaredError()
    y, p = np.zeros((2, 2, 1)), np.array([[[1.0], [1.0]], [[2.0], [2.0]]])
    np.testing.assert_allclose(loss(y, p, sample_weight=[1.0, 3.0]), (1 + 1 + 12 + 12) / 4)
    mask = tf.constant([[True, False], [True, False]])
    model = keras.Sequential([layers.Masking(), layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", "mse")
    x = np.where(mask.numpy()[..., None], p, 0.0)
    logs = model.evaluate(x, y, sample_weight=np.array([1.0, 3.0]), verbose=0, return_dict=True)
    np.testing.assert_allclose(logs["loss"], (1 + 12) / 2, rtol=1e-6)


def test_a_sequential_has_one_layer_of_a_name():
    model = keras.Sequential([keras.layers.Dense(2, name="same")])
    with pytest.raises(ValueError, match="`same` already"):
        model.add(keras.layers.Dense(2, name="same"))
    assert len(model.layers) == 1


def test_a_sequential_without_layers_computes_nothing():
    with pytest.raises((TypeError, ValueError), match="has no layers"):
        keras.Sequential()(np.ones((2, 3), "f"))


@pytest.mark.parametrize("form", [lambda w: w, lambda w: [w]])
def test_an_embedding_begins_with_the_rows_that_it_is_given(form):
    rows = np.arange(6, dtype="f").reshape(3, 2)
    layer = keras.layers.Embedding(3, 2, weights=form(rows))
    np.testing.assert_array_equal(layer(np.array([2, 0])), rows[[2, 0]])
    assert len(layer.trainable_weights) == 1
    assert "weights" not in layer.get_config()
    with pytest.raises((TypeError, ValueError), match=r"\[3,2\]|\(3, 2\)"):
        keras.layers.Embedding(3, 2, weights=np.ones((4, 2)))


def test_a_function_that_nobody_made_known_is_named_with_what_to_do(tmp_path):
    def half(x):
        return x * 0.5

    path = tmp_path / "m.keras"
    keras.Sequential([keras.Input((3,)), layers.Dense(2, activation=half)]).save(path)
    with pytest.raises(TypeError, match="the function `half` is not known") as refused:
        keras.models.load_model(path)
    assert refused.value.code == "E1303" and "custom_objects" in str(refused.value)
    again = keras.models.load_model(path, custom_objects={"half": half})
    assert again.layers[0].activation is half


@pytest.mark.parametrize(
    ("loss", "width", "said"),
    [
        ("binary_crossentropy", 3, "a last layer of one unit"),
        ("categorical_crossentropy", 1, "BinaryCrossentropy"),
    ],
)
def test_labels_of_another_cross_entropy_say_what_to_use(loss, width, said):
    with pytest.raises(tf.errors.InvalidArgumentError) as refused:
        keras.losses.get(loss)(np.array([0.0, 1.0, 1.0, 0.0]), np.full((4, width), 0.5))
    assert said in str(refused.value)


def test_a_sequential_is_built_for_what_its_input_says():
    model = keras.Sequential([keras.Input((2,), batch_size=3), keras.layers.Dense(2)])
    with pytest.raises(ValueError, match="built for"):
        model.build((3, 4))
    model.build((3, 2))
    assert model(np.ones((3, 2), "f")).shape == (3, 2)
