"""Runs programs that leave something behind, and notes what: for the tests named test_state_*."""

import dataclasses

import numpy as np

import holdfast as tf


class A:
    """An object with some attributes."""

    def __init__(self):
        self.x = None
        self.items = []
        self.d = {}


def plain(value):
    """A value with numbers in place of tensors."""
    if isinstance(value, tf.Tensor):
        return round(float(value), 4)
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if dataclasses.is_dataclass(value):
        return [plain(getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


def history(make, wrap):
    """What each of several calls gives, and the state that it leaves."""
    function, state = make()
    called = wrap(function)
    seen = []
    for value in (1.0, 5.0, 0.25, 9.0, 3.0):
        result = plain(called(tf.constant(value)))
        seen.append((result, plain(state())))
    return seen


class Programs(list):
    """The programs of a test file, which add themselves as a decorator does."""

    def __call__(self, make):
        self.append(make)
        return make
