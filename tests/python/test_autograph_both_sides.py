"""What both sides of a staged branch set, or change each in its own way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import holdfast as tf


class Box:
    """Holds what it is given."""

    def __init__(self, **held: Any) -> None:
        vars(self).update(held)


def an_item(x: Any) -> Any:
    d: dict[str, Any] = {}
    if x > 0:
        d["v"] = 1
    else:
        d["v"] = x * 0.5
    return d["v"]


def the_same_the_other_way_round(x: Any) -> Any:
    d: dict[str, Any] = {"v": x}
    if x > 0:
        d["v"] = x * 0.5
    else:
        d["v"] = 1
    return d["v"] + 1


def by_a_name_for_the_key(x: Any) -> Any:
    d: dict[str, Any] = {}
    for key in ("a", "b"):
        if x > 0:
            d[key] = tf.cast(x, tf.int32)
        else:
            d[key] = x
    return d["a"]


def an_attribute(x: Any) -> Any:
    b = Box(k=x)
    if x > 0:
        b.k = 1
    else:
        b.k = x * 0.5
    return b.k


def an_element(x: Any) -> Any:
    v = [x, x]
    if x > 0:
        v[0] = tf.cast(x, tf.int64)
    else:
        v[0] = x * 0.5
    return v[0]


def all_values(x: Any) -> Any:
    d: dict[str, Any] = {}
    if x > 0:
        d["v"] = 1
    else:
        d["v"] = x * 0.5
    return [each * 2 for each in d.values()]


def given_back(x: Any) -> Any:
    d: dict[str, Any] = {}
    if x > 0:
        d["v"] = 1
    else:
        d["v"] = x * 0.5
    return d


def texts(x: Any) -> Any:
    d: dict[str, Any] = {}
    if x > 0:
        d["v"] = "up"
    else:
        d["v"] = "down"
    return x if d["v"] == "up" else x + 1.0


TWO = [
    an_item,
    the_same_the_other_way_round,
    by_a_name_for_the_key,
    an_attribute,
    an_element,
    all_values,
    given_back,
    texts,
]


@pytest.mark.parametrize("program", TWO, ids=lambda program: program.__name__)
def test_two_kinds_are_told_as_such(program: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"E0902\]: the two sides of a staged `if` give") as caught:
        tf.function(program)(tf.constant(1.0))
    assert "zeros" not in str(caught.value)


def test_unread_they_are_stored_by_each_call() -> None:
    box: Any = Box(k=0)

    @tf.function
    def run(x: Any) -> Any:
        if x > 0:
            box.k = 1
        else:
            box.k = x * 0.5
        return x

    run(tf.constant(1.0))
    assert box.k == 1
    run(tf.constant(-1.0))
    assert float(box.k) == -0.5


def an_attribute_of_an_object(x: Any) -> Any:
    if x > 1:
        b = Box(k=None, u=x)
        if x > 4:
            b.k = 3
        o = b
    else:
        o = Box(k=3, u=x)
    return x if o.k is None else x * o.k


def a_text_in_a_dict(x: Any) -> Any:
    if x > 1:
        d = {"m": "b"}
        if x > 4:
            d["m"] = "a"
    else:
        d = {"m": "a"}
    return x if d["m"] == "a" else x * 2


def a_longer_list(x: Any) -> Any:
    if x > 1:
        v = [x]
        if x > 4:
            v.insert(0, x)
    else:
        v = [x, x]
    return x * len(v)


def a_longer_list_of_an_object(x: Any) -> Any:
    b = Box(items=[])
    if x > 1:
        b.items = [x]
        if x > 4:
            b.items.insert(0, x)
    else:
        b.items = [x, x]
    return x * len(b.items)


def an_object_of_an_iteration(x: Any) -> Any:
    o = Box(k=3, u=x)
    for _ in tf.range(3):
        b = Box(k=None, u=x)
        if x > 4:
            b.k = 3
        o = b
    return x if o.k is None else x * o.k


def a_list_that_iterations_change(x: Any) -> Any:
    v = [x]
    for _ in range(3):
        if x > 1:
            v.insert(0, x * 2)
        elif x > 0:
            v.append(x * 3)
    return v


WITHIN = [
    a_list_that_iterations_change,
    an_attribute_of_an_object,
    a_text_in_a_dict,
    a_longer_list,
    a_longer_list_of_an_object,
    an_object_of_an_iteration,
]


@pytest.mark.parametrize("program", WITHIN, ids=lambda program: program.__name__)
def test_what_a_branch_inside_of_a_side_may_have_changed(program: Callable[[Any], Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"E090[12]\]: .* staged `if`"):
        tf.function(program)(tf.constant(2.0))


def an_object_of_two_branches(x: Any) -> Any:
    o = Box(k=x)
    if x > 1:
        o = Box(k=x - 0.25)
        if x > 2:
            o = Box(k=x - 0.5)
    return o.k


def objects_until_a_break(x: Any) -> Any:
    o = Box(k=x, items=[x])
    for y in [x * 2, x * 3]:
        if y > 4:
            break
        o = Box(k=y, items=[y])
        o.items[0] = o.items[0] + 1
    return o.k, o.items


def changed_where_it_is_made(x: Any) -> Any:
    v, d = [x], {"a": x}
    if x > 1:
        w = [x]
        if x > 2:
            w = [x * 2]
            w[0] = w[0] + 1
            w.append(x)
        else:
            w.append(x * 5)
        v = w + v
        d = {"a": x}
        if x > 2:
            d["a"] = x * 3
    else:
        v = [x, x, x]
    return v, d


def set_by_name_and_by_a_function(x: Any) -> Any:
    def add(t: Any) -> None:
        nonlocal x
        x = x + t

    y = x
    if x > 2:
        x = x * 2
        add(y)
    else:
        y = x
    return x, y


def popped_and_appended(x: Any) -> Any:
    b = Box(items=[x, x * 2])
    if x > 2:
        b.items.pop()
        b.items.append(x * 3)
    return tf.stack(b.items), len(b.items)


def popped_and_appended_in_the_else(x: Any) -> Any:
    v = [x, x * 2]
    if x > 2:
        pass
    else:
        v.pop(0)
        v.append(x * 3)
    return v[0] + 10 * v[1]


def sorted_on_one_side(x: Any) -> Any:
    v = [x, x * 2, x * 3]
    if x > 2:
        v.reverse()
    return v


def inserted_and_removed(x: Any) -> Any:
    v = [x, x * 2, x * 3]
    if x > 2:
        v.insert(0, v.pop())
    elif x > 1:
        v[0] = x * 7
    return v


def items_on_the_other_side(x: Any) -> Any:
    v = [x, x * 2]
    if x > 2:
        v[0] = x * 7
        v[1] = x * 9
    else:
        v.append(v.pop(0))
    return v


def popped_from_either_end(x: Any) -> Any:
    v = [x, x * 2, x * 3]
    if x > 2:
        v.pop()
    else:
        v.pop(0)
    return v


def popped_from_either_end_and_used(x: Any) -> Any:
    v = [x, x * 2, x * 3]
    if x > 2:
        last = v.pop()
    else:
        last = v.pop(0)
    return tf.add_n(v) + 10 * last, len(v)


def in_a_loop(x: Any) -> Any:
    v = [x, x * 2]
    for i in tf.range(3):
        if i > 0:
            v.append(v.pop(0))
    return v


def added_in_other_steps(x: Any) -> Any:
    v = [x]
    if x > 2:
        v.append(x * 2)
        v.append(x * 3)
    else:
        v += [x * 4, x * 5]
    return v, len(v)


def slices(x: Any) -> Any:
    v = [x, x * 2, x * 3]
    if x > 2:
        v[0:2] = [x * 5, x * 6]
    return v


RIGHT = [
    popped_and_appended,
    popped_and_appended_in_the_else,
    sorted_on_one_side,
    inserted_and_removed,
    items_on_the_other_side,
    popped_from_either_end,
    popped_from_either_end_and_used,
    in_a_loop,
    added_in_other_steps,
    slices,
    an_object_of_two_branches,
    objects_until_a_break,
    set_by_name_and_by_a_function,
    changed_where_it_is_made,
]


@pytest.mark.parametrize("x", [1.0, 1.5, 3.0])
@pytest.mark.parametrize("program", RIGHT, ids=lambda program: program.__name__)
def test_lists_of_one_length_are_chosen_from(program: Callable[[Any], Any], x: float) -> None:
    found, wanted = tf.function(program)(tf.constant(x)), program(tf.constant(x))
    tf.nest.assert_same_structure(found, wanted)
    for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(wanted), strict=True):
        assert tf.constant(one).numpy().tolist() == tf.constant(other).numpy().tolist()
