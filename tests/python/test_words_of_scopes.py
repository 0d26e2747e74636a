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
