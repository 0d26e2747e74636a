"""Graphs that a program writes by hand, and the sessions that run them."""

import collections
import gc
import pathlib
import re
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


@pytest.fixture
def graph():
    made = tf.Graph()
    with made.as_default():
        yield made


# The graph.


def test_ops_become_nodes_and_nothing_runs(graph):
    y = tf.constant(1.0) + 2
    assert not tf.executing_eagerly()
    assert tf.is_symbolic_tensor(y)
    assert [op.type for op in graph.get_operations()] == ["Const", "Const", "AddV2"]


def test_graphs_nest_and_are_left_again():
    outer, inner = tf.Graph(), tf.Graph()
    with outer.as_default():
        a = tf.constant(1)
        with inner.as_default():
            b = tf.constant(2)
            assert v1.get_default_graph() is inner
        assert v1.get_default_graph() is outer
    assert (a.graph, b.graph) == (outer, inner)
    assert tf.executing_eagerly()
    assert int(tf.constant(3) + 1) == 4


def test_names_are_those_of_tensorflow(graph):
    x = v1.placeholder(tf.float32, [2], name="x")
    names = [t.name for t in (x, x + 1, x + 1, x - 1, x * 2, x / 2, x**2, x[0], -x)]
    assert names == "x:0 add:0 add_1:0 sub:0 mul:0 truediv:0 pow:0 strided_slice:0 Neg:0".split()
    assert [t.name for t in (x + 1).op.inputs] == ["x:0", "add_2/y:0"]
    assert tf.matmul([[1.0]], [[2.0]], name="product").name == "product:0"
    assert tf.constant(1, name="c").name == "c:0"
    assert tf.constant(1, name="C").name == "C_1:0"


def test_a_name_goes_to_the_result_of_a_function_of_many_ops(graph):
    entropy = tf.nn.softmax_cross_entropy_with_logits
    loss = entropy(labels=[[1.0, 0.0]], logits=[[1.0, 2.0]], name="loss")
    assert loss.name == "loss:0"
    inside = [op.name for op in graph.get_operations()]
    assert all(name == "loss" or name.startswith("loss/") for name in inside)


def test_name_scopes_nest_count_and_return_to_the_root(graph):
    with tf.name_scope("a") as a, tf.name_scope("b") as b:
        t = tf.constant(1, name="t")
    with tf.name_scope("a"):
        u = tf.constant(1, name="u")
        with tf.Graph().as_default():
            other = tf.constant(1, name="u")
    with tf.name_scope("a/"):
        again = tf.constant(1, name="v")
    found = [a, b, t.name, u.name, other.name, again.name]
    assert found == ["a/", "a/b/", "a/b/t:0", "a_1/u:0", "u:0", "a/v:0"]


def test_tensors_and_operations_are_found_by_name(graph):
    x = tf.constant(1.0, name="x")
    assert graph.get_tensor_by_name("x:0") == x
    assert graph.get_operation_by_name("x") is x.op
    with pytest.raises(KeyError, match=r"Did you mean 'x:0'"):
        graph.get_tensor_by_name("xx:0")
    with pytest.raises(KeyError, match="does not exist"):
        graph.get_operation_by_name("nothing")
    with pytest.raises(ValueError, match="looks like the name of an Operation"):
        graph.get_tensor_by_name("x")
    with pytest.raises(KeyError, match="has 1 outputs"):
        graph.get_tensor_by_name("x:1")


def test_an_operation_tells_what_it_is(graph):
    x = v1.placeholder(tf.float32, [2, 3], name="x")
    y = tf.matmul(x, x, transpose_b=True, name="y")
    op = y.op
    assert (op.name, op.type, op.graph, y.value_index) == ("y", "MatMul", graph, 0)
    assert list(op.inputs) == [x, x]
    assert op.outputs == [y]
    assert op.get_attr("transpose_b") is True
    assert op.get_attr("T") == tf.float32
    assert x.consumers() == [op]
    with pytest.raises(ValueError, match="no attr named 'nothing'"):
        op.get_attr("nothing")
    with pytest.raises(TypeError):
        tf.Operation("x")


def test_tensors_of_a_graph_are_keys(graph):
    x, y = tf.constant(1.0), tf.constant(1.0)
    assert {x: "x", y: "y"}[graph.get_tensor_by_name("Const:0")] == "x"
    assert x != y


def test_collections_hold_what_they_are_given(graph):
    v1.add_to_collection("things", 1)
    v1.add_to_collections(["things", "others"], 2)
    with tf.name_scope("deep"):
        t = tf.constant(1)
    v1.add_to_collection("things", t)
    assert v1.get_collection("things") == [1, 2, t]
    assert v1.get_collection("things", scope="deep") == [t]
    v1.get_collection_ref("others").append(3)
    assert graph.get_collection("others") == [2, 3]
    graph.clear_collection("others")
    assert graph.get_collection("others") == []


def test_a_graph_goes_with_its_last_user():
    def build():
        graph = tf.Graph()
        with graph.as_default():
            x = v1.placeholder(tf.float32, [])
            y = x * tf.Variable(2.0)
            v1.train.AdamOptimizer().minimize(y)
            v1.Session().run(y, {x: 1.0})
        return weakref.ref(graph)

    gone = build()
    gc.collect()
    assert gone() is None


def test_a_tensor_alone_keeps_its_graph_running():
    def build():
        with tf.Graph().as_default():
            x = v1.placeholder(tf.float32, [], name="x")
            return x, x * tf.Variable(2.0)

    x, y = build()
    gc.collect()
    z = y + 1
    assert z.graph is y.graph
    assert v1.Session(graph=z.graph).run(z, {x: 3.0}) == 7.0


def test_the_default_graph_can_begin_again():
    v1.placeholder(tf.float32, name="once")
    before = v1.get_default_graph()
    v1.reset_default_graph()
    assert v1.get_default_graph() is not before
    assert v1.placeholder(tf.float32, name="once").name == "once:0"
    with tf.Graph().as_default(), pytest.raises(AssertionError, match="nested"):
        v1.reset_default_graph()


def test_a_graph_has_tensorflows_form(graph):
    x = v1.placeholder(tf.float32, [None, 2], name="x")
    with tf.control_dependencies([x]):
        tf.matmul(x, [[1.0], [2.0]], name="y")
    written = graph.as_graph_def()
    nodes = {node.name: node for node in v1.GraphDef.FromString(written.SerializeToString()).node}
    assert list(nodes) == ["x", "y/b", "y"]
    assert (nodes["y"].op, nodes["y"].input) == ("MatMul", ["x", "y/b", "^x"])
    assert nodes["x"].attr["dtype"] == b"\x30\x01"  # type: DT_FLOAT
    unknown, two = b"\x12\x0b\x08" + b"\xff" * 9 + b"\x01", b"\x12\x02\x08\x02"
    assert nodes["x"].attr["shape"] == b"\x3a\x11" + unknown + two
    assert np.array([1, 2], np.float32).tobytes() in nodes["y/b"].attr["value"]
    assert 'name: "y"' in str(written)
    assert x.op.node_def.op == "Placeholder"


def test_a_graph_reads_back_from_its_text(graph):
    x = v1.placeholder(tf.float32, [None], name="x")
    w = tf.Variable(np.arange(100, dtype=np.float32), name="w")
    tf.reduce_sum(x * w[:2], name="y")
    text = graph.as_text()
    again = tf.Graph.from_text(text)
    assert again.as_text() == text
    assert v1.Session(graph=again).run("y:0", {"x:0": [3.0, 5.0]}) == 5.0
    with pytest.raises(ValueError, match="E1103"):
        tf.Graph.from_text(text.replace("Mul(", "Nothing("))


# Sessions.


def test_fetches_come_back_in_their_structure(graph):
    pair = collections.namedtuple("pair", "a b")
    x = tf.constant([1, 2], name="x")
    with v1.Session() as sess:
        got = sess.run({"list": [x, (x, x)], "pair": pair(x, x.op), "name": "x:0"})
    assert isinstance(got["pair"], pair)
    assert got["pair"].b is None
    for value in (got["list"][0], got["list"][1][1], got["pair"].a, got["name"]):
        np.testing.assert_array_equal(value, [1, 2])


def test_feeds_are_converted_and_replace_any_tensor(graph):
    x = v1.placeholder(tf.float32, [None])
    middle = x * 2
    y = middle + 1
    sess = v1.Session()
    for given in ([1, 2], (1, 2), np.array([1.0, 2.0])):
        np.testing.assert_array_equal(sess.run(y, {x: given}), [3, 5])
    np.testing.assert_array_equal(sess.run(y, {middle: [7]}), [8])
    np.testing.assert_array_equal(sess.run(y, {"Placeholder:0": [0]}), [1])
    np.testing.assert_array_equal(sess.run(x, {x: [4]}), [4])


@pytest.mark.parametrize(
    ("feed", "kind"),
    [
        ([1.0, 2.0, 3.0], ValueError),
        (["a", "b"], TypeError),
        (None, TypeError),
    ],
)
def test_a_feed_that_does_not_fit_is_refused(graph, feed, kind):
    x = v1.placeholder(tf.float32, [2])
    with pytest.raises(kind):
        v1.Session().run(x, {x: feed})


def test_a_symbol_and_a_stranger_are_no_feeds(graph):
    x = v1.placeholder(tf.float32, [])
    with pytest.raises(TypeError, match="cannot be a tf.Tensor"):
        v1.Session().run(x, {x: tf.constant(1.0)})
    with pytest.raises(TypeError, match="E1104"):
        v1.Session().run(x, {3: 1.0})
    with pytest.raises(KeyError):
        v1.Session().run(x, {"nobody:0": 1.0})


@pytest.mark.parametrize("fetch", [None, 3, object()])
def test_only_tensors_and_operations_can_be_fetched(graph, fetch):
    with pytest.raises(TypeError, match="invalid type"):
        v1.Session().run(fetch)


def test_only_what_is_fetched_runs(graph):
    count = v1.get_variable("count", initializer=0)
    bump = count.assign_add(1)
    same = tf.constant(1) * 2
    with v1.Session() as sess:
        sess.run(same)
        assert sess.run(count) == 0
        sess.run(bump)
        assert sess.run(count) == 1


def test_placeholder_with_default(graph):
    x = v1.placeholder_with_default([1.0, 2.0], [None])
    with v1.Session() as sess:
        np.testing.assert_array_equal(sess.run(x * 2), [2, 4])
        np.testing.assert_array_equal(sess.run(x * 2, {x: [5]}), [10])


def test_control_dependencies_run_first_and_are_forgotten_outside(graph):
    v = tf.Variable(1.0)
    change = v.assign(5.0)
    with tf.control_dependencies([change]):
        after = tf.identity(v)
        with tf.control_dependencies(None):
            free = tf.identity(v)
    assert [op.name for op in after.op.inputs[0].op.control_inputs] == [change.op.name]
    with v1.Session() as sess:
        assert sess.run(free) == 1.0
        assert sess.run(after) == 5.0


def test_groups_run_all_their_parts(graph):
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    both = tf.group(a.assign(3.0), [b.assign(4.0)], name="both")
    assert (both.name, both.type, tf.no_op().type) == ("both", "NoOp", "NoOp")
    with v1.Session() as sess:
        assert sess.run(both) is None
        assert sess.run([a, b]) == [3.0, 4.0]
        both.run()


def test_eval_uses_the_default_session(graph):
    x = tf.constant(2.0)
    with pytest.raises(ValueError, match="No default session"):
        x.eval()
    with v1.Session().as_default() as sess:
        assert x.eval() == 2.0
        assert v1.get_default_session() is sess
    assert x.eval(session=sess) == 2.0
    interactive = v1.InteractiveSession()
    assert x.eval() == 2.0
    interactive.close()
    assert v1.get_default_session() is None


def test_an_eager_program_may_use_sessions():
    x = v1.placeholder(tf.float32, [2])
    y = x * tf.constant(3.0)
    sess = v1.Session()
    np.testing.assert_array_equal(sess.run(y, {x: tf.constant([1.0, 2.0])}), [3, 6])
    assert sess.run(tf.constant(5)) == 5
    assert sess.run(tf.Variable(6)) == 6
    assert tf.executing_eagerly()


def test_a_run_is_different_each_time_where_it_is_random(graph):
    drawn = tf.random.normal([4])
    with v1.Session() as sess:
        assert not np.array_equal(sess.run(drawn), sess.run(drawn))
        a, b = sess.run([drawn, drawn * 1])
    np.testing.assert_array_equal(a, b)


def test_make_callable(graph):
    x = v1.placeholder(tf.float32, [])
    call = v1.Session().make_callable(x * 2, [x])
    assert [call(1.0), call(2.0)] == [2.0, 4.0]


def test_many_threads_run_one_session(graph):
    count = v1.get_variable("count", initializer=0.0)
    bump = count.assign_add(1.0, read_value=False)
    sess = v1.Session()

    def work():
        for _ in range(50):
            sess.run(bump)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sess.run(count) == 200.0


def test_options_that_mean_something_are_checked():
    config = v1.ConfigProto(allow_soft_placement=True, gpu_options=v1.GPUOptions(allow_growth=True))
    config.gpu_options.per_process_gpu_memory_fraction = 0.5
    assert v1.Session(config=config).run(tf.constant(1)) == 1
    with pytest.raises(AttributeError):
        v1.ConfigProto(nothing=1)
    with pytest.raises(TypeError):
        v1.Session(config={})
    with pytest.raises(NotImplementedError, match="E1105"):
        v1.Session("grpc://host")
    with pytest.raises(NotImplementedError, match="E1105"):
        v1.Session().run(tf.constant(1), options=v1.RunOptions())


# Variables.


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
        with pytest.raises(ValueError, match="does not exist"):
            v1.get_variable("x", [2])
        with pytest.raises(ValueError, match="specified shape"):
            v1.get_variable("w", [3])
    with v1.variable_scope("net", reuse=v1.AUTO_REUSE):
        assert v1.get_variable("w", [2]) is a
        assert v1.get_variable("c", initializer=1.0).name == "net/c:0"
    with v1.variable_scope("net"), pytest.raises(ValueError, match="already exists"):
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


# Gradients and training.


def test_gradients_of_tensors_variables_and_rows(graph):
    x = v1.placeholder(tf.float32, [])
    v = tf.Variable([1.0, 2.0, 3.0])
    other = tf.constant(1.0)
    row = tf.gather(v, [1, 1])
    y = tf.reduce_sum(row * x)
    dx, dv, none = tf.gradients(y, [x, v, other])
    assert none is None
    assert isinstance(dv, tf.IndexedSlices)
    with v1.Session() as sess:
        slope, rows = sess.run([dx, dv], {x: 3.0})
        assert slope == 4.0
        np.testing.assert_array_equal(rows.indices, [1, 1])
        np.testing.assert_array_equal(rows.values, [3, 3])
        np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(dv), {x: 3.0}), [0, 6, 0])
        (zero,) = tf.gradients(y, other, unconnected_gradients="zero")
        assert sess.run(zero) == 0.0


def test_gradients_take_weights_and_stops(graph):
    x = tf.constant(2.0)
    a = x * x
    y = a * x
    with v1.Session() as sess:
        assert sess.run(tf.gradients(y, x)) == [12.0]
        assert sess.run(tf.gradients([y, a], x)) == [16.0]
        assert sess.run(tf.gradients(y, x, grad_ys=tf.constant(10.0))) == [120.0]
        assert sess.run(tf.gradients(y, [a, x], stop_gradients=[a])) == [2.0, 4.0]
        assert sess.run(tf.gradients(tf.gradients(y, x), x)) == [12.0]
        assert sess.run(tf.hessians(y, x)) == [12.0]


def test_gradients_know_custom_ones_and_tapes_see_graphs(graph):
    @tf.custom_gradient
    def times_hundred(x):
        return tf.identity(x), lambda dy: dy * 100.0

    x = tf.constant(3.0)
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v * x
    with v1.Session() as sess:
        assert sess.run(tf.gradients(times_hundred(x) * x, x)) == [303.0]
        assert sess.run(tape.gradient(y, v)) == 12.0


def test_gradients_outside_of_a_graph_are_refused():
    with pytest.raises(RuntimeError, match="GradientTape"):
        tf.gradients(tf.constant(1.0), tf.constant(1.0))


def adam(v, g, steps, rate=0.1, b1=0.9, b2=0.999, eps=1e-8):
    m = s = 0.0
    for t in range(1, steps + 1):
        grad = g(v)
        m, s = b1 * m + (1 - b1) * grad, b2 * s + (1 - b2) * grad * grad
        v = v - rate * np.sqrt(1 - b2**t) / (1 - b1**t) * m / (np.sqrt(s) + eps)
    return v


def momentum(v, g, steps, rate=0.1, mu=0.9, nesterov=False):
    m = 0.0
    for _ in range(steps):
        m = mu * m + g(v)
        v = v - rate * (g(v) + mu * m if nesterov else m)
    return v


def adagrad(v, g, steps, rate=0.1):
    a = 0.1
    for _ in range(steps):
        a = a + g(v) ** 2
        v = v - rate * g(v) / np.sqrt(a)
    return v


def rmsprop(v, g, steps, rate=0.1, decay=0.9, mu=0.5, eps=1e-10):
    s, m = 1.0, 0.0
    for _ in range(steps):
        s = decay * s + (1 - decay) * g(v) ** 2
        m = mu * m + rate * g(v) / np.sqrt(s + eps)
        v = v - m
    return v


@pytest.mark.parametrize(
    ("optimizer", "by_hand"),
    [
        (lambda: v1.train.GradientDescentOptimizer(0.1), lambda v, g, n: momentum(v, g, n, mu=0.0)),
        (lambda: v1.train.MomentumOptimizer(0.1, 0.9), momentum),
        (
            lambda: v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
            lambda v, g, n: momentum(v, g, n, nesterov=True),
        ),
        (lambda: v1.train.AdagradOptimizer(0.1), adagrad),
        (lambda: v1.train.RMSPropOptimizer(0.1, momentum=0.5), rmsprop),
        (lambda: v1.train.AdamOptimizer(0.1), adam),
    ],
)
def test_optimizers_do_what_their_formulas_say(graph, optimizer, by_hand):
    v = tf.Variable([1.0, -2.0])
    loss = tf.reduce_sum(v * v * v)
    step = v1.train.get_or_create_global_step()
    train = optimizer().minimize(loss, global_step=step)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        for _ in range(5):
            sess.run(train)
        got, count = sess.run([v, step])
    wanted = by_hand(np.array([1.0, -2.0]), lambda x: 3 * x * x, 5)
    np.testing.assert_allclose(got, wanted, rtol=1e-4)
    assert count == 5
    assert v1.train.get_or_create_global_step() is step


def test_an_optimizer_without_a_way_says_so(graph):
    tf.Variable(1.0)
    with pytest.raises(ValueError, match="No gradients"):
        v1.train.AdamOptimizer().minimize(tf.constant(1.0) * 2)


# Programs of TensorFlow 1.


def run(program):
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_a_program_without_eager_execution():
    said = run(
        """
        import holdfast
        holdfast.install_as_tensorflow()
        import tensorflow.compat.v1 as tf
        import threading
        tf.disable_v2_behavior()
        x = tf.placeholder(tf.float32, [None, 2])
        w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
        y = tf.reduce_sum(tf.matmul(x, w), reduction_indices=[0], keep_dims=True)
        print(tf.executing_eagerly(), tf.executing_eagerly_outside_functions())
        thread = threading.Thread(target=lambda: print(tf.constant(1).name))
        thread.start()
        thread.join()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            print(sess.run(y, feed_dict={x: [[1, 2], [3, 4]]})[0, 0])
        tf.reset_default_graph()
        print(len(tf.get_default_graph().get_operations()), tf.constant(2.0).name)
        tf.enable_eager_execution()
        print(float(tf.constant(2.0)))
        """
    )
    assert said == ["False", "False", "Const:0", "10.0", "0", "Const:0", "2.0"]


@pytest.mark.parametrize("name", ["train.Saver", "layers.dense", "summary.scalar"])
def test_what_is_not_there_yet_says_so(name):
    made = v1
    for part in name.split("."):
        made = getattr(made, part)
    with pytest.raises(NotImplementedError, match="E1105"):
        made()


def test_the_programs_of_the_page_run():
    page = pathlib.Path(__file__).parents[2] / "docs" / "graphs-by-hand.md"
    programs = re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
    assert [run(program) for program in programs] == [
        "y = 2.00 x + 1.00".split(),
        "[[3.0], [7.0]]".split(),
    ]


# Errors.


def test_a_path_leads_from_the_fetch_to_the_placeholder(graph):
    x = v1.placeholder(tf.float32, [], name="x")
    y = v1.placeholder(tf.float32, [], name="y")
    total = tf.sqrt(x * y, name="root")
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        v1.Session().run(total, {x: 1.0})
    said = caught.value.diagnostic
    assert said.code == "E0801"
    assert [step.py_name for step in said.path] == ["total", "mul", "y"]
    assert "feed_dict={x: ..., y: ...}" in said.fixes[0].title


def test_a_session_that_ended_with_its_block_says_so(graph):
    x = tf.constant(1.0)
    with v1.Session() as sess:
        pass
    with pytest.raises(RuntimeError, match=r"E0802") as caught:
        sess.run(x)
    assert "into the `with`" in str(caught.value)


def test_a_finalized_graph_takes_nothing():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.constant(1.0)
        graph.finalize()
        for add, given in ((tf.square, x), (tf.constant, 1), (v1.placeholder, tf.float32), (tf.Variable, 1)):
            with pytest.raises(RuntimeError, match="E0803"):
                add(given)
        assert v1.Session().run(x) == 1.0
    assert graph.finalized


def test_graphs_do_not_mix():
    one, two = tf.Graph(), tf.Graph()
    with one.as_default():
        a = tf.constant(1.0)
    with two.as_default():
        b = tf.constant(2.0)
        with pytest.raises(ValueError, match="E0110"):
            a + b
        with pytest.raises(ValueError, match="E0111"):
            v1.Session().run(a)
        with pytest.raises(ValueError, match="not an element of this graph"):
            v1.Session().run(a.op)


def test_a_value_asked_of_a_graphs_tensor_is_refused(graph):
    x = tf.constant(1.0)
    with pytest.raises(AttributeError, match=r"sess.run\(x\)|sess.run\(Const\)"):
        x.numpy()


def test_prints_and_checks_are_operations_of_the_graph(capsys):
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None], name="x")
        say = tf.print("x is", x, output_stream=sys.stdout, name="say")
        check = tf.debugging.assert_positive(x, message="no way")
        assert say.name == "say" and say.type == "PrintV2" and check.type == "AssertElements"
        with tf.control_dependencies([say, check]):
            y = x * 2
        with v1.Session() as sess:
            assert sess.run(y, {x: [1.5]}).tolist() == [3]
            assert capsys.readouterr().out == "x is [1.5]\n"
            with pytest.raises(tf.errors.InvalidArgumentError, match="no way"):
                sess.run(y, {x: [-1.0]})
            capsys.readouterr()
            sess.run(x + 1, {x: [-1.0]})  # nobody asked for the print or the check
            assert capsys.readouterr().out == ""
