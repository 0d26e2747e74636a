"""`tf.compat.v1.losses`: formulas, weights, reductions, and what a graph keeps of them."""

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1
losses = v1.losses
RNG = np.random.default_rng(3)
X = RNG.uniform(0.1, 0.9, (4, 3)).astype(np.float32)
Y = RNG.uniform(0.1, 0.9, (4, 3)).astype(np.float32)
BITS = (Y > 0.5).astype(np.float32)


def sigmoid_entropy(y, x):
    return np.maximum(x, 0) - x * y + np.log1p(np.exp(-np.abs(x)))


# Function, labels, predictions, and the loss of each element.
ELEMENTWISE = {
    "absolute_difference": (Y, X, np.abs(X - Y)),
    "mean_squared_error": (Y, X, (X - Y) ** 2),
    "hinge_loss": (BITS, X, np.maximum(0, 1 - (2 * BITS - 1) * X)),
    "huber_loss": (Y, 4 * X, np.where(np.abs(4 * X - Y) <= 1, (4 * X - Y) ** 2 / 2, np.abs(4 * X - Y) - 0.5)),
    "log_loss": (BITS, X, -BITS * np.log(X + 1e-7) - (1 - BITS) * np.log(1 - X + 1e-7)),
    "sigmoid_cross_entropy": (BITS, X, sigmoid_entropy(BITS, X)),
}  # fmt: skip
WEIGHTS = {
    "a number": 2.5,
    "of rows": np.array([[1.0], [0.0], [2.0], [0.5]], np.float32),
    "of elements": RNG.integers(0, 3, (4, 3)).astype(np.float32),
    "all zero": np.zeros((4, 3), np.float32),
}
REDUCTIONS = [name for name in vars(losses.Reduction) if name.isupper()]


def reduced(each, weights, how):
    """What `reduction` makes of losses of elements, in NumPy."""
    w = np.broadcast_to(weights, each.shape)
    total = np.sum(each * w)
    counts = {
        "SUM": 1,
        "MEAN": np.sum(w),
        "SUM_OVER_BATCH_SIZE": each.size,
        "SUM_BY_NONZERO_WEIGHTS": np.count_nonzero(w),
        "SUM_OVER_NONZERO_WEIGHTS": np.count_nonzero(w),
    }
    if how == "NONE":
        return each * w
    return total / counts[how] if counts[how] else 0.0


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("how", REDUCTIONS)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_losses_are_weighed_and_reduced(name, how, weights):
    labels, predictions, each = ELEMENTWISE[name]
    options = {"weights": WEIGHTS[weights], "reduction": getattr(losses.Reduction, how)}
    got = getattr(losses, name)(labels, predictions, **options)
    np.testing.assert_allclose(got, reduced(each, WEIGHTS[weights], how), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_shapes_that_are_known_late_change_nothing(name, weights):
    labels, predictions, each = ELEMENTWISE[name]
    with tf.Graph().as_default() as graph, v1.Session() as session:
        y, x, w = (v1.placeholder(tf.float32) for _ in range(3))
        loss = getattr(losses, name)(y, x, w)
        assert losses.get_losses() == [loss] and graph.get_collection("losses") == [loss]
        fed = {y: labels, x: predictions, w: np.asarray(WEIGHTS[weights], np.float32)}
        got = session.run(loss, fed)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(loss, {**fed, w: np.ones([4], np.float32)})
    expected = reduced(each, WEIGHTS[weights], "SUM_BY_NONZERO_WEIGHTS")
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_exclusive_classes_by_number_and_as_vectors():
    numbers = np.array([0, 2, 1, 2])
    hot = np.eye(3, dtype=np.float32)[numbers]
    logits = 5 * X
    entropy = np.log(np.exp(logits).sum(1)) - logits[np.arange(4), numbers]
    for got in (
        losses.softmax_cross_entropy(hot, logits),
        losses.sparse_softmax_cross_entropy(numbers, logits),
        losses.sparse_softmax_cross_entropy(numbers[:, None], logits, np.ones([4, 1])),
    ):
        np.testing.assert_allclose(got, entropy.mean(), rtol=1e-5)
    smooth = losses.softmax_cross_entropy(hot, logits, label_smoothing=0.3)
    soft = hot * 0.7 + 0.1
    by_hand = np.mean(-(soft * (logits - np.log(np.exp(logits).sum(1, keepdims=True)))).sum(1))
    np.testing.assert_allclose(smooth, by_hand, rtol=1e-5)


def test_numbers_of_classes_whose_shape_is_known_late():
    numbers, logits = np.array([[0], [2], [1], [2]]), 5 * X
    with tf.Graph().as_default(), v1.Session() as session:
        y, x, w = v1.placeholder(tf.int64), v1.placeholder(tf.float32), v1.placeholder(tf.float32)
        loss = losses.sparse_softmax_cross_entropy(y, x, w)
        got = session.run(loss, {y: numbers, x: logits, w: [[1.0], [2.0], [0.0], [1.0]]})
    entropy = np.log(np.exp(logits).sum(1)) - logits[np.arange(4), numbers[:, 0]]
    np.testing.assert_allclose(got, (entropy * [1, 2, 0, 1]).sum() / 3, rtol=1e-5)


def test_vectors_and_pairs():
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    other = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    got = losses.cosine_distance(other, unit, axis=1)
    np.testing.assert_allclose(got, np.mean(1 - (unit * other).sum(1)), rtol=1e-5)
    error = X - Y
    pairs = [
        np.mean([(row[i] - row[j]) ** 2 for i in range(3) for j in range(3) if i != j])
        for row in error
    ]
    got = losses.mean_pairwise_squared_error(Y, X)
    np.testing.assert_allclose(got, np.sum(pairs), rtol=1e-4)


def test_gradients_flow_through_predictions():
    with tf.GradientTape() as tape:
        x = tf.constant(X)
        tape.watch(x)
        loss = losses.mean_squared_error(Y, x)
    np.testing.assert_allclose(tape.gradient(loss, x), 2 * (X - Y) / X.size, rtol=1e-5)


def test_the_total_has_regularizers_or_leaves_them_out():
    with tf.Graph().as_default(), v1.Session() as session:
        assert session.run(losses.get_regularization_loss()) == 0.0
        v1.get_variable("w", initializer=3.0, regularizer=lambda w: w * w)
        losses.add_loss(tf.constant(5.0))
        losses.mean_squared_error([1.0], [3.0], loss_collection=None)  # nobody keeps it
        session.run(v1.global_variables_initializer())
        assert session.run(losses.get_total_loss()) == 14.0
        assert session.run(losses.get_total_loss(add_regularization_losses=False)) == 5.0
        assert session.run(losses.get_regularization_loss()) == 9.0


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: losses.mean_squared_error(None, X), "`labels`"),
        (lambda: losses.mean_squared_error(Y, None), "`predictions`"),
        (lambda: losses.mean_squared_error(Y[:2], X), r"`labels`.*\(2, 3\).*`predictions`"),
        (lambda: losses.mean_squared_error(Y, X, np.ones([3])), r"\(3,\).*\(4, 3\)"),
        (lambda: losses.mean_squared_error(Y, X, np.ones([4, 2])), r"\(4, 2\)"),
        (lambda: losses.mean_squared_error(Y, X, reduction="mean"), "'mean'"),
        (lambda: losses.cosine_distance(Y, X), "`axis`"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_loss_of_a_graph_that_is_not_the_default_is_kept_there():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant([1.0, 2.0])
    loss = v1.losses.mean_squared_error(x, x + 1.0)
    assert graph.get_collection(v1.GraphKeys.LOSSES) == [loss]


def test_logits_may_have_a_last_axis_of_one():
    labels, logits = tf.constant([0, 1, 2, 0]), tf.zeros([4, 3, 1])
    got = v1.losses.sparse_softmax_cross_entropy(labels, logits)
    np.testing.assert_allclose(got, np.log(3), rtol=1e-6)
