"""Bases of Keras that programs derive from, and copies of what has a config."""

import copy
import pickle

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras


class Doubled(keras.constraints.Constraint):
    def __call__(self, w):
        return 2 * w


class Steep(keras.regularizers.Regularizer):
    def __init__(self, slope):
        super().__init__()
        self.slope = slope

    def __call__(self, x):
        return self.slope * tf.reduce_sum(x)

    def get_config(self):
        return {"slope": self.slope}


class Ramp(keras.initializers.Initializer):
    def __call__(self, shape, dtype=None, **kwargs):
        return tf.cast(tf.reshape(tf.range(np.prod(shape)), shape), dtype or tf.float32)


def test_a_class_without_a_constructor_of_its_own():
    layer = keras.layers.Dense(
        2,
        kernel_constraint=Doubled(),
        kernel_regularizer=Steep(0.5),
        kernel_initializer=Ramp(),
        use_bias=False,
    )
    layer.build((None, 3))
    np.testing.assert_array_equal(layer.kernel.numpy(), [[0, 1], [2, 3], [4, 5]])
    assert float(layer.losses[0]) == 7.5
    assert Doubled().get_config() == {}


def test_the_bases_themselves():
    w = np.array([1.0, -2.0], np.float32)
    base = keras.constraints.Constraint()
    assert base.get_config() == {}
    np.testing.assert_array_equal(base(w), w)
    assert isinstance(
        keras.constraints.Constraint.from_config(base.get_config()), keras.constraints.Constraint
    )
    for made, given in (
        (keras.regularizers.Regularizer(), w),
        (keras.initializers.Initializer(), [2]),
    ):
        assert made.get_config() == {}
        with pytest.raises(NotImplementedError, match="has no `__call__`"):
            made(given)
    with pytest.raises(TypeError, match="at most 0 arguments"):
        keras.constraints.Constraint(3)


@pytest.mark.parametrize(
    "made",
    [
        Steep(2.0),
        keras.constraints.MaxNorm(3.0, axis=1),
        keras.initializers.RandomNormal(stddev=0.5, seed=4),
        keras.losses.Huber(delta=2.0, reduction="sum"),
        keras.optimizers.schedules.ExponentialDecay(0.1, 5, 0.9),
        keras.optimizers.AdamW(3e-3, weight_decay=0.1),
        keras.metrics.AUC(num_thresholds=7),
    ],
    ids=lambda made: type(made).__name__,
)
def test_copies_and_pickles(made):
    for other in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert other is not made
        assert type(other) is type(made)
        assert other.get_config() == made.get_config()


def test_a_metric_is_copied_with_what_it_has_gathered():
    recall = keras.metrics.Recall()
    recall.update_state([1, 1, 1, 0], [0.9, 0.1, 0.8, 0.2])
    other = pickle.loads(pickle.dumps(recall))
    np.testing.assert_allclose([other.result(), recall.result()], 2 / 3)
    other.update_state([1], [0.9])
    np.testing.assert_allclose([other.result(), recall.result()], [3 / 4, 2 / 3])
    score = keras.metrics.F1Score()
    assert type(copy.deepcopy(score)) is keras.metrics.F1Score
    score.update_state(np.eye(3), np.eye(3))
    with pytest.raises(NotImplementedError, match="can't be copied"):
        copy.deepcopy(score)


def test_an_optimizer_that_keeps_values_is_not_copied_without_them():
    v = tf.Variable([1.0, 2.0])
    optimizer = keras.optimizers.SGD(0.5, momentum=0.9)
    assert copy.deepcopy(optimizer).get_config() == optimizer.get_config()
    optimizer.apply([tf.constant([1.0, 1.0])], [v])
    with pytest.raises(NotImplementedError, match="keeps values for variables"):
        pickle.dumps(optimizer)
    assert keras.optimizers.get(None) is None
    assert float(keras.optimizers.SGD(loss_scale_factor=8).scale_loss(0.5)) == 4.0


def test_what_a_metric_gathers_has_names():
    for made, names in (
        (keras.metrics.FalsePositives(), ["accumulator"]),
        (keras.metrics.Recall(), ["true_positives", "false_negatives"]),
    ):
        assert [v.name for v in made.variables] == names
        for name, variable in zip(names, made.variables, strict=True):
            assert getattr(made, name) is variable or getattr(made, name).name == name
    with pytest.raises(AttributeError, match="no attribute 'false_positives'"):
        _ = keras.metrics.Recall().false_positives


def test_lists_of_a_metric_stay_lists():
    assert keras.metrics.Precision(thresholds=(0.2, 0.7)).thresholds == [0.2, 0.7]
    assert keras.metrics.IoU(num_classes=3, target_class_ids=[2, 0]).target_class_ids == [2, 0]
    assert keras.layers.Conv2D(2, [3, 2]).kernel_size == (3, 2)


def test_thresholds_of_a_curve_count_both_ends():
    auc = keras.metrics.AUC(num_thresholds=None, thresholds=[0.25, 0.5, 0.75])
    assert auc.num_thresholds == 5
    assert auc.get_config()["num_thresholds"] == 5
    assert auc.true_positives.shape == (5,)
    with pytest.raises(TypeError, match="neither"):
        keras.metrics.AUC(num_thresholds=None)


def test_metrics_compute_in_floatx():
    before = keras.config.floatx()
    keras.config.set_floatx("float64")
    try:
        metric = keras.metrics.Mean()
        metric.update_state([1.0, 2.0])
        assert metric.result().dtype == tf.float64
    finally:
        keras.config.set_floatx(before)
    assert keras.metrics.Mean().dtype == "float32"


@pytest.mark.parametrize("axis", [(1, 2), (-1, 0), (0, 1, 2)])
def test_softmax_over_several_axes(axis):
    x = np.linspace(-2, 3, 24, dtype=np.float32).reshape(2, 3, 4)
    e = np.exp(x)
    expected = e / e.sum(axis=axis, keepdims=True)
    np.testing.assert_allclose(keras.activations.softmax(x, axis=axis), expected, rtol=1e-5)
    np.testing.assert_allclose(
        keras.activations.log_softmax(x, axis=axis), np.log(expected), rtol=1e-5, atol=1e-6
    )


def test_one_scale_of_the_loss_is_taken_back():
    v = tf.Variable([1.0, 2.0])
    inner = keras.optimizers.SGD(0.5, loss_scale_factor=100.0)
    optimizer = keras.optimizers.LossScaleOptimizer(inner, initial_scale=4.0)
    optimizer.apply([tf.constant([4.0, 8.0])], [v])
    np.testing.assert_allclose(v.numpy(), [0.5, 1.0], rtol=1e-6)


def test_loops_over_symbols_of_a_model():
    x = keras.Input((3,), dtype="int32")
    (y,) = tf.while_loop(lambda a: tf.reduce_any(a < 5), lambda a: (a + 2,), [x])
    assert y.shape == (None, 3)
    model = keras.Model(x, [y, keras.ops.gcd(x, 6)])
    ends, divisors = model(np.array([[1, 4, 9]], np.int32))
    assert ends.numpy().tolist() == [[5, 8, 13]]
    assert divisors.numpy().tolist() == [[1, 2, 3]]
