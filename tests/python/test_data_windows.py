"""Datasets as elements: windows, groups, buckets, and functions that take or give datasets."""

import collections

import numpy as np
import pytest

import holdfast as tf

Dataset = tf.data.Dataset


def values(x):
    """Everything in it as plain Python."""
    if isinstance(x, tf.data.Dataset):
        return [values(e) for e in x]
    if isinstance(x, tuple):
        return tuple(values(e) for e in x)
    if isinstance(x, dict):
        return {k: values(v) for k, v in x.items()}
    return x.numpy().tolist()


def check_resumed(make, taken):
    """A position that was saved after some elements leads to the same rest."""
    first = iter(make())
    for _ in range(taken):
        next(first)
    again = iter(make())
    again.restore(first.save())
    assert [values(e) for e in again] == [values(e) for e in first]


def test_windows_of_all_kinds():
    assert values(Dataset.range(7).window(3)) == [[0, 1, 2], [3, 4, 5], [6]]
    assert values(Dataset.range(5).window(3, 1, 1, True)) == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    assert values(Dataset.range(6).window(3, shift=2, stride=2)) == [[0, 2, 4], [2, 4], [4]]
    assert values(Dataset.range(10).window(2, shift=4)) == [[0, 1], [4, 5], [8, 9]]
    assert values(Dataset.range(3).window(10**12)) == [[0, 1, 2]]
    assert values(Dataset.range(0).window(3)) == []


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("shift", [1, 2, 5])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("drop", [True, False])
def test_the_number_of_windows_is_known(size, shift, stride, drop):
    for n in (0, 1, 4, 9):
        ds = Dataset.range(n).window(size, shift, stride, drop)
        assert len(ds) == len(list(ds))


def test_a_window_of_a_structure_is_that_structure_of_datasets():
    pairs = Dataset.from_tensor_slices((np.arange(4), np.arange(4) * 10))
    assert values(pairs.window(2)) == [([0, 1], [0, 10]), ([2, 3], [20, 30])]
    both = pairs.window(3, shift=1, drop_remainder=True).flat_map(
        lambda a, b: Dataset.zip((a.batch(3), b.batch(3)))
    )
    assert values(both) == [([0, 1, 2], [0, 10, 20]), ([1, 2, 3], [10, 20, 30])]
    named = Dataset.from_tensor_slices({"a": [1, 2, 3], "b": [4, 5, 6]}).window(2)
    assert values(named) == [{"a": [1, 2], "b": [4, 5]}, {"a": [3], "b": [6]}]
    spec = tf.data.DatasetSpec(tf.TensorSpec((), tf.int32))
    assert named.element_spec == {"a": spec, "b": spec}
    assert spec.element_spec == tf.TensorSpec((), tf.int32) and "TensorSpec" in repr(spec)
    Pair = collections.namedtuple("Pair", "left right")
    one = next(iter(Dataset.from_tensor_slices(Pair(np.arange(3), np.arange(3))).window(2)))
    assert type(one) is Pair and values(one.left) == [0, 1]


def test_windows_go_through_other_stages():
    ds = Dataset.range(12).window(3)
    assert values(ds.flat_map(lambda w: w.batch(3))) == np.arange(12).reshape(4, 3).tolist()
    assert sorted(values(ds.shuffle(4, seed=1).flat_map(lambda w: w))) == list(range(12))
    assert values(ds.skip(1).take(2).repeat(2).flat_map(lambda w: w)) == [*range(3, 9)] * 2
    assert values(ds.enumerate().flat_map(lambda i, w: w.map(lambda x: x * 100 + i)))[3:5] == [
        301,
        401,
    ]
    assert values(ds.prefetch(2).cache().flat_map(lambda w: w)) == list(range(12))
    turns = ds.interleave(lambda w: w, cycle_length=2, num_parallel_calls=2)
    assert values(turns)[:4] == [0, 3, 1, 4]
    inner = (
        Dataset.range(8).window(4).flat_map(lambda w: w.window(2)).flat_map(lambda w: w.batch(2))
    )
    assert values(inner) == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_functions_of_windows_are_called_with_values():
    ds = Dataset.range(7).window(3)
    total = ds.map(lambda w: w.reduce(np.int64(0), lambda a, b: a + b))
    assert values(total) == [3, 12, 6] and total.element_spec == tf.TensorSpec((), tf.int64)
    assert values(ds.map(lambda w: w.map(lambda x: x * 2))) == [[0, 2, 4], [6, 8, 10], [12]]
    long = ds.filter(lambda w: w.reduce(0, lambda n, _: n + 1) == 3)
    assert values(long.flat_map(lambda w: w)) == [0, 1, 2, 3, 4, 5]
    one = ds.map(lambda w: w.batch(3).get_single_element() * 10)
    assert values(one) == [[0, 10, 20], [30, 40, 50], [60]]


def test_datasets_given_by_functions_and_captured_by_them():
    assert values(Dataset.range(4).map(lambda x: Dataset.range(x))) == [[], [0], [0, 1], [0, 1, 2]]
    assert values(Dataset.from_tensors(Dataset.range(3)).flat_map(lambda d: d)) == [0, 1, 2]
    other = Dataset.range(5)
    ds = Dataset.range(3).map(lambda x: other.reduce(x, lambda a, b: a + b))
    assert values(ds) == [10, 11, 12]
    ds = Dataset.range(4).map(lambda x: Dataset.range(x).reduce(np.int64(0), lambda a, b: a + b))
    assert values(ds) == [0, 0, 1, 3]
    rows = Dataset.from_tensor_slices([[1, 2], [3, 4]])
    ds = rows.map(lambda r: Dataset.from_tensor_slices(r).map(lambda x: x + 1).batch(2))
    assert values(ds) == [[[2, 3]], [[4, 5]]]


def test_reduce_inside_a_traced_function_is_a_loop():
    ds = Dataset.range(5)

    @tf.function
    def from_(start):
        return ds.reduce((start, 0), lambda s, x: (s[0] + x, s[1] + 1))

    assert values(from_(tf.constant(7, tf.int64))) == (17, 5)
    assert from_.experimental_get_tracing_count() == 1

    @tf.function
    def only():
        return Dataset.from_tensors({"a": 3}).get_single_element()["a"] + 1

    assert int(only()) == 4


def test_groups_of_a_key():
    ds = Dataset.range(10).group_by_window(lambda x: x % 3, lambda k, w: w.batch(2), window_size=2)
    assert values(ds) == [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]]
    ds = Dataset.range(10).group_by_window(
        lambda x: x % 2, lambda k, w: w.map(lambda x: x + k * 100), window_size_func=lambda k: k + 2
    )
    assert values(ds) == [0, 2, 101, 103, 105, 4, 6, 8, 107, 109]
    pairs = Dataset.from_tensor_slices((np.arange(4), np.arange(4) % 2))
    ds = pairs.group_by_window(lambda x, y: y, lambda k, w: w.batch(4), window_size=4)
    assert values(ds) == [([0, 2], [0, 0]), ([1, 3], [1, 1])]
    with pytest.raises(ValueError, match="window_size"):
        Dataset.range(3).group_by_window(lambda x: x, lambda k, w: w)
    with pytest.raises(TypeError, match="expected an integer scalar"):
        Dataset.range(3).group_by_window(lambda x: 1.5, lambda k, w: w, window_size=2)
    with pytest.raises(TypeError, match="expected a dataset"):
        Dataset.range(3).group_by_window(lambda x: x, lambda k, w: k, window_size=2)


SENTENCES = [[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10, 11], [13, 14, 15, 16, 19], [21, 22]]


def sentences():
    return Dataset.from_generator(
        lambda: iter(SENTENCES), output_signature=tf.TensorSpec([None], tf.int64)
    )


def test_buckets_of_one_length():
    def length(e):
        return tf.shape(e)[0]

    ds = sentences().bucket_by_sequence_length(length, [3, 5], [2, 2, 2])
    assert values(ds) == [
        [[1, 2, 3, 4], [5, 6, 7, 0]],
        [[7, 8, 9, 10, 11], [13, 14, 15, 16, 19]],
        [[0, 0], [21, 22]],
    ]
    assert ds.element_spec == tf.TensorSpec((None, None), tf.int64)
    ds = sentences().bucket_by_sequence_length(
        length, [3, 7], [2, 2, 2], padding_values=-1, pad_to_bucket_boundary=True
    )
    assert values(ds)[0] == [[1, 2, 3, 4, -1, -1], [5, 6, 7, -1, -1, -1]]
    ds = sentences().bucket_by_sequence_length(
        length, [3, 5], [2, 2, 2], pad_to_bucket_boundary=True
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="boundaries"):
        list(ds)
    with pytest.raises(tf.errors.InvalidArgumentError, match="one more"):
        sentences().bucket_by_sequence_length(length, [3, 5], [2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="rise"):
        sentences().bucket_by_sequence_length(length, [5, 3], [2, 2, 2])


@pytest.mark.parametrize("taken", [0, 1, 3])
def test_positions_of_windows_are_saved(taken):
    check_resumed(lambda: Dataset.range(9).window(3, shift=2), taken)
    check_resumed(lambda: Dataset.range(9).window(2).shuffle(3, seed=1), taken)
    check_resumed(lambda: Dataset.range(9).window(3).prefetch(2), taken)
    check_resumed(lambda: Dataset.range(9).window(3, shift=1).flat_map(lambda w: w.batch(2)), taken)
    check_resumed(
        lambda: (
            Dataset.range(9)
            .window(3)
            .map(lambda w: w.map(lambda x: x + 1))
            .interleave(lambda w: w, cycle_length=2)
        ),
        taken,
    )
    check_resumed(
        lambda: Dataset.range(20).group_by_window(
            lambda x: x % 3, lambda k, w: w.batch(2), window_size=4
        ),
        taken,
    )


def test_what_windows_are_refused_for():
    ds = Dataset.range(4).window(2)
    with pytest.raises(tf.errors.UnimplementedError, match="flat_map"):
        ds.batch(2)
    with pytest.raises(tf.errors.UnimplementedError, match="datasets"):
        ds.unique()
    for bad in ({"size": 0}, {"size": 2, "shift": 0}, {"size": 2, "stride": -1}):
        with pytest.raises(tf.errors.InvalidArgumentError, match="expected 1 or more"):
            Dataset.range(3).window(**bad)

    @tf.function
    def loop():
        for w in ds:
            tf.print(w)

    with pytest.raises(tf.errors.UnimplementedError, match="datasets"):
        loop()


def test_functions_that_make_datasets_may_branch_on_elements():
    def made(x):
        if tf.equal(x, 0):
            return tf.data.Dataset.from_tensors(x).repeat(3)
        return tf.data.Dataset.range(x)

    wanted = [0, 0, 0, 0, 0, 1, 0, 1, 2]
    numbers = tf.data.Dataset.range(4)
    assert [int(v) for v in numbers.flat_map(made)] == wanted
    assert sorted(int(v) for v in numbers.interleave(made, 2, num_parallel_calls=2)) == sorted(
        wanted
    )
    chosen = numbers.flat_map(
        lambda x: tf.data.Dataset.range(x) if x > 1 else tf.data.Dataset.range(1)
    )
    assert [int(v) for v in chosen] == [0, 0, 0, 1, 0, 1, 2]


def test_a_generator_may_have_elements_as_arguments():
    def tens(n):
        for i in range(n):
            yield i * 10

    spec = tf.TensorSpec((), tf.int64)
    ds = tf.data.Dataset.range(4).flat_map(
        lambda n: tf.data.Dataset.from_generator(tens, args=(n,), output_signature=spec)
    )
    assert [int(v) for v in ds] == [0, 0, 10, 0, 10, 20]


def test_errors_that_a_window_steps_over_are_nobodys():
    numbers = tf.constant([1.0, np.nan, 2.0, np.nan, 3.0])
    ds = tf.data.Dataset.from_tensor_slices(numbers)
    ds = ds.map(lambda x: tf.debugging.check_numerics(x, "bad"))
    apart = ds.window(2, shift=2, stride=2, drop_remainder=True).flat_map(lambda w: w.batch(2))
    assert [x.numpy().tolist() for x in apart] == [[1.0, 2.0], [2.0, 3.0]]
    it = iter(ds.window(2).flat_map(lambda w: w.batch(2)))
    for _ in range(2):
        with pytest.raises(tf.errors.InvalidArgumentError, match="check_numerics"):
            next(it)
    assert next(it).numpy().tolist() == [3.0]
