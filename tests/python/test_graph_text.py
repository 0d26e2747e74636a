"""Graphs as text: what is written reads back as the same graph, which computes the same."""

import pathlib
import re
import sys

import numpy as np
import pytest
import samples

import holdfast as tf
from holdfast import _holdfast


def traced(code, *args):
    """`code` as a function that was traced and called once, and its graph."""
    function = tf.function(code, autograph=False)
    result = function(*args)
    return result, function._traces[0].concrete


def tensors_of(result):
    return [t for t in tf.nest.flatten(result) if isinstance(t, tf.Tensor)]


def sample_function(case):
    """A sample as a function of the arrays in it."""
    call = samples.call(*case)
    arrays = call.arrays()
    return (lambda *xs: call.run(dict(enumerate(xs)))), [tf.constant(a) for a in arrays]


def assert_same_bits(a, b):
    assert a.dtype == b.dtype
    assert tuple(a.shape) == tuple(b.shape)
    x, y = np.asarray(a.numpy()), np.asarray(b.numpy())
    assert x.tolist() == y.tolist() if x.dtype == object else x.tobytes() == y.tobytes()


def is_random(case):
    return not case[0].record["reference"]


@pytest.mark.parametrize("case", samples.cases(), ids=samples.case_id)
def test_a_samples_graph_reads_back(case):
    code, args = sample_function(case)
    try:
        _, graph = traced(code, *args)
    except (NotImplementedError, tf.errors.OperatorNotAllowedInGraphError) as refused:
        pytest.skip(f"is not traced: {refused}")
    again = _holdfast.through_text(graph)
    assert again.text() == graph.text()
    if is_random(case):
        return
    for a, b in zip(graph.call(args), again.call(args), strict=True):
        assert_same_bits(a, b)


def branches(x):
    scale = tf.reduce_sum(x)
    return tf.cond(scale > 0, lambda: x * scale, lambda: x - scale)


def loop(x):
    def body(i, total):
        return i + 1, tf.cond(i % 2 == 0, lambda: total + x, lambda: total * 2.0)

    return tf.while_loop(lambda i, _: i < 5, body, [tf.constant(0), x])[1]


def with_state(x):
    total.assign_add(x)
    return tf.cond(x[0] > 0, lambda: total.read_value() * 2.0, lambda: total.assign(x * 3.0) + 1.0)


total = tf.Variable([0.0, 0.0], name="total")


@pytest.mark.parametrize("code", [branches, loop, with_state])
def test_graphs_inside_graphs_read_back(code):
    x = tf.constant([1.0, -0.5])
    total.assign([1.0, 2.0])
    _, graph = traced(code, x)
    again = _holdfast.through_text(graph)
    assert again.text() == graph.text()
    assert "{\n    " in graph.text()
    for value in ([1.0, -0.5], [-1.0, 0.5]):
        results = []
        for function in (graph, again):
            total.assign([1.0, 2.0])
            results.append([t.numpy().tolist() for t in function.call([tf.constant(value)])])
            results[-1].append(total.numpy().tolist())
        assert results[0] == results[1]


def test_large_values_are_left_out():
    large = np.arange(1000, dtype=np.float32)
    _, graph = traced(lambda x: x + tf.constant(large), tf.constant(large))
    text = graph.text()
    assert "left_out 0" in text
    assert len(text) < 1000
    again = _holdfast.through_text(graph)
    assert_same_bits(again.call([tf.constant(large)])[0], tf.constant(large + large))


def test_a_text_that_is_no_graph_is_refused_with_its_place():
    with pytest.raises(tf.errors.InvalidArgumentError, match="line 3, column 7"):
        _holdfast.parse_graph("holdfast graph 1\nfunction f() {\n  a = Nothing()\n  return a\n}\n")


def test_a_graph_written_by_hand_runs():
    function = _holdfast.parse_graph(
        """holdfast graph 1
        function f(x) {
          x = Placeholder() : float32[2]
          two = Const() {value=float32[](2)}  # a comment
          y = Mul(x, two) : float32[2]
          return y
        }"""
    )
    assert function.call([tf.constant([1.0, 2.0])])[0].numpy().tolist() == [2.0, 4.0]


def test_the_page_on_graphs_shows_a_graph_and_lists_the_passes():
    page = (pathlib.Path(__file__).parents[2] / "docs" / "graphs.md").read_text()
    shown = re.search(r"```\n(holdfast graph 1\n.*?)```", page, re.DOTALL).group(1)
    assert _holdfast.parse_graph(shown).text() == shown
    rows = [f"| `{name}` | {doc} |" for name, doc in _holdfast.passes()]
    assert "\n".join(rows) in page


def test_prints_and_checks_read_back_from_the_text_alone(capsys):
    def code(x):
        tf.print("x is\n", {"x": x}, output_stream=sys.stdout)
        tf.debugging.assert_less(x, 5.0, message="too big")
        tf.debugging.assert_shapes([(x, ("N",))])
        tf.debugging.Assert(tf.reduce_all(x > 0.0), [x, "text"])
        return x

    _, graph = traced(code, tf.constant([1.0]))
    capsys.readouterr()
    again = _holdfast.parse_graph(graph.text())
    assert again.text() == graph.text()
    again.call([tf.constant([2.0])])
    assert capsys.readouterr().out == "x is\n {'x': [2]}\n"
    for bad, said in ((7.0, "too big"), (-1.0, "the data is")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=said):
            again.call([tf.constant([bad])])


def of_unknown_rank(case):
    """A sample's graph where nothing is known of the ranks of what it is given; none if it needs them."""
    code, args = sample_function(case)
    specs = [tf.TensorSpec(None, a.dtype) for a in args]
    try:
        function = tf.function(code, autograph=False, input_signature=specs)
        return function.get_concrete_function()._trace.concrete, args
    except (ValueError, TypeError, NotImplementedError, tf.errors.OpError):
        return None, args  # what ranks decide in it is no composition


def test_what_waits_for_ranks_is_known_by_its_name():
    """Compositions have no code in a graph: the text alone gives them back, as their gradients."""
    found = set()
    for case in samples.cases():
        if is_random(case):
            continue
        graph, args = of_unknown_rank(case)
        if graph is None or "= Deferred(" not in graph.text():
            continue
        text = graph.text()
        found |= set(re.findall(r'composition="(\w+)"', text))
        again = _holdfast.parse_graph(text)
        for a, b in zip(graph.call(args), again.call(args), strict=True):
            assert_same_bits(a, b)
    assert {"softmax", "matrix_transpose", "max_pool", "einsum", "boolean_mask"} <= found
    assert len(found) >= 20


def test_gradients_that_wait_for_ranks_read_back():
    @tf.function(input_signature=[tf.TensorSpec(None, tf.float32)])
    def slopes(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.linalg.matrix_transpose(x * x) * tf.nn.softmax(x, axis=0)
            first = tape.gradient(y, x)
        return first, outer.gradient(first, x)

    graph = slopes.get_concrete_function()._trace.concrete
    x = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    assert 'composition="formula"' in graph.text() and "pulled=" in graph.text()
    again = _holdfast.parse_graph(graph.text())
    for a, b, c in zip(graph.call([x]), again.call([x]), slopes(x), strict=True):
        assert_same_bits(a, b)
        assert_same_bits(a, c)


def test_a_composition_that_nobody_knows_is_refused_by_name():
    function = _holdfast.parse_graph(
        """holdfast graph 1
        function f(x) {
          x = Placeholder() : float32[]
          y = Deferred(x) {composition="nothing", dtypes=strings["float32"], sizes=[0]} : float32[]
          return y
        }"""
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="no composition `nothing`"):
        function.call([tf.constant(1.0)])


@pytest.mark.parametrize(
    "attributes",
    [
        'composition="softmax", dtypes=strings["float32"], sizes=[0], pulled=[5, 1, 1]',
        'composition="softmax", dtypes=strings["float32"], sizes=[0], pulled=[1, 100, 1]',
        'composition="softmax", dtypes=strings["float32"], sizes=[0], pulled=[1, 0, 0]',
        'composition="softmax", dtypes=strings["float32", "float32"], sizes=[0, 0]',
        'composition="conv_transpose", dtypes=strings["float32"], sizes=[0]',
        'composition="formula", dtypes=strings["float32"], sizes=[0], argument_0="Shape"',
        'composition="formula", dtypes=strings["float32"], sizes=[0], argument_0="Deferred"',
        'composition="formula", dtypes=strings["float32"], sizes=[0], argument_0="Tanh", argument_1=[1, 1, 0, 0, 1, 99]',
        'composition="softmax", dtypes=strings["float32"], sizes=[1099511627776]',
    ],
)
def test_a_composition_that_somebody_wrote_wrongly_is_refused(attributes):
    outputs = "y, z" if '"float32", "float32"' in attributes else "y"
    types = "float32[], float32[]" if "z" in outputs else "float32[]"
    text = f"""holdfast graph 1
        function f(x) {{
          x = Placeholder() : float32[2]
          {outputs} = Deferred(x) {{{attributes}}} : {types}
          return y
        }}"""
    with pytest.raises((tf.errors.OpError, TypeError, ValueError)) as refused:
        _holdfast.parse_graph(text).call([tf.constant([1.0, 2.0])])
    assert "E1599" not in str(refused.value)
