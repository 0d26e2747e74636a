"""`shuffle` gives TensorFlow's order: recorded by tests/python/data/record_orders.py."""

import json
import pathlib

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
