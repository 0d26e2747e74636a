"""Variables behave as TensorFlow's do in eager code."""

import copy
import pickle

import numpy as np
import pytest

import holdfast as tf


def values(v):
    return np.asarray(v).tolist()


def test_a_variable_prints_as_tensorflows():
    v = tf.Variable([1.0, 2.0])
    assert (
        repr(v)
        == str(v)
        == "<tf.Variable 'Variable:0' shape=(2,) dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    )
    assert repr(tf.Variable(1, name="n")) == "<tf.Variable 'n:0' shape=() dtype=int32, numpy=1>"


def test_names_take_the_scope():
    with tf.name_scope("a"), tf.name_scope("b") as scope:
        assert scope == "a/b/" and tf.Variable(1.0, name="z").name == "a/b/z:0"
    with pytest.raises(ValueError, match="expected a string"):
        tf.name_scope(None)


def test_initial_values():
    assert (
        tf.Variable(lambda: tf.constant(1.0)).shape == []
        and tf.Variable(1, dtype=tf.float64).dtype == tf.float64
    )
    v = tf.Variable([1.0])
    w = tf.Variable(v)
    v.assign([2.0])
    assert values(w) == [1.0]
    with pytest.raises(ValueError, match="initial_value"):
        tf.Variable()


def test_assigning():
    v = tf.Variable([1.0, 2.0])
    assert v.assign([3, 4]) is v and values(v) == [3, 4]
    assert v.assign_add([1.0, 1.0]) is v and values(v.assign_sub([0.5, 0.5])) == [3.5, 4.5]
    assert v.assign([0.0, 0.0], read_value=False) is None
    with pytest.raises(ValueError):
        v.assign([1.0, 2.0, 3.0])
    with pytest.raises(TypeError):
        v.assign(tf.constant([1, 2]))


def test_a_loose_shape_takes_other_sizes():
    v = tf.Variable([1.0, 2.0], shape=[None])
    assert v.shape == [None] and values(v.assign([1.0, 2.0, 3.0])) == [1, 2, 3]
    with pytest.raises(ValueError, match="got the shape"):
        tf.Variable([1.0, 2.0], shape=[3])


def test_operators_are_those_of_tensors():
    v = tf.Variable([4.0, 2.0])
    assert isinstance(v + 1, tf.Tensor) and values(1 + v) == [5, 3] and values(-v) == [-4, -2]
    assert values(v * v) == [16, 4] and values(8 / v) == [2, 4] and values(v**2) == [16, 4]
    assert values(tf.constant([1.0, 1.0]) + v) == [5, 3] and values(np.ones(2, "float32") - v) == [
        -3,
        -1,
    ]
    assert values(v == [4.0, 0.0]) == [True, False] and values(v > 3) == [True, False]
    assert (v == None) is False and (v != None) is True


@pytest.mark.parametrize(
    "statement", ["v += 1", "v -= 1", "v *= 2", "v /= 2", "v //= 2", "v %= 2", "v **= 2"]
)
def test_in_place_operators_are_refused_as_in_tensorflow(statement):
    with pytest.raises(RuntimeError, match="write `variable.assign"):
        exec(statement, {"v": tf.Variable(1.0)})


def test_python_values():
    assert float(tf.Variable(2.0)) == 2.0 and int(tf.Variable(2)) == 2 and bool(tf.Variable(True))
    assert complex(tf.Variable(2.0)) == 2 and [float(x) for x in tf.Variable([1.0, 2.0])] == [
        1.0,
        2.0,
    ]
    with pytest.raises(TypeError, match="len"):
        len(tf.Variable([1.0]))


def test_a_variable_is_hashed_by_reference_only():
    v = tf.Variable(1.0)
    with pytest.raises(TypeError, match=r"variable\.ref\(\)"):
        hash(v)
    assert v.ref() == v.ref() and v.ref().deref() is v and v.ref() != tf.Variable(1.0).ref()


def test_a_slice_can_be_assigned():
    v = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    assert v[0, 1:].assign([8.0, 9.0]) is v and values(v) == [[1, 8, 9], [4, 5, 6]]
    v[:, 0].assign([0.0, 0.0])
    v[1].assign([7.0, 7.0, 7.0])
    assert values(v) == [[0, 8, 9], [7, 7, 7]]
    with pytest.raises(TypeError, match="item assignment"):
        v[0] = 1.0


def test_rows_are_scattered():
    def rows(x):
        return tf.IndexedSlices(tf.constant([x]), tf.constant([1]))

    v = tf.Variable([1.0, 2.0, 3.0])
    assert values(v.scatter_add(rows(1.0))) == [1, 3, 3] and values(v.scatter_sub(rows(2.0))) == [
        1,
        1,
        3,
    ]
    assert values(v.scatter_mul(rows(6.0))) == [1, 6, 3] and values(v.scatter_div(rows(2.0))) == [
        1,
        3,
        3,
    ]
    assert values(v.scatter_max(rows(9.0))) == [1, 9, 3] and values(v.scatter_min(rows(4.0))) == [
        1,
        4,
        3,
    ]
    assert values(v.scatter_update(rows(0.0))) == [1, 0, 3]
    assert values(v.scatter_nd_add([[0]], [5.0])) == [6, 0, 3] and values(
        v.scatter_nd_update([[2]], [7.0])
    ) == [6, 0, 7]
    assert values(v.sparse_read([2, 0])) == [7, 6] and values(v.gather_nd([[1]])) == [0]
    with pytest.raises(TypeError, match="IndexedSlices"):
        v.scatter_add(3)


def test_properties():
    v = tf.Variable(1.0, trainable=False, constraint=abs)
    assert not v.trainable and v.constraint is abs and v.device.endswith("CPU:0")
    assert v.handle.dtype == tf.resource and v.is_initialized().numpy() and v.initializer is None
    assert (
        v.synchronization is tf.VariableSynchronization.AUTO
        and v.aggregation is tf.VariableAggregation.NONE
    )
    assert not tf.Variable(1.0, synchronization=tf.VariableSynchronization.ON_READ).trainable
    with pytest.raises(RuntimeError):
        _ = v.initial_value


@pytest.mark.parametrize(
    "option", [{"variable_def": 1}, {"constraint": 3}, {"synchronization": "x"}]
)
def test_bad_options_are_refused(option):
    with pytest.raises(ValueError):
        tf.Variable(1.0, **option)


def test_what_cannot_be_honoured_is_refused():
    with pytest.raises(NotImplementedError, match="caching_device"):
        tf.Variable(1.0, caching_device="/cpu:0")


def test_copies_and_pickles():
    v = tf.Variable([1.0, 2.0], name="w", trainable=False)
    assert copy.copy(v) is v
    for other in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        assert other is not v and (other.name, other.trainable, values(other)) == (
            "w:0",
            False,
            [1, 2],
        )
        other.assign([0.0, 0.0])
    assert values(v) == [1, 2]


def test_reads_are_snapshots():
    v = tf.Variable([1.0])
    old = v.value()
    v.assign([5.0])
    assert values(old) == [1.0] and values(v.read_value()) == [5.0]
