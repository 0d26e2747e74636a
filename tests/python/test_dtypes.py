"""Dtypes are TensorFlow's: names, numbers, limits, equality with what stands for them."""

import copy
import pickle

import numpy as np
import pytest

import holdfast as tf


def test_names_and_numbers_are_tensorflows():
    wanted = {
        "bool": 10, "int8": 6, "int16": 5, "int32": 3, "int64": 9, "uint8": 4, "uint16": 17, "uint32": 22,
        "uint64": 23, "float16": 19, "bfloat16": 14, "float32": 1, "float64": 2, "complex64": 8,
        "complex128": 18, "string": 7, "resource": 20,
    }  # fmt: skip
    for name, number in wanted.items():
        dtype = getattr(tf, name)
        assert (dtype.name, dtype.as_datatype_enum) == (name, number)
        assert getattr(tf.dtypes, name) is dtype is tf.as_dtype(name) is tf.as_dtype(number)
    assert tf.half is tf.float16 and tf.double is tf.float64


@pytest.mark.parametrize(
    "word", ["float", float, np.float32, np.dtype("f4"), np.dtype(np.float32).type, 1, tf.float32]
)
def test_many_words_mean_float32(word):
    assert tf.as_dtype(word) is tf.float32 and tf.float32 == word


def test_text_arrays_are_strings():
    assert tf.as_dtype(np.dtype("S3")) is tf.as_dtype(object) is tf.string


@pytest.mark.parametrize("word", [int, str, complex, "foo", "<f4", None, 99, [1]])
def test_other_words_mean_nothing(word):
    with pytest.raises(TypeError, match="stands for no dtype"):
        tf.as_dtype(word)
    assert tf.float32 != word


def test_kinds():
    assert tf.float16.is_floating and tf.bfloat16.is_floating and not tf.int8.is_floating
    assert tf.uint8.is_integer and tf.uint8.is_unsigned and not tf.int8.is_unsigned
    assert tf.complex64.is_complex and tf.complex64.is_numeric and not tf.bool.is_numeric
    assert tf.bool.is_bool and not tf.string.is_numeric and not tf.float32.is_quantized


def test_limits():
    assert (tf.int8.min, tf.int8.max, tf.int8.limits) == (-128, 127, (0, 127))
    assert tf.float32.max == np.finfo("float32").max and tf.float32.limits == (0, 1)
    assert float(tf.bfloat16.max) == float.fromhex("0x1.FEp127")
    with pytest.raises(TypeError):
        _ = tf.string.min
    with pytest.raises(ValueError, match="limits"):
        _ = tf.float16.limits


def test_sizes_and_parts():
    assert (tf.float64.size, tf.bool.size, tf.complex128.size, tf.string.size) == (8, 1, 16, 0)
    assert tf.complex64.real_dtype is tf.float32 and tf.complex128.real_dtype is tf.float64
    assert tf.int32.real_dtype is tf.int32.base_dtype is tf.int32


def test_a_dtype_prints_copies_and_pickles_as_itself():
    assert (repr(tf.float32), str(tf.float32)) == ("tf.float32", "<dtype: 'float32'>")
    assert pickle.loads(pickle.dumps(tf.int8)) is copy.deepcopy(tf.int8) is tf.int8
    assert {tf.float32: 1}[tf.as_dtype("float32")] == 1
