"""Options of the Python tests, and what several of them begin with."""

import pytest

import holdfast as tf


def pytest_addoption(parser):
    parser.addoption("--count", type=int, default=4, help="bad signatures tried for each op")


@pytest.fixture
def graph():
    """A graph that is the default while the test runs."""
    made = tf.Graph()
    with made.as_default():
        yield made
