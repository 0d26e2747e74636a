"""What a call would give, policies by the names of layers, and what counts as the best yet."""

import re

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras


def test_the_spec_of_a_call_is_a_symbol_that_leads_nowhere():
    layer = keras.layers.Dense(3)
    spec = layer.compute_output_spec(keras.KerasTensor((None, 5)))
    assert isinstance(spec, keras.KerasTensor)
    assert spec.shape == (None, 3)
    assert spec.dtype == "float32"
    assert not hasattr(layer, "output")  # nothing was recorded
    assert keras.layers.Dense(3, dtype="mixed_bfloat16").compute_output_spec(
        keras.KerasTensor((2, 5))
    ).dtype == ("bfloat16")


def test_specs_of_several_outputs_and_of_values():
    lstm = keras.layers.LSTM(4, return_state=True)
    out, h, c = lstm.compute_output_spec(np.zeros((2, 3, 5), "float32"))
    assert [tuple(t.shape) for t in (out, h, c)] == [(2, 4)] * 3
    added = keras.layers.Add().compute_output_spec(
        [keras.KerasTensor((None, 5)), keras.KerasTensor((None, 5))]
    )
    assert added.shape == (None, 5)


def test_specs_of_models():
    x = keras.Input((4,))
    model = keras.Model(x, {"a": keras.layers.Dense(2)(x), "b": x * 2})
    spec = model.compute_output_spec(keras.KerasTensor((7, 4)))
    assert spec["a"].shape == (7, 2)
    assert spec["b"].shape == (7, 4)

    class Own(keras.Model):
        def __init__(self):
            super().__init__()
            self.inner = keras.layers.Dense(6)

        def call(self, x, training=False):
            return self.inner(x), x

    one, two = Own().compute_output_spec(keras.KerasTensor((None, 4)), training=True)
    assert one.shape == (None, 6)
    assert two.shape == (None, 4)
    assert keras.Sequential([keras.layers.Flatten()]).compute_output_spec(
        keras.KerasTensor((3, 2, 5))
    ).shape == (3, 10)


def test_a_layer_that_says_its_shape_is_not_run():
    class Said(keras.layers.Layer):
        def call(self, x):
            raise AssertionError("run")

        def compute_output_shape(self, input_shape):
            return (*input_shape[:-1], 9)

    spec = Said().compute_output_spec(keras.KerasTensor((None, 4), dtype="int32"))
    assert spec.shape == (None, 9)
    assert spec.dtype == "float32"


def test_policies_by_the_names_of_layers():
    policies = keras.dtype_policies.DTypePolicyMap("bfloat16", {"enc_.*": "mixed_bfloat16"})
    policies["head"] = keras.DTypePolicy("float64")
    assert len(policies) == 2
    assert policies.name == "map_bfloat16"
    assert policies["enc_1"].name == "mixed_bfloat16"
    assert policies["xenc_1"].name == "bfloat16"
    with pytest.raises(ValueError, match="already"):
        policies["head"] = "float32"
    policies["enc_1.*"] = "float32"
    with pytest.raises(ValueError, match="several keys"):
        policies["enc_12"]
    del policies["enc_1.*"]
    again = keras.dtype_policies.deserialize(keras.dtype_policies.serialize(policies))
    assert again == policies

    assert keras.layers.Dense(2, dtype=policies, name="head").dtype == "float64"
    first = keras.layers.Dense(2, dtype=policies, name="enc_1")
    assert (first.compute_dtype, first.dtype) == ("bfloat16", "float32")
    assert keras.layers.Dense(2, dtype=policies).dtype == "bfloat16"
    with pytest.raises(ValueError, match="map itself"):
        keras.dtype_policies.DTypePolicyMap(policies)
    with pytest.raises(TypeError, match="expected a dict"):
        keras.dtype_policies.DTypePolicyMap("float32", ["float32"])


def test_the_best_yet_can_be_set(tmp_path):
    path = str(tmp_path / "m.weights.h5")
    saved = keras.callbacks.ModelCheckpoint(
        path, monitor="loss", save_best_only=True, save_weights_only=True
    )
    assert saved.best is None
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x, y = np.ones((4, 2), "float32"), np.ones((4, 1), "float32")
    saved.best = -1.0
    model.fit(x, y, verbose=0, callbacks=[saved])
    assert saved.best == -1.0
    assert not (tmp_path / "m.weights.h5").exists()
    saved.best = None
    model.fit(x, y, verbose=0, callbacks=[saved])
    assert (tmp_path / "m.weights.h5").exists()
    stop = keras.callbacks.EarlyStopping(monitor="loss")
    assert stop.best is None
    stop.best = 0.25
    assert stop.best == 0.25
    stop.best = None
    assert stop.best is None
    with pytest.raises((TypeError, ValueError)):
        stop.best = "low"


def test_a_model_says_what_its_inputs_must_be_like():
    a, b = keras.Input((4,), name="a"), keras.Input((2, 3), name="b", optional=True)
    model = keras.Model([a, b], keras.layers.Flatten()(b))
    told = [(s.name, s.shape, s.optional, s.allow_last_axis_squeeze) for s in model.input_spec]
    assert told == [("a", (None, 4), False, True), ("b", (None, 2, 3), True, True)]
    named = keras.Model({"z": a, "y": b}, a)
    assert [s.name for s in named.input_spec] == ["y", "z"]
    assert keras.Model({"z": {"y": a}}, a).input_spec is None

    class Own(keras.Model):
        def call(self, x):
            return x

    assert Own().input_spec is None


def test_a_spec_that_the_program_sets_is_asked():
    x = keras.Input((None,))
    model = keras.Model(x, x * 2)
    model.input_spec = keras.InputSpec(shape=(None, 3))
    assert model.input_spec.shape == (None, 3)
    model(np.ones((2, 3), "f"))
    dense = keras.layers.Dense(2)
    dense.input_spec = keras.InputSpec(ndim=2)
    for layer in (model, dense):
        with pytest.raises((TypeError, ValueError), match="input_spec"):
            layer(np.ones((2, 5, 4), "f"))
    assert dense(np.ones((2, 4), "f")).shape == (2, 2)


@pytest.mark.parametrize(
    ("make", "shape", "first", "then"),
    [
        (lambda: keras.layers.Dense(2), (None, 3), "min_ndim=2", "min_ndim=2, axes={-1: 3}"),
        (
            lambda: keras.layers.Conv2D(4, 3, groups=2),
            (None, 8, 8, 6),
            "min_ndim=4",
            "min_ndim=4, axes={-1: 6}",
        ),
        (
            lambda: keras.layers.DepthwiseConv1D(3, data_format="channels_first"),
            (None, 5, 8),
            "min_ndim=3",
            "min_ndim=3, axes={1: 5}",
        ),
        (
            lambda: keras.layers.Conv3DTranspose(2, 3),
            (None, 4, 4, 4, 1),
            "min_ndim=5",
            "min_ndim=5, axes={-1: 1}",
        ),
        (lambda: keras.layers.MaxPooling2D(), (None, 4, 4, 1), "ndim=4", "ndim=4"),
        (lambda: keras.layers.Permute((2, 1)), (None, 4, 1), "ndim=3", "ndim=3"),
        (lambda: keras.layers.GRU(2), (None, 4, 1), "ndim=3", "ndim=3"),
        (
            lambda: keras.layers.Bidirectional(keras.layers.LSTM(2)),
            (None, 4, 1),
            "ndim=3",
            "ndim=3",
        ),
        (
            lambda: keras.layers.BatchNormalization(axis=1),
            (None, 4, 3),
            None,
            "ndim=3, axes={1: 4}",
        ),
        (
            lambda: keras.layers.PReLU(shared_axes=[1]),
            (None, 4, 3),
            None,
            "ndim=3, axes={2: 3}",
        ),
        (lambda: keras.layers.EinsumDense("abc,cd->abd", (None, 5)), (None, 4, 3), None, "ndim=3"),
        (lambda: keras.layers.Dropout(0.5), (None, 4), None, None),
    ],
)
def test_layers_say_what_they_want_of_inputs(make, shape, first, then):
    layer = make()
    for said in (first, then):
        assert repr(layer.input_spec) == (f"InputSpec({said})" if said else "None")
        layer.build(shape)


def test_a_layer_is_refused_what_its_spec_does_not_allow():
    for layer, shape, wrong in (
        (keras.layers.BatchNormalization(name="it"), (2, 4, 3), (2, 3)),
        (keras.layers.GroupNormalization(3, name="it"), (2, 4, 3), (2, 3)),
        (keras.layers.Dense(2, name="it"), (2, 3), (3,)),
        (keras.layers.Conv1D(2, 2, name="it"), (2, 4, 3), (2, 4, 2)),
    ):
        layer(np.ones(shape, "f"))
        got = "got " + re.escape(str(list(wrong)).replace(" ", ""))
        with pytest.raises((TypeError, ValueError), match=f"`it` .*built for .*{got}"):
            layer(np.ones(wrong, "f"))


def test_a_class_that_derives_from_a_layer_has_its_spec():
    class Own(keras.layers.Dense):
        def call(self, x):
            return super().call(x) * 2

    own = Own(2, name="own")
    with pytest.raises((TypeError, ValueError), match="`own` .*at least 2 axes"):
        own(np.ones(3, "f"))
    own(np.ones((2, 3), "f"))
    assert own.input_spec.axes == {-1: 3}
    own.input_spec = None
    assert own.input_spec is None
