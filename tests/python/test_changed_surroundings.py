"""What a traced function read through Python's own objects: the next call sees it change."""

import contextvars
import dataclasses
import functools
import os
import types

import pytest
from yielding_programs import collected, compared

PROGRAMS = {}
prog = collected(PROGRAMS)
X = 2.0


@prog
def environment(trace):
    os.environ["HOLDFAST_TEST_A"] = "2"

    @trace
    def f(x):
        x = x * float(os.environ["HOLDFAST_TEST_A"]) * float(os.getenv("HOLDFAST_TEST_B", "1"))
        x = x * float(os.environ.get("HOLDFAST_TEST_C", "1"))
        return x * 7.0 if "HOLDFAST_TEST_B" in os.environ else x

    for name in "ABC":
        os.environ[f"HOLDFAST_TEST_{name}"] = "5"
        yield f(X)
    for name in "ABC":
        del os.environ[f"HOLDFAST_TEST_{name}"]
        os.environ.setdefault("HOLDFAST_TEST_A", "3")
        yield f(X)
    del os.environ["HOLDFAST_TEST_A"]


@prog
def context_variable(trace):
    rate = contextvars.ContextVar("rate", default=2.0)
    f = trace(lambda x: x * rate.get())
    yield f(X)
    token = rate.set(5.0)
    yield f(X)
    rate.reset(token)
    yield f(X)


@prog
def partial_call(trace):
    def scaled(values, x, by=1.0):
        return x * values[0] * by

    values = [2.0]
    call = functools.partial(scaled, values, by=3.0)
    f = trace(lambda x: call(x))
    yield f(X)
    values[0] = 5.0
    yield f(X)
    call.keywords["by"] = 7.0
    yield f(X)


@prog
def views_of_a_dict(trace):
    held = {"a": 2.0}
    keys, values, items = held.keys(), held.values(), held.items()
    proxy = types.MappingProxyType(held)

    @trace
    def f(x):
        x = x * sum(values) * len(items) * (3.0 if "b" in keys else 1.0)
        return x + proxy["a"] + len(proxy) + proxy.get("b", 0.0)

    yield f(X)
    held["a"] = 5.0
    yield f(X)
    held["b"] = 7.0
    yield f(X)


@prog
def whether_it_can_be_called(trace):
    class Thing:
        pass

    thing = Thing()
    f = trace(lambda x: x * (2.0 if callable(thing) else 3.0))
    yield f(X)
    Thing.__call__ = lambda self: None
    yield f(X)


@prog
def a_dataclass(trace):
    @dataclasses.dataclass(order=True, unsafe_hash=True)
    class Options:
        rate: float = 2.0
        steps: int = 1

    one, other = Options(), Options()
    known = {Options(): 10.0, Options(5.0): 20.0}

    @trace
    def f(x):
        x = x * 2.0 if one == other else x * 3.0
        x = x * 5.0 if one < other else x * 7.0
        x = x + sum(dataclasses.astuple(one)) + dataclasses.replace(one, steps=3).rate
        return x + len(str(other)) + known.get(one, 30.0)

    yield f(X)
    one.rate = 5.0
    yield f(X)
    other.rate = 10000.0
    yield f(X)
    other.steps = 20
    yield f(X)


@prog
def patterns_of_classes(trace):
    class Point:
        __match_args__ = ("x",)

        def __init__(self, x, inner=None):
            self.x, self.inner = x, inner

    class Other(Point):
        pass

    point = Point(2.0, [Point(3.0)])

    @trace
    def f(x):
        match point:
            case Other(v):
                return x * v * 100.0
            case Point(2.0, inner=[Point(x=v)]):
                return x * v
            case Point(v):
                return x + v

    yield f(X)
    point.inner[0].x = 4.0
    yield f(X)
    point.x = 5.0
    yield f(X)
    point.__class__ = Other
    yield f(X)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_the_next_call_sees_it(program):
    assert compared(program) > 1
