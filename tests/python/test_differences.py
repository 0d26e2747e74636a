"""What docs/differences.md says: where TensorFlow refuses, these have an answer."""

import collections.abc
import weakref

import pytest

import holdfast as tf

v1 = tf.compat.v1


def test_a_tensor_of_a_finished_trace_has_the_value_of_its_call():
    kept = []

    @tf.function
    def f(x):
        kept.append(x + 1)
        return x

    f(tf.constant(1.0))
    assert (kept[0] + 1).numpy() == 3


def test_a_traced_function_changes_the_dict_it_was_given():
    @tf.function
    def double(d):
        d["b"] = d["a"] * 2
        return d["b"]

    d = {"a": tf.constant(2.0)}
    double(d)
    assert d["b"].numpy() == 4


def test_a_variable_that_nobody_keeps_is_a_local_value():
    @tf.function
    def f():
        v = tf.Variable(1.0)
        v.assign_add(2.0)
        return v + 0

    assert [f().numpy(), f().numpy()] == [3, 3]


class Unhashable:
    __hash__ = None

    def __eq__(self, other):
        return self is other


def test_any_object_may_be_an_argument():
    add = tf.function(lambda _, x: x + 1)
    thing = Unhashable()
    assert add(thing, tf.constant(1.0)).numpy() == 2
    kind = Unhashable
    assert add(weakref.ref(kind), tf.constant(1.0)).numpy() == 2


def test_names_that_tensorflow_would_clean_to_one_stay_two():
    assert tf.function(lambda a_b, **others: a_b - others["a-b"])(1.0, **{"a-b": 2.0}).numpy() == -1


def test_a_parameter_that_the_signature_leaves_out_keeps_its_default():
    spec = [tf.TensorSpec((), tf.float32)]
    assert tf.function(lambda x, y=2.0: x + y, input_signature=spec)(tf.constant(1.0)).numpy() == 3


def test_loops_have_an_else():
    @tf.function
    def walk(n):
        total = 0
        for i in tf.range(n):
            total += i
        else:  # noqa: PLW0120
            total += 100
        while total < 110:
            total += 1
        else:  # noqa: PLW0120
            total += 1000
        return total

    assert walk(tf.constant(3)).numpy() == 1110


def test_a_python_loop_may_be_left_by_a_tensor():
    @tf.function
    def count(x):
        n = 0
        for _ in range(3):
            if x > 1.0:
                break
            n = n + 1
        return n

    assert [count(tf.constant(2.0)).numpy(), count(tf.constant(0.0)).numpy()] == [0, 3]


def test_a_loop_variable_may_change_its_shape():
    @tf.function
    def grow(n):
        t = tf.constant([1])
        for _ in tf.range(n):
            t = tf.concat([t, t], 0)
        return t

    assert grow(tf.constant(2)).shape == (4,)


def test_what_one_branch_leaves_out_matters_only_where_it_is_used():
    @tf.function
    def f(x):
        if x > 0:
            y = x
        else:
            y = None  # noqa: F841
        return 1

    @tf.function
    def first(n):
        for i in tf.range(n):
            return i
        return -1

    assert f(tf.constant(1.0)).numpy() == 1
    assert [first(tf.constant(3)).numpy(), first(tf.constant(0)).numpy()] == [0, -1]


def test_conditions_may_be_plain_python():
    assert tf.cond(True, lambda: 1.0, lambda: 2.0) == 1
    assert tf.switch_case(1, [lambda: 1.0, lambda: 2.0]) == 2


def test_graphs_go_on_after_they_ran():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, ())
        squared = tf.cond(x > 0, lambda: x * x, lambda: x)
        v = v1.get_variable("v", initializer=3.0)
        session = v1.Session()
        with session:
            assert session.run(squared, {x: 3.0}) == 9
            assert session.run(v1.gradients(squared, x), {x: 3.0}) == [6]
            assert session.run(v + 0) == 3
            with session:
                pass
            assert v1.get_default_session() is session


def test_gradients_have_no_conditions():
    x = tf.ones((2, 3))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    jacobian = tape.batch_jacobian(y, x, parallel_iterations=1, experimental_use_pfor=False)
    assert jacobian.shape == (2, 3, 3)
    again = tf.recompute_grad(lambda x: x * x)
    two = tf.constant(2.0)
    with tf.autodiff.ForwardAccumulator(two, tf.constant(1.0)) as forward:
        squared = again(two)
    assert forward.jvp(squared).numpy() == 4


@pytest.mark.parametrize("dtype", [tf.int8, tf.uint8, tf.int16])
def test_small_integers_are_multiplied(dtype):
    product = tf.matmul(tf.fill((2, 2), tf.constant(3, dtype)), tf.ones((2, 2), dtype))
    assert product.dtype == dtype
    assert product.numpy().tolist() == [[6, 6], [6, 6]]


def test_values_that_tensorflow_does_not_take():
    made = tf.constant_initializer(tf.constant(2.0))((2,))
    assert made.numpy().tolist() == [2, 2]
    assert tf.TensorArray(tf.float32, 0).stack().shape == (0,)


@pytest.mark.parametrize("wrap", [tf.function, lambda f: tf.py_function(f, [], tf.float32)])
def test_what_is_no_function_is_refused_at_once(wrap):
    with pytest.raises(TypeError, match="expected a function"):
        wrap(5)


def test_values_that_differ_are_the_exact_ones():
    scipy_special = pytest.importorskip("scipy.special")
    below = tf.math.special.expint(tf.constant(-1.5)).numpy()
    assert below == pytest.approx(scipy_special.expi(-1.5), rel=1e-6)
    assert tf.nn.gelu(tf.constant(-6.0)).numpy() == pytest.approx(-5.9195e-9, rel=1e-3)


def test_a_module_is_an_object_of_c_and_no_dict():
    with pytest.raises(TypeError, match="lay-out conflict"):
        type("Both", (tf.Module, dict), {})

    class Named(tf.Module, collections.abc.Mapping):
        def __init__(self):
            super().__init__()
            self.parts = {"w": tf.Variable(1.0)}

        def __getitem__(self, name):
            return self.parts[name]

        def __iter__(self):
            return iter(self.parts)

        def __len__(self):
            return len(self.parts)

    named = Named()
    assert named.variables == (named["w"],)


def test_further_values_that_tensorflow_does_not_take():
    assert tf.einsum("i->ii", [1.0, 2.0]).numpy().tolist() == [[1, 0], [0, 2]]
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    assert v.assign_add([1.0, 2.0]).numpy().tolist() == [[2, 4], [4, 6]]
    image = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
    blocks = tf.compat.v1.space_to_batch(image, [[0, 0], [0, 0]], 2)
    assert blocks.numpy().ravel().tolist() == [0, 1, 2, 3]


def test_a_list_grows_in_a_staged_loop():
    @tf.function
    def doubled(n):
        s = [tf.constant(0)]
        for i in tf.range(n):
            s = s + [i * 2]
        return tf.stack(s), len(s)

    whole, length = doubled(tf.constant(3))
    assert whole.numpy().tolist() == [0, 0, 2, 4] and length == 4


def test_a_queue_is_filled_by_one_session_and_emptied_by_another():
    with tf.Graph().as_default():
        q = tf.queue.FIFOQueue(2, tf.int32)
        put, take = q.enqueue(5), q.dequeue()
        v1.Session().run(put)
        assert v1.Session().run(take) == 5


def test_what_tensorflow_takes_and_we_refuse(tmp_path):
    one = tf.constant([1, 2])
    for number in (tf.constant(1.5), tf.constant(1, tf.int64)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="one dtype"):
            _ = one + [number, number]
    with pytest.raises(ValueError, match="rate"):
        tf.nn.dropout(tf.ones([2]), tf.constant(1.0))
    with pytest.raises(tf.errors.UnimplementedError, match="queue_ref"):
        _ = tf.queue.FIFOQueue(1, tf.int32).queue_ref
    with tf.Graph().as_default():
        tf.Variable(1.0)
        v1.train.Saver().save(v1.Session(), str(tmp_path / "m"))
    assert not list(tmp_path.glob("*.meta"))


@pytest.mark.filterwarnings("ignore")
def test_integers_have_no_gradients(capfd):
    x = tf.constant(3)
    with tf.GradientTape() as tape:
        tape.watch(x)
    assert tape.gradient(x, x) is None and "W0502" in capfd.readouterr().err
