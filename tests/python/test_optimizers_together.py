"""Steps over many variables are one step of a graph, with the bits that each alone has."""

import numpy as np
import pytest

import holdfast as tf

SHAPES = [(1000, 30), (3,), (0, 5), (), (257, 40), (1,)] * 12  # more than one step takes
OPTIMIZERS = {
    "Adam": {"learning_rate": 0.01},
    "AdamW": {"weight_decay": 0.01},
    "Adamax": {"learning_rate": 0.01},
    "RMSprop": {"momentum": 0.5, "centered": True},
    "SGD": {"momentum": 0.9, "nesterov": True},
    "Adagrad": {"learning_rate": 0.1},
    "Ftrl": {"learning_rate": 0.1},
}


def moved(name, traced, steps=3):
    r = np.random.default_rng(5)
    values = [r.standard_normal(s).astype(np.float32) for s in SHAPES]
    variables = [tf.Variable(v) for v in values]
    optimizer = getattr(tf.keras.optimizers, name)(**OPTIMIZERS[name])
    optimizer.build(variables)

    def step(gradients):
        optimizer.apply(gradients, variables)

    run = tf.function(step) if traced else step
    for _ in range(steps):
        run([tf.constant(r.standard_normal(s).astype(np.float32)) for s in SHAPES])
    held = [*variables, *optimizer.variables]
    return [np.asarray(v).tobytes() for v in held], run


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_graph_moves_variables_as_eager_code_does(name, threads):
    before = tf.config.threading.get_intra_op_parallelism_threads()
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    try:
        assert moved(name, traced=True)[0] == moved(name, traced=False)[0]
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(before)


@pytest.mark.parametrize("name,steps", [("Adam", 5), ("SGD", 3)])
def test_many_variables_are_few_steps_of_a_plan(name, steps):
    """Each holds at most 48 variables: more locks than tools can follow would end the program under them."""
    _, f = moved(name, traced=True)
    text = f.explain()
    assert text.count("MoveTogether") == steps and "ResourceApply" not in text


def test_nothing_moves_if_one_gradient_is_refused():
    first = tf.Variable([1.0, 2.0])
    second = tf.Variable([1.0, 2.0], shape=tf.TensorShape(None))

    @tf.function
    def step(g, h):
        for v, d in ((first, g), (second, h)):
            tf.raw_ops.ResourceApplyGradientDescent(var=v.handle, alpha=1.0, delta=d)

    step(tf.ones(2), tf.ones(2))
    assert "MoveTogether" in step.explain()
    second.assign([5.0, 6.0, 7.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"shape \[2\], expected \[3\]"):
        step(tf.ones(2), tf.ones(2))
    np.testing.assert_array_equal(first, [0.0, 1.0])
    np.testing.assert_array_equal(second, [5.0, 6.0, 7.0])


def test_a_variable_that_comes_twice_moves_twice():
    v, w = tf.Variable([1.0]), tf.Variable([2.0])

    @tf.function
    def step():
        for each in (v, w, v):
            tf.raw_ops.ResourceApplyGradientDescent(
                var=each.handle, alpha=1.0, delta=tf.constant([0.25])
            )
        return v.read_value()

    assert float(step()[0]) == 0.5 and float(w[0]) == 1.75


@pytest.mark.parametrize(
    "inputs,message",
    [
        ({"rule": "Add"}, "an op that moves variables"),
        ({"operands": [1.0]}, "those of whole calls"),
        ({"operands": [tf.constant(1.0), tf.constant([1], tf.int32)]}, "int32"),
    ],
)
def test_the_op_refuses_what_is_no_step(inputs, message):
    v = tf.Variable([1.0])
    given = {"rule": "ResourceApplyGradientDescent", "operands": [1.0, tf.constant([1.0])]} | inputs
    with pytest.raises((ValueError, TypeError, tf.errors.OpError), match=message):
        tf.raw_ops.MoveTogether(var=v.handle, **given)
    assert float(v[0]) == 1.0
