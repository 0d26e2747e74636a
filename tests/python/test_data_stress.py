"""Threads of pipelines under stress: begun, dropped, paused and consumed from many sides at once."""

import os
import threading

import pytest

import holdfast as tf

Dataset = tf.data.Dataset

# Stages with threads of their own, which give what they are given.
AHEAD = {
    "prefetch(1)": lambda ds: ds.prefetch(1),
    "prefetch(64)": lambda ds: ds.prefetch(64),
    "prefetch": lambda ds: ds.prefetch(tf.data.AUTOTUNE),
    "map": lambda ds: ds.map(lambda x: x, num_parallel_calls=3),
    "interleave": lambda ds: ds.interleave(Dataset.from_tensors, 3, num_parallel_calls=3),
    "all": lambda ds: (
        ds.prefetch(2).map(lambda x: x, num_parallel_calls=2).batch(3).prefetch(1).unbatch()
    ),
}


def threads():
    return len(os.listdir("/proc/self/task"))


@pytest.mark.parametrize("name", AHEAD)
def test_each_element_goes_to_one_of_many_takers(name):
    iterator, lists = iter(AHEAD[name](Dataset.range(600))), [[] for _ in range(4)]

    def take(into):
        for x in iterator:
            into.append(int(x))

    takers = [threading.Thread(target=take, args=(each,)) for each in lists]
    for each in takers:
        each.start()
    for each in takers:
        each.join()
    assert sorted(x for each in lists for x in each) == list(range(600))
    for each in lists:
        assert each == sorted(each)


@pytest.mark.parametrize("name", AHEAD)
def test_iterators_that_are_dropped_leave_no_thread(name):
    dataset = AHEAD[name](Dataset.range(10_000).shuffle(16, seed=1))
    list(dataset.take(3))
    before = threads()
    for i in range(60):
        iterator = iter(dataset)
        for _ in range(i % 5):
            next(iterator)
        del iterator
    assert threads() <= before + 1


@pytest.mark.parametrize("name", AHEAD)
def test_positions_are_saved_while_the_threads_work(name):
    def made():
        return AHEAD[name](Dataset.range(300).shuffle(32, seed=3))

    whole = [int(x) for x in made()]
    iterator, at = iter(made()), 0
    while at < len(whole):
        for _ in range(at % 7 + 1):
            if next(iterator, None) is not None:
                at += 1
        position = iterator.save()
        if at % 3 == 0:  # goes on in another one
            iterator = iter(made())
            iterator.restore(position)
    assert [int(x) for x in iterator] == []
    iterator.restore(position)
    assert [int(x) for x in iterator] == whole[at:]


@pytest.mark.parametrize("name", AHEAD)
def test_errors_come_where_their_elements_would(name):
    def odd(x):
        with tf.control_dependencies([tf.debugging.Assert(x % 7 != 3, [x])]):
            return tf.identity(x)

    iterator, found, errors = iter(AHEAD[name](Dataset.range(60).map(odd))), [], 0
    while True:
        try:
            x = next(iterator, None)
        except tf.errors.InvalidArgumentError:
            errors += 1
            continue
        if x is None:
            break
        found.append(int(x))
    if name != "all":  # a batch goes with its element
        assert found == [x for x in range(60) if x % 7 != 3]
        assert errors == 60 - len(found)
    assert errors > 0 and found == sorted(found)


def test_many_pipelines_at_once():
    failed = []

    def work(seed):
        for name, stage in AHEAD.items():
            dataset = stage(Dataset.range(120).shuffle(8, seed=seed))
            if sorted(int(x) for x in dataset) != list(range(120)):
                failed.append((seed, name))
            next(iter(dataset))  # and one that is dropped at once

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert not failed
