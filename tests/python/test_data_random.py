"""Random pipelines beside a plain Python model of each transformation: values, order, positions."""

import itertools

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings

import holdfast as tf

Dataset = tf.data.Dataset
LIMIT = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def rows(values, size, drop):
    out = [values[i : i + size] for i in range(0, len(values), size)]
    return [row for row in out if len(row) == size] if drop else out


def repeated(x):
    return Dataset.from_tensors(x).repeat(x % 3 + 1)


# Each stage of flat elements: arguments, what the dataset does, what the model does.
FLAT = {
    "map": (
        st.integers(-5, 5),
        lambda ds, k: ds.map(lambda x: x + k),
        lambda v, k: [x + k for x in v],
    ),
    "filter": (
        st.integers(1, 4),
        lambda ds, k: ds.filter(lambda x: x % k == 0),
        lambda v, k: [x for x in v if x % k == 0],
    ),
    "take": (st.integers(-1, 12), lambda ds, n: ds.take(n), lambda v, n: v if n < 0 else v[:n]),
    "skip": (st.integers(-1, 12), lambda ds, n: ds.skip(n), lambda v, n: [] if n < 0 else v[n:]),
    "repeat": (st.integers(0, 3), lambda ds, n: ds.repeat(n), lambda v, n: v * n),
    "shard": (
        st.integers(1, 4).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1))),
        lambda ds, a: ds.shard(*a),
        lambda v, a: v[a[1] :: a[0]],
    ),
    "twice": (st.none(), lambda ds, _: ds.concatenate(ds), lambda v, _: v + v),
    "take_while": (
        st.integers(0, 30),
        lambda ds, k: ds.take_while(lambda x: x < k),
        lambda v, k: list(itertools.takewhile(lambda x: x < k, v)),
    ),
    "enumerate": (
        st.integers(0, 5),
        lambda ds, k: ds.enumerate(k).map(lambda i, x: i * 100 + x),
        lambda v, k: [(i + k) * 100 + x for i, x in enumerate(v)],
    ),
    "zip": (
        st.integers(0, 20),
        lambda ds, n: Dataset.zip(ds, Dataset.range(n)).map(lambda a, b: a - b),
        lambda v, n: [a - b for a, b in zip(v, range(n), strict=False)],
    ),
    "cache": (st.none(), lambda ds, _: ds.cache(), lambda v, _: v),
    "prefetch": (st.integers(1, 4), lambda ds, n: ds.prefetch(n), lambda v, _: v),
    "flat_map": (
        st.none(),
        lambda ds, _: ds.flat_map(repeated),
        lambda v, _: [x for x in v for _ in range(x % 3 + 1)],
    ),
    "rebatched": (
        st.tuples(st.integers(1, 5), st.booleans()),
        lambda ds, a: ds.batch(*a).unbatch(),
        lambda v, a: [x for row in rows(v, *a) for x in row],
    ),
}

stages = st.lists(
    st.sampled_from(sorted(FLAT)).flatmap(lambda n: st.tuples(st.just(n), FLAT[n][0])), max_size=5
)


def build(source, chosen):
    dataset = (
        Dataset.range(source)
        if source % 2
        else Dataset.from_tensor_slices(tf.range(source, dtype=tf.int64))
    )
    for name, argument in chosen:
        dataset = FLAT[name][1](dataset, argument)
    return dataset


def model(source, chosen):
    values = list(range(source))
    for name, argument in chosen:
        values = FLAT[name][2](values, argument)
    return values


def values(dataset):
    return [x.tolist() for x in dataset.as_numpy_iterator()]


@LIMIT
@given(st.integers(0, 15), stages)
def test_a_pipeline_gives_what_its_model_gives(source, chosen):
    dataset, expected = build(source, chosen), model(source, chosen)
    assert values(dataset) == expected
    assert values(dataset) == expected  # and again
    count = int(dataset.cardinality())
    assert count in (len(expected), tf.data.UNKNOWN_CARDINALITY)


@LIMIT
@given(st.integers(0, 25), stages, st.integers(1, 6), st.booleans())
def test_batches(source, chosen, size, drop):
    dataset = build(source, chosen).batch(size, drop_remainder=drop)
    assert values(dataset) == rows(model(source, chosen), size, drop)
    assert dataset.element_spec.shape.as_list() == [size if drop else None]


@LIMIT
@given(st.integers(0, 20), stages, st.integers(1, 8), st.integers(0, 2**31 - 1), stages)
def test_shuffle_is_a_permutation_that_reaches_as_far_as_its_buffer(
    source, before, size, seed, after
):
    plain = model(source, before)
    dataset = build(source, before).shuffle(size, seed=seed, reshuffle_each_iteration=False)
    shuffled = values(dataset)
    assert sorted(shuffled) == sorted(plain)
    numbered = values(
        Dataset.range(len(plain)).shuffle(size, seed=seed, reshuffle_each_iteration=False)
    )
    assert [plain[i] for i in numbered] == shuffled  # the order does not depend on the values
    assert all(number < place + size for place, number in enumerate(numbered))
    for name, argument in after:
        dataset, shuffled = FLAT[name][1](dataset, argument), FLAT[name][2](shuffled, argument)
    assert values(dataset) == shuffled


@LIMIT
@given(st.lists(st.integers(0, 9), max_size=8), st.integers(1, 4), st.integers(1, 3))
def test_interleave_takes_turns(source, cycle, block):
    dataset = Dataset.from_tensor_slices(tf.constant(source, tf.int64, shape=[len(source)]))
    found = values(dataset.interleave(repeated, cycle_length=cycle, block_length=block))
    assert sorted(found) == sorted(x for x in source for _ in range(x % 3 + 1))
    if cycle == 1:
        assert found == [x for x in source for _ in range(x % 3 + 1)]


@LIMIT
@given(
    st.integers(1, 20),
    stages,
    st.integers(2, 5),
    st.integers(0, 100),
    stages,
    st.integers(0, 10),
    st.booleans(),
)
def test_an_iterator_is_restored_where_it_was(source, before, size, seed, after, cut, ahead):
    def made():
        dataset = build(source, before).shuffle(size, seed=seed).repeat(2)
        for name, argument in after:
            dataset = FLAT[name][1](dataset, argument)
        return dataset.prefetch(2) if ahead else dataset

    first = iter(made())
    for _ in range(cut):
        if next(first, None) is None:
            break
    position = first.save()
    rest = [int(x) for x in first]
    second = iter(made())
    next(second, None)  # wherever it stood
    second.restore(position)
    assert [int(x) for x in second] == rest
