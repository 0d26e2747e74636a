"""`shuffle` gives TensorFlow's order: recorded by tests/python/data/record_orders.py."""

import json
import pathlib

import order_programs
import pytest

import holdfast as tf

RECORDED = json.loads((pathlib.Path(__file__).parent / "data" / "orders.json").read_text())


@pytest.fixture(autouse=True)
def without_a_global_seed():
    tf.random.set_seed(None)
    yield
    tf.random.set_seed(None)


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda c: f"{c['global_seed']}-{c['seed']}")
@pytest.mark.parametrize("as_rows", [True, False])
def test_the_order_is_tensorflows(case, as_rows):
    if case["global_seed"] is not None:
        tf.random.set_seed(case["global_seed"])
    dataset = tf.data.Dataset.range(case["elements"])
    if not as_rows:  # elements that are no rows of an array go another way
        dataset = dataset.map(lambda x: x)
    dataset = dataset.shuffle(
        case["buffer"], seed=case["seed"], reshuffle_each_iteration=case["anew"]
    ).repeat(case["repeat"])
    found = [[int(x) for x in dataset] for _ in case["orders"]]
    assert found == case["orders"]


def test_datasets_take_their_seeds_in_the_order_in_which_they_are_made():
    tf.random.set_seed(11)
    a, b = (tf.data.Dataset.range(8).shuffle(8) for _ in range(2))
    found = [[int(x) for x in b], [int(x) for x in a], [int(x) for x in b]]
    assert found == RECORDED["two_in_a_row"]


def test_batches_of_shuffled_rows_have_the_same_order():
    case = next(c for c in RECORDED["cases"] if c["repeat"] == 3)
    rows = tf.data.Dataset.from_tensor_slices(tf.range(case["elements"]))
    batches = rows.shuffle(case["buffer"], seed=case["seed"]).repeat(3).batch(7)
    assert [int(x) for batch in batches for x in batch] == case["orders"][0]


def test_without_seeds_orders_differ():
    dataset = tf.data.Dataset.range(1000).shuffle(1000)
    assert [int(x) for x in dataset] != [int(x) for x in dataset]


def test_random_ops_of_a_stage_begin_anew_with_each_iteration():
    def drawn(_):
        return tf.random.uniform([], 0, 100, tf.int32, seed=4)

    def found(dataset):
        return [x.numpy().tolist() for x in dataset]

    tf.random.set_seed(3)
    numbers = tf.data.Dataset.range(3)
    recorded = [61, 35, 73, 17, 63, 1]  # TensorFlow's for these seeds
    for ds in (
        numbers.map(drawn),
        numbers.map(tf.function(drawn)),
        numbers.map(drawn, num_parallel_calls=1),
        numbers.scan(0, lambda state, x: (state, drawn(x))),
    ):
        assert found(ds) == found(ds) == recorded[:3]
        assert found(ds.repeat(2)) == recorded  # an iteration goes on in its next epoch
    chosen = tf.data.Dataset.range(8).filter(lambda x: drawn(x) > 50)
    assert found(chosen) == found(chosen) == [0, 2, 4, 6, 7]
    mixed = numbers.map(lambda _: tf.random.shuffle(tf.range(4), seed=4))
    assert found(mixed) == found(mixed) == [[1, 2, 3, 0], [3, 2, 0, 1], [1, 3, 0, 2]]
    unseeded = numbers.map(lambda _: tf.random.uniform([], 0, 100, tf.int32))
    first, second = iter(unseeded), iter(unseeded)
    assert [int(next(it)) for it in (first, second, first, second)] == [51, 51, 34, 34]
    tf.random.set_seed(None)
    free = numbers.map(lambda _: tf.random.uniform([]))
    assert found(free) != found(free)


@pytest.mark.parametrize("parallel", [None, 1, 2])
@pytest.mark.parametrize("seed", [None, 5])
def test_a_restored_position_goes_on_with_the_random_numbers(parallel, seed):
    def made():
        tf.random.set_seed(seed)
        ds = tf.data.Dataset.range(12).shuffle(5, seed=1)
        ds = ds.map(lambda x: (x, tf.random.uniform([], seed=seed)), num_parallel_calls=parallel)
        ds = ds.filter(lambda x, _: tf.random.uniform([]) < 0.8)
        ds = ds.scan(0.0, lambda s, x: (s + tf.random.normal([]), (x[0], x[1] + s)))
        return ds.repeat(2).prefetch(2)

    first = iter(made())
    for _ in range(4):
        next(first)
    position = first.save()
    rest = [(int(x), float(u)) for x, u in first]
    again = iter(made())
    next(again)
    again.restore(position)
    found = [(int(x), float(u)) for x, u in again]
    if parallel == 2:  # which element gets which number hangs on threads
        rest, found = ([x for x, _ in each] for each in (rest, found))
    assert found == rest


def _with_python(x):
    same = tf.numpy_function(lambda v: v, [x], tf.int64)
    return same * 0 + tf.random.uniform([], 0, 10**6, tf.int64, seed=1)


def _key(_):
    return tf.random.uniform([], 0, 3, tf.int64, seed=1)


NUMBERS = tf.data.Dataset.range(40)
STAGES = {
    "a map that calls Python": lambda: NUMBERS.map(_with_python),
    "keys of groups": lambda: NUMBERS.group_by_window(_key, lambda k, d: d.batch(3), 3),
    "lengths of buckets": lambda: NUMBERS.map(
        lambda x: tf.fill([x % 5 + 1], x)
    ).bucket_by_sequence_length(lambda x: tf.cast(_key(x) + 1, tf.int32), [2, 3], [2, 2, 2]),
}


@pytest.mark.parametrize("made", STAGES.values(), ids=STAGES)
def test_a_restored_position_has_the_numbers_of(made):
    first, again = iter(made()), iter(made())
    for _ in range(5):
        next(first)
    again.restore(first.save())
    rest, found = ([x.numpy().tolist() for x in each] for each in (first, again))
    assert len(rest) > 3 and found == rest


def test_python_code_in_a_stage_draws_its_own_numbers():
    draw = tf.function(lambda: tf.random.uniform([], 0, 10**6, tf.int64, seed=1))
    drawn = []

    def called(x):
        drawn.append(int(draw()))
        return x

    ds = tf.data.Dataset.range(3).map(lambda x: tf.numpy_function(called, [x], tf.int64))
    for _ in range(2):
        assert len(list(ds)) == 3
    assert len(set(drawn)) == 6  # the function goes on, whoever iterates


@pytest.mark.parametrize("name", order_programs.PIPELINES)
def test_a_pipeline_goes_on_as_tensorflows(name):
    assert order_programs.iterated(tf, name) == RECORDED["pipelines"][name]


@pytest.mark.parametrize("name", order_programs.BY_NUMBER)
def test_an_element_by_its_number_is_tensorflows(name):
    assert order_programs.by_number(tf, name) == RECORDED["by_number"][name]
