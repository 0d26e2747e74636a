"""What lives in memory, by the line that made it."""

import pytest

import holdfast as tf

HERE = __file__


def mine(rows):
    return [row for row in rows if row.file == HERE]


def test_memory_is_told_by_line():
    before = sum(row.bytes for row in tf.live_tensors())
    many = [tf.ones((50, 50)) * float(i) for i in range(3)]
    one = tf.zeros((64, 64), tf.int32)
    rows = mine(tf.live_tensors(group_by="line"))
    first, second = rows[0], rows[1]
    assert (first.bytes, first.count, first.dtype, first.shape.as_list(), first.alike) == (
        3 * 10000,
        3,
        tf.float32,
        [50, 50],
        True,
    )
    assert first.source.strip().startswith("many = ")
    assert (second.bytes, second.count, second.line) == (64 * 64 * 4, 1, first.line + 1)
    assert "3 x float32(50, 50)" in str(tf.live_tensors())
    del many, one
    assert not mine(tf.live_tensors())
    assert sum(row.bytes for row in tf.live_tensors()) == before


def test_each_piece_by_itself():
    kept = [tf.ones((50, 50)) + float(i) for i in range(3)]
    view = tf.reshape(kept[0], (2500,))
    rows = mine(tf.live_tensors(group_by=None))
    assert [(row.bytes, row.count) for row in rows] == [(10000, 1)] * 3
    assert view.shape == (2500,)


def test_what_a_function_gives_is_of_the_line_inside_it():
    @tf.function
    def f(x):
        y = x * 2.0
        return y

    result = f(tf.ones((50, 50)))
    (row,) = mine(tf.live_tensors())
    assert row.source.strip() == "y = x * 2.0"
    assert result.shape == (50, 50)


def test_another_grouping_is_refused():
    with pytest.raises(tf.errors.DiagnosticError, match="group_by"):
        tf.live_tensors(group_by="size")
