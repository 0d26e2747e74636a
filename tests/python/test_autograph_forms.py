"""Values whose form changes in staged code: the part that does is named."""

from __future__ import annotations

import pytest
from failing_program import Said

import holdfast as tf

ONE = tf.constant(1.0)


def test_tuples_of_two_lengths_that_a_loop_replaces():
    said = Said(
        """
        @tf.function
        def f(x):
            found = ()
            for i in tf.range(5):
                if i > 2:               #@if
                    found = (i,)        #@first
                else:
                    found = ()          #@second
            return found
        """,
        "<two lengths>",
        ONE,
    )
    assert said.error.code == "E0902"
    assert said.diagnostic.headline.endswith("give `found` a tuple of 1 and a tuple of 0")
    assert said.at("first") == said.at("second") == {"born"}


def test_a_name_of_a_callee_is_not_the_loop_s():
    said = Said(
        """
        def count(i):
            found = ()
            if i > 2:
                found = (i,)            #@callee
            return len(found)

        @tf.function
        def f(x):
            found = 0
            for i in tf.range(5):
                found += count(i)
            return found
        """,
        "<callee>",
        ONE,
    )
    assert said.error.code == "E0902" and said.at("callee") == {"born"}


IN_A_LOOP = """
@tf.function
def f(x):
    d = {}
    for _ in tf.range(3):
        x += d["a"]
        d = {}
    return d, x
"""
ON_TWO_SIDES = """
@tf.function
def f(x):
    if x > 0:
        d = {}
    else:
        d = {}
    return d
"""
TWO_FORMS = [
    ('{"a": x, "b": (x,)}', '{"a": x, "b": (x, x)}', "['b']", "a tuple of 2", "same form"),
    ('{"a": x, "b": {"c": x}}', '{"b": {"c": [x]}, "a": x}', "['b']['c']", "a list of 1", "form"),
    (
        '{"a": x, "b": {"c": x}}',
        '{"a": x, "b": {"d": x}}',
        "['b']",
        "a dict of 'd'",
        "`'c'`, `'d'`",
    ),
]


@pytest.mark.parametrize(("first", "second", "part", "what", "advice"), TWO_FORMS)
@pytest.mark.parametrize("program", [IN_A_LOOP, ON_TWO_SIDES], ids=["loop", "branch"])
def test_the_part_of_a_dict_that_changes_form_is_named(program, first, second, part, what, advice):
    text = program.replace("{}", first, 1).replace("{}", second, 1)
    said = Said(text, f"<two forms {program} {part} {what}>", ONE)
    assert said.error.code == "E0902"
    assert f"`{part}`" in said.diagnostic.headline and what in said.diagnostic.headline
    (fix,) = said.diagnostic.fixes
    assert f"`{part}` of `d`" in fix.title and advice in fix.title
