"""Gradients: the tape, what it says when there is none, custom gradients, forward mode."""

import gc
import weakref

import numpy as np
import pytest

import holdfast as tf


def values(t):
    return np.asarray(t).tolist()


def test_nested_sources_and_targets():
    x, y = tf.constant([1.0, 2.0]), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        tape.watch([x])
        z = {"a": x * x, "b": [y * x]}
    found = tape.gradient(z, {"x": x, "more": [y]})
    assert values(found["x"]) == [5, 7] and values(found["more"][0]) == 3


def test_output_gradients_weigh_the_target():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert values(tape.gradient(y, x, output_gradients=tf.constant([1.0, 10.0]))) == [2, 40]
    assert values(tape.gradient(y, x, output_gradients=[1.0, 0.0])) == [2, 0]
    assert values(tape.gradient([y, y], x, output_gradients=[tf.constant([1.0, 1.0]), None])) == [
        4,
        8,
    ]


def test_second_order():
    x = tf.Variable(2.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x * x * x
        slope = inner.gradient(y, x)
    assert float(slope) == 12 and float(outer.gradient(slope, x)) == 12


def test_watched_variables_come_in_the_order_in_which_they_were_made():
    first, second, third = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = third * second + first * third
    assert [float(v) for v in tape.watched_variables()] == [1, 2, 3]
    assert [float(g) for g in tape.gradient(y, tape.watched_variables())] == [3, 3, 3]


def test_variables_are_watched_by_themselves_unless_told_otherwise():
    v, w = tf.Variable(1.0), tf.Variable(1.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * w
    assert tape.watched_variables()[0] is v and len(tape.watched_variables()) == 1
    assert float(tape.gradient(y, v)) == 1
    assert tape.watched_variables()[0] is v
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = v * w
    assert [g is None for g in tape.gradient(y, [v, w])] == [True, False]


def test_stop_recording_and_reset():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = y * y
        y = y + z
    assert float(tape.gradient(y, x)) == 4
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        tape.reset()
        tape.watch(x)
        y = x * 3
    assert float(tape.gradient(y, x)) == 3
    with pytest.raises(RuntimeError, match="not recording"), tape.stop_recording():
        pass


def test_a_tape_goes_on_when_entered_again():
    x = tf.constant(2.0)
    tape = tf.GradientTape()
    with tape:
        tape.watch(x)
        y = x * x
        with pytest.raises(ValueError, match="still recording"):
            tape.__enter__()
    with tape:
        z = y * 2
    assert float(tape.gradient(z, x)) == 8


def test_unconnected_gradients():
    x, y = tf.Variable([1.0, 2.0]), tf.Variable(1.0)
    with tf.GradientTape(persistent=True) as tape:
        z = y * y
    assert values(tape.gradient(z, x, unconnected_gradients="zero")) == [0, 0]
    assert tape.gradient(z, [x, y])[0] is None
    with pytest.raises(ValueError, match="unconnected_gradients"):
        tape.gradient(z, x, unconnected_gradients="foo")


def test_bad_arguments():
    with tf.GradientTape() as tape:
        with pytest.raises(ValueError, match="of type .*, expected a tensor"):
            tape.watch(3)
        y = tf.Variable(1.0) * 2
    with pytest.raises(TypeError, match="E1104"):
        tape.gradient(y, 3)


def test_the_record_is_freed_with_the_first_gradient():
    x = tf.Variable(np.ones(1000, "float32"))
    with tf.GradientTape() as tape:
        inner = x * x
        alive = weakref.ref(inner)
        y = inner * inner
    del inner
    tape.gradient(y, x)
    gc.collect()
    assert alive() is None


def test_a_second_gradient_needs_a_persistent_tape():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError) as caught:
        tape.gradient(y, x)
    error = caught.value
    assert error.code == "E0504" and "`tape` was already used" in str(error)
    (edit,) = error.diagnostic.fixes[0].edits
    assert (edit.old, edit.new) == ("tf.GradientTape()", "tf.GradientTape(persistent=True)")
    assert [label.role for label in error.diagnostic.labels] == ["placed", "first_use", "used"]


def test_jacobians_work_on_any_tape():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert values(tape.jacobian(y, x)) == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = tf.matmul(tf.constant([[1.0, 1.0]]), w)
    both = tape.jacobian(y, [w, x])
    assert both[0].shape == [1, 2, 2, 2] and both[1] is None
    assert tape.jacobian(y, x, unconnected_gradients="zero").shape == [1, 2, 3]


def test_batch_jacobian():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert values(tape.batch_jacobian(y, x)) == [[[2, 0], [0, 4]], [[6, 0], [0, 8]]]
    with pytest.raises(ValueError, match="expected 2 or more"):
        tape.batch_jacobian(y, tf.constant([1.0]))


# What None means.


def test_an_unwatched_constant_is_named_with_its_fix(capsys):
    speed = tf.constant(3.0)
    with tf.GradientTape() as tape:
        energy = speed * speed
    assert tape.gradient(energy, speed) is None
    said = capsys.readouterr().err
    assert "`energy` with respect to `speed` is None: `speed` is not watched" in said
    assert "tape.watch(speed)" in said and "[tested]" in said
    explained = tape.explain(energy, speed)
    assert (
        explained.code == "W0502" and explained.fixes[0].edits[0].new.strip() == "tape.watch(speed)"
    )


def test_integers_cuts_and_missing_paths_are_told_apart():
    n, a, b = tf.constant(3), tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(n)
        count = n * n
        left = a * 2
        right = b * 2
        outside = tf.constant(a.numpy()) * 2
        cut = tf.cast(tf.cast(a, tf.int32), tf.float32) * 1.0
    assert "`n` is int32" in tape.explain(count, n).headline
    assert "`left` does not depend on `b`" in tape.explain(left, b).headline and right is not None
    assert "numpy" in str(tape.explain(outside, a)).lower()
    assert "cut at Cast" in tape.explain(cut, a).headline


def test_a_tensor_that_replaced_a_variable_is_an_error():
    weight = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        loss = weight * weight
    weight = weight - 0.1 * tape.gradient(loss, weight)
    with tf.GradientTape() as tape:
        loss = weight * weight
    with pytest.raises(ValueError) as caught:
        tape.gradient(loss, weight)
    assert caught.value.code == "E0404" and isinstance(caught.value, TypeError)
    (edit,) = caught.value.diagnostic.fixes[0].edits
    assert edit.old.startswith("weight = weight - ") and edit.new.startswith(
        "weight.assign_sub(0.1 * tape"
    )


def test_a_tensor_that_took_a_variables_name_is_told_without_an_error(capsys):
    x = tf.Variable(2.0)
    x = x + 1
    with tf.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None
    said = capsys.readouterr().err
    assert "W0502" in said and "`x` replaced a Variable" in said and "x.assign_add(1)" in said


# Custom gradients.


def test_a_custom_gradient_is_used():
    @tf.custom_gradient
    def f(x, y):
        def grad(dy):
            return dy * 10, dy * 20

        return x * y, grad

    a, b = tf.constant([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(a)
        z = f(a, b)
    assert values(z) == [3, 8] and [values(g) for g in tape.gradient(z, [a, b])] == [
        [10, 10],
        [20, 20],
    ]
    assert f.__name__ == "f"


def test_a_custom_gradient_has_gradients_itself():
    @tf.custom_gradient
    def square(x):
        return x * x, lambda dy: dy * 2 * x

    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = square(x) * x
        slope = inner.gradient(y, x)
    assert float(slope) == 27 and float(outer.gradient(slope, x)) == 18


def test_variables_inside_a_custom_gradient():
    v = tf.Variable(2.0)

    @tf.custom_gradient
    def f(x):
        def grad(dy, variables=None):
            return dy * 2, [dy * 5 for _ in variables]

        return x * v, grad

    @tf.custom_gradient
    def forgets(x):
        return x * v, lambda dy: dy

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = f(x)
    assert [float(g) for g in tape.gradient(z, [x, v])] == [2, 5]
    with pytest.raises(TypeError, match="takes no `variables`"):
        forgets(x)


def test_a_custom_gradient_on_a_method_and_with_structures():
    class Layer:
        scale = 3.0

        @tf.custom_gradient
        def double(self, pair):
            def grad(da, db):
                return [da * self.scale, db]

            return (pair[0] * 2, pair[1] * 2), grad

    a, b = tf.constant(1.0), tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch([a, b])
        y = Layer().double([a, b])
    assert [float(g) for g in tape.gradient(y, [a, b])] == [3, 1] and isinstance(y, tuple)


def test_a_wrong_number_of_gradients_is_refused():
    @tf.custom_gradient
    def f(x):
        return x * 1, lambda dy: (dy, dy)

    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    with pytest.raises(ValueError, match="gave 2 gradients for 1 argument"):
        tape.gradient(y, x)


def test_recompute_grad_calls_again():
    calls, v = [], tf.Variable(3.0)

    @tf.recompute_grad
    def f(x):
        calls.append(1)
        return x * x * v

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert (
        float(y) == 12
        and [float(g) for g in tape.gradient(y, [x, v])] == [12, 4]
        and len(calls) == 2
    )


def test_grad_pass_through():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(lambda t: t * t * t)(x) * 3
    assert float(y) == 24 and float(tape.gradient(y, x)) == 3


# Forward mode.


def test_forward_products():
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 10.0])) as acc:
        y = x * x * x
        assert values(acc.jvp(y)) == [3, 120]
        assert acc.jvp([y, tf.constant(1.0)])[1] is None
        assert float(acc.jvp(tf.constant(1.0), unconnected_gradients="zero")) == 0
    assert values(acc.jvp(y)) == [3, 120] and values(acc.jvp(x)) == [1, 10]


def test_forward_over_backward():
    x = tf.constant([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * x * x)
        slope = tape.gradient(y, x)
    assert values(acc.jvp(slope)) == [6, 0]


def test_forward_over_a_variable():
    v = tf.Variable([1.0, 2.0])
    with tf.autodiff.ForwardAccumulator([v], [tf.constant([1.0, 1.0])]) as acc:
        y = tf.reduce_sum(v * v)
    assert float(acc.jvp(y)) == 6


def test_gradients_of_graphs_are_refused_as_in_tensorflow():
    for ask in (tf.gradients, tf.hessians):
        with pytest.raises(RuntimeError, match="tf.GradientTape"):
            ask([tf.constant(1.0)], [tf.constant(1.0)])


def test_a_variable_that_only_the_tape_holds_can_still_be_read():
    with tf.GradientTape() as tape:
        v = tf.Variable(2.0)
        y = v * v
    del v
    (held,) = tape.watched_variables()
    assert float(held.read()) == 2.0
    assert float(tape.gradient(y, held)) == 4.0


def test_a_gradient_of_none_ends_the_use_of_a_tape_too(capfd):
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        y = tf.constant(2.0) * 3.0
    assert tape.gradient(y, [x]) == [None]
    assert "W0502" in capfd.readouterr().err
    with pytest.raises(tf.errors.DiagnosticError):
        tape.gradient(y, x)


def test_sources_keep_their_nesting_and_their_order():
    a, b = tf.Variable(2.0), tf.constant(3.0)
    for nest in (lambda *s: list(s), lambda *s: s, lambda *s: {"k": s[0], "m": [s[1]]}):
        with tf.GradientTape() as tape:
            tape.watch(b)
            y = a * a * b
        found = tape.gradient(y, nest(a, b))
        assert type(found) is type(nest(a, b))
        assert [float(g) for g in tf.nest.flatten(found)] == [12.0, 4.0]


def test_a_tape_that_is_left_twice_or_used_inside_its_block_is_closed_once():
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
            dy = inner.gradient(y, x)
        assert not inner.recording and outer.recording
        d2 = outer.gradient(dy, x)
    assert (float(dy), float(d2)) == (12.0, 12.0)
    assert outer.watched_variables() == ()


def test_a_spent_tape_remembers_what_it_watched_and_where_it_was_used():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
    tape.gradient(y, v)
    assert tape.watched_variables() == (v,)
    with pytest.raises(tf.errors.DiagnosticError) as caught:
        tape.gradient(y, v)
    assert "tape.gradient(y, v)" in str(caught.value)


@pytest.mark.parametrize("traced", [False, True])
def test_the_jacobian_of_no_elements_has_no_rows(traced):
    v, other = tf.Variable([1.0, 2.0, 3.0]), tf.Variable(1.0)

    def f():
        with tf.GradientTape(persistent=True) as tape:
            y = tf.zeros([2, 0, 3]) * v
        assert tape.jacobian(y, other) is None
        zero = tape.jacobian(y, other, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        return tape.jacobian(y, v), zero

    along_v, zero = (tf.function(f) if traced else f)()
    assert along_v.shape == (2, 0, 3, 3) and zero.shape == (2, 0, 3)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16, tf.complex64])
@pytest.mark.parametrize("f", [tf.sqrt, tf.math.rsqrt, tf.math.reciprocal])
def test_nothing_comes_back_through_a_pole_that_nothing_arrives_at(f, dtype, traced):
    x = tf.cast(tf.constant([0.0, 4.0, 0.0]), dtype)

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            chosen = tf.where(tf.constant([False, True, False]), f(x), tf.zeros_like(x))
        return tape.gradient(chosen, x)

    at_poles = (tf.function(gradient) if traced else gradient)(x).numpy()[[0, 2]]
    assert (at_poles == 0).all()


def test_the_norm_of_nothing_that_nothing_needs_has_no_gradient():
    x = tf.constant([[0.0, 0.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.norm(x, axis=1) * [0.0, 1.0])
    assert tape.gradient(y, x).numpy().tolist() == [
        [0.0, 0.0],
        [0.6000000238418579, 0.800000011920929],
    ]
