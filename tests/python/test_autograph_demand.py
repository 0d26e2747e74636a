"""Code that was not converted is, when it asks a symbol for its truth; others go on as before."""

from __future__ import annotations

import functools
import subprocess
import sys
import textwrap

import pytest

import holdfast as tf
from holdfast import autograph
from holdfast._autograph import compiling

ONE = tf.constant(1.0)


@pytest.fixture
def library(tmp_path, monkeypatch):
    """An installed package that calls what it is given."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "a_library.py").write_text(
        textwrap.dedent(
            """
            import functools

            def apply(function, *args):
                return function(*args)

            def wrapped(function):
                @functools.wraps(function)
                def run(*args):
                    return function(*args)
                return run

            def largest(a, b):
                return a if a > b else b
            """
        )
    )
    monkeypatch.syspath_prepend(str(folder))
    sys.modules.pop("a_library", None)
    import a_library

    return a_library


def magnitude(x):
    if x > 0:
        return x
    return -x


def larger(a, b):
    if a > b:
        return a
    return b


def test_a_function_that_is_not_to_be_converted_at_first():
    @tf.function(autograph=False)
    def f(x):
        if x > 0:
            return x
        return -x

    assert [float(f(tf.constant(v))) for v in (2.0, -3.0)] == [2.0, 3.0]
    assert f.experimental_get_tracing_count() == 1


def test_a_function_given_to_reduce_and_map():
    @tf.function
    def f(x):
        values = [x, x * 2, -x]
        return functools.reduce(larger, values), list(map(magnitude, values))

    best, sizes = f(tf.constant(-1.0))
    assert float(best) == 1.0 and [float(v) for v in sizes] == [1.0, 2.0, 1.0]


def test_a_function_called_by_a_library(library):
    def pick(x):
        return x * 2 if x > 0 else x

    wrapped = library.wrapped(pick)

    @tf.function
    def f(x):
        return library.apply(pick, x) + wrapped(x)

    assert [float(f(tf.constant(v))) for v in (2.0, -1.0)] == [8.0, -2.0]


def test_a_function_that_its_parent_makes_each_time(library):
    def make(k):
        def inner(x):
            if x > k:
                return x
            return x * 0 + k

        return inner

    @autograph.experimental.do_not_convert
    def through(x):
        return library.apply(make(1.5), x)

    @tf.function
    def f(x):
        return through(x)

    assert [float(f(tf.constant(v))) for v in (1.0, 2.0)] == [1.5, 2.0]


def test_a_method_called_by_a_library(library):
    class Clip:
        top = 2.0

        def __call__(self, x):
            while x > self.top:
                x = x - 1
            return x

    clip = Clip()

    @tf.function
    def f(x):
        return library.apply(clip, x)

    assert [float(f(tf.constant(v))) for v in (5.0, 1.0)] == [2.0, 1.0]


def test_a_conditional_expression_in_a_comprehension(library):
    @tf.function(autograph=False)
    def f(x):
        return tf.stack([v if v > 0 else -v for v in [x, x + 1, x + 2]])

    assert f(tf.constant(-1.5)).numpy().tolist() == [1.5, 0.5, 0.5]


def test_the_function_still_does_what_it_did_in_eager_code(library):
    def pick(x):
        if x > 0:
            return "positive"
        return "other"

    @tf.function
    def f(x):
        library.apply(lambda v: 1 if v > 0 else 2, x)
        return x

    f(ONE)
    assert [pick(1), pick(tf.constant(-1.0))] == ["positive", "other"]


def test_effects_of_the_dropped_trace_are_taken_back(library):
    kept = []
    calls = []

    def note(x):
        kept.append(x)
        return x if x > 0 else -x

    @tf.function
    def f(x):
        calls.append("python")
        kept.append(x)
        return library.apply(note, x)

    f(ONE)
    assert len(kept) == 2
    f(tf.constant(2.0))
    assert [float(v) for v in kept] == [1.0, 1.0, 2.0, 2.0]
    assert calls == ["python"]


def test_the_code_of_a_library_is_left_alone(library):
    @tf.function
    def f(x):
        return library.largest(x, 1.0)

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError) as caught:
        f(ONE)
    assert caught.value.code == "E0201"
    assert not compiling.is_converted(library.largest.__code__)


def test_what_c_code_asks_can_not_be_staged():
    @tf.function
    def f(x):
        return sorted([x, x + 1])[0]

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError) as caught:
        f(ONE)
    assert caught.value.code == "E0201"


def test_code_without_source_can_not_be_staged():
    space = {}
    exec("def pick(x):\n    return x if x > 0 else -x", space)

    @tf.function
    def f(x):
        return space["pick"](x)

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        f(ONE)


def test_a_program_in_a_file_of_its_own(tmp_path):
    """Nothing depends on the modules of the tests."""
    path = tmp_path / "alone.py"
    path.write_text(
        textwrap.dedent(
            """
            import functools
            import holdfast as tf

            def larger(a, b):
                return a if a > b else b

            @tf.function(autograph=False)
            def f(x):
                return functools.reduce(larger, [x, x * 2, -x])

            print(float(f(tf.constant(-1.0))), float(f(tf.constant(3.0))))
            """
        )
    )
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1.0 6.0\n", "")


@pytest.mark.parametrize("caught", [BaseException, Exception])
def test_a_program_that_catches_everything_is_traced_again_all_the_same(library, caught):
    @tf.autograph.experimental.do_not_convert
    def careful(x):
        try:
            return library.apply(sign_of, x)
        except caught:
            return x * 100

    f = tf.function(careful)
    assert [float(f(tf.constant(v))) for v in (3.0, -3.0)] == [1.0, -1.0]


def test_a_program_that_turns_everything_into_its_own_error_is_traced_again(library):
    @tf.autograph.experimental.do_not_convert
    def careful(x):
        try:
            return library.apply(sign_in_a_wrapper, x)
        except BaseException as error:
            raise ValueError("it did not work") from error

    f = tf.function(careful)
    assert [float(f(tf.constant(v))) for v in (3.0, -3.0)] == [1.0, -1.0]


def sign_of(x):
    return tf.ones([]) if x > 0 else -tf.ones([])


def sign_in_a_wrapper(x):
    return tf.ones([]) if x > 0 else -tf.ones([])


def test_a_graph_by_hand_says_why_a_symbol_has_no_truth(graph):
    x = tf.compat.v1.placeholder(tf.float32, [])
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        truth_by_hand(x)


def truth_by_hand(x):
    return 1 if x > 0 else 2
