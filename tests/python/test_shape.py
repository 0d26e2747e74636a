"""TensorShape and TensorSpec behave as TensorFlow's do."""

import pickle

import numpy as np
import pytest

import holdfast as tf

S = tf.TensorShape


def test_shapes_print_as_tensorflows():
    assert repr(S([2, None])) == "TensorShape([2, None])" and str(S([2, None])) == "(2, None)"
    assert repr(S(None)) == "TensorShape(None)" and str(S(None)) == "<unknown>"
    assert repr(S([])) == "TensorShape([])" and str(S([3])) == "(3,)"


def test_what_shapes_are_made_of():
    assert S(3) == S([3]) and S(3) == (3,) and S(3) == [3]
    assert S([np.int64(2), tf.constant(3)]) == [2, 3]
    assert S(tf.constant([1, 2])) == [1, 2]
    with pytest.raises(TypeError, match=r"an int or None, got 1\.5"):
        S([1.5])
    with pytest.raises(ValueError, match="at least 0, or None, got -1"):
        S([-1])


def test_what_is_known():
    s = S([2, None, 4])
    assert (s.rank, s.ndims, s.as_list(), s.num_elements()) == (3, 3, [2, None, 4], None)
    assert (
        not s.is_fully_defined() and S([2, 3]).is_fully_defined() and S([2, 3]).num_elements() == 6
    )
    assert S(None).rank is None and [d.value for d in s.dims] == [2, None, 4]
    for broken in (S(None).as_list, lambda: len(S(None)), lambda: list(S(None))):
        with pytest.raises(ValueError, match="unknown"):
            broken()


def test_indexing():
    s = S([1, 2, 3])
    assert (s[1], s[-1], s[1:]) == (2, 3, S([2, 3]))
    assert S(None)[1] is None and S(None)[1:3] == S([None, None]) and S(None)[1:].rank is None
    assert bool(S([])) and not bool(S(None)) and list(s) == [1, 2, 3]


def test_putting_together():
    assert S([1]) + [2] == [1] + S([2]) == S([1]).concatenate(2) == [1, 2]
    assert S([1, None]).merge_with([None, 2]) == [1, 2]
    assert S([1, 2]).most_specific_compatible_shape([1, 3]) == [1, None]
    assert S([1]).most_specific_compatible_shape([1, 3]).rank is None
    with pytest.raises(ValueError, match="no tensor has both"):
        S([1, None]).merge_with([3, 2])


def test_checks():
    s = S([1, 2])
    assert s.with_rank(2) is s and S(None).with_rank(2) == [None, None]
    assert s.is_compatible_with([None, 2]) and not s.is_compatible_with([2])
    for check in (
        lambda: s.with_rank(3),
        lambda: s.with_rank_at_least(3),
        lambda: s.with_rank_at_most(1),
        lambda: s.assert_has_rank(1),
        lambda: s.assert_same_rank([1]),
        lambda: s.assert_is_compatible_with([1, 3]),
        lambda: S([None]).assert_is_fully_defined(),
    ):
        with pytest.raises(ValueError, match="shape"):
            check()


def test_equality_and_hash():
    assert S([1, None]) == (1, None) and S([1]) != None and S(None) == None
    assert S([1, 2]) != "ab" and hash(S([1, 2])) == hash((1, 2))
    assert pickle.loads(pickle.dumps(S([1, None]))) == S([1, None])


def test_broadcasting():
    f = tf.broadcast_static_shape
    assert f(S([2, 1]), S([3])) == [2, 3] and f(S([None, 1]), S([4, 5])) == [4, 5]
    assert f(S([1]), S([None])) == [None] and f(S(None), S([1])).rank is None
    with pytest.raises(ValueError, match="do not broadcast: 2 meets 3"):
        f(S([2]), S([3]))


def test_specs():
    spec = tf.TensorSpec([1, None], tf.int32, "x")
    assert repr(spec) == "TensorSpec(shape=(1, None), dtype=tf.int32, name='x')"
    assert spec == tf.TensorSpec([1, None], "int32", "x") and hash(spec) == hash(
        pickle.loads(pickle.dumps(spec))
    )
    assert spec.is_compatible_with(tf.constant([[1, 2]])) and not spec.is_compatible_with(
        tf.constant([[1.0]])
    )
    assert tf.TensorSpec.from_tensor(tf.constant([1, 2])) == tf.type_spec_from_value([1, 2])
    merged = tf.TensorSpec([1, 2]).most_specific_compatible_type(tf.TensorSpec([2, 2]))
    assert merged == tf.TensorSpec([None, 2])


def test_known_sizes_stay_known_beside_unknown_ones():
    @tf.function(input_signature=[tf.TensorSpec([64, None]), tf.TensorSpec([64, None])])
    def steps(a, b):
        return tf.linspace(a, b, 10, axis=-1)

    assert steps.get_concrete_function().output_shapes == [64, None, 10]
    np.testing.assert_allclose(steps(tf.zeros([64, 2]), tf.ones([64, 1]))[0, 1, ::9], [0.0, 1.0])


def test_scalars_are_not_joined_along_an_axis_that_is_not_known_yet():
    with tf.Graph().as_default():
        axis = tf.compat.v1.placeholder(tf.int32)
        with pytest.raises(ValueError, match=r"scalars\s+are\s+joined\s+by\s+stack"):
            tf.concat([tf.constant(7), tf.constant(8)], axis)


def test_a_dimension_that_nobody_knows_is_no_bound_and_no_number():
    unknown, two = tf.compat.v1.Dimension(None), tf.compat.v1.Dimension(2)
    t = tf.constant([1, 2, 3])
    assert t[unknown:unknown:unknown].numpy().tolist() == [1, 2, 3]
    assert t[:two].numpy().tolist() == [1, 2] and t[two] == 3 and int(two) == 2
    for use in (int, lambda d: t[d], lambda d: [0, 1][d]):
        with pytest.raises(TypeError, match="not known"):
            use(unknown)
