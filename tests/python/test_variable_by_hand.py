"""Variables made by hand, with `VarHandleOp`: they have no value before one is assigned."""

import numpy as np
import pytest

import holdfast as tf

raw = tf.raw_ops


def test_assigned_and_read():
    handle = raw.VarHandleOp(dtype=tf.float32, shape=[2, 3])
    assert not raw.VarIsInitializedOp(resource=handle)
    raw.AssignVariableOp(resource=handle, value=tf.ones([2, 3]))
    raw.AssignAddVariableOp(resource=handle, value=tf.ones([2, 3]))
    raw.ResourceScatterAdd(resource=handle, indices=[1], updates=[[1.0, 2.0, 3.0]])
    got = raw.ReadVariableOp(resource=tf.identity(handle), dtype=tf.float32)
    np.testing.assert_array_equal(got, [[2, 2, 2], [3, 4, 5]])
    assert raw.VarIsInitializedOp(resource=handle)


READERS = {
    "read": lambda h: raw.ReadVariableOp(resource=h, dtype=tf.float32),
    "add": lambda h: raw.AssignAddVariableOp(resource=h, value=tf.ones([2])),
    "rows": lambda h: raw.ResourceGather(resource=h, indices=[0], dtype=tf.float32),
    "parts": lambda h: raw.ResourceGatherNd(resource=h, indices=[[0]], dtype=tf.float32),
    "scatter": lambda h: raw.ResourceScatterAdd(resource=h, indices=[0], updates=[1.0]),
    "scatter_nd": lambda h: raw.ResourceScatterNdAdd(ref=h, indices=[[0]], updates=[1.0]),
    "descent": lambda h: raw.ResourceApplyGradientDescent(var=h, alpha=0.1, delta=tf.ones([2])),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("traced", [False, True])
def test_without_a_value_each_reader_is_refused(reader, traced):
    handle = raw.VarHandleOp(dtype=tf.float32, shape=[2], debug_name="table")

    def f():
        return READERS[reader](handle)

    f = tf.function(f) if traced else f
    with pytest.raises(tf.errors.InvalidArgumentError, match="`table` has no value yet"):
        f()
    raw.AssignVariableOp(resource=handle, value=tf.zeros([2]))
    f()


def test_a_generators_state_needs_a_value():
    handle = raw.VarHandleOp(dtype=tf.int64, shape=[3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="no value yet"):
        raw.StatefulUniform(resource=handle, algorithm=1, shape=[2], dtype=tf.float32)


def test_types_are_checked():
    handle = raw.VarHandleOp(dtype=tf.int32, shape=[])
    with pytest.raises(tf.errors.InvalidArgumentError):
        raw.AssignVariableOp(resource=handle, value=tf.constant(1.0))
    with pytest.raises(tf.errors.InvalidArgumentError):
        raw.AssignVariableOp(resource=handle, value=tf.constant([1]))
    with pytest.raises(tf.errors.InvalidArgumentError):
        raw.ReadVariableOp(resource=handle, dtype=tf.float32)


def test_in_a_graph_each_session_has_its_own():
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        handle = raw.VarHandleOp(dtype=tf.int32, shape=[2], debug_name="held")
        assign = raw.AssignVariableOp(resource=handle, value=[1, 2])
        more = raw.AssignAddVariableOp(resource=handle, value=[10, 10])
        value = raw.ReadVariableOp(resource=handle, dtype=tf.int32)
        with tf.control_dependencies([assign]):
            after = raw.ReadVariableOp(resource=handle, dtype=tf.int32)
        other = tf.Variable(5)
        init = v1.global_variables_initializer()
    with v1.Session(graph=graph) as one, v1.Session(graph=graph) as two:
        one.run(init)
        assert one.run(other) == 5
        np.testing.assert_array_equal(one.run(after), [1, 2])
        one.run(more)
        np.testing.assert_array_equal(one.run(value), [11, 12])
        with pytest.raises(tf.errors.InvalidArgumentError, match="`held` has no value yet"):
            two.run(value)
        two.run(assign)
        np.testing.assert_array_equal(two.run(value), [1, 2])


def test_a_shared_name_finds_a_variable_of_the_graph():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        v = tf.Variable([3.0, 4.0], name="shared")
        handle = raw.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="shared")
        value = raw.ReadVariableOp(resource=handle, dtype=tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="`shared`"):
            raw.VarHandleOp(dtype=tf.int32, shape=[2], shared_name="shared")
        with v1.Session() as session:
            session.run(v.initializer)
            session.run(v.assign_add([1.0, 1.0]))
            np.testing.assert_array_equal(session.run(value), [4, 5])


@pytest.mark.parametrize(
    "option", [{"container": "c"}, {"allowed_devices": ["/CPU:0"]}, {"shared_name": "s"}]
)
def test_what_is_not_supported_is_refused(option):
    with pytest.raises(tf.errors.UnimplementedError, match=next(iter(option))):
        raw.VarHandleOp(dtype=tf.float32, shape=[], **option)
