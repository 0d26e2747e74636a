"""Variables behave as TensorFlow's do in eager code."""

import abc
import copy
import inspect
import operator
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
    with pytest.raises(RuntimeError, match="change the Variable instead: `v.assign"):
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


def test_methods_written_in_c_say_their_parameters():
    names = {
        "assign": ["self", "value", "use_locking", "name", "read_value"],
        "assign_add": ["self", "delta", "use_locking", "name", "read_value"],
        "assign_sub": ["self", "delta", "use_locking", "name", "read_value"],
        "value": ["self"],
        "read_value": ["self"],
    }
    for method, parameters in names.items():
        assert list(inspect.signature(getattr(tf.Variable, method)).parameters) == parameters
        assert getattr(tf.Variable, method).__doc__


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda v: v.assign(), "needs the argument `value`"),
        (lambda v: v.assign(1.0, True, "n", True, 5), "got 5 positional arguments"),
        (lambda v: v.assign_add(1.0, delta=2.0), "got `delta` twice"),
        (lambda v: v.assign_sub(1.0, value=2.0), "has no parameter `value`"),
        (lambda v: v.value(1), "takes no positional arguments"),
        (lambda v: v.read_value(now=True), "has no parameter `now`"),
    ],
)
def test_bad_calls_of_methods_name_the_parameter_and_change_nothing(use, message):
    v = tf.Variable(3.0)
    with pytest.raises(TypeError, match=message) as caught:
        use(v)
    assert caught.value.code == "E1104"
    assert float(v) == 3.0


def test_assignments_by_name_and_without_a_value():
    v = tf.Variable([1.0, 2.0])
    assert v.assign(value=[3, 4], name="now", use_locking=True) is v
    assert v.assign_add(delta=1.0, read_value=False) is None
    assert v.assign_sub(tf.ones([2]), read_value=np.True_) is v
    np.testing.assert_array_equal(v, [3.0, 4.0])
    with pytest.raises(TypeError):
        v.assign(tf.constant([1, 2]))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"])
def test_operators_read_the_variable_on_either_side(name):
    run = getattr(operator, name)
    v, w = tf.Variable([3.0, 5.0]), tf.Variable([2.0, 4.0])
    for a, b in ((v, w), (v, 2.0), (2.0, v), (v, [1.0, 2.0]), (w.read_value(), v), (v, w.numpy())):
        want = run(np.asarray(a, np.float32), np.asarray(b, np.float32))
        got = run(a, b)
        assert isinstance(got, tf.Tensor)
        np.testing.assert_allclose(got, want, rtol=1e-6)
    got = run(np.array([6.0, 7.0], np.float32), v)
    assert isinstance(got, tf.Tensor)


def test_other_operators_and_comparisons_of_variables():
    bits, flags = tf.Variable([6, 5]), tf.Variable([True, False])
    assert (bits & 3).numpy().tolist() == [2, 1]
    assert (3 | bits).numpy().tolist() == [7, 7]
    assert (~bits).numpy().tolist() == [-7, -6]
    assert (flags ^ True).numpy().tolist() == [False, True]
    assert (~flags).numpy().tolist() == [False, True]
    assert isinstance(+bits, tf.Tensor)
    assert (-bits).numpy().tolist() == [-6, -5]
    assert abs(tf.Variable(-2.0)).numpy() == 2.0
    assert (bits > 5).numpy().tolist() == [True, False]
    assert (5 <= bits).numpy().tolist() == [True, True]
    assert (bits == tf.Variable([6, 0])).numpy().tolist() == [True, False]
    assert (bits != [6, 0]).numpy().tolist() == [False, True]
    assert (bits == None) is False
    assert (bits == object()) is False
    m = tf.Variable([[1.0, 2.0]])
    assert (m @ [[1.0], [1.0]]).numpy() == [[3.0]]
    with pytest.raises(TypeError, match="unhashable|no key"):
        hash(bits)
    with pytest.raises(TypeError, match="operand is None"):
        bits + None


def test_a_class_of_the_users_may_take_over_an_operator():
    class Doubled(tf.Variable):
        def __add__(self, other):
            return super().__add__(other) * 2.0

        def __radd__(self, other):
            return "right"

    class Other:
        def __radd__(self, left):
            return left

    v = Doubled([1.0])
    assert (v + 1.0).numpy() == [4.0]
    assert 1.0 + v == "right"
    assert tf.Variable([1.0]) + v == "right"
    plain = tf.Variable(1.0)
    assert plain + Other() is plain


def test_abstract_classes_over_ours_can_not_be_made():
    class Base(tf.Module, metaclass=abc.ABCMeta):
        @abc.abstractmethod
        def run(self):
            """To be written."""

    with pytest.raises(TypeError, match="abstract"):
        Base()
