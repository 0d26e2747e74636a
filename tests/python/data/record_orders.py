"""Writes orders.json: in which order TensorFlow's `shuffle` gives elements.

Run with an interpreter that has TensorFlow:
PYTHONPATH=tests/python python tests/python/data/record_orders.py
"""

import json
import pathlib

import order_programs
import tensorflow as tf

# Each case: what is shuffled, and how. `global_seed` None leaves it unset.
CASES = [
    {
        "global_seed": g,
        "elements": n,
        "buffer": b,
        "seed": s,
        "anew": a,
        "repeat": r,
        "iterations": i,
    }
    for g, n, b, s, a, r, i in [
        (None, 10, 4, 7, True, 1, 3),
        (None, 10, 4, 7, False, 1, 2),
        (None, 10, 4, 7, True, 3, 2),
        (None, 10, 4, 7, False, 2, 2),
        (None, 25, 100, 0, True, 1, 2),
        (None, 25, 1, 3, True, 1, 1),
        (None, 40, 13, 2**31 - 1, True, 2, 2),
        (None, 40, 40, -5, True, 1, 2),
        (None, 12, 5, 2**40 + 17, True, 1, 2),
        (5, 10, 4, None, True, 1, 3),
        (5, 10, 4, 3, True, 1, 2),
        (5, 10, 4, 3, False, 2, 2),
        (0, 20, 6, None, True, 2, 1),
        (0, 20, 6, 0, True, 1, 2),
        (-3, 9, 20, None, False, 1, 2),
        (123456789012, 30, 7, 42, True, 1, 2),
    ]
]


def order(case):
    """What each iteration gives, one after the other."""
    if case["global_seed"] is not None:
        tf.random.set_seed(case["global_seed"])
    dataset = tf.data.Dataset.range(case["elements"]).shuffle(
        case["buffer"], seed=case["seed"], reshuffle_each_iteration=case["anew"]
    )
    if case["repeat"] > 1:
        dataset = dataset.repeat(case["repeat"])
    return [[int(x) for x in dataset] for _ in range(case["iterations"])]


def two_in_a_row():
    """Two datasets made one after the other under one global seed."""
    tf.random.set_seed(11)
    a, b = (tf.data.Dataset.range(8).shuffle(8) for _ in range(2))
    return [[int(x) for x in b], [int(x) for x in a], [int(x) for x in b]]


if __name__ == "__main__":
    seedless = [c for c in CASES if c["global_seed"] is None]
    seeded = [c for c in CASES if c["global_seed"] is not None]
    recorded = [{**case, "orders": order(case)} for case in (*seedless, *seeded)]
    found = {"tensorflow": tf.__version__, "cases": recorded, "two_in_a_row": two_in_a_row()}
    found["pipelines"] = {
        name: order_programs.iterated(tf, name) for name in order_programs.PIPELINES
    }
    found["by_number"] = {
        name: order_programs.by_number(tf, name) for name in order_programs.BY_NUMBER
    }
    text = (
        json.dumps(found, indent=None)
        .replace('{"global', '\n{"global')
        .replace('], "two', '\n], "two')
        .replace(']], "', ']],\n"')
        .replace(', "pipelines": {', ',\n"pipelines": {\n')
    )
    (pathlib.Path(__file__).parent / "orders.json").write_text(text + "\n")
