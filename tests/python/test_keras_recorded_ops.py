"""Ops of Keras that are said with several of ours: what the real Keras gives, traced too; refusals."""

import json
import pathlib
import re
import sys

import numpy as np
import pytest

import holdfast as tf

REFERENCE = pathlib.Path(__file__).parent / "keras_reference"
sys.path.insert(0, str(REFERENCE))
import op_cases

RECORDED = json.loads((REFERENCE / "ops.json").read_text())
ops = tf.keras.ops


@pytest.mark.parametrize("call", op_cases.cases())
def test_as_recorded(call):
    found = op_cases.results(tf.keras, call)
    assert [(f["dtype"], f["shape"]) for f in found] == [
        (w["dtype"], w["shape"]) for w in RECORDED[call]
    ]
    for got, want in zip(found, RECORDED[call], strict=True):
        np.testing.assert_allclose(got["values"], want["values"], rtol=2e-6, atol=1e-6)


def test_in_a_trace_with_an_open_batch():
    spec = tf.TensorSpec([None, 4, 6], tf.float32)

    @tf.function(input_signature=[spec])
    def moved(x):
        return ops.rearrange(x, "b (h two) w -> (b h) (two w)", two=2), ops.nanmedian(x, axis=2)

    x = np.arange(48, dtype=np.float32).reshape(2, 4, 6)
    rows, middle = moved(x)
    assert np.array_equal(rows, x.reshape(4, 12))
    assert np.array_equal(middle, np.median(x, axis=2))


def test_gradients_go_through():
    x = tf.constant(np.arange(32, dtype=np.float32).reshape(1, 2, 4, 4))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = ops.fold(ops.unfold(x, 3), (4, 4), 3)
    counts = tape.gradient(y, x).numpy()[0, 0]
    assert counts[0, 0] == 1 and counts[1, 1] == 4  # in how many windows an element is


def test_in_a_model():
    x = tf.keras.Input((4, 6, 3))
    y = ops.rearrange(x, "b h w c -> b (h w) c")
    assert tf.keras.Model(x, y)(tf.ones([2, 4, 6, 3])).shape == (2, 24, 3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ops.rearrange(np.ones((2, 3)), "a b -> a c"), "each axis once"),
        (lambda: ops.rearrange(np.ones((2, 3)), "a b"), "axes -> axes"),
        (lambda: ops.rearrange(np.ones((6,)), "(a b) -> a b"), "how large `a` and `b` are"),
        (lambda: ops.rearrange(np.ones((7,)), "(a b) -> a b", a=2), "of an axis of 7"),
        (lambda: ops.rearrange(np.ones((2, 3)), "a b -> b a", c=2), "does not name"),
        (lambda: ops.unfold(np.ones((1, 1, 2, 2)), 3), "no room"),
        (lambda: ops.unfold(np.ones((1, 2, 2)), 1), "expected 4 axes"),
        (lambda: ops.fold(np.ones((1, 5, 4)), (3, 3), 2), "channels * 4"),
        (lambda: ops.adaptive_max_pool(np.ones((1, 4, 4, 1)), 0), "at least 1"),
        (lambda: ops.gcd(1.5, 2.0), "whole numbers"),
        (lambda: ops.nanquantile([1.0], 0.5, method="best"), "`method` of `nanquantile`"),
        (lambda: ops.jvp(lambda x: x, (1.0,), ()), "1 `primals` and 0 `tangents`"),
        (lambda: ops.associative_scan(max, [np.ones(2), np.ones(3)]), "one known number"),
    ],
)
def test_refusals(call, words):
    with pytest.raises((TypeError, ValueError, tf.errors.OpError), match=re.escape(words)):
        call()
