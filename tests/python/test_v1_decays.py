"""Learning rates of `tf.compat.v1.train` that fall with the count of steps."""

import numpy as np
import pytest

import holdfast as tf

train = tf.compat.v1.train
STEPS = [0, 1, 3, 10, 13, 37]


def restarted(n, first, grows, falls):
    before, length = 0, first
    while n >= length:
        n, length, before = n - length, length * grows, before + 1
    return 0.1 * falls**before * (1 + np.cos(np.pi * n / length)) / 2


CASES = {
    "exponential": (
        lambda n: train.exponential_decay(0.1, n, 10, 0.5),
        lambda n: 0.1 * 0.5 ** (n / 10),
    ),
    "staircase": (
        lambda n: train.exponential_decay(0.1, n, 10, 0.5, staircase=True),
        lambda n: 0.1 * 0.5 ** (n // 10),
    ),
    "polynomial": (
        lambda n: train.polynomial_decay(0.1, n, 10, 0.01, 2.0),
        lambda n: 0.09 * (1 - min(n, 10) / 10) ** 2 + 0.01,
    ),
    "cycle": (
        lambda n: train.polynomial_decay(0.1, n, 10, 0.01, cycle=True),
        lambda n: 0.09 * (1 - n / (10 * max(1, -(-n // 10)))) + 0.01,
    ),
    "inverse": (
        lambda n: train.inverse_time_decay(0.1, n, 10, 0.5),
        lambda n: 0.1 / (1 + 0.5 * n / 10),
    ),
    "natural": (
        lambda n: train.natural_exp_decay(0.1, n, 10, 0.5),
        lambda n: 0.1 * np.exp(-0.5 * n / 10),
    ),
    "cosine": (
        lambda n: train.cosine_decay(0.1, n, 10, 0.2),
        lambda n: 0.1 * (0.8 * (1 + np.cos(np.pi * min(n, 10) / 10)) / 2 + 0.2),
    ),
    "restarts": (
        lambda n: train.cosine_decay_restarts(0.1, n, 4, 2.0, 0.5),
        lambda n: restarted(n, 4, 2, 0.5),
    ),
    "even restarts": (
        lambda n: train.cosine_decay_restarts(0.1, n, 4, t_mul=1.0),
        lambda n: restarted(n, 4, 1, 1),
    ),
    "line": (
        lambda n: train.linear_cosine_decay(0.1, n, 10),
        lambda n: 0.1 * ((1 - min(n, 10) / 10) * (1 + np.cos(np.pi * min(n, 10) / 10)) / 2 + 0.001),
    ),
    "pieces": (
        lambda n: train.piecewise_constant(n, [3, 10], [1.0, 0.5, 0.1]),
        lambda n: 1.0 if n <= 3 else 0.5 if n <= 10 else 0.1,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_rate_is_that_of_the_step_when_it_is_asked(name):
    made, wanted = CASES[name]
    count = tf.Variable(0)
    rate = made(count)  # in eager code the count goes on after it was made
    for n in STEPS:
        count.assign(n)
        np.testing.assert_allclose(rate(), wanted(n), rtol=1e-4, atol=1e-6)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        step = tf.compat.v1.placeholder(tf.int64, [])
        later = made(step)
        for n in STEPS:
            np.testing.assert_allclose(
                session.run(later, {step: n}), wanted(n), rtol=1e-4, atol=1e-6
            )


def test_optimizers_go_by_the_rate_of_each_step():
    count, x = tf.Variable(0, dtype=tf.int64), tf.Variable(2.0)
    optimizer = train.GradientDescentOptimizer(train.exponential_decay(1.0, count, 1, 0.5))
    for _ in range(2):
        optimizer.apply_gradients([(tf.constant(1.0), x)], global_step=count)
    assert x.numpy() == 0.5


def test_what_says_no_rate_is_refused():
    with pytest.raises(ValueError, match="needs `global_step`"):
        train.exponential_decay(0.1, None, 10, 0.5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="one value more"):
        train.piecewise_constant(tf.Variable(0), [1, 2], [1.0, 2.0])


DECAYS = {
    "exponential_decay": ("ExponentialDecay", [0.1, 10, 0.5]),
    "natural_exp_decay": ("ExponentialDecay", [0.1, 10, 0.5]),
    "inverse_time_decay": ("InverseTimeDecay", [0.1, 10, 0.5]),
    "polynomial_decay": ("PolynomialDecay", [0.1, 10]),
    "cosine_decay_restarts": ("SGDRDecay", [0.1, 10]),
    "linear_cosine_decay": ("LinearCosineDecay", [0.1, 10]),
}


@pytest.mark.parametrize("function", DECAYS)
def test_a_rate_is_called_by_its_name(function):
    own, (start, *others) = DECAYS[function]
    with tf.Graph().as_default() as graph:
        count = tf.compat.v1.placeholder(tf.int64, [])
        for said, name in (({}, own), ({"name": "rate"}, "rate")):
            rate = getattr(train, function)(start, count, *others, **said)
            assert rate.op.name == name
            made = graph.get_operations()
            assert any(op.name.startswith(f"{name}/") for op in made)


@pytest.mark.parametrize(
    "make, scope",
    [
        (lambda n, **said: train.cosine_decay(0.1, n, 10, **said), "CosineDecay"),
        (
            lambda n, **said: train.piecewise_constant(n, [3], [1.0, 0.5], **said),
            "PiecewiseConstant",
        ),
    ],
)
def test_a_rate_is_made_in_a_scope(make, scope):
    with tf.Graph().as_default():
        count = tf.compat.v1.placeholder(tf.int64, [])
        assert make(count).op.name.startswith(f"{scope}/")
        assert make(count, name="rate").op.name.startswith("rate/")
