"""Fused elementwise code gives bit for bit what its ops give one after another."""

import numpy as np
import pytest

import holdfast as tf


def bits(t):
    if t.dtype == tf.bfloat16:
        t = tf.bitcast(t, tf.uint16)
    return np.asarray(t).tobytes()


def nodes(f):
    text = f._traces[0].concrete.optimised_text()
    return [line.split(" = ")[1].split("(")[0] for line in text.splitlines() if " = " in line]


def same(f, *args):
    """Traced and eager results of `f`, compared bit by bit; gives the ops of the optimised graph."""
    g = tf.function(f)
    want, got = f(*args), g(*args)
    if not isinstance(want, (list, tuple)):
        want, got = [want], [got]
    for w, t in zip(want, got, strict=True):
        assert w.dtype == t.dtype and w.shape == t.shape
        assert bits(w) == bits(t)
    return nodes(g)


def floats(*shape, seed=0):
    return tf.constant(np.random.default_rng(seed).normal(size=shape).astype(np.float32))


@pytest.mark.parametrize("n", [0, 1, 7, 64, 1000, 1024, 1025, 40_000, 100_003])
def test_chains_of_any_length(n):
    x = floats(n)
    ops = same(lambda v: tf.tanh(v * v * 0.044715 + v) * 0.5 + tf.exp(-v), x)
    assert ops.count("Fused") == 1 and "Tanh" not in ops


def test_operands_that_broadcast():
    x, row, column, number = (
        floats(33, 70),
        floats(70, seed=1),
        floats(33, 1, seed=2),
        floats(seed=3),
    )
    assert (
        same(
            lambda a, b, c, d: tf.nn.relu((a + b) * c - d) / (tf.abs(b + a) + 1.0),
            x,
            row,
            column,
            number,
        ).count("Fused")
        == 1
    )


def test_several_values_leave_a_group():
    def f(x):
        a = x + 1.0
        b = a * a
        return a, tf.reduce_sum(b), b - x

    ops = same(f, floats(50, 50))
    assert ops.count("Fused") == 1 and "AddV2" not in ops


def test_casts_comparisons_and_choices():
    def f(x):
        whole = tf.cast(x * 10.0, tf.int32)
        big = tf.greater(whole, 3)
        return tf.where(big, tf.cast(whole, tf.float32), x * 2.0), tf.cast(big, tf.int8)

    assert same(f, floats(1000)).count("Fused") == 1


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float64", "int8", "int32", "uint8", "int64", "complex64"]
)
def test_dtypes(dtype):
    x = tf.cast(floats(300) * 5.0, dtype)
    same(lambda v: v * v + v - v * v * v, x)


def test_integer_division_keeps_its_check():
    f = tf.function(lambda a, b: (a + 1) // b + 1)
    a = tf.constant([1, 2, 3])
    assert f(a, tf.constant([1, 2, 3])).numpy().tolist() == [3, 2, 2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(a, tf.constant([1, 0, 3]))


def test_no_group_around_what_needs_it():
    def f(x):
        a = x + 1.0
        b = tf.cumsum(a)  # reads the group, and what follows reads both
        return a * b + a

    ops = same(f, floats(64))
    assert "Cumsum" in ops


def test_unknown_sizes_that_turn_out_to_broadcast():
    f = tf.function(
        lambda a, b: [a * 2.0, a * 2.0 + b],
        input_signature=[tf.TensorSpec([None], tf.float32), tf.TensorSpec([None], tf.float32)],
    )
    for n, m in [(3, 3), (1, 4), (4, 1), (5, 5)]:
        a, b = floats(n), floats(m, seed=1)
        first, second = f(a, b)
        assert bits(first) == bits(a * 2.0) and bits(second) == bits(a * 2.0 + b)


def test_unknown_sizes_that_clash_name_the_op_that_failed():
    def f(a, b):
        c = a * 2.0
        return c + b

    g = tf.function(f, input_signature=[tf.TensorSpec([None], tf.float32)] * 2)
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        g(floats(3), floats(4))
    assert e.value.code == "E0904" and "AddV2" in str(e.value) and "return c + b" in str(e.value)


def test_results_know_the_op_that_made_them():
    t = tf.function(lambda x: tf.tanh(x + 1.0))(floats(3))
    assert "Fused" not in repr(t)


def test_bits_do_not_depend_on_threads():
    x = floats(300, 1000)
    f = tf.function(lambda v: tf.sigmoid(v * 3.0) + v * 0.5)
    was = tf.config.threading.get_intra_op_parallelism_threads()
    try:
        seen = set()
        for n in (1, 2):
            tf.config.threading.set_intra_op_parallelism_threads(n)
            seen.add(bits(f(x)))
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(was)
    assert len(seen) == 1


def test_effects_keep_their_order():
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        a = v + x
        v.assign(a * 2.0)
        b = v + x
        v.assign_add(b)
        return a + b

    assert f(tf.constant([1.0, 1.0])).numpy().tolist() == [7.0, 10.0]
    assert v.numpy().tolist() == [9.0, 13.0]


def test_updates_are_part_of_the_loop_and_bit_equal():
    start = np.random.default_rng(5).normal(size=(40, 33)).astype(np.float32)
    g = floats(40, 33)

    def run(step):
        v = tf.Variable(start)
        for _ in range(3):
            step(v, g)
        return bits(v.read_value())

    def step(v, g):
        v.assign_sub(0.1 * (g + 0.01 * v))

    traced = tf.function(step)
    assert run(step) == run(traced)
    assert "FusedUpdate" in nodes(traced)


def test_a_value_read_before_an_update_stays():
    v = tf.Variable([1.0, 2.0])

    @tf.function
    def f(x):
        before = v.read_value()
        v.assign_add(x * 2.0)
        return before, v.read_value()

    kept = v.read_value()
    before, after = f(tf.constant([1.0, 1.0]))
    assert before.numpy().tolist() == [1.0, 2.0] and after.numpy().tolist() == [3.0, 4.0]
    assert kept.numpy().tolist() == [1.0, 2.0]


def test_gradients_of_a_tape_around_a_call_use_the_values_it_saw():
    v = tf.Variable([3.0])
    f = tf.function(lambda x: v * v * x)
    with tf.GradientTape() as tape:
        y = f(tf.constant([2.0]))
        v.assign_sub([1.0])
    assert tape.gradient(y, v).numpy().tolist() == [12.0]


def test_a_function_shows_its_plan():
    @tf.function
    def f(x):
        h = tf.nn.relu(x @ x + 1.0)
        return tf.reduce_sum(h @ h)

    with pytest.raises(TypeError):
        f.explain()
    x = floats(64, 64)
    f(x)
    f.time_steps()
    f(x)
    text = f.explain()
    assert (
        "MatMul" in text
        and "kernel" in text
        and "fused: " in text
        and "Relu" in text
        and "%" in text
    )
    memory = f.memory_plan(x)
    assert "float32[64,64] MatMul" in memory and "test_fusion.py" in memory


def test_a_plan_holds_less_than_its_values_apart():
    @tf.function
    def f(x):
        for _ in range(20):
            x = tf.cumsum(x)
        return x

    x = floats(100_000)
    assert bits(f(x)) == bits(f(x))
    head = f.memory_plan().splitlines()[0]
    assert head.startswith("memory plan: 781 KiB in one block for 19 buffers"), head


def test_threads_share_a_plan():
    import threading

    f = tf.function(lambda x: tf.cumsum(tf.tanh(x * 2.0) + 1.0) @ x)
    inputs = [floats(40, 40, seed=i) for i in range(8)]
    want = [bits(f(x)) for x in inputs]
    wrong = []

    def work(i):
        for _ in range(200):
            if bits(f(inputs[i])) != want[i]:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_call_that_fails_leaves_the_plan_whole():
    f = tf.function(lambda x, i: tf.gather(tf.tanh(x * 2.0), i) * 3.0)
    x = floats(50)
    want = bits(f(x, tf.constant([1, 2])))
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(x, tf.constant([1, 70]))
        assert bits(f(x, tf.constant([1, 2]))) == want


def test_results_of_two_calls_are_two_tensors():
    f = tf.function(lambda x: (tf.cumsum(x), tf.reshape(tf.cumsum(x) * 2.0, [-1])))
    first = f(tf.ones([4, 4]))
    kept = [bits(t) for t in first]
    f(tf.zeros([4, 4]))
    assert [bits(t) for t in first] == kept


def test_views_of_planned_memory_outlive_its_reuse():
    def f(x):
        a = tf.cumsum(x)
        top = a[:2]  # looks into the memory of `a`
        parts = tf.split(a + 1.0, 2)
        for _ in range(6):
            x = tf.cumsum(x)
        return top + x[:2] * 0.0, parts[1] + 0.0, top

    same(f, floats(4, 300))
    g = tf.function(f)
    x = floats(4, 300)
    want = [bits(t) for t in f(x)]
    for _ in range(4):
        assert [bits(t) for t in g(x)] == want


def test_a_variable_that_takes_a_planned_value_keeps_it():
    v = tf.Variable(tf.zeros([300]))

    @tf.function
    def f(x):
        v.assign(tf.cumsum(x))
        return tf.cumsum(tf.cumsum(x) + v)

    f(tf.ones([300]))
    kept = v.numpy()
    f(tf.ones([300]))
    assert (kept == np.arange(1, 301)).all() and (v.numpy() == kept).all()


def test_unknown_sizes_are_planned_for_when_they_come_again():
    @tf.function(input_signature=[tf.TensorSpec([None, 8], tf.float32)])
    def f(x):
        n = tf.shape(x)[0]
        h = tf.reshape(tf.cumsum(x) * 2.0 + 1.0, [n * 4, 2])
        return tf.reduce_sum(h, 1) + tf.cast(n, tf.float32)

    for _ in range(4):
        for n in (3, 5, 3, 700):
            x = floats(n, 8, seed=n)
            assert bits(f(x)) == bits(f.python_function(x))
    for n in range(1, 40):  # more sizes than are kept
        x = floats(n, 8, seed=n)
        assert f(x).shape == [n * 4]


def test_random_numbers_go_on_when_sizes_come_again():
    tf.random.set_seed(5)
    f = tf.function(
        lambda x: x * 0.0 + tf.random.uniform(tf.shape(x)),
        input_signature=[tf.TensorSpec([None], tf.float32)],
    )
    drawn = [bits(f(floats(4))) for _ in range(5)]
    assert len(set(drawn)) == 5


def test_states_are_shared_between_plans_of_one_graph():
    v = tf.Variable(0.0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        v.assign_add(tf.reduce_sum(x))
        return v + x

    for k in range(1, 6):
        assert f(tf.ones([3])).numpy().tolist() == [3.0 * k + 1] * 3


def test_a_part_of_planned_memory_is_not_written_over_while_it_is_read():
    def f(x):
        a = tf.cumsum(x)
        part = a[1:3] * 2.0 + 1.0  # begins inside the memory of `a`
        return tf.cumsum(part)

    g = tf.function(f)
    x = floats(4, 50_000)
    want = bits(f(x))
    for _ in range(4):
        assert bits(g(x)) == want


@pytest.mark.parametrize("shape", [(7, 300), (64, 1024), (3, 5, 16), (1, 4000), (500, 9)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16"])
def test_reductions_of_rows_join_the_loop(shape, dtype):
    def f(x):
        d = x - 1
        return (
            tf.reduce_sum(d * d, -1),
            tf.reduce_max(d + x, -1, keepdims=True),
            d,
            tf.reduce_min(x * 2, list(range(1, x.shape.rank))),
        )

    ops = same(f, tf.cast(floats(*shape) * 10.0, dtype))
    fits = (
        shape[-1] * tf.as_dtype(dtype).size <= 8192
    )  # longer rows do not fit beside each other into a thread's scratch
    assert fits == ("Sum" not in ops) and fits == ("Max" not in ops)


def test_normalising_rows():
    def f(x, g):
        d = x - tf.reduce_mean(x, -1, keepdims=True)
        return d * tf.math.rsqrt(tf.reduce_mean(d * d, -1, keepdims=True) + 1e-5) * g + g

    ops = same(f, floats(70, 1000), floats(1000, seed=2))
    assert ops.count("Fused") == 1 and "Mean" not in ops


def test_reductions_of_other_axes_stay_alone():
    ops = same(lambda x: tf.reduce_sum(x * 2.0, 0) + tf.reduce_mean(x + 1.0), floats(40, 50))
    assert "Sum" in ops and "Mean" not in ops
