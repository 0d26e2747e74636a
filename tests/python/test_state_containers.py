"""Containers that lose, move and replace what they hold, as plain code leaves them.

Each program makes a function, and another one that looks at the state it changes.
"""

import collections

import pytest
from state_programs import A, Programs, history

import holdfast as tf

prog = Programs()


@prog
def obj_update_later():
    class R:
        def __init__(self):
            self.v = tf.constant(0.0)

    a = A()
    a.r = R()

    def f(x):
        r = a.r
        r.v = r.v + x
        a.r = R() if False else r
        return r.v

    return f, lambda: a.r.v


@prog
def obj_replace_state():
    class R:
        def __init__(self, v):
            self.v = v

    a = A()
    a.r = R(tf.constant(0.0))

    def f(x):
        a.r = R(a.r.v + x)
        return a.r.v

    return f, lambda: a.r.v


@prog
def exception_in_mid():
    a = A()

    def f(x):
        a.items.append(x)
        try:
            a.items.append(x * 2)
            [][1]
        except IndexError:
            a.items.pop()
        return x

    return f, lambda: a.items


@prog
def list_comp_store():
    d = {}

    def f(x):
        [d.__setitem__(i, x * i) for i in range(3)]
        return x

    return f, lambda: d


@prog
def any_all():
    l = []

    def f(x):
        ok = all([x > 0, x < 100])
        l.append(ok)
        return x if ok else -x

    return f, lambda: [bool(v) for v in l]


@prog
def built_flag():
    class M(tf.Module):
        def __init__(self):
            super().__init__()
            self.built = False
            self.h = []
            self.names = []
            self.vars = []

        def __call__(self, x):
            if not self.built:
                self.v = tf.Variable(2.0)
                self.built = True
            if len(self.vars) < 1:
                self.vars.append(tf.Variable(1.0))
                self.names.append("v%d" % len(self.vars))
            self.h.append(x * self.v)
            self.last = x
            return x * self.v * len(self.vars)

    m = M()
    return m.__call__, lambda: (m.h, m.last, m.built)


@prog
def setattr_user():
    class C:
        def __setattr__(self, n, v):
            object.__setattr__(self, n, v)
            self.__dict__.setdefault("log", []).append((n, v))

    c = C()

    def f(x):
        c.a = x
        c.b = x * 2
        return c.a

    return f, lambda: (c.a, c.b, c.log)


@prog
def getattr_user():
    class C:
        def __init__(self):
            self._d = {"k": tf.constant(2.0)}

        def __getattr__(self, n):
            if n.startswith("_"):
                raise AttributeError(n)
            return self._d[n]

    c = C()

    def f(x):
        c._d["k"] = c.k * x
        return c.k

    return f, lambda: c._d


@prog
def insert_front():
    l = []

    def f(x):
        l.insert(0, x)
        l[:] = l[:3]
        return tf.add_n(l)

    return f, lambda: l


@prog
def two_lists():
    a = A()
    a.p = [tf.constant(1.0)]
    a.q = []

    def f(x):
        a.q.append(a.p.pop())
        a.p.append(a.q[-1] + x)
        return a.q[0]

    return f, lambda: (a.p, a.q)


@prog
def stack_machine():
    st = []

    def push(v):
        st.append(v)

    def binop():
        b = st.pop()
        a = st.pop()
        st.append(a - b)

    def f(x):
        push(x)
        push(x * 3)
        binop()
        push(x)
        binop()
        return st.pop()

    return f, lambda: st


@prog
def prio():
    d = {}

    def f(x):
        for k in ("b", "a"):
            d.pop(k, None)
            d[k] = x
        return x

    return f, lambda: list(d.items())


@prog
def ordered_move():
    d = collections.OrderedDict()

    def f(x):
        d["k%d" % (len(d) % 3)] = x
        d.move_to_end("k0")
        return x

    return f, lambda: list(d.items())


@prog
def lru_manual():
    d = collections.OrderedDict()

    def f(x):
        d[len(d)] = x
        while len(d) > 2:
            d.popitem(last=False)
        return sum(d.values())

    return f, lambda: list(d.items())


@prog
def edict():
    class E(dict):
        __getattr__ = dict.__getitem__
        __setattr__ = dict.__setitem__

    c = E(total=tf.constant(0.0), n=tf.constant(1.0))

    def f(x):
        c.total = c.total + x * c.n
        c.n = c.n + 1
        return c.total

    return f, lambda: dict(c)


@prog
def edict2():
    class E(dict):
        def __getattr__(self, k):
            try:
                return self[k]
            except KeyError as e:
                raise AttributeError(k) from e

        def __setattr__(self, k, v):
            self[k] = v

    c = E(total=tf.constant(0.0))

    def f(x):
        c.total = c.total + x
        if not hasattr(c, "first"):
            c.first = x
        return c.total + c.first

    return f, lambda: dict(c)


@prog
def neg_index():
    l = [tf.constant(1.0)]

    def f(x):
        l.append(l[-1] + x)
        return l[-1] + l[-2]

    return f, lambda: l


@prog
def fib():
    l = [tf.constant(1.0), tf.constant(1.0)]

    def f(x):
        l.append(l[-1] + l[-2])
        return l[-1] * x

    return f, lambda: l


@pytest.mark.parametrize("make", prog, ids=lambda make: make.__name__)
def test_a_traced_function_leaves_what_the_plain_one_leaves(make):
    assert history(make, tf.function) == history(make, lambda function: function)
