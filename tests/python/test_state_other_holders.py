"""Holders of many kinds: a traced function leaves in them what the plain one leaves.

Each program makes a function, and another one that looks at the state it changes.
"""

import collections
import copy
import dataclasses
import types

import numpy as np
import pytest
from state_programs import A, Programs, history

import holdfast as tf

prog = Programs()


@prog
def module_attr():
    m = types.ModuleType("mm")

    def f(x):
        m.v = x * 2
        return x

    return f, lambda: m.v


@prog
def default_list():
    def note(x, seen=[], *, by={}):  # noqa: B006 (that it lasts is the point)
        seen.append(x)
        by["last"] = x * 2
        return seen

    def f(x):
        return tf.add_n(note(x))

    return f, lambda: (note.__defaults__, note.__kwdefaults__)


@prog
def default_read():
    def scaled(x, by=[1.0]):  # noqa: B006
        by[0] += 1.0
        return x * by[0]

    return lambda x: scaled(x), lambda: scaled.__defaults__


@prog
def list_plus():
    a = A()

    def f(x):
        a.items = a.items + [x]
        return x

    return f, lambda: a.items


@prog
def list_sort():
    a = A()

    def f(x):
        a.items.append(x)
        a.items.reverse()
        return x

    return f, lambda: a.items


@prog
def list_mul():
    a = A()

    def f(x):
        a.items = [x] * 3
        a.items[1] = x * 2
        return x

    return f, lambda: a.items


@prog
def nested_fn_class():
    out = []

    def f(x):
        class Tmp:
            def __init__(self, v):
                self.v = v

        t = Tmp(x * 2)
        out.append(t)
        return t.v

    return f, lambda: [t.v for t in out]


@prog
def dc_append():
    @dataclasses.dataclass
    class R:
        a: object
        b: object

    out = []

    def f(x):
        out.append(R(x, x * 2))
        return x

    return f, lambda: [(r.a, r.b) for r in out]


@prog
def obj_stored():
    class R:
        def __init__(self, a):
            self.a = a

    h = A()

    def f(x):
        h.x = R(x * 2)
        h.x.b = x
        return x

    return f, lambda: (h.x.a, h.x.b)


@prog
def dc_replace():
    @dataclasses.dataclass(frozen=True)
    class R:
        a: object
        n: int = 0

    h = A()
    h.r = R(tf.constant(0.0))

    def f(x):
        h.r = dataclasses.replace(h.r, a=h.r.a + x)
        return h.r.a

    return f, lambda: h.r.a


@prog
def nt_replace():
    N = collections.namedtuple("N", "a b")
    h = A()
    h.n = N(tf.constant(0.0), 1)

    def f(x):
        h.n = h.n._replace(a=h.n.a + x)
        return h.n.a

    return f, lambda: h.n


@prog
def copy_mod():
    h = A()
    h.items = [tf.constant(1.0)]

    def f(x):
        c = copy.copy(h.items)
        c.append(x)
        h.x = c
        e = copy.deepcopy({"a": 1})
        e["b"] = x
        h.d = e
        return x

    return f, lambda: (h.items, h.x, h.d)


@prog
def lambda_body():
    a = A()
    f = lambda x: (a.items.append(x), a.d.__setitem__("k", x * 2), x)[-1]
    return f, lambda: (a.items, a.d)


@prog
def getattr_setattr_dyn():
    a = A()
    names = ["p", "q"]

    def f(x):
        for i, n in enumerate(names):
            setattr(a, n, x * (i + 1))
        return sum(getattr(a, n) for n in names)

    return f, lambda: (a.p, a.q)


@prog
def dict_items_loop():
    d = {"a": tf.constant(1.0), "b": tf.constant(2.0)}

    def f(x):
        for k, v in d.items():
            d[k] = v + x
        return sum(d.values())

    return f, lambda: d


@prog
def enumerate_assign():
    l = [tf.constant(1.0), tf.constant(2.0)]

    def f(x):
        for i, v in enumerate(l):
            l[i] = v * x
        l[:] = [v + 1 for v in l]
        return l[0]

    return f, lambda: l


@prog
def var_list():
    vs = [tf.Variable(1.0), tf.Variable(2.0)]

    def f(x):
        for v in vs:
            v.assign_add(x)
        return [v.read_value() for v in vs][0]

    return f, lambda: [float(v) for v in vs]


@prog
def tuple_state():
    a = A()
    a.s = (tf.constant(0.0), tf.constant(1.0))

    def f(x):
        h, c = a.s
        a.s = (c + x, h * x)
        return a.s[0]

    return f, lambda: a.s


@prog
def async_like_gen_send():
    l = []

    def co():
        while True:
            v = yield
            l.append(v)

    def f(x):
        g = co()
        next(g)
        g.send(x)
        g.send(x * 2)
        return x

    return f, lambda: l


@prog
def yield_from():
    l = []

    def inner(t):
        yield t
        l.append(t * 5)
        yield t * 2

    def outer(t):
        yield from inner(t)

    def f(x):
        return sum(outer(x))

    return f, lambda: l


@prog
def class_gen():
    class It:
        def __init__(self, t):
            self.t = t
            self.n = 0

        def __iter__(self):
            return self

        def __next__(self):
            if self.n >= 3:
                raise StopIteration
            self.n += 1
            seen.append(self.t * self.n)
            return self.t * self.n

    seen = []

    def f(x):
        r = x
        for v in It(x):
            r = r + v
        return r

    return f, lambda: seen


@prog
def dict_pop():
    d = {"a": tf.constant(1.0)}

    def f(x):
        old = d.pop("a")
        d["a"] = old + x
        k, v = d.popitem()
        d[k] = v * 2
        return d["a"]

    return f, lambda: d


@prog
def list_pop_stack():
    st = [tf.constant(1.0)]

    def f(x):
        t = st.pop()
        st.append(t + x)
        return t

    return f, lambda: st


@prog
def queue_like():
    q = [tf.constant(1.0), tf.constant(2.0)]

    def f(x):
        t = q.pop(0)
        q.append(x)
        return t

    return f, lambda: q


@prog
def np_arr_obj():
    arr = np.empty(2, dtype=object)

    def f(x):
        arr[0] = x * 2
        return x

    return f, lambda: list(arr)


@pytest.mark.parametrize("make", prog, ids=lambda make: make.__name__)
def test_a_traced_function_leaves_what_the_plain_one_leaves(make):
    assert history(make, tf.function) == history(make, lambda function: function)
