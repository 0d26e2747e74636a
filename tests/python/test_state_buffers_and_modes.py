"""State that decides about the next call: buffers, modes, objects made anew.

Each program makes a function, and another one that looks at the state it changes.
"""

import collections
import dataclasses

import pytest
from state_programs import A, Programs, history

import holdfast as tf

prog = Programs()


@prog
def lazy_var_state():
    class M(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = None
            self.state = tf.constant(0.0)
            self.h = []

        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(2.0)
            self.state = self.state + x * self.v
            self.h.append(x)
            return self.state

    m = M()
    return m.__call__, lambda: (m.state, m.h)


@prog
def return_obj():
    @dataclasses.dataclass
    class Out:
        loss: object
        logits: object
        n: int = 3

    def f(x):
        return Out(x * 2, [x, x + 1])

    res = []

    def g(x):
        o = f(x)
        return o

    return g, lambda: None


@prog
def return_obj_shared():
    class Node:
        def __init__(self, v):
            self.v = v
            self.children = []
            self.parent = None

        def add(self, c):
            self.children.append(c)
            c.parent = self
            return self

    reg = A()

    def f(x):
        r = Node(x).add(Node(x * 2)).add(Node(x * 3))
        reg.root = r
        reg.items.append(r.children[0])
        return r.v

    def state():
        first, second = reg.root.children
        same = first.parent is reg.root and reg.items[-1] is first
        return reg.root.v, first.v, second.v, same, [node.v for node in reg.items]

    return f, state


@prog
def slots_obj():
    @dataclasses.dataclass(slots=True)
    class S:
        a: object
        b: object = None

    out = []

    def f(x):
        s = S(x)
        s.b = x * 2
        out.append(s)
        return s.b

    return f, lambda: [(s.a, s.b) for s in out]


@prog
def linked_list_history():
    h = A()
    h.head = None

    class N:
        def __init__(self, v, nxt):
            self.v, self.next = (v, nxt)

    def f(x):
        h.head = N(x, h.head)
        return x

    def st():
        o = []
        n = h.head
        while n:
            o.append(n.v)
            n = n.next
        return o

    return (f, st)


@prog
def toggle_bool():
    a = A()
    a.flag = True

    def f(x):
        a.flag = not a.flag
        return x if a.flag else -x

    return f, lambda: a.flag


@prog
def mod_counter():
    a = A()
    a.n = 0

    def f(x):
        a.n = (a.n + 1) % 2
        if a.n == 0:
            a.items.append(x)
        return x * a.n

    return f, lambda: (a.n, a.items)


@prog
def phase_str():
    a = A()
    a.phase = "warm"

    def f(x):
        if a.phase == "warm":
            a.phase = "run"
            return x * 10
        a.phase = "warm"
        return x

    return f, lambda: a.phase


@prog
def global_toggle():
    d = {"train": True, "k": 0}

    def f(x):
        d["train"] = not d["train"]
        d["k"] = (d["k"] + 1) % 3
        return x * d["k"] if d["train"] else x

    return f, lambda: d


@prog
def buffer_replay():
    buf = []

    def f(x):
        buf.append(x)
        if len(buf) > 2:
            del buf[0]
        return tf.add_n(buf)

    return f, lambda: buf


@prog
def buffer_slice():
    a = A()

    def f(x):
        a.items.append(x)
        a.items = a.items[-2:]
        return tf.add_n(a.items)

    return f, lambda: a.items


@prog
def deque_mean():
    q = collections.deque(maxlen=2)

    def f(x):
        q.append(x)
        return tf.add_n(list(q)) / len(q)

    return f, lambda: list(q)


@prog
def lstm_state():
    class Cell(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(0.5)
            self.state = (tf.constant(0.0), tf.constant(0.0))

        def __call__(self, x):
            h, c = self.state
            c = c * self.w + x
            h = tf.tanh(c) + h
            self.state = (h, c)
            return h

    c = Cell()
    return c.__call__, lambda: c.state


@prog
def dict_state():
    st = {"h": tf.constant(0.0), "c": tf.constant(1.0)}

    def f(x):
        nonlocal st
        st = {"h": st["c"] + x, "c": st["h"] * x}
        return st["h"]

    return f, lambda: st


@prog
def nested_state():
    a = A()
    a.s = [(tf.constant(0.0), {"k": tf.constant(1.0)})]

    def f(x):
        ((h, d),) = a.s
        a.s = [(h + d["k"], {"k": d["k"] * x})]
        return h

    return f, lambda: a.s


@prog
def metric_obj():
    class Mean:
        def __init__(self):
            self.reset()

        def reset(self):
            self.total = tf.constant(0.0)
            self.n = tf.constant(0)

        def update(self, v):
            self.total = self.total + v
            self.n = self.n + 1

        @property
        def result(self):
            return self.total / tf.cast(self.n, tf.float32)

    m = Mean()

    def f(x):
        m.update(x)
        return m.result

    return f, lambda: (m.result, m.n)


@prog
def metric_reset():
    class Mean:
        def __init__(self):
            self.reset()

        def reset(self):
            self.vals = []

        def update(self, v):
            self.vals.append(v)

        def result(self):
            return tf.add_n(self.vals) / len(self.vals)

    m = Mean()

    def f(x):
        m.reset()
        m.update(x)
        m.update(x * 2)
        return m.result()

    return f, lambda: m.vals


@prog
def var_and_py():
    v = tf.Variable(0.0)
    a = A()

    def f(x):
        a.before = v.read_value()
        v.assign_add(x)
        a.after = v.read_value()
        a.v = v + 0
        return a.after - a.before

    return f, lambda: (a.before, a.after, a.v)


@prog
def grads_kept():
    w = tf.Variable(2.0)
    a = A()

    def f(x):
        with tf.GradientTape() as t:
            loss = w * w * x
        a.g = t.gradient(loss, w)
        a.items.append(a.g)
        w.assign_sub(0.1 * a.g)
        return loss

    return f, lambda: (a.g, a.items)


@prog
def tape_obj_state():
    w = tf.Variable(2.0)
    logs = collections.defaultdict(list)

    class Trainer:
        def step(self, x):
            with tf.GradientTape() as tape:
                l = self.loss(x)
            (g,) = tape.gradient(l, [w])
            w.assign_sub(0.1 * g)
            self.log(loss=l, grad=g)
            return l

        def loss(self, x):
            return tf.square(w - x)

        def log(self, **kw):
            for k, v in kw.items():
                logs[k].append(v)

    t = Trainer()
    return t.step, lambda: dict(logs)


@prog
def abc_mapping():
    class MyMap(collections.abc.MutableMapping):
        def __init__(self):
            self.d = {}

        def __getitem__(self, k):
            return self.d[k]

        def __setitem__(self, k, v):
            self.d[k] = v

        def __delitem__(self, k):
            del self.d[k]

        def __iter__(self):
            return iter(self.d)

        def __len__(self):
            return len(self.d)

    m = MyMap()

    def f(x):
        m["a"] = x
        m.update(b=x * 2)
        m.setdefault("c", x * 3)
        m.pop("b")
        if "a" in m:
            m["z"] = m["a"] * 2
        return sum(m[k] for k in m)

    return f, lambda: m.d


@pytest.mark.parametrize("make", prog, ids=lambda make: make.__name__)
def test_a_traced_function_leaves_what_the_plain_one_leaves(make):
    assert history(make, tf.function) == history(make, lambda function: function)
