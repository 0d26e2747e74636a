"""Converted expressions and functions do what Python does.

PYTEST_DONT_REWRITE: the programs are compared with what Python makes of them.
"""

from __future__ import annotations

import functools

import pytest
from test_autograph_plain import programs, same, same_while_traced, say

COUNT = 0
SCALE = 3


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
    taken = take(*parts, 7, **extra), take(x, key=1)
    return taken, [*parts, *parts], {**extra, "x": 1}, first, others


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
    double = lambda x: x * 2 if x > 2 else 0
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


PROGRAMS = programs(globals())


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_converted_functions_do_what_python_does(program):
    same(program)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_they_do_so_while_something_is_traced(program):
    same_while_traced(program)


def test_programs_were_found():
    assert len(PROGRAMS) > 25
