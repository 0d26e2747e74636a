"""A run in parts, feeds that are structures, and what a run tells about itself."""

import collections

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


def test_a_run_in_parts_gives_each_result_when_it_is_asked_for(graph):
    a, b, c = (v1.placeholder(tf.float32, []) for _ in range(3))
    r1 = a + b
    r2 = r1 * c
    with v1.Session() as sess:
        for factor in (17, 18):
            handle = sess.partial_run_setup([r1, r2], [a, b, c])
            first = sess.partial_run(handle, r1, {a: 1, b: 2})
            assert first == 3
            assert sess.partial_run(handle, r2, {c: first * factor}) == 9 * factor


def test_each_op_of_a_run_in_parts_runs_once(graph):
    v = tf.Variable(0.0)
    bump = v.assign_add(1.0)
    c = v1.placeholder(tf.float32, [])
    with graph.control_dependencies([bump]):
        later = tf.identity(c)
    drawn = tf.random.uniform([])
    twice = drawn * c
    with v1.Session() as sess:
        handle = sess.partial_run_setup([bump, later, drawn, twice, bump.op], [c])
        assert sess.partial_run(handle, bump) == 1.0
        number = sess.partial_run(handle, drawn)
        assert sess.partial_run(handle, [later, bump.op], {c: 2.0}) == [2.0, None]
        np.testing.assert_allclose(sess.partial_run(handle, twice), number * 2)
        assert sess.run(v) == 1.0


def test_a_run_in_parts_refuses_what_was_not_said(graph):
    a, b, c = (v1.placeholder(tf.float32, [], name=n) for n in "abc")
    r1, r2 = a + b, a * c
    sess = v1.Session()
    with pytest.raises(tf.errors.InvalidArgumentError, match="no `fetches`"):
        sess.partial_run_setup([], [a])
    handle = sess.partial_run_setup([r1, r2], [a, b])
    with pytest.raises(tf.errors.InvalidArgumentError, match="`c` is fed"):
        sess.partial_run(handle, r1, {a: 1, b: 2, c: 3})
    handle = sess.partial_run_setup([r1], [a, b, c])
    with pytest.raises(tf.errors.InvalidArgumentError, match="not named"):
        sess.partial_run(handle, r2, {a: 1, c: 3})
    handle = sess.partial_run_setup([r1, r2], [a, b, c])
    sess.partial_run(handle, r1, {a: 1, b: 2})
    with pytest.raises(tf.errors.InvalidArgumentError, match="has its value already"):
        sess.partial_run(handle, r2, {a: 1, c: 3})
    with pytest.raises(tf.errors.InvalidArgumentError, match="fetched before"):
        sess.partial_run(handle, r1, {c: 3})
    handle = sess.partial_run_setup([r1], [])
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.partial_run(handle, r1)


def test_empty_parts_and_constants(graph):
    a = v1.placeholder(tf.float32)
    b, c = a * 2.0, tf.constant([6.0])
    sess = v1.Session()
    handle = sess.partial_run_setup([b, c], [a])
    assert sess.partial_run(handle, [], {a: 3.0}) == []
    assert sess.partial_run(handle, [b, c], {}) == [6.0, [6.0]]


def test_feeds_may_be_structures(graph):
    a, b, c = (v1.placeholder(tf.float32, []) for _ in range(3))
    slices = tf.IndexedSlices(v1.placeholder(tf.float32, [2]), v1.placeholder(tf.int64, [2]), None)
    Pair = collections.namedtuple("Pair", ["x", "y"])
    with v1.Session() as sess:
        assert sess.run(a - b, {(a, b): (3, 1)}) == 2
        assert sess.run(a - b * c, {(a, (b, c)): [7, (2, 3)]}) == 1
        assert sess.run(a - b, {Pair(a, b): Pair(3, 1)}) == 2
        got = sess.run(slices, {slices: ([1.0, 2.0], [3, 4])})
        assert (got.values.tolist(), got.indices.tolist()) == ([1.0, 2.0], [3, 4])
        with pytest.raises(ValueError, match="no tuple of as many"):
            sess.run(a, {(a, b): 1})
        with pytest.raises(TypeError, match="expected a dict"):
            sess.run(a, [(a, 1)])


def test_a_run_tells_how_long_it_took_if_it_is_asked(graph):
    x = tf.ones([4, 4]) @ tf.ones([4, 4])
    said = v1.RunMetadata()
    with v1.Session() as sess:
        sess.run(x, run_metadata=said)
        assert not said.HasField("step_stats")
        sess.run(x, options=v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE), run_metadata=said)
        assert said.HasField("step_stats")
        (device,) = said.step_stats.dev_stats
        assert device.node_stats[0].all_end_rel_micros >= 0
        run = sess.make_callable(x, accept_options=True)
        told = v1.RunMetadata()
        run(options=v1.RunOptions(trace_level=v1.RunOptions.SOFTWARE_TRACE), run_metadata=told)
        assert told.HasField("step_stats")
        with pytest.raises(NotImplementedError, match="timeout_in_ms"):
            sess.run(x, options=v1.RunOptions(timeout_in_ms=5))
