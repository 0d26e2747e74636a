"""The optimizers of TensorFlow 1, each against its formula: dense and by rows, eager, traced and in a graph."""

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1
train = v1.train


class Rule:
    """One element's formula: state begins as `start`, `move(var, state, g, t)` gives the next."""

    def __init__(self, make, start, move, all_rows=False):
        self.make, self.start, self.move, self.all_rows = make, start, move, all_rows


def shrunk(x, l1, l2):
    return np.sign(x) * np.maximum(np.abs(x) - l1, 0) / (1 + l2)


def descent(v, s, g, t):
    return v - 0.1 * g, s


def proximal_descent(v, s, g, t):
    return shrunk(v - 0.1 * g, 0.1 * 0.05, 0.1 * 0.5), s


def momentum(nesterov):
    def move(v, s, g, t):
        m = 0.9 * s[0] + g
        return v - 0.1 * (g + 0.9 * m if nesterov else m), [m]

    return move


def adagrad(v, s, g, t):
    a = s[0] + g * g
    return v - 0.1 * g / np.sqrt(a), [a]


def proximal_adagrad(v, s, g, t):
    a = s[0] + g * g
    rate = 0.1 / np.sqrt(a)
    return shrunk(v - rate * g, rate * 0.05, rate * 0.5), [a]


def dual_averaging(v, s, g, t):
    total, squares = s[0] + g, s[1] + g * g
    pulled = np.sign(total) * np.maximum(np.abs(total) - 0.05 * t, 0)
    return -0.1 * pulled / (0.5 * t * 0.1 + np.sqrt(squares)), [total, squares]


def adadelta(v, s, g, t):
    a = 0.95 * s[0] + 0.05 * g * g
    step = np.sqrt(s[1] + 1e-4) / np.sqrt(a + 1e-4) * g
    return v - 0.1 * step, [a, 0.95 * s[1] + 0.05 * step * step]


def rms(centered):
    def move(v, s, g, t):
        squares, mean = 0.9 * s[0] + 0.1 * g * g, 0.9 * s[1] + 0.1 * g
        spread = squares - mean * mean if centered else squares
        m = 0.5 * s[2] + 0.1 * g / np.sqrt(spread + 1e-10)
        return v - m, [squares, mean, m]

    return move


def ftrl(shrinkage, power=-0.5):
    def move(v, s, g, t):
        squares = s[0] + g * g
        now, was = squares**-power, s[0] ** -power
        linear = s[1] + g + 2 * shrinkage * v - (now - was) / 0.1 * v
        far = np.abs(linear) > 0.05
        return np.where(far, (0.05 * np.sign(linear) - linear) / (now / 0.1 + 1.0), 0), [
            squares,
            linear,
        ]

    return move


def adam(v, s, g, t):
    m, q = 0.9 * s[0] + 0.1 * g, 0.999 * s[1] + 0.001 * g * g
    rate = 0.1 * np.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    return v - rate * m / (np.sqrt(q) + 1e-3), [m, q]


PULLS = {"l1_regularization_strength": 0.05, "l2_regularization_strength": 0.5}
RULES = {
    "descent": Rule(lambda: train.GradientDescentOptimizer(0.1), [], descent),
    "proximal descent": Rule(
        lambda: train.ProximalGradientDescentOptimizer(0.1, **PULLS), [], proximal_descent
    ),
    "momentum": Rule(lambda: train.MomentumOptimizer(0.1, 0.9), [0.0], momentum(False)),
    "nesterov": Rule(
        lambda: train.MomentumOptimizer(0.1, 0.9, use_nesterov=True), [0.0], momentum(True)
    ),
    "adagrad": Rule(lambda: train.AdagradOptimizer(0.1), [0.1], adagrad),
    "proximal adagrad": Rule(
        lambda: train.ProximalAdagradOptimizer(0.1, **PULLS), [0.1], proximal_adagrad
    ),
    "adadelta": Rule(lambda: train.AdadeltaOptimizer(0.1, epsilon=1e-4), [0.0, 0.0], adadelta),
    "rmsprop": Rule(lambda: train.RMSPropOptimizer(0.1, momentum=0.5), [1.0, 0.0, 0.0], rms(False)),
    "centered rmsprop": Rule(
        lambda: train.RMSPropOptimizer(0.1, momentum=0.5, centered=True), [1.0, 0.0, 0.0], rms(True)
    ),
    "ftrl": Rule(lambda: train.FtrlOptimizer(0.1, **PULLS), [0.1, 0.0], ftrl(0.0)),
    "ftrl, another power": Rule(
        lambda: train.FtrlOptimizer(0.1, learning_rate_power=-0.7, **PULLS),
        [0.1, 0.0],
        ftrl(0.0, -0.7),
    ),
    "ftrl with shrinkage": Rule(
        lambda: train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.2, **PULLS),
        [0.1, 0.0],
        ftrl(0.2),
    ),
    "adam": Rule(lambda: train.AdamOptimizer(0.1, epsilon=1e-3), [0.0, 0.0], adam, all_rows=True),
}
START = np.array([[1.0, -2.0], [0.5, 0.01], [-0.3, 3.0]])
GRADS = [np.array([[0.3, -0.1], [0.2, 0.4], [-0.5, 0.0]]) * k for k in (1.0, -2.0, 0.5)]
ROWS, STEPS = [2, 0, 2], 3


def wanted(rule, rows, limit=None):
    v, state = START.copy(), [np.full_like(START, s) for s in rule.start]
    for t, g in enumerate(GRADS, 1):
        if rows:
            whole = np.zeros_like(START)
            np.add.at(whole, ROWS, g)
            g = whole
        new, kept = rule.move(v, state, g, t)
        if rows and not rule.all_rows:
            named = np.isin(np.arange(3), ROWS)[:, None]
            new = np.where(named, new, v)
            kept = [np.where(named, a, b) for a, b in zip(kept, state, strict=True)]
        v, state = new if limit is None else np.clip(new, -limit, limit), kept
    return v


def gradient(g, rows):
    return tf.IndexedSlices(g, tf.constant(ROWS), tf.constant([3, 2])) if rows else g


def eagerly(rule, rows, dtype, constraint):
    v = tf.Variable(START, dtype=dtype, constraint=constraint)
    optimizer = rule.make()
    for g in GRADS:
        optimizer.apply_gradients([(gradient(tf.constant(g, dtype), rows), v)])
    return tf.cast(v, tf.float64).numpy()


def traced(rule, rows, dtype, constraint):
    v = tf.Variable(START, dtype=dtype, constraint=constraint)
    optimizer = rule.make()

    @tf.function
    def step(g):
        optimizer.apply_gradients([(gradient(g, rows), v)])

    for g in GRADS:
        step(tf.constant(g, dtype))
    return tf.cast(v, tf.float64).numpy()


def in_graph(rule, rows, dtype, constraint):
    with tf.Graph().as_default():
        v = tf.Variable(START, dtype=dtype, constraint=constraint)
        g = v1.placeholder(dtype, [3, 2])
        step = rule.make().apply_gradients([(gradient(g, rows), v)])
        with v1.Session() as sess:
            sess.run(v1.global_variables_initializer())
            for value in GRADS:
                sess.run(step, {g: value})
            return sess.run(v)


WAYS = {"eagerly": eagerly, "traced": traced, "in a graph": in_graph}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rows", [False, True], ids=["dense", "rows"])
@pytest.mark.parametrize("name", RULES)
def test_an_optimizer_follows_its_formula(name, rows, way):
    got = WAYS[way](RULES[name], rows, tf.float64, None)
    np.testing.assert_allclose(got, wanted(RULES[name], rows), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32])
@pytest.mark.parametrize("rows", [False, True], ids=["dense", "rows"])
@pytest.mark.parametrize("name", RULES)
def test_an_optimizer_takes_every_float(name, rows, dtype):
    if name == "adam" and dtype == tf.bfloat16:
        pytest.skip("0.999 is 1 in bfloat16, so that the second moment never moves")
    got = eagerly(RULES[name], rows, dtype, None)
    near = 1e-4 if dtype == tf.float32 else 0.05
    np.testing.assert_allclose(got, wanted(RULES[name], rows), rtol=near, atol=near)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rows", [False, True], ids=["dense", "rows"])
@pytest.mark.parametrize("name", ["descent", "momentum", "adam", "ftrl"])
def test_a_constraint_holds_after_each_update(name, rows, way):
    limit = 0.4
    got = WAYS[way](RULES[name], rows, tf.float64, lambda v: tf.clip_by_value(v, -limit, limit))
    assert np.abs(got).max() <= limit
    np.testing.assert_allclose(got, wanted(RULES[name], rows, limit), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("rows", [False, True], ids=["dense", "rows"])
def test_dual_averaging_counts_steps(rows):
    rule = Rule(None, [0.0, 0.1], dual_averaging)
    v, step = tf.Variable(START), tf.Variable(0, dtype=tf.int64)
    optimizer = train.AdagradDAOptimizer(0.1, step, **PULLS)
    for g in GRADS:
        optimizer.apply_gradients([(gradient(tf.constant(g), rows), v)], global_step=step)
    assert step == len(GRADS)
    np.testing.assert_allclose(v.numpy(), wanted(rule, rows), rtol=1e-6)


@pytest.mark.parametrize(
    ("l2", "wanted"), [(0.0, [-0.895489, -1.59555]), (2.0, [-0.046907, -0.093659])]
)
def test_dual_averaging_is_pulled_towards_zero_from_its_first_step_on(l2, wanted):
    # What TensorFlow's optimizer gives, which counts the step that it takes.
    v, step = tf.Variable([1.0, 2.0]), tf.Variable(0, dtype=tf.int64)
    optimizer = train.AdagradDAOptimizer(
        3.0, step, l1_regularization_strength=0.001, l2_regularization_strength=l2
    )
    optimizer.apply_gradients([(tf.constant([0.1, 0.2]), v)], global_step=step)
    np.testing.assert_allclose(v.numpy(), wanted, rtol=2e-5)


def test_a_loss_is_minimised_in_eager_code_and_in_functions():
    for wrap in (lambda f: f, tf.function):
        v = tf.Variable([1.0, 2.0])
        optimizer = train.GradientDescentOptimizer(0.1)
        step = wrap(lambda: optimizer.minimize(lambda: tf.reduce_sum(v * v)))  # noqa: B023
        step()
        step()
        np.testing.assert_allclose(v.numpy(), [0.64, 1.28], rtol=1e-6)
    with pytest.raises(RuntimeError, match="expected a function"):
        optimizer.minimize(tf.constant(1.0))


def test_what_an_optimizer_keeps_is_found_by_its_name(graph):
    v = tf.Variable([1.0, 2.0], name="v")
    optimizer = train.AdamOptimizer()
    optimizer.minimize(tf.reduce_sum(v * v))
    assert optimizer.get_slot_names() == ["m", "v"]
    assert optimizer.get_slot(v, "m").name == "v/Adam:0"
    assert optimizer.get_slot(v, "v").name == "v/Adam_1:0"
    assert optimizer.get_slot(v, "w") is None
    names = ["beta1_power:0", "beta2_power:0", "v/Adam:0", "v/Adam_1:0"]
    assert [kept.name for kept in optimizer.variables()] == names
    assert v1.trainable_variables() == [v]


def test_what_an_optimizer_keeps_may_have_another_name(graph):
    v = tf.Variable([1.0, 2.0], name="v")
    optimizer = train.FtrlOptimizer(0.1, accum_name="squares", linear_name="sums")
    optimizer.minimize(tf.reduce_sum(v * v))
    assert optimizer.get_slot(v, "accum").name == "v/squares:0"
    assert optimizer.get_slot(v, "linear").name == "v/sums:0"
    assert optimizer._zeros_slot(v, "mine", "Own").name == "v/Own:0"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"var": "a", "accum": "a"}, "another variable"),
        ({"accum": "short"}, "shape"),
        ({"grad": [1.0, 2.0, 3.0]}, "shape"),
        ({"lr": [0.1, 0.2]}, "rank"),
        ({"accum": "double"}, "float64"),
    ],
)
def test_a_step_refuses_what_does_not_fit(arguments, message):
    kept = {
        "a": tf.Variable([1.0, 2.0]),
        "b": tf.Variable([1.0, 1.0]),
        "short": tf.Variable([1.0]),
        "double": tf.Variable([1.0, 2.0], dtype=tf.float64),
    }
    given = {"var": "a", "accum": "b", "lr": 0.1, "grad": [1.0, 1.0]} | arguments
    for name in ("var", "accum"):
        given[name] = kept[given[name]].handle
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=message):
        tf.raw_ops.ResourceApplyAdagrad(**given)
    np.testing.assert_array_equal(kept["a"].numpy(), [1.0, 2.0])


def test_rows_that_are_not_there_are_refused_before_anything_moves():
    v, a = tf.Variable([[1.0], [2.0]]), tf.Variable([[1.0], [1.0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="5"):
        tf.raw_ops.ResourceSparseApplyAdagrad(
            var=v.handle, accum=a.handle, lr=0.1, grad=[[1.0], [1.0]], indices=[0, 5]
        )
    np.testing.assert_array_equal(v.numpy(), [[1.0], [2.0]])
    np.testing.assert_array_equal(a.numpy(), [[1.0], [1.0]])
