"""Messages about scope and lifetime say what the line at hand calls things, and cures that hold."""

from __future__ import annotations

import contextlib
import io
import itertools
import linecache
import textwrap
from typing import Any

import numpy as np
import pytest

import holdfast as tf

_numbers = itertools.count()


def run(text: str, alias: str = "tf", **given: Any) -> dict[str, Any]:
    """Runs a program, as a file whose source can be read."""
    text, name = textwrap.dedent(text), f"scoped_{next(_numbers)}.py"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {alias: tf, "np": np, "__name__": "a_program"} | given
    exec(compile(text, name, "exec"), space)
    return space


def said(text: str, **given: Any) -> Any:
    """What is said of a program that is refused."""
    with pytest.raises(tf.errors.DiagnosticError) as caught:
        run(text, **given)
    return caught.value.diagnostic


def warned(text: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stderr(out):
        run(text)
    return out.getvalue()


def test_a_method_that_never_ran_is_named_in_a_complete_line() -> None:
    d = said(
        """
        class Monitor:
            def __init__(self):
                self.seen = {}
            @tf.function
            def observe(self, frame):
                self.seen["peak"] = tf.reduce_max(frame)
                return frame
        monitor = Monitor()
        monitor.observe.get_concrete_function(tf.TensorSpec([4], tf.float32))
        tf.sqrt(monitor.seen["peak"])
        """
    )
    assert d.code == "E0101"
    assert "`monitor.observe` never ran" in str(d).splitlines()[0]


def test_a_lambda_that_never_ran_is_called_by_the_name_that_it_has() -> None:
    d = said(
        """
        class Box: pass
        box = Box()
        double = tf.function(lambda v: setattr(box, "k", v * 2) or v)
        double.get_concrete_function(tf.TensorSpec([], tf.float32))
        box.k + 1
        """
    )
    assert "`double`" in d.headline
    assert "lambda" not in d.headline


@pytest.mark.parametrize("side", ["if", "else"])
def test_a_side_of_a_statement_is_named_by_its_keyword_and_line(side: str) -> None:
    first, second = ("b.z = x * 3", "pass") if side == "if" else ("pass", "b.z = x * 3")
    d = said(
        f"""
        class B: pass
        b = B()
        @tf.function
        def f(x):
            if x > 0:
                {first}
            else:
                {second}
            return b.z
        f(tf.constant(1.0))
        """
    )
    assert d.code == "E0104"
    assert f"only the `{side}` side of line 6 computes `b.z`" in d.why
    assert d.fixes[0].title.startswith("set `b.z` in both branches")


def test_two_lambdas_that_are_sides_are_told_apart() -> None:
    d = said(
        """
        kept = []
        @tf.function
        def f(x):
            y = tf.cond(x > 0, lambda: kept.append(x * 2) or x, lambda: x)
            return y + kept[0]
        f(tf.constant(1.0))
        """
    )
    assert d.code == "E0104"
    assert "only the side `true_fn`" in d.why


def test_an_argument_can_not_be_made_inside_an_init_scope() -> None:
    d = said(
        """
        @tf.function
        def f(x):
            with tf.init_scope():
                y = x + 1
            return y
        f(tf.constant(1.0))
        """
    )
    assert d.fixes[0].title == "move the use of `x` out of the scope, below it"


def test_sessions_in_a_list_are_named_by_their_places() -> None:
    d = said(
        """
        sessions, fetches = [], []
        for k in range(2):
            g = tf.Graph()
            with g.as_default():
                fetches.append(tf.constant(k))
            sessions.append(tf.compat.v1.Session(graph=g))
        sessions[0].run(fetches[1])
        """
    )
    assert d.code == "E0111"
    assert "`fetches[1]`" in d.headline
    assert "`sessions[0]` runs" in d.headline


def test_a_session_without_a_name_gets_none() -> None:
    d = said(
        """
        first, second = tf.Graph(), tf.Graph()
        with first.as_default():
            v = tf.constant([1, 2])
        with tf.compat.v1.Session(graph=second).as_default():
            v.eval()
        """
    )
    assert d.headline == "`v` belongs to the graph `first`, and the session runs `second`"


def test_what_is_fetched_in_a_dict_is_named() -> None:
    d = said(
        """
        def ask(sess, what):
            return sess.run({"answer": what})
        g = tf.Graph()
        with g.as_default():
            question = tf.constant("why")
        ask(tf.compat.v1.Session(graph=tf.Graph()), question)
        """
    )
    assert d.headline.startswith("`what` belongs to the graph")


def test_a_fed_tensor_of_another_graph_is_not_cured_by_a_session_alone() -> None:
    d = said(
        """
        a, b = tf.Graph(), tf.Graph()
        with a.as_default():
            px = tf.compat.v1.placeholder(tf.float32, [])
        with b.as_default():
            out = tf.constant(1.0)
        with tf.compat.v1.Session(graph=b) as s:
            s.run(out, feed_dict={px: 1.0})
        """
    )
    assert d.code == "E0111"
    assert d.fixes[0].title.startswith("feed tensors of `b`")


def test_operands_in_nested_lists_are_named() -> None:
    d = said(
        """
        class Half:
            def __init__(self, v):
                self.graph = tf.Graph()
                with self.graph.as_default():
                    self.out = tf.constant(v)
        left, right = Half(1.0), Half(2.0)
        with left.graph.as_default():
            tf.concat([[left.out], [right.out]], 0)
        """
    )
    assert d.code == "E0110"
    assert "`[left.out]` is part of `left.graph`, `[right.out]` of `right.graph`" in d.why


def test_items_of_a_list_under_a_name_are_named() -> None:
    d = said(
        """
        rows = [tf.ones(2), tf.ones(3)]
        tf.stack(rows)
        """
    )
    assert "`rows[1]` is float32[3]" in d.headline
    assert not any("values[" in label.text for label in d.labels)


def test_a_name_that_is_thrown_away_names_nothing() -> None:
    d = said(
        """
        def one():
            g = tf.Graph()
            with g.as_default():
                return tf.constant(3), g
        value, _ = one()
        with tf.Graph().as_default() as other:
            tf.constant(4) * value
        """
    )
    assert d.code == "E0110"
    assert "`_`" not in str(d)


def test_a_name_that_no_iteration_set_is_what_the_message_is_about() -> None:
    d = said(
        """
        @tf.function
        def f(n):
            for i in tf.range(n):
                last = i * 2
            return last
        f(tf.constant(0))
        """
    )
    assert d.headline == "`last` is read, but the loop in line 4 did not run to set it"
    assert d.fixes[0].title == "set `last` before the loop of line 4"
    assert {label.loc.line for label in d.labels} == {4, 6}


def test_a_name_that_was_deleted_is_not_to_be_set_again() -> None:
    d = said(
        """
        @tf.function
        def f(x):
            temp = x + 1
            if x > 0:
                del temp
            return temp
        f(tf.constant(1.0))
        """
    )
    assert d.code == "E0901"
    assert d.fixes[0].title.startswith("leave out the `del temp`")
    assert 6 in {label.loc.line for label in d.labels}


def test_a_layer_says_whether_it_was_ever_called() -> None:
    never = said(
        """
        head = tf.keras.layers.Dense(2)
        head.output
        """
    )
    assert "nothing has called it yet" in never.why
    dropped = said(
        """
        head = tf.keras.layers.Dense(2)
        head(tf.keras.Input((3,)))
        head.output
        """
    )
    assert "was let go of" in dropped.headline
    assert 3 in {label.loc.line for label in dropped.labels}


def test_a_jacobian_that_is_none_is_warned_of() -> None:
    text = warned(
        """
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as t:
            y = x * x
        assert t.jacobian(y, x) is None
        """
    )
    assert "W0502" in text
    assert "t.watch(x)" in text


def test_a_warning_in_a_trace_does_not_speak_of_eager_code() -> None:
    text = warned(
        """
        @tf.function
        def step():
            c = tf.constant(1.0)
            with tf.GradientTape() as t:
                y = c * 2
            return t.gradient(y, c)
        step()
        """
    )
    assert "used here" in text
    assert "eager code" not in text


def test_sides_of_two_dtypes_are_cast_to_the_one_that_holds_both() -> None:
    d = said(
        """
        @tf.function
        def f(x):
            return tf.cond(x > 0, lambda: 1, lambda: 0.5)
        f(tf.constant(1.0))
        """
    )
    assert "int32 on one side and float32 on the other" in d.headline
    assert "`tf.cast(..., tf.float32)` where it is int32" in d.fixes[0].title


def test_no_cast_is_advised_between_numbers_and_texts() -> None:
    d = said(
        """
        @tf.function
        def f(i):
            return tf.switch_case(i, [lambda: tf.constant(1), lambda: tf.constant("a")])
        f(tf.constant(1))
        """
    )
    assert d.code == "E0902"
    assert "cast" not in d.fixes[0].title


def test_a_loop_that_was_not_converted_is_advised_to_be() -> None:
    program = """
        @tf.function({options})
        def total(n):
            s = 0
            for i in range(n):
                s += i
            return s
        found = total(tf.constant(4))
        """
    d = said(program.format(options="autograph=False"))
    assert "leave out `autograph=False`" in d.fixes[0].title
    assert "tf.range(n)" in d.fixes[0].title
    assert int(run(program.format(options=""))["found"]) == 6


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        ("tf.maximum(*v)", "`*tf.unstack(v, num=...)`"),
        ("sum(v)", "`tf.reduce_sum(v, axis=0)`"),
        ("tf.stack(list(v))", "use it without `list(...)`"),
    ],
)
def test_who_goes_through_rows_is_told_what_does_so_in_the_graph(code: str, advice: str) -> None:
    d = said(
        f"""
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(v):
            return {code}
        f(tf.ones(2))
        """
    )
    assert "`v` is iterated over" in d.headline
    assert advice in d.fixes[0].title


def test_code_of_a_layer_is_named_by_its_class() -> None:
    d = said(
        """
        class Debug(tf.keras.layers.Layer):
            def call(self, x):
                return x + x.numpy()
        Debug()(tf.keras.Input((2,)))
        """
    )
    assert d.code == "E0203"
    assert "while `Debug.call` is traced" in d.headline


def test_an_edit_uses_no_name_that_the_file_does_not_have() -> None:
    program = """
        def log(value):
            return value.numpy()
        """
    log = run(program, alias="_")["log"]
    log.__globals__.pop("_")
    d = said("tf.function(log)(tf.constant(1.0))", log=log)
    assert d.fixes[0].applicability == "manual"
    assert not d.fixes[0].edits


def test_a_check_names_the_expression_that_it_was_given() -> None:
    d = said(
        """
        @tf.function
        def f(x):
            tf.debugging.assert_equal(tf.shape(x)[0], 2)
            tf.debugging.assert_less(x - 1.0, 9.0)
            return x
        f(tf.ones(3))
        """
    )
    assert "`tf.shape(x)[0]` is 3" in d.headline
    d = said(
        """
        x = tf.constant([1.0, 5.0])
        tf.debugging.assert_less(x - 1.0, 2.0)
        """
    )
    assert "`(x - 1.0)[1]` is 4" in d.headline


def test_what_is_assigned_is_named_where_its_dtype_does_not_fit() -> None:
    d = said(
        """
        bias = tf.Variable([0.0, 1.0])
        step = tf.constant([1, 2])
        bias.assign(step)
        """
    )
    assert d.headline == "`step` of dtype int32 was given where float32 is asked for"
    assert "`tf.cast(step, tf.float32)`" in d.fixes[0].title


def test_a_fed_placeholder_is_called_what_the_program_calls_it() -> None:
    d = said(
        """
        with tf.Graph().as_default():
            x = tf.compat.v1.placeholder(tf.float32, [2, 3], name="batch")
            with tf.compat.v1.Session() as s:
                s.run(x + 1, {x: np.ones((3, 2))})
        """
    )
    assert d.headline.startswith("`x` is fed with a value of shape [3,2]")


def test_a_dict_of_variables_is_called_a_dict() -> None:
    d = said(
        """
        params = {"a": tf.Variable(1.0), "b": tf.Variable(3.0)}
        for epoch in range(2):
            with tf.GradientTape() as t:
                loss = params["a"] * params["b"]
            grads = t.gradient(loss, params)
            params = {k: params[k] - 0.1 * grads[k] for k in params}
        """
    )
    assert d.fixes[0].title == "change each Variable instead of the dict"


def test_a_store_into_an_array_keeps_its_index() -> None:
    d = said(
        """
        buf = np.zeros((3, 2))
        @tf.function
        def f(x):
            buf[0, 1] = x
            return x
        f(tf.constant(1.0))
        """
    )
    assert "`buf[0, 1].assign(x)`" in d.fixes[0].title


@pytest.mark.parametrize("options", ["", "autograph=False"])
@pytest.mark.parametrize("kept", ["x * 2", "tf.keep(x * 2)"])
def test_a_trace_does_not_go_on_with_what_another_left_once(options: str, kept: str) -> None:
    d = said(
        f"""
        state = {{}}
        @tf.function(autograph=False)
        def write(x):
            state["h"] = {kept}
            return x
        @tf.function({options})
        def read(y):
            return y + state["h"]
        found = []
        for value in (1.0, 5.0):
            write(tf.constant(value))
            found.append(float(read(tf.constant(1.0))))
        assert found == [3.0, 11.0]
        """
    )
    assert d.code == "E0101"
    assert "to `read` as an argument" in d.fixes[0].title
    assert run(
        f"""
        state, found = {{}}, []
        @tf.function(autograph=False)
        def write(x):
            state["h"] = tf.keep(x * 2)
            return x
        @tf.function({options})
        def read(y, h):
            return y + h
        for value in (1.0, 5.0):
            write(tf.constant(value))
            found.append(float(read(tf.constant(1.0), state["h"])))
        """
    )["found"] == [3.0, 11.0]


@pytest.mark.parametrize("step", ["total = total + 0.5", "total += 0.5"])
def test_an_integer_that_a_loop_begins_with_is_shown_and_made_a_float(step: str) -> None:
    program = f"""
        @tf.function
        def count(n):
            total = 0
            for i in tf.range(n):
                {step}
            return total
        found = count(tf.constant(3))
        """
    d = said(program)
    assert d.code == "E1101"
    assert 4 in {label.loc.line for label in d.labels}
    (edit,) = d.fixes[0].edits
    assert d.fixes[0].applicability == "tested"
    lines = textwrap.dedent(program).split("\n")
    lines[edit.line - 1] = lines[edit.line - 1].replace(edit.old, edit.new, 1)
    assert float(run("\n".join(lines))["found"]) == 1.5
