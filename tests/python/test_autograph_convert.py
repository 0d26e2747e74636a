"""Finding and compiling: whatever a function is made from, its lines, names and cells stay."""

from __future__ import annotations

import functools
import gc
import inspect
import linecache
import subprocess
import sys
import textwrap
import traceback
import types
import weakref

import pytest

import holdfast as tf
from holdfast import autograph
from holdfast._autograph import compiling, conversion


def is_converted(function):
    inner = getattr(function, "__func__", function)
    inner = inner.func if isinstance(inner, functools.partial) else inner
    return compiling.is_converted(inner.__code__)


def program(text, name="<a program>", **names):
    """Runs `text` as a file that linecache knows."""
    text = textwrap.dedent(text)
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"__name__": "a_program", **names}
    exec(compile(text, name, "exec"), space)
    return types.SimpleNamespace(**{k: v for k, v in space.items() if k != "__builtins__"})


# What can be converted.


def test_a_lambda():
    assert autograph.convert(lambda x: 1 if x else 2)(0) == 2


def test_lambdas_on_one_line_are_told_apart():
    # fmt: off
    fs = [lambda x: x + 1 if x else 0, lambda x: x + 2 if x else 0, lambda x: (lambda y: y * 3)(x)]
    # fmt: on
    converted = [autograph.convert(f) for f in fs]
    assert all(map(is_converted, converted))
    assert [f(5) for f in converted] == [6, 7, 15]


def test_a_lambda_inside_a_lambda():
    outer = lambda x: lambda y: x if y else -x
    inner = outer(3)
    assert autograph.convert(inner)(0) == -3
    assert autograph.convert(outer)(4)(1) == 4


def test_methods_keep_their_object():
    class Scale:
        def __init__(self, by):
            self.by = by

        def up(self, x):
            return x * self.by if x else self

        __call__ = up

        @classmethod
        def made(cls, by):
            return cls(by) if by else cls

    scale = Scale(3)
    assert autograph.convert(scale.up)(2) == 6
    assert autograph.convert(scale.up)(0) is scale
    assert autograph.convert(scale)(4) == 12
    assert autograph.convert(Scale.made)(0) is Scale
    assert autograph.convert(functools.partial(scale.up, 5))() == 15


def test_a_private_name_is_the_classs():
    class Hidden:
        def __init__(self):
            self.__value = 1

        def __get(self):
            return self.__value

        def read(self, __key=0):
            def inner():
                return self.__get() + __key if self.__value else 0

            return inner()

    assert autograph.convert(Hidden().read)() == 1


def test_super_without_arguments():
    class Base:
        def value(self, x):
            return x + 1

    class Derived(Base):
        def value(self, x):
            if x > 0:
                return super().value(x) * 10
            return [super(Derived, self).value(i) for i in range(2)]

    assert autograph.convert(Derived().value)(1) == 20
    assert autograph.convert(Derived().value)(0) == [1, 2]


def test_what_has_no_source_comes_back_as_it_is():
    space = {}
    exec("def f(x):\n    return x if x else 0", space)
    for function in (len, space["f"], functools.partial(len), [].append, dict):
        assert autograph.convert(function) is function


def test_a_program_that_linecache_knows():
    made = program("def f(x):\n    return 'yes' if x else 'no'\n")
    assert is_converted(autograph.convert(made.f))
    assert autograph.convert(made.f)(0) == "no"


def test_a_file_that_changed_is_not_believed(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def f(x):\n    return x\n\ndef g(): pass\n")
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    path.write_text("def f(x, y):\n    return x + y\n")
    linecache.checkcache(str(path))
    assert autograph.convert(space["f"]) is space["f"]


def test_converting_twice_is_converting_once():
    def f(x):
        return 1 if x else 2

    once = autograph.convert(f)
    assert autograph.convert(once) is once
    assert autograph.convert(f).__code__ is once.__code__


def test_equal_functions_of_two_files_stay_apart():
    text = "def f(x):\n    raise ValueError if x else KeyError\n"
    a, b = program(text, "<file a>"), program(text, "<file b>")
    assert a.f.__code__ == b.f.__code__
    for made, file in ((a, "<file a>"), (b, "<file b>")):
        with pytest.raises(ValueError) as caught:
            autograph.convert(made.f)(1)
        assert traceback.extract_tb(caught.value.__traceback__)[-1].filename == file


# What stays the same.


def test_cells_are_shared_with_the_original():
    n = 1

    def read():
        return n if n else 0

    def write(value):
        nonlocal n
        if value:
            n = value

    autograph.convert(write)(7)
    assert n == 7
    assert autograph.convert(read)() == 7
    assert autograph.convert(read).__closure__ == read.__closure__


def test_signature_defaults_and_names_stay():
    def f(a, /, b: int = 2, *c, d, e="x", **g) -> str:
        """Says something."""
        return (a, b, c, d, e, g) if a else None

    f.mark = "kept"
    f.__wrapped__ = len
    new = autograph.convert(f)
    assert new(1, d=3, z=4) == (1, 2, (), 3, "x", {"z": 4})
    del f.__wrapped__, new.__wrapped__
    assert inspect.signature(new) == inspect.signature(f)
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__defaults__"):
        assert getattr(new, name) == getattr(f, name)
    assert new.mark == "kept"
    assert inspect.getsource(new) == inspect.getsource(f)


def test_inner_functions_keep_their_names_and_doc():
    def f(x):
        def inner(y):
            """Inside."""
            if y:
                return lambda: y

        class Kind:
            def method(self):
                return self

        return inner, inner(1), Kind

    plain, converted = f(1), autograph.convert(f)(1)
    for a, b in zip(plain, converted, strict=True):
        assert (a.__name__, a.__qualname__, a.__doc__) == (b.__name__, b.__qualname__, b.__doc__)


def test_nothing_keeps_a_converted_function_alive():
    def make():
        def f(x):
            return f(x - 1) if x else 0

        return f

    f = make()
    autograph.convert(f)
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def test_code_that_is_gone_is_forgotten():
    before = len(conversion._forms)
    made = program("def f(x):\n    return 1 if x else 2\n", "<soon gone>")
    autograph.convert(made.f)
    assert len(conversion._forms) == before + 1
    del made
    gc.collect()
    assert len(conversion._forms) == before


# Lines.


FAILING = """\
def helper(x):
    return 1 / x                      # 2

def f(x, where):
    y = 0
    if where == "branch":
        y = helper(x)                 # 7
    elif where == "else":
        y = (
            1
            / x                       # 9: the expression begins there
        )
    for i in range(2):
        if where == "loop":
            y += helper(x)            # 15
    while where == "while":
        return [1 / x for _ in "a"]   # 17
    with open(__file__) if where == "with" else nothing():
        if where == "nested":
            def inner():
                return x[0]           # 21
            inner()
    assert where != "assert", "no"    # 23
    a = (x if where == "and" else 1) and 1 / (x if where == "and" else 1)
    if where == "method":
        (x
         .missing                     # 27
         .again)
    return nothing(
        1 if where == "call" else 0   # 29: the call begins there
    )
"""


@pytest.mark.parametrize(
    ("where", "lines"),
    [
        ("branch", [7, 2]),
        ("else", [10]),
        ("loop", [15, 2]),
        ("while", [17]),
        ("nested", [22, 21]),
        ("assert", [23]),
        ("method", [27]),
        ("call", [29]),
    ],
)
def test_tracebacks_show_the_users_lines(where, lines):
    class nothing:
        def __init__(self, x=0):
            if x:
                raise ValueError

        def __enter__(self): ...

        def __exit__(self, *_): ...

    made = program(FAILING, "<failing>", nothing=nothing, __file__=__file__)
    shown = []
    for function in (made.f, autograph.convert(made.f)):
        with pytest.raises(Exception) as caught:
            function(0, where)
        entries = traceback.extract_tb(caught.value.__traceback__)
        mine = [(e.lineno, e.name) for e in entries if e.filename == "<failing>"]
        # A statement that became a function is there twice: where it stands, and where it runs.
        shown.append([each for i, each in enumerate(mine) if each not in mine[i + 1 :]])
    plain, converted = shown
    assert converted[-1] == plain[-1]
    assert [name for _, name in converted][-1] == plain[-1][1]
    assert {line for line, _ in plain} <= {line for line, _ in converted}


def test_a_debugger_stops_on_the_users_lines():
    made = program("def f(x):\n    y = 1\n    if x:\n        y = 2\n    return y\n", "<stepped>")
    seen = []

    def tracer(frame, event, arg):
        if frame.f_code.co_filename == "<stepped>" and event == "line":
            seen.append(frame.f_lineno)
        return tracer

    converted = autograph.convert(made.f)
    sys.settrace(tracer)
    try:
        converted(1)
    finally:
        sys.settrace(None)
    assert [line for line in (2, 3, 4, 5) if line not in seen] == []
    assert seen.index(2) < seen.index(4) < len(seen) - 1 - seen[::-1].index(5)


def test_the_place_of_an_op_is_the_users():
    born = {}

    @tf.function
    def f(x):
        y = x + 1
        if x > 0:
            z = tf.square(
                y
            )  # fmt: skip
            born["z"] = z._born()
        else:
            z = y
        born["y"] = y._born()
        return z

    first = f.python_function.__code__.co_firstlineno
    f(tf.constant(1.0))
    assert (born["y"]["line"] - first, born["y"]["source"].strip()) == (2, "y = x + 1")
    assert born["y"]["qualname"].endswith("f") and born["z"]["qualname"].endswith("f")
    assert (born["z"]["line"] - first, born["z"]["source"].strip()) == (4, "z = tf.square(")


# to_code and its neighbours.


def test_to_code_shows_what_runs():
    def f(x):
        if x > 0:
            return x
        return -x

    code = autograph.to_code(f)
    assert code.startswith("def f(x):") and "hf__.if_(x > 0," in code
    compile(code, "<shown>", "exec")
    assert autograph.to_code(tf.function(f)) == code


def test_to_code_of_something_without_source():
    with pytest.raises(ValueError, match="no source"):
        autograph.to_code(len)


def test_to_graph_converts():
    def f(x):
        return x if x > 0 else -x

    assert autograph.to_graph(f)(-2) == 2
    with pytest.raises(NotImplementedError, match="recursive=False"):
        autograph.to_graph(f, recursive=False)


def test_do_not_convert_keeps_a_function_as_it_is():
    @autograph.experimental.do_not_convert
    def plain(x):
        return x if x else 0

    @autograph.experimental.do_not_convert()
    def plain_too(x):
        return x if x else 0

    assert autograph.convert(plain) is plain
    assert autograph.convert(plain_too) is plain_too
    assert not is_converted(plain)

    @tf.function
    def f(x):
        return plain(x)

    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        f(tf.constant(1.0))


def test_features_and_trace(capsys):
    everything = autograph.experimental.Feature.all()
    assert autograph.experimental.Feature.LISTS in everything
    rest = autograph.experimental.Feature.all_but(autograph.experimental.Feature.LISTS)
    assert set(everything) - set(rest) == {autograph.experimental.Feature.LISTS}
    autograph.trace("while tracing", 1)
    assert capsys.readouterr().out == "while tracing 1\n"


# Generators and coroutines.


def test_a_generator_is_refused_at_the_decorator():
    with pytest.raises(TypeError) as caught:

        @tf.function
        def batches(x):
            for i in range(3):
                yield x * i

    assert caught.value.code == "E0603"
    labels = {label.role: label.loc for label in caught.value.diagnostic.labels}
    assert labels["cut"].source.strip() == "yield x * i"
    assert labels["used"].source.strip() == "@tf.function"
    assert "TensorArray" in str(caught.value) and "batches" in caught.value.diagnostic.headline


def test_a_coroutine_is_refused_at_the_decorator():
    with pytest.raises(TypeError) as caught:

        @tf.function
        async def later(x):
            return await x

    assert caught.value.code == "E0603" and "`later` is a coroutine" in caught.value.diagnostic.why
    assert "`await`" in str(caught.value)


def test_a_generator_that_is_called_runs_as_python_does():
    def rows(x):
        for i in range(3):
            yield x * i

    @tf.function
    def f(x):
        total = x * 0
        for row in rows(x):
            total += row
        return total

    assert float(f(tf.constant(2.0))) == 6.0


def test_frames_are_counted_as_the_program_has_them():
    def who():
        for _ in range(1):
            if _ == 0:
                return sys._getframe(1).f_code.co_name, inspect.currentframe().f_code.co_name

    seen = []

    @tf.function
    def asks(x):
        for _ in range(1):
            seen.append((sys._getframe().f_code.co_name, *who()))
        return x

    asks(tf.constant(1.0))
    assert seen == [("asks", "asks", "who")]
    with pytest.raises(ValueError, match="not deep enough"):
        tf.function(lambda: sys._getframe(10_000))()


def test_code_is_converted_after_the_collector_was_frozen(tmp_path):
    source = """
import gc
import holdfast as tf

def larger(a, b):
    return a if a > b else b

def clipped(x):
    if larger(x, tf.constant(0.0)) > 1.0:
        return tf.constant(1.0)
    return x

own = clipped.__code__, larger.__code__
gc.freeze()
f = tf.function(lambda x: list(map(clipped, [x, -x])))
print([float(y) for y in f(tf.constant(3.0))], (clipped.__code__, larger.__code__) == own)
"""
    (tmp_path / "app.py").write_text(source)
    done = subprocess.run(
        [sys.executable, "app.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("[1.0, -3.0] True\n", "")
