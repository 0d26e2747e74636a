"""The graph of a traced function as an object: its operations, its names, what it takes and gives."""

import gc

import numpy as np
import pytest

import holdfast as tf

S = tf.TensorSpec


@tf.function
def sums(a, b):
    return {"sum": a + b, "pair": (a, 7)}


def test_the_symbols_of_a_function_are_outputs_of_its_operations():
    one = sums.get_concrete_function(S([None]), S([]))
    assert [t.op.name for t in one.inputs] == ["a", "b"]
    assert [t.op.get_attr("_user_specified_name") for t in one.inputs] == [b"a", b"b"]
    assert all(t.graph is one.graph for t in one.inputs + one.outputs)
    added = one.structured_outputs["sum"]
    assert added.op.type == "AddV2"
    assert [t.op.name for t in added.op.inputs] == ["a", "b"]
    assert one.graph.get_operation_by_name(added.op.name) is added.op
    assert one.graph.get_tensor_by_name(added.name).op is added.op
    assert added.op in one.graph.get_operations()
    assert one.structured_outputs["pair"][0].op.name == "a"
    with pytest.raises(KeyError, match="no operation called 'ad'"):
        one.graph.get_operation_by_name("ad")


def test_a_graph_tells_its_variables_captures_and_effects():
    v, w = tf.Variable(1.0), tf.Variable(2.0, trainable=False)
    c = tf.constant([3.0])

    @tf.function
    def f(x):
        v.assign_add(1.0)
        return x * w * c

    one = f.get_concrete_function(S([]))
    graph = one.graph
    assert {id(x) for x in graph.variables} == {id(v), id(w)} == {id(x) for x in one.variables}
    assert [x is v for x in graph.trainable_variables] == [True]
    assert any(outer.ref() == c.ref() for outer in graph.external_captures)
    assert len(graph.captures) == len(graph.internal_captures) == len(graph.inputs) - 1
    assert "AssignAddVariableOp" in [op.type for op in graph.control_outputs]
    assert graph.building_function and graph.finalized
    assert graph.outer_graph is tf.compat.v1.get_default_graph()


def test_while_a_function_is_traced_its_graph_is_the_default():
    seen = []

    @tf.function
    def f(x):
        graph = tf.compat.v1.get_default_graph()
        y = tf.square(x)
        seen.append((graph is x.graph, graph.building_function, y.op.type, graph.finalized))
        with graph.as_default():
            y = y + 1
        tf.compat.v1.add_to_collection("mine", y)
        seen.append(graph.get_collection("mine")[0].ref() == y.ref())
        return y

    assert float(f(tf.constant(3.0))) == 10.0
    assert seen == [(True, True, "Square", False), True]
    graph = f.get_concrete_function(tf.constant(1.0)).graph
    with pytest.raises(NotImplementedError, match="outside of its trace"), graph.as_default():
        pass


def test_the_graph_outlives_its_function():
    made = tf.function(lambda x: x + 1)
    graph = made.get_concrete_function(S([])).graph
    del made
    gc.collect()
    assert graph.captures == []
    assert [op.type for op in graph.get_operations()] == ["Placeholder", "Const", "AddV2"]


def test_the_order_of_a_function_stays_as_its_code_says():
    one = sums.get_concrete_function(S([]), S([]))
    first, second = one.graph.get_operations()[:2]
    with pytest.raises(NotImplementedError, match="order can't be changed"):
        second._add_control_input(first)


def test_arguments_are_called_by_their_parameters_or_specifications():
    @tf.function
    def f(x, *rest, **named):
        return x + tf.add_n([*rest, *named.values()])

    one = f.get_concrete_function(S([]), S([], name="y"), S([]), z=S([]), zz=S([], name="last"))
    assert [t.op.name for t in one.inputs] == ["x", "y", "rest_1", "z", "last"]
    values = [tf.constant(float(i)) for i in range(5)]
    assert float(one(*values[:3], z=values[3], zz=values[4])) == 10.0

    @tf.function(input_signature=[S(None), S(None, name="q"), S([])])
    def g(x, *rest):
        return x + tf.add_n(list(rest))

    g(1.0, 2.0, 3.0)
    assert [t.op.name for t in g.get_concrete_function().inputs] == ["x", "q", "rest_1"]


def test_specifications_with_other_names_make_another_face_of_the_trace():
    @tf.function
    def f(pair):
        return pair[0] - pair[1]

    plain = f.get_concrete_function((S([]), S([])))
    named = f.get_concrete_function((S([], name="high"), S([], name="low")))
    assert f.experimental_get_tracing_count() == 1
    two, three = tf.constant(2.0), tf.constant(3.0)
    assert float(named(low=two, high=three)) == 1.0
    assert float(plain(two, three)) == -1.0
    assert named.structured_input_signature[0][0][1].name == "low"
    assert f.get_concrete_function((S([]), S([]))) is plain


def test_a_concrete_function_refuses_what_it_was_not_traced_for():
    @tf.function
    def f(x, y=5, *more, **named):
        return x

    one = f.get_concrete_function(1, tf.constant(2))
    with pytest.raises(TypeError, match="needs the argument `y`"):
        one(1)
    more = f.get_concrete_function(1, 2, tf.constant(1.0))
    with pytest.raises(TypeError, match="needs the argument `more_0`"):
        more(1, 2)
    named = f.get_concrete_function(1, 2, c=tf.constant(1.0))
    with pytest.raises(TypeError, match="needs the argument `c`"):
        named(1, 2)
    plain = f.get_concrete_function(1, 2)
    with pytest.raises(TypeError, match="got 3 positional arguments, expected 2"):
        plain(1, 2, 3)
    with pytest.raises(TypeError, match="has no argument `c`; it has `x`, `y`"):
        plain(1, 2, c=tf.constant(1.0))
    with pytest.raises(TypeError, match="got two values for `x`"):
        plain(1, 2, x=3)


def test_a_concrete_function_shows_its_signature():
    @tf.function
    def f(x, by=2, *, to=None):
        return x * by

    one = f.get_concrete_function(S([3]))
    kind = "TensorSpec(shape=(3,), dtype=tf.float32, name=None)"
    line = f"(x: {kind}, by: Literal[2], *, to: Literal[None]) -> {kind}"
    assert one.pretty_printed_signature(verbose=False) == line
    assert "by (POSITIONAL_OR_KEYWORD): Literal[2]" in one.pretty_printed_signature()
    assert str(one) == "ConcreteFunction " + one.pretty_printed_signature()
    assert repr(one).startswith("<ConcreteFunction f(x: ")
    odd = tf.function(lambda **k: k["a/b"] + k["a_b"]).get_concrete_function(
        **{"a/b": S([]), "a_b": S([])}
    )
    assert len(odd.function_type.parameters) == 2
    np.testing.assert_array_equal(odd(**{"a/b": tf.constant(1.0), "a_b": tf.constant(2.0)}), 3.0)
