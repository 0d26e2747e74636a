"""What `assign` gives in a graph is the variable as it is after the change."""

import gc

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


@pytest.fixture
def session():
    with tf.Graph().as_default(), v1.Session() as session:
        yield session


def test_it_is_a_variable_that_can_be_changed_again(session):
    v = tf.Variable([1.0, 2.0], name="weights")
    once = v.assign([3.0, 4.0])
    twice = once.assign_add([1.0, 1.0]).assign_sub([0.5, 0.5])
    assert isinstance(once, tf.Variable) and not isinstance(once, tf.Tensor)
    assert (once.shape, once.dtype, once.trainable) == (v.shape, v.dtype, v.trainable)
    assert once.op.type == "AssignVariableOp" and twice.op.type == "AssignSubVariableOp"
    assert once.name == once.op.name and "weights" in repr(once)
    session.run(v.initializer)
    np.testing.assert_array_equal(session.run(twice), [3.5, 4.5])
    np.testing.assert_array_equal(session.run(v), [3.5, 4.5])


def test_reading_it_waits_for_the_change(session):
    v = tf.Variable(2.0)
    doubled = v.assign(5.0) * 2.0
    whole = tf.reduce_sum(tf.stack([v.assign_add(1.0), 1.0]))
    session.run(v.initializer)
    assert session.run(doubled) == 10.0
    assert session.run(whole) == 7.0


def test_it_goes_where_a_variable_goes(session):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    after = v.assign([[5.0, 6.0], [7.0, 8.0]])
    row = after[1]
    rows = tf.gather(after, [1, 0])
    scattered = after.scatter_update(tf.IndexedSlices([[0.0, 0.0]], [0]))
    product = tf.matmul(after, after)
    session.run(v.initializer)
    np.testing.assert_array_equal(session.run(row), [7, 8])
    np.testing.assert_array_equal(session.run(rows), [[7, 8], [5, 6]])
    np.testing.assert_array_equal(session.run(scattered), [[0, 0], [7, 8]])
    np.testing.assert_array_equal(session.run(product), [[67, 78], [91, 106]])
    assert after.eval().tolist() == [[5, 6], [7, 8]]


def test_waiting_for_it_runs_the_change_and_reads_nothing(session):
    v = tf.Variable(0)
    counted = v.assign_add(1)
    with tf.control_dependencies([counted]):
        done = tf.no_op()
    assert done.control_inputs == [counted.op]
    together = tf.group(counted, v.assign_add(10))
    session.run(v.initializer)
    session.run(done)
    assert session.run(v) == 1
    session.run(together)
    assert session.run(v) == 12


def test_gradients_see_the_variable_behind_it(session):
    v = tf.Variable(3.0)
    after = v.assign(4.0)
    (slope,) = tf.gradients(after * after, [v])
    session.run(v.initializer)
    assert session.run(slope) == 8.0


def test_in_a_branch_changes_run_in_their_order(session):
    v = tf.Variable(1.0)
    chosen = v1.placeholder(tf.bool, [])
    value = tf.cond(chosen, lambda: v.assign(7.0).assign_add(1.0), lambda: v.assign_sub(1.0))
    session.run(v.initializer)
    assert session.run(value, {chosen: True}) == 8.0
    assert session.run(value, {chosen: False}) == 7.0


def test_a_branch_that_reads_it_waits_for_the_change(session):
    v = tf.Variable(1.0)
    after = v.assign(6.0)
    value = tf.cond(v1.placeholder_with_default(True, []), lambda: after + 1.0, lambda: 0.0)
    session.run(v.initializer)
    assert session.run(value) == 7.0


def test_without_read_value_it_is_the_operation(session):
    v = tf.Variable(1.0)
    done = v.assign(2.0, read_value=False)
    assert isinstance(done, tf.Operation)


def test_the_variables_own_object_stays_its_own(session):
    v = tf.Variable(1.0, name="mine")
    v.note = "mine"
    after = v.assign(2.0)
    del after
    gc.collect()
    assert v1.global_variables() == [v] and v1.global_variables()[0].note == "mine"
    with tf.GradientTape() as tape:
        read = v * 1.0
    assert tape.watched_variables()[0] is v, read


# Handles, containers, caches.


def test_the_handle_is_a_tensor_of_the_graph(session):
    v = tf.Variable([1.0, 2.0], name="held")
    handle = v.handle
    assert (handle.dtype, handle.op, handle.graph) == (tf.resource, v.op, v.graph)
    value = tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)
    change = tf.raw_ops.AssignAddVariableOp(resource=handle, value=[1.0, 1.0])
    (slope,) = tf.gradients(value * 3.0, [v])
    session.run(v.initializer)
    session.run(change)
    np.testing.assert_array_equal(session.run(value), [2, 3])
    np.testing.assert_array_equal(session.run(slope), [3, 3])
    doubled = tf.function(lambda: tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32) * 2)
    np.testing.assert_array_equal(session.run(doubled()), [4, 6])


def test_what_a_function_computes_for_it_is_placed_with_it(session):
    v = tf.Variable(lambda: tf.ones([2]) * 2.0, name="placed")
    assert v.initial_value.op.colocation_groups() == v.handle.op.colocation_groups()
    assert v.handle.op.colocation_groups() == [b"loc:@placed"]


def test_containers_keep_names_apart(session):
    raw = tf.raw_ops
    graph = v1.get_default_graph()

    def named(**options):
        return raw.VarHandleOp(dtype=tf.float32, shape=[], shared_name="n", **options)

    plain = named()
    with v1.container("other"):
        other = named()
        with graph.container("inner"):
            inner = named()
        again = named()
    values = [raw.ReadVariableOp(resource=h, dtype=tf.float32) for h in (plain, named(), again)]
    values.append(raw.ReadVariableOp(resource=named(container="inner"), dtype=tf.float32))
    for value, handle in zip((1.0, 2.0, 3.0), (plain, other, inner), strict=True):
        session.run(raw.AssignVariableOp(resource=handle, value=value))
    assert session.run(values) == [1.0, 1.0, 2.0, 3.0]
    with pytest.raises(TypeError, match="container_name"), graph.container(3):
        pass


def test_eager_variables_share_nothing_by_name():
    first = tf.Variable(1, name="same")
    with v1.container("different"):
        second = tf.Variable(0, name="same")
    second.assign(2)
    assert (first.numpy(), second.numpy()) == (1, 2)


def test_a_cached_variable_is_read_once_and_before_it_is_written(session):
    v = tf.Variable(0.0, caching_device="/CPU:0")
    assert v.value() is v.value() and v.read_value() is not v.value()
    assert "CPU:0" in v.value().device
    added = v.assign_add(1.0)
    together = v + v
    session.run(v.initializer)
    assert session.run([v, together, added]) == [0.0, 0.0, 1.0]
    assert session.run(v.read_value()) == 1.0


def test_an_eager_variable_has_no_cache():
    with pytest.raises(tf.errors.UnimplementedError, match="caching_device"):
        tf.Variable(1.0, caching_device="/CPU:0")
