"""Variables of a graph: each session has its own values of them."""

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


def test_each_session_has_its_own_values(graph):
    v = tf.Variable(1.0, name="v")
    bump = v.assign_add(1.0)
    a, b = v1.Session(), v1.Session()
    a.run(bump)
    assert (a.run(bump), b.run(v)) == (3.0, 1.0)
    a.run(v.initializer)
    assert a.run(v) == 1.0
    v.load(9.0, b)
    assert (v.eval(b), v.eval(a)) == (9.0, 1.0)


def test_variables_are_initialised_on_demand_in_order(graph):
    w = v1.get_variable("w", initializer=1.0)
    u = v1.get_variable("u", initializer=w.initial_value * 2)
    t = tf.Variable(u.read_value() + w.read_value())
    with v1.Session() as sess:
        assert sess.run((w + u) * 2 + t) == 9.0


def test_an_initial_value_may_be_fed(graph):
    start = v1.placeholder(tf.float32, [])
    v = tf.Variable(start)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer(), {start: 4.0})
        assert sess.run(v) == 4.0
    with v1.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="E0801"):
        sess.run(v)


def test_what_a_variable_of_a_graph_is(graph):
    v = tf.Variable([1.0, 2.0], name="v")
    assert isinstance(v, tf.Variable)
    assert (v.name, v.shape, v.dtype, v.graph) == ("v:0", [2], tf.float32, graph)
    assert (v.op.type, v.initializer.type) == ("VarHandleOp", "AssignVariableOp")
    assert v.initial_value.name == "v/initial_value:0"
    assert tf.Variable(1.0, name="v").name == "v_1:0"
    assert v1.global_variables()[0] is v
    assert repr(v) == "<tf.Variable 'v:0' shape=(2,) dtype=float32>"
    with pytest.raises(AttributeError, match="E0203"):
        v.numpy()
    with pytest.raises(TypeError, match="not iterable"):
        iter(v)


def test_scatter_ops_are_ops(graph):
    v = tf.Variable([1.0, 2.0, 3.0])
    change = v.scatter_add(tf.IndexedSlices([10.0], [1]))
    with v1.Session() as sess:
        np.testing.assert_array_equal(sess.run(v), [1, 2, 3])
        np.testing.assert_array_equal(sess.run(change), [1, 12, 3])


def test_get_variable_finds_what_it_made(graph):
    with v1.variable_scope("net"):
        a = v1.get_variable("w", [2])
        with v1.variable_scope("deep"):
            b = v1.get_variable("w", [2])
    with v1.variable_scope("net", reuse=True):
        assert v1.get_variable("w", [2]) is a
        with pytest.raises(ValueError, match="has made no `net/x`"):
            v1.get_variable("x", [2])
        with pytest.raises(ValueError, match=r"`net/w` is asked for as \(3,\), and it is \(2,\)"):
            v1.get_variable("w", [3])
    with v1.variable_scope("net", reuse=v1.AUTO_REUSE):
        assert v1.get_variable("w", [2]) is a
        assert v1.get_variable("c", initializer=1.0).name == "net/c:0"
    with v1.variable_scope("net"), pytest.raises(ValueError, match="variable `net/w` already"):
        v1.get_variable("w", [2])
    assert (a.name, b.name) == ("net/w:0", "net/deep/w:0")
    assert v1.trainable_variables("net/deep") == [b]


def test_variable_scopes_carry_defaults(graph):
    sevens = v1.constant_initializer(7.0)
    with v1.variable_scope("s", initializer=sevens, regularizer=tf.nn.l2_loss) as scope:
        v = v1.get_variable("v", [1])
        assert (scope.name, scope.original_name_scope) == ("s", "s/")
        scope.reuse_variables()
        assert v1.get_variable("v", [1]) is v
    with v1.variable_scope(None, "unnamed") as first, v1.variable_scope(first, reuse=True) as same:
        assert (first.name, same.name) == ("unnamed", "unnamed")
    with v1.variable_scope(None, "unnamed") as second:
        assert second.name == "unnamed_1"
    (loss,) = v1.get_collection(v1.GraphKeys.REGULARIZATION_LOSSES)
    with v1.Session() as sess:
        assert sess.run(v) == [7.0]
        assert sess.run(loss) == 24.5


def test_branches_and_loops_change_variables_where_they_run(graph):
    x = v1.placeholder(tf.float32, [])
    v = tf.Variable(2.0)
    bump = tf.cond(x > 0, lambda: v.assign_add(1.0), lambda: v.read_value())
    _, power = tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * v), [0, x])
    slopes = tf.gradients(power, [x, v])
    with v1.Session() as sess:
        assert sess.run(bump, {x: -1.0}) == 2.0
        assert sess.run(power, {x: 3.0}) == 24.0
        assert sess.run(slopes, {x: 3.0}) == [8.0, 36.0]
        assert sess.run(bump, {x: 1.0}) == 3.0
        assert sess.run(v) == 3.0


@pytest.mark.parametrize("made", [lambda: tf.Variable([2.0], name="v"), lambda: v1.get_variable(
    "v", [1], initializer=v1.constant_initializer(2.0))])  # fmt: skip
def test_a_variable_made_in_a_branch_is_the_graphs(graph, made):
    kept = []

    def branch():
        kept.append(made())
        return kept[0] * 3.0

    x = v1.placeholder(tf.bool, [])
    y = tf.cond(x, branch, lambda: tf.constant([0.0]))
    assert kept[0].graph is graph
    assert v1.global_variables() == kept
    with v1.Session() as sess:
        assert sess.run(y, {x: True}) == [6.0]
        sess.run(kept[0].assign([5.0]))
        assert sess.run(y, {x: True}) == [15.0]


def test_a_device_function_sees_variables(graph):
    seen = []

    def place(op):
        if op.type == "VarHandleOp":
            seen.append((op.name, op.get_attr("dtype")))
        return "/CPU:0"

    with tf.device(place):
        v1.get_variable("x", [2])
        v1.get_variable("y", initializer=np.arange(3))
    assert seen == [("x", tf.float32), ("y", tf.int64)]
    with graph.colocate_with(v1.get_variable("z", [1]).op):
        made = tf.Variable(1.0)
    assert made.op.colocation_groups() == [b"loc:@z"]


def test_who_waits_for_a_change_waits_for_no_read():
    with tf.Graph().as_default():
        v = tf.Variable(1.0)
        added = v.assign_add(2.0)
        both = tf.group([added, v.assign_sub(1.0)])
        kinds = {op.type for op in both.control_inputs}
        assert kinds == {"AssignAddVariableOp", "AssignSubVariableOp"}
        with tf.control_dependencies([added]):
            after = v.read_value()
        with v1.Session() as session:
            session.run(v.initializer)
            session.run(both)
            assert session.run(v) == 2
            assert session.run(after) == 4
