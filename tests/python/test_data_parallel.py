"""Stages with threads of their own: order, errors, positions, and how they end."""

import os
import threading
import time

import pytest

import holdfast as tf

Dataset = tf.data.Dataset
CALLS = [1, 2, 5, tf.data.AUTOTUNE]


def values(dataset):
    return [x.tolist() for x in dataset.as_numpy_iterator()]


def slow(x):
    """The sooner the later it comes."""
    time.sleep(0.002 * (7 - int(x) % 8) / 7)
    return x * 10


def slowly(x):
    return tf.py_function(slow, [x], tf.int64)


@pytest.mark.parametrize("calls", CALLS)
def test_elements_keep_their_order(calls):
    ds = Dataset.range(40)
    assert values(ds.map(slowly, num_parallel_calls=calls)) == [x * 10 for x in range(40)]
    assert values(ds.map(lambda x: x + 1, calls).batch(16))[2] == list(range(33, 41))
    assert len(ds.map(slowly, calls)) == 40


@pytest.mark.parametrize("calls", [1, 3])
def test_without_an_order_all_elements_come(calls):
    ds = Dataset.range(40).map(slowly, num_parallel_calls=calls, deterministic=False)
    assert sorted(values(ds)) == [x * 10 for x in range(40)]
    options = tf.data.Options()
    options.deterministic = False
    ds = Dataset.range(40).with_options(options).map(slowly, num_parallel_calls=calls)
    assert sorted(values(ds)) == [x * 10 for x in range(40)]


def test_several_elements_are_worked_on_at_once():
    together = threading.Barrier(3, timeout=30)

    def meet(x):
        together.wait()
        return x

    ds = Dataset.range(6).map(lambda x: tf.py_function(meet, [x], tf.int64), num_parallel_calls=3)
    assert values(ds) == list(range(6))


@pytest.mark.parametrize("calls", [1, 2, tf.data.AUTOTUNE])
def test_generators_and_python_functions_beside_one_thread(calls):
    def numbers():
        yield from range(20)

    source = Dataset.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int64))
    ds = source.map(slowly, num_parallel_calls=calls).prefetch(1)
    ds = ds.map(slowly, num_parallel_calls=calls).prefetch(1)
    assert values(ds) == [x * 100 for x in range(20)]


def faulty(x):
    if int(x) % 4 == 2:
        raise ValueError(f"no {int(x)}")
    return x


@pytest.mark.parametrize("calls", CALLS)
def test_an_error_comes_in_its_turn_and_the_rest_behind_it(calls):
    ds = Dataset.range(8).map(lambda x: tf.py_function(faulty, [x], tf.int64), calls)
    it, found = iter(ds), []
    while True:
        try:
            found.append(int(next(it)))
        except StopIteration:
            break
        except ValueError as e:
            found.append(str(e).split("\n")[0])
            assert any("of this `map`" in note for note in e.__notes__)
    assert found == [0, 1, "no 2", 3, 4, 5, "no 6", 7]
    assert values(ds.ignore_errors()) == [0, 1, 3, 4, 5, 7]


def test_an_error_names_element_stage_and_line():
    ds = Dataset.from_tensor_slices([1.0, 0.0]).map(
        lambda x: tf.debugging.check_numerics(1 / x, "bad"), num_parallel_calls=2
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 1 of this `map`") as e:
        list(ds)
    assert "test_data_parallel.py" in str(e.value)


@pytest.mark.parametrize("calls", [2, tf.data.AUTOTUNE])
@pytest.mark.parametrize("taken", [0, 1, 9, 20])
def test_positions_hold_what_is_on_its_way(calls, taken):
    def made():
        return Dataset.range(20).shuffle(5, seed=1).map(slowly, calls).batch(1).unbatch()

    first, again = iter(made()), iter(made())
    for _ in range(taken):
        next(first)
    again.restore(first.save())
    assert [int(x) for x in first] == [int(x) for x in again] == values(made())[taken:]


@pytest.mark.parametrize("calls", [1, 2, 8, tf.data.AUTOTUNE])
@pytest.mark.parametrize("block", [1, 3])
def test_interleaved_datasets_keep_their_turns(calls, block):
    def parts(x):
        return Dataset.range(x, x * 2).map(slowly)

    plain = Dataset.range(9).interleave(parts, cycle_length=3, block_length=block)
    ds = Dataset.range(9).interleave(
        parts, cycle_length=3, block_length=block, num_parallel_calls=calls
    )
    assert values(ds) == values(plain)
    for taken in (0, 4, 11):
        first, again = iter(ds), iter(ds)
        for _ in range(taken):
            next(first)
        again.restore(first.save())
        assert [int(x) for x in again] == values(plain)[taken:]


def test_an_error_of_a_part_comes_in_its_turn():
    def parts(x):
        if int(x) == 1:
            raise ValueError("no 1")
        return Dataset.from_tensors(x).repeat(2)

    def part(x):
        return parts(x) if tf.executing_eagerly() else Dataset.from_tensors(x)

    for calls in (None, 3):
        it = iter(Dataset.range(4).interleave(part, cycle_length=3, num_parallel_calls=calls))
        assert int(next(it)) == 0
        with pytest.raises(ValueError, match="no 1"):
            next(it)
        assert [int(x) for x in it] == [2, 3, 0, 2, 3]


def running():
    """How many threads the process has."""
    return len(os.listdir("/proc/self/task"))


def settled(most):
    """Waits until there are no more threads than this."""
    for _ in range(200):
        if running() <= most:
            return True
        time.sleep(0.01)
    return False


def test_threads_end_with_their_iterator():
    ds = Dataset.range(10**6).map(lambda x: x * 2, num_parallel_calls=4).prefetch(2)
    next(iter(ds))
    before = running()
    for _ in range(5):
        for x in ds:  # a loop that is left early
            if int(x) > 20:
                break
    assert settled(before)

    def fails(x):
        raise ValueError("no")

    bad = Dataset.range(100).map(lambda x: tf.py_function(fails, [x], tf.int64), 3)
    for _ in range(5):
        with pytest.raises(ValueError, match="no"):
            list(bad)
    assert settled(before)


def test_what_makes_no_sense_is_refused():
    ds = Dataset.range(3)
    for bad in (0, -2, 10**6):
        with pytest.raises(ValueError, match="num_parallel_calls"):
            ds.map(lambda x: x, num_parallel_calls=bad)
    with pytest.raises(TypeError, match="num_parallel_calls"):
        ds.interleave(lambda x: ds, num_parallel_calls="a")


def test_explain_tells_of_each_stage():
    ds = Dataset.range(400).shuffle(50, seed=1).map(slowly, 2).batch(8).prefetch(2)
    said = ds.explain(seconds=30)
    lines = said.splitlines()
    assert [line.split()[0] for line in lines[:5]] == [
        "prefetch",
        "batch",
        "map",
        "shuffle",
        "range",
    ]
    assert "int64" in lines[0] and "of 2 ready" in lines[0] and "1 thread" in lines[0]
    assert "2 threads" in lines[2] and "test_data_parallel.py" in lines[2]
    assert lines[-1].startswith("50 elements") and "Most of it is `map`" in lines[-1]
    slow_one = Dataset.range(30).map(slowly).explain(seconds=30)
    assert "num_parallel_calls" in slow_one
    two = Dataset.zip(Dataset.range(3), Dataset.range(3).map(lambda x: x)).explain()
    assert two.count("range") >= 2 and two.splitlines()[-1].startswith("3 elements")
    with pytest.raises(ValueError, match="seconds"):
        ds.explain(0)


def test_a_restored_iterator_takes_no_seeds_from_the_threads_that_it_had():
    def made():
        ds = Dataset.range(2).shuffle(2, seed=46).repeat(4).prefetch(2).map(lambda x: x)
        return ds.prefetch(2)

    first = iter(made())
    position = first.save()
    rest = [int(x) for x in first]
    for _ in range(30):
        second = iter(made())
        next(second)  # threads run ahead now, into the next turn
        second.restore(position)
        assert [int(x) for x in second] == rest


def test_without_a_cycle_as_many_datasets_take_turns_as_threads_were_asked_for():
    def found(n):
        ds = tf.data.Dataset.range(4).interleave(
            lambda x: tf.data.Dataset.from_tensors(x).repeat(2), num_parallel_calls=n
        )
        return [int(x) for x in ds]

    assert found(1) == [0, 0, 1, 1, 2, 2, 3, 3]  # TensorFlow's
    assert found(2) == [0, 1, 0, 1, 2, 3, 2, 3]
