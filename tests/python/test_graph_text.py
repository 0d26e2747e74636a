"""Graphs as text: what is written reads back as the same graph, which computes the same."""

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
