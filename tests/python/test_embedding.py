"""Tables that come in shards: every id is found in its shard, and gradients go back to it."""

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


def shards_of(table, count, strategy):
    """The table as "mod" or "div" would lay it out."""
    if strategy == "mod":
        return [table[i::count] for i in range(count)]
    return np.array_split(table, count)


@pytest.mark.parametrize("strategy", ["mod", "div"])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 11])
@pytest.mark.parametrize("ids", [[], [0], [10, 3, 3, 0], [[1, 2], [9, 4]]])
@pytest.mark.parametrize("kind", ["tensors", "variables"])
def test_every_row_is_found_in_its_shard(kind, ids, count, strategy):
    table = np.random.default_rng(count).normal(size=(11, 2, 3)).astype(np.float32)
    make = tf.constant if kind == "tensors" else tf.Variable
    shards = [make(part) for part in shards_of(table, count, strategy)]
    wanted = table[np.asarray(ids, np.int64)]
    for dtype in (tf.int32, tf.int64):
        found = v1.nn.embedding_lookup(shards, tf.constant(ids, dtype), strategy)
        np.testing.assert_array_equal(found.numpy(), wanted)
        traced = tf.function(v1.nn.embedding_lookup)(shards, tf.constant(ids, dtype), strategy)
        np.testing.assert_array_equal(traced.numpy(), wanted)
    if strategy == "div":
        found = tf.nn.embedding_lookup(shards, tf.constant(ids, tf.int32))
        np.testing.assert_array_equal(found.numpy(), wanted)


def test_a_table_in_a_list_is_one_shard():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    for lookup in (tf.nn.embedding_lookup, v1.nn.embedding_lookup):
        np.testing.assert_array_equal(lookup([v], [1, 0]).numpy(), [[3, 4], [1, 2]])
        np.testing.assert_array_equal(lookup(v, [1, 0]).numpy(), [[3, 4], [1, 2]])


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_each_shard_gets_the_gradient_of_its_rows(strategy):
    table = np.arange(10.0, dtype=np.float32).reshape(5, 2)
    shards = [tf.Variable(part) for part in shards_of(table, 2, strategy)]
    ids = [4, 1, 1]
    with tf.GradientTape() as tape:
        rows = v1.nn.embedding_lookup(shards, ids, strategy)
        loss = tf.reduce_sum(rows * [[1.0], [10.0], [100.0]])
    whole = np.zeros_like(table)
    np.add.at(whole, ids, np.array([[1.0], [10.0], [100.0]], np.float32))
    for got, wanted in zip(tape.gradient(loss, shards), shards_of(whole, 2, strategy), strict=True):
        assert isinstance(got, tf.IndexedSlices)
        np.testing.assert_array_equal(tf.convert_to_tensor(got).numpy(), wanted)


@pytest.mark.parametrize("strategy", ["mod", "div"])
def test_shards_of_a_graph_with_ids_that_are_fed(graph, strategy):
    table = np.random.default_rng(1).normal(size=(7, 3)).astype(np.float32)
    ids = v1.placeholder(tf.int32)
    shards = [tf.Variable(part) for part in shards_of(table, 3, strategy)]
    found = v1.nn.embedding_lookup(shards, ids, strategy)
    clipped = v1.nn.embedding_lookup(shards, ids, strategy, max_norm=1.0)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        for value in ([6, 0, 2], [[1, 1], [5, 3]], 4):
            plain, short = sess.run([found, clipped], {ids: value})
            np.testing.assert_array_equal(plain, table[np.asarray(value)])
            norms = np.linalg.norm(short, axis=-1)
            assert norms.max() <= 1 + 1e-6
            np.testing.assert_allclose(norms, np.minimum(np.linalg.norm(plain, axis=-1), 1), 1e-5)


@pytest.mark.parametrize("strategy", ["mod", "div"])
@pytest.mark.parametrize("bad", [-1, 7])
def test_an_id_that_no_shard_holds_is_refused(strategy, bad):
    shards = [tf.zeros([4, 2]), tf.zeros([3, 2])]
    with pytest.raises(tf.errors.InvalidArgumentError):
        v1.nn.embedding_lookup(shards, [bad], strategy)


def test_other_strategies_and_no_tables_are_refused():
    with pytest.raises(ValueError, match="'mod' or 'div'"):
        v1.nn.embedding_lookup([tf.zeros([1, 2])], [0], "other")
    with pytest.raises(ValueError, match="empty"):
        tf.nn.embedding_lookup([], [0])


@pytest.mark.parametrize("how", ["sum", "mean", "sqrt_n"])
@pytest.mark.parametrize("options", [{}, {"num_segments": 3}])
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("kind", [tf.Variable, tf.constant])
def test_the_gradient_of_rows_in_segments_is_as_sparse_as_asked(how, options, traced, kind):
    table = kind(np.arange(8, dtype="float32").reshape(4, 2))
    fold = getattr(tf.sparse, f"segment_{how}")

    def slope(sparse):
        with tf.GradientTape() as tape:
            tape.watch(table)
            found = fold(table, [0, 2, 0], [0, 0, 1], sparse_gradient=sparse, **options)
            found = tf.reduce_sum(found**2)
        return tape.gradient(found, table)

    run = tf.function(slope) if traced else slope
    whole, rows = run(False), run(True)
    assert isinstance(whole, tf.Tensor) and isinstance(rows, tf.IndexedSlices)
    assert sorted(rows.indices.numpy().tolist()) == [0, 0, 2]
    np.testing.assert_allclose(tf.convert_to_tensor(rows), whole, rtol=1e-6)
