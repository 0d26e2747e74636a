"""NumPy's arrays as keys and values: masks in brackets, texts without elements, lists of many dtypes."""

import numpy as np
import pytest

import holdfast as tf

X = np.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize("make", [tf.constant, tf.Variable])
@pytest.mark.parametrize(
    "mask", [X % 5 > 1, np.array([[True, False, True], [False] * 3]), np.array([False, True])]
)
def test_a_mask_takes_what_is_true(make, mask):
    np.testing.assert_array_equal(make(X)[mask], X[mask])
    np.testing.assert_array_equal(make(X)[tf.constant(mask)], X[mask])


def test_a_mask_while_tracing_and_its_gradient():
    x = tf.constant(X.astype("float32"))

    @tf.function
    def f(x):
        return tf.reduce_sum(x[X > 20] ** 2)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_array_equal(tape.gradient(y, x), np.where(X > 20, 2 * X, 0))


def test_arrays_of_numbers_are_refused_in_our_words():
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError), match="gather"):
        tf.constant(X)[np.array([0, 1])]
    assert tf.constant(X)[np.array(1), np.int8(2), np.uint64(0)] == X[1, 2, 0]


@pytest.mark.parametrize("kind", ["S5", "U3", object])
@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
def test_texts_without_elements_are_texts(kind, shape):
    array = np.empty(shape, kind)
    makers = (tf.constant, tf.identity, tf.Variable, tf.strings.upper)
    for t in (*(make(array) for make in makers), tf.convert_to_tensor(array, tf.string)):
        assert t.dtype == tf.string and t.shape == shape
    assert tf.strings.length(array).shape == shape
    assert tf.data.Dataset.from_tensors(array).element_spec == tf.TensorSpec(shape, tf.string)
    assert tf.ragged.constant(array, ragged_rank=0).dtype == tf.string


def test_numbers_wider_than_a_tensors_need_a_dtype():
    wide = np.array([0.25, 3], np.longdouble)
    if wide.dtype == np.float64:
        pytest.skip("no wider numbers on this machine")
    assert tf.constant(wide, tf.float32).dtype == tf.float32
    np.testing.assert_array_equal(tf.ones([2]) + wide, [1.25, 4])
    assert tf.constant(wide + 1j, tf.complex64)[1] == 3 + 1j
    with pytest.raises(TypeError, match=str(wide.dtype)):
        tf.constant(wide)


def test_sizes_beyond_int32():
    assert tf.convert_to_tensor(tf.TensorShape([2, 3])).dtype == tf.int32
    large = tf.convert_to_tensor(tf.TensorShape([2**31, 2]))
    assert large.dtype == tf.int64 and large[0] == 2**31
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.convert_to_tensor(tf.TensorShape([2**31, 2]), tf.int32)


@pytest.mark.parametrize("rank", [1.5, 1.0, np.float32(1), tf.constant(1.0), "1", None])
def test_a_rank_is_an_integer(rank):
    for check in (
        lambda: tf.debugging.assert_rank([1, 2], rank),
        lambda: tf.debugging.assert_rank_at_least([1, 2], rank),
        lambda: tf.debugging.assert_rank_in([1, 2], [0, rank]),
    ):
        with pytest.raises(TypeError, match="a rank is an integer"):
            check()
    tf.debugging.assert_rank([1, 2], np.int64(1))
    tf.debugging.assert_rank([1, 2], tf.constant(1))


def test_a_list_of_many_dtypes():
    number, text, real = tf.identity_n([[1, 2], [b"a"], 0.5])
    assert (number.dtype, text.dtype, real.dtype) == (tf.int32, tf.string, tf.float32)
    mixed = tf.identity_n([np.array([1], "int8"), [1.5], tf.constant(True)])
    assert [t.dtype for t in mixed] == [tf.int8, tf.float32, tf.bool]
