"""Records what the real Keras' losses give: `python record_losses.py` writes `losses.json`.

Needs keras with a backend. Never run by tests, which read the figures alone.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import keras
import numpy as np
from figures import Figures

figures = Figures("losses.json")

rng = np.random.default_rng(0)
softmax = np.exp(rng.normal(size=(4, 3)))
softmax /= softmax.sum(-1, keepdims=True)
embeddings = rng.normal(size=(6, 4))
embeddings /= np.linalg.norm(embeddings, axis=-1, keepdims=True)
figures.data(
    y=rng.normal(size=(4, 3)).round(3),
    p=rng.normal(size=(4, 3)).round(3),
    column=rng.normal(size=(4, 1)).round(3),
    row=rng.normal(size=(4,)).round(3),
    counts=rng.integers(0, 5, size=(4, 3)),
    positive=rng.uniform(0.1, 3, size=(4, 3)).round(3),
    binary=rng.integers(0, 2, size=(4, 3)),
    probability=rng.uniform(0, 1, size=(4, 3)).round(3),
    ends=np.array([[0, 1, 0.5], [1, 0, 0.2], [1, 1, 0], [0, 0, 1]]),
    logits=rng.normal(size=(4, 3), scale=3).round(3),
    softmax=softmax.round(6),
    one_hot=np.eye(3)[[0, 2, 1, 2]],
    classes=np.array([0, 2, 1, 2]),
    classes_column=np.array([[0], [2], [1], [2]]),
    weights=np.array([1, 0, 2, 0.5]),
    weights_column=np.array([[1], [0], [2], [0.5]]),
    weights_each=rng.uniform(0, 1, size=(2, 3)).round(3),
    mask=np.array([True, False, True, True]),
    steps=rng.normal(size=(2, 3, 4)).round(3),
    step_labels=rng.normal(size=(2, 3, 4)).round(3),
    step_classes=np.array([[0, 3, -1], [2, 1, 1]]),
    step_mask=np.array([[True, True, False], [True, False, False]]),
    embeddings=embeddings.round(6),
    embedding_classes=np.array([0, 1, 0, 1, 2, 2]),
    speech=rng.normal(size=(2, 6, 5)).round(3),
    words=np.array([[1, 2, 0], [3, 3, 4]]),
)


def record(which, /, labels, predictions, weights=None, mask=None, **options):
    loss = getattr(keras.losses, which)(**options)
    y_pred = keras.ops.convert_to_tensor(figures.array(predictions))
    if mask is not None:
        keras.src.backend.set_keras_mask(y_pred, keras.ops.convert_to_tensor(figures.array(mask)))
    sample_weight = None if weights is None else figures.array(weights)
    result = loss(figures.array(labels), y_pred, sample_weight=sample_weight)
    figures.case(
        {
            "class": which,
            "config": options,
            "y_true": labels,
            "y_pred": predictions,
            "sample_weight": weights,
            "mask": mask,
        },
        result=np.asarray(result),
        described=loss.get_config(),
    )


PLAIN = {
    "MeanSquaredError": ("y", "p"),
    "MeanAbsoluteError": ("y", "p"),
    "MeanAbsolutePercentageError": ("y", "p"),
    "MeanSquaredLogarithmicError": ("counts", "positive"),
    "CosineSimilarity": ("y", "p"),
    "Huber": ("y", "p"),
    "LogCosh": ("y", "p"),
    "Hinge": ("binary", "p"),
    "SquaredHinge": ("binary", "p"),
    "CategoricalHinge": ("one_hot", "p"),
    "KLDivergence": ("softmax", "probability"),
    "Poisson": ("counts", "positive"),
    "BinaryCrossentropy": ("binary", "probability"),
    "BinaryFocalCrossentropy": ("binary", "probability"),
    "CategoricalCrossentropy": ("one_hot", "probability"),
    "CategoricalFocalCrossentropy": ("one_hot", "probability"),
    "SparseCategoricalCrossentropy": ("classes", "softmax"),
    "CategoricalGeneralizedCrossEntropy": ("classes", "softmax"),
}
for name, (labels, predictions) in PLAIN.items():
    record(name, labels, predictions)
    record(name, labels, predictions, reduction="none")
    record(name, labels, predictions, reduction="sum", weights="weights")
    record(name, labels, predictions, weights="weights", mask="mask")
    record(name, labels, predictions, reduction="mean_with_sample_weight", weights="weights_column")
    record(name, labels, predictions, reduction="mean", mask="mask")
    record(name, labels, predictions, reduction="sum", mask="mask", name="mine")

# Ranks that differ by a last axis of one.
record("MeanSquaredError", "row", "column")
record("MeanSquaredError", "column", "row", weights="weights")
record("MeanAbsoluteError", "row", "column", reduction="none")
record("BinaryCrossentropy", "classes_column", "row", from_logits=True)
# Several steps, with weights and masks for each.
record("MeanSquaredError", "step_labels", "steps", weights="weights_each", mask="step_mask")
record("MeanSquaredError", "step_labels", "steps", mask="step_mask")
record("MeanAbsoluteError", "step_labels", "steps", weights="weights_each", reduction="sum")

for axis in (-1, 0, 1):
    record("CosineSimilarity", "y", "p", axis=axis, reduction="none")
record("Huber", "y", "p", delta=0.3)
record("Hinge", "y", "p")
for logits, predictions in ((True, "logits"), (False, "ends")):
    for name in ("BinaryCrossentropy", "BinaryFocalCrossentropy"):
        record(name, "binary", predictions, from_logits=logits)
        record(name, "binary", predictions, from_logits=logits, label_smoothing=0.2, axis=0)
    for name in ("CategoricalCrossentropy", "CategoricalFocalCrossentropy"):
        record(name, "one_hot", predictions, from_logits=logits)
        record(name, "one_hot", predictions, from_logits=logits, label_smoothing=0.2)
    record("SparseCategoricalCrossentropy", "classes_column", predictions, from_logits=logits)
    record(
        "SparseCategoricalCrossentropy",
        "classes",
        predictions,
        from_logits=logits,
        ignore_class=2,
        reduction="none",
    )
record(
    "CategoricalCrossentropy", "step_labels", "steps", from_logits=True, axis=1, reduction="none"
)
record(
    "BinaryFocalCrossentropy",
    "binary",
    "probability",
    apply_class_balancing=True,
    alpha=0.6,
    gamma=1.5,
)
record("CategoricalFocalCrossentropy", "one_hot", "softmax", alpha=0.6, gamma=1.5)
record(
    "SparseCategoricalCrossentropy",
    "step_classes",
    "steps",
    from_logits=True,
    ignore_class=-1,
    mask="step_mask",
)
record("CategoricalGeneralizedCrossEntropy", "classes", "softmax", q=0.2)
record("Dice", "binary", "probability")
record("Dice", "binary", "probability", axis=[1])
record("Dice", "step_labels", "steps", axis=[1, 2], reduction="none")
record("Tversky", "binary", "probability")
record("Tversky", "binary", "probability", alpha=0.2, beta=0.7, axis=[1], reduction="none")
record("Circle", "embedding_classes", "embeddings")
record("Circle", "embedding_classes", "embeddings", gamma=10.0, margin=0.2, reduction="none")
record("Circle", "embedding_classes", "embeddings", remove_diagonal=False)
record("CTC", "words", "speech")
record("CTC", "words", "speech", reduction="none")

figures.write()
