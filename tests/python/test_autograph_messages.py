"""What cannot be staged is said in the program's own lines and names."""

from __future__ import annotations

import linecache
import re

import pytest
from failing_program import Said

import holdfast as tf


def run(text, name, *arguments):
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"tf": tf, "__name__": "a_program"}
    exec(compile(text, name, "exec"), space)
    return space["f"](*arguments)


ONE = tf.constant(1.0)


# E0901.


def test_a_name_set_on_one_side():
    said = Said(
        """
        @tf.function
        def f(x):
            if x > 0:           #@branch
                boost = x * 2   #@set
            return boost        #@read
        """,
        "<one side>",
        ONE,
    )
    assert said.error.code == "E0901"
    assert isinstance(said.error, NameError) and isinstance(said.error, ValueError)
    assert said.at("branch") and said.at("set") == {"born"} and said.at("read") == {"used"}
    assert "`boost`" in said.diagnostic.headline and "`else`" in said.diagnostic.fixes[0].title


def test_a_name_set_on_the_other_side():
    said = Said(
        """
        @tf.function
        def f(x):
            if x > 0:
                pass
            else:
                boost = x       #@set
            y = x + 1
            return y + boost    #@read
        """,
        "<other side>",
        ONE,
    )
    assert said.error.code == "E0901" and said.at("set") == {"born"} and said.at("read") == {"used"}


def test_a_name_set_on_one_side_may_go_unread():
    @tf.function
    def f(x):
        if x > 0:
            boost = x * 2
            y = boost
        else:
            y = x
        if x > 0:
            boost = y
            y = boost + 1
        return y

    assert float(f(ONE)) == 3.0


def test_a_name_deleted_on_one_side():
    said = Said(
        """
        @tf.function
        def f(x):
            y = x
            if x > 0:
                del y
            return y            #@read
        """,
        "<deleted>",
        ONE,
    )
    assert said.error.code == "E0901" and said.at("read") == {"used"}


def test_a_closure_reads_a_name_set_on_one_side():
    said = Said(
        """
        @tf.function
        def f(x):
            if x > 0:
                boost = x * 2
            def inner():
                return boost    #@read
            return inner()
        """,
        "<closure>",
        ONE,
    )
    assert said.error.code == "E0901" and said.at("read") == {"used"}


def test_a_name_set_in_a_loop_that_did_not_run():
    @tf.function
    def f(n):
        for i in tf.range(n):
            last = i * 10
        return last

    assert int(f(tf.constant(3))) == 20
    with pytest.raises(tf.errors.InvalidArgumentError, match="`last` is read, but the loop"):
        f(tf.constant(0))


def test_a_name_of_a_loop_is_asked_for_only_where_it_is_read():
    @tf.function
    def f(n):
        for i in tf.range(n):
            last = i * 10
        if n > 0:
            return last
        return n - 1

    assert [int(f(tf.constant(n))) for n in (3, 0)] == [20, -1]


def test_what_only_an_earlier_iteration_sets():
    said = Said(
        """
        @tf.function
        def f(x):
            total = x
            for i in tf.range(3):          #@loop
                if i > 0:
                    total = total + last   #@read
                last = total               #@set
            return total
        """,
        "<earlier iteration>",
        ONE,
    )
    assert said.error.code == "E0901" and isinstance(said.error, NameError)
    assert said.at("loop") and said.at("read") == {"used"} and said.at("set") == {"born"}
    assert "before the loop" in said.diagnostic.fixes[0].title


# E0902.


def test_two_dtypes_on_two_sides():
    said = Said(
        """
        @tf.function
        def f(x):
            if x > 0:                      #@branch
                level = tf.constant(1)     #@first
            else:
                level = tf.constant(0.5)   #@second
            return level
        """,
        "<two dtypes>",
        ONE,
    )
    assert said.error.code == "E0902" and isinstance(said.error, TypeError)
    assert said.at("branch") == {"used"}
    assert said.at("first") == said.at("second") == {"born"}
    for word in ("int32", "float32", "`level`"):
        assert word in said.diagnostic.headline
    assert float(run(said.fixed(), "<two dtypes, fixed>", ONE)) == 1.0


def test_a_literal_of_the_wrong_kind():
    said = Said(
        """
        @tf.function
        def f(x):
            if x > 0:
                level = x
            else:
                level = 0      #@literal
            return level
        """,
        "<literal>",
        ONE,
    )
    assert said.error.code == "E0902" and said.at("literal") == {"born"}
    assert "0.0" in said.diagnostic.fixes[0].title
    assert float(run(said.fixed(), "<literal, fixed>", ONE)) == 1.0


def test_two_returned_dtypes():
    said = Said(
        """
        @tf.function
        def f(x):
            if x > 0:
                return x
            return tf.constant(1)
        """,
        "<returned>",
        ONE,
    )
    assert said.error.code == "E0902" and "returned value" in said.diagnostic.headline


def test_an_iteration_that_changes_a_dtype():
    said = Said(
        """
        @tf.function
        def f(x):
            total = tf.constant(0)                 #@before
            for i in tf.range(3):                  #@loop
                total = tf.cast(total, tf.float32) + x   #@after
            return total
        """,
        "<iteration>",
        ONE,
    )
    assert said.error.code == "E0902"
    assert said.at("before") == said.at("after") == {"born"} and said.at("loop") == {"used"}


def test_an_int_that_a_loop_makes_a_float():
    said = Said(
        """
        @tf.function
        def f(x):
            total = 0                  #@literal
            for row in tf.stack([x, x]):
                total = total + row    #@after
            return total
        """,
        "<int becomes float>",
        ONE,
    )
    assert said.error.code == "E0902" and said.at("literal") == said.at("after") == {"born"}
    assert float(run(said.fixed(), "<int becomes float, fixed>", ONE)) == 2.0


def test_a_tensor_or_nothing():
    said = Said(
        """
        @tf.function
        def f(x):
            if x > 0:
                return x, x
        """,
        "<or nothing>",
        ONE,
    )
    assert said.error.code == "E0902" and "None" in said.diagnostic.headline


def test_two_things_that_are_no_tensors():
    said = Said(
        """
        @tf.function
        def f(x):
            if x > 0:
                mode = "hot"       #@first
            else:
                mode = "cold"      #@second
            return mode
        """,
        "<two strings>",
        ONE,
    )
    assert said.error.code == "E0902" and said.at("first") == said.at("second") == {"born"}


def test_none_that_becomes_a_tensor():
    said = Said(
        """
        @tf.function
        def f(x):
            best = None                     #@before
            for row in tf.stack([x, x]):    #@loop
                if best is None:
                    best = (row, row)
            return best
        """,
        "<from none>",
        ONE,
    )
    assert said.error.code == "E0902" and "None" in said.diagnostic.headline
    assert said.at("before") == {"born"} and said.at("loop") == {"used"}


def test_none_that_no_iteration_looks_at():
    @tf.function
    def f(x):
        best = None
        for row in tf.stack([x, x + 1]):
            best = row
        return best

    assert float(f(ONE)) == 2.0


# Other messages.


def test_an_exception_under_a_condition_is_checked_when_the_graph_runs():
    @tf.function
    def f(x):
        if x < 0:
            raise ValueError("x is negative")
        return x * 2

    assert float(f(ONE)) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="ValueError: x is negative"):
        f(tf.constant(-1.0))
    assert f.experimental_get_tracing_count() == 1


def test_an_error_that_nobody_raised_on_purpose_is_an_error():
    @tf.function
    def f(x):
        if x < 0:
            y = {}["missing"]
        else:
            y = x
        return y

    with pytest.raises(KeyError):
        f(ONE)


def test_both_sides_raise():
    @tf.function
    def f(x):
        if x < 0:
            raise ValueError("low")
        else:
            raise KeyError("high")

    with pytest.raises((ValueError, KeyError)):
        f(ONE)


def test_an_assertion_about_a_symbol():
    @tf.function
    def f(x):
        assert x > 0, "x has to be positive"
        assert x < 10
        return x * 2

    assert float(f(ONE)) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="x has to be positive"):
        f(tf.constant(-1.0))
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant(11.0))


def test_a_body_value_that_leaves_its_loop():
    kept = []

    @tf.function
    def f(x):
        for i in tf.range(3):
            kept.append((i, x))
        return kept[0][0]

    with pytest.raises(tf.errors.DiagnosticError) as caught:
        f(ONE)
    assert caught.value.code == "E0103"


def test_a_list_method_that_no_graph_has():
    @tf.function
    def f(x):
        values = []
        for i in tf.range(3):
            values.append(i)
        values.sort(key=lambda each: -each)
        return x

    with pytest.raises(tf.errors.DiagnosticError) as caught:
        f(ONE)
    assert caught.value.code == "E1105" and "list.sort" in str(caught.value)


def test_two_dtypes_in_a_growing_list():
    @tf.function
    def f(x):
        values = [1.5]
        for i in tf.range(3):
            values.append(i)
        return tf.stack(values)

    with pytest.raises(tf.errors.DiagnosticError) as caught:
        f(ONE)
    assert caught.value.code == "E0902"


def test_a_python_loop_without_end():
    @tf.function
    def f(x):
        import itertools

        for i in itertools.count():
            if x < i:
                break
        return x

    with pytest.raises(tf.errors.DiagnosticError) as caught:
        f(ONE)
    assert caught.value.code == "E1105" and "tf.range" in str(caught.value)


@pytest.mark.parametrize("said", [None])
def test_messages_keep_the_layout(said):
    said = Said(
        """
        @tf.function
        def f(x):
            if x > 0:
                a_rather_long_name_for_a_level_that_people_would_hardly_ever_think_of = tf.abs(1)
            else:
                a_rather_long_name_for_a_level_that_people_would_hardly_ever_think_of = x
            return a_rather_long_name_for_a_level_that_people_would_hardly_ever_think_of
        """,
        "<long>",
        ONE,
    )
    lines = str(said.error).splitlines()
    assert re.match(r"error\[E\d{4}\]: \S", lines[0]) and len(lines[0]) <= 100
    assert len(lines) <= 25


# Options of loops.


def test_maximum_iterations():
    @tf.function
    def f(x):
        i = 0
        while x < 100:
            tf.autograph.experimental.set_loop_options(maximum_iterations=3)
            x = x + 1
            i += 1
        return x, i

    x, i = f(ONE)
    assert (float(x), int(i)) == (4.0, 3)


def test_shape_invariants():
    shapes = []

    @tf.function
    def f(x):
        values = tf.zeros([1, 2])
        for _ in tf.range(3):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(values, tf.TensorShape([None, 2]))],
                parallel_iterations=4,
                swap_memory=True,
            )
            shapes.append(values.shape.as_list())
            values = tf.concat([values, tf.ones([1, 2]) * x], 0)
        return values

    assert f(ONE).shape == (4, 2)
    assert shapes[-1] == [None, 2]


def test_a_shape_invariant_of_something_else():
    @tf.function
    def f(x):
        y = x
        for _ in tf.range(3):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([]))])
            x = x + y
        return x

    with pytest.raises(NotImplementedError, match="shape_invariants"):
        f(ONE)


def test_options_outside_of_a_staged_loop_mean_nothing():
    tf.autograph.experimental.set_loop_options(maximum_iterations=3)
    assert [i for i in range(5)][-1] == 4
