"""Objects and lists under two names, of which a staged choice gives one: both are read as they are,
or the message says that nobody can tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import holdfast as tf


class Box:
    """Holds a value, and perhaps another box."""

    def __init__(self, k: Any, inner: Any = None) -> None:
        self.k, self.inner = k, inner


def left_by_a_loop(x: Any, n: Any) -> Any:
    o, o2 = Box(x), Box(x + 1.0)
    for _ in tf.range(n):
        o2 = o
    o.k = x * 5.0
    return o2.k


def set_first_by_a_loop(x: Any, n: Any) -> Any:
    o = Box(x)
    for _ in tf.range(n):
        o2 = o
    o.k = x * 5.0
    return o2.k


def inside_of_what_a_loop_left(x: Any, n: Any) -> Any:
    o, pair = Box(x), Box(x, Box(x))
    for i in tf.range(n):
        pair = Box(tf.cast(i, tf.float32), o)
    o.k = x * 5.0
    return pair.inner.k


def from_before_a_loop(x: Any, n: Any) -> Any:
    o = first = Box(x)
    for _ in tf.range(n):
        o = Box(o.k + 1.0)
    first.k = x * 5.0
    return o.k


def two_names_of_one_made_inside(x: Any, n: Any) -> Any:
    o, o2 = Box(x), Box(x)
    for i in tf.range(n):
        o = o2 = Box(tf.cast(i, tf.float32))
    o.k = x * 5.0
    return o2.k


def changed_by_the_next_iteration(x: Any, n: Any) -> Any:
    o, o2, total = Box(x), Box(x + 1.0), x
    for i in tf.range(n):
        o.k = o.k + 1.0
        total = total + o2.k
        if i > 0:
            total = total + 1.0
        o2 = o
    return total


def inside_of_what_a_branch_gave(x: Any, n: Any) -> Any:
    o = Box(x)
    if n > 2:
        pair = Box(x, o)
    else:
        pair = Box(x, Box(x))
    o.k = x * 5.0
    return pair.inner.k


def made_by_each_side_under_two_names(x: Any, n: Any) -> Any:
    if n > 2:
        o = o2 = Box(x)
    else:
        o, o2 = Box(x), Box(x + 1.0)
    o.k = x * 5.0
    return o2.k


CHANGED = [
    left_by_a_loop,
    set_first_by_a_loop,
    inside_of_what_a_loop_left,
    from_before_a_loop,
    two_names_of_one_made_inside,
    changed_by_the_next_iteration,
    inside_of_what_a_branch_gave,
    made_by_each_side_under_two_names,
]


@pytest.mark.parametrize("program", CHANGED, ids=lambda program: program.__name__)
def test_an_object_with_two_names_is_not_changed_under_one(program: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=r"E0902\]: `k` is assigned of a `Box` that is one of"):
        tf.function(program)(tf.constant(1.0), tf.constant(3))


def read_only(x: Any, n: Any) -> Any:
    o, o2, total = Box(x), Box(x + 1.0), x
    for _ in tf.range(n):
        total = total + o2.k
        o2 = o
    return total + o2.k


def changed_and_then_named(x: Any, n: Any) -> Any:
    o, o2 = Box(x), Box(x + 1.0)
    for i in tf.range(n):
        o.k = o.k + tf.cast(i, tf.float32)
        o2 = o
    return o2.k


def changed_before(x: Any, n: Any) -> Any:
    o, o2 = Box(x), Box(x + 1.0)
    o.k = x * 5.0
    for _ in tf.range(n):
        o2 = o
    return o2.k


def made_by_each_side(x: Any, n: Any) -> Any:
    if n > 2:
        o, o2 = Box(x), Box(x * 2.0)
    else:
        o, o2 = Box(x * 3.0), Box(x * 4.0)
    o.k = x * 5.0
    return o.k + o2.k + tf.cast(o is o2, tf.float32)


def is_what_it_was_not(x: Any, n: Any) -> Any:
    o, o2, other = Box(x), Box(x), Box(x)
    if n > 2:
        o2 = o
    return x + 1.0 if o2 is other or o2 is None else x


def is_the_same(x: Any, n: Any) -> Any:
    o, o2 = Box(x), Box(x)
    if n > 2:
        o2 = o
    p = o2
    return x if p is not o2 else x + 1.0


def is_a_list_that_grew(x: Any, n: Any) -> Any:
    v = w = [x]
    u = [x]
    for _ in tf.range(n):
        v.append(x)
    return x * (1.0 if v is w else 2.0) + (1.0 if u is v else 3.0)


def is_among_others(x: Any, n: Any) -> Any:
    o, o2 = Box(x), Box(x)
    if n > 2:
        o2 = o
    return x if o2 in [o2] and o not in [Box(x)] else x + 1.0


RIGHT = [
    read_only,
    changed_and_then_named,
    changed_before,
    made_by_each_side,
    is_what_it_was_not,
    is_the_same,
    is_a_list_that_grew,
    is_among_others,
]


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("program", RIGHT, ids=lambda program: program.__name__)
def test_what_can_be_told_is_told(program: Callable[..., Any], n: int) -> None:
    arguments = tf.constant(1.5), tf.constant(n)
    assert float(tf.function(program)(*arguments)) == float(program(*arguments))


def asked_after_a_branch(x: Any, n: Any) -> Any:
    o, o2 = Box(x), Box(x)
    if n < 2:
        pass
    else:
        o2 = o
    return x if o2 is o else x + 1.0


def asked_with_not(x: Any, n: Any) -> Any:
    o, o2 = Box(x), Box(x)
    o2 = o if n > 2 else o2
    return x if o is not o2 else x + 1.0


def asked_after_a_loop(x: Any, n: Any) -> Any:
    o, o2 = Box(x), Box(x)
    for _ in tf.range(n):
        o2 = o
    return x if o2 is o else x + 1.0


def asked_of_dicts(x: Any, n: Any) -> Any:
    d, e = {"p": x}, {"p": x}
    if n > 2:
        e = d
    return x if d is e else x + 1.0


def asked_of_lists(x: Any, n: Any) -> Any:
    v, w = [x], [x]
    if n > 2:
        w = v
    return x if w is v else x + 1.0


def asked_of_two_choices(x: Any, n: Any) -> Any:
    o, p, q = Box(x), Box(x), Box(x)
    if n > 2:
        p = o
        q = o
    return x if p is q else x + 1.0


def asked_in_a_chain(x: Any, n: Any) -> Any:
    o, o2 = Box(x), Box(x)
    if n > 2:
        o2 = o
    return x if o is o2 is o else x + 1.0


def asked_among_others(x: Any, n: Any) -> Any:
    o, o2 = Box(x), Box(x)
    if n > 2:
        o2 = o
    return x if o in [o2] else x + 1.0


ASKED = [
    asked_after_a_branch,
    asked_with_not,
    asked_after_a_loop,
    asked_of_dicts,
    asked_of_lists,
    asked_of_two_choices,
    asked_in_a_chain,
    asked_among_others,
]


@pytest.mark.parametrize("program", ASKED, ids=lambda program: program.__name__)
def test_which_of_several_it_is_nobody_is_told(program: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=r"E0902\]: whether a .* is another one is asked") as caught:
        tf.function(program)(tf.constant(1.0), tf.constant(3))
    assert "is decided here" in str(caught.value)
