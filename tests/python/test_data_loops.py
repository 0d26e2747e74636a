"""Loops over datasets inside traced functions: loops of the graph."""

import numpy as np
import pytest

import holdfast as tf

Dataset = tf.data.Dataset


def test_a_loop_over_a_dataset_is_written_once_and_begins_anew_with_each_call():
    @tf.function
    def total(ds):
        out = tf.constant(0, tf.int64)
        for x in ds:
            out += x
        return out

    ds = Dataset.range(5)
    assert [int(total(ds)) for _ in range(3)] == [10, 10, 10]
    assert total.experimental_get_tracing_count() == 1


def test_structures_breaks_and_names_set_in_the_loop():
    ds = Dataset.from_tensor_slices({"a": np.arange(6), "b": np.arange(6) * 2.0})

    @tf.function
    def first_large(limit):
        found, count = tf.constant(-1.0, tf.float64), 0
        for e in ds:
            count += 1
            if e["b"] > limit:
                found = e["b"]
                break
        return found, count

    found, count = first_large(tf.constant(5.0, tf.float64))
    assert (float(found), int(count)) == (6.0, 4)
    found, count = first_large(tf.constant(50.0, tf.float64))
    assert (float(found), int(count)) == (-1.0, 6)


def test_batches_of_several_sizes():
    ds = Dataset.range(7).map(lambda x: tf.cast(x, tf.float32)).batch(3)

    @tf.function
    def sums():
        out = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        i = 0
        for batch in ds:
            out = out.write(i, tf.reduce_sum(batch))
            i = i + 1
        return out.stack()

    assert sums().numpy().tolist() == [3, 12, 6]


def test_a_training_loop_in_one_function():
    x = np.linspace(-1, 1, 64, dtype=np.float32)
    ds = Dataset.from_tensor_slices((x, 3 * x + 1)).shuffle(64, seed=1).batch(8).prefetch(2)
    w, b = tf.Variable(0.0), tf.Variable(0.0)

    @tf.function
    def epoch():
        for inputs, targets in ds:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((w * inputs + b - targets) ** 2)
            dw, db = tape.gradient(loss, [w, b])
            w.assign_sub(0.3 * dw)
            b.assign_sub(0.3 * db)

    for _ in range(20):
        epoch()
    assert float(w) == pytest.approx(3, abs=1e-2)
    assert float(b) == pytest.approx(1, abs=1e-2)


def test_enumerate_and_zip_of_datasets():
    a, b = Dataset.range(4), Dataset.range(10, 20)

    @tf.function
    def both():
        out = tf.constant(0, tf.int64)
        for i, (x, y) in enumerate(zip(a, b, strict=False)):
            out += i * 1000 + x * y
        return out

    assert int(both()) == sum(i * 1000 + i * (10 + i) for i in range(4))


def test_an_iterator_goes_on_from_call_to_call():
    it = iter(Dataset.range(10))

    @tf.function
    def two():
        seen, total = 0, tf.constant(0, tf.int64)
        for x in it:
            total += x
            seen = seen + 1
            if seen == 2:
                break
        return total

    assert [int(two()) for _ in range(3)] == [1, 5, 9]
    assert int(next(it)) == 6


def test_what_fails_in_a_loop_names_its_element():
    ds = Dataset.range(4).map(lambda x: tf.reshape(tf.range(x), [2]))

    @tf.function
    def run():
        out = tf.constant(0, tf.int64)
        for x in ds:
            out += tf.reduce_sum(x)
        return out

    with pytest.raises(tf.errors.InvalidArgumentError, match="element 0 of this `map`"):
        run()


def test_other_ways_to_go_through_it_are_refused():
    ds = Dataset.range(3)

    @tf.function
    def listed():
        return [x + 1 for x in ds]

    with pytest.raises(tf.errors.UnimplementedError, match="traced"):
        listed()


def test_a_function_of_datasets_is_traced_once_for_each_kind_of_element():
    @tf.function
    def total(ds, factor=1):
        out = tf.constant(0, tf.int64)
        for x in ds.map(lambda v: v * factor):
            out += x
        return out, ds.cardinality(), ds.batch(3).cardinality()

    for n in range(2, 7):
        assert [int(v) for v in total(Dataset.range(n))] == [sum(range(n)), n, (n + 2) // 3]
    assert [int(v) for v in total(ds=Dataset.range(3).repeat().take(7))] == [6, 7, 3]
    assert int(total(Dataset.range(3).filter(lambda x: x > 0))[1]) == tf.data.UNKNOWN_CARDINALITY
    assert total.experimental_get_tracing_count() == 1
    total(Dataset.range(2).map(lambda x: x + 1).batch(1).unbatch())
    assert total.experimental_get_tracing_count() == 1
    concrete = total.get_concrete_function(Dataset.range(3))
    assert concrete is total.get_concrete_function(Dataset.range(9))
    assert int(concrete(Dataset.range(4))[0]) == 6
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        concrete(Dataset.from_tensors("a"))


def test_several_datasets_and_their_stages_in_a_function():
    @tf.function
    def products(a, b):
        out = tf.constant(0, tf.int64)
        for x, y in Dataset.zip(a, b.shuffle(5, 1, False)):
            out += x * y
        return out

    @tf.function
    def pairs(ds):
        return (
            ds.window(2)
            .flat_map(lambda w: w.batch(2))
            .reduce(tf.constant(0, tf.int64), lambda state, x: state + tf.reduce_max(x))
        )

    @tf.function
    def first(ds):
        return ds.take(1).get_single_element() + next(iter(ds))

    for n in (4, 6):
        order = [int(x) for x in Dataset.range(n).shuffle(5, 1, False)]
        wanted = sum(i * x for i, x in enumerate(order))
        assert int(products(Dataset.range(n), Dataset.range(n))) == wanted
        assert int(pairs(Dataset.range(n))) == sum(range(1, n, 2))
        assert int(first(Dataset.range(n, 9))) == 2 * n
    for f in (products, pairs, first):
        assert f.experimental_get_tracing_count() == 1


def test_a_dataset_that_a_function_gives_is_made_of_the_one_it_was_given():
    @tf.function
    def more(ds):
        return ds.map(lambda x: x + 1)

    assert [int(x) for x in more(Dataset.range(3))] == [1, 2, 3]
    assert [int(x) for x in more(Dataset.range(5, 7))] == [6, 7]


def test_a_dataset_given_by_name_is_the_one_that_it_is_made_of():
    @tf.function
    def add_one(ds):
        return ds.map(lambda x: x + 1)

    few, many = tf.data.Dataset.range(2), tf.data.Dataset.range(4)
    for given in (few, many, few):
        assert [int(x) for x in add_one(ds=given)] == [int(x) + 1 for x in given]


def test_the_length_of_an_argument_is_no_number():
    @tf.function
    def length(ds):
        return len(ds)

    with pytest.raises(TypeError, match="cardinality"):
        length(Dataset.range(3))


def test_a_loop_that_is_written_twice_draws_the_seeds_of_a_shuffle_once():
    tf.random.set_seed(None)  # the orders are those of a program that has set none
    ds = Dataset.range(6).shuffle(6, seed=1)

    @tf.function
    def all_of_it():
        out = tf.zeros([0], tf.int64)
        for x in ds:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(out, tf.TensorShape([None]))]
            )
            out = tf.concat([out, [x]], 0)
        return out

    # TensorFlow's orders of the first two epochs.
    assert all_of_it().numpy().tolist() == [4, 5, 1, 2, 3, 0]
    assert all_of_it().numpy().tolist() == [4, 3, 1, 5, 0, 2]
