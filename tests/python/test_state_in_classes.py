"""The user's own classes: traced code does in them what plain code does.

Each program makes a function, and another one that looks at the state it changes.
"""

import contextlib
import copy
import dataclasses
import functools
import typing

import pytest
from state_programs import A, Programs, history, plain

import holdfast as tf

prog = Programs()


@prog
def bool_dunder():
    class Flag:
        def __init__(self):
            self.n = 0

        def __bool__(self):
            self.n += 1
            return self.n % 2 == 0

    fl = Flag()

    def f(x):
        return x if fl else -x

    return f, lambda: fl.n


@prog
def class_registry():
    class Reg:
        items = []

        def __init__(self, v):
            self.v = v
            Reg.items.append(self)

    def f(x):
        Reg(x)
        Reg(x * 2)
        return x

    return f, lambda: [r.v for r in Reg.items]


@prog
def inherit_init():
    class B0:
        def __init__(self, v):
            self.base = v
            seen.append(v)

    class D0(B0):
        def __init__(self, v):
            super().__init__(v * 2)
            self.own = v

    seen = []
    h = A()

    def f(x):
        h.o = D0(x)
        return h.o.base

    return f, lambda: (h.o.base, h.o.own, seen)


@prog
def str_key_fmt():
    d = {}

    def f(x):
        for i in range(2):
            d[f"layer_{i}/out"] = x * i
        return x

    return f, lambda: d


@prog
def try_except_tensor():
    a = A()

    def f(x):
        try:
            a.y = a.missing
        except AttributeError:
            a.y = x
        return a.y

    return f, lambda: a.y


@prog
def multiple_ret():
    a = A()

    def f(x):
        if x > 2:
            a.x = x
            return x
        if x > 1:
            a.items.append(x)
            return x * 2
        a.d["s"] = x
        return x * 3

    return f, lambda: (a.x, a.items, a.d)


@prog
def loop_break_state():
    a = A()
    a.c = tf.constant(0)

    def f(x):
        for i in tf.range(10):
            a.c = a.c + 1
            if tf.cast(i, tf.float32) > x:
                break
            if i % 2 == 0:
                continue
            a.items.append(i)
        return x

    return f, lambda: (a.c, a.items)


@prog
def nested_loops():
    a = A()
    a.t = tf.constant(0.0)

    def f(x):
        for i in tf.range(3):
            for j in tf.range(i + 1):
                a.t = a.t + x
            a.last = i
        return a.t

    return f, lambda: (a.t, a.last)


@prog
def typed_nt():
    class St(typing.NamedTuple):
        h: object
        n: int = 0

    a = A()
    a.s = St(tf.constant(0.0))

    def f(x):
        a.s = St(a.s.h + x, a.s.n)
        return a.s.h

    return f, lambda: a.s


@prog
def lambda_state():
    st = [tf.constant(0.0)]
    upd = lambda x: st.__setitem__(0, st[0] + x)

    def f(x):
        upd(x)
        upd(x)
        return st[0]

    return f, lambda: st


@prog
def partialmethod_():
    class C:
        def __init__(self):
            self.d = {}

        def put(self, k, v):
            self.d[k] = v

        put_a = functools.partialmethod(put, "a")

    c = C()

    def f(x):
        c.put_a(x * 2)
        return x

    return f, lambda: c.d


@prog
def singledispatch_():
    l = []

    @functools.singledispatch
    def h(v):
        l.append(("o", v))

    @h.register
    def _(v: int):
        l.append(("i", v))

    def f(x):
        h(3)
        h(x)
        return x

    return f, lambda: [b for a, b in l if a == "o"]


@prog
def suppress_():
    a = A()

    def f(x):
        with contextlib.suppress(KeyError):
            a.x = x
            a.d["nope"]
            a.y = x
        return x

    return f, lambda: (a.x, hasattr(a, "y"))


@prog
def ctx_decorator():
    a = A()

    class T(contextlib.ContextDecorator):
        def __enter__(self):
            a.items.append("in")
            return self

        def __exit__(self, *e):
            a.x = a.last

    @T()
    def g(t):
        a.last = t * 2
        return t

    def f(x):
        return g(x)

    return f, lambda: a.x


@prog
def closing_():
    class R:
        def __init__(self, t):
            self.t = t

        def close(self):
            log.append(self.t)

    log = []

    def f(x):
        with contextlib.closing(R(x * 2)) as r:
            y = r.t
        return y

    return f, lambda: log


@prog
def sorted_key():
    l = []

    class O:
        def __init__(self, k, v):
            self.k, self.v = (k, v)

    def key(o):
        l.append(o.v)
        return o.k

    def f(x):
        os = sorted([O(2, x), O(1, x * 2)], key=key)
        return os[0].v

    return f, lambda: l


@prog
def reduce_user():
    l = []

    def add(a, b):
        l.append(a)
        return a + b

    def f(x):
        return functools.reduce(add, [x, x, x])

    return f, lambda: l


@prog
def iter_sentinel():
    l = []
    vals = [1, 2, 0]

    def f(x):
        it = iter([x, x * 2])
        l.append(next(it))
        l.append(next(it, None))
        l.append(next(it, x * 9))
        return x

    return f, lambda: l


@prog
def dict_views():
    d = {"a": tf.constant(1.0)}

    def f(x):
        for k in d:
            d[k] = d[k] + x
        r = sum(v for v in d.values())
        (a,) = d.values()
        return r + a

    return f, lambda: d


@prog
def copy_obj():
    class C:
        def __init__(self):
            self.v = tf.constant(1.0)
            self.items = []

    c = C()
    out = A()

    def f(x):
        k = copy.copy(c)
        k.v = k.v + x
        out.x = k
        return k.v

    return f, lambda: (out.x.v, c.v)


@prog
def obj_in_dict():
    class R:
        def __init__(self, v):
            self.v = v

    d = {}

    def f(x):
        d[len(d)] = R(x)
        d.setdefault("k", R(x * 2))
        return x

    return f, lambda: [r.v for r in d.values()]


@pytest.mark.parametrize("make", prog, ids=lambda make: make.__name__)
def test_a_traced_function_leaves_what_the_plain_one_leaves(make):
    assert history(make, tf.function) == history(make, lambda function: function)


@dataclasses.dataclass(frozen=True)
class Frozen:
    h: tf.Tensor
    c: tf.Tensor
    mode: str = "add"


def test_a_frozen_state_that_is_replaced_needs_one_trace():
    class Cell:
        def __init__(self):
            self.state = Frozen(tf.constant(1.0), tf.constant(2.0))

        def step(self, x):
            old = self.state
            h = old.h * 2 + x if old.mode == "add" else old.h - x
            self.state = dataclasses.replace(old, h=h, c=old.c + old.h)
            return h + old.c

    one, other = Cell(), Cell()
    traced = tf.function(other.step)
    for number in (1.0, 2.0, 3.0, 4.0):
        x = tf.constant(number)
        assert float(one.step(x)) == float(traced(x))
        assert plain(one.state) == plain(other.state)
    assert traced.experimental_get_tracing_count() == 1
    for cell in (one, other):
        cell.state = Frozen(tf.constant(7.0), tf.constant(0.0), "subtract")
    assert float(one.step(x)) == float(traced(x)) == 3.0
    assert traced.experimental_get_tracing_count() == 2
