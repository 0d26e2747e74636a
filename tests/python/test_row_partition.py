"""Rows without values, and shapes that are made of them."""

import numpy as np
import pytest

import holdfast as tf

RowPartition = tf.experimental.RowPartition
Shape = tf.experimental.DynamicRaggedShape


@pytest.mark.parametrize(
    "make",
    [
        lambda: RowPartition.from_row_lengths([2, 0, 3]),
        lambda: RowPartition.from_row_splits([0, 2, 2, 5]),
        lambda: RowPartition.from_row_starts([0, 2, 2], nvals=5),
        lambda: RowPartition.from_row_limits([2, 2, 5]),
        lambda: RowPartition.from_value_rowids([0, 0, 2, 2, 2]),
        lambda: tf.function(lambda p: p)(RowPartition.from_row_lengths([2, 0, 3])),
    ],
)
def test_rows_can_be_said_in_several_ways(make):
    rows = make()
    assert rows.row_splits().numpy().tolist() == [0, 2, 2, 5] and rows.dtype == tf.int64
    assert rows.row_lengths().numpy().tolist() == [2, 0, 3]
    assert rows.row_starts().numpy().tolist() == [0, 2, 2]
    assert rows.row_limits().numpy().tolist() == [2, 2, 5]
    assert rows.value_rowids().numpy().tolist() == [0, 0, 2, 2, 2]
    assert rows.offsets_in_rows().numpy().tolist() == [0, 1, 0, 1, 2]
    assert (rows.nrows().numpy(), rows.nvals().numpy(), rows.static_nrows) == (3, 5, 3)
    assert not rows.is_uniform() and rows.uniform_row_length() is None
    assert rows.with_dtype(tf.int32).row_splits().dtype == tf.int32


def test_rows_that_are_as_long():
    rows = RowPartition.from_uniform_row_length(2, nvals=6)
    assert rows.row_splits().numpy().tolist() == [0, 2, 4, 6] and rows.is_uniform()
    assert (rows.static_uniform_row_length, rows.static_nvals) == (2, 6)
    empty = RowPartition.from_uniform_row_length(0, nrows=3, dtype=tf.int32)
    assert empty.row_splits().numpy().tolist() == [0, 0, 0, 0] and empty.dtype == tf.int32
    same = tf.function(lambda p: p)(rows)
    assert same.is_uniform() and same.static_uniform_row_length == 2


def test_dtypes_of_rows():
    assert RowPartition.from_row_lengths(np.int32([1, 2])).dtype == tf.int32
    assert RowPartition.from_row_lengths([1, 2], dtype_hint=tf.int32).dtype == tf.int32
    assert RowPartition.from_row_lengths(tf.constant([1, 2]), dtype=tf.int64).dtype == tf.int64
    with pytest.raises((TypeError, ValueError), match="int32 or int64"):
        RowPartition.from_row_lengths([1, 2]).with_dtype(tf.float32)


@pytest.mark.parametrize(
    "make",
    [
        lambda: RowPartition([0, 1]),
        lambda: RowPartition.from_row_lengths([2, -1]),
        lambda: RowPartition.from_row_lengths([1.5]),
        lambda: RowPartition.from_row_lengths([[1]]),
        lambda: RowPartition.from_row_splits([1, 2]),
        lambda: RowPartition.from_row_splits([0, 3, 2]),
        lambda: RowPartition.from_row_splits([]),
        lambda: RowPartition.from_row_starts([0, 7], 5),
        lambda: RowPartition.from_row_limits([-1, 2]),
        lambda: RowPartition.from_value_rowids([1, 0]),
        lambda: RowPartition.from_value_rowids([0, 5], nrows=2),
        lambda: RowPartition.from_uniform_row_length(2),
        lambda: RowPartition.from_uniform_row_length(2, nvals=5),
        lambda: RowPartition.from_uniform_row_length(-1, nrows=2),
    ],
)
def test_rows_that_are_none_are_refused(make):
    with pytest.raises((ValueError, TypeError), match="error"):
        make()


def test_rows_are_checked_when_a_graph_runs():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
    def count(lengths):
        return RowPartition.from_row_lengths(lengths).nvals()

    assert count([1, 2]).numpy() == 3
    with pytest.raises(tf.errors.InvalidArgumentError):
        count([1, -2])


def test_shapes_by_their_lengths():
    shape = Shape.from_lengths([2, (3, 2), 4])
    assert repr(shape) == "<DynamicRaggedShape lengths=[2, (3, 2), 4] num_row_partitions=1>"
    assert shape.static_lengths() == [2, (3, 2), 4] and shape.rank == 3
    assert shape.static_lengths(ragged_lengths=False) == [2, None, 4]
    assert shape.inner_shape.numpy().tolist() == [5, 4] and shape.inner_rank == 2
    assert [shape.is_uniform(i) for i in range(3)] == [True, False, True]
    same = Shape([RowPartition.from_row_lengths([3, 2])], inner_shape=[5, 4])
    assert same == shape and same != Shape.from_lengths([2, (2, 3), 4])
    assert Shape.from_lengths([2, 3], num_row_partitions=1).num_row_partitions == 1
    assert Shape.from_lengths([2, 3]).num_row_partitions == 0
    assert Shape.from_row_partitions([RowPartition.from_row_lengths([3, 2])]).rank == 2
    assert Shape.from_tensor(tf.zeros([2, 3])).static_lengths() == [2, 3]
    assert shape.with_dtype(tf.int32).inner_shape.dtype == tf.int32


def test_parts_of_shapes():
    shape = Shape.from_lengths([2, 2, (1, 2, 0, 3), 5])
    assert [shape[i].numpy() for i in (0, 1, 3, -1)] == [2, 2, 5, 5]
    assert shape[:3].static_lengths() == [2, 2, (1, 2, 0, 3)]
    assert shape[:2].static_lengths() == [2, 2] and shape[:1].static_lengths() == [2]
    assert shape[:0].rank == 0 and shape[:].rank == 4
    uniform = Shape.from_lengths([2, 3, 4], num_row_partitions=1)
    assert uniform[1:].static_lengths() == [3, 4]
    for bad, error in ((2, ValueError), (7, IndexError), (slice(None, None, 2), IndexError)):
        with pytest.raises(error):
            shape[bad]
    with pytest.raises(ValueError, match="ragged"):
        shape[1:]


def test_tensors_of_a_ragged_shape():
    shape = Shape.from_lengths([2, (3, 1)])
    assert tf.ones(shape).to_list() == [[1, 1, 1], [1]]
    assert tf.zeros(shape, tf.int32).to_list() == [[0, 0, 0], [0]]
    assert tf.fill(shape, 7).to_list() == [[7, 7, 7], [7]]
    assert tf.reshape(tf.range(4), shape).to_list() == [[0, 1, 2], [3]]
    assert tf.broadcast_to(5, shape).to_list() == [[5, 5, 5], [5]]
    assert tf.broadcast_to([[1], [2]], shape).to_list() == [[1, 1, 1], [2]]
    ones = tf.RaggedTensor.from_uniform_row_length([1, 2], 1)
    assert tf.broadcast_to(ones, shape).to_list() == [[1, 1, 1], [2]]
    deep = Shape.from_lengths([2, (3, 1), 2])
    want = [[[7, 8]] * 3, [[7, 8]]]
    assert tf.broadcast_to([7, 8], deep).to_list() == want
    assert tf.broadcast_to([[[7, 8]], [[7, 8]]], deep).to_list() == want
    assert tf.broadcast_to([1, 2], Shape.from_lengths([3, 2])).numpy().tolist() == [[1, 2]] * 3
    later = tf.function(tf.broadcast_to)(tf.constant([[1], [2]]), shape)
    assert later.to_list() == [[1, 1, 1], [2]]
    for bad in (tf.constant([[1, 2], [3, 4]]), tf.ragged.constant([[1, 2, 3], [1, 2]])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.broadcast_to(bad, shape)


def test_shapes_beside_each_other():
    ragged = Shape.from_lengths([2, (3, 1)])
    beside = tf.broadcast_dynamic_shape
    assert beside(ragged, Shape.from_lengths([2, 1])).static_lengths() == [2, (3, 1)]
    deep = Shape.from_lengths([2, (3, 1), 4])
    assert beside(deep, Shape.from_lengths([4])).static_lengths() == [2, (3, 1), 4]
    dense = beside(Shape.from_lengths([2, 1]), Shape.from_lengths([3]))
    assert dense.static_lengths() == [2, 3]


def test_shapes_come_out_of_functions():
    rt = tf.ragged.constant([[1], [2, 3]])
    shape = tf.function(tf.shape)(rt)
    assert isinstance(shape, Shape) and shape.static_lengths() == [2, (1, 2)]
    assert tf.shape(rt).static_lengths() == [2, (1, 2)]
    assert tf.shape(rt, tf.int32).dtype == tf.int32


@pytest.mark.parametrize(
    "make",
    [
        lambda: Shape.from_lengths((2, 3)),
        lambda: Shape.from_lengths([2, (3,)]),
        lambda: Shape.from_lengths([(1, 2), 2]),
        lambda: Shape.from_lengths([2, 1.5]),
        lambda: Shape.from_lengths([2, (1, 2)], num_row_partitions=2),
        lambda: Shape([1], [2]),
        lambda: Shape([RowPartition.from_uniform_row_length(2, nvals=4)], [5]),
        lambda: Shape([RowPartition.from_row_lengths([2, 1])], [5], validate=True),
        lambda: Shape([], [[1]]),
    ],
)
def test_shapes_that_are_none_are_refused(make):
    with pytest.raises((ValueError, TypeError), match="error"):
        make()


def test_clusters_are_what_the_program_says():
    cluster = tf.train.ClusterSpec({"worker": ["a:1", "b:2"], "ps": {1: "c:3"}})
    assert cluster.jobs == ["worker", "ps"] and cluster.num_tasks("worker") == 2
    assert cluster.task_indices("ps") == [1] and cluster.task_address("ps", 1) == "c:3"
    assert cluster.job_tasks("ps") == [None, "c:3"]
    assert cluster.as_dict() == {"worker": ["a:1", "b:2"], "ps": {1: "c:3"}}
    assert cluster == tf.train.ClusterSpec(cluster) and cluster
    assert repr(cluster) == "ClusterSpec({'ps': {1: 'c:3'}, 'worker': ['a:1', 'b:2']})"
    for bad in ([1], {"a": 1}, {"a": [1]}):
        with pytest.raises(TypeError):
            tf.train.ClusterSpec(bad)
    with pytest.raises(ValueError, match="no job"):
        cluster.num_tasks("chief")
    with pytest.raises(ValueError, match="no task 7"):
        cluster.task_address("ps", 7)
