"""Functions that a traced function leaves behind see the tensors of the call that made them."""

import functools

import pytest
from yielding_programs import collected, compared

import holdfast as tf

PROGRAMS = {}
prog = collected(PROGRAMS)


class Holder:
    pass


@prog
def a_lambda_in_an_attribute(trace):
    holder = Holder()

    @trace
    def f(x):
        h = x * 2.0
        holder.get = lambda: h
        return h

    for i in range(3):
        f(tf.constant(i + 1.0))
        yield holder.get()


@prog
def each_keeps_its_own(trace):
    kept = []

    @trace
    def f(x):
        h = x * 2.0
        kept.append(lambda: h)

    for i in range(3):
        f(tf.constant(i + 1.0))
    for get in kept:
        yield get()


@prog
def a_function_that_is_returned(trace):
    @trace
    def f(x):
        h = x * 2.0

        def plus(y, scale=x, *, more=h):
            return h + y * scale + more

        return {"plus": plus, "x": x}

    found = [f(tf.constant(i + 1.0)) for i in range(3)]
    for each in found:
        yield each["plus"](3.0)
        yield each["x"]


@prog
def defaults_alone(trace):
    holder = Holder()

    @trace
    def f(x):
        holder.get = lambda h=x * 2.0: h

    for i in range(3):
        f(tf.constant(i + 1.0))
        yield holder.get()


@prog
def two_that_share_a_name(trace):
    holder = Holder()

    @trace
    def f(x):
        total = x

        def add(y):
            nonlocal total
            total = total + y

        holder.add, holder.get = add, lambda: total

    for i in range(3):
        f(tf.constant(i + 1.0))
        holder.add(10.0)
        yield holder.get()


@prog
def one_that_calls_itself(trace):
    holder = Holder()

    @trace
    def f(x):
        def power(n):
            return x if n == 0 else x * power(n - 1)

        holder.power = power

    for i in range(3):
        f(tf.constant(i + 1.0))
        yield holder.power(2)


@prog
def one_inside_another(trace):
    holder = Holder()

    @trace
    def f(x):
        inner = lambda y: x + y
        holder.all = [lambda: inner(1.0), {"twice": lambda: inner(x)}]

    for i in range(3):
        f(tf.constant(i + 1.0))
        yield holder.all[0]() + holder.all[1]["twice"]()


@prog
def a_partial_call(trace):
    holder = Holder()

    def add(a, b, c=0.0):
        return a + b + c

    @trace
    def f(x):
        holder.get = functools.partial(add, x * 2.0, c=x)
        holder.own = functools.partial(lambda y: x + y, x)

    for i in range(3):
        f(tf.constant(i + 1.0))
        yield holder.get(1.0) + holder.own()


@prog
def a_method_of_an_object_made_there(trace):
    holder = Holder()

    class State:
        def __init__(self, v):
            self.v = v

        def get(self):
            return self.v

    @trace
    def f(x):
        holder.get = State(x * 2.0).get

    for i in range(3):
        f(tf.constant(i + 1.0))
        yield holder.get()


@prog
def around_a_name_from_outside(trace):
    holder, scale = Holder(), 2.0

    @trace
    def f(x):
        holder.get = lambda: x * scale

    for i in range(3):
        f(tf.constant(i + 1.0))
        scale = scale + i
        yield holder.get()


@prog
def under_a_condition(trace):
    holder = Holder()
    holder.get = lambda: tf.constant(-1.0)

    @trace
    def f(x):
        h = x * 2.0
        holder.get = lambda: h + 1.0
        if x > 2.0:
            h = h * 10.0
        return h

    for i in range(4):
        f(tf.constant(i + 1.0))
        yield holder.get()


@prog
def plain_values(trace):
    holder = Holder()
    holder.n = 0

    @trace
    def f(x):
        holder.n += 1
        n = holder.n
        holder.get = lambda: n
        return x

    for i in range(3):
        f(tf.constant(i + 1.0))
        yield holder.get()


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_it_sees_its_own_call(program):
    assert compared(program) > 1


def test_the_same_function_is_made_once_a_call():
    holder = Holder()

    @tf.function
    def f(x):
        get = lambda: x
        holder.one, holder.other = get, [get]
        return get

    for i in range(3):
        given = f(tf.constant(float(i)))
        assert holder.one is holder.other[0] is given
        assert float(given()) == i


def test_a_function_keeps_its_name_and_attributes():
    @tf.function
    def f(x):
        def get() -> float:
            """What it gives."""
            return x

        get.mark = x * 3.0
        return get

    f(tf.constant(1.0))
    get = f(tf.constant(2.0))
    assert get.__name__ == "get" and get.__doc__ == "What it gives."
    assert get.__annotations__ == {"return": float} and float(get.mark) == 6.0
