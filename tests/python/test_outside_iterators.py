"""An iterator from outside a trace moves on once, while tracing: that is said (W0602)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import holdfast as tf

numbers: Iterator[float] = iter([1.0, 2.0, 3.0])


class Feed:
    """Has elements to give."""

    def __init__(self) -> None:
        self.rows = (value for value in (1.0, 2.0))


def test_next_is_warned_of(capfd: Any) -> None:
    @tf.function
    def step(x: Any) -> Any:
        return x + next(numbers)

    assert [float(step(tf.constant(0.0))) for _ in range(2)] == [1.0, 1.0]
    said = capfd.readouterr().err
    assert said.count("warning[W0602]") == 1 and "`numbers` moves on while code is traced" in said
    assert "return x + next(numbers)" in said


def test_loop_is_warned_of(capfd: Any) -> None:
    feed = Feed()

    @tf.function
    def step(x: Any) -> Any:
        for row in feed.rows:
            x = x + row
        return x

    assert float(step(tf.constant(0.0))) == 3.0
    assert "`feed.rows` moves on while code is traced" in capfd.readouterr().err


def test_own_iterators_and_those_of_datasets_are_not(capfd: Any) -> None:
    rows = iter(tf.data.Dataset.range(3))

    @tf.function
    def step(x: Any) -> Any:
        mine = iter([x, x * 2])
        pairs = enumerate([x, x])
        return next(mine) + next(mine) + next(pairs)[1] + tf.cast(next(rows), tf.float32)

    assert [float(step(tf.constant(1.0))) for _ in range(3)] == [4.0, 5.0, 6.0]
    assert capfd.readouterr().err == ""
