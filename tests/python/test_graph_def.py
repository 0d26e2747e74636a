"""Graphs in TensorFlow's own format: the order of inputs, and bodies as functions of a library."""

import pytest

import holdfast as tf

v1 = tf.compat.v1


@pytest.fixture
def graph():
    made = tf.Graph()
    with made.as_default():
        yield made


def nodes_of(graph, op):
    return [node for node in graph.as_graph_def().node if node.op == op]


def test_a_concatenation_has_its_axis_last(graph):
    a, b = (v1.placeholder(tf.float32, [2, 3], name=name) for name in "ab")
    tf.concat([a, b], 1, name="both")
    (both,) = nodes_of(graph, "ConcatV2")
    assert both.input == ["a", "b", "both/axis"]
    assert both.attr["N"] == b"\x18\x02"


def test_a_split_has_its_axis_first(graph):
    x = v1.placeholder(tf.float32, [4, 2], name="x")
    axis = tf.constant(1, name="axis")
    tf.raw_ops.Split(axis=axis, value=x, num_split=2)
    (split,) = nodes_of(graph, "Split")
    assert split.input == ["axis", "x"]
    tf.split(x, [1, 3])
    (pieces,) = nodes_of(graph, "SplitV")
    assert pieces.input[0] == "x"


def body(graph, name):
    return {f.name: f for f in graph.as_graph_def().functions}[name]


def test_branches_are_functions_of_everything_that_both_capture(graph):
    x, y = (v1.placeholder(tf.float32, [], name=name) for name in "xy")

    def grown():
        return x * 2.0

    def shrunk():
        return y / 3.0

    tf.cond(x > y, grown, shrunk)
    (choice,) = nodes_of(graph, "StatelessIf")
    assert choice.input[1:] == ["x", "y"]
    assert choice.attr["then_branch"] == b"\x52\x07\x0a\x05grown"
    assert {"Tcond", "Tin", "Tout"} <= choice.attr.keys()
    yes, no = body(graph, "grown"), body(graph, "shrunk")
    assert yes.input_arg == no.input_arg == ["arg0", "arg1"]
    assert [node.op for node in yes.node_def] == ["Const", "Mul"]
    assert yes.node_def[-1].input[0] == "arg0"
    assert no.node_def[-1].input[0] == "arg1"
    assert list(yes.ret) == yes.output_arg == ["result0"]
    assert yes.ret["result0"] == "mul:z:0"


def test_a_loop_hands_on_what_it_captures(graph):
    most = v1.placeholder(tf.float32, [], name="most")
    step = v1.placeholder(tf.float32, [], name="step")

    def goes_on(x):
        return x < most

    def next_one(x):
        return [x + step]

    tf.while_loop(goes_on, next_one, [tf.constant(0.0)])
    (loop,) = nodes_of(graph, "StatelessWhile")
    assert loop.input[1:] == ["most", "step"]
    test, again = body(graph, "goes_on"), body(graph, "next_one")
    assert test.input_arg == again.input_arg == ["arg0", "arg1", "arg2"]
    assert test.node_def[-1].input == ["arg0", "arg1"]
    assert again.node_def[-1].input == ["arg0", "arg2"]
    assert len(test.ret) == 1
    assert list(again.ret.values())[1:] == ["arg1", "arg2"]


def test_bodies_inside_bodies_and_of_one_name(graph):
    x = v1.placeholder(tf.float32, [], name="x")

    def choose(y):
        return tf.cond(y > 0.0, lambda: y + 1.0, lambda: y - 1.0)

    tf.cond(x > 1.0, lambda: choose(x), lambda: choose(x * 2.0))
    names = [f.name for f in graph.as_graph_def().functions]
    assert len(names) == len(set(names)) == 6
    called = [
        f for f in graph.as_graph_def().functions if any(n.op == "StatelessIf" for n in f.node_def)
    ]
    assert len(called) == 2


def test_a_traced_function_has_its_bodies_too():
    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = x * 2.0
        return x

    written = f.get_concrete_function(tf.TensorSpec([], tf.float32)).graph.as_graph_def()
    loops = [node for node in written.node if node.op in ("While", "StatelessWhile")]
    assert len(loops) == 1 and len(written.functions) == 2
