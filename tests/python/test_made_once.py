"""Objects with a state of their own that a traced function leaves: each call makes its own."""

import gc

import pytest

import holdfast as tf


class Thing:
    """Holds attributes."""


def on_an_attribute(thing, made):
    thing.kept = made


def in_a_dict(thing, made):
    thing.table["kept"] = made


def in_a_list(thing, made):
    thing.items.append(made)


def in_an_object(thing, made):
    inner = Thing()
    inner.kept = [made]
    thing.inner = inner


WAYS = {
    on_an_attribute: lambda thing: thing.kept,
    in_a_dict: lambda thing: thing.table["kept"],
    in_a_list: lambda thing: thing.items[-1],
    in_an_object: lambda thing: thing.inner.kept[0],
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("leave", WAYS, ids=lambda way: way.__name__)
def test_each_call_leaves_an_optimizer_of_its_own(leave):
    thing = Thing()
    thing.table, thing.items = {}, []

    @tf.function
    def step(x):
        leave(thing, tf.keras.optimizers.SGD(0.5, momentum=0.9))
        return x * 2.0

    seen = []
    for i in range(3):
        assert float(step(tf.constant(float(i)))) == 2.0 * i
        found = WAYS[leave](thing)
        assert found.get_config()["learning_rate"] == 0.5
        assert found.get_config()["momentum"] == 0.9
        seen.append(found)
    assert len({id(each) for each in seen}) == 3


def test_one_that_is_made_where_there_is_none_is_made_once():
    thing = Thing()
    thing.loss = None

    @tf.function
    def step(x):
        if thing.loss is None:
            thing.loss = tf.keras.losses.Huber(delta=3.0)
        return thing.loss(x, x + 1.0)

    x = tf.constant([1.0])
    assert float(step(x)) == 0.5
    first = thing.loss
    assert float(step(x)) == 0.5
    assert float(step(x)) == 0.5
    assert thing.loss is first
    assert step.experimental_get_tracing_count() == 2
    thing.loss = None
    assert float(step(x)) == 0.5
    assert thing.loss.get_config()["delta"] == 3.0
    assert thing.loss is not first


def test_the_warning_says_what_each_call_makes(capfd):
    thing = Thing()

    @tf.function
    def step(x):
        thing.metric = tf.keras.metrics.Mean()
        return x

    for i in range(4):
        step(tf.constant(float(i)))
    gc.collect()
    said = capfd.readouterr().err
    assert "W0601" in said
    assert "`step` is traced again and again: each call makes a new Mean" in said
    assert "make the Mean once, before the calls, or only where there is none yet" in said
