"""Positions of largest and smallest elements along rows, which are looked at in blocks."""

import numpy as np
import pytest

import holdfast as tf


def found(row, better):
    """The first of the best; a NaN only where there is nothing else."""
    numbers = [i for i, v in enumerate(row) if not np.isnan(v)]
    best = numbers[0] if numbers else 0
    for i in numbers:
        if better(row[i], row[best]):
            best = i
    return best


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "uint8"])
@pytest.mark.parametrize("size", [1, 2, 64, 65, 66, 128, 129, 200])
def test_rows_of_any_length(size, dtype):
    rng = np.random.default_rng(size)
    x = (rng.standard_normal((6, size)) * 3 + 10).astype(dtype)
    x[1].sort()
    x[2] = x[2, 0]
    if dtype.startswith("float"):
        x[3:][rng.random((3, size)) < 0.3] = np.nan
        x[3, : size // 2] = np.nan
        x[4] = np.nan
        x[5, size // 2] = np.inf
    for op, better in ((tf.argmax, np.greater), (tf.argmin, np.less)):
        assert op(tf.constant(x), axis=1).numpy().tolist() == [found(row, better) for row in x]
