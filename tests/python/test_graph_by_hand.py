"""Graphs that a program writes by hand: nodes, names, collections, text, and what they refuse."""

import gc
import sys
import weakref

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


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
    assert names == [
        "x:0",
        "add:0",
        "add_1:0",
        "sub:0",
        "mul:0",
        "truediv:0",
        "pow:0",
        "strided_slice:0",
        "Neg:0",
    ]
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


@pytest.mark.parametrize(
    "make",
    [
        lambda x: tf.map_fn(lambda row: row * 2, x, name="mine"),
        lambda x: tf.foldl(lambda a, b: a + b, x, name="mine"),
        lambda x: tf.scan(lambda a, b: a + b, x, name="mine"),
        lambda x: tf.cond(x[0] > 0, lambda: x + 1, lambda: x, name="mine"),
        lambda x: tf.switch_case(tf.cast(x[0], tf.int32), [lambda: x, lambda: -x], name="mine"),
        lambda x: tf.debugging.assert_positive(x, name="mine"),
        lambda x: tf.debugging.check_numerics(x, "no number", "mine"),
        lambda x: tf.TensorArray(tf.float32, 2).unstack(x, name="mine").stack(name="mine"),
        lambda x: tf.io.decode_csv(tf.strings.as_string(x), [0.0], name="mine"),
        lambda x: v1.scatter_add(tf.Variable([1.0, 2.0]), [0], x[:1], name="mine"),
        lambda x: tf.RaggedTensor.from_row_splits(x, [0, 2], name="mine"),
        lambda x: tf.RaggedTensor.from_row_splits(x, [0, 2]).to_tensor(name="mine"),
        lambda x: tf.RaggedTensor.from_row_splits(x, [0, 2]).row_lengths(name="mine"),
        lambda x: tf.reduce_sum(tf.RaggedTensor.from_row_splits(x, [0, 2]), 1, name="mine"),
        lambda x: tf.reduce_sum(tf.RaggedTensor.from_row_splits(x, [0, 2]), 1, False, "mine"),
        lambda x: tf.ragged.range(x, name="mine"),
        lambda x: tf.strings.split(tf.strings.as_string(x), name="mine"),
        lambda x: tf.sparse.from_dense(x, name="mine"),
        lambda x: tf.sparse.to_dense(tf.sparse.from_dense(x), name="mine"),
        lambda x: tf.sparse.reduce_sum(tf.sparse.from_dense(x), name="mine"),
        lambda x: tf.size(tf.sparse.from_dense(x), name="mine"),
        lambda x: tf.__operators__.add(x, 1.0, name="mine"),
    ],
)
def test_a_name_is_the_scope_of_what_a_function_makes(graph, make):
    make(v1.placeholder(tf.float32, [2]))
    assert any(op.name.startswith("mine/") for op in graph.get_operations())


def test_a_name_goes_to_the_op_on_the_values_of_a_tensor_of_several(graph):
    x = v1.placeholder(tf.float32, [2])
    rows, sparse = tf.RaggedTensor.from_row_splits(x, [0, 2]), tf.sparse.from_dense(x)
    assert tf.abs(rows, name="a").flat_values.op.name == "a"
    assert tf.abs(rows, "b").flat_values.op.name == "b"
    assert tf.add(rows, rows, name="c").flat_values.op.name == "c"
    assert tf.abs(sparse, name="d").values.op.name == "d"


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
    with pytest.raises(KeyError, match=r"did you mean 'x:0'"):
        graph.get_tensor_by_name("xx:0")
    with pytest.raises(KeyError, match="no operation called 'nothing'"):
        graph.get_operation_by_name("nothing")
    with pytest.raises(ValueError, match="'x' names an operation; its tensors are 'x:0'"):
        graph.get_tensor_by_name("x")
    with pytest.raises(KeyError, match="'x' has 1 output"):
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
    with pytest.raises(ValueError, match="no attribute `nothing`"):
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
    with tf.Graph().as_default(), pytest.raises(AssertionError, match="another is the default"):
        v1.reset_default_graph()


def test_a_graph_has_tensorflows_form(graph):
    x = v1.placeholder(tf.float32, [None, 2], name="x")
    z = v1.placeholder(tf.float32, [], name="z")
    with tf.control_dependencies([x, z]):
        tf.matmul(x, [[1.0], [2.0]], name="y")  # it takes `x`, and so waits for it
    written = graph.as_graph_def()
    nodes = {node.name: node for node in v1.GraphDef.FromString(written.SerializeToString()).node}
    assert list(nodes) == ["x", "z", "y/b", "y"]
    assert (nodes["y"].op, nodes["y"].input) == ("MatMul", ["x", "y/b", "^z"])
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
        for add, given in (
            (tf.square, x),
            (tf.constant, 1),
            (v1.placeholder, tf.float32),
            (tf.Variable, 1),
        ):
            with pytest.raises(RuntimeError, match="E0803"):
                add(given)
        assert v1.Session().run(x) == 1.0
    assert graph.finalized


def test_graphs_do_not_mix():
    one, two = tf.Graph(), tf.Graph()
    with one.as_default():
        a, nothing = tf.constant(1.0), tf.no_op(name="nothing")
    with two.as_default():
        b = tf.constant(2.0)
        with pytest.raises(ValueError, match="E0110"):
            a + b
        with pytest.raises(ValueError, match="E0111"):
            v1.Session().run(a)
        with pytest.raises(ValueError, match="E0111.*`a.op` belongs to the graph `one`"):
            v1.Session().run(a.op)
        with pytest.raises(ValueError, match="E0111.*`nothing` belongs to another graph"):
            v1.Session().run(nothing)


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


class Box:
    """Holds a list that its own code makes."""

    def __init__(self):
        self.items = [tf.constant(3)]


def test_a_graph_by_hand_refuses_objects_that_iterations_make():
    def f(n):
        while n > 0:
            box = Box()
            box.items[0] = box.items[0] + n
            n -= 1
        return box.items[0]

    with tf.Graph().as_default():
        n = v1.placeholder(tf.int32, [])
        with pytest.raises(tf.errors.UnimplementedError, match="E1105.*that an iteration makes"):
            tf.autograph.to_graph(f)(n)
    assert int(tf.function(f)(tf.constant(5))) == 4
