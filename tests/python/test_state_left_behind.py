"""What a function leaves behind in Python objects is the same whether it is traced or not.

Each program makes a function, and another one that looks at the state it changes. Both are asked
after each of several calls, of the plain function and of the traced one.
"""

import collections
import dataclasses
import functools
import types

import numpy as np
import pytest
from state_programs import Programs, history

import holdfast as tf


@dataclasses.dataclass
class D:
    last: object = None
    hist: list = dataclasses.field(default_factory=list)


class S:
    __slots__ = ("a", "b")


class P:
    def __init__(self):
        self._v = None
        self.n = 0

    @property
    def v(self):
        return self._v

    @v.setter
    def v(self, x):
        self._v = x
        self.n += 1


class A:
    cls = None

    def __init__(self):
        self.total = tf.constant(0.0)
        self.hist = []
        self.d = {}
        self.best = None
        self.sub = types.SimpleNamespace(x=None, l=[])


class AD(dict):
    __getattr__ = dict.__getitem__

    def __setattr__(self, k, v):
        self[k] = v


G = None
GL = []
prog = Programs()


@prog
def dataclass_attr():
    d = D()

    def f(x):
        d.last = x * 2
        d.hist.append(x + 1)
        return x

    return f, lambda: (d.last, d.hist)


@prog
def slots():
    s = S()
    s.a = None

    def f(x):
        s.a = x * 2
        s.b = x * 3

    return f, lambda: (s.a, s.b)


@prog
def prop():
    p = P()

    def f(x):
        p.v = x * 2
        return x

    return f, lambda: (p.v,)


@prog
def aug():
    a = A()

    def f(x):
        a.total = a.total + x
        a.total += 1.0
        return a.total

    return f, lambda: (a.total,)


@prog
def aug_item():
    d = {"t": tf.constant(0.0)}

    def f(x):
        d["t"] += x
        return d["t"]

    return f, lambda: d["t"]


@prog
def defaultdict_append():
    d = collections.defaultdict(list)

    def f(x):
        d["k"].append(x * 2)
        return x

    return f, lambda: dict(d)


@prog
def setdefault_append():
    d = {}

    def f(x):
        d.setdefault("k", []).append(x * 2)
        return x

    return f, lambda: d


@prog
def deque_append():
    q = collections.deque(maxlen=2)

    def f(x):
        q.append(x * 2)
        return x

    return f, lambda: list(q)


@prog
def ordered():
    d = collections.OrderedDict()

    def f(x):
        d["a"] = x
        d["b"] = x * 2

    return f, lambda: dict(d)


@prog
def update():
    d = {}

    def f(x):
        d.update(a=x, b=x * 2)
        d.update({"c": x * 3})

    return f, lambda: d


@prog
def extend():
    l = []

    def f(x):
        l.extend([x, x * 2])
        l.insert(0, x * 3)
        return x

    return f, lambda: l


@prog
def iadd_list():
    a = A()

    def f(x):
        a.hist += [x]
        return x

    return f, lambda: a.hist


@prog
def nested():
    a = A()
    a.d = {"m": {"k": []}}

    def f(x):
        a.d["m"]["k"].append(x)
        a.sub.x = x * 2
        a.sub.l.append(x * 4)
        return x

    return f, lambda: (a.d, a.sub.x, a.sub.l)


@prog
def class_attr():
    class C:
        last = None

    def f(x):
        C.last = x * 2

    return f, lambda: C.last


@prog
def swap():
    a = A()
    a.x = tf.constant(1.0)
    a.y = tf.constant(2.0)

    def f(x):
        a.x, a.y = a.y, a.x + x
        return a.x

    return f, lambda: (a.x, a.y)


@prog
def glob():
    def f(x):
        global G
        G = x * 2
        GL.append(x)
        return x

    GL.clear()
    return f, lambda: (G, list(GL))


@prog
def nonlocal_():
    n = tf.constant(0.0)

    def f(x):
        nonlocal n
        n = n + x
        return n

    return f, lambda: n


@prog
def attrdict():
    d = AD()

    def f(x):
        d.last = x * 2
        d["z"] = x
        return x

    return f, lambda: dict(d)


@prog
def loop_hist():
    l = []

    def f(x):
        for i in range(3):
            l.append(x * i)
        return l[-1]

    return f, lambda: l


@prog
def best_so_far():
    a = A()

    def f(x):
        if a.best is None:
            a.best = x
        else:
            a.best = tf.maximum(a.best, x)
        return a.best

    return f, lambda: a.best


@prog
def cond_store():
    a = A()
    a.best = tf.constant(-1.0)

    def f(x):
        a.best = max(a.best, x)
        return a.best

    return f, lambda: a.best


@prog
def method():
    class M(A):
        def step(self, x):
            self.total = self.total + x
            self._note(x)
            return self.total

        def _note(self, x):
            self.hist.append(x * 10)

    m = M()
    return m.step, lambda: (m.total, m.hist)


@prog
def lambda_store():
    l = []
    rec = lambda t: l.append(t)

    def f(x):
        rec(x * 2)
        return x

    return f, lambda: l


@prog
def partial_store():
    def g(store, x):
        store["v"] = x * 2
        return x

    d = {}
    return functools.partial(g, d), lambda: d


@prog
def callback():
    class Obs:
        def __init__(self):
            self.seen = []

        def __call__(self, t):
            self.seen.append(t)

    o = Obs()

    def f(x):
        o(x * 3)
        return x

    return f, lambda: o.seen


@prog
def tfmodule():
    class M(tf.Module):
        def __init__(self):
            super().__init__()
            self.last = None
            self.acc = {}

        def __call__(self, x):
            self.last = x * 2
            self.acc["a"] = x
            return x

    m = M()
    return m.__call__, lambda: (m.last, m.acc)


@prog
def dict_of_tuple():
    d = {}

    def f(x):
        d["pair"] = (x, [x * 2, {"z": x * 3}])

    return f, lambda: d


@prog
def list_setitem():
    l = [None, None, None]

    def f(x):
        l[0] = x
        l[-1] = x * 2
        l[1:2] = [x * 5]

    return f, lambda: l


@prog
def set_len():
    l = []

    def f(x):
        l.append(x)
        return x * len(l)

    return f, lambda: (l,)


@prog
def pop():
    l = []

    def f(x):
        l.append(x)
        if len(l) > 2:
            l.pop(0)
        return x

    return f, lambda: l


@prog
def clear():
    l = []

    def f(x):
        l.clear()
        l.append(x * 2)
        return x

    return f, lambda: l


@prog
def delete():
    d = {"a": 1}

    def f(x):
        d["b"] = x
        d.pop("a", None)
        return x

    return f, lambda: d


@prog
def try_finally():
    a = A()

    def f(x):
        try:
            a.best = x * 2
        finally:
            a.d["done"] = x * 3
        return x

    return f, lambda: (a.best, a.d)


@prog
def with_store():
    a = A()

    class Ctx:
        def __enter__(self):
            return self

        def __exit__(self, *e):
            a.best = self.v

    def f(x):
        with Ctx() as c:
            c.v = x * 7
        return x

    return f, lambda: a.best


@prog
def comp():
    a = A()

    def f(x):
        a.hist = [x * i for i in range(3)]
        a.d = {k: x for k in "ab"}
        return x

    return f, lambda: (a.hist, a.d)


@prog
def while_py():
    l = []

    def f(x):
        i = 0
        while i < 2:
            l.append(x + i)
            i += 1
        return x

    return f, lambda: l


@prog
def setattr_():
    a = A()

    def f(x):
        a.dyn = x * 2
        return x

    return f, lambda: (a.dyn,)


@prog
def counter():
    c = collections.Counter()

    def f(x):
        c["n"] += 1
        return x * c["n"]

    return f, lambda: c


@prog
def np_state():
    arr = np.zeros(1)

    def f(x):
        return x + arr[0]

    return f, lambda: arr


@prog
def namedt():
    N = collections.namedtuple("N", "a b")
    a = A()

    def f(x):
        a.best = N(x, x * 2)
        return a.best

    return f, lambda: a.best


@prog
def ringbuffer():
    a = A()
    a.buf = [tf.constant(0.0)] * 3

    def f(x):
        a.buf = a.buf[1:] + [x]
        return a.buf[0]

    return f, lambda: a.buf


@prog
def ema():
    a = A()
    a.avg = None

    def f(x):
        a.avg = x if a.avg is None else 0.5 * a.avg + 0.5 * x
        return a.avg

    return f, lambda: a.avg


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", prog, ids=lambda make: make.__name__)
def test_state_is_what_eager_code_leaves(make):
    assert history(make, tf.function) == history(make, lambda function: function)
