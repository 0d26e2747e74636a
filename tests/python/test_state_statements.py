"""Statements of many kinds: a traced function leaves what the plain one leaves.

Each program makes a function, and another one that looks at the state it changes.
"""

import collections
import contextlib
import enum
import functools
import queue
import threading
import weakref

import pytest
from state_programs import A, Programs, history

import holdfast as tf

prog = Programs()


@prog
def q_put():
    q = queue.Queue()

    def f(x):
        q.put(x * 2)
        return x

    return f, lambda: list(q.queue)


@prog
def userdict():
    d = collections.UserDict()
    l = collections.UserList()

    def f(x):
        d["a"] = x * 2
        l.append(x * 3)
        return d["a"]

    return f, lambda: (dict(d), list(l))


@prog
def chainmap():
    m = collections.ChainMap({}, {"b": 1})

    def f(x):
        m["a"] = x * 2
        return x

    return f, lambda: dict(m)


@prog
def getter_setter_item():
    class Box:
        def __init__(self):
            self._d = {}

        def __getitem__(self, k):
            return self._d[k]

        def __setitem__(self, k, v):
            self._d[k] = v

        def __delitem__(self, k):
            del self._d[k]

        def __contains__(self, k):
            return k in self._d

        def __len__(self):
            return len(self._d)

    b = Box()

    def f(x):
        if "a" in b:
            b["b"] = b["a"]
        b["a"] = x * 2
        return x * len(b)

    return f, lambda: b._d


@prog
def listsub():
    class L(list):
        def append(self, v):
            super().append(v)
            self.last = v

    l = L()

    def f(x):
        l.append(x * 2)
        return x

    return f, lambda: (list(l), l.last)


@prog
def del_attr():
    a = A()

    def f(x):
        a.t = x * 2
        a.x = a.t + 1
        del a.t
        a.d["p"] = x
        del a.d["p"]
        a.d["q"] = x
        return a.x

    return f, lambda: (a.x, hasattr(a, "t"), a.d)


@prog
def slice_assign():
    l = [None] * 4

    def f(x):
        l[1:3] = [x, x * 2]
        l[::3] = [x * 5, x * 6]
        return l[1]

    return f, lambda: l


@prog
def star_unpack():
    a = A()

    def f(x):
        a.first, *a.rest = [x, x * 2, x * 3]
        (a.p, a.q), a.d["r"] = ((x, x * 2), x * 3)
        for a.i in [x, x * 7]:
            pass
        return x

    return f, lambda: (a.first, a.rest, a.p, a.q, a.d, a.i)


@prog
def with_as_attr():
    a = A()

    @contextlib.contextmanager
    def c(t):
        yield t

    def f(x):
        with c(x * 2) as a.x:
            pass
        return x

    return f, lambda: a.x


@prog
def exitstack():
    l = []

    def f(x):
        with contextlib.ExitStack() as st:
            st.callback(l.append, x * 2)
            st.callback(lambda: l.append(x * 3))
        return x

    return f, lambda: l


@prog
def metaclass():
    class M(type):
        def __setattr__(c, n, v):
            super().__setattr__(n, v)

    class C(metaclass=M):
        v = None

    def f(x):
        C.v = x * 2
        return x

    return f, lambda: C.v


@prog
def descriptor():
    class Desc:
        def __set_name__(self, o, n):
            self.n = "_" + n

        def __get__(self, o, t=None):
            return getattr(o, self.n, None)

        def __set__(self, o, v):
            setattr(o, self.n, v)
            o.log.append(v)

    class C:
        v = Desc()

        def __init__(self):
            self.log = []

    c = C()

    def f(x):
        c.v = x * 2
        return c.v

    return f, lambda: (c.v, c.log)


@prog
def cached_prop():
    class C:
        def __init__(self):
            self.t = tf.constant(3.0)

        @functools.cached_property
        def cp(self):
            return self.t * 2

    c = C()

    def f(x):
        return x * c.cp

    return f, lambda: c.cp


@prog
def exc_flow():
    l = []

    def f(x):
        try:
            l.append(x)
            raise KeyError("k")
        except KeyError:
            l.append(x * 2)
        else:
            l.append(x * 3)
        finally:
            l.append(x * 4)
        return x

    return f, lambda: l


@prog
def match_stmt():
    l = []

    def f(x):
        for c in [1, (2, 3), {"k": x}]:
            match c:
                case 1:
                    l.append(x)
                case [a, b]:
                    l.append(x * b)
                case {"k": v}:
                    l.append(v * 9)
        return x

    return f, lambda: l


@prog
def lambda_default():
    l = []

    def f(x):
        fs = [lambda t=i: l.append(x * t) for i in range(3)]
        for g in fs:
            g()
        return x

    return f, lambda: l


@prog
def enum_state():
    class Mode(enum.Enum):
        T = 1
        E = 2

    a = A()
    a.mode = Mode.T

    def f(x):
        if a.mode is Mode.T:
            a.x = x * 2
        else:
            a.x = x * 3
        a.mode = Mode.E if a.mode is Mode.T else Mode.T
        return a.x

    return f, lambda: (a.x, a.mode.name)


@prog
def callbacks():
    l = []
    hooks = [lambda t: l.append(t), l.append]

    class Obs:
        def on(self, t):
            self.v = t

    o = Obs()
    hooks.append(o.on)

    def f(x):
        for h in hooks:
            h(x * 2)
        return x

    return f, lambda: (l, o.v)


@prog
def recursion():
    l = []

    def f(x, n=3):
        l.append(x * n)
        return x if n == 0 else f(x, n - 1) + 1

    return (lambda x: f(x), lambda: l)


@prog
def loop_stage_store():
    a = A()
    a.x = tf.constant(0.0)

    def f(x):
        for i in tf.range(3):
            a.x = a.x + x
            a.d["i"] = i
        return a.x

    return f, lambda: (a.x, a.d)


@prog
def while_stage_append():
    l = []

    def f(x):
        i = tf.constant(0)
        while i < 3:
            l.append(x * tf.cast(i, tf.float32))
            i += 1
        return x

    return f, lambda: l


@prog
def cond_append():
    l = []
    a = A()

    def f(x):
        if x > 1.5:
            l.append(x)
            a.x = x
        elif x > 0.5:
            a.d["m"] = x
        else:
            l.append(-x)
        return x

    return f, lambda: (l, a.x, a.d)


@prog
def weakdict():
    class K:
        pass

    k = K()
    d = weakref.WeakKeyDictionary()

    def f(x):
        d[k] = x * 2
        return x

    return f, lambda: list(d.values())


@prog
def thread_local():
    t = threading.local()

    def f(x):
        t.v = x * 2
        return x

    return f, lambda: t.v


@prog
def lock():
    lk = threading.Lock()
    a = A()

    def f(x):
        with lk:
            a.x = x * 2
        return x

    return f, lambda: a.x


@prog
def taken_apart_by_several_targets():
    class Pair:
        def __init__(self, first, second):
            self.first, self.second = first, second

        def __iter__(self):
            return iter([self.first, self.second])

    a = A()
    a.items = [tf.constant(1.0), tf.constant(2.0)]

    def f(x):
        first, second = pair = Pair(x, x * 2)
        third, fourth = fifth, sixth = Pair(x * 3, x * 4)
        head, *rest = seventh, eighth = [x * 5, x * 6]
        one, two = whole = a.items
        a.items = [one + x, two * x]
        return first + second + pair.first * third + fourth - fifth * sixth + head + rest[0], (
            seventh * eighth + whole[0]
        )

    return f, lambda: a.items


@pytest.mark.parametrize("make", prog, ids=lambda make: make.__name__)
def test_a_traced_function_leaves_what_the_plain_one_leaves(make):
    assert history(make, tf.function) == history(make, lambda function: function)
