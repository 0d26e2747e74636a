"""`keras.Variable`, and variables of layers, optimizers and metrics, which are such."""

import copy
import gc
import pickle

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras
Variable = keras.Variable


def test_a_value_or_an_initializer_makes_it():
    assert Variable(2.5).dtype == "float32" and Variable(3).dtype == "int32"
    np.testing.assert_array_equal(Variable(np.arange(3)), [0, 1, 2])
    np.testing.assert_array_equal(Variable("ones", shape=(2,)), [1, 1])
    zeros = Variable("zeros", shape=[2, 1], dtype="int32")
    assert zeros.shape == (2, 1) and zeros.dtype == "int32" and zeros.ndim == 2
    given = []

    def initializer(shape, dtype):
        given.append((tuple(shape), dtype))
        return tf.fill(shape, tf.cast(7, dtype))

    seven = Variable(initializer, shape=(2,), dtype="float16")
    assert given == [((2,), tf.float16)] and seven.numpy().tolist() == [7, 7]
    drawn = Variable(keras.initializers.RandomUniform(seed=1), shape=(3,))
    assert np.isfinite(drawn.numpy()).all()


def test_it_is_a_variable_in_all_it_does():
    v = Variable([1.0, 2.0], name="v")
    assert isinstance(v, tf.Variable) and not isinstance(tf.Variable(1.0), Variable)
    v.assign([3.0, 4.0])
    v.assign_add([1.0, 1.0])
    v.assign_sub([0.5, 0.5])
    np.testing.assert_array_equal(v.value, [3.5, 4.5])
    assert isinstance(v.value, tf.Tensor)
    np.testing.assert_array_equal(1 - v * 2 + v[1], [-1.5, -3.5])
    np.testing.assert_array_equal(keras.ops.sum(v), 8.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(v.value**2)
    np.testing.assert_array_equal(tape.gradient(y, v), [7, 9])

    @tf.function
    def step():
        v.assign_add([1.0, 1.0])
        return v.value

    np.testing.assert_array_equal(step(), [4.5, 5.5])
    np.testing.assert_array_equal(step(), [5.5, 6.5])


def test_names_paths_and_words():
    v = Variable(1.0, name="v")
    assert (v.name, v.path) == ("v", "v")
    with keras.name_scope("outer"), keras.name_scope("inner"):
        w = Variable(1.0, name="w")
    assert (w.name, w.path) == ("w", "outer/inner/w")
    assert repr(w) == "<Variable path=outer/inner/w, shape=(), dtype=float32, value=1.0>"
    first, second = Variable(0.0), Variable(0.0)
    assert first.name.startswith("variable") and first.path != second.path
    assert (v.aggregation, v.synchronization) == ("none", "auto")
    mean = Variable(1.0, aggregation="mean", synchronization="on_read", trainable=False)
    assert (mean.aggregation, mean.synchronization, mean.trainable) == ("mean", "on_read", False)
    v.trainable = True  # which it is
    assert tf.Variable(1.0, name="plain").name == "plain:0"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Variable("zeros"), "got no `shape`"),
        (lambda: Variable(keras.initializers.Ones()), "got no `shape`"),
        (lambda: Variable(np.ones(3), shape=(2,)), r"the shape \(2,\) for a value of shape \(3,\)"),
        (lambda: Variable(1.0, name="a/b"), "`name` is 'a/b'"),
        (lambda: Variable(1.0, name=3), "`name` is 3"),
        (lambda: Variable(1.0, aggregation="product"), "`aggregation` is 'product'"),
        (lambda: Variable(1.0, synchronization=2), "`synchronization` is 2"),
        (lambda: Variable(None), "None"),
        (lambda: Variable("no_such", shape=(2,)), "no_such"),
        (lambda: Variable(1.0, dtype="no_such"), "no_such"),
    ],
)
def test_what_it_refuses(make, says):
    with pytest.raises((TypeError, ValueError), match=says):
        make()


def test_what_is_said_when_it_is_made_stays():
    v = Variable(1.0)
    with pytest.raises(NotImplementedError, match="can't be made trainable"):
        Variable(1.0, trainable=False).trainable = True
    with pytest.raises(NotImplementedError, match="layout"):
        Variable(1.0, layout="row")
    for name in ("name", "path", "value"):
        with pytest.raises(AttributeError):
            setattr(v, name, 1)


def test_copies_and_pickles_are_what_it_is():
    v = Variable([1.0, 2.0], name="v", trainable=False, aggregation="sum")
    for other in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        assert type(other) is Variable and other is not v
        assert (other.path, other.trainable, other.aggregation) == ("v", False, "sum")
        np.testing.assert_array_equal(other, v)


def test_variables_of_layers_optimizers_and_metrics_are_such():
    model = keras.Sequential(
        [keras.layers.Dense(2, name="first"), keras.layers.BatchNormalization(name="norm")],
        name="whole",
    )
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    assert [(v.name, v.path) for v in model.weights] == [
        ("kernel", "whole/first/kernel"),
        ("bias", "whole/first/bias"),
        ("gamma", "whole/norm/gamma"),
        ("beta", "whole/norm/beta"),
        ("moving_mean", "whole/norm/moving_mean"),
        ("moving_variance", "whole/norm/moving_variance"),
    ]
    kept = [v for metric in model.metrics for v in metric.variables]
    for v in [*model.variables, *model.optimizer.variables, *kept]:
        assert isinstance(v, Variable) and v.path.endswith(f"/{v.name}")
    names = [v.name for v in model.optimizer.variables]
    assert names[:3] == ["iteration", "learning_rate", "whole_first_kernel_momentum"]
    assert isinstance(model.optimizer.iterations, Variable)
    gc.collect()
    assert model.layers[0].kernel is model.weights[0]


def test_paths_of_models_in_models():
    inner = keras.Sequential([keras.layers.Dense(2, name="a")], name="inner")
    outer = keras.Sequential([inner, keras.layers.Dense(1, name="b")], name="outer")
    outer(np.ones((1, 3), "float32"))
    paths = ["outer/inner/a/kernel", "outer/inner/a/bias", "outer/b/kernel", "outer/b/bias"]
    assert [v.path for v in outer.variables] == paths
    known = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, name="d")], name="known")
    assert [v.path for v in known.variables] == ["known/d/kernel", "known/d/bias"]
    x = keras.Input((3,))
    functional = keras.Model(x, keras.layers.Dense(1, name="e")(x))
    assert [v.path for v in functional.variables] == ["e/kernel", "e/bias"]


def test_layers_list_their_variables():
    layer = keras.layers.Dense(2)
    layer.build((None, 3))
    mine = Variable(0.0)
    for listed in (layer.variables, layer.trainable_variables, layer.weights):
        assert isinstance(listed, list) and (listed + [mine])[-1] is mine
    assert layer.non_trainable_variables == []


def test_a_variable_of_a_layers_own_is_found_and_trained():
    class Scale(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.scale = Variable(2.0, name="scale")
            self.seen = Variable(0, dtype="int32", trainable=False)

        def call(self, x):
            self.seen.assign_add(1)
            return x * self.scale

    model = keras.Sequential([Scale()])
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 1)), np.zeros((4, 1)), verbose=0, epochs=3)
    (layer,) = model.layers
    assert len(model.trainable_variables) == 1 and float(layer.scale.value) < 2.0
    assert int(layer.seen) == 3


def test_a_metric_gives_the_value_of_its_variable():
    class Positives(keras.metrics.Metric):
        def __init__(self, name="positives", **kwargs):
            super().__init__(name=name, **kwargs)
            self.count = self.add_variable(shape=(), initializer="zeros", name="count")

        def update_state(self, y_true, y_pred, sample_weight=None):
            self.count.assign_add(keras.ops.sum(keras.ops.cast(y_pred > 0, "float32")))

        def result(self):
            return self.count.value

    model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones")])
    model.compile("sgd", "mse", metrics=[Positives()])
    x = np.array([[1.0], [-1.0], [2.0]], "float32")
    assert model.evaluate(x, x, verbose=0, return_dict=True)["positives"] == 2.0
