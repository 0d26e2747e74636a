"""Converted code does what Python does, with the same effects in the same order.

PYTEST_DONT_REWRITE: the programs are compared with what Python makes of them.
"""

from __future__ import annotations

import contextlib
import functools
import itertools

import pytest

import holdfast as tf  # noqa: F401 (sets the package up)
from holdfast import autograph

LOG: list[object] = []
COUNT = 0
SCALE = 3


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
    say("never")  # noqa: B018


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
    for i in range(n):  # noqa: B007
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
    range = reversed  # noqa: A001
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


# Expressions.


def conditional(x):
    return "yes" if x > 3 else say("no")


def booleans(x):
    a = say(x > 1) and say(x > 2) and say("both")
    b = say(x > 3) or say("") or say("last")
    c = not (a and b)
    return a, b, c, not x, x and 0, x or "zero"


def chained(x):
    def middle():
        return say(x)

    return 1 < middle() <= 4, 0 < x < 5 < 6, x == x == 3, 1 < x in (2, 3)


def walrus(x):
    if (y := x * 2) > 6 and (z := y) > 0:
        return y, z
    return (w := y) + 1, w, [last := i for i in range(x + 1)], last


def comprehensions(n):
    a = [i * j for i in range(n) if i % 2 for j in range(i)]
    b = {i: [k for k in range(i)] for i in range(n)}
    c = {i % 3 for i in range(n)}
    d = sum(i if i > 2 else -i for i in range(n))
    e = [(lambda: i)() for i in range(n)]
    f = [f() for f in [lambda i=i: i for i in range(n)]]
    return a, b, sorted(c), d, e, f


def strings(x):
    return f"{x:>{x + 1}} {x!r} {x if x else 'none'} {x=}"


def starred(x):
    def take(*args, key=0, **rest):
        return args, key, rest

    parts = [x, x + 1]
    extra = {"key": 5, "other": x}
    first, *others = [*parts, 9]
    return take(*parts, 7, **extra), take(x, key=1), [*parts, *parts], {**extra, "x": 1}, first, others


def slices(x):
    values = list(range(10))
    values[1:3] = [x]
    del values[0]
    grid = {(0, 1): x}
    return values[x : x + 2], values[::-1][:3], values[-1], grid[0, 1]


def augmented(x):
    values = [1]
    alias = values
    values += [x]
    values *= 2
    n = x
    n -= 1
    n **= 2
    n |= 8
    table = {"n": 1}
    table["n"] += x
    seen = {1}
    other = seen
    seen |= {x}
    return values, alias is values, n, table, seen is other, sorted(seen)


def membership(x):
    return x in [1, 2, 3], x not in {1, 2}, "k" in {"k": x}, x is None, x is not None


def asserts(x):
    try:
        assert x < 4, say(f"{x} is too large")
        assert x != 2
    except AssertionError as error:
        return error.args
    return "fine"


def order(x):
    table = {}

    def key():
        say("key")
        return "k"

    def holder():
        say("holder")
        return table

    holder()[key()] = say(x)
    holder()[key()] += say(1)
    return table


def matches(x):
    out = []
    for value in (x, (x, 1), {"a": x}, [1, 2, x], "text", None):
        match value:
            case 3:
                out.append("three")
            case (a, 1) if a > 2:
                out.append(("pair", a))
            case {"a": inner, **rest}:
                out.append((inner, rest))
            case [first, *_]:
                out.append(first)
                continue
            case str() as text:
                if x > 4:
                    return text
            case _:
                break
    return out


# Functions.


def recursion(n):
    if n < 2:
        return n
    return recursion(n - 1) + recursion(n - 2)


def closures(n):
    total = 0

    def add(k):
        nonlocal total
        if k > 1:
            total += k
        return total

    for i in range(n):
        add(i)
    return total, [add(0) for _ in range(2)]


def inner_recursion(n):
    def fact(k):
        return 1 if k < 2 else k * fact(k - 1)

    return fact(n)


def lambdas(n):
    double = lambda x: x * 2 if x > 2 else 0  # noqa: E731
    return [double(i) for i in range(n)], (lambda a, *b, c=n: (a, b, c))(1, 2)


def sets_globals(n):
    global COUNT
    COUNT = n
    if n > 3:
        COUNT += 1
        global SCALE
    old, SCALE = SCALE, SCALE + 0
    return COUNT, old


def decorated(n):
    def twice(f):
        @functools.wraps(f)
        def run(*args):
            return f(f(*args))

        return run

    @twice
    @functools.lru_cache
    def add(x):
        if x > 3:
            return x + 10
        return x + 1

    return add(n), add.__name__


def generator(n):
    def produce():
        for i in range(n):
            if i == 3:
                return
            got = yield i
            if got:
                yield "got"

    return list(produce())


def annotated(n: int) -> list[int]:
    values: list[int] = []
    count: int
    if n > 3:
        small: bool = False
    else:
        small = True
    values.append(n)
    return [values, small]


def imports(n):
    if n > 3:
        import math as m
    else:
        from math import floor as m
    return m.__name__


def defines_classes(n):
    class Base:
        factor = n

        def value(self):
            if self.factor > 3:
                return self.factor
            return -self.factor

    class Derived(Base):
        def value(self):
            return super().value() * 2

    return Derived().value(), Derived.__qualname__, Derived.value.__qualname__


def default_arguments(n):
    def f(a, b=n, *, c=n * 2):
        return a, b, c

    return f(1), f(1, 2, c=3), f.__defaults__, f.__kwdefaults__


def shares_names(if_=1, ag=2):
    if if_:
        ag = 3
    return if_, ag


class Counter:
    kind = "counter"
    __slots__ = ("__private", "count")

    def __init__(self, start):
        self.count = start
        self.__private = start

    def step(self, n):
        if n > 3:
            self.count += n
        else:
            self.__private = -n
        for _ in range(2):
            self.__hidden(1)
        return self.count, self.__private

    def __hidden(self, by):
        self.count += by

    @property
    def double(self):
        if self.count > 3:
            return self.count * 2
        return 0

    @double.setter
    def double(self, value):
        self.count = value // 2

    @classmethod
    def made(cls, n):
        return cls(n).step(n)

    @staticmethod
    def static(n):
        return "big" if n > 3 else "small"


class Louder(Counter):
    def step(self, n):
        if n > 2:
            return super().step(n), "louder"
        result = super().step(n)
        return result

    def through_lambda(self, n):
        up = super()
        return [up.step(i) for i in range(n)]


def methods(n):
    counter, louder = Counter(n), Louder(n)
    counter.double = 8
    counter.double += 2
    return (
        counter.step(n),
        louder.step(n),
        louder.through_lambda(n),
        counter.double,
        Counter.made(n),
        Counter.static(n),
        counter.kind,
    )


PROGRAMS = [
    value
    for value in list(globals().values())
    if getattr(value, "__module__", "") == __name__
    and type(value) is type(absolute)
    and value not in (say, block)
]


def outcome(function, argument):
    """What a call gives or raises, and what it said meanwhile."""
    global COUNT, SCALE
    LOG.clear()
    COUNT, SCALE = 0, 3
    try:
        result = function(argument)
    except Exception as error:
        result = type(error), error.args
    return result, list(LOG), COUNT, SCALE


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_converted_code_does_what_python_does(program):
    converted = autograph.convert(program)
    assert converted is not program
    for argument in range(10):
        got, wanted = outcome(converted, argument), outcome(program, argument)
        assert got == wanted, (argument, got, wanted)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_it_does_so_while_something_is_traced(program):
    """Then everything is noted, and what is called is converted too."""
    from holdfast import _places

    converted = autograph.convert(program)
    for argument in range(7):
        expected = outcome(program, argument)
        with _places.Recorder():
            got = outcome(converted, argument)
        assert got == expected, (argument, got, expected)


def test_programs_were_found():
    assert len(PROGRAMS) > 55
