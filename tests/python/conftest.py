"""Options of the Python tests, and what several of them begin with."""

import gc

import pytest

import holdfast as tf


def pytest_addoption(parser):
    parser.addoption("--count", type=int, default=4, help="bad signatures tried for each op")


def pytest_collection_finish():
    """Leaves twenty thousand tests out of each later collection, of which many tests ask for one."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def graph():
    """A graph that is the default while the test runs."""
    made = tf.Graph()
    with made.as_default():
        yield made
