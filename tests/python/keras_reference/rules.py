"""The numbers that layers are tested with. `tests/keras/recorded_test.cpp` has the same rules."""

import numpy as np


def inputs(shape, k=0):
    """The k-th input of a call: between -1 and 1, no two alike up to 1009 elements."""
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    return (((i * 377 + 11 + 170 * k) % 1009) / 504.0 - 1).astype(np.float32).reshape(shape)


def weight(shape, k, name):
    """The k-th weight of a layer; variances are positive."""
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    value = ((i * 29 + 13 * (k + 1)) % 89) / 44.5 - 1
    if "variance" in name:
        value = np.abs(value) + 0.5
    return value.astype(np.float32).reshape(shape)


def factors(shape):
    """What results are multiplied with before they are summed up."""
    i = np.arange(int(np.prod(shape)), dtype=np.int64)
    return (((i * 23 + 5) % 71) / 35.0 - 1).astype(np.float32).reshape(shape)


def sums(value):
    """Three numbers that hardly any other array of the shape has."""
    return [value.sum(), (value * factors(value.shape)).sum(), np.abs(value).sum()]


def case(layer, *shapes, call=None, in_list=False, **options):
    """One case: a class, the shapes of its inputs, its options; further arguments of its call."""
    return {
        "layer": layer,
        "inputs": [list(s) for s in shapes],
        "in_list": in_list or len(shapes) > 1,
        "call": call or {},
        "options": options,
    }
