"""Code that was not converted is, when it asks a symbol for its truth; others go on as before."""

from __future__ import annotations

import functools
import subprocess
import sys
import textwrap
import threading

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
        return next(filter(lambda v: v > 0, [x, x + 1]))

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


# The functions of the program stay its own.


def test_a_function_has_its_own_code_when_the_trace_is_made(library):
    own = magnitude.__code__, larger.__code__

    @tf.function
    def f(x):
        return library.apply(magnitude, x) + functools.reduce(larger, [x, -x])

    for value in (-2.0, 3.0):
        assert float(f(tf.constant(value))) == 2 * abs(value)
        assert magnitude.__code__ is own[0] and larger.__code__ is own[1]


def test_it_has_its_converted_code_while_the_trace_runs(library):
    seen = []

    def pick(x):
        seen.append(pick.__code__)
        return x if x > 0 else -x

    own = pick.__code__

    @tf.function
    def f(x):
        return library.apply(pick, x)

    f(ONE)
    assert seen[0] is own and compiling.is_converted(seen[1])
    assert pick.__code__ is own


def test_a_parent_that_makes_functions_has_its_own_code_too(library):
    def make(k):
        def inner(x):
            return x if x > k else x * 0 + k

        return inner

    own = make.__code__

    @tf.function
    def f(x):
        return library.apply(library.apply(make, 1.5), x)

    assert [float(f(tf.constant(v))) for v in (1.0, 2.0)] == [1.5, 2.0]
    assert make.__code__ is own
    assert not compiling.is_converted(make(1.0).__code__)


def test_later_traces_of_the_same_function_begin_with_the_converted_code(library):
    runs = []

    def pick(x):
        runs.append(x.shape.rank)
        return x if tf.reduce_sum(x) > 0 else -x

    @tf.function
    def f(x):
        return library.apply(pick, x)

    f(tf.constant(-1.0))
    f(tf.constant([-1.0, -2.0]))
    assert [rank for rank in runs if rank is not None] == [0, 0, 1]


def test_a_trace_that_fails_gives_the_code_back(library):
    def pick(x):
        if x > 0:
            x = x + 1
        raise LookupError("no such thing")

    own = pick.__code__

    @tf.function
    def f(x):
        return library.apply(pick, x)

    for _ in range(2):
        with pytest.raises(LookupError):
            f(ONE)
        assert pick.__code__ is own
    assert float(tf.function(lambda x: library.apply(magnitude, x))(tf.constant(-2.0))) == 2.0


def test_a_function_that_calls_itself(library):
    def halved(x, times):
        if not times:
            return x
        if x > 1.0:
            return library.apply(halved, x / 2, times - 1)
        return x

    own = halved.__code__

    @tf.function
    def f(x):
        return library.apply(halved, x, 3)

    assert [float(f(tf.constant(v))) for v in (0.5, 3.0, 40.0)] == [0.5, 0.75, 5.0]
    assert halved.__code__ is own


def test_a_trace_inside_a_trace_keeps_the_code_of_the_outer_one(library):
    def pick(x):
        return x if x > 0 else -x

    own = pick.__code__
    inner = tf.function(lambda x: library.apply(pick, x) * 2)

    @tf.function
    def f(x):
        first = library.apply(pick, x)
        with tf.init_scope():
            assert float(inner(tf.constant(-1.0))) == 2.0  # another trace, which ends here
        return first + library.apply(pick, x - 1)

    assert float(f(tf.constant(-1.0))) == 3.0
    assert pick.__code__ is own


def test_other_threads_may_call_the_function_while_a_trace_runs(library):
    kept, other = [], []

    def pick(x):
        kept.append(threading.get_ident())
        return x if x > 0 else -x

    own = pick.__code__

    def elsewhere():
        other.extend([pick(-3), float(pick(tf.constant(-4.0))), pick(5)])

    def between(x):
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        return x

    @tf.function
    def f(x):
        return library.apply(pick, library.apply(between, library.apply(pick, x)))

    assert float(f(tf.constant(-2.0))) == 2.0
    assert other[-3:] == [3, 4.0, 5] and len(other) % 3 == 0
    assert pick.__code__ is own
    mine = threading.get_ident()
    assert len([who for who in kept if who != mine]) == len(other)  # theirs are not taken back


def test_several_threads_may_trace_the_function_at_once(library):
    def pick(x):
        return x if tf.reduce_sum(x) > 0 else -x

    own, results = pick.__code__, {}
    start = threading.Barrier(4)

    def work(size):
        f = tf.function(lambda x: library.apply(pick, x))
        start.wait()
        results[size] = f(-tf.ones([size])).numpy().tolist()

    threads = [threading.Thread(target=work, args=(size,)) for size in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {size: [1.0] * size for size in range(1, 5)}
    assert pick.__code__ is own


def test_a_function_whose_code_the_program_changes_meanwhile_keeps_that(library):
    def pick(x):
        return x if x > 0 else -x

    def other(x):
        return x

    def change(x):
        if compiling.is_converted(pick.__code__):
            pick.__code__ = other.__code__
        return x

    @tf.function
    def f(x):
        return library.apply(change, library.apply(pick, x))

    f(ONE)
    assert pick.__code__ is other.__code__


def test_a_generator_that_asks_a_symbol(library):
    def sizes(values):
        for value in values:
            yield value if value > 0 else -value

    own = sizes.__code__

    @tf.function
    def f(x):
        return tf.stack(library.apply(list, library.apply(sizes, [x, -x, x + 1])))

    assert f(tf.constant(-2.0)).numpy().tolist() == [2.0, 2.0, 1.0]
    assert sizes.__code__ is own


FROZEN = """
    import functools, gc, sys
    import holdfast as tf

    def larger(a, b):
        return a if a > b else b

    def make(least):
        def inner(x):
            if x > least:
                return x
            return x * 0 + least
        return inner

    class Clip:
        def __init__(self):
            self.steps = [lambda x: x - 1 if x > 2 else x]
        def __call__(self, x):
            while x > 4:
                x = x - 1
            return x

    clip = Clip()
    own = [f.__code__ for f in (larger, make, Clip.__call__, clip.steps[0])]
    hidden = {"f": lambda x: x * 3 if x > 0 else x}
    pick = functools.partial(map, hidden.pop("f"))  # no name of the program leads there but this
    gc.freeze()

    @tf.function
    def f(x):
        best = functools.reduce(larger, [x, x * 2, -x])
        floor = list(map(make(1.5), [x]))[0]
        return best, floor, list(map(clip, [x]))[0], list(map(clip.steps[0], [x]))[0], list(pick([x]))[0]

    for value in (-1.0, 9.0):
        print(*(float(part) for part in f(tf.constant(value))))
    print([f.__code__ for f in (larger, make, Clip.__call__, clip.steps[0])] == own)
    print(gc.get_freeze_count() > 0)
    """


def test_objects_that_were_frozen_are_found_all_the_same(tmp_path):
    path = tmp_path / "frozen.py"
    path.write_text(textwrap.dedent(FROZEN))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "1.0 1.5 -1.0 -1.0 -1.0",
        "18.0 9.0 4.0 8.0 27.0",
        "True",
        "True",
    ]


def test_two_functions_that_one_parent_makes(library):
    def make(k):
        def upper(x):
            return x if x < k else x * 0 + k

        def lower(x):
            return x if x > -k else x * 0 - k

        return upper, lower

    own = make.__code__

    @tf.function
    def f(x):
        upper, lower = library.apply(make, 1.5)
        return library.apply(lower, library.apply(upper, x))

    assert [float(f(tf.constant(v))) for v in (1.0, 2.0, -3.0)] == [1.0, 1.5, -1.5]
    assert make.__code__ is own


def test_a_method_that_calls_one_which_fills_a_list():
    class Rows:
        def doubled(self, x):
            out = []
            for row in x:
                out.append(row * 2)
            return out

        @tf.function(autograph=False, input_signature=[tf.TensorSpec([None, 2])])
        def both(self, x):
            return tf.stack(self.doubled(x))

    assert Rows().both(tf.ones((3, 2))).numpy().tolist() == [[2.0, 2.0]] * 3
