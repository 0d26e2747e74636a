"""`tf.keras.metrics`: figures of Keras' documentation, eager and traced, and a program's own."""

import numpy as np
import pytest

import holdfast as tf

metrics = tf.keras.metrics
Y2, P2 = [[0.0, 1.0], [0.0, 0.0]], [[1.0, 1.0], [0.0, 0.0]]
Q2 = [[0.6, 0.4], [0.4, 0.6]]
FIVE = [0, 0, 0, 1, 1], [0, 0.3, 0.8, 0.3, 0.8]
FOUR = [0, 0, 1, 1], [0, 0.5, 0.3, 0.9]
F_LABELS = [[1, 1, 1], [1, 0, 0], [1, 1, 0]]
F_SCORES = [[0.2, 0.6, 0.7], [0.2, 0.6, 0.6], [0.6, 0.8, 0.0]]
REGIONS = [0, 0, 1, 1], [0, 1, 0, 1]
ONE_HOT = (
    [[0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 0, 0]],
    [[0.2, 0.3, 0.5], [0.1, 0.2, 0.7], [0.5, 0.3, 0.1], [0.1, 0.4, 0.5]],
)

CASES = [
    (metrics.Mean, {}, ([1.0, 3, 5, 7],), None, 4),
    (metrics.Mean, {}, ([1.0, 3, 5, 7],), [1.0, 1, 0, 0], 2),
    (metrics.Sum, {}, ([1.0, 3, 5, 7],), [1.0, 1, 0, 0], 4),
    (metrics.MeanSquaredError, {}, (Y2, P2), None, 0.25),
    (metrics.MeanSquaredError, {}, (Y2, P2), [1.0, 0], 0.5),
    (metrics.MeanAbsoluteError, {}, (Y2, P2), [1.0, 0], 0.5),
    (metrics.RootMeanSquaredError, {}, (Y2, P2), None, 0.5),
    (metrics.LogCoshError, {}, (Y2, P2), None, 0.10844523),
    (metrics.CosineSimilarity, {}, ([[0.0, 1], [1, 1]], [[1.0, 0], [1, 1]]), None, 0.5),
    (metrics.KLDivergence, {}, (Y2, Q2), None, 0.45814306),
    (metrics.Poisson, {}, (Y2, P2), None, 0.5),
    (metrics.Hinge, {}, (Y2, Q2), None, 1.3),
    (metrics.SquaredHinge, {}, (Y2, Q2), None, 1.86),
    (metrics.CategoricalHinge, {}, (Y2, Q2), None, 1.4),
    (metrics.BinaryCrossentropy, {}, (Y2, Q2), None, 0.81492424),
    (metrics.BinaryAccuracy, {}, ([[1.0], [1], [0], [0]], [[0.98], [1], [0], [0.6]]), None, 0.75),
    (metrics.Accuracy, {}, ([[1], [2], [3], [4]], [[0], [2], [3], [4]]), None, 0.75),
    (
        metrics.SparseCategoricalAccuracy,
        {},
        ([[2], [1]], [[0.1, 0.6, 0.3], [0, 1.0, 0]]),
        None,
        0.5,
    ),
    (metrics.TopKCategoricalAccuracy, {"k": 1}, (ONE_HOT[0][:2], ONE_HOT[1][:2]), None, 0.5),
    (metrics.SparseTopKCategoricalAccuracy, {"k": 2}, ([0, 1], ONE_HOT[1][:2]), None, 0.5),
    (metrics.TruePositives, {}, ([0, 1, 1, 1], [1, 0, 1, 1]), None, 2),
    (metrics.TruePositives, {}, ([0, 1, 1, 1], [1, 0, 1, 1]), [0, 0, 1, 0], 1),
    (metrics.FalsePositives, {}, ([0, 1, 0, 0], [0, 0, 1, 1]), None, 2),
    (metrics.TrueNegatives, {}, ([0, 1, 0, 0], [1, 1, 0, 0]), None, 2),
    (metrics.FalseNegatives, {}, ([0, 1, 1, 1], [0, 1, 0, 0]), None, 2),
    (metrics.Precision, {}, ([0, 1, 1, 1], [1, 0, 1, 1]), None, 2 / 3),
    (metrics.Precision, {"top_k": 4}, ([[0, 0, 1, 1]], [[1.0, 1, 1, 1]]), None, 0.5),
    (
        metrics.Recall,
        {"thresholds": [0.2, 0.8]},
        ([0, 1, 1, 1], [0.1, 0.5, 0.9, 0.3]),
        None,
        [1, 1 / 3],
    ),
    (metrics.AUC, {"num_thresholds": 3}, FOUR, None, 0.75),
    (metrics.AUC, {"num_thresholds": 3}, FOUR, [1, 0, 0, 1], 1),
    (metrics.PrecisionAtRecall, {"recall": 0.5}, FIVE, None, 0.5),
    (metrics.PrecisionAtRecall, {"recall": 0.5}, FIVE, [2, 2, 2, 1, 1], 1 / 3),
    (metrics.RecallAtPrecision, {"precision": 0.8}, FOUR, None, 0.5),
    (metrics.SensitivityAtSpecificity, {"specificity": 0.5}, FIVE, None, 0.5),
    (metrics.SpecificityAtSensitivity, {"sensitivity": 0.5}, FIVE, None, 2 / 3),
    (metrics.F1Score, {"threshold": 0.5}, (F_LABELS, F_SCORES), None, [0.5, 0.8, 2 / 3]),
    (
        metrics.FBetaScore,
        {"beta": 2.0, "threshold": 0.5},
        (F_LABELS, F_SCORES),
        None,
        [0.3846154, 0.90909094, 0.8333334],
    ),
    (metrics.R2Score, {}, ([[1.0], [4], [3]], [[2.0], [4], [4]]), None, 0.57142854),
    (metrics.IoU, {"num_classes": 2, "target_class_ids": [0]}, REGIONS, None, 1 / 3),
    (metrics.MeanIoU, {"num_classes": 2}, REGIONS, [0.3, 0.3, 0.3, 0.1], 0.23809525),
    (metrics.BinaryIoU, {"threshold": 0.3}, ([0, 1, 0, 1], [0.1, 0.2, 0.4, 0.7]), None, 1 / 3),
    (metrics.OneHotIoU, {"num_classes": 3, "target_class_ids": [0, 2]}, ONE_HOT, None, 1 / 6),
    (metrics.OneHotMeanIoU, {"num_classes": 3}, ONE_HOT, None, 1 / 9),
]


@pytest.mark.parametrize(("kind", "options", "data", "weights", "wanted"), CASES)
def test_a_metric_says_what_keras_says(kind, options, data, weights, wanted):
    metric = kind(**options)
    named = {} if weights is None else {"sample_weight": weights}
    metric.update_state(*data, **named)
    np.testing.assert_allclose(metric.result(), wanted, rtol=1e-5, atol=1e-6)
    metric.reset_state()
    traced = tf.function(lambda *args: metric(*args, **named))
    for _ in range(2):  # the same batch twice is the same mean
        got = traced(*[tf.constant(d) for d in data])
        if kind.__name__ in ("Sum", *(c + s for c in ("True", "False") for s in SIGNS)):
            break
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
    again = metrics.deserialize(metrics.serialize(metric))
    assert type(again) is kind
    assert again.get_config() == metric.get_config()


SIGNS = ("Positives", "Negatives")


def test_an_area_agrees_with_the_order_of_scores():
    rng = np.random.default_rng(3)
    labels, scores = rng.integers(0, 2, 300), rng.uniform(size=300)
    metric = metrics.AUC(num_thresholds=4000)
    for part in range(3):
        here = slice(100 * part, 100 * part + 100)
        metric.update_state(labels[here], scores[here])
    above = scores[labels == 1][:, None] > scores[labels == 0][None, :]
    np.testing.assert_allclose(metric.result(), above.mean(), atol=2e-3)


class Misses(metrics.Metric):
    def __init__(self, name="misses", **options):
        super().__init__(name=name, **options)
        self.count = self.add_weight(name="count", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        wrong = tf.cast(tf.not_equal(y_true, y_pred), tf.float32)
        self.count.assign_add(tf.reduce_sum(wrong))

    def result(self):
        return self.count


def test_a_metric_of_a_program_counts_what_it_says():
    metric = Misses()
    assert float(metric([1, 2, 3], [1, 0, 0])) == 2
    assert float(metric([1], [0])) == 3
    assert [v.path for v in metric.variables] == ["misses/count"]
    metric.reset_state()
    assert float(metric.result()) == 0


def test_a_function_becomes_a_mean():
    wrapped = metrics.MeanMetricWrapper(lambda y, p: tf.abs(y - p), name="distance")
    wrapped.update_state(tf.constant([1.0, 2.0]), tf.constant([3.0, 2.0]))
    assert float(wrapped.result()) == 1
    np.testing.assert_array_equal(metrics.binary_accuracy([[1.0, 1.0]], [[0.9, 0.2]]), [[1, 0]])
    assert metrics.mse is tf.keras.losses.mse
    assert isinstance(metrics.get("mse"), metrics.MeanSquaredError)
    assert isinstance(tf.keras.losses.get("MeanSquaredError"), tf.keras.losses.MeanSquaredError)


def test_bad_options_are_told():
    with pytest.raises(IndexError, match="between 0 and 1"):
        metrics.PrecisionAtRecall(2.0)
    with pytest.raises(IndexError, match="expected numbers from 0 to 1"):
        metrics.IoU(num_classes=2, target_class_ids=[2])
    with pytest.raises(ValueError, match="is not known"):
        metrics.AUC(curve="round")
    with pytest.raises(ValueError, match="two axes"):
        metrics.F1Score().update_state([1.0], [1.0])


def test_metrics_of_several_numbers_are_told(tmp_path):
    """They were left out of what `fit` and `evaluate` give."""
    keras = tf.keras
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, activation="softmax")])
    model.compile(
        "sgd",
        "categorical_crossentropy",
        metrics=[
            metrics.F1Score(name="each"),
            "accuracy",
            metrics.Precision(thresholds=[0.3, 0.6]),
        ],
    )
    x = np.random.default_rng(1).normal(size=(12, 2)).astype("float32")
    y = np.eye(3, dtype="float32")[np.arange(12) % 3]
    seen = []
    look = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(logs))
    log = keras.callbacks.CSVLogger(str(tmp_path / "log.csv"))
    history = model.fit(x, y, epochs=2, verbose=0, validation_data=(x, y), callbacks=[look, log])
    assert np.shape(history.history["each"]) == (2, 3)
    assert np.shape(history.history["val_precision"]) == (2, 2)
    assert list(seen[1]) == [
        *("accuracy", "each", "loss", "precision"),
        *("val_accuracy", "val_each", "val_loss", "val_precision"),
    ]
    np.testing.assert_allclose(seen[1]["each"], history.history["each"][1])
    loss, each, accuracy, precision = model.evaluate(x, y, verbose=0)
    assert each.shape == (3,) and precision.shape == (2,) and loss > 0 and 0 <= accuracy <= 1
    np.testing.assert_allclose(each, history.history["val_each"][1], atol=1e-6)
    assert model.get_metrics_result()["each"].shape == (3,)
