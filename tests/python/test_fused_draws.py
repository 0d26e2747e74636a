"""Random numbers that are drawn inside the loop which reads them are those that an op draws."""

import numpy as np
import pytest
from test_fusion import bits, floats, nodes

import holdfast as tf

SEED = tf.constant([3, 4])  # as an argument: numbers of a constant one are constants
SIZES = [(70_001,), (128, 1024), (3, 5, 4097)]


@pytest.fixture(autouse=True)
def no_seed_is_left():
    yield
    tf.random.set_seed(None)


def drawn_and_read(draw, shown):
    """A function over numbers, which lie in memory where `shown` hands them out too."""

    @tf.function
    def f(x, seed):
        r = draw(tf.shape(x), x.dtype, seed)
        y = tf.where(r >= 0.25, x * 2 + 1, tf.zeros([], x.dtype))
        return (y, r) if shown else (y,)

    return f


DRAWS = {
    "uniform": lambda shape, dtype, _: tf.random.uniform(shape, dtype=dtype),
    "normal": lambda shape, dtype, _: tf.random.normal(shape, dtype=dtype),
    "a seed of its own": lambda shape, dtype, _: tf.random.uniform(shape, dtype=dtype, seed=7),
    "stateless": lambda shape, dtype, seed: tf.random.stateless_uniform(shape, seed, dtype=dtype),
    "stateless normal": lambda shape, dtype, seed: tf.random.stateless_normal(
        shape, seed, dtype=dtype
    ),
}


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.bfloat16])
@pytest.mark.parametrize("draw", DRAWS)
def test_same_numbers_in_every_call(draw, dtype):
    for size in SIZES:
        x = tf.cast(floats(*size), dtype)
        seen = []
        for shown in (False, True):
            tf.random.set_seed(11)
            f = drawn_and_read(DRAWS[draw], shown)
            seen.append([bits(f(x, SEED)[0]) for _ in range(3)])
            assert ("FusedDraw" in nodes(f)) is not shown
        assert seen[0] == seen[1]
        assert len(set(seen[0])) == (1 if "stateless" in draw else 3)


def test_stateless_numbers_are_those_of_eager_code():
    x = floats(300, 333)

    def f(v, seed):
        return tf.nn.experimental.stateless_dropout(tf.nn.relu(v), 0.4, seed) * 3

    g = tf.function(f)
    assert bits(g(x, SEED)) == bits(f(x, SEED))
    assert "FusedDraw" in nodes(g)


def test_a_gradient_drops_what_was_dropped():
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.dropout(x * 3, 0.5)
            loss = tf.reduce_sum(y)
        return y, tape.gradient(loss, x)

    x = floats(257, 1024)
    y, slope = (np.asarray(t) for t in step(x))
    assert "FusedDraw" in nodes(step)
    assert 0.49 < np.mean(y == 0) < 0.51
    np.testing.assert_array_equal(slope, np.where(y == 0, 0, 6).astype(np.float32))


def test_threads_change_no_number():
    x = floats(1 << 20)
    seen = set()
    for threads in (1, 2, 3):
        before = tf.config.threading.get_intra_op_parallelism_threads()
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        try:
            tf.random.set_seed(5)
            f = drawn_and_read(DRAWS["uniform"], False)
            seen.add(bits(f(x, SEED)[0]))
        finally:
            tf.config.threading.set_intra_op_parallelism_threads(before)
    assert len(seen) == 1


def test_open_sizes_are_drawn_once_they_are_known():
    def plain(x, seed):
        return tf.nn.experimental.stateless_dropout(x, 0.3, seed)

    f = tf.function(
        plain, input_signature=[tf.TensorSpec([None, 1000]), tf.TensorSpec([2], tf.int32)]
    )
    for rows in (90, 90, 90, 91, 91, 91, 1, 90):
        x = floats(rows, 1000)
        assert bits(f(x, SEED)) == bits(plain(x, SEED))


def test_few_numbers_and_other_shapes_stay_apart():
    few, row = (
        drawn_and_read(DRAWS["uniform"], False),
        tf.function(lambda x: x * tf.random.uniform([1, 40_000])),
    )
    few(floats(100), SEED)
    row(floats(3, 40_000))
    assert "FusedDraw" not in nodes(few) + nodes(row)


def test_a_training_layer_draws_anew_in_each_step():
    layer = tf.keras.layers.Dropout(0.5, seed=3)
    f = tf.function(lambda x: layer(x, training=True))
    x = tf.ones([64, 1024])
    seen = [f(x).numpy() for _ in range(3)]
    assert "FusedDraw" in nodes(f)
    again = tf.keras.layers.Dropout(0.5, seed=3)
    for step in seen:
        np.testing.assert_array_equal(step, again(x, training=True).numpy())
    assert not np.array_equal(seen[0], seen[1])


@pytest.mark.parametrize("stream", [tf.constant([1, 2, 3], tf.uint64), tf.constant([1.0])])
def test_only_a_graph_makes_such_ops(stream):
    with pytest.raises(tf.errors.InvalidArgumentError, match="expression"):
        tf.raw_ops.FusedDraw(
            inputs=[stream], expression="none", position=0, numbers="uniform", shape=[3]
        )
