"""Losses over drawn classes: what they say against NumPy, and how classes that are true ones count."""

import numpy as np
import pytest

import holdfast as tf

CLASSES, DIM, BATCH = 7, 3, 4
DRAWN = np.array([2, 6, 0], np.int64)


@pytest.fixture
def given():
    draw = np.random.default_rng(5)

    def some(*shape):
        return draw.normal(size=shape).astype("float32")

    labels = np.array([[0, 1], [2, 3], [4, 5], [6, 6]])
    expected = draw.uniform(0.1, 1, [BATCH, 2]), draw.uniform(0.1, 1, [3])
    expected = tuple(e.astype("float32") for e in expected)
    return some(CLASSES, DIM), some(CLASSES), labels, some(BATCH, DIM), (DRAWN, *expected)


def logits(given, remove):
    weights, biases, labels, x, (drawn, of_true, of_drawn) = given
    true = np.einsum("bd,bkd->bk", x, weights[labels]) + biases[labels] - np.log(of_true)
    sampled = x @ weights[drawn].T + biases[drawn]
    if remove:
        hit = (labels[:, :, None] == drawn).any(1)
        sampled = np.where(hit, -np.finfo(np.float32).max, sampled)
    sampled = sampled - np.log(of_drawn)
    wanted = np.concatenate([np.full_like(true, 1 / labels.shape[1]), 0 * sampled], 1)
    return np.concatenate([true, sampled], 1).astype("float64"), wanted


def nce(given, remove):
    z, wanted = logits(given, remove)
    return (np.maximum(z, 0) - z * wanted + np.log1p(np.exp(-np.abs(z)))).sum(1)


def softmax(given, remove):
    z, wanted = logits(given, remove)
    top = z.max(1, keepdims=True)
    return -(wanted * (z - top - np.log(np.exp(z - top).sum(1, keepdims=True)))).sum(1)


@pytest.mark.parametrize("remove", [False, True])
@pytest.mark.parametrize(
    ("loss", "reference"), [(tf.nn.nce_loss, nce), (tf.nn.sampled_softmax_loss, softmax)]
)
def test_values(given, loss, reference, remove):
    weights, biases, labels, x, values = given
    got = loss(weights, biases, labels, x, 3, CLASSES, 2, values, remove)
    np.testing.assert_allclose(got, reference(given, remove), rtol=2e-5, atol=1e-5)


def test_defaults_differ_in_whether_hits_count(given):
    weights, biases, labels, x, values = given
    got = tf.nn.nce_loss(weights, biases, labels, x, 3, CLASSES, 2, values)
    np.testing.assert_allclose(got, nce(given, False), rtol=2e-5, atol=1e-5)
    got = tf.nn.sampled_softmax_loss(weights, biases, labels, x, 3, CLASSES, 2, values)
    np.testing.assert_allclose(got, softmax(given, True), rtol=2e-5, atol=1e-5)


def test_tables_in_shards(given):
    weights, biases, labels, x, values = given
    whole = tf.nn.nce_loss(weights, biases, labels, x, 3, CLASSES, 2, values)
    shards = [weights[:4], weights[4:]], [biases[:4], biases[4:]]
    np.testing.assert_allclose(tf.nn.nce_loss(*shards, labels, x, 3, CLASSES, 2, values), whole)
    shards = [weights[::2], weights[1::2]], [biases[::2], biases[1::2]]
    got = tf.compat.v1.nn.nce_loss(*shards, labels, x, 3, CLASSES, 2, values)
    np.testing.assert_allclose(got, whole)


def test_it_draws_by_itself_and_learns(given):
    weights, biases, labels, x, _ = given
    weights, biases = tf.Variable(weights), tf.Variable(biases)

    @tf.function
    def loss():
        return tf.reduce_mean(
            tf.nn.sampled_softmax_loss(weights, biases, labels[:, :1], x, 4, CLASSES, seed=3)
        )

    first = float(loss())
    for _ in range(40):
        with tf.GradientTape() as tape:
            value = loss()
        for variable, slope in zip(
            (weights, biases), tape.gradient(value, (weights, biases)), strict=True
        ):
            variable.assign_sub(0.5 * tf.convert_to_tensor(slope))
    assert float(loss()) < first / 2


def test_the_gradient_of_a_table_is_some_of_its_rows(given):
    weights, biases, labels, x, values = given
    table = tf.Variable(weights)
    with tf.GradientTape() as tape:
        loss = tf.nn.nce_loss(table, biases, labels, x, 3, CLASSES, 2, values)
    slope = tape.gradient(loss, table)
    assert isinstance(slope, tf.IndexedSlices)
    assert set(slope.indices.numpy()) == set(labels.ravel()) | set(DRAWN)


def test_gradients_reach_the_inputs(given):
    weights, biases, labels, x, values = given
    x = tf.constant(x)

    def f(x):
        return tf.reduce_sum(tf.nn.nce_loss(weights, biases, labels, x, 3, CLASSES, 2, values))

    with tf.GradientTape() as tape:
        tape.watch(x)
        value = f(x)
    slope = tape.gradient(value, x).numpy()
    step = np.zeros_like(slope)
    step[1, 2] = 1e-2
    numeric = (f(x + step) - f(x - step)) / 2e-2
    np.testing.assert_allclose(slope[1, 2], numeric, rtol=1e-2)


def test_accidental_hits():
    rows, ids, weights = tf.nn.compute_accidental_hits([[5, 1], [2, 9], [9, 9]], [9, 5, 9], 2)
    np.testing.assert_array_equal(rows, [0, 1, 2, 2])
    np.testing.assert_array_equal(ids, [1, 2, 2, 2])  # of two that are alike, the last
    np.testing.assert_array_equal(weights, np.full(4, -np.finfo(np.float32).max))
    assert tf.nn.compute_accidental_hits([[3]], [1, 2], 1)[0].shape == (0,)


def test_refusals(given):
    weights, biases, labels, x, values = given
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_true"):
        tf.nn.nce_loss(weights, biases, labels, x, 3, CLASSES, 3, values)
    with pytest.raises(tf.errors.InvalidArgumentError, match="ComputeAccidentalHits"):
        tf.nn.compute_accidental_hits([[3, 4]], [3], 1)
    with pytest.raises(TypeError, match="sampled_values"):
        tf.nn.nce_loss(weights, biases, labels, x, 3, CLASSES, 2, (DRAWN, None, None))


@pytest.mark.parametrize("loss", [tf.nn.sampled_softmax_loss, tf.nn.nce_loss])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_hit_in_half_precision_is_no_infinity(given, loss, dtype):
    weights, biases, labels, x, sampled = given
    narrow = [tf.cast(v, dtype) for v in (weights, biases, x, *sampled[1:])]
    found = loss(
        *narrow[:2],
        labels=labels,
        inputs=narrow[2],
        num_sampled=3,
        num_classes=CLASSES,
        num_true=2,
        sampled_values=(sampled[0], *narrow[3:]),
        remove_accidental_hits=True,
    )
    wanted = loss(
        weights,
        biases,
        labels=labels,
        inputs=x,
        num_sampled=3,
        num_classes=CLASSES,
        num_true=2,
        sampled_values=sampled,
        remove_accidental_hits=True,
    )
    np.testing.assert_allclose(tf.cast(found, "float32"), wanted, rtol=0.05, atol=0.05)


def test_classes_may_be_given_as_floats(given):
    weights, biases, labels, x, sampled = given

    def loss(classes):
        return tf.nn.sampled_softmax_loss(
            weights, biases, classes, x, 3, CLASSES, num_true=2, sampled_values=sampled
        )

    np.testing.assert_array_equal(loss(labels.astype("float32")), loss(labels))
