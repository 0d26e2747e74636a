"""What staged code puts into dicts, lists, sets and objects is there afterwards, or is refused."""

from __future__ import annotations

import collections
import types
from typing import Any

import numpy as np
import pytest

import holdfast as tf


class Thing:
    """Holds attributes."""


def _dict() -> dict[str, Any]:
    return {}


def _ordered() -> Any:
    return collections.OrderedDict()


def _nested() -> dict[str, Any]:
    return {"inner": {}}


# Stores of `x` into something made before a loop: how it is made, stored into, read.
STORES = {
    "item": (_dict, lambda y, x: y.__setitem__("a", x), lambda y: y["a"]),
    "update": (_dict, lambda y, x: y.update({"a": x}), lambda y: y["a"]),
    "update by keyword": (_dict, lambda y, x: y.update(a=x), lambda y: y["a"]),
    "ordered": (_ordered, lambda y, x: y.update({"a": x}), lambda y: y["a"]),
    "setattr": (Thing, lambda y, x: setattr(y, "a", x), lambda y: y.a),
    "namespace": (types.SimpleNamespace, lambda y, x: setattr(y, "a", x), lambda y: y.a),
}


@pytest.mark.parametrize("kind", STORES)
def test_what_a_loop_first_puts_somewhere_is_there_after_it(kind: str) -> None:
    make, store, read = STORES[kind]

    def program(n: Any, x: Any) -> Any:
        y = make()
        for i in tf.range(n):
            store(y, x + tf.cast(i, tf.float32))
        return read(y)

    traced = tf.function(program)
    for n in (1, 3):
        wanted = program(tf.constant(n), tf.constant(2.0))
        np.testing.assert_array_equal(traced(tf.constant(n), tf.constant(2.0)), wanted)
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not run"):
        traced(tf.constant(0), tf.constant(2.0))


def test_an_item_a_loop_sets_is_in_the_dict_that_is_returned() -> None:
    @tf.function
    def program(n: Any) -> Any:
        y: dict[str, Any] = {}
        for i in tf.range(n):
            y["a"] = i
            y["b"] = [i + 1, i + 2]
        return y

    found = program(tf.constant(3))
    assert int(found["a"]) == 2
    assert [int(each) for each in found["b"]] == [3, 4]


def test_an_item_a_loop_sets_and_nobody_reads_stops_nothing() -> None:
    @tf.function
    def program(n: Any) -> Any:
        y: dict[str, Any] = {}
        for i in tf.range(n):
            y["a"] = i
        return n + 1

    assert int(program(tf.constant(0))) == 1


def test_an_item_with_a_value_before_the_loop_is_carried() -> None:
    @tf.function
    def program(n: Any) -> Any:
        y = {"a": 0, "kept": 7}
        for i in tf.range(n):
            y["a"] = y["a"] + i
        return y

    assert [int(program(tf.constant(n))["a"]) for n in (0, 1, 4)] == [0, 0, 6]


@pytest.mark.parametrize("how", ["literal", "call", "comprehension", "function"])
def test_a_dict_made_in_a_body_belongs_to_the_iteration(how: str) -> None:
    def made(i: Any) -> Any:
        return {"a": i}

    @tf.function
    def program(n: Any) -> Any:
        total = tf.constant(0)
        for i in tf.range(n):
            if how == "literal":
                d = {"a": i}
            elif how == "call":
                d = collections.OrderedDict(a=i)
            elif how == "comprehension":
                d = {key: i for key in "ab"}
            else:
                d = made(i)
            d["b"] = d["a"] + 1
            d["a"] = d["b"] * 2
            total += d["a"] + d["b"]
        return total

    assert int(program(tf.constant(3))) == 18


def test_a_dict_made_in_a_body_is_there_after_the_loop() -> None:
    @tf.function
    def program(n: Any) -> Any:
        for i in tf.range(n):
            d = {"a": i}
            d["b"] = i + 1
        return d

    found = program(tf.constant(3))
    assert (int(found["a"]), int(found["b"])) == (2, 3)


def test_lists_and_objects_made_in_a_body_belong_to_the_iteration() -> None:
    @tf.function
    def program(n: Any) -> Any:
        total = tf.constant(0)
        while total < n:
            parts = [total]
            parts.append(total + 1)
            thing = Thing()
            thing.a = parts[0] + parts[1]  # type: ignore[attr-defined]
            names = {"x"}
            names.add("y")
            total += thing.a + len(names) + len(parts)  # type: ignore[attr-defined]
        return total

    assert int(program(tf.constant(9))) == 20


# Branches.


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("taken", [False, True])
def test_what_both_sides_put_somewhere_is_there_afterwards(kind: str, taken: bool) -> None:
    make, store, read = STORES[kind]

    def program(p: Any, x: Any) -> Any:
        y = make()
        if p:
            store(y, x)
        else:
            store(y, -x)
        return read(y)

    given = tf.constant(taken), tf.constant(2.0)
    np.testing.assert_array_equal(tf.function(program)(*given), program(*given))


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("value", ["tensor", "text"])
@pytest.mark.parametrize("kind", STORES)
def test_what_one_side_puts_somewhere_is_refused_by_name(kind: str, value: str, side: int) -> None:
    make, store, _ = STORES[kind]

    @tf.function
    def program(p: Any, x: Any) -> Any:
        y = make()
        if p:
            if side == 0:
                store(y, x if value == "tensor" else "text")
        elif side == 1:
            store(y, x if value == "tensor" else "text")
        return {"all": y, "one": x}

    with pytest.raises(tf.errors.DiagnosticError, match="E0901") as caught:
        program(tf.constant(True), tf.constant(2.0))
    assert "a" in str(caught.value)


@pytest.mark.parametrize("kind", STORES)
@pytest.mark.parametrize("older", [False, True])
def test_what_one_side_puts_somewhere_is_not_read_afterwards(kind: str, older: bool) -> None:
    make, store, read = STORES[kind]

    @tf.function
    def program(p: Any, x: Any) -> Any:
        y = make()
        if p:
            store(y, x if older else x + 1.0)
        return read(y) * 2.0

    with pytest.raises(tf.errors.DiagnosticError, match="E0901|E0104"):
        program(tf.constant(True), tf.constant(2.0))


def test_an_older_tensor_in_an_object_from_outside_is_not_read_either() -> None:
    thing = Thing()

    @tf.function
    def program(p: Any, x: Any) -> Any:
        if p:
            thing.a = x  # type: ignore[attr-defined]
        return thing.a * 2.0  # type: ignore[attr-defined]

    with pytest.raises(tf.errors.DiagnosticError, match="E0901|E0104"):
        program(tf.constant(True), tf.constant(2.0))


ASKED = {
    "length": lambda y: len(y),
    "truth": lambda y: 1 if y else 0,
    "presence": lambda y: 1 if "a" in y else 0,
    "walk": lambda y: sum(1 for _ in y),
    "keys": lambda y: sorted(y),
}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("container", [dict, set, list])
def test_a_container_that_one_side_changes_answers_no_question(container: Any, asked: str) -> None:
    ask = ASKED[asked]

    @tf.function
    def program(p: Any) -> Any:
        y = container()
        if p:
            if container is dict:
                y["a"] = "text"
            elif container is set:
                y.add("a")
            else:
                y.append("a")
        return ask(y)

    with pytest.raises(tf.errors.DiagnosticError, match="E0901"):
        program(tf.constant(True))


@pytest.mark.parametrize("asked", ["length", "truth", "presence"])
def test_a_set_that_a_loop_adds_to_answers_no_question(asked: str) -> None:
    ask = ASKED[asked]

    @tf.function
    def program(n: Any) -> Any:
        y: set[str] = set()
        for _ in tf.range(n):
            y.add("a")
        return ask(y)

    with pytest.raises(tf.errors.DiagnosticError, match="E0103.*it is a set, not a list"):
        program(tf.constant(3))


@pytest.mark.parametrize("method", ["pop", "append", "insert", "remove", "reverse"])
@pytest.mark.parametrize("read", ["inside", "afterwards", "returned"])
def test_a_list_that_a_loop_changes_otherwise_is_refused(method: str, read: str) -> None:
    @tf.function
    def program(n: Any) -> Any:
        y = ["a", "b"]
        for _ in tf.range(n):
            if method == "pop":
                y.pop()
            elif method == "append":
                y.append("c")
            elif method == "insert":
                y.insert(0, "c")
            elif method == "remove":
                y.remove("a")
            else:
                y.reverse()
            if read == "inside":
                n += len(y)
        return {"inside": n, "afterwards": len(y) if read == "afterwards" else 0, "returned": y}[
            read
        ]

    grows = method in ("append", "insert") and read != "inside"
    with pytest.raises(tf.errors.DiagnosticError, match="E0103" if grows else "E0901|E0902"):
        program(tf.constant(3))


def test_a_list_that_a_loop_changes_and_nobody_reads_stops_nothing() -> None:
    @tf.function
    def program(n: Any) -> Any:
        y: list[Any] = []
        for i in tf.range(n):
            y.append(["a", i])
        return n

    assert int(program(tf.constant(3))) == 3


# Loops that are unrolled.


@pytest.mark.parametrize("condition", ["constant", "argument", "variable"])
def test_a_loop_on_a_tensor_is_staged_though_its_value_is_known(condition: str) -> None:
    flag = tf.Variable(True)

    @tf.function
    def program(n: Any, yes: Any) -> Any:
        i = tf.constant(0)
        while (
            tf.constant(True)
            if condition == "constant"
            else yes
            if condition == "argument"
            else flag
        ):
            i += 1
            if i > n:
                break
        return i

    assert int(program(tf.constant(7), tf.constant(True))) == 8


@pytest.mark.parametrize("grows", [False, True])
def test_a_staged_loop_without_end_is_refused(grows: bool) -> None:
    @tf.function
    def program(x: Any) -> Any:
        while tf.constant(True):
            x = tf.concat([x, x], 0) if grows else x + 1.0
        return x

    with pytest.raises(tf.errors.DiagnosticError, match="never ends"):
        program(tf.constant([1.0]))


def test_a_loop_without_end_is_refused_by_its_line() -> None:
    @tf.function
    def program(x: Any) -> Any:
        while True:
            x = x + 1.0
        return x

    with pytest.raises(tf.errors.DiagnosticError, match="unrolled"):
        program(tf.constant(1.0))


def test_a_long_tensor_is_walked_through_in_the_graph() -> None:
    rows = tf.constant(np.arange(5000))

    @tf.function
    def program() -> Any:
        total = tf.constant(0, tf.int64)
        for row in rows:
            total += row
        return total

    assert int(program()) == 5000 * 4999 // 2
    assert len(program.get_concrete_function().graph.as_graph_def().node) < 100
