"""Elementwise functions over rows run on whole batches: the same values, and the same errors."""

import numpy as np
import pytest

import holdfast as tf

Dataset = tf.data.Dataset
ROWS = np.random.default_rng(1).normal(size=(23, 3)).astype(np.float32)


@pytest.mark.parametrize(
    "function",
    [
        lambda r: tf.exp(r) / 3 + tf.sin(r),
        lambda r: tf.tanh(r * [1.0, 2.0, 3.0]),
        lambda r: tf.cast(r > 0, tf.int32),
        lambda r: (r, {"twice": r * 2}),
        lambda r: r * tf.reduce_sum(r),  # not elementwise
        lambda r: r[1],
        lambda r: tf.constant(5.0),  # the same for each
        lambda r: (r + 1, 2.0),
    ],
)
def test_batches_are_those_of_the_elements(function):
    ds = Dataset.from_tensor_slices(ROWS).map(function)
    plain = [tf.nest.flatten(e) for e in ds]
    for given in (ds.batch(5), ds.take(-1).batch(7), ds.repeat(1).batch(23)):
        rows = [tf.nest.flatten(e) for e in given.unbatch()]
        assert len(rows) == 23
        for one, other in zip(plain, rows, strict=True):
            for a, b in zip(one, other, strict=True):
                np.testing.assert_array_equal(a, b)


def test_chains_shuffles_and_positions():
    def made():
        ds = Dataset.range(40).map(lambda x: x * 2).shuffle(9, seed=4).map(lambda x: (x, x + 1))
        return ds.map(lambda a, b: a * 100 + b, num_parallel_calls=2).repeat(2).batch(7)

    one_by_one = [
        int(v)
        for v in Dataset.range(40).shuffle(9, seed=4).repeat(2).map(lambda x: x * 200 + x * 2 + 1)
    ]
    assert [int(v) for batch in made() for v in batch] == one_by_one
    first, again = iter(made()), iter(made())
    for _ in range(4):
        next(first)
    again.restore(first.save())
    assert [b.numpy().tolist() for b in again] == [b.numpy().tolist() for b in first]


def test_captured_values_and_variables():
    scale, variable = tf.constant([1.0, 10.0, 100.0]), tf.Variable(2.0)
    rows = Dataset.from_tensor_slices(ROWS)
    np.testing.assert_array_equal(next(iter(rows.map(lambda r: r * scale).batch(23))), ROWS * scale)
    ds = rows.map(lambda r: r * variable).batch(23)
    np.testing.assert_array_equal(next(iter(ds)), ROWS * 2)
    variable.assign(3.0)
    np.testing.assert_array_equal(next(iter(ds)), ROWS * 3)


def test_an_error_names_its_element():
    ds = Dataset.from_tensor_slices([4, 2, 0, 1]).map(lambda v: 10 // v)
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 2 of this `map`"):
        list(ds.batch(4))


def test_the_function_is_traced_once():
    traces = []

    def double(x):
        traces.append(1)
        return x * 2

    ds = Dataset.range(10).map(double)
    assert sum(int(v) for b in ds.batch(3) for v in b) == sum(int(v) for v in ds) == 90
    assert len(traces) == 1
