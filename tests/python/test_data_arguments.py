"""Arguments of stages that are of a wrong type are told by name, with what came and what was expected."""

import numpy as np
import pytest

import holdfast as tf

Dataset = tf.data.Dataset
ds = Dataset.range(6)
rows = Dataset.range(1, 5).map(tf.range)


def buckets(bounds, sizes, **options):
    return rows.bucket_by_sequence_length(tf.size, bounds, sizes, **options)


@pytest.mark.parametrize("value", [int, np.zeros((2, 2), int), tf.constant([1, 2]), 1.5, "3", None])
@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("batch_size", ds.batch),
        ("buffer_size", ds.shuffle),
        ("count", ds.take),
        ("size", ds.window),
        ("num_shards", lambda n: ds.shard(n, 0)),
        ("bucket_boundaries", lambda n: buckets([n], [2, 2])),
        ("num_parallel_calls", lambda n: ds.batch(2, num_parallel_calls="" if n is None else n)),
    ],
)
def test_what_is_no_integer(name, stage, value):
    with pytest.raises(TypeError, match=rf"E1104.*`{name}` is .*, expected an integer"):
        stage(value)


@pytest.mark.parametrize("value", ["False", 1, None, np.array([True]), tf.constant(1.0)])
@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("drop_remainder", lambda v: ds.batch(2, drop_remainder=v)),
        ("drop_remainder", lambda v: ds.window(2, drop_remainder=v)),
        ("drop_remainder", lambda v: buckets([2], [2, 2], drop_remainder=v)),
        ("no_padding", lambda v: buckets([2], [2, 2], no_padding=v)),
        ("stop_on_empty_dataset", lambda v: Dataset.choose_from_datasets([ds], ds, v)),
        ("log_warning", lambda v: ds.ignore_errors(v)),
    ],
)
def test_what_is_neither_true_nor_false(name, stage, value):
    with pytest.raises(TypeError, match=rf"E1104.*`{name}` is .*, expected True or False"):
        stage(value)


@pytest.mark.parametrize("value", [True, np.True_, tf.constant(True), tf.Variable(True)])
def test_what_is_true(value):
    assert len(list(ds.batch(4, drop_remainder=value))) == 1


@pytest.mark.parametrize("value", [None, 3, ds, tf.constant(2), np.zeros((2, 2), int)])
def test_what_is_no_list_of_integers(value):
    with pytest.raises(TypeError, match="`bucket_boundaries` is "):
        buckets(value, [2, 2])
    with pytest.raises(TypeError, match="`bucket_batch_sizes` is "):
        buckets([2], value)


@pytest.mark.parametrize("value", [tf.constant([2]), np.array([2]), range(2, 3), (2,)])
def test_lists_of_integers(value):
    assert [len(b) for b in buckets(value, [1, 3])] == [1, 3]


@pytest.mark.parametrize("value", [1.5, "x", [-7], [2**70], tf.constant("a"), [[1, 2]]])
def test_shapes_to_pad_to(value):
    with pytest.raises((TypeError, ValueError), match="E110[1234].*`padded_shapes`"):
        rows.padded_batch(2, padded_shapes=value)


def test_threads_of_a_batch_are_looked_at():
    with pytest.raises(ValueError, match="`num_parallel_calls` of `batch` is -7"):
        ds.batch(2, num_parallel_calls=-7)
    assert len(list(ds.batch(2, num_parallel_calls=4, deterministic=False))) == 3


def test_a_key_is_no_none():
    with pytest.raises(TypeError, match="`key_func` of `group_by_window` gave None"):
        ds.group_by_window(lambda x: None, lambda k, w: w, 2)
    with pytest.raises(TypeError, match="`element_length_func` of `bucket_by_sequence_length`"):
        rows.bucket_by_sequence_length(lambda x: None, [2], [2, 2])
