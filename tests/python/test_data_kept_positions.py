"""Random pipelines of stages that keep something from one turn, or one iteration, to the next.

A position is taken at every element, and restored into a pipeline that is made anew: what is left,
and what the next iteration gives, is what it would have been.
"""

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

import holdfast as tf

Dataset = tf.data.Dataset
LIMIT = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def drawn(x):
    return x * 100 + tf.random.uniform([], 0, 100, tf.int64, seed=5)


STAGES = {
    "cache": lambda ds, n: ds.cache(),
    "shuffle": lambda ds, n: ds.shuffle(n + 1, seed=n),
    "shuffle alike": lambda ds, n: ds.shuffle(n + 1, seed=n, reshuffle_each_iteration=False),
    "repeat": lambda ds, n: ds.repeat(2),
    "batch": lambda ds, n: ds.batch(n).unbatch(),
    "batch of known size": lambda ds, n: ds.batch(n).map(tf.reduce_sum),
    "prefetch": lambda ds, n: ds.prefetch(n),
    "map": lambda ds, n: ds.map(drawn),
    "map on threads": lambda ds, n: ds.map(lambda x: x + n, num_parallel_calls=2),
    "take": lambda ds, n: ds.take(n + 3),
    "skip": lambda ds, n: ds.skip(1),
    "filter": lambda ds, n: ds.filter(lambda x: x % 3 != 1),
    "interleave": lambda ds, n: ds.interleave(
        lambda x: Dataset.range(x % 3, x % 3 + 2).shuffle(3, seed=n).cache().repeat(2), n, 1
    ),
    "interleave on threads": lambda ds, n: ds.interleave(
        lambda x: Dataset.from_tensors(x).repeat(2), 3, n, num_parallel_calls=2
    ),
    "flat_map": lambda ds, n: ds.flat_map(lambda x: Dataset.from_tensors(x).repeat(x % 2 + 1)),
    "windows": lambda ds, n: ds.window(n).flat_map(lambda w: w.shuffle(4, seed=n)),
    "twice": lambda ds, n: ds.concatenate(ds),
    "pairs": lambda ds, n: Dataset.zip(ds, ds.skip(1)).map(lambda a, b: a + b),
}
stages = st.lists(st.tuples(st.sampled_from(sorted(STAGES)), st.integers(1, 4)), max_size=5)


def made(size, chosen):
    ds = Dataset.range(size)
    for name, n in chosen:
        ds = STAGES[name](ds, n)
    return ds.take(24)


def left(iterator):
    return [int(x) for x in iterator]


@LIMIT
@given(st.integers(0, 6), stages)
def test_a_position_at_each_element_goes_on_as_it_would_have(size, chosen):
    whole = left(made(size, chosen))
    for cut in range(len(whole) + 1):
        one, other = made(size, chosen), made(size, chosen)
        first, again = iter(one), iter(other)
        assert [int(next(first)) for _ in range(cut)] == whole[:cut]
        again.restore(first.save())
        assert left(again) == left(first) == whole[cut:]
        assert left(other) == left(one)


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("taken", range(7))
def test_what_a_cache_holds_is_part_of_a_position(ahead, taken):
    def made():
        ds = Dataset.range(5).shuffle(5, seed=1).cache()
        return ds.prefetch(1) if ahead else ds

    one, other = made(), made()
    first = iter(one)
    for _ in range(taken):  # the last time is behind the end
        next(first, None)
    position = first.save()
    again = iter(other)
    again.restore(position)
    assert left(again) == left(first)
    assert [left(other) for _ in range(2)] == [left(one) for _ in range(2)]


def test_a_cache_goes_back_with_a_position():
    ds = Dataset.range(5).shuffle(5, seed=1).cache()
    it = iter(ds)
    begin = it.save()
    first = left(it)
    assert left(ds) == first
    it.restore(begin)  # nothing was kept then, and the same order comes again
    assert left(it) == first and left(ds) == first


def test_a_position_holds_what_a_cache_holds_once():
    def size(n):
        ds = Dataset.from_tensors(tf.zeros([10_000])).cache()
        both = Dataset.zip(*[ds.map(lambda x, i=i: x[i]) for i in range(n)])
        list(both)
        it = iter(both)
        next(it)
        return len(it.save())

    assert size(4) < size(1) + 10_000
