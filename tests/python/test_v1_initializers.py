"""The initializers of `tf.compat.v1`: what they give, what they refuse."""

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


@pytest.mark.parametrize("shape", [(6, 6), (4, 3, 5), (3, 8), (9, 2)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_or_columns_are_orthogonal(shape, dtype):
    found = np.asarray(v1.orthogonal_initializer(gain=3.0, seed=5, dtype=dtype)(shape))
    assert found.shape == shape and found.dtype == dtype
    flat = found.reshape(-1, shape[-1])
    inner = flat.T @ flat if flat.shape[0] > flat.shape[1] else flat @ flat.T
    np.testing.assert_allclose(inner, 9.0 * np.eye(len(inner)), atol=1e-4)


def test_the_same_seed_draws_the_same_matrix():
    with tf.Graph().as_default(), v1.Session() as session:
        made = [v1.orthogonal_initializer(seed=s)((4, 4)) for s in (1, 1, 2)]
        one, same, other = session.run(made)
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)


def test_the_identity_and_its_gain():
    np.testing.assert_array_equal(v1.initializers.identity(gain=0.5)((2, 3)), 0.5 * np.eye(2, 3))


def test_a_uniform_scale_goes_by_what_comes_in():
    found = np.asarray(v1.uniform_unit_scaling_initializer(factor=2.0, seed=1)((300, 40)))
    limit = 2.0 * np.sqrt(3.0 / 300)
    assert np.abs(found).max() <= limit and np.abs(found).max() > 0.95 * limit
    assert v1.uniform_unit_scaling_initializer()([0, 2]).shape == [0, 2]


def test_too_few_values_are_filled_up_with_the_last():
    assert v1.constant([1, 2], shape=[4]).numpy().tolist() == [1, 2, 2, 2]
    made = v1.constant_initializer([1, 2, 3], dtype=tf.int32)([2, 2])
    assert made.numpy().tolist() == [[1, 2], [3, 3]]
    assert v1.constant(True, shape=[2]).dtype == tf.bool


def test_values_of_another_shape_are_refused_where_it_is_verified():
    with pytest.raises(TypeError, match=r"\(2,\)"):
        v1.constant_initializer([1, 2], verify_shape=True)([2, 2])
    with pytest.raises(ValueError, match="3 elements"):
        v1.constant([1, 2, 3], shape=[2])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: v1.random_normal_initializer(dtype=tf.string), "string"),
        (lambda: v1.truncated_normal_initializer(dtype=tf.int32), "int32"),
        (lambda: v1.glorot_uniform_initializer(dtype=tf.bool), "bool"),
        (lambda: v1.orthogonal_initializer()([5]), r"\[5\]"),
        (lambda: v1.initializers.identity()([2, 2, 2]), r"\[2, 2, 2\]"),
    ],
)
def test_what_they_can_not_make_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


WHOLE = (60, 8)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    "make",
    [
        v1.glorot_uniform_initializer,
        v1.glorot_normal_initializer,
        v1.variance_scaling_initializer,
        v1.uniform_unit_scaling_initializer,
        v1.initializers.identity,
        v1.ones_initializer,
        lambda: v1.constant_initializer(3.0),
    ],
)
def test_a_variable_in_parts_begins_as_a_whole_one_does(make, axis):
    """By its spread, if it is drawn: the parts must not pass for small layers of their own."""
    with tf.Graph().as_default(), v1.Session() as session:
        whole = v1.get_variable("whole", WHOLE, initializer=make())
        cut = v1.fixed_size_partitioner(4, axis=axis)
        parts = v1.get_variable("parts", WHOLE, initializer=make(), partitioner=cut)
        session.run(v1.global_variables_initializer())
        one, other = session.run([whole, tf.identity(parts)])
    assert other.shape == WHOLE
    if make is v1.initializers.identity:
        np.testing.assert_array_equal(other, one)
    np.testing.assert_allclose(other.std(), one.std(), rtol=0.2)
    np.testing.assert_allclose(np.abs(other).max(), np.abs(one).max(), rtol=0.25)
