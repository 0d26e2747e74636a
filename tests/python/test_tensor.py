"""Tensors print, convert, iterate and copy as TensorFlow's eager tensors do."""

import copy
import pickle

import numpy as np
import pytest

import holdfast as tf

A = tf.constant([1.0, 2.0])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            [1.0, 2.0],
            "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>",
        ),
        (1.0, "<tf.Tensor: shape=(), dtype=float32, numpy=1.0>"),
        (True, "<tf.Tensor: shape=(), dtype=bool, numpy=True>"),
        (1 + 2j, "<tf.Tensor: shape=(), dtype=complex128, numpy=(1+2j)>"),
        ("a", "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>"),
        (
            ["a", "bc"],
            "<tf.Tensor: shape=(2,), dtype=string, numpy=array([b'a', b'bc'], dtype=object)>",
        ),
        (
            [[1, 2], [3, 4]],
            "<tf.Tensor: shape=(2, 2), dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)>",
        ),
    ],
)
def test_repr(value, text):
    assert repr(tf.constant(value)) == text


def test_str_and_format():
    assert str(A) == "tf.Tensor([1. 2.], shape=(2,), dtype=float32)"
    assert str(tf.constant([[1], [2]])) == "tf.Tensor(\n[[1]\n [2]], shape=(2, 1), dtype=int32)"
    assert f"{tf.constant(1.5):.3f}" == "1.500" and f"{A}" == "[1. 2.]"
    assert "&lt;tf.Tensor" in A._repr_html_()


def test_a_bfloat16_prints_even_where_numpy_has_none():
    assert "1.5" in repr(tf.constant([1.5], tf.bfloat16)) and "bfloat16" in str(
        tf.constant(2, tf.bfloat16)
    )


def test_a_tensor_is_hashed_by_reference_only():
    with pytest.raises(TypeError, match=r"tensor\.ref\(\)"):
        hash(A)
    assert A.ref() == A.ref() and A.ref() != tf.constant([1.0, 2.0]).ref() and A.ref().deref() is A
    assert len({A.ref(), A.experimental_ref()}) == 1


def test_shapes_of_tensors():
    assert A.get_shape() == [2] and A.set_shape([None]) is None and A.ndim == 1
    with pytest.raises(ValueError, match=r"got \(3,\), and the tensor\'s shape is \(2,\)"):
        A.set_shape([3])


@pytest.mark.parametrize(
    "name", ["T", "astype", "ravel", "transpose", "reshape", "clip", "size", "tolist", "data"]
)
def test_numpys_attributes_are_refused_with_a_hint(name):
    assert not hasattr(A, name)
    with pytest.raises(AttributeError, match=rf"\.numpy\(\)\.{name}"):
        getattr(A, name)


@pytest.mark.parametrize("name", ["name", "op", "graph", "value_index"])
def test_attributes_of_graphs_are_refused(name):
    with pytest.raises(AttributeError, match=f"no `{name}`"):
        getattr(A, name)
    with pytest.raises(NotImplementedError, match=r"\.numpy\(\)"):
        A.eval()


def test_iteration():
    assert [float(x) for x in A] == [1.0, 2.0] and [x.shape for x in tf.constant([[1, 2]])] == [[2]]
    with pytest.raises(TypeError, match="a scalar tensor has no rows"):
        iter(tf.constant(1))


def test_python_values():
    assert complex(tf.constant(1.5)) == 1.5 + 0j and round(tf.constant(1.7)).numpy() == 2.0
    assert [10, 20, 30][tf.constant(1)] == 20 and list(range(tf.constant(2))) == [0, 1]
    with pytest.raises(TypeError):
        complex(A)


def test_numpy_arrays():
    own, shared = A.numpy(), np.asarray(A)
    own[0] = 9
    assert A.numpy()[0] == 1 and not shared.flags.writeable
    assert np.array(A, dtype="int32").tolist() == [1, 2]
    assert isinstance(np.ones(2, "float32") + A, tf.Tensor)
    assert np.asarray(tf.constant(["a"])).tolist() == [b"a"]


@pytest.mark.parametrize("value", [[1.0, 2.0], 3, ["a", "b"], "x", [True], 1j, []])
def test_copies_and_pickles(value):
    t = tf.constant(value)
    for other in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert other.dtype == t.dtype and other.shape == t.shape
        np.testing.assert_array_equal(other.numpy(), t.numpy())


def test_constant():
    assert tf.constant(0, shape=[2, 2]).numpy().tolist() == [[0, 0], [0, 0]]
    assert tf.constant([1, 2], shape=[2, 1]).shape == [2, 1]
    assert tf.constant([1, 2], tf.float16).dtype == tf.float16
    with pytest.raises(ValueError, match="E1102"):
        tf.constant([1, 2], shape=[3])
    with pytest.raises(TypeError):
        tf.constant(1.5, tf.int32)


def test_convert_to_tensor():
    assert (
        tf.convert_to_tensor(A) is not None
        and tf.convert_to_tensor([1, 2], dtype_hint=tf.float32).dtype == tf.float32
    )
    assert tf.convert_to_tensor([1.5], dtype_hint=tf.int32).dtype == tf.float32
    assert tf.convert_to_tensor("x", dtype_hint=tf.int32).dtype == tf.string
    assert tf.convert_to_tensor(np.array([1, 2])).dtype == tf.int64
    assert tf.convert_to_tensor(2**40).dtype == tf.int64
    assert tf.convert_to_tensor(tf.TensorShape([1, 2])).numpy().tolist() == [1, 2]
    with pytest.raises(TypeError):
        tf.convert_to_tensor(A, tf.int32)


def test_what_is_a_tensor():
    v = tf.Variable(1.0)
    assert (
        tf.is_tensor(A)
        and tf.is_tensor(v)
        and not tf.is_tensor([1])
        and not isinstance(v, tf.Tensor)
    )
    assert tf.get_static_value(A).tolist() == [1, 2] and tf.get_static_value(v) is None
    assert tf.get_static_value([1]) == [1]


def test_indexed_slices():
    s = tf.IndexedSlices(A, tf.constant([0, 2]), tf.constant([4]))
    assert (
        s.shape == [4]
        and s.dtype == tf.float32
        and str(s).startswith("IndexedSlices(indices=tf.Tensor([0 2]")
    )
    assert tf.convert_to_tensor(s).numpy().tolist() == [1, 0, 2, 0]
    assert (-s).values.numpy().tolist() == [-1, -2]
    with pytest.raises(ValueError, match="dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices(A, tf.constant([0, 2])))


def test_dlpack_goes_both_ways():
    shared = np.from_dlpack(A)
    assert shared.tolist() == [1, 2]
    capsule = tf.experimental.dlpack.to_dlpack(A)
    assert tf.experimental.dlpack.from_dlpack(capsule).numpy().tolist() == [1, 2]
    assert tf.experimental.dlpack.from_dlpack(np.ones((2, 2))).dtype == tf.float64
    assert A.__dlpack_device__() == (1, 0) and A.numpy().tolist() == [1, 2]


def test_only_a_slice_of_a_variable_can_be_assigned():
    with pytest.raises(AttributeError, match="immutable"):
        A.assign([1.0, 2.0])


def test_a_list_of_tensors_says_that_it_is_one():
    made = tf.raw_ops.TensorListReserve(element_shape=[1], num_elements=1, element_dtype=tf.float32)
    assert f"{made}" == "<TensorList>"
    assert str(made) == "tf.Tensor(<TensorList>, shape=(), dtype=variant)"
    assert repr(made) == "<tf.Tensor: shape=(), dtype=variant, value=<TensorList>>"


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int32", "float64"])
def test_arrays_have_the_types_that_numpy_calls_its_own(dtype):
    """Of two integer types of one size NumPy shows one as a stranger."""
    for made in (tf.constant([1, 2], dtype).numpy(), tf.constant(1, dtype).numpy()):
        assert made.dtype.char == np.dtype(dtype).char
    assert repr(tf.constant([1, 2], tf.int64).numpy()) == "array([1, 2])"
