"""Datasets that are made of tensors of a graph: arguments of a function, placeholders, constants."""

import numpy as np
import pytest

import holdfast as tf

Dataset = tf.data.Dataset
v1 = tf.compat.v1


def int64(*values):
    return tf.constant(values if len(values) != 1 else values[0], tf.int64)


# -- inside of a function that is traced


def total(make):
    """A function that sums what a dataset of its argument gives, in a loop of the graph."""

    @tf.function
    def run(x):
        out = tf.constant(0, tf.int64)
        for element in make(x):
            out += tf.reduce_sum(element)
        return out

    return run


# What is made of a vector of int64 and of its first number, and what it gives.
MADE = {
    "slices": (lambda x: Dataset.from_tensor_slices(x), lambda x: x),
    "tensors": (lambda x: Dataset.from_tensors(x), lambda x: x),
    "cached": (
        lambda x: Dataset.from_tensor_slices(x).cache().repeat(2),
        lambda x: np.tile(x, 2),
    ),
    "structure": (
        lambda x: Dataset.from_tensor_slices({"a": x, "b": (x, x)}).map(
            lambda e: e["a"] + e["b"][1]
        ),
        lambda x: 2 * x,
    ),
    "captured": (
        lambda x: Dataset.range(3).map(lambda v: v * x[0]),
        lambda x: np.arange(3) * x[0],
    ),
    "captured in parallel": (
        lambda x: Dataset.range(30).map(lambda v: v * x[0], num_parallel_calls=2).prefetch(2),
        lambda x: np.arange(30) * x[0],
    ),
    "captured by a filter": (
        lambda x: Dataset.range(9).filter(lambda v: v < x[0]),
        lambda x: np.arange(min(9, x[0])),
    ),
    "captured by scan": (
        lambda x: Dataset.range(4).scan(x[0], lambda s, v: (s + v, s * x[1])),
        lambda x: (x[0] + np.array([0, 0, 1, 3])) * x[1],
    ),
    "range": (lambda x: Dataset.range(x[0]), lambda x: np.arange(x[0])),
    "range by steps": (lambda x: Dataset.range(1, x[0], x[1]), lambda x: np.arange(1, x[0], x[1])),
    "take": (lambda x: Dataset.range(9).take(x[0]), lambda x: np.arange(9)[: x[0]]),
    "skip": (lambda x: Dataset.range(9).skip(x[0]), lambda x: np.arange(9)[x[0] :]),
    "repeat": (lambda x: Dataset.range(3).repeat(x[0]), lambda x: np.tile(np.arange(3), x[0])),
    "shard": (lambda x: Dataset.range(9).shard(x[0], x[1]), lambda x: np.arange(9)[x[1] :: x[0]]),
    "shuffle": (lambda x: Dataset.range(9).shuffle(x[0]), lambda x: np.arange(9)),
    "batch": (
        lambda x: Dataset.range(9).batch(x[0], drop_remainder=True),
        lambda x: np.arange(9)[: 9 // x[0] * x[0]],
    ),
    "window": (
        lambda x: Dataset.range(9).window(x[0]).flat_map(lambda w: w.batch(20)),
        lambda x: np.arange(9),
    ),
    "padded": (
        lambda x: Dataset.range(1, 4).map(lambda n: tf.fill([n], n)).padded_batch(x[0]),
        lambda x: np.array([1, 2, 2, 3, 3, 3]),
    ),
    "prefetch": (lambda x: Dataset.from_tensor_slices(x).prefetch(x[0]), lambda x: x),
    "stages of stages": (
        lambda x: Dataset.from_tensor_slices(x).map(lambda v: v + x[0]).take(x[1]).repeat(2),
        lambda x: np.tile((x + x[0])[: x[1]], 2),
    ),
    "flat_map": (
        lambda x: Dataset.from_tensor_slices(x).flat_map(lambda v: Dataset.range(v)),
        lambda x: np.concatenate([np.arange(v) for v in x]),
    ),
    "choices": (
        lambda x: Dataset.choose_from_datasets(
            [Dataset.from_tensor_slices(x), Dataset.range(3)], Dataset.range(2).repeat(3)
        ),
        lambda x: np.concatenate([x[:3], np.arange(min(3, len(x)))]),
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_a_dataset_of_arguments_has_the_values_of_each_call(name):
    make, expected = MADE[name]
    run = total(make)
    for given in ([3, 2, 5], [4, 1, 7]):  # one trace, other values
        found = np.array(given, np.int64)
        assert int(run(int64(*given))) == expected(found).sum()
    assert run.experimental_get_tracing_count() == 1


@pytest.mark.parametrize("name", MADE)
def test_a_placeholder_is_fed_when_the_iterator_begins(name):
    make, expected = MADE[name]
    with tf.Graph().as_default():
        x = v1.placeholder(tf.int64, [3])
        iterator = v1.data.make_initializable_iterator(make(x))
        element = iterator.get_next()
        with v1.Session() as session:
            for given in ([3, 2, 5], [4, 1, 7]):
                session.run(iterator.initializer, {x: given})
                found = 0
                with pytest.raises(tf.errors.OutOfRangeError):
                    while True:
                        found += session.run(element).sum()
                assert found == expected(np.array(given, np.int64)).sum()


@pytest.mark.parametrize("name", MADE)
def test_constants_of_a_graph_are_known_to_an_iterator_of_one_shot(name):
    make, expected = MADE[name]
    with tf.Graph().as_default():
        element = v1.data.make_one_shot_iterator(make(int64(3, 2, 5))).get_next()
        with v1.Session() as session:
            found = 0
            with pytest.raises(tf.errors.OutOfRangeError):
                while True:
                    found += session.run(element).sum()
            assert found == expected(np.array([3, 2, 5])).sum()


def test_reduce_and_one_element():
    @tf.function
    def run(x):
        whole = Dataset.from_tensor_slices(x).reduce(int64(0), lambda a, b: a + b)
        return whole, Dataset.from_tensors(x * 2).get_single_element()

    whole, one = run(int64(1, 2, 3))
    assert int(whole) == 6
    assert one.numpy().tolist() == [2, 4, 6]


def test_next_of_iter_inside_of_a_function():
    @tf.function
    def run(x):
        iterator = iter(Dataset.from_tensor_slices(x))
        first = next(iterator)
        return first, next(iterator), iterator.get_next()

    assert [int(v) for v in run(int64(4, 5, 6))] == [4, 5, 6]
    assert [int(v) for v in run(int64(7, 8, 9))] == [7, 8, 9]
    with pytest.raises(tf.errors.OutOfRangeError):
        run(int64(1, 2))


def test_python_that_goes_through_a_dataset_without_end_is_stopped():
    @tf.function
    def run():
        return list(Dataset.range(3))

    with pytest.raises(tf.errors.UnimplementedError, match="going through a dataset"):
        run()


def test_two_iterations_of_one_trace_do_not_share_values():
    @tf.function
    def run(x, y):
        out = []
        for source in (x, y):
            part = tf.constant(0, tf.int64)
            for a, b in Dataset.zip(Dataset.from_tensor_slices(x), Dataset.from_tensors(source)):
                part += a * tf.reduce_sum(b)
            out.append(part)
        return out

    found = run(int64(1, 2, 3), int64(10, 20))
    assert [int(v) for v in found] == [6, 30]


def test_a_loop_in_a_loop():
    @tf.function
    def run(x):
        out = tf.constant(0, tf.int64)
        for n in Dataset.from_tensor_slices(x):
            for k in Dataset.range(n):
                out += k
        return out

    assert int(run(int64(2, 4))) == 1 + 6


def test_it_is_refused_where_its_graph_does_not_run():
    made = []

    @tf.function
    def run(x):
        made.append(Dataset.from_tensor_slices(x))
        return x

    run(int64(1, 2))
    with pytest.raises(tf.errors.UnimplementedError, match="iterated outside"):
        list(made[0])


def test_names_of_files_may_be_fed(tmp_path):
    for i in range(2):
        (tmp_path / f"{i}.txt").write_text(f"a{i}\nb{i}\n")
    with tf.Graph().as_default():
        names = v1.placeholder(tf.string, [None])
        iterator = v1.data.make_initializable_iterator(tf.data.TextLineDataset(names))
        line = iterator.get_next()
        with v1.Session() as session:
            session.run(iterator.initializer, {names: [str(tmp_path / "1.txt")]})
            assert [session.run(line) for _ in range(2)] == [b"a1", b"b1"]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(line)


def test_a_variable_of_a_graph_is_refused_by_name():
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=np.int64(2))
        with pytest.raises(tf.errors.UnimplementedError, match="`map` uses a Variable of a graph"):
            Dataset.range(3).map(lambda x: x * v)
        v1.get_variable("w", initializer=np.int64(2))
        assert Dataset.range(3).map(lambda x: x * 2).element_spec.dtype == tf.int64


def test_a_variable_is_read_for_each_element_of_a_loop():
    v = tf.Variable(2, dtype=tf.int64)

    @tf.function
    def run(n):
        out = tf.constant(0, tf.int64)
        for x in Dataset.range(n).map(lambda x: x * v):
            out += x
        return out

    assert int(run(int64(4))) == 12
    v.assign(10)
    assert int(run(int64(3))) == 30


def test_a_shuffle_by_tensors_goes_on_from_one_epoch_to_the_next():
    tf.random.set_seed(None)

    @tf.function
    def orders(n):
        out = tf.TensorArray(tf.int64, size=0, dynamic_size=True)
        for i, x in Dataset.range(5).shuffle(n, seed=3).repeat(3).enumerate():
            out = out.write(tf.cast(i, tf.int32), x)
        return out.stack()

    recorded = [4, 3, 2, 1, 0, 3, 4, 1, 2, 0, 3, 1, 0, 4, 2]  # TensorFlow's
    assert orders(int64(5)).numpy().tolist() == recorded
    assert orders(int64(5)).numpy().tolist() == recorded


ORDERS = {  # TensorFlow's, of two loops over a dataset that is made inside of a traced function
    "shuffle": (lambda: Dataset.range(5).shuffle(5, seed=3), [4, 3, 2, 1, 0], [3, 4, 1, 2, 0]),
    "alike": (lambda: Dataset.range(5).shuffle(5, 3, False), [2, 4, 3, 0, 1], [2, 4, 3, 0, 1]),
    "repeat": (
        lambda: Dataset.range(4).shuffle(4, seed=3).repeat(2),
        [0, 1, 2, 3, 0, 3, 2, 1],
        [0, 1, 3, 2, 0, 3, 2, 1],
    ),
    "two": (
        lambda: Dataset.range(4).shuffle(4, seed=1).map(lambda x: x * 2).shuffle(4, seed=2),
        [0, 4, 2, 6],
        [6, 2, 0, 4],
    ),
    "cache": (
        lambda: Dataset.range(5).shuffle(5, seed=3).cache(),
        [4, 3, 2, 1, 0],
        [4, 3, 2, 1, 0],
    ),
    "random": (
        lambda: Dataset.random(seed=4, rerandomize_each_iteration=True).take(2),
        [1905554911, 4215726141],
        [1683472663, 2279948892],
    ),
}


def all_of(dataset):
    out = tf.TensorArray(tf.int64, size=0, dynamic_size=True)
    for x in dataset:
        out = out.write(out.size(), x)
    return out.stack()


@pytest.mark.parametrize("name", ORDERS)
def test_each_call_begins_the_seeds_of_its_datasets_anew(name):
    tf.random.set_seed(None)
    make, first, second = ORDERS[name]

    @tf.function
    def loops():
        ds = make()
        return all_of(ds), all_of(ds)

    @tf.function
    def inside():
        ds = make()

        @tf.function
        def captures():
            return all_of(ds)

        inner = tf.function(all_of)
        return captures(), inner(ds)

    @tf.function
    def held():
        ds = make()
        return all_of(Dataset.range(2).flat_map(lambda _: ds.map(lambda x: x)))

    @tf.function
    def made_in_a_loop(n):
        out = tf.zeros_like(first, tf.int64)
        for _ in tf.range(n):
            out = tf.ensure_shape(all_of(make()), [len(first)])
        return out

    for _ in range(2):
        for run in (loops, inside):
            assert [x.numpy().tolist() for x in run()] == [first, second]
        if name != "repeat":  # which TensorFlow makes another stage of there
            assert held().numpy().tolist() == first + second
        assert made_in_a_loop(3).numpy().tolist() == first
    mapped = Dataset.range(3).map(
        lambda _: make().reduce(tf.zeros([0], tf.int64), lambda a, x: tf.concat([a, [x]], 0))
    )
    assert [x.numpy().tolist() for x in mapped] == [first] * 3


def test_each_call_draws_seeds_where_none_are_given():
    def orders(seed, **options):
        tf.random.set_seed(seed)

        @tf.function
        def run():
            ds = Dataset.range(40).shuffle(40, **options)
            return all_of(ds), all_of(ds)

        return [x.numpy().tolist() for _ in range(2) for x in run()]

    a, b, c, d = orders(None)
    assert a != b and a != c and b != d and c != d
    a, b, c, d = orders(None, reshuffle_each_iteration=False)
    assert a == b and c == d and a != c
    a, b, c, d = orders(7)
    assert a == c and b == d and a != b


def test_a_dataset_that_left_its_trace_is_used_in_others():
    kept = []

    @tf.function
    def make():
        kept.append(Dataset.range(5).shuffle(5, seed=3).cache())
        return all_of(kept[0])

    wanted = make().numpy().tolist()

    @tf.function
    def use():
        return all_of(kept[0])

    assert sorted(use().numpy().tolist()) == sorted(wanted)
    assert use().numpy().tolist() == [int(x) for x in kept[0]]


def test_functions_that_make_datasets_use_tensors_of_the_graph():
    def joined(dataset):
        return dataset.reduce(tf.constant(0, tf.int64), lambda s, x: s * 7 + x)

    @tf.function
    def flat(n):
        def helper(y, x):
            return y + x * 10 + n

        made = Dataset.range(3).flat_map(lambda x: Dataset.range(n).map(lambda y: helper(y, x)))
        return joined(made)

    assert [int(flat(int64(n))) for n in (2, 3)] == [45747, 21435390]  # TensorFlow's

    @tf.function
    def in_turn(n, settings):
        def rows(x, step=n):
            return Dataset.range(x, x + settings["count"]).map(lambda y: y * step)

        return joined(Dataset.range(3).interleave(rows, cycle_length=n, block_length=1))

    def plain(n, count):
        made = Dataset.range(3).interleave(
            lambda x: Dataset.range(x, x + count).map(lambda y: y * n), cycle_length=n
        )
        return int(joined(made))

    for n, count in ((2, 3), (1, 2)):
        assert int(in_turn(int64(n), {"count": int64(count)})) == plain(n, count)

    @tf.function
    def grouped(n):
        made = Dataset.range(8).group_by_window(
            lambda x: x % 2, lambda k, w: w.map(lambda x: x * n), window_size=n
        )
        return joined(made)

    assert int(grouped(int64(2))) != int(grouped(int64(4)))
    with tf.Graph().as_default():
        size = v1.placeholder(tf.int64, [])
        ds = Dataset.range(2).flat_map(lambda x: Dataset.range(size).map(lambda y: y + x))
        it = v1.data.make_initializable_iterator(ds.batch(10))
        element = it.get_next()
        with v1.Session() as session:
            for n, expected in ((2, [0, 1, 1, 2]), (1, [0, 1])):
                session.run(it.initializer, {size: n})
                assert session.run(element).tolist() == expected


def test_the_only_element_in_a_graph():
    @tf.function
    def single(skip, take):
        return Dataset.range(5).skip(skip).take(take).get_single_element()

    assert int(single(int64(2), int64(1))) == 2
    for take, message in ((0, "no element"), (2, "several elements")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            single(int64(2), int64(take))
    with tf.Graph().as_default():
        found = Dataset.range(3).take(1).map(lambda x: {"a": x + 7}).get_single_element()
        third = tf.data.experimental.at(Dataset.range(10, 20), 3)
        with v1.Session() as session:
            assert session.run([found["a"], third]) == [7, 13]


def test_csv_by_name_in_a_graph(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,t,label\n1,a,0.5\n2,b,1.5\n3,c,2.5\n")
    with tf.Graph().as_default():
        ds = tf.data.experimental.make_csv_dataset(
            str(path), 2, label_name="label", num_epochs=1, shuffle=False
        )
        features, label = v1.data.make_one_shot_iterator(ds).get_next()
        with v1.Session() as session:
            found, numbers = session.run([features, label])
        assert found["x"].tolist() == [1, 2]
        assert found["t"].tolist() == [b"a", b"b"]
        assert numbers.tolist() == [0.5, 1.5]


def test_numbers_of_stages_are_variables():
    v = tf.Variable(2, dtype=tf.int64)

    def sums():
        flat = Dataset.range(2).flat_map(lambda x: Dataset.from_tensors(x + 1).repeat(v))
        made = flat, Dataset.range(v), Dataset.range(9).take(v), Dataset.range(4).batch(v)
        return [
            ds.reduce(tf.constant(0, tf.int64), lambda s, x: s + tf.reduce_sum(x)) for ds in made
        ]

    traced = tf.function(sums)
    for run in (sums, traced):
        v.assign(2)
        assert [int(s) for s in run()] == [6, 1, 1, 6]
        v.assign(3)
        assert [int(s) for s in run()] == [9, 3, 3, 6]
