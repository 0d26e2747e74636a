"""Ways to store a tensor: a traced function leaves what the plain one leaves.

Each program makes a function, and another one that looks at the state it changes.
"""

import collections
import contextlib
import dataclasses
import functools
import itertools
import operator

import pytest
from state_programs import A, Programs, history

import holdfast as tf

prog = Programs()


@prog
def cm_gen():
    a = A()

    @contextlib.contextmanager
    def ctx(t):
        a.x = t * 2
        a.items.append(t)
        yield t * 3
        a.d["end"] = t * 4

    def f(x):
        with ctx(x) as y:
            r = y + 1
        return r

    return f, lambda: (a.x, a.items, a.d)


@prog
def cm_gen_class():
    class M:
        def __init__(self):
            self.stack = []
            self.last = None

        @contextlib.contextmanager
        def scope(self, t):
            self.stack.append(t)
            try:
                yield
            finally:
                self.last = self.stack.pop()

    m = M()

    def f(x):
        with m.scope(x * 2):
            y = x + m.stack[-1]
        return y

    return f, lambda: (m.stack, m.last)


@prog
def gen_fn():
    l = []

    def g(t):
        for i in range(3):
            l.append(t * i)
            yield t + i

    def f(x):
        s = x
        for v in g(x):
            s = s + v
        return s

    return f, lambda: l


@prog
def gen_expr():
    l = []

    def f(x):
        return sum(l.append(x * i) or x * i for i in range(3))

    return f, lambda: l


@prog
def dunder_dict():
    a = A()

    def f(x):
        a.__dict__["x"] = x * 2
        return a.x

    return f, lambda: a.x


@prog
def vars_():
    a = A()

    def f(x):
        vars(a)["x"] = x * 2
        return x

    return f, lambda: a.x


@prog
def globals_():
    def f(x):
        globals()["GG"] = x * 2
        return x

    return f, lambda: globals().get("GG")


@prog
def setattr_fn():
    a = A()

    def f(x):
        a.x = x * 2
        setattr(a, "n" + "m", x)
        return a.x

    return f, lambda: (a.x, a.nm)


@prog
def object_setattr():
    a = A()

    def f(x):
        object.__setattr__(a, "x", x * 2)
        return x

    return f, lambda: a.x


@prog
def frozen_dc():
    @dataclasses.dataclass(frozen=True)
    class D:
        v: object = None

    d = D()

    def f(x):
        object.__setattr__(d, "v", x * 2)
        return x

    return f, lambda: d.v


@prog
def super_setattr():
    class B(A):
        def __setattr__(self, n, v):
            super().__setattr__(n, v)

    b = B()

    def f(x):
        b.x = x * 2
        return x

    return f, lambda: b.x


@prog
def op_setitem():
    d = {}
    l = [None]

    def f(x):
        operator.setitem(d, "a", x * 2)
        operator.setitem(l, 0, x * 3)
        return x

    return f, lambda: (d, l)


@prog
def list_dunder():
    l = [None, None]
    d = {}

    def f(x):
        l.__setitem__(0, x * 2)
        list.__setitem__(l, 1, x * 3)
        d.__setitem__("a", x)
        dict.__setitem__(d, "b", x * 4)
        list.append(l, x)
        return x

    return f, lambda: (l, d)


@prog
def dict_update_kinds():
    d = {}
    e = {}

    def f(x):
        d.update([("a", x), ("b", x * 2)])
        d.update(zip("cd", [x * 3, x * 4]))
        nonlocal e
        e |= {"z": x}
        return x

    return f, lambda: (d, e)


@prog
def deque_kinds():
    q = collections.deque(maxlen=3)

    def f(x):
        q.appendleft(x)
        q.append(x * 2)
        q.extend([x * 3])
        q.rotate(1)
        return q[0]

    return f, lambda: list(q)


@prog
def dd():
    d = collections.defaultdict(list)
    e = collections.defaultdict(lambda: tf.constant(0.0))

    def f(x):
        d["k"].append(x)
        d["j"].append(x * 2)
        e["t"] += x
        return e["t"]

    return f, lambda: (dict(d), dict(e))


@prog
def nonlocal_nested():
    n = tf.constant(0.0)
    c = []

    def f(x):
        def g(t):
            nonlocal n

            def h(u):
                nonlocal n
                n = n + u
                c.append(n)

            h(t)
            h(t * 2)

        g(x)
        return n

    return f, lambda: (n, c)


@prog
def classattr():
    class C:
        last = None
        hist = []

        @classmethod
        def rec(cls, t):
            cls.last = t
            cls.hist.append(t)

        @staticmethod
        def srec(t):
            C.s = t

    def f(x):
        C.rec(x * 2)
        C.srec(x * 3)
        type(C()).q = x
        return x

    return f, lambda: (C.last, C.hist, C.s, C.q)


@prog
def iters():
    l = []
    d = {}

    def f(x):
        for i, j in itertools.product(range(2), range(2)):
            l.append(x * (i + j))
        for k, v in zip(itertools.count(), [x, x * 2]):
            d[k] = v
        for a, b in itertools.combinations([x, x * 2, x * 3], 2):
            l.append(a * b)
        for v in itertools.islice(itertools.cycle([x, x + 1]), 3):
            l.append(v)
        for v in itertools.accumulate([x, x, x]):
            l.append(v)
        for v in map(lambda t: t * 2, [x, x]):
            l.append(v)
        for v in filter(None, [1, 2]):
            l.append(x * v)
        for v in reversed([x, x * 2]):
            l.append(v)
        for k, g in itertools.groupby([1, 1, 2]):
            d["g", k] = x * len(list(g))
        return functools.reduce(operator.add, [x, x, x])

    return f, lambda: (l, {str(k): v for k, v in d.items()})


@prog
def walrus():
    l = []

    def f(x):
        if (y := (x * 2)) > 3:
            l.append(y)
        z = [(w := (x * i)) for i in range(3)]
        while (n := len(z)) < 5:
            z.append(x)
        return y + w + n

    return f, lambda: l


@prog
def walrus_py():
    l = []
    d = {}

    def f(x):
        d["a"] = (y := (x * 2))
        l.append(z := (y + 1))
        return y + z

    return f, lambda: (l, d)


@prog
def map_append():
    l = []

    def f(x):
        list(map(l.append, [x, x * 2]))
        return x

    return f, lambda: l


@prog
def partial_append():
    l = []
    add = functools.partial(l.append)
    put = l.append

    def f(x):
        add(x)
        put(x * 2)
        return x

    return f, lambda: l


@prog
def decorator_cache():
    def memo(fn):
        fn.calls = []

        @functools.wraps(fn)
        def w(*a):
            r = fn(*a)
            fn.calls.append(r)
            w.last = r
            return r

        return w

    @memo
    def g(t):
        return t * 2

    def f(x):
        return g(x) + 1

    return f, lambda: (g.__wrapped__.calls, g.last)


@prog
def func_attr():
    def f(x):
        f2.last = x * 2
        f2.count = getattr(f2, "count", 0) + 1
        return x

    def f2():
        pass

    return f, lambda: (f2.last,)


@pytest.mark.parametrize("make", prog, ids=lambda make: make.__name__)
def test_a_traced_function_leaves_what_the_plain_one_leaves(make):
    assert history(make, tf.function) == history(make, lambda function: function)
