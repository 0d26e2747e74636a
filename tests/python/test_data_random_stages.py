"""Random pipelines that end in stages of other forms, beside a model of each: values, order, positions.

What `test_data_random.py` puts together stays flat; here the last stage gives batches, ragged and
sparse tensors, datasets drawn at random, or what files hold.
"""

import bisect
import functools
import itertools
import tempfile

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from test_data_random import build, model, rows, stages

import holdfast as tf

Dataset = tf.data.Dataset
LIMIT = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def vector(x):
    return tf.range(1, x % 4 + 1)


def listed(x):
    return list(range(1, x % 4 + 1))


def padded(batch):
    longest = max(map(len, batch), default=0)
    return [row + [0] * (longest - len(row)) for row in batch]


def bucketed(values, bounds, sizes, pad=True):
    whole = padded if pad else list
    out, groups = [], {}
    for row in map(listed, values):
        key = bisect.bisect_right(bounds, len(row))
        group = groups.setdefault(key, [])
        group.append(row)
        if len(group) == sizes[key]:
            out.append(whole(groups.pop(key)))
    return out + [whole(groups[key]) for key in sorted(groups)]


def reduced(values, size):
    out, groups = [], {}
    for x in values:
        group = groups.setdefault(x % 3, [])
        group.append(x)
        if len(group) == size:
            out.append(groups.pop(x % 3))
    return out + [groups[key] for key in sorted(groups)]


def resized(values, first, sizes):
    left, out = [x for row in rows(values, first, False) for x in row], []
    for size in itertools.cycle(sizes):
        if not left:
            return out
        out.append(left[:size])
        left = left[size:]
    return out


def plain(element):
    if isinstance(element, tf.RaggedTensor):
        return element.to_list()
    if isinstance(element, tf.SparseTensor):
        return tf.sparse.to_dense(element).numpy().tolist()
    if isinstance(element, tuple):
        return tuple(map(plain, element))
    return element.numpy().tolist()


# Each last stage: arguments, what the dataset does with a folder at hand, what the model does.
LAST = {
    "ragged_batch": (
        st.tuples(st.integers(1, 4), st.booleans()),
        lambda ds, a, _: ds.map(vector).ragged_batch(*a),
        lambda v, a: rows([listed(x) for x in v], *a),
    ),
    "sparse_batch": (
        st.integers(1, 4),
        lambda ds, n, _: ds.map(vector).sparse_batch(n, [3]),
        lambda v, n: rows([(listed(x) + [0] * 3)[:3] for x in v], n, False),
    ),
    "padded_batch": (
        st.tuples(st.integers(1, 4), st.booleans()),
        lambda ds, a, _: ds.map(vector).padded_batch(a[0], drop_remainder=a[1]),
        lambda v, a: [padded(b) for b in rows([listed(x) for x in v], *a)],
    ),
    "buckets": (
        st.tuples(
            st.lists(st.integers(1, 3), min_size=1, max_size=2, unique=True).map(sorted),
            st.lists(st.integers(1, 3), min_size=3, max_size=3),
        ),
        lambda ds, a, _: ds.map(vector).bucket_by_sequence_length(
            lambda row: tf.shape(row)[0], a[0], a[1][: len(a[0]) + 1]
        ),
        lambda v, a: bucketed(v, a[0], a[1]),
    ),
    "windows": (
        st.tuples(st.integers(1, 4), st.integers(1, 3)),
        lambda ds, a, _: ds.window(*a).flat_map(lambda w: w.batch(9)),
        lambda v, a: [v[i : i + a[0]] for i in range(0, len(v), a[1])],
    ),
    "groups": (
        st.integers(1, 4),
        lambda ds, n, _: ds.group_by_window(lambda x: x % 3, lambda _, w: w.batch(9), n),
        lambda v, n: reduced(v, n),
    ),
    "rebatch": (
        st.tuples(st.integers(1, 4), st.lists(st.integers(1, 4), min_size=1, max_size=3)),
        lambda ds, a, _: ds.batch(a[0]).rebatch(a[1]),
        lambda v, a: resized(v, *a),
    ),
    "scan": (
        st.integers(-3, 3),
        lambda ds, k, _: ds.scan(tf.constant(k, tf.int64), lambda s, x: (s + x, (s, x))),
        lambda v, k: [(s, x) for s, x in zip(itertools.accumulate(v, initial=k), v, strict=False)],
    ),
    "windows of ragged": (
        st.tuples(st.integers(1, 4), st.integers(1, 3), st.booleans()),
        lambda ds, a, _: (
            ds.map(vector)
            .ragged_batch(1)
            .unbatch()
            .window(a[0], a[1], drop_remainder=a[2])
            .flat_map(lambda w: w.batch(9))
        ),
        lambda v, a: [
            w
            for w in ([listed(x) for x in v[i : i + a[0]]] for i in range(0, len(v), a[1]))
            if len(w) == a[0] or not a[2]
        ],
    ),
    "buckets of ragged": (
        st.tuples(
            st.lists(st.integers(1, 3), min_size=1, max_size=2, unique=True).map(sorted),
            st.lists(st.integers(1, 3), min_size=3, max_size=3),
        ),
        lambda ds, a, _: (
            ds.map(vector)
            .ragged_batch(1)
            .unbatch()
            .bucket_by_sequence_length(
                lambda row: tf.size(row), a[0], a[1][: len(a[0]) + 1], no_padding=True
            )
        ),
        lambda v, a: bucketed(v, a[0], a[1], pad=False),
    ),
    "reduced": (
        st.integers(-3, 3),
        lambda ds, k, _: Dataset.from_tensors(
            ds.reduce(tf.constant(k, tf.int64), lambda s, x: s * 3 + x)
        ),
        lambda v, k: [functools.reduce(wrapped, v, k)],
    ),
    "shards in files": (
        st.tuples(st.integers(1, 3), st.sampled_from([None, "GZIP"])),
        lambda ds, a, folder: sharded(ds, a, folder),
        lambda v, a: [x for key in range(a[0]) for x in v if x % a[0] == key],
    ),
    "deflated snapshot": (
        st.none(),
        lambda ds, _, folder: ds.snapshot(folder + "/z", compression="GZIP"),
        lambda v, _: v,
    ),
    "saved": (st.none(), lambda ds, _, folder: kept(ds, folder), lambda v, _: v),
    "snapshot": (st.none(), lambda ds, _, folder: ds.snapshot(folder + "/s"), lambda v, _: v),
    "cache in a file": (st.none(), lambda ds, _, folder: ds.cache(folder + "/c"), lambda v, _: v),
    "parallel interleave": (
        st.tuples(st.integers(1, 3), st.integers(1, 3)),
        lambda ds, a, _: ds.batch(3).interleave(
            Dataset.from_tensor_slices, a[0], a[1], num_parallel_calls=2
        ),
        lambda v, a: turns(rows(v, 3, False), *a),
    ),
    "ragged elements": (
        st.integers(1, 3),
        lambda ds, n, _: ds.map(vector).ragged_batch(n).unbatch().ragged_batch(2),
        lambda v, _: rows([listed(x) for x in v], 2, False),
    ),
}


def sharded(ds, options, folder):
    count, compression = options
    path = folder + "/shards"
    ds.save(path, compression, lambda x: x % count)
    return Dataset.load(path, reader_func=lambda parts: parts.flat_map(lambda part: part))


def wrapped(state, x):
    """`state * 3 + x` in 64 bits."""
    return (state * 3 + x + 2**63) % 2**64 - 2**63


def kept(ds, folder):
    ds.save(folder + "/all")
    return Dataset.load(folder + "/all")


def turns(parts, cycle, block):
    """Elements of `cycle` parts in turn, `block` of each; a place is filled again when it is empty."""
    source, places, out, turn = iter(parts), [None] * cycle, [], 0
    idle = 0
    while idle <= cycle:
        if places[turn] is None:
            places[turn] = next((iter(p) for p in source), None)
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


@pytest.mark.parametrize("name", LAST)
@LIMIT
@given(data=st.data(), source=st.integers(0, 15), chosen=stages)
def test_the_last_stage_gives_what_its_model_gives(name, data, source, chosen):
    arguments, make, expect = LAST[name]
    given_ = data.draw(arguments)
    wanted = expect(model(source, chosen), given_)
    with tempfile.TemporaryDirectory() as folder:
        dataset = make(build(source, chosen), given_, folder)
        assert [plain(e) for e in dataset] == wanted
        assert [plain(e) for e in dataset] == wanted  # and again
        count = int(dataset.cardinality())
        assert count in (len(wanted), tf.data.UNKNOWN_CARDINALITY)


@pytest.mark.parametrize("name", LAST)
@LIMIT
@given(
    data=st.data(),
    source=st.integers(1, 15),
    chosen=stages,
    cut=st.integers(0, 9),
    ahead=st.booleans(),
)
def test_a_position_in_the_last_stage_is_restored(name, data, source, chosen, cut, ahead):
    arguments, make, expect = LAST[name]
    given_ = data.draw(arguments)
    wanted = expect(model(source, chosen), given_)
    with tempfile.TemporaryDirectory() as folder:

        def made():
            dataset = make(build(source, chosen), given_, folder)
            return dataset.prefetch(2) if ahead else dataset

        first = iter(made())
        seen = [plain(e) for e in itertools.islice(first, cut)]
        position = first.save()
        second = iter(made())
        next(second, None)  # wherever it stood
        second.restore(position)
        assert seen + [plain(e) for e in second] == wanted
        assert seen + [plain(e) for e in first] == wanted


@LIMIT
@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=3),
    st.integers(0, 2**31 - 1),
    st.integers(0, 12),
)
def test_datasets_that_are_drawn_from_keep_their_own_orders(sizes, seed, cut):
    def made():
        parts = [Dataset.range(100 * i, 100 * i + n) for i, n in enumerate(sizes)]
        return Dataset.sample_from_datasets(parts, seed=seed, stop_on_empty_dataset=False)

    first = iter(made())
    seen = [int(x) for x in itertools.islice(first, cut)]
    position = first.save()
    rest = [int(x) for x in first]
    second = iter(made())
    second.restore(position)
    assert [int(x) for x in second] == rest
    whole = seen + rest
    for i, n in enumerate(sizes):
        assert [x for x in whole if x // 100 == i] == list(range(100 * i, 100 * i + n))
    assert len(whole) == sum(sizes)
