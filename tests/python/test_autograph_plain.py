"""Converted code does what Python does, with the same effects in the same order.

PYTEST_DONT_REWRITE: the programs are compared with what Python makes of them.
"""

from __future__ import annotations

import contextlib
import itertools
import types

import pytest

import holdfast as tf
from holdfast import autograph
from holdfast._tracing import recorder as recording

LOG: list[object] = []


def say(value):
    LOG.append(value)
    return value


@contextlib.contextmanager
def block(name):
    say(("enter", name))
    try:
        yield name
    finally:
        say(("exit", name))


class Suppress:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        say(("swallowed", kind and kind.__name__))
        return True


# Branches and returns.


def absolute(x):
    if x > 0:
        return x
    return -x


def grade(x):
    if x > 8:
        grade = "a"
    elif x > 5:
        grade = "b"
    elif x > 2:
        grade = "c"
    else:
        grade = "d"
    return grade


def nested(x):
    y = 0
    if x > 2:
        if x % 2:
            y = 1
        else:
            if x > 6:
                return "big and even"
            y = 2
        y += 10
    elif x == 1:
        return "one"
    return y


def falls_off(x):
    if x > 3:
        return x


def partly(x):
    if x > 2:
        if x > 5:
            return "far"
        say("near")
    say("after")
    return "end"


def unset(x):
    if x > 3:
        y = 1
    try:
        return y
    except NameError as error:
        return type(error) in (NameError, UnboundLocalError)


def dead_code(x):
    return x
    say("never")


def several_returns(x):
    if x == 0:
        return 0
    if x == 1:
        return 1
    if x == 2:
        return 2
    say("none of them")
    if x == 3:
        return 3
    return -1


def deletes(x):
    y = x
    if x > 3:
        del y
    try:
        return y
    except NameError:
        return "gone"


def only_pass(x):
    if x > 3:
        pass
    else:
        ...
    return x


# Loops.


def total(n):
    result = 0
    for i in range(n):
        result += i
    return result


def breaks(n):
    out = []
    for i in range(10):
        if i == n:
            break
        out.append(i)
    else:
        out.append("all")
    return out


def continues(n):
    out = []
    for i in range(n):
        if i % 2:
            continue
        out.append(i)
        if i > 4:
            continue
        out.append(-i)
    return out


def countdown(n):
    seen = []
    while n > 0:
        n -= 1
        if n == 3:
            continue
        if n == 1:
            break
        seen.append(n)
    else:
        seen.append("end")
    return n, seen


def nested_breaks(n):
    out = []
    for i in range(n):
        for j in range(n):
            if j == 2:
                break
            if i == 3:
                continue
            out.append((i, j))
        else:
            out.append(("whole", i))
        if i == 4:
            break
    else:
        out.append("outer whole")
    return out


def finds(n):
    for i in range(10):
        for j in range(10):
            if i * j == n:
                return i, j
    return None


def returns_in_while(n):
    while True:
        n += 1
        if n % 7 == 0:
            return n


def returns_with_else(n):
    for i in range(5):
        if i == n:
            return "found"
    else:
        say("not found")
    return "end"


def breaks_in_else(n):
    out = []
    for i in range(5):
        for j in range(3):
            if j == n:
                break
        else:
            out.append("else")
            break
        out.append(i)
    return out


def last_value(n):
    i = "none"
    for i in range(n):
        pass
    return i


def loop_target_unpacks(n):
    out = []
    for i, (a, *b) in enumerate([(1, 2, 3), (4, 5)] * n):
        out.append((i, a, b))
    return out


def loop_target_is_an_attribute(n):
    class Box:
        pass

    box = Box()
    for box.item in range(n):
        say(box.item)
    return getattr(box, "item", None)


def walks_generator(n):
    def produce():
        for i in range(n):
            say(("make", i))
            yield i

    for value in produce():
        say(("take", value))
        if value == 2:
            break
    return "done"


def while_walrus(n):
    values = iter(range(n))
    out = []
    while (value := next(values, None)) is not None:
        if value == 4:
            break
        out.append(value)
    else:
        out.append("exhausted")
    return out, value


def while_else_runs(n):
    while n > 2:
        n -= 1
    else:
        say("else")
    return n


def endless(n):
    for i in itertools.count(n):
        if i % 5 == 0:
            return i


def shadowed_range(n):
    range = reversed
    out = []
    for x in range([1, 2, n]):
        out.append(x)
    return out


# Exceptions and contexts.


def tries(n):
    try:
        say("try")
        if n > 3:
            raise ValueError(n)
        if n == 2:
            return "early"
        say("still trying")
    except ValueError as error:
        say(error.args)
        if n == 5:
            return "handled"
    else:
        say("else")
    finally:
        say("finally")
    return "end"


def loops_in_try(n):
    out = []
    for i in range(n):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            out.append(i)
        finally:
            out.append(("finally", i))
    return out


def returns_in_finally(n):
    try:
        if n > 3:
            raise ValueError
    finally:
        if n > 5:
            return "swallowed"  # noqa: B012
    return "end"


def returns_in_finally_at_once(n):
    try:
        raise ValueError
    finally:
        return n  # noqa: B012


def reraises(n):
    try:
        try:
            if n:
                raise KeyError(n)
        except KeyError as error:
            raise RuntimeError("outer") from error
    except RuntimeError as error:
        return type(error.__cause__).__name__
    return "fine"


def contexts(n):
    with block("a") as a, block("b"):
        if n > 3:
            return a
        for i in range(3):
            with block(i):
                if i == n:
                    break
    return "end"


def swallowing(n):
    with Suppress():
        if n > 3:
            return "returned"
        raise ValueError
    return "swallowed"


def exception_groups(n):
    out = []
    try:
        if n > 3:
            raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
    except* ValueError as group:
        out.append(len(group.exceptions))
    except* TypeError:
        out.append("type")
    return out


def outcome(function, argument):
    """What a call gives or raises, what it said meanwhile, and the globals it leaves."""
    space = function.__globals__
    LOG.clear()
    space["COUNT"], space["SCALE"] = 0, 3
    try:
        result = function(argument)
    except Exception as error:  # noqa: BLE001 (whatever it is, both have to raise it)
        result = type(error), error.args
    return result, list(LOG), space["COUNT"], space["SCALE"]


def programs(space):
    """The functions that a module of tests itself defines, without its tests and tools."""
    return [
        value
        for name, value in list(space.items())
        if isinstance(value, types.FunctionType)
        and value.__module__ == space["__name__"]
        and not name.startswith("test_")
        and name not in ("say", "block", "outcome", "programs", "same", "same_while_traced")
    ]


def same(program):
    """Converted code does what Python does."""
    converted = autograph.convert(program)
    assert converted is not program
    for argument in range(10):
        got, wanted = outcome(converted, argument), outcome(program, argument)
        assert got == wanted, (argument, got, wanted)


def same_while_traced(program):
    """It does so while something is traced: then everything is noted, and callees are converted."""
    converted = autograph.convert(program)
    for argument in range(7):
        expected = outcome(program, argument)
        with recording.Recorder():
            got = outcome(converted, argument)
        assert got == expected, (argument, got, expected)


PROGRAMS = programs(globals())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_converted_statements_do_what_python_does(program):
    same(program)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_they_do_so_while_something_is_traced(program):
    same_while_traced(program)


def test_programs_were_found():
    assert len(PROGRAMS) > 30


def test_in_and_not_in_on_traced_values():
    @tf.function
    def f(x):
        if x in [1, 2, 3]:
            return x, x not in (2, 5)
        return -x, x not in (2, 5)

    assert [[int(a), bool(b)] for a, b in map(f, map(tf.constant, (1, 2, 5, 7)))] == [
        [1, True],
        [2, False],
        [-5, False],
        [-7, True],
    ]


def test_rows_of_an_unknown_number_are_taken_apart():
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def f(x):
        first, second = x
        return first - second

    assert f(tf.constant([[5.0, 6.0], [1.0, 2.0]])).numpy().tolist() == [4.0, 4.0]
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.zeros([3, 2]))
