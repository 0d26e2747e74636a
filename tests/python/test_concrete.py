"""Concrete functions: one trace as an object that is called, shown and looked into."""

import numpy as np
import pytest

import holdfast as tf


@tf.function
def scaled(x, times=2):
    return x * times


def test_every_trace_is_a_concrete_function():
    @tf.function
    def f(x, times=2):
        return x * times

    assert f._list_all_concrete_functions() == []
    f(tf.constant(1.0))
    f(tf.constant([1.0, 2.0]), times=3)
    first, second = f._list_all_concrete_functions()
    assert float(first(tf.constant(5.0))) == 10.0
    np.testing.assert_array_equal(second(tf.constant([1.0, 2.0])), [3.0, 6.0])


def test_a_concrete_function_tells_what_it_takes_and_gives():
    one = scaled.get_concrete_function(tf.TensorSpec([None, 3]), times=4)
    (x, times), keywords = one.structured_input_signature
    assert (x.shape.as_list(), x.dtype, times, keywords) == ([None, 3], tf.float32, 4, {})
    assert one.structured_outputs.shape.as_list() == [None, 3]
    assert (one.name, len(one.inputs), len(one.outputs)) == ("scaled", 1, 1)
    np.testing.assert_array_equal(one(tf.ones((2, 3))), np.full((2, 3), 4.0))
    np.testing.assert_array_equal(one.inference_fn(tf.ones((1, 3)))[0], [[4.0, 4.0, 4.0]])


def test_a_concrete_function_takes_no_other_kind_of_argument():
    one = scaled.get_concrete_function(tf.TensorSpec([3]))
    with pytest.raises(ValueError, match=r"expected float32"):
        one(tf.ones((4,)))
    with pytest.raises(TypeError, match="was traced for `times=2`"):
        one(tf.ones((3,)), times=5)


S = tf.TensorSpec


def test_the_input_signature_says_what_is_left_out():
    @tf.function(input_signature=[S([None, 2]), S([], tf.int32)])
    def f(x, n):
        return x * tf.cast(n, tf.float32)

    x = tf.ones([3, 2])
    for made in (
        f.get_concrete_function(),
        f.get_concrete_function(S([None, 2])),
        f.get_concrete_function(n=S([], tf.int32)),
    ):
        assert made(x, tf.constant(2)).numpy().tolist() == [[2.0, 2.0]] * 3
    assert f.experimental_get_tracing_count() == 1


def test_signatures_of_methods_defaults_structures_and_any_number():
    @tf.function(input_signature=[S([None])])
    def scaled(x, scale=2.0):
        return x * scale

    @tf.function(input_signature=[{"a": S([]), "b": [S([2])]}])
    def nested(d):
        return d["a"] + d["b"][0]

    @tf.function(input_signature=[S([]), S([])])
    def any_number(*xs):
        return xs[0] - xs[1]

    class Model(tf.Module):
        @tf.function(input_signature=[S([None])])
        def call(self, x):
            return x + 1

    one, two = tf.constant(1.0), tf.constant([1.0, 2.0])
    assert scaled.get_concrete_function()(two).numpy().tolist() == [2.0, 4.0]
    assert nested.get_concrete_function()({"a": one, "b": [two]}).numpy().tolist() == [2.0, 3.0]
    assert any_number.get_concrete_function()(one, one).numpy() == 0.0
    assert Model().call.get_concrete_function()(two).numpy().tolist() == [2.0, 3.0]


def test_a_trace_has_one_concrete_function():
    f = tf.function(lambda x: x + 1)
    spec = tf.TensorSpec([], tf.int32)
    first = f.get_concrete_function(spec)
    assert f.get_concrete_function(spec) is first


def test_an_input_signature_says_something_of_each_argument_without_a_default():
    spec = tf.TensorSpec([], tf.int32)
    assert tf.function(lambda a, b=4, **_: a + b, input_signature=[spec])(1).numpy() == 5
    with pytest.raises(TypeError, match="says nothing of `b`"):
        tf.function(lambda a, b: a, input_signature=[spec])(1, 2)
    with pytest.raises(TypeError, match="expected specifications"):
        tf.function(lambda a, b: a, input_signature=[(2, 3), spec])


def test_arguments_are_nested_as_they_were_traced():
    f = tf.function(lambda d: d["p"][0] + d["q"])
    one = f.get_concrete_function({"p": [S([])], "q": S([])})
    x, y = tf.constant(2.0), tf.constant(5.0)
    assert float(one({"q": y, "p": [x]})) == 7.0
    for wrong in ({"p": [x, x], "q": y}, {"p": [x], "r": y}, {"p": x, "q": y}, [[x], y]):
        with pytest.raises(TypeError, match="argument `d` is nested in another way"):
            one(wrong)


def test_a_list_stands_for_a_tensor():
    one = tf.function(lambda x, k=1: x * 2).get_concrete_function(S([2]))
    assert one([1.0, 2.0]).numpy().tolist() == [2.0, 4.0]


def test_a_variable_may_be_given_again_and_is_known_by_itself():
    v, same = tf.Variable(3.0), tf.Variable(3.0)
    one = tf.function(lambda a, b=2.0: a * b).get_concrete_function(v)
    assert float(one(v)) == float(one()) == 6.0
    with pytest.raises(TypeError, match="was traced for `a="):
        one(same)
    pair = tf.function(lambda p: p[0] * 1.0).get_concrete_function([v])
    with pytest.raises(TypeError, match="was traced for `p="):
        pair([same])


def test_a_keyword_that_nobody_may_leave_out_is_no_part_of_an_input_signature():
    def f(a, *, k):
        return a + k

    with pytest.raises(TypeError, match="says nothing of `k`.*\n(.*\n)*.*before the `\\*`"):
        tf.function(f, input_signature=[S([]), S([])])(1.0, k=2.0)
