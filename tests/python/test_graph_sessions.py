"""Sessions: what a run is given and gives back, in one thread and in many."""

import collections
import threading

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


def test_fetches_come_back_in_their_structure(graph):
    pair = collections.namedtuple("pair", "a b")
    x = tf.constant([1, 2], name="x")
    with v1.Session() as sess:
        got = sess.run({"list": [x, (x, x)], "pair": pair(x, x.op), "name": "x:0"})
    assert isinstance(got["pair"], pair)
    assert got["pair"].b is None
    for value in (got["list"][0], got["list"][1][1], got["pair"].a, got["name"]):
        np.testing.assert_array_equal(value, [1, 2])


def test_feeds_are_converted_and_replace_any_tensor(graph):
    x = v1.placeholder(tf.float32, [None])
    middle = x * 2
    y = middle + 1
    sess = v1.Session()
    for given in ([1, 2], (1, 2), np.array([1.0, 2.0])):
        np.testing.assert_array_equal(sess.run(y, {x: given}), [3, 5])
    np.testing.assert_array_equal(sess.run(y, {middle: [7]}), [8])
    np.testing.assert_array_equal(sess.run(y, {"Placeholder:0": [0]}), [1])
    np.testing.assert_array_equal(sess.run(x, {x: [4]}), [4])


@pytest.mark.parametrize(
    ("feed", "kind"),
    [
        ([1.0, 2.0, 3.0], ValueError),
        (["a", "b"], TypeError),
        (None, TypeError),
    ],
)
def test_a_feed_that_does_not_fit_is_refused(graph, feed, kind):
    x = v1.placeholder(tf.float32, [2])
    with pytest.raises(kind):
        v1.Session().run(x, {x: feed})


def test_a_symbol_and_a_stranger_are_no_feeds(graph):
    x = v1.placeholder(tf.float32, [])
    with pytest.raises(TypeError, match="a tensor of a graph, which has no value"):
        v1.Session().run(x, {x: tf.constant(1.0)})
    with pytest.raises(TypeError, match="E1104"):
        v1.Session().run(x, {3: 1.0})
    with pytest.raises(TypeError, match="nothing of that name"):
        v1.Session().run(x, {"nobody:0": 1.0})


@pytest.mark.parametrize("fetch", [None, 3, object()])
def test_only_tensors_and_operations_can_be_fetched(graph, fetch):
    with pytest.raises(TypeError, match="can't be fetched"):
        v1.Session().run(fetch)


def test_only_what_is_fetched_runs(graph):
    count = v1.get_variable("count", initializer=0)
    bump = count.assign_add(1)
    same = tf.constant(1) * 2
    with v1.Session() as sess:
        sess.run(same)
        assert sess.run(count) == 0
        sess.run(bump)
        assert sess.run(count) == 1


def test_placeholder_with_default(graph):
    x = v1.placeholder_with_default([1.0, 2.0], [None])
    with v1.Session() as sess:
        np.testing.assert_array_equal(sess.run(x * 2), [2, 4])
        np.testing.assert_array_equal(sess.run(x * 2, {x: [5]}), [10])


def test_control_dependencies_run_first_and_are_forgotten_outside(graph):
    v = tf.Variable(1.0)
    change = v.assign(5.0)
    with tf.control_dependencies([change]):
        after = tf.identity(v)
        with tf.control_dependencies(None):
            free = tf.identity(v)
    # It is the change that is waited for, not the value that is read after it.
    assert [op.type for op in after.op.inputs[0].op.control_inputs] == ["AssignVariableOp"]
    with v1.Session() as sess:
        assert sess.run(free) == 1.0
        assert sess.run(after) == 5.0


def test_groups_run_all_their_parts(graph):
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    both = tf.group(a.assign(3.0), [b.assign(4.0)], name="both")
    assert (both.name, both.type, tf.no_op().type) == ("both", "NoOp", "NoOp")
    with v1.Session() as sess:
        assert sess.run(both) is None
        assert sess.run([a, b]) == [3.0, 4.0]
        both.run()


def test_eval_uses_the_default_session(graph):
    x = tf.constant(2.0)
    with pytest.raises(ValueError, match="has no session"):
        x.eval()
    with v1.Session().as_default() as sess:
        assert x.eval() == 2.0
        assert v1.get_default_session() is sess
    assert x.eval(session=sess) == 2.0
    interactive = v1.InteractiveSession()
    assert x.eval() == 2.0
    interactive.close()
    assert v1.get_default_session() is None


def test_an_eager_program_may_use_sessions():
    x = v1.placeholder(tf.float32, [2])
    y = x * tf.constant(3.0)
    sess = v1.Session()
    np.testing.assert_array_equal(sess.run(y, {x: tf.constant([1.0, 2.0])}), [3, 6])
    assert sess.run(tf.constant(5)) == 5
    assert sess.run(tf.Variable(6)) == 6
    assert tf.executing_eagerly()


def test_a_run_is_different_each_time_where_it_is_random(graph):
    drawn = tf.random.normal([4])
    with v1.Session() as sess:
        assert not np.array_equal(sess.run(drawn), sess.run(drawn))
        a, b = sess.run([drawn, drawn * 1])
    np.testing.assert_array_equal(a, b)


def test_make_callable(graph):
    x = v1.placeholder(tf.float32, [])
    call = v1.Session().make_callable(x * 2, [x])
    assert [call(1.0), call(2.0)] == [2.0, 4.0]


def test_many_threads_run_one_session(graph):
    count = v1.get_variable("count", initializer=0.0)
    bump = count.assign_add(1.0, read_value=False)
    sess = v1.Session()

    def work():
        for _ in range(50):
            sess.run(bump)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sess.run(count) == 200.0


def test_options_that_mean_something_are_checked():
    config = v1.ConfigProto(allow_soft_placement=True, gpu_options=v1.GPUOptions(allow_growth=True))
    config.gpu_options.per_process_gpu_memory_fraction = 0.5
    assert v1.Session(config=config).run(tf.constant(1)) == 1
    with pytest.raises(AttributeError):
        v1.ConfigProto(nothing=1)
    with pytest.raises(TypeError):
        v1.Session(config={})
    with pytest.raises(TypeError):
        v1.Session(37)
    with pytest.raises(NotImplementedError, match="E1105"):
        v1.Session("grpc://host")
    with pytest.raises(NotImplementedError, match="E1105"):
        v1.Session().run(tf.constant(1), options=v1.RunOptions(timeout_in_ms=1))


@pytest.mark.parametrize(
    "run", [lambda s: s.run("nothing:0"), lambda s: s.run([], {"nothing:0": 1.0})]
)
def test_names_that_the_graph_does_not_have(run):
    with tf.Graph().as_default(), v1.Session() as session:
        with pytest.raises(ValueError, match="nothing of that name") as caught:
            run(session)
        assert isinstance(caught.value, TypeError)
