"""Random numbers, prints, checks and Python code inside traced functions."""

import sys

import numpy as np
import pytest

import holdfast as tf


def drawn(*tensors):
    return [t.numpy().tolist() for t in tensors]


def two():
    return tf.random.uniform([1]), tf.random.uniform([1])


def test_ops_are_numbered_for_each_function_and_calls_continue_one_stream():
    tf.random.set_seed(1234)
    f, g = tf.function(two, autograph=False), tf.function(two, autograph=False)
    first = drawn(*f())
    # What TensorFlow draws for this seed.
    np.testing.assert_allclose(np.ravel(first), [0.13047123, 0.16898060], rtol=1e-6)
    assert drawn(*f()) != first and drawn(*g()) == first
    tf.random.set_seed(1234)
    assert drawn(*f()) == first


def test_a_function_inside_another_numbers_its_own():
    tf.random.set_seed(7)
    inner = tf.function(two, autograph=False)
    outer = tf.function(lambda: (tf.random.uniform([1]), *inner()), autograph=False)
    assert drawn(*outer())[1:] == drawn(*tf.function(two, autograph=False)())


def test_an_op_seed_alone_decides():
    def body():
        return tf.random.normal([3], seed=5), tf.random.normal([3], seed=5)

    tf.random.set_seed(3)
    a, b = drawn(*tf.function(body, autograph=False)())
    assert a == b
    f = tf.function(body, autograph=False)
    assert drawn(*f()) == [a, a] and drawn(*f()) != [a, a]


def test_without_seeds_nothing_repeats():
    tf.random.set_seed(None)
    f, g = tf.function(two, autograph=False), tf.function(two, autograph=False)
    values = np.ravel([drawn(*f()), drawn(*f()), drawn(*g())])
    assert len(set(values.tolist())) == 6


def test_stateless_functions_are_pure_and_generators_move_on():
    f = tf.function(lambda: tf.random.stateless_uniform([2], seed=[1, 2]), autograph=False)
    assert drawn(f()) == drawn(f()) == drawn(tf.random.stateless_uniform([2], seed=[1, 2]))
    inside, outside = (tf.random.Generator.from_seed(1) for _ in range(2))
    g = tf.function(lambda: inside.normal([2]), autograph=False)
    assert drawn(g(), g()) == drawn(outside.normal([2]), outside.normal([2]))


def test_a_gradient_sees_the_numbers_of_the_same_run():
    tf.random.set_seed(1)
    v = tf.Variable(tf.ones([64]))
    f = tf.function(lambda: tf.nn.dropout(v * 1.0, 0.5), autograph=False)
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = f()
        np.testing.assert_array_equal(tape.gradient(y, v), y)


def test_prints_run_in_order_at_each_call(capsys):
    @tf.function(autograph=False)
    def f(x):
        tf.print("before", {"x": [x, 1]}, output_stream=sys.stdout)
        y = x + 1
        tf.print("after", y, sep="|", output_stream=sys.stdout)
        return y

    for n in (1, 2):
        f(tf.constant(n))
    said = "before {{'x': [{}, 1]}}\nafter|{}\n"
    assert capsys.readouterr().out == said.format(1, 2) + said.format(2, 3)


def test_py_function_is_called_at_each_run():
    seen = []

    @tf.function(autograph=False)
    def f(x):
        y = tf.py_function(lambda t: (seen.append(t.numpy().tolist()), t * t)[1], [x], tf.float32)
        assert y.shape.rank is None
        y.set_shape(x.shape)
        n, m = tf.py_function(lambda: (3, 4.5), [], [tf.int32, tf.float32])
        return y + m, n

    for value in ([1.0, 2.0], [3.0, 4.0]):
        total, n = f(tf.constant(value))
        assert total.numpy().tolist() == [v * v + 4.5 for v in value] and n.dtype == tf.int32
    assert seen == [[1, 2], [3, 4]]


@pytest.mark.parametrize("inside", [False, True])
def test_gradients_pass_through_py_function_which_runs_once(inside):
    runs = []

    def cube(t):
        runs.append(1)
        return t * t * t

    def body(x):
        return tf.py_function(cube, [x], tf.float32)

    def slope(f, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    x = tf.constant([1.0, 2.0])
    if inside:
        found = tf.function(lambda x: slope(body, x), autograph=False)(x)
    else:
        found = slope(tf.function(body, autograph=False), x)
    assert found.numpy().tolist() == [3, 12] and len(runs) == 1


def test_errors_of_python_code_come_out_as_they_are():
    x = tf.constant(1.0)
    with pytest.raises(ZeroDivisionError):
        tf.function(lambda x: tf.py_function(lambda t: 1 / 0, [x], tf.float32), autograph=False)(x)
    with pytest.raises(TypeError):
        tf.function(lambda x: tf.py_function(lambda t: t, [x], tf.int32), autograph=False)(x)
    spec = tf.TensorSpec([3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected shape"):
        tf.function(lambda x: tf.py_function(lambda t: t, [x], spec), autograph=False)(x)


def test_numpy_function_may_be_left_out_if_it_has_no_state():
    runs = []

    def note(a):
        runs.append(type(a))
        return np.sin(a)

    def body(x, stateful):
        tf.numpy_function(note, [x], tf.float32, stateful=stateful)
        return x

    x = tf.constant([1.0])
    tf.function(body, autograph=False)(x, False)
    assert runs == []
    tf.function(body, autograph=False)(x, True)
    assert runs == [np.ndarray]


@pytest.mark.parametrize(
    ("check", "bad"),
    [
        (lambda x: tf.debugging.assert_less(x, 5.0, message="too big"), [7.0]),
        (lambda x: tf.debugging.assert_equal(x, tf.ones_like(x)), [2.0]),
        (lambda x: tf.debugging.assert_near(x, 1.0), [1.5]),
        (lambda x: tf.debugging.assert_positive(x), [-1.0]),
        (lambda x: tf.debugging.Assert(tf.reduce_all(x > 0.0), [x]), [-1.0]),
        (lambda x: tf.debugging.check_numerics(x, "numbers"), [float("nan")]),
        (lambda x: tf.debugging.assert_rank(x, 1), [[1.0]]),
        (lambda x: tf.debugging.assert_shapes([(x, ("N",))]), [[1.0]]),
    ],
)
def test_checks_run_at_each_call(check, bad):
    @tf.function(input_signature=[tf.TensorSpec(None)], autograph=False)
    def f(x):
        check(x)
        return x * 2

    assert f(tf.constant([1.0])).numpy().tolist() == [2]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        f(tf.constant(bad))
    assert caught.value.code == "E1106" and "checked here" in str(caught.value)
    assert f(tf.constant([1.0])).numpy().tolist() == [2]


def test_what_is_known_while_tracing_is_checked_then():
    def body(x):
        tf.debugging.assert_rank(x, 2)
        raise AssertionError("the check must have stopped the trace")

    with pytest.raises(tf.errors.InvalidArgumentError, match="assert_rank"):
        tf.function(body, autograph=False)(tf.constant(1.0))
