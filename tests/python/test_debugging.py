"""Checks pass in silence, or stop with the name, the place and the values."""

import numpy as np
import pytest

import holdfast as tf

d = tf.debugging


def test_the_page_of_the_code_is_true():
    rate = tf.constant([0.1, -0.2])
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.debugging.assert_positive(rate)
    text = str(caught.value)
    assert text.startswith("error[E1106]: `assert_positive` failed: `rate[1]` is -0.2")
    assert "born here: `rate`, float32[2] from Const" in text and "checked here" in text
    assert "why: every element of `rate` must be greater than 0, and 1 of 2 is not." in text
    assert isinstance(caught.value, AssertionError) and isinstance(caught.value, ValueError)


A = tf.constant([1.0, 2.0])

PASSING = [
    lambda: d.assert_equal(A, [1.0, 2.0]),
    lambda: d.assert_none_equal(A, [3.0, 3.0]),
    lambda: d.assert_less(A, 3.0),
    lambda: d.assert_less_equal(A, [1.0, 2.0]),
    lambda: d.assert_greater(A, 0.0),
    lambda: d.assert_greater_equal(A, [1.0, 2.0]),
    lambda: d.assert_near(A, [1.0, 2.0000001]),
    lambda: d.assert_positive(A),
    lambda: d.assert_negative(-A),
    lambda: d.assert_non_negative(A),
    lambda: d.assert_non_positive(-A),
    lambda: d.assert_integer(tf.constant(1)),
    lambda: d.assert_rank(A, 1),
    lambda: d.assert_rank_at_least(A, 1),
    lambda: d.assert_rank_in(A, [0, 1]),
    lambda: d.assert_scalar(tf.constant(1)),
    lambda: d.assert_type(A, tf.float32),
    lambda: d.assert_all_finite(A, "m"),
    lambda: d.Assert(True, [A]),
    lambda: d.assert_shapes([(A, ("N",)), (tf.constant([[1.0, 2.0]]), (..., "N"))]),
    lambda: d.assert_shapes([(A, (None,)), (A, (2,)), (tf.constant(1.0), ())]),
    lambda: d.assert_proper_iterable([1]),
]


@pytest.mark.parametrize("check", PASSING)
def test_what_holds_passes(check):
    check()


FAILING = [
    (
        lambda: d.assert_equal(A, [1.0, 3.0], message="sizes"),
        ValueError,
        r"is 2\.0[\s\S]*is 3\.0[\s\S]*sizes",
    ),
    (lambda: d.assert_none_equal(A, [1.0, 3.0]), ValueError, "differ"),
    (lambda: d.assert_less(A, 2.0), ValueError, "less than"),
    (lambda: d.assert_less_equal(A, 1.0), ValueError, "at most"),
    (lambda: d.assert_greater(A, 5.0), ValueError, "greater than"),
    (lambda: d.assert_greater_equal(A, 1.5), ValueError, "at least"),
    (lambda: d.assert_near(A, [1.0, 2.1]), ValueError, "near"),
    (lambda: d.assert_positive(-A), ValueError, "greater than 0"),
    (lambda: d.assert_integer(A), TypeError, "integer dtype"),
    (lambda: d.assert_rank(A, 2), ValueError, "rank 2"),
    (lambda: d.assert_rank_at_least(A, 2), ValueError, "at least 2"),
    (lambda: d.assert_rank_in(A, [2, 3]), ValueError, r"\(2, 3\)"),
    (lambda: d.assert_scalar(A), ValueError, "no dimensions"),
    (lambda: d.assert_type(A, tf.int32), TypeError, "int32, and is float32"),
    (lambda: d.assert_shapes([(A, ("N",)), (tf.constant([1.0]), ("N",))]), ValueError, "size 2"),
    (lambda: d.assert_shapes([(A, (3,))]), ValueError, "size 3"),
    (lambda: d.assert_shapes([(A, ("N", "M"))]), ValueError, "rank 2"),
    (lambda: d.assert_all_finite(tf.constant([1.0, np.nan]), "bad"), ValueError, r"NaN[\s\S]*bad"),
    (
        lambda: d.check_numerics(tf.constant([np.inf, np.nan]), "bad"),
        ValueError,
        "Inf and NaN values",
    ),
    (lambda: d.Assert(False, [A, 3]), ValueError, r"\[1\. 2\.\]; 3"),
    (lambda: d.assert_proper_iterable(A), TypeError, "expected a list"),
    (
        lambda: d.assert_same_float_dtype([A, tf.constant(1.0, tf.float16)]),
        ValueError,
        "float16 after float32",
    ),
]


@pytest.mark.parametrize(("check", "kind", "text"), FAILING)
def test_what_does_not_hold_stops(check, kind, text):
    with pytest.raises(kind, match=text):
        check()


def test_answers():
    assert d.assert_same_float_dtype() == tf.float32 and d.is_numeric_tensor(A)
    assert not d.is_numeric_tensor(3) and not d.is_numeric_tensor(tf.constant("a"))
    assert d.check_numerics(A, "m").numpy().tolist() == [1, 2]
    assert not d.get_log_device_placement() and d.is_traceback_filtering_enabled()
    with pytest.raises(NotImplementedError):
        d.enable_check_numerics()


@pytest.mark.parametrize("module", [tf.debugging, tf.compat.v1])
def test_what_else_a_check_is_to_show_is_refused(module):
    with pytest.raises(tf.errors.UnimplementedError, match="`data` is not supported") as refused:
        module.assert_shapes([(A, (2,))], data=[A])
    assert refused.value.code == "E1105"


def test_a_shape_that_is_no_list_of_sizes_is_refused():
    pair = tf.constant([1, 2])
    with pytest.raises(ValueError, match="the shape of `pair` is 2, expected an iterable"):
        tf.debugging.assert_shapes([(pair, 2)])
    tf.debugging.assert_shapes([(pair, tf.TensorShape([2])), (pair, "N"), (pair, None)])
    tf.debugging.assert_shapes({tf.ones([2, 3]).ref(): None})


def test_tensors_that_are_not_there_have_no_dtype_to_compare():
    assert tf.debugging.assert_same_float_dtype([None, None]) == tf.float32
    assert tf.debugging.assert_same_float_dtype([None, tf.ones([2], tf.float64)]) == tf.float64
    with pytest.raises(ValueError, match="float64"):
        tf.debugging.assert_same_float_dtype([tf.ones([1]), None, tf.ones([2], tf.float64)])


@pytest.mark.parametrize("late", [False, True])
def test_shapes_of_sparse_tensors_are_checked(late):
    sparse = tf.sparse.from_dense([[1.0, 0.0], [0.0, 0.0], [0.0, 2.0]])

    def check(indices, values, shape, rule):
        given = tf.SparseTensor(indices, values, shape)
        d.assert_shapes([(given, rule), (tf.zeros([3]), ("N",))])
        return tf.size(given.values)

    if late:
        check = tf.function(check, reduce_retracing=True)
    for rule in (("N", 2), (3, None), ("N", "M"), (..., 2)):
        assert check(sparse.indices, sparse.values, sparse.dense_shape, rule) == 2
    for rule, text in ((("N", 3), "size"), ((2, 2), "size"), (("N",), "rank"), ((), "rank")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            check(sparse.indices, sparse.values, sparse.dense_shape, rule)
