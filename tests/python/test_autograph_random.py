"""Programs made at random, with jumps out of nested blocks: eager = converted = staged."""

from __future__ import annotations

import linecache
import random

import numpy as np
import pytest

import holdfast as tf
from holdfast import autograph

NAMES = "abc"


class Writer:
    """Writes a function of float tensors. Every loop ends."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines = ["def f(x, box):", "    a, b, c = x, x * 2.0, x * 0.0 + 1.0"]
        self.loops = 0
        self.count = 0
        self.block(1, 3, True)
        self.lines.append("    return a, b, c")

    def value(self) -> str:
        name, other = self.random.choice(NAMES), self.random.choice(NAMES)
        return self.random.choice(
            [
                f"{name} + 1.0",
                f"{name} - {other}",
                f"{name} * 0.5",
                f"-{name}",
                f"({name} if {other} > 0.5 else -{name})",
                f"tf.abs({name} - 2.0)",
                f"box.h + {name} * 0.25",
            ]
        )

    def test(self) -> str:
        name, other = self.random.choice(NAMES), self.random.choice(NAMES)
        return self.random.choice(
            [
                f"{name} > {other}",
                f"{name} < 1.0",
                f"not {name} > 0.0",
                f"{name} > 0.0 and {other} < 2.0",
                f"{name} > 1.0 or {other} < 0.0",
                f"0.0 < {name} < 2.0",
                "True",
                "box.h > 1.0",
            ]
        )

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def block(self, depth: int, size: int, top: bool = False) -> None:
        for _ in range(self.random.randint(1, size)):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        kinds = ["assign", "assign", "store", "append"]
        if depth < 5:
            kinds += ["if", "if", "for", "while", "python for", "try"]
        if depth > 1:
            kinds.append("return")
        if self.loops:
            kinds += ["break", "continue"]
        getattr(self, self.random.choice(kinds).replace(" ", "_") + "_")(depth)

    def assign_(self, depth: int) -> None:
        self.add(depth, f"{self.random.choice(NAMES)} = {self.value()}")

    def store_(self, depth: int) -> None:
        self.add(depth, f"box.h = {self.value()}")

    def append_(self, depth: int) -> None:
        self.add(depth, f"{self.random.choice(NAMES)} += {self.value()}")

    def return_(self, depth: int) -> None:
        self.add(depth, f"return {self.value()}, {self.value()}, box.h")

    def break_(self, depth: int) -> None:
        self.add(depth, "break")

    def continue_(self, depth: int) -> None:
        self.add(depth, "continue")

    def if_(self, depth: int) -> None:
        self.add(depth, f"if {self.test()}:")
        self.block(depth + 1, 2)
        if self.random.random() < 0.6:
            self.add(depth, "else:")
            self.block(depth + 1, 2)

    def body(self, depth: int) -> None:
        self.loops += 1
        self.block(depth + 1, 3)
        self.loops -= 1
        if self.random.random() < 0.3:
            self.add(depth, "else:")
            self.block(depth + 1, 1)

    def for_(self, depth: int) -> None:
        self.add(depth, f"for i in tf.range({self.random.randint(0, 3)}):")
        self.add(depth + 1, f"{self.random.choice(NAMES)} += tf.cast(i, tf.float32)")
        self.body(depth)

    def python_for_(self, depth: int) -> None:
        self.add(depth, f"for k in range({self.random.randint(0, 3)}):")
        self.add(depth + 1, f"{self.random.choice(NAMES)} -= float(k)")
        self.body(depth)

    def while_(self, depth: int) -> None:
        self.count += 1
        n = f"n{self.count}"
        self.add(depth, f"{n} = tf.constant(0)")
        self.add(depth, f"while {n} < {self.random.randint(1, 3)} and ({self.test()}):")
        self.add(depth + 1, f"{n} += 1")
        self.body(depth)

    def try_(self, depth: int) -> None:
        self.add(depth, "try:")
        self.block(depth + 1, 2)
        self.add(depth, "finally:")
        self.add(depth + 1, f"c = c + {self.random.randint(0, 2)}.0")


class Box:
    def __init__(self) -> None:
        self.h = tf.constant(0.25)


def made(seed: int):
    text = "\n".join(Writer(seed).lines) + "\n"
    name = f"<random program {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"tf": tf, "__name__": "random_program"}
    exec(compile(text, name, "exec"), space)
    return space["f"], text


def outcome(function, value):
    box = Box()
    found = function(tf.constant(value), box)
    return np.array([float(v) for v in (*found, box.h)])


@pytest.mark.parametrize("seed", range(60))
def test_a_random_program(seed):
    function, text = made(seed)
    converted = autograph.convert(function)
    box = Box()

    def staged(x, each):
        box.h = each.h
        found = traced_on_one_box(x)
        each.h = box.h
        return found

    traced_on_one_box = tf.function(lambda x: function(x, box))
    for value in (-1.0, 0.3, 0.8, 1.7, 4.0):
        expected = outcome(function, value)
        np.testing.assert_allclose(outcome(converted, value), expected, rtol=1e-5, err_msg=text)
        np.testing.assert_allclose(outcome(staged, value), expected, rtol=1e-5, err_msg=text)
    assert traced_on_one_box.experimental_get_tracing_count() == 1, text
