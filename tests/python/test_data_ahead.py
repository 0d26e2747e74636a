"""`prefetch`: how far it reads ahead, what it hands over, and how its thread ends."""

import gc
import queue
import threading
import time

import pytest

import holdfast as tf

Dataset = tf.data.Dataset


def eventually(holds, seconds=10.0):
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def counting(made, n=10**9):
    for i in range(n):
        made.append(i)
        yield i


def generated(generator):
    return Dataset.from_generator(generator, output_signature=tf.TensorSpec((), tf.int64))


@pytest.mark.parametrize("size", [1, 2, 5, 200])
def test_it_reads_as_far_ahead_as_it_was_told_and_no_further(size):
    made = []
    it = iter(generated(lambda: counting(made)).prefetch(size))
    assert int(next(it)) == 0
    assert eventually(lambda: len(made) >= size)
    for taken in range(2, 2 * size + 6):
        assert int(next(it)) == taken - 1
        assert len(made) <= taken + size
    assert eventually(lambda: len(made) >= taken + size // 2)
    time.sleep(0.02)
    assert len(made) <= taken + size


@pytest.mark.parametrize("size", [1, 3, 64, 1000, tf.data.AUTOTUNE])
def test_order_and_number_stay_over_many_elements(size):
    n = 5000
    assert [int(x) for x in Dataset.range(n).prefetch(size)] == list(range(n))
    twice = Dataset.range(n).prefetch(size).prefetch(size)
    assert sum(int(x) for x in twice) == n * (n - 1) // 2


def test_an_element_is_there_before_the_next_one_is_made():
    answers = queue.Queue()

    def asking():  # the element behind waits for who took this one
        for i in range(20):
            yield i
            answers.get(timeout=30)

    seen = []
    for x in generated(asking).prefetch(8):
        seen.append(int(x))
        answers.put(None)
    assert seen == list(range(20))


def test_what_suits_grows_with_cheap_elements_and_is_bounded_by_their_size():
    report = Dataset.range(200000).prefetch(tf.data.AUTOTUNE).explain(seconds=0.5)
    assert "prefetch" in report and "ready" in report
    made = []

    def large():
        for i in counting(made):
            yield tf.fill([4 << 20], tf.cast(i, tf.float32))  # 16 MiB

    spec = tf.TensorSpec([4 << 20], tf.float32)
    it = iter(Dataset.from_generator(large, output_signature=spec).prefetch(tf.data.AUTOTUNE))
    for i in range(6):
        assert float(next(it)[0]) == i
        assert len(made) <= i + 1 + 5  # two, then four of them: never more than 64 MiB


def test_an_error_comes_in_its_place_and_the_rest_after_it():
    def checked(x):
        with tf.control_dependencies([tf.debugging.assert_none_equal(x, tf.constant(7, tf.int64))]):
            return tf.identity(x)

    it = iter(Dataset.range(10).map(checked).prefetch(4))
    seen, errors = [], 0
    while True:
        try:
            seen.append(int(next(it)))
        except StopIteration:
            break
        except tf.errors.InvalidArgumentError:
            errors += 1
    assert seen == [0, 1, 2, 3, 4, 5, 6, 8, 9] and errors == 1


@pytest.mark.parametrize("cut", [0, 1, 63, 64, 65, 500, 999, 1000])
@pytest.mark.parametrize("size", [1, 130, tf.data.AUTOTUNE])
def test_a_position_holds_what_was_ready(cut, size):
    def made():
        return Dataset.range(1000).shuffle(50, seed=3).prefetch(size)

    first = iter(made())
    for _ in range(cut):
        next(first)
    position = first.save()
    rest = [int(x) for x in first]
    assert len(rest) == 1000 - cut
    second = iter(made())
    second.restore(position)
    assert [int(x) for x in second] == rest


def test_saving_while_the_thread_works_changes_nothing():
    it = iter(Dataset.range(3000).map(lambda x: x * 2).prefetch(16))
    seen = []
    for i, x in enumerate(it):
        seen.append(int(x))
        if i % 100 == 0:
            other = iter(Dataset.range(3000).map(lambda x: x * 2).prefetch(16))
            other.restore(it.save())
            assert int(next(other)) == 2 * (i + 1)
    assert seen == [2 * i for i in range(3000)]


def test_threads_end_with_their_iterators():
    before = threading.active_count()
    alive = []

    class Watch:
        def __init__(self):
            alive.append(1)

        def __del__(self):
            alive.pop()

    def watched():
        held = Watch()
        yield from counting([])
        del held

    for _ in range(30):  # dropped at once, after an element, in the middle of a loop
        iter(generated(watched).prefetch(4))
        next(iter(generated(watched).prefetch(1)))
        for i, _x in enumerate(generated(watched).prefetch(8).prefetch(2)):
            if i == 3:
                break
    gc.collect()
    assert eventually(lambda: not alive)
    assert threading.active_count() <= before


def test_many_threads_share_one_iterator():
    it = iter(Dataset.range(20000).prefetch(32))
    taken = [[] for _ in range(4)]

    def take(into):
        into.extend(int(x) for x in it)

    threads = [threading.Thread(target=take, args=(into,)) for into in taken]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(x for part in taken for x in part) == list(range(20000))
    assert all(part == sorted(part) for part in taken)


@pytest.mark.parametrize("calls", [1, 2, tf.data.AUTOTUNE])
def test_python_in_every_stage_ends_with_a_pool_of_any_size(calls):
    def outer():
        inner = generated(lambda: counting([], 50)).prefetch(1)
        for x in inner.map(
            lambda x: tf.py_function(lambda v: v + 1, [x], tf.int64), num_parallel_calls=calls
        ):
            yield int(x)

    ds = generated(outer).map(
        lambda x: tf.py_function(lambda v: v * 2, [x], tf.int64), num_parallel_calls=calls
    )
    assert [int(x) for x in ds.prefetch(1)] == [2 * (i + 1) for i in range(50)]


@pytest.mark.parametrize("slow", [True, False])
def test_fit_says_where_it_waits_for_its_input(slow, capsys):
    def batches():
        for _ in range(8):
            if slow:
                time.sleep(0.06)
            yield [[1.0, 2.0]], [[1.0]]

    spec = (tf.TensorSpec((1, 2), tf.float32), tf.TensorSpec((1, 1), tf.float32))
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(tf.data.Dataset.from_generator(batches, output_signature=spec), epochs=2, verbose=2)
    last = capsys.readouterr().out.strip().splitlines()[-1]
    assert "8/8" in last and ("% waiting for input" in last) == slow
