"""Programs that give one value after another: traced and plain, they have to give the same."""

import pytest

import holdfast as tf


def collected(programs):
    """A decorator that puts programs into a dict, by their names."""

    def note(program):
        programs[program.__name__] = program
        return program

    return note


def compared(program):
    """How many values a program gives, which are the same traced and plain."""
    plain = [float(value) for value in program(lambda function: function)]
    assert len(set(plain)) > 1, "the program changes nothing"
    traced = [float(value) for value in program(tf.function)]
    assert traced == pytest.approx(plain)
    return len(traced)
