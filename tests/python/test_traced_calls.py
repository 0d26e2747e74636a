"""Every way to call a function: the traced one binds, finds its trace and gives what plain code gives.

Each program runs three times: as plain Python, traced, and traced with every call left to Python.
"""

import collections
import math
import random
import types

import numpy as np
import pytest

import holdfast as tf

Pair = collections.namedtuple("Pair", "left right")


class Field:
    def __init__(self, name):
        self.name = name


class Record:
    """A class as attrs makes them."""

    __attrs_attrs__ = (Field("first"), Field("second"))

    def __init__(self, first, second):
        self.first, self.second = first, second


class Tagged:
    """A class that says itself what it is made of."""

    def __init__(self, tag, value):
        self.tag, self.value = tag, value

    def __tf_flatten__(self):
        return (self.tag,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata, components):
        return cls(metadata[0], components[0])


class Thing:
    """Known by itself alone."""

    weight = 7.0


THINGS = [Thing(), Thing()]
VARIABLES = [tf.Variable(2.0), tf.Variable(3.0)]


def number(leaf):
    """A number that tells leaves apart."""
    if isinstance(leaf, (tf.Tensor, tf.Variable, np.ndarray)):
        return tf.reduce_sum(tf.cast(leaf, tf.float32))
    if isinstance(leaf, float):
        return 0.125 if math.isnan(leaf) else math.copysign(leaf + 0.5, math.copysign(1.0, leaf))
    if isinstance(leaf, (bool, str)) or leaf is None:
        return {True: 11.0, False: 13.0, None: 17.0}.get(leaf, 19.0 + len(str(leaf)))
    return 23.0 + leaf if isinstance(leaf, int) else leaf.weight + THINGS.index(leaf)


def summary(*parts):
    """A tensor that tells apart what was given, in which order and under which tags."""
    total = tf.constant(1.0)
    for part in parts:
        for leaf in tf.nest.flatten(part):
            total = total * 1.5 + number(leaf)
        if isinstance(part, Tagged):
            total = total + (100.0 if part.tag == "a" else 200.0)
    return total


def leaf(rng):
    return rng.choice(
        [
            lambda: tf.constant(rng.choice([1.0, 2.0])),
            lambda: tf.constant([1.0, 2.0, 3.0][: rng.randint(1, 3)]),
            lambda: tf.constant(rng.randint(1, 9)),
            lambda: np.arange(rng.randint(1, 3), dtype=rng.choice([np.float32, np.int64])),
            lambda: rng.choice([0, 1, False, True, 0.0, -0.0, 1.0, math.nan, "a", "bc", None]),
            lambda: rng.choice(THINGS),
            lambda: rng.choice(VARIABLES),
        ]
    )()


def value(rng, depth=2):
    if depth == 0 or rng.random() < 0.5:
        return leaf(rng)
    inner = [value(rng, depth - 1) for _ in range(2)]
    return rng.choice(
        [
            lambda: inner,
            lambda: tuple(inner),
            lambda: dict(zip(rng.sample(["a", "b", "c"], 2), inner, strict=True)),
            lambda: collections.OrderedDict(zip("ba", inner, strict=True)),
            lambda: collections.defaultdict(list, x=inner[0]),
            lambda: Pair(*inner),
            lambda: Record(*inner),
            lambda: Tagged(rng.choice("ab"), inner[0]),
        ]
    )()


def program(rng):
    """A function of parameters of all kinds, and a way to make calls of it."""
    names = list("pqrstu")
    only, plain, keys = (
        [names.pop(0) for _ in range(rng.randint(0, 2))] for _ in ("only", "plain", "keys")
    )
    positional = only + plain
    defaults = dict.fromkeys(positional[rng.randint(0, len(positional)) :], 0)
    defaults |= {name: 0 for name in keys if rng.random() < 0.5}
    some, more = rng.random() < 0.4, rng.random() < 0.4
    fallback = {name: value(rng) for name in defaults}

    def shown(name):
        return f"{name}=fallback[{name!r}]" if name in defaults else name

    parts = [shown(name) for name in only] + (["/"] if only else []) + list(map(shown, plain))
    parts += ["*some"] if some else ["*"] if keys else []
    parts += list(map(shown, keys)) + (["**more"] if more else [])
    given = [*positional, *(["some"] if some else []), *keys, *(["more"] if more else [])]
    space = {"summary": summary, "fallback": fallback}
    exec(f"def f({', '.join(parts)}):\n    return summary({', '.join(given)})", space)

    def arguments():
        by_position = rng.randint(len(only), len(positional))
        args = [value(rng) for _ in positional[:by_position]]
        kwargs = {
            name: value(rng)
            for name in (*positional[by_position:], *keys)
            if name not in defaults or rng.random() < 0.5
        }
        while (
            len(args) > len(only) and positional[len(args) - 1] in defaults and rng.random() < 0.3
        ):
            args.pop()
        if some and by_position == len(positional) == len(args):
            args += [value(rng) for _ in range(rng.randint(0, 2))]
        if more:
            kwargs |= {name: value(rng) for name in rng.sample(["x", "y", "za"], rng.randint(0, 2))}
        spelled = list(kwargs.items())
        rng.shuffle(spelled)
        return args, dict(spelled)

    return space["f"], arguments


@pytest.mark.parametrize("seed", range(60))
def test_calls_of_all_spellings_are_those_of_plain_code(monkeypatch, seed):
    rng = random.Random(seed)
    plain, arguments = program(rng)
    fast, slow = tf.function(plain), tf.function(plain)
    offer = type(slow)._offer  # what is not offered stays with Python
    monkeypatch.setattr(type(slow), "_offer", lambda f, *trace: f is slow or offer(f, *trace))
    calls = [arguments() for _ in range(6)]
    for _ in range(25):
        args, kwargs = rng.choice(calls)
        expected = plain(*args, **kwargs).numpy()
        for traced in (fast, slow, fast):
            np.testing.assert_allclose(traced(*args, **kwargs).numpy(), expected, rtol=1e-5)
    assert fast.experimental_get_tracing_count() == slow.experimental_get_tracing_count()


def counted(monkeypatch, f):
    """The calls of `f` that went through Python."""
    seen = []
    original = type(f)._slow_call

    def slow(self, *args, **kwargs):
        if self is f:
            seen.append((args, kwargs))
        return original(self, *args, **kwargs)

    monkeypatch.setattr(type(f), "_slow_call", slow)
    return seen


X, Y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
SPELLINGS = {
    "default": (lambda x, k=2.0: x * k, (X,), {}),
    "default given": (lambda x, k=2.0: x * k, (X, 3.0), {}),
    "keyword": (lambda x, k: x * k, (), {"k": 2.0, "x": X}),
    "keyword only": (lambda x, *, k=2.0: x * k, (X,), {"k": 4.0}),
    "positional only": (lambda x, y=2.0, /: x * y, (X,), {}),
    "any positional": (lambda *xs: xs[0] + xs[1], (X, Y), {}),
    "any keyword": (lambda x, **k: x + k["a"] * k["b"], (X,), {"b": X, "a": Y}),
    "dict": (lambda d: d["a"] - d["b"], ({"b": X, "a": Y},), {}),
    "ordered dict": (lambda d: d["a"] - d["b"], (collections.OrderedDict(b=X, a=Y),), {}),
    "named tuple": (lambda p: p.left - p.right, (Pair(X, Y),), {}),
    "attrs": (lambda p: p.first - p.second, (Record(X, [Y]).__class__(X, Y),), {}),
    "by protocol": (lambda p: p.value * 2.0, (Tagged("a", X),), {}),
    "array": (lambda x: x * 2.0, (np.ones(2, np.float32),), {}),
    "number of NumPy's": (lambda x: x * 2.0, (np.float32(3.0),), {}),
    "variable": (lambda v: v * 2.0, (VARIABLES[0],), {}),
    "NaN": (lambda x, k: x + k, (X, math.nan), {}),
    "nested result": (lambda x: {"b": x, "a": Pair(x * 2.0, [x])}, (X,), {}),
    "slices": (
        lambda s: s.values * 2.0,
        (tf.IndexedSlices(X, tf.constant([0, 1]), tf.constant([2])),),
        {},
    ),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_the_second_call_needs_no_python(monkeypatch, name):
    plain, args, kwargs = SPELLINGS[name]
    f = tf.function(plain)
    f(*args, **kwargs)
    seen = counted(monkeypatch, f)
    result, expected = f(*args, **kwargs), plain(*args, **kwargs)
    assert not seen
    tf.nest.assert_same_structure(result, expected)
    for ours, theirs in zip(tf.nest.flatten(result), tf.nest.flatten(expected), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((X,), {}), ((X, Y, X), {}), ((X,), {"x": Y}), ((X, Y), {"z": X})],
)
def test_a_bad_call_names_the_function_and_changes_nothing(args, kwargs):
    @tf.function
    def added(x, y):
        return x + y

    for _ in range(2):
        with pytest.raises(TypeError, match="`added`.*(?s:.*)parameters are `x, y`"):
            added(*args, **kwargs)
        np.testing.assert_array_equal(added(X, y=Y), [4.0, 6.0])
    assert added.experimental_get_tracing_count() == 1


def test_zeros_of_both_signs_and_numbers_of_all_types_are_told_apart():
    @tf.function
    def f(x, k):
        return x * math.copysign(1.0, k) + (0.5 if type(k) is float else 0.0)

    for k, expected in ((0.0, 1.5), (-0.0, -0.5), (0, 1.0), (False, 1.0), (0.0, 1.5), (-0.0, -0.5)):
        assert float(f(tf.constant(1.0), k)) == expected


def test_what_an_array_holds_is_read_at_each_call():
    f = tf.function(lambda x: x + 1.0)
    a = np.zeros(2, np.float32)
    for i in range(3):
        a[:] = i
        np.testing.assert_array_equal(f(a), [i + 1.0, i + 1.0])
    assert f.experimental_get_tracing_count() == 1
    assert f(a.astype(np.float64)).dtype == tf.float64


def test_keywords_of_any_name_reach_the_function():
    def f(a, b=3.0, /, *rest, **named):
        return a * b + sum(named[key] * len(key) for key in named)

    g, x, y = tf.function(f), tf.constant(2.0), tf.constant(5.0)
    for _ in range(3):  # by Python, then by C
        assert float(g(x, b=y, a=x)) == float(f(x, b=y, a=x)) == 13.0
        assert float(g(x, y, self=x, args=y, kwargs=y)) == 10.0 + 8.0 + 20.0 + 30.0
    assert float(g.get_concrete_function(x, self=y)(x, self=y)) == 26.0
    with pytest.raises(TypeError):
        g(a=x)


def test_mappings_that_are_no_dicts():
    f = tf.function(lambda d: d["a"] * 2.0)
    given = {"a": tf.constant(2.0)}
    chained, proxy = collections.ChainMap(given, {}), types.MappingProxyType(given)
    for mapping in (proxy, chained, collections.UserDict(given)):
        assert float(f(mapping)) == 4.0
        again = tf.nest.map_structure(lambda x: x + 1, mapping)
        assert type(again) is type(mapping) and float(again["a"]) == 3.0
