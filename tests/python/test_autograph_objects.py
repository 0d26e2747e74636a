"""Objects, dicts, lists and dataclasses in staged loops and branches: as plain Python has them.

Each program of the files below runs twice, traced and as it is, and shows the same; none of them
has a message.
"""

import collections
import linecache
import pathlib
import re

import numpy as np
import pytest

import holdfast as tf

DATA = pathlib.Path(__file__).parent / "data"
FILES = [
    "objects_in_staged_code.txt",
    "left_in_several_places.txt",
    "lists_as_stacks.txt",
    "operators_of_classes.txt",
    "chosen_by_tensors.txt",
    "one_of_several_objects.txt",
    "chosen_numbers.txt",
]


def programs():
    text = "".join((DATA / file).read_text() for file in FILES)
    for part in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        title, _, source = part.partition("\n")
        yield pytest.param(source, id=title.replace(" ", "_"))


def plain(value):
    """A value with numbers in place of tensors; what holds others says what it is."""
    kind = type(value).__name__
    if isinstance(value, dict):
        return kind, {key: plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return kind, [plain(part) for part in value]
    return value if isinstance(value, bool) else np.asarray(value).round(4).tolist()


def shown(source, file):
    """What a program shows."""
    seen = []
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    space = {"__name__": "shown", "tf": tf, "np": np}
    space["show"] = lambda *values: seen.append([plain(value) for value in values])
    exec(compile(source, file, "exec"), space)
    return seen


@pytest.mark.parametrize("source", list(programs()))
def test_a_program_shows_what_it_shows_untraced(source, request):
    file = f"<{request.node.callspec.id}>"
    traced = shown(source, file)
    tf.config.run_functions_eagerly(True)
    try:
        assert traced == shown(source, f"{file} eager")
    finally:
        tf.config.run_functions_eagerly(False)
    assert traced


# What stands for one of several objects can't be changed: nobody knows yet which one it is.

AFTER_A_BRANCH = """
class Point:
    def __init__(self, x):
        self.x = x
@tf.function
def f(x):
    p = q = Point(x)
    if x > 0.0:
        p = Point(x + 1.0)
    {}
    return p.x + q.x
f(tf.constant(1.0))
"""
IN_A_LOOP = """
class Point:
    def __init__(self, x):
        self.x = x
@tf.function
def f(x):
    p = q = Point(x)
    while p.x < 9.0:
        p.x = p.x + 1.0
        p = Point(p.x * 2.0)
    return q.x
f(tf.constant(1.0))
"""


@pytest.mark.parametrize(
    "source", [AFTER_A_BRANCH.format("p.x = 3.0"), AFTER_A_BRANCH.format("q.x = 3.0"), IN_A_LOOP]
)
def test_one_of_several_objects_is_not_changed(source):
    with pytest.raises(TypeError, match=r"E0902\]: `x` is assigned of a `Point` that is one of"):
        shown(source, "<several>")


def test_one_of_several_objects_is_read():
    assert shown(AFTER_A_BRANCH.format("q = p") + "show(f(tf.constant(3.0)))", "<read>") == [[8.0]]


def test_a_list_that_grew_behind_a_method_is_not_read_in_the_trace():
    kept = []
    add = kept.append

    @tf.function
    def f(x, n):
        for _ in tf.range(n):
            add(x)
        return x + len(kept)

    with pytest.raises(tf.errors.UnimplementedError, match="a list that grew in a staged loop"):
        f(tf.constant(1.0), tf.constant(2))


@pytest.mark.parametrize("change", ["t.append(1)", "t.extend([1])", "t += [1]", "t = [1] + t"])
def test_a_tuple_that_grew_refuses_what_a_tuple_refuses(change):
    source = f"""
@tf.function
def f(n):
    t = ()
    for i in tf.range(n):
        t += (i,)
    {change}
    return t
f(tf.constant(2))
"""
    said = []
    for eager in (False, True):
        tf.config.run_functions_eagerly(eager)
        try:
            with pytest.raises((AttributeError, TypeError)) as caught:
                shown(source, f"<tuple {eager}>")
        finally:
            tf.config.run_functions_eagerly(False)
        said.append((type(caught.value), str(caught.value)))
    assert said[0] == said[1]


class _ByKey(collections.defaultdict):
    def __missing__(self, key):
        self[key] = made = self.default_factory(key)
        return made


def test_a_dict_makes_what_it_lacks_in_its_own_way():
    made = _ByKey(lambda key: key * 2)

    @tf.function
    def f(x):
        return x * made[3]

    assert float(f(tf.constant(2.0))) == 12.0


def test_a_stack_that_is_empty_stops_the_run():
    @tf.function
    def f(n):
        values = []
        for i in tf.range(n):
            values.append(i)
        return values.pop()

    assert int(f(tf.constant(3))) == 2
    with pytest.raises(IndexError, match="the list is empty"):
        f(tf.constant(0))


def test_a_list_from_outside_that_grows_in_a_loop_is_not_popped():
    kept = [tf.constant(1)]

    @tf.function
    def f(n):
        for i in tf.range(n):
            kept.append(i)
        return kept.pop()

    with pytest.raises(NotImplementedError, match="one of the function's own") as caught:
        f(tf.constant(3))
    assert caught.value.code == "E1105"
    assert len(kept) == 1


# What stands for one of several objects from outside is no object for code that is not converted.

ONE_OF_TWO = """
import heapq
class Point:
    def __init__(self, x):
        self.x = tf.constant(x)
    def __lt__(self, other):
        return False
    def __enter__(self):
        return self
    def __exit__(self, *raised):
        return False
a, b, kept = Point(1.0), Point(2.0), Point(3.0)
rows, more = [1.0], [2.0, 3.0]
@tf.function
def f(x):
    p = a if x > 0 else b
    row = rows if x > 0 else more
    {}
    return x
f(tf.constant(1.0))
"""


@pytest.mark.parametrize(
    "line",
    [
        "kept.all = [p]",
        "kept.other = {'p': (p, x)}",
        "heapq.heappush([p], a)",
        "{p: 1}",
        "for each in row: x = x + each",
        "with p: pass",
    ],
)
def test_one_of_several_objects_from_outside_stays_in_the_graph(line):
    with pytest.raises(TypeError, match=r"E0902\]: a staged conditional expression gives `"):
        shown(ONE_OF_TWO.replace("{}", line, 1), "<outside>")


def test_an_object_is_not_replaced_by_one_of_several_in_a_loop():
    line = "for i in tf.range(2): p = a if i > 0 else p"
    with pytest.raises(
        TypeError, match=r"E0902\]: .* loop turns `p` from .* one of several Points"
    ):
        shown(ONE_OF_TWO.replace("p = a if x > 0 else b", "p = b").replace("{}", line, 1), "<loop>")
