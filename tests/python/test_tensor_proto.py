"""Values in TensorFlow's format."""

import numpy as np
import pytest

import holdfast as tf

DTYPES = (
    *("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128", "bool"),
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("in_graph", [True, False])
def test_values_come_back(dtype, in_graph):
    with tf.Graph().as_default() if in_graph else tf.init_scope():
        values = np.arange(6).reshape(2, 3).astype(dtype)
        back = tf.make_ndarray(tf.make_tensor_proto(values))
        assert back.dtype == values.dtype
        np.testing.assert_array_equal(back, values)
        repeated = tf.make_ndarray(tf.make_tensor_proto(np.array([0, 1], dtype), dtype, [2, 2]))
        np.testing.assert_array_equal(repeated, np.array([[0, 1], [1, 1]], dtype))


def test_strings_and_shapes():
    made = tf.make_tensor_proto(["f", "g"], shape=[3])
    assert tf.make_ndarray(made).tolist() == [b"f", b"g", b"g"]
    assert tf.as_dtype(made.dtype) == tf.string
    with pytest.raises(ValueError):
        tf.make_tensor_proto([1, 2], shape=[1])
    with pytest.raises(TypeError):
        tf.make_tensor_proto([[1], [2]], shape=[1, 2], verify_shape=True)
    with tf.Graph().as_default(), pytest.raises(TypeError):
        tf.make_tensor_proto(tf.compat.v1.placeholder(tf.float32))


def test_bytes_are_those_of_the_protobuf():
    made = tf.make_tensor_proto(np.array([1.0, 2.0], np.float32)).SerializeToString()
    assert made == b"\x08\x01\x12\x04\x12\x02\x08\x02\x22\x08\x00\x00\x80?\x00\x00\x00@"
    unknown = tf.TensorShape(None).as_proto()
    assert (unknown.unknown_rank, unknown.SerializeToString()) == (True, b"\x18\x01")
    assert [d.size for d in tf.TensorShape([2, None]).as_proto().dim] == [2, -1]
