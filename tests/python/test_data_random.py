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


def windows(values, size, shift, stride, drop):
    found = [values[i::stride][:size] for i in range(0, len(values), shift)]
    return [w for w in found if len(w) == size] if drop else found


def grouped(values, size):
    out, groups = [], {}
    for x in values:
        group = groups.setdefault(x % 3, [])
        group.append(x)
        if len(group) == size:
            out += groups.pop(x % 3)
    return out + [x for key in sorted(groups) for x in groups[key]]


def chosen(values, choices):
    parts = iter(values), iter(range(100, 104))
    found = [next(parts[c], None) for c in choices]
    return [x for x in found if x is not None]


def interleaved(values, cycle, block):
    source = (iter([x] * (x % 3 + 1)) for x in values)
    places, out, turn, idle = [None] * cycle, [], 0, 0
    while idle <= cycle:
        places[turn] = places[turn] or next(source, None)
        if places[turn] is None:
            idle += 1
        else:
            idle = 0
            got = list(itertools.islice(places[turn], block))
            out += got
            if len(got) < block:
                places[turn] = None
        turn = (turn + 1) % cycle
    return out


def failing(x, k):
    """x, and an error where k divides it."""
    with tf.control_dependencies([tf.debugging.assert_none_equal(x % k, tf.constant(0, tf.int64))]):
        return tf.identity(x)


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
    "window": (
        st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.booleans()),
        lambda ds, a: ds.window(*a).flat_map(lambda w: w),
        lambda v, a: [x for w in windows(v, *a) for x in w],
    ),
    "grouped": (
        st.integers(1, 4),
        lambda ds, n: ds.group_by_window(lambda x: x % 3, lambda k, w: w, window_size=n),
        lambda v, n: grouped(v, n),
    ),
    "scan": (
        st.integers(-3, 3),
        lambda ds, k: ds.scan(tf.constant(k, tf.int64), lambda s, x: (s + x, s - x)),
        lambda v, k: [s - x for s, x in zip(itertools.accumulate(v, initial=k), v, strict=False)],
    ),
    "unique": (st.none(), lambda ds, _: ds.unique(), lambda v, _: list(dict.fromkeys(v))),
    "rebatch": (
        st.tuples(st.integers(1, 4), st.lists(st.integers(1, 4), min_size=1, max_size=3)),
        lambda ds, a: ds.batch(a[0]).rebatch(a[1]).unbatch(),
        lambda v, _: v,
    ),
    "chosen": (
        st.lists(st.integers(0, 1), max_size=9),
        lambda ds, c: Dataset.choose_from_datasets(
            [ds, Dataset.range(100, 104)],
            Dataset.from_tensor_slices(tf.constant(c, tf.int64, shape=[len(c)])),
            stop_on_empty_dataset=False,
        ),
        lambda v, c: chosen(v, c),
    ),
    "parallel": (
        st.integers(1, 3),
        lambda ds, n: ds.map(lambda x: x * 3 - n, num_parallel_calls=n),
        lambda v, n: [x * 3 - n for x in v],
    ),
    "interleave": (
        st.tuples(st.integers(1, 3), st.integers(1, 3), st.sampled_from([None, 1, 2])),
        lambda ds, a: ds.interleave(repeated, *a),
        lambda v, a: interleaved(v, *a[:2]),
    ),
    "cache": (st.none(), lambda ds, _: ds.cache(), lambda v, _: v),
    "counted": (
        st.integers(-3, 3).filter(bool),
        lambda ds, k: Dataset.zip(Dataset.counter(2, k), ds).map(lambda i, x: i * 7 + x),
        lambda v, k: [(2 + i * k) * 7 + x for i, x in enumerate(v)],
    ),
    "without errors": (
        st.integers(1, 4),
        lambda ds, k: ds.map(lambda x: failing(x, k)).ignore_errors(),
        lambda v, k: [x for x in v if x % k],
    ),
    "applied": (
        st.integers(0, 3),
        lambda ds, n: ds.apply(lambda d: d.skip(n)).with_options(tf.data.Options()),
        lambda v, n: v[n:],
    ),
    "of a list": (
        st.integers(0, 5),
        lambda ds, n: Dataset.from_tensor_slices([ds, Dataset.range(n)]).flat_map(lambda d: d),
        lambda v, n: v + list(range(n)),
    ),
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


def test_repeat_draws_seeds_as_often_as_in_tensorflow():
    def shuffled():
        return Dataset.range(5).shuffle(5, seed=1)

    def epochs(ds):
        return [[int(x) for x in ds] for _ in range(2)]

    fresh = shuffled()
    orders = [[int(x) for x in fresh] for _ in range(5)]
    mapped = shuffled().map(lambda x: -x).map(lambda x: -x)
    # One stage in TensorFlow, and none; the others begin once more behind their last turn.
    assert epochs(shuffled().repeat(2)) == [orders[0] + orders[1], orders[2] + orders[3]]
    assert epochs(mapped.repeat(1)) == [orders[0], orders[1]]
    mapped = shuffled().map(lambda x: -x).map(lambda x: -x)
    assert epochs(mapped.repeat(2)) == [orders[0] + orders[1], orders[3] + orders[4]]
    mapped = shuffled().map(lambda x: -x).map(lambda x: -x)  # nobody asks for one more
    assert epochs(mapped.repeat(2).take(10)) == [orders[0] + orders[1], orders[2] + orders[3]]
