"""Datasets that choose, carry, leave out and keep elements; TensorFlow's values for a seed."""

import os

import numpy as np
import pytest

import holdfast as tf

Dataset = tf.data.Dataset
experimental = tf.data.experimental


def values(dataset):
    return [
        tuple(x.numpy().tolist() for x in e) if isinstance(e, tuple) else e.numpy().tolist()
        for e in dataset
    ]


def check_resumed(make, taken):
    first = iter(make())
    for _ in range(taken):
        next(first)
    again = iter(make())
    again.restore(first.save())
    assert values(again) == values(first)


ALL = Dataset.range(5), Dataset.range(100, 105)
CHOICES = np.array([0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1], np.int64)


@pytest.fixture
def seed_7():
    tf.random.set_seed(7)


def test_random_numbers_are_those_of_tensorflow(seed_7):
    ds = Dataset.random(seed=42).take(5)
    assert values(ds) == values(ds) == [652300395, 1378687557, 738232112, 95864221, 3311035179]
    anew = Dataset.random(seed=4, rerandomize_each_iteration=True).take(3)
    assert [values(anew), values(anew)] == [
        [1522362835, 723421984, 2343844676],
        [421822199, 3471736299, 839678275],
    ]
    assert Dataset.random().cardinality() == tf.data.INFINITE_CARDINALITY
    assert values(Dataset.random().take(3)) != values(Dataset.random().take(3))
    check_resumed(lambda: Dataset.random(seed=3).take(7), 3)


def test_elements_by_the_number_of_their_dataset():
    by = Dataset.from_tensor_slices(CHOICES)
    assert values(Dataset.choose_from_datasets(ALL, by)) == [0, 100, 101, 1, 2, 3, 4]
    on = Dataset.choose_from_datasets(ALL, by, stop_on_empty_dataset=False)
    assert values(on) == [0, 100, 101, 1, 2, 3, 4, 102, 103, 104]
    check_resumed(lambda: Dataset.choose_from_datasets(ALL, by, False), 6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="dataset 2, and there are 2"):
        list(Dataset.choose_from_datasets(ALL, Dataset.range(2, 3)))
    with pytest.raises(TypeError, match="int64"):
        Dataset.choose_from_datasets(ALL, Dataset.from_tensors(1.0))
    with pytest.raises(TypeError, match="same form"):
        Dataset.choose_from_datasets([ALL[0], Dataset.from_tensors("a")], by)
    with pytest.raises(ValueError, match="was given none"):
        Dataset.choose_from_datasets([], by)


def test_samples_are_those_of_tensorflow(seed_7):
    assert values(Dataset.sample_from_datasets(ALL, seed=3)) == [
        100,
        0,
        101,
        102,
        103,
        104,
        1,
        2,
        3,
        4,
    ]
    weighted = Dataset.sample_from_datasets(
        ALL, weights=[0.2, 0.8], seed=5, stop_on_empty_dataset=True
    )
    assert values(weighted) == [100, 101, 0, 102, 103, 104]
    sampled = [100, 101, 0, 102, 103, 104, 1, 2]
    changing = Dataset.from_tensor_slices([[0.2, 0.8]] * 20)
    assert values(Dataset.sample_from_datasets(ALL, weights=changing, seed=5)) == sampled
    never = Dataset.sample_from_datasets([*ALL, ALL[0]], weights=[0.0, 1.0, 0.0])
    assert values(never) == [100, 101, 102, 103, 104]
    check_resumed(lambda: Dataset.sample_from_datasets(ALL, seed=3), 4)
    with pytest.raises(ValueError, match="1 weights for 2 datasets"):
        Dataset.sample_from_datasets(ALL, weights=[1.0])
    with pytest.raises(TypeError, match="int32"):
        Dataset.sample_from_datasets(ALL, weights=tf.constant([1, 2]))


@pytest.mark.parametrize("initial", [[0.5, 0.4, 0.1], None])
def test_resampling_comes_near_the_target(initial):
    rng = np.random.default_rng(1)
    classes = rng.choice(3, 6000, p=[0.5, 0.4, 0.1]).astype(np.int32)
    ds = Dataset.from_tensor_slices((classes, classes * 10))
    out = ds.rejection_resample(lambda c, x: c, [0.2, 0.2, 0.6], initial_dist=initial, seed=2)
    found = [(int(c), int(e[0]), int(e[1])) for c, e in out]
    assert all(c == a and b == 10 * a for c, a, b in found)
    share = np.bincount([c for c, *_ in found], minlength=3) / len(found)
    np.testing.assert_allclose(share, [0.2, 0.2, 0.6], atol=0.06)


def test_resampling_by_estimated_shares_draws_as_tensorflow_does():
    tf.random.set_seed(1)
    classes = Dataset.range(40).map(lambda x: tf.cast(x % 3 == 0, tf.int32))
    out = classes.rejection_resample(lambda c: c, [0.5, 0.5], seed=1)
    found = "".join(str(int(c)) for c, _ in out.take(50))
    tf.random.set_seed(None)
    assert found == "10010010011100111001100101010010011101011100100100"  # TensorFlow's


def test_a_state_goes_from_element_to_element():
    ds = Dataset.range(5).scan(np.int64(0), lambda s, x: (s + x, s * 10 + x))
    assert values(ds) == [0, 1, 12, 33, 64]
    pairs = Dataset.range(5).scan((0, 1), lambda s, _: ((s[1], s[0] + s[1]), s[1]))
    assert values(pairs) == [1, 1, 2, 3, 5]
    growing = Dataset.range(3).scan(
        tf.zeros([0], tf.int64), lambda s, x: (tf.concat([s, [x]], 0), s)
    )
    assert values(growing) == [[], [0], [0, 1]]
    assert growing.element_spec == tf.TensorSpec((None,), tf.int64)
    check_resumed(lambda: ds.map(lambda x: x), 2)
    rows = Dataset.from_tensor_slices((np.arange(3), np.arange(3) * 2))
    named = rows.scan(np.int64(1), lambda s, e: (s * 2, {"sum": e[0] + e[1] * s}))
    assert [int(e["sum"]) for e in named] == [0, 5, 18]
    with pytest.raises(TypeError, match="no pair"):
        Dataset.range(3).scan(0, lambda s, x: s)
    with pytest.raises(TypeError, match="begins as"):
        Dataset.range(3).scan(0, lambda s, x: (1.5, x))


def test_unique_elements():
    assert values(Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()) == [1, 37, 2]
    words = Dataset.from_tensor_slices(["a", "b", "a"]).unique()
    assert [e.numpy() for e in words] == [b"a", b"b"]
    rows = Dataset.from_tensor_slices([[1, 2], [2, 1], [1, 2]]).unique()
    assert values(rows) == [[1, 2], [2, 1]]
    check_resumed(lambda: Dataset.range(9).map(lambda x: x % 4).unique(), 2)


def test_batches_of_other_sizes():
    ds = Dataset.range(10).batch(3)
    assert values(ds.rebatch(4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert values(ds.rebatch([2, 1])) == [[0, 1], [2], [3, 4], [5], [6, 7], [8], [9]]
    whole = ds.rebatch(4, drop_remainder=True)
    assert values(whole) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert whole.element_spec.shape == (4,)
    check_resumed(lambda: ds.rebatch([2, 5]), 2)
    with pytest.raises(ValueError, match="takes batches"):
        Dataset.range(3).rebatch(2)
    twos = Dataset.range(4).batch(2)
    assert values(twos.rebatch([0, 1])) == [[], [0], [], [1], [], [2], [], [3], []]
    assert values(twos.rebatch([3, 0])) == [[0, 1, 2], [], [3]]
    check_resumed(lambda: twos.rebatch([0, 1]), 3)
    for none in (0, [0, 0], [2, -1]):
        with pytest.raises(ValueError, match="expected 1 or more"):
            ds.rebatch(none)


def test_errors_are_left_out(capfd):
    def half(x):
        return tf.debugging.check_numerics(1 / x, "bad")

    ds = Dataset.from_tensor_slices([1.0, 0.0, 4.0, 0.0]).map(half)
    assert values(ds.ignore_errors()) == [1.0, 0.25]
    assert capfd.readouterr().err == ""
    assert len(values(ds.ignore_errors(log_warning=True))) == 2
    assert capfd.readouterr().err.count("leaves out an element") == 2

    def odd(x):
        if x % 2:
            raise ValueError("odd")
        return x

    ds = Dataset.range(5).map(lambda x: tf.py_function(odd, [x], tf.int64)).ignore_errors()
    assert values(ds) == [0, 2, 4]


def test_ctrl_c_is_no_error_of_an_element():
    def stop(_):
        raise KeyboardInterrupt

    ds = Dataset.range(5).map(lambda x: tf.py_function(stop, [x], tf.int64)).ignore_errors()
    with pytest.raises(KeyboardInterrupt):
        next(iter(ds))


def test_the_number_of_elements_is_asserted():
    three = Dataset.range(9).filter(lambda x: x < 3)
    assert len(three.apply(experimental.assert_cardinality(3))) == 3
    assert values(three.apply(experimental.assert_cardinality(3))) == [0, 1, 2]
    for wrong, said in ((2, "more than 2"), (4, "has 3 elements, expected 4")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=said):
            list(three.apply(experimental.assert_cardinality(wrong)))


def test_older_names(tmp_path):
    ds = Dataset.range(6)
    assert values(ds.apply(experimental.map_and_batch(lambda x: x * 2, 4))) == [
        [0, 2, 4, 6],
        [8, 10],
    ]
    assert values(ds.apply(experimental.unique())) == list(range(6))
    assert int(experimental.at(ds, 4)) == 4
    with pytest.raises(tf.errors.OutOfRangeError, match="no element 6"):
        experimental.at(ds, 6)
    assert values(experimental.from_list([1, 2, 3])) == [1, 2, 3]
    reducer = experimental.Reducer(lambda k: np.int64(0), lambda s, x: s + x, lambda s: s * 10)
    assert values(ds.apply(experimental.group_by_reducer(lambda x: x % 2, reducer))) == [60, 90]
    padded = Dataset.from_tensor_slices({"a": [1, 2]}).apply(experimental.pad_to_cardinality(3))
    assert [(int(e["a"]), bool(e["valid"])) for e in padded] == [(1, True), (2, True), (0, False)]
    experimental.save(ds, str(tmp_path / "s"))
    assert values(experimental.load(str(tmp_path / "s"))) == list(range(6))
    assert values(ds.prefetch_to_device("/CPU:0")) == list(range(6))
    assert values(ds.apply(experimental.copy_to_device("/CPU:0"))) == list(range(6))
    a, b = (ds.fingerprint().numpy() for _ in range(2))
    assert a == b != Dataset.range(7).fingerprint().numpy()


def test_both_halves_of_a_fingerprint_tell_pipelines_apart():
    all_ = [int(Dataset.range(n).fingerprint().numpy()) & (2**64 - 1) for n in range(8)]
    assert (
        len({each >> 32 ^ each & (2**32 - 1) for each in all_}) > 1
    )  # sums of one text go together
    assert len(set(all_)) == len(all_)


def test_names_of_files(tmp_path):
    for name in ("b.txt", "a.txt", "c.csv"):
        (tmp_path / name).write_text("x")

    def names(*patterns, **options):
        found = Dataset.list_files([str(tmp_path / p) for p in patterns], **options)
        return [os.path.basename(e.numpy().decode()) for e in found]

    assert names("*.txt", shuffle=False) == ["a.txt", "b.txt"]
    assert names("*.txt", "?.csv", shuffle=False) == ["a.txt", "b.txt", "c.csv"]
    assert names("*.*", seed=3) == names("*.*", seed=3)
    assert sorted(names("*")) == ["a.txt", "b.txt", "c.csv"]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"no file matches[\s\S]*\.none"):
        names("*.none")


def test_an_optional_is_a_value_or_none():
    it = iter(Dataset.range(2))
    found = [it.get_next_as_optional() for _ in range(3)]
    assert [bool(o.has_value()) for o in found] == [True, True, False]
    assert [int(o.get_value()) for o in found[:2]] == [0, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        found[2].get_value()
    assert found[2].element_spec == tf.TensorSpec((), tf.int64)
    both = tf.experimental.Optional.from_value((1, 2.0))
    assert [float(x) for x in both.get_value()] == [1, 2]
    assert both.element_spec[1].dtype == tf.float32
    assert tf.OptionalSpec.from_value(both) == tf.OptionalSpec(both.element_spec)

    @tf.function
    def step(it):
        optional = it.get_next_as_optional()
        out = tf.constant(-1, tf.int64)
        if optional.has_value():
            out = optional.get_value()
        return out

    it = iter(Dataset.range(5, 7))
    assert [int(step(it)) for _ in range(3)] == [5, 6, -1]


def test_the_others_of_a_zip_go_on_behind_an_error():
    a = Dataset.from_tensor_slices([1.0, 2.0, 0.0, 4.0])
    b = a.map(lambda x: tf.debugging.check_numerics(1.0 / x, "no number"))
    for both in (Dataset.zip(b, a), Dataset.zip(a, b)):
        found = [sorted(map(float, e)) for e in both.ignore_errors()]
        assert found == [[1.0, 1.0], [0.5, 2.0], [0.25, 4.0]]


def test_an_error_of_a_zip_is_told_though_another_ends():
    checked = Dataset.range(4).map(
        lambda x: tf.debugging.check_numerics(1.0 / tf.cast(3 - x, tf.float32), "")
    )
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(Dataset.zip(checked, Dataset.range(3)))


def test_a_cache_tells_of_an_input_that_does_not_end_as_promised(tmp_path):
    promised = Dataset.range(5).apply(tf.data.experimental.assert_cardinality(3))
    for cached in (promised.cache(), promised.cache(str(tmp_path / "kept"))):
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than 3 elements"):
            list(cached)


def test_a_function_of_datasets_may_choose_shapes():
    """What either side gives is what later stages are told."""

    def rows(x):
        if x > 0:
            v = tf.zeros([2])
        else:
            v = tf.zeros([3])
        return Dataset.from_tensors(v)

    made = Dataset.range(2).flat_map(rows).map(lambda v: tf.shape(v)[0])
    assert [int(n) for n in made] == [3, 2]


def test_an_element_by_its_number_is_always_the_same_one():
    ds = Dataset.range(7).shuffle(10, seed=2).repeat(2)
    order = [int(experimental.at(ds, i)) for i in range(14)]
    assert sorted(order[:7]) == list(range(7)) and order[:7] == order[7:]
    assert [int(experimental.at(ds, i)) for i in reversed(range(14))] == order[::-1]
    epochs = [[int(x) for x in ds] for _ in range(2)]
    assert epochs[0] == [int(x) for x in Dataset.range(7).shuffle(10, seed=2).repeat(2)]
    assert int(experimental.at(ds, 3)) == order[3] and epochs[0] != epochs[1]
    with pytest.raises(tf.errors.OutOfRangeError, match="no element -1"):
        experimental.at(ds, -1)


def test_options_of_a_dataset_are_for_reading():
    asked = tf.data.Options()
    asked.deterministic = False
    ds = Dataset.range(2).with_options(asked)
    assert ds.options() == asked
    asked.threading.private_threadpool_size = 2  # they are the program's own still
    with pytest.raises(ValueError, match="with_options"):
        ds.options().deterministic = True
    with pytest.raises(ValueError, match="never changes"):
        ds.options().threading.private_threadpool_size = 3


def test_a_list_of_dtypes_is_refused():
    with pytest.raises(TypeError, match="tuple in place"):
        Dataset.from_generator(lambda: iter([[1]]), output_types=[tf.int64])


def test_options_have_types():
    asked = tf.data.Options()
    for part, name, wrong in (
        (asked, "deterministic", "yes"),
        (asked, "threading", 3),
        (asked.threading, "private_threadpool_size", 2.5),
        (asked.autotune, "enabled", 1),
        (asked.experimental_distribute, "auto_shard_policy", 1),
    ):
        with pytest.raises(TypeError, match=f"`{name}` of"):
            setattr(part, name, wrong)
    asked.experimental_deterministic = False  # as it was called once
    assert asked.deterministic is False and asked.experimental_deterministic is False
    threads = tf.data.ThreadingOptions()
    threads.private_threadpool_size = 2
    asked.experimental_threading = threads
    assert Dataset.range(1).with_options(asked).options().threading.private_threadpool_size == 2


def test_rows_that_no_number_counts_are_unknown():
    ds = Dataset.range(2**62).map(lambda x: tf.fill([8], x)).unbatch()
    assert int(ds.cardinality()) == tf.data.UNKNOWN_CARDINALITY


@pytest.mark.parametrize("weights", [None, [0.5, 0.5]])
def test_a_traced_function_gives_a_dataset_that_draws_from_others(weights):
    @tf.function
    def made():
        parts = [Dataset.range(10), Dataset.range(100, 110)]
        return Dataset.sample_from_datasets(parts, weights, seed=42, stop_on_empty_dataset=True)

    tf.random.set_seed(3)
    try:
        found = made()
    finally:
        tf.random.set_seed(None)
    recorded = [0, 100, 101, 1, 2, 3, 102, 4, 5, 6, 7, 8, 9]  # TensorFlow's for these seeds
    assert [int(x) for x in found] == [int(x) for x in found] == recorded


def test_how_many_elements_a_stage_chooses_is_unknown_of_an_empty_input_too():
    empty = Dataset.range(3).take(0)
    for chosen in (
        empty.filter(lambda x: x > 0),
        empty.take_while(lambda x: x > 0),
        empty.unique(),
        empty.ignore_errors(),
        empty.batch(2).rebatch(2),
        empty.batch(2).unbatch(),
        empty.group_by_window(lambda x: x, lambda _, w: w.batch(2), 2),
    ):
        assert int(chosen.cardinality()) == tf.data.UNKNOWN_CARDINALITY
        assert list(chosen) == []
        with pytest.raises(TypeError):
            len(chosen)
    unknown = Dataset.range(3).filter(lambda x: x > 0)
    assert int(unknown.skip(-1).cardinality()) == tf.data.UNKNOWN_CARDINALITY


def test_what_is_no_element_is_named_once():
    with pytest.raises(TypeError, match="E1104.: `tensors`: got <object"):
        Dataset.from_tensors({"a": object()})
