"""Tensors and other libraries' arrays share memory through DLPack."""

import ctypes
import gc
import struct
import weakref

import numpy as np
import pytest

import holdfast as tf

dlpack = tf.experimental.dlpack

DTYPES = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 bool"


class Producer:
    """An object of another library that makes one capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


def capsule_name(capsule):
    get = ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return get(capsule).decode()


def changed(offset, form, *values):
    """A capsule whose description of its memory was written over, as no honest library would."""
    capsule = dlpack.to_dlpack(tf.constant([1.0, 2.0]))
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    text = struct.pack(form, *values)
    ctypes.memmove(get(capsule, b"dltensor") + offset, text, len(text))
    return capsule


def address(tensor):
    return np.asarray(memoryview(tensor)).ctypes.data


@pytest.mark.parametrize("name", DTYPES.split())
def test_every_dtype_goes_both_ways(name):
    t = tf.cast([[1, 0, 1], [0, 1, 1]], name)
    array = np.from_dlpack(t)
    assert array.dtype == t.dtype.as_numpy_dtype and array.tolist() == t.numpy().tolist()
    back = dlpack.from_dlpack(dlpack.to_dlpack(t))
    assert back.dtype == t.dtype and back.shape == t.shape
    assert back.numpy().tolist() == t.numpy().tolist()


def test_bfloat16_goes_round():
    t = tf.cast([1.5, -2.0], tf.bfloat16)
    back = dlpack.from_dlpack(dlpack.to_dlpack(t))
    assert back.dtype == tf.bfloat16 and tf.cast(back, tf.float32).numpy().tolist() == [1.5, -2.0]


def test_memory_is_shared_and_read_only():
    t = tf.range(6.0)
    array = np.from_dlpack(t)
    assert array.ctypes.data == address(t) and not array.flags.writeable
    assert address(dlpack.from_dlpack(dlpack.to_dlpack(t))) == address(t)
    own = np.from_dlpack(t, copy=True)
    assert own.ctypes.data != address(t) and own.flags.writeable


def test_a_view_begins_where_it_begins():
    t = tf.reshape(tf.range(12), [3, 4])[1:]
    assert np.from_dlpack(t).tolist() == [[4, 5, 6, 7], [8, 9, 10, 11]]


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1, 1)])
def test_scalars_and_empty_tensors(shape):
    t = tf.ones(shape)
    assert np.from_dlpack(t).shape == shape
    assert dlpack.from_dlpack(np.ones(shape)).shape == shape


def test_an_update_in_place_does_not_show_in_what_was_handed_out():
    v = tf.Variable([1.0, 2.0])
    array = np.from_dlpack(v.read_value())
    v.assign_add([1.0, 1.0])
    v[0].assign(9.0)
    assert array.tolist() == [1, 2] and v.numpy().tolist() == [9, 3]


def test_dense_memory_is_taken_in_without_a_copy():
    array = np.arange(6.0).reshape(2, 3)
    t = dlpack.from_dlpack(array)
    assert address(t) == array.ctypes.data
    assert dlpack.from_dlpack(np.ones((1, 3), order="F")).numpy().tolist() == [[1, 1, 1]]


@pytest.mark.parametrize(
    "cut",
    [
        lambda a: a[:, ::2],
        lambda a: a[::-1],
        lambda a: a.T,
        lambda a: np.broadcast_to(a[0], (3, 4)),
        lambda a: a[1, 3::-2],
    ],
)
def test_strides_that_are_not_dense_are_copied(cut):
    array = cut(np.arange(8).reshape(2, 4))
    t = dlpack.from_dlpack(array)
    assert t.numpy().tolist() == array.tolist() and address(t) != array.ctypes.data


def test_the_memory_lives_as_long_as_somebody_looks():
    class Array(np.ndarray):
        pass

    array = np.arange(3).view(Array)
    gone = weakref.ref(array)
    t = dlpack.from_dlpack(array)
    part = t[1:]
    del array, t
    gc.collect()
    assert gone() is not None and part.numpy().tolist() == [1, 2]
    del part
    gc.collect()
    assert gone() is None


def test_what_is_handed_out_outlives_the_tensor():
    array = np.from_dlpack(tf.range(1000))
    gc.collect()
    tf.fill([1000], 7)
    assert array.sum() == 499500


def test_a_capsule_is_consumed_once():
    capsule = dlpack.to_dlpack(tf.constant([1, 2]))
    assert capsule_name(capsule) == "dltensor"
    dlpack.from_dlpack(capsule)
    assert capsule_name(capsule) == "used_dltensor"
    with pytest.raises(TypeError, match="consumed already") as caught:
        dlpack.from_dlpack(capsule)
    assert caught.value.code == "E1104"
    versioned = tf.constant([1]).__dlpack__(max_version=(1, 1))
    assert capsule_name(versioned) == "dltensor_versioned"
    dlpack.from_dlpack(versioned)
    with pytest.raises(TypeError, match="consumed already"):
        dlpack.from_dlpack(versioned)


def test_producers_from_before_version_1():
    assert dlpack.from_dlpack(Producer(dlpack.to_dlpack([3, 4]))).numpy().tolist() == [3, 4]


def test_variables_and_lists_can_be_handed_out():
    assert dlpack.from_dlpack(dlpack.to_dlpack(tf.Variable([1.0]))).numpy().tolist() == [1]


@pytest.mark.parametrize(
    ("call", "code", "says"),
    [
        (lambda: dlpack.from_dlpack(3), "E1104", "got 3 of type int"),
        (lambda: dlpack.from_dlpack(None), "E1104", "got None of type NoneType"),
        (lambda: dlpack.to_dlpack(tf.constant("a")), "E1105", "a string tensor"),
        (lambda: tf.constant(1).__dlpack__(stream=1), "E1105", "the stream 1"),
        (lambda: tf.constant(1).__dlpack__(dl_device=(2, 0)), "E1105", r"the device \(2, 0\)"),
        (lambda: dlpack.from_dlpack(changed(20, "BBH", 2, 8, 1)), "E1105", "float with 8 bits"),
        (lambda: dlpack.from_dlpack(changed(20, "BBH", 2, 32, 4)), "E1105", "in vectors of 4"),
        (lambda: dlpack.from_dlpack(changed(20, "BBH", 17, 4, 1)), "E1105", "type code 17"),
        (lambda: dlpack.from_dlpack(changed(16, "i", -1)), "E1102", "an array of rank -1"),
        (lambda: dlpack.from_dlpack(changed(16, "i", 1000)), "E1102", "an array of rank 1000"),
        (lambda: dlpack.from_dlpack(changed(8, "ii", 2, 3)), "E1105", "memory of GPU:3"),
        (lambda: dlpack.from_dlpack(changed(8, "ii", 10, 0)), "E1105", "DLPack's type 10"),
    ],
)
def test_errors_name_what_came(call, code, says):
    with pytest.raises(tf.errors.DiagnosticError, match=says) as caught:
        call()
    assert caught.value.code == code


def test_symbols_have_no_memory():
    @tf.function
    def f(x):
        return dlpack.to_dlpack(x + 1)

    with pytest.raises(AttributeError) as caught:
        f(tf.constant(1.0))
    assert caught.value.code == "E0203"


def test_with_torch():
    torch = pytest.importorskip("torch")
    t = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert torch.from_dlpack(t).tolist() == [[1, 2], [3, 4]]
    assert torch.utils.dlpack.from_dlpack(dlpack.to_dlpack(t)).data_ptr() == address(t)
    for dtype in (torch.bfloat16, torch.bool, torch.complex64, torch.int16):
        theirs = torch.tensor([1, 0]).to(dtype)
        ours = dlpack.from_dlpack(theirs)
        assert ours.dtype.name == str(dtype).removeprefix("torch.")
        assert address(tf.bitcast(ours, tf.int16) if dtype is torch.bfloat16 else ours) > 0
        assert torch.from_dlpack(ours).tolist() == theirs.tolist()
    square = torch.arange(6).reshape(2, 3)
    assert dlpack.from_dlpack(square.T).numpy().tolist() == square.T.tolist()
    assert (
        dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(square)).numpy().tolist() == square.tolist()
    )
