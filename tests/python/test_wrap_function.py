"""`wrap_function`: code that writes a graph, as a function that eager code calls."""

import pytest

import holdfast as tf

v1 = tf.compat.v1
SCALAR = tf.TensorSpec([], tf.float32)


def count(x, add):
    v = tf.Variable(5.0)
    change = v.assign_add(x) if add else v.assign_sub(x)
    with tf.control_dependencies([change]):
        return v.read_value()


def test_each_wrapping_has_variables_of_its_own():
    up, down = v1.wrap_function(count, [SCALAR, True]), v1.wrap_function(count, [SCALAR, False])
    assert [up(1.0).numpy(), up(1.0).numpy()] == [6.0, 7.0]
    assert [down(1.0).numpy(), down(1.0).numpy()] == [4.0, 3.0]
    (v,) = up.variables
    assert v.numpy() == 7.0


def test_what_the_result_does_not_need_does_not_run():
    v = tf.Variable(0)

    def f(x):
        v.assign_add(1, name="bump", read_value=False)
        return x, tf.constant(2, name="other")

    wrapped = v1.wrap_function(f, [tf.TensorSpec([], tf.int32)])
    assert [t.numpy() for t in wrapped(1)] == [1, 2]
    assert v.numpy() == 0
    bump = wrapped.prune([], (wrapped.graph.get_operation_by_name("bump"), "other:0"))
    first, second = bump()
    assert (first, second.numpy(), v.numpy()) == (None, 2, 1)
    assert wrapped.prune([], "bump")() is None
    assert v.numpy() == 2


def test_any_tensor_of_the_graph_can_be_an_input():
    kept = {}

    def f(x, y):
        kept["square"] = x * x
        return kept["square"] + y, 2 * y

    wrapped = v1.wrap_function(f, [SCALAR, SCALAR])
    pruned = wrapped.prune([wrapped.inputs[1], kept["square"]], {"sum": wrapped.outputs[0]})
    assert pruned(tf.constant(1.0), tf.constant(5.0))["sum"].numpy() == 6.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        wrapped.prune([], wrapped.outputs)
    with pytest.raises(TypeError, match="got 1 tensors, expected 2"):
        pruned(1.0)


def test_wrapped_functions_have_gradients():
    outer = tf.Variable(2.0)
    made = []

    def f(z):
        made.append(tf.Variable(3.0))
        return outer * made[0] * z

    wrapped = v1.wrap_function(f, [SCALAR])
    x = tf.constant(1.0)

    @tf.function
    def inside(x):
        return wrapped(x)

    for call in (wrapped, wrapped.prune(wrapped.inputs, wrapped.outputs[0]), inside):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = call(x)
        assert [g.numpy() for g in tape.gradient(y, [x, outer, made[0]])] == [6.0, 3.0, 2.0]


def test_gradients_of_the_programs_own_are_not_lost_in_silence():
    @tf.custom_gradient
    def odd(x):
        return x * 2, lambda dy: dy * 100

    wrapped = v1.wrap_function(lambda x: odd(x + 1) * 3, [SCALAR])
    x = tf.constant(1.0)
    assert wrapped(x).numpy() == 12.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        with pytest.raises(NotImplementedError, match="custom gradient"):
            wrapped(x)


def test_scopes_collections_and_names_are_the_graphs():
    def f():
        with v1.variable_scope("s", reuse=v1.AUTO_REUSE):
            a = v1.get_variable("v", [], initializer=v1.ones_initializer())
            assert v1.get_variable("v", []) is a
        b, c = tf.Variable(0, name="n"), tf.Variable(1, name="n")
        v1.add_to_collection("losses", a * 2)
        return a, b, c

    wrapped = v1.wrap_function(f, [])
    assert [x.numpy() for x in wrapped()] == [1.0, 0, 1]
    assert [v.name for v in wrapped.graph.variables] == ["s/v:0", "n:0", "n_1:0"]
    assert len(wrapped.graph.get_collection("losses")) == 1
    assert len(wrapped.graph.get_collection("trainable_variables")) == 3
    assert v1.get_collection("losses") == []


def test_initial_values_may_be_computed():
    def f():
        return tf.Variable(lambda: tf.ones([2]) * 3) + tf.Variable(tf.fill([2], 2.0) * 2)

    assert v1.wrap_function(f, [])().numpy().tolist() == [7.0, 7.0]


def test_variables_made_in_branches_are_eager_ones():
    made = []

    def f(x):
        def branch():
            if not made:
                made.append(tf.Variable(lambda: tf.constant(2.0) * 2))
            return made[0] * x

        return tf.cond(x > 0, branch, lambda: tf.constant(0.0))

    wrapped = v1.wrap_function(f, [SCALAR])
    assert wrapped(3.0).numpy() == 12.0
    made[0].assign(1.0)
    assert [wrapped(3.0).numpy(), wrapped(-3.0).numpy()] == [3.0, 0.0]
