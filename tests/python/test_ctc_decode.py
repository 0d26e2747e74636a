"""CTC decoders: the best class of each step, and the most probable rows of labels."""

import itertools

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


def collapsed(path, blank):
    return tuple(k for k, _ in itertools.groupby(path) if k != blank)


def every_row(logits):
    """The probability of each row of labels, summed over all paths that say it."""
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    steps, classes = logits.shape
    found = {}
    for path in itertools.product(range(classes), repeat=steps):
        chance = np.exp(sum(logs[t, k] for t, k in enumerate(path)))
        row = collapsed(path, classes - 1)
        found[row] = found.get(row, 0.0) + chance
    return sorted(found.items(), key=lambda item: -item[1])


def rows_of(sparse, n):
    out = [[] for _ in range(n)]
    for (row, _), value in zip(sparse.indices.numpy(), sparse.values.numpy(), strict=True):
        out[row].append(int(value))
    return [tuple(row) for row in out]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(4))
def test_a_wide_beam_finds_what_a_look_at_every_path_finds(seed, dtype):
    logits = np.random.default_rng(seed).normal(0, 1.5, (5, 2, 3)).astype(dtype)
    lengths = np.array([5, 3], np.int32)
    decoded, logs = tf.nn.ctc_beam_search_decoder(logits, lengths, beam_width=500, top_paths=3)
    assert len(decoded) == 3 and logs.shape == [2, 3] and logs.dtype == dtype
    for b in range(2):
        expected = every_row(logits[: lengths[b], b].astype(float))[:3]
        got = [rows_of(sparse, 2)[b] for sparse in decoded]
        assert got == [row for row, _ in expected]
        np.testing.assert_allclose(logs[b], np.log([p for _, p in expected]), rtol=1e-4)


def test_a_prefix_that_was_left_and_comes_back_is_the_same_one():
    """What is found with a narrow beam has at most the probability that it has in truth."""
    rng = np.random.default_rng(9)
    for _ in range(20):
        logits = rng.normal(0, 2, (6, 1, 3)).astype(np.float32)
        truth = dict(every_row(logits[:, 0].astype(float)))
        decoded, logs = tf.nn.ctc_beam_search_decoder(logits, [6], beam_width=3, top_paths=3)
        rows = [rows_of(sparse, 1)[0] for sparse in decoded]
        assert len(set(rows)) == 3
        for row, log in zip(rows, logs.numpy()[0], strict=True):
            assert np.exp(log) <= truth[row] * 1.001


@pytest.mark.parametrize("blank", [None, 0, 2, -2])
@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("traced", [False, True])
def test_the_best_class_of_each_step(blank, merge, traced):
    logits = np.random.default_rng(2).normal(size=(8, 3, 4)).astype(np.float32)
    lengths = np.array([8, 0, 5], np.int32)

    def decode(x, n):
        return tf.nn.ctc_greedy_decoder(x, n, merge_repeated=merge, blank_index=blank)

    (sparse,), less = (tf.function(decode) if traced else decode)(logits, lengths)
    number = 3 if blank is None else blank % 4
    for b, n in enumerate(lengths):
        best = logits[:n, b].argmax(-1)
        expected = collapsed(best, number) if merge else tuple(k for k in best if k != number)
        assert rows_of(sparse, 3)[b] == expected
        np.testing.assert_allclose(less[b, 0], -logits[:n, b].max(-1).sum(), rtol=1e-5)
    assert sparse.dense_shape.numpy().tolist() == [3, max(map(len, rows_of(sparse, 3)))]


def test_version_1_merges_equal_labels_of_a_row():
    logits = np.full((3, 1, 2), -20.0, np.float32)
    logits[[0, 2], 0, 0] = logits[1, 0, 1] = 0.0  # says: 0, blank, 0
    (row,), _ = tf.nn.ctc_beam_search_decoder(logits, [3])
    (merged,), _ = v1.nn.ctc_beam_search_decoder(logits, [3])
    assert row.values.numpy().tolist() == [0, 0] and merged.values.numpy().tolist() == [0]


X = np.zeros([4, 2, 3], np.float32)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tf.nn.ctc_greedy_decoder(X, [4, 5]), "row 1 is 5"),
        (lambda: tf.nn.ctc_greedy_decoder(X, [-1, 4]), "row 0 is -1"),
        (lambda: tf.nn.ctc_greedy_decoder(X, [4]), "a length for each row"),
        (lambda: tf.nn.ctc_greedy_decoder(X, [4, 4], blank_index=3), "`blank_index` is 3"),
        (lambda: tf.nn.ctc_greedy_decoder(X[..., :0], [4, 4]), "one class or more"),
        (lambda: tf.nn.ctc_beam_search_decoder(X, [4, 4], 2, 3), "`top_paths` is 3"),
        (lambda: tf.nn.ctc_beam_search_decoder(X, [4, 4], 0), "`beam_width` is 0"),
        (lambda: tf.nn.ctc_beam_search_decoder(X, [4, 0], 9, 2), "row 1 has 1 paths"),
        (lambda: tf.nn.ctc_beam_search_decoder(X * np.nan, [4, 4]), "no logarithms"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(call, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        call()
