"""Graphs by hand: ops by type, places, gradients of one's own, what sessions may not do."""

import pytest

import holdfast as tf

v1 = tf.compat.v1


def test_create_op_adds_an_op_of_a_type(graph):
    x, y = tf.constant(2.0), tf.constant(3.0)
    op = graph.create_op("Mul", [x, y], [tf.float32], name="product")
    assert (op.name, op.type, op.inputs) == ("product", "Mul", (x, y)) or op.name == "product"
    cast = graph.create_op("Cast", [x], [tf.int32], attrs={"DstT": tf.int32})
    pack = graph.create_op("Pack", [x, y, op.outputs[0]], attrs={"axis": 0})
    with v1.Session() as sess:
        assert sess.run(op.outputs[0]) == 6.0
        assert sess.run(cast.outputs[0]) == 2
        assert sess.run(pack.outputs[0]).tolist() == [2.0, 3.0, 6.0]
    with pytest.raises(NotImplementedError, match="NoSuchOp"):
        graph.create_op("NoSuchOp", [], [])
    with pytest.raises(TypeError):
        graph.create_op("Mul", [x], [tf.float32])
    with pytest.raises(TypeError):
        graph.create_op("Mul", [x, y], [tf.int32])
    graph.finalize()
    with pytest.raises(RuntimeError):
        graph.create_op("Mul", [x, y], [tf.float32])


def test_ops_wait_only_for_what_their_inputs_do_not_wait_for(graph):
    a, b, x = tf.constant(1.0), tf.constant(2.0), tf.constant(3.0)
    with graph.control_dependencies([a]):
        y = tf.identity(x)
        z = tf.identity(y)
        on_a = tf.identity(a)
        with graph.control_dependencies([b]):
            w = tf.identity(y)
            with graph.control_dependencies(None):
                free = tf.identity(x)
    found = [[c.name for c in t.op.control_inputs] for t in (y, z, on_a, w, free)]
    assert found == [[a.op.name], [], [], [b.op.name], []]


def test_colocated_ops_say_with_what(graph):
    a = tf.constant(1.0, name="a")
    with graph.colocate_with(a.op):
        b = tf.constant(2.0, name="b")
        with graph.colocate_with(None, ignore_existing=True):
            c = tf.constant(3.0, name="c")
        d = tf.constant(4.0, name="d")
    with graph.colocate_with(b):
        e = tf.constant(5.0, name="e")
    groups = [t.op.colocation_groups() for t in (a, b, c, d, e)]
    assert groups == [[b"loc:@a"], [b"loc:@a"], [b"loc:@c"], [b"loc:@a"], [b"loc:@a"]]
    with pytest.raises(ValueError):
        graph.colocate_with(None).__enter__()


def test_colocated_ops_run_where_the_other_does(graph):
    with graph.device("/CPU:0"):
        a = tf.constant(1.0) * 2
    with graph.colocate_with(a.op):
        b = tf.square(a)
    assert b.op.device == a.op.device != ""


def test_a_device_function_sees_each_op(graph):
    seen = []

    def place(op):
        seen.append(op.type)
        return "/CPU:0" if op.type == "Square" else ""

    with graph.device(place):
        x = tf.constant(1.0)
        y = tf.square(x) + x
    assert seen == ["Const", "Square", "AddV2"]
    assert [op.device != "" for op in graph.get_operations()] == [False, True, False]
    with v1.Session() as sess:
        assert sess.run(y) == 2.0


def test_gradients_can_be_replaced(graph):
    @tf.RegisterGradient("TenTimes")
    def ten_times(op, dy):
        return dy * 10 * op.inputs[0]

    x = tf.constant(3.0)
    with graph.gradient_override_map({"Square": "TenTimes"}):
        y = tf.square(x)
    z = tf.square(x)
    with v1.Session() as sess:
        assert sess.run(tf.gradients(y + z, x)) == [36.0]
    with graph.gradient_override_map({"Square": "NobodyKnows"}), pytest.raises(LookupError):
        tf.square(x)
    with pytest.raises(KeyError):
        tf.RegisterGradient("TenTimes")(ten_times)
    with pytest.raises(TypeError):
        graph.gradient_override_map({"Square": 3}).__enter__()


def test_sessions_may_be_kept_from_feeding_and_fetching(graph):
    x = tf.constant(1.0)
    y = x * 2
    graph.prevent_feeding(x)
    graph.prevent_fetching(y.op)
    assert (graph.is_feedable(x), graph.is_fetchable(y), graph.is_fetchable(x)) == (
        False,
        False,
        True,
    )
    with v1.Session() as sess:
        assert sess.run(x) == 1.0
        with pytest.raises(ValueError, match="may not be fed"):
            sess.run(x, {x: 2.0})
        for fetch in (y, y.op):
            with pytest.raises(ValueError, match="may not be fetched"):
                sess.run(fetch)


@pytest.mark.parametrize("where", ["graph", "branch"])
def test_init_scope_stays_in_a_graph_and_waits_for_nothing(graph, where):
    first = tf.constant(1.0)
    made = []

    def make():
        with graph.control_dependencies([first]), tf.name_scope("s"), tf.init_scope():
            assert not tf.executing_eagerly()
            made.append(tf.constant(2.0, name="x"))
        return tf.constant(0.0)

    make() if where == "graph" else tf.cond(v1.placeholder(tf.bool, []), make, make)
    assert made[0].graph is graph
    assert made[0].op.control_inputs == []
    assert made[0].op.name.endswith("x")
    with v1.Session() as sess:
        assert sess.run(made[0]) == 2.0


def test_init_scope_leaves_functions():
    @tf.function
    def f():
        with tf.init_scope():
            assert tf.executing_eagerly()
            assert tf.constant(1.0).numpy() == 1.0
        return tf.constant(2.0)

    assert f().numpy() == 2.0
