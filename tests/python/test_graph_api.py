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
    known_nowhere = graph.create_op("NoSuchOp", [x], [tf.int32, tf.float32], name="odd")
    assert (known_nowhere.type, known_nowhere.op_def.name) == ("NoSuchOp", "NoSuchOp")
    assert [t.dtype for t in known_nowhere.outputs] == [tf.int32, tf.float32]
    assert known_nowhere.outputs[1].shape.rank is None
    with v1.Session() as sess:
        assert sess.run(x) == 2.0
        with pytest.raises(NotImplementedError, match="NoSuchOp"):
            sess.run(known_nowhere.outputs[0])
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


def test_name_scopes_belong_to_a_graph():
    one, two = tf.Graph(), tf.Graph()
    with one.as_default(), tf.name_scope("a"):
        with two.as_default():
            assert two.get_name_scope() == ""
            assert tf.constant(1.0, name="x").op.name == "x"
            with one.as_default():
                assert tf.constant(1.0, name="x").op.name == "a/x"
        assert tf.constant(1.0, name="y").op.name == "a/y"
    with one.name_scope("b") as scope:
        assert scope == "b/"
        assert tf.constant(1.0).numpy() == 1.0  # another graph's scope is none of eager code
        assert one.unique_name("n") == "b/n"
        with one.as_default():
            assert tf.constant(1.0, name="x").op.name == "b/x"
    with one.as_default():
        assert tf.constant(1.0, name="x").op.name == "x"


@pytest.mark.parametrize("name", ["_", "foo:0", "a b", "_bar"])
def test_names_that_ops_cannot_have_are_refused(graph, name):
    with pytest.raises(ValueError, match="no name for a scope"), tf.name_scope(name):
        pass
    with tf.name_scope("foo/"), tf.name_scope("_bar"):
        pass


def test_a_free_name_is_not_taken_by_asking(graph):
    assert graph.unique_name("foo", mark_as_used=False) == "foo"
    assert graph.unique_name("foo") == "foo"
    assert graph.unique_name("foo", mark_as_used=False) == "foo_1"
    assert graph.unique_name("foo") == "foo_1"


def test_old_name_scopes_enter_the_graph_of_their_values():
    one, two = tf.Graph(), tf.Graph()
    with one.as_default():
        a = tf.constant(1.0)
    with two.as_default():
        b = tf.constant(1.0)
    with v1.name_scope(None, "default", [a]) as scope:
        assert (scope, v1.get_default_graph()) == ("default/", one)
    with pytest.raises(ValueError, match="several graphs"), v1.name_scope("s", values=[a, b]):
        pass
    with pytest.raises(ValueError):
        v1.name_scope(None, values=[a])


def test_device_contexts_end_in_the_order_in_which_they_began():
    outer = tf.device("/CPU:0")
    outer.__enter__()
    with tf.device("/CPU:0"), pytest.raises(RuntimeError, match="still open"):
        outer.__exit__(None, None, None)
    outer.__exit__(None, None, None)


def test_dimensions_compute_and_unknown_stays_unknown():
    four, unknown = v1.Dimension(4), v1.Dimension(None)
    assert [(four + 3).value, (9 - four).value, (four * 2).value] == [7, 5, 8]
    assert [(four // 3).value, (9 % four).value, [1] * four] == [1, 1, [1] * 4]
    assert (unknown + 1).value is None
    assert (four < unknown) is None
    assert four > 3
    assert not v1.Dimension(0)
    assert four.merge_with(unknown) == 4
    with pytest.raises(ValueError):
        four.merge_with(5)
    with pytest.raises(TypeError):
        four / 2


def test_old_device_specs_can_be_changed():
    spec = v1.DeviceSpec(job="foo", replica=12, device_type="gpu")
    spec.task = 3
    assert spec.to_string() == "/job:foo/replica:12/task:3/device:GPU:*"
    spec.merge_from(v1.DeviceSpec.from_string("/job:muu/device:MyDevice:2"))
    assert spec.to_string() == "/job:muu/replica:12/task:3/device:MyDevice:2"
    spec.parse_from_string("/cpu:1")
    assert spec.to_string() == "/device:CPU:1"


def test_a_name_that_ends_with_a_slash_is_the_whole_name(graph):
    with tf.name_scope("s") as scope:
        a = tf.constant(1.0, name=scope)
        b = tf.add(a, a, name="t/")
        c = tf.identity(b, name="t/")
    assert [t.op.name for t in (a, b, c)] == ["s", "t", "t_1"]
    assert graph.get_tensor_by_name("t:0") is not None
    assert tf.constant(1.0, name="s").op.name == "s_1"
