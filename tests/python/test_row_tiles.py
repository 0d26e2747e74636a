"""What works over the same rows is one loop, and gives bit for bit what the ops give one after another."""

import numpy as np
import pytest

import holdfast as tf
from holdfast import _holdfast

PASSES = [name for name, _ in _holdfast.passes()]


@pytest.fixture(autouse=True)
def restored():
    threads = tf.config.threading.get_intra_op_parallelism_threads()
    _holdfast.verify_passes(True)
    yield
    _holdfast.verify_passes(False)
    _holdfast.set_passes("")
    tf.config.threading.set_intra_op_parallelism_threads(threads)


def bits(t):
    if t.dtype == tf.bfloat16:
        t = tf.bitcast(t, tf.uint16)
    return np.asarray(t).tobytes()


def floats(*shape, seed=0, dtype="float32"):
    x = np.random.default_rng(seed).normal(size=shape)
    return tf.cast(tf.constant(x.astype(np.float32)), dtype)


def same(f, *args, joined=1, calls=3):
    """Results of `f` with the pass, without it, and with no pass that fuses: all the same. Gives its plan."""
    seen, plan = [], None
    for without in (set(), {"tile_rows"}, {"tile_rows", "fuse_reductions", "fuse"}):
        _holdfast.set_passes(",".join(p for p in PASSES if p not in without))
        g = tf.function(f)
        for threads in (1, 2, 8):
            tf.config.threading.set_intra_op_parallelism_threads(threads)
            for _ in range(calls):
                out = tf.nest.flatten(g(*args))
                seen.append([(t.dtype.name, tuple(t.shape), bits(t)) for t in out])
        if not without:
            plan = g.explain()
    assert all(one == seen[0] for one in seen)
    assert joined is None or plan.count("fused, rows of") == joined, plan
    return plan


def layer_norm(x, g, b):
    d = x - tf.reduce_mean(x, -1, keepdims=True)
    return d * tf.math.rsqrt(tf.reduce_mean(d * d, -1, keepdims=True) + 1e-3) * g + b


def softmax(x):
    e = tf.exp(x - tf.reduce_max(x, -1, keepdims=True))
    return e / tf.reduce_sum(e, -1, keepdims=True)


def log_softmax(x):
    s = x - tf.reduce_max(x, -1, keepdims=True)
    return s - tf.math.log(tf.reduce_sum(tf.exp(s), -1, keepdims=True))


def gradient(f):
    def h(*args):
        with tf.GradientTape() as tape:
            tape.watch(args)
            y = f(*args)
            loss = tf.reduce_sum(y * y * y)
        return tape.gradient(loss, args)

    return h


@pytest.mark.parametrize(
    "shape", [(2, 8), (7, 9), (70, 1000), (33, 64), (5, 3, 1025), (3, 4099), (300, 257)]
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_a_layer_norm_is_one_step(shape, dtype):
    x, g, b = (
        floats(*shape, dtype=dtype),
        floats(shape[-1], seed=1, dtype=dtype),
        floats(shape[-1], seed=2, dtype=dtype),
    )
    plan = same(layer_norm, x, g, b)
    assert "`layer_norm`: 1 steps" in plan


@pytest.mark.parametrize("shape", [(64, 200), (3, 5, 7, 33), (2, 6000)])
@pytest.mark.parametrize("f", [softmax, log_softmax])
def test_softmax_written_out_is_one_step(f, shape):
    assert "1 steps" in same(f, floats(*shape))


def test_other_normalisations_are_one_step():
    x, g = floats(100, 300), floats(300, seed=1)
    rms = lambda x, g: x * tf.math.rsqrt(tf.reduce_mean(tf.square(x), -1, keepdims=True) + 1e-6) * g
    standard = lambda x: (
        (x - tf.reduce_mean(x, -1, keepdims=True)) / tf.math.reduce_std(x, -1, keepdims=True)
    )
    length = lambda x: tf.math.l2_normalize(x, -1)
    range_of = lambda x: (
        (x - tf.reduce_min(x, -1, keepdims=True))
        / (tf.reduce_max(x, -1, keepdims=True) - tf.reduce_min(x, -1, keepdims=True))
    )
    for f, args in ((rms, (x, g)), (standard, (x,)), (length, (x,)), (range_of, (x,))):
        assert "1 steps" in same(f, *args)


def test_rows_of_several_axes():
    def f(x):
        d = x - tf.reduce_mean(x, [-2, -1], keepdims=True)
        return d / (1.0 + tf.reduce_max(tf.abs(d), [2, 3], keepdims=True))

    assert "1 steps" in same(f, floats(3, 4, 5, 60))


def test_reductions_that_keep_no_axis():
    def f(x):
        m = tf.reduce_mean(x, -1)
        d = x - tf.expand_dims(m, -1)
        s = tf.reduce_sum(d * d, -1)
        return d / tf.sqrt(tf.reshape(s, [s.shape[0], 1])), s

    assert "1 steps" in same(f, floats(40, 130))


def test_gradients_of_rows():
    x, g, b = floats(90, 260), floats(260, seed=1), floats(260, seed=2)
    plan = same(gradient(layer_norm), x, g, b)
    assert "3 steps" in plan  # the two sums over all rows stand behind it
    assert "1 steps" in same(gradient(softmax), x)
    assert "1 steps" in same(gradient(log_softmax), x)


def test_values_that_are_read_outside_as_well():
    def f(x):
        m = tf.reduce_mean(x, -1, keepdims=True)
        d = x - m
        v = tf.reduce_mean(d * d, -1)
        y = d * tf.math.rsqrt(v[:, None] + 1.0)
        return m, v, d, y, tf.cumsum(d, 0), y @ tf.transpose(d)

    same(f, floats(50, 120))


def test_what_needs_the_rest_of_the_graph_stays_outside():
    def f(x):
        s = tf.reduce_sum(x * x, -1, keepdims=True)
        c = tf.cumsum(s)  # over all rows: nothing before it can share a loop with what follows
        return (x / c) / tf.reduce_max(x / c, -1, keepdims=True)

    same(f, floats(60, 100), joined=2)


def test_sums_that_go_the_other_way_are_not_mixed_up():
    """In a square, one value for each row and one for each column have the same shape."""

    def f(x):
        s = tf.reduce_sum(x * 2.0, -1)  # of rows
        return x - s, x - s[:, None]  # for columns, and for rows

    x = floats(64, 64)
    same(f, x)
    first, second = tf.function(f)(x)
    s = tf.reduce_sum(x * 2.0, -1)
    assert bits(first) == bits(x - s) and bits(second) == bits(x - s[:, None])


def test_an_operand_of_all_rows_is_not_written_over():
    """It has the shape of the result, and is needed until the last row."""

    def f(x, c):
        c = tf.cumsum(c) * 0.01
        return tf.cumsum(tf.reduce_sum(x * c, -1))

    same(f, floats(512, 512), floats(512, seed=1), joined=1)


def test_rows_of_their_own_are_read_as_rows_and_as_columns():
    def f(x, c):
        c = tf.cumsum(c)
        m = tf.reduce_mean(x * c[:, None], -1, keepdims=True) + c[:, None]
        return tf.cumsum(x - m * c), tf.cumsum(m)

    same(f, floats(96, 96), floats(96, seed=3))


def test_masks_and_biases_broadcast_as_ever():
    def attention(logits, mask, bias):
        return softmax(logits * 0.125 + mask * -1e9 + bias)

    mask = tf.cast(floats(2, 1, 1, 40) > 0.5, tf.float32)
    assert "2 steps" in same(
        attention, floats(2, 3, 30, 40), mask, floats(3, 1, 40, seed=2)
    )  # the small product apart


def test_integers_and_booleans():
    def f(x):
        m = tf.reduce_max(x, -1, keepdims=True)
        hit = tf.cast(tf.equal(x, m), tf.int32)
        return hit * (x - m), tf.reduce_sum(hit, -1)

    same(f, tf.cast(floats(31, 45) * 3.0, tf.int32))


def test_special_values():
    x = np.random.default_rng(1).normal(size=(40, 64)).astype(np.float32)
    x[1, 3], x[2, 4], x[3, 5], x[4] = np.nan, np.inf, -np.inf, -0.0
    same(softmax, tf.constant(x))
    same(layer_norm, tf.constant(x), floats(64), floats(64, seed=1))


def test_what_is_too_long_or_too_short_is_left_alone():
    same(softmax, floats(4, 5), joined=0)
    same(softmax, floats(3, 20_000), joined=0)
    same(
        softmax, floats(1, 100), joined=1
    )  # one row: its sum joins what it reads, and nothing else does


def test_a_long_chain_is_cut_where_a_row_would_leave_the_cache():
    def f(*parts):
        out = [p - tf.reduce_mean(p, -1, keepdims=True) for p in parts]
        total = out[0]
        for p in out[1:]:
            total = total * p
        return total, out

    parts = [floats(3, 8000, seed=i) for i in range(12)]
    _holdfast.set_passes("")
    g = tf.function(f)
    want = [bits(t) for t in tf.nest.flatten(f(*parts))]
    assert [bits(t) for t in tf.nest.flatten(g(*parts))] == want


def test_unknown_sizes_are_joined_when_they_come_again():
    spec = [tf.TensorSpec([None, None], tf.float32)]
    f = tf.function(softmax, input_signature=spec)
    for _ in range(3):
        for n, m in ((40, 50), (3, 2000), (1, 9), (0, 5), (7, 8)):
            x = floats(n, m, seed=n)
            assert bits(f(x)) == bits(softmax(x))


def test_what_is_between_needs_no_memory():
    f = tf.function(lambda x, g: tf.cumsum(layer_norm(tf.cumsum(x), g, g)))
    x, g = floats(64, 1024), floats(1024, seed=1)
    f(x, g), f(x, g)
    head = f.memory_plan().splitlines()[0]
    assert head.startswith("memory plan: 256 KiB in one block for 1 buffers"), head  # in place


def test_a_plan_says_what_it_joined():
    f = tf.function(softmax)
    f(floats(64, 300))
    f.time_steps()
    f(floats(64, 300))
    text = f.explain()
    assert "fused, rows of 300: v2 = Max(x0); v3 = Sub(x0, v2)" in text and "100%" in text
    assert "test_row_tiles.py" in text


def test_results_know_the_op_and_the_line_that_made_them():
    y = tf.function(softmax)(floats(20, 30))
    assert "Fused" not in repr(y)


def test_effects_keep_their_place():
    v = tf.Variable(floats(20, 50))

    @tf.function
    def f(x):
        before = softmax(v * x)
        v.assign_sub(before)
        return before, softmax(v * x)

    x = floats(20, 50, seed=2)
    start = v.numpy()
    _, second = f(x)
    now = start - softmax(start * x).numpy()
    assert np.array_equal(v.numpy(), now) and bits(second) == bits(softmax(tf.constant(now) * x))


def program(seed):
    """A random function of a matrix, a row and a column: values of all kinds, mixed and given back."""
    rng = np.random.default_rng(seed)
    n, m = (int(v) for v in rng.choice([2, 3, 8, 17, 33, 64, 130], 2))
    folds = [tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_min]
    unary = [tf.tanh, tf.abs, tf.negative, tf.square, lambda v: tf.broadcast_to(v, [n, m])]
    binary = [tf.add, tf.subtract, tf.multiply, tf.maximum, tf.math.squared_difference]
    moves = [
        lambda v: tf.reshape(v, [n, 1]),
        lambda v: tf.reshape(v, [n]),
        lambda v: tf.cumsum(v) * 0.1,
    ]
    kinds = rng.integers(0, 10, 14)
    picks = rng.integers(0, 1 << 30, (14, 3))
    kept = rng.random(14) < 0.2

    def f(x, row, column):
        values, given = [x, row, column, x], []
        for kind, (a, b, c), keep in zip(kinds, picks, kept, strict=True):
            v, w = values[-1 - a % min(5, len(values))], values[b % len(values)]
            if kind < 3:
                wide = [t for t in values if t.shape == [n, m]]
                v = folds[c % 4](wide[-1 - a % min(3, len(wide))], -1, keepdims=bool(b % 4))
            elif kind < 5:
                fits = v.shape.rank == 0 or v.shape[-1] in (1, m)
                v = unary[c % (5 if fits else 4)](v)
            elif kind < 6:
                v = moves[c % 3](v) if v.shape in ([n], [n, 1]) else tf.tanh(v)
            else:
                try:
                    tf.broadcast_static_shape(v.shape, w.shape)
                except ValueError:
                    continue
                v = binary[c % 5](v, w)
            if v.shape.num_elements() > n * m:
                continue
            values.append(v)
            if keep:
                given.append(v)
        return [*given, values[-1] * 1.0]

    return f, (floats(n, m, seed=seed), floats(m, seed=seed + 1), floats(n, 1, seed=seed + 2))


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    f, args = program(seed)
    same(f, *args, joined=None, calls=2)


@pytest.mark.parametrize("n", [1000, 1024, 37])
def test_softmax_of_many_rows_is_that_of_a_few(n):
    rows = 2**19 // n
    x, u = (tf.constant(floats(rows, n, seed=i)) for i in (1, 2))
    u = tf.where(u > 1.0, -0.0, u)

    def both(x, u):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.softmax(x)
        return y, tape.gradient(y, x, output_gradients=u)

    found = both(x, u)
    for begin in range(0, rows, max(1, rows // 5)):
        few = slice(begin, begin + 8)
        for all_rows, wanted in zip(found, both(x[few], u[few]), strict=True):
            np.testing.assert_array_equal(
                all_rows[few].numpy().view(np.int32), wanted.numpy().view(np.int32)
            )
