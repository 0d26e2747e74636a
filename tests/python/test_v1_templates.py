"""Variable scopes with getters, partitioners and stores; templates; variables in parts."""

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


def twice(shape=None, **_):
    return [2] + [1] * (len(shape) - 1)


def test_custom_getters_stand_before_get_variable(graph):
    seen = []

    def outer(getter, name, *args, **kwargs):
        seen.append(("outer", name))
        return getter(name, *args, **kwargs)

    def inner(getter, name, *args, **kwargs):
        seen.append(("inner", name))
        return getter(name + "/a", *args, **kwargs) + getter(name + "/b", *args, **kwargs)

    with v1.variable_scope("s", custom_getter=outer), v1.variable_scope("t", custom_getter=inner):
        both = v1.get_variable("v", [], initializer=v1.ones_initializer())
    assert seen == [("inner", "s/t/v"), ("outer", "s/t/v/a"), ("outer", "s/t/v/b")]
    assert [v.name for v in v1.trainable_variables()] == ["s/t/v/a:0", "s/t/v/b:0"]
    with v1.Session() as sess:
        assert sess.run(both) == 2.0
    with pytest.raises(ValueError, match="not callable"):
        v1.variable_scope("u", custom_getter=3)


def test_scopes_end_in_the_order_in_which_they_began(graph):
    with v1.variable_scope("a"):
        scope = v1.variable_scope("b")
        scope.__enter__()
        with v1.variable_scope("c"), pytest.raises(RuntimeError, match="still open"):
            scope.__exit__(None, None, None)
        scope.__exit__(None, None, None)
    assert v1.get_variable_scope().name == ""


def test_a_visit_to_a_scope_does_not_count(graph):
    with v1.variable_scope("d") as d:
        for number in ("", "_1"):
            with v1.variable_scope(None, "layer") as scope:
                assert scope.name == "d/layer" + number
        with v1.variable_scope(d):
            pass
        with v1.variable_scope(None, "layer") as scope:
            assert scope.name == "d/layer_2"


def test_eager_variables_are_made_anew_unless_a_store_keeps_them():
    with v1.variable_scope("s", reuse=True):
        a = v1.get_variable("v", [2])
        b = v1.get_variable("v", [2])
    assert a is not b
    assert (a.name, b.name) == ("s/v:0", "s/v:0")
    assert a.numpy().shape == (2,)
    store = v1.EagerVariableStore()
    with store.as_default():
        c = v1.get_variable("v", [2], trainable=False)
        assert v1.get_variable("v", [2]) is c
    copied = store.copy()
    with copied.as_default():
        d = v1.get_variable("v")
    assert d is not c
    d.assign([7.0, 8.0])
    assert c.numpy().tolist() != [7.0, 8.0]
    assert [store.trainable_variables(), len(store.non_trainable_variables())] == [[], 1]


def line(x):
    w = v1.get_variable("w", [], initializer=v1.constant_initializer(3.0))
    return x * w


@pytest.mark.parametrize("eager", [True, False])
@pytest.mark.parametrize("now", [True, False])
def test_calls_of_a_template_share_variables(eager, now):
    with tf.init_scope() if eager else tf.Graph().as_default():
        names = []
        for _ in range(2):
            made = v1.make_template(f"line{now}", line, create_scope_now_=now)
            assert made.variables == []
            y, z = made(tf.constant(1.0)), made(tf.constant(2.0))
            (w,) = made.trainable_variables
            names.append(w.name)
            if eager:
                w.assign(5.0)
                assert (y.numpy(), z.numpy(), made(tf.constant(2.0)).numpy()) == (3.0, 6.0, 10.0)
            else:
                with v1.Session() as sess:
                    assert sess.run([y, z]) == [3.0, 6.0]
        assert names == [f"line{now}/w:0", f"line{now}_1/w:0"]


@pytest.mark.parametrize("eager", [True, False])
def test_a_template_refuses_new_variables_in_later_calls(eager):
    with tf.init_scope() if eager else tf.Graph().as_default():
        made = v1.make_template("t", lambda name: v1.get_variable(name, []))
        made("a")
        with pytest.raises(ValueError):
            made("b")


@pytest.mark.parametrize("eager", [True, False])
def test_a_variable_in_parts_is_one_tensor(eager):
    with tf.init_scope() if eager else tf.Graph().as_default():
        with v1.variable_scope("s", partitioner=twice):
            v = v1.get_variable("v", initializer=tf.reshape(tf.range(15.0), [5, 3]))
            scalar = v1.get_variable("scalar", [])
        assert not isinstance(scalar, type(v))
        assert [part.shape.as_list() for part in v] == [[3, 3], [2, 3]]
        assert [part.name for part in v] == ["s/v/part_0:0", "s/v/part_1:0"]
        assert (v.name, v.shape, len(v)) == ("s/v", (5, 3), 2)
        whole, total = v.as_tensor(), tf.reduce_sum(v)
        plus = v + 1.0
        if eager:
            got = whole.numpy(), total.numpy(), plus.numpy()
        else:
            with v1.Session() as sess:
                got = sess.run([whole, total, plus])
                sess.run(v.assign(np.ones([5, 3], np.float32)))
                assert sess.run(total) == 15
        np.testing.assert_array_equal(got[0], np.arange(15.0).reshape(5, 3))
        assert got[1] == np.arange(15.0).sum()
        np.testing.assert_array_equal(got[2], got[0] + 1)


def test_parts_are_found_again_as_they_were(graph):
    with v1.variable_scope("s", partitioner=twice):
        v = v1.get_variable("v", [4, 1])
    with v1.variable_scope("s", reuse=True):
        assert v1.get_variable("v") is v
    with (
        v1.variable_scope("s", reuse=True, partitioner=v1.fixed_size_partitioner(4)),
        pytest.raises(ValueError, match="parts"),
    ):
        v1.get_variable("v", [4, 1])
    with v1.variable_scope("s"), pytest.raises(ValueError, match="in parts"):
        v1.get_variable("v", [4, 1])


@pytest.mark.parametrize(
    ("made", "shape", "wanted"),
    [
        (v1.fixed_size_partitioner(5), [10, 10], [5, 1]),
        (v1.fixed_size_partitioner(5, axis=1), [10, 3], [1, 3]),
        (v1.variable_axis_size_partitioner(32768, axis=2), [4, 8, 16, 32], [1, 1, 2, 1]),
        (
            v1.variable_axis_size_partitioner(1024, axis=3, max_shards=2),
            [4, 8, 16, 32],
            [1, 1, 1, 2],
        ),
        (v1.min_max_variable_partitioner(100, 0, 2 << 10), [2048], [4]),
        (v1.min_max_variable_partitioner(100, 0, 256 << 10), [16, 128, 1024], [16, 1, 1]),
    ],
)
def test_partitioners_cut_by_size(made, shape, wanted):
    assert made(shape=tf.TensorShape(shape), dtype=tf.float32) == wanted


def test_create_partitioned_variables_cuts_along_one_axis(graph):
    start = tf.constant([[1, 2, 3, 4], [5, 6, 7, 8]])
    with v1.variable_scope("hi"):
        first = v1.create_partitioned_variables([2, 4], [1, 2], start)
        second = v1.create_partitioned_variables([2, 4], [1, 2], start)
    assert [v.name for v in first] == [f"hi/PartitionedVariable/part_{i}:0" for i in range(2)]
    assert second[0].name == "hi/PartitionedVariable_1/part_0:0"
    with v1.Session() as sess:
        np.testing.assert_array_equal(sess.run(tf.concat(first, 1)), sess.run(start))
    for shape, cut in (([10], [1, 1]), ([10, 43], [11, 1]), ([10, 43], [1])):
        with pytest.raises(ValueError):
            v1.create_partitioned_variables(shape, cut, start)


def test_creators_make_variables(graph):
    seen = []

    def rename(then, **kwargs):
        kwargs["name"] = "forced"
        return then(**kwargs)

    def note(then, **kwargs):
        seen.append((kwargs["name"], kwargs["synchronization"]))
        return then(**kwargs)

    with tf.variable_creator_scope(note), v1.variable_creator_scope(rename):
        v = tf.Variable(1.0, name="asked")
    assert seen == [("forced", tf.VariableSynchronization.AUTO)]
    assert v.name == "forced:0"
    with tf.variable_creator_scope(lambda then, **kwargs: v):
        assert tf.Variable(2.0) is v
        assert v1.get_variable("other", []) is v
    assert tf.Variable(3.0).name == "Variable:0"
