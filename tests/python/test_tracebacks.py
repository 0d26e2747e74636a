"""Tracebacks end in the user's lines, whatever leaves us and wherever the program runs."""

import copy
import inspect
import os
import pathlib
import pickle
import subprocess
import sys
import textwrap
import traceback
import types

import numpy as np
import pytest

import holdfast as tf
from holdfast._names.tensorflow import namespaces

PACKAGE = str(pathlib.Path(tf.__file__).parent)


def own(x):
    raise KeyError("mine")


@tf.function
def traced(x, scale=2.0):
    return own(x) * scale


@tf.function
def looped(x):
    for _ in tf.range(3):
        x = tf.map_fn(own, x)
    return x


class Net(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([2])])
    def forward(self, x):
        return x

    @property
    def broken(self):
        return tf.matmul(tf.ones([2]), tf.ones([3]))


def in_graph():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [2], name="x")
        y = x * 2.0
    with tf.compat.v1.Session(graph=graph) as session:
        session.run(y)


def in_context():
    with tf.GradientTape() as tape, tape.stop_recording():
        own(1)


def lost_tensor():
    kept = []

    @tf.function
    def keeps(x):
        kept.append(x + 1.0)
        return x

    keeps.get_concrete_function(tf.TensorSpec([], tf.float32))
    return kept[0] + 1.0


@tf.custom_gradient
def custom(x):
    return own(x)


FAILING = {
    "a traced function's own error": lambda: traced(tf.constant(1.0)),
    "an error in a staged loop": lambda: looped(tf.ones([2])),
    "an argument of another shape": lambda: Net().forward(tf.ones([3])),
    "an op in a property": lambda: Net().broken,
    "a session": in_graph,
    "a context": in_context,
    "a lost tensor": lost_tensor,
    "a gradient of one's own": lambda: custom(tf.constant(1.0)),
    "vectorized_map": lambda: tf.vectorized_map(own, tf.ones([2])),
    "py_function": lambda: tf.py_function(own, [1.0], tf.float32),
    "fold": lambda: tf.foldl(lambda a, b: own(a), tf.ones([2])),
    "cond": lambda: tf.cond(tf.constant(True), lambda: own(1), lambda: 1),
    "an initial value": lambda: tf.Variable(lambda: own(1)),
    "nest": lambda: tf.nest.map_structure(own, [1, 2]),
    "an unknown name": lambda: tf.nosuch,
    "an unknown name below": lambda: tf.math.nosuch,
    "a name we do not have": lambda: tf.saved_model.save,
    "a dtype that is none": lambda: tf.cast(1, "nope"),
    "an index": lambda: tf.constant([1, 2])[5],
    "assign": lambda: tf.Variable([1.0]).assign([1.0, 2.0]),
    "a check": lambda: tf.debugging.assert_equal(tf.constant(1), 2),
    "raw op": lambda: tf.raw_ops.Add(x=1),
    "tensor array": lambda: tf.TensorArray(tf.float32, 1).write(0, "x"),
    "get_variable": lambda: tf.compat.v1.get_variable("a name with spaces", shape="x"),
    "convert": lambda: tf.convert_to_tensor(object()),
    "random": lambda: tf.random.uniform([2], dtype=tf.int32),
    "switch_case": lambda: tf.switch_case(tf.constant(0), [lambda: own(1)]),
    "concrete": lambda: tf.function(lambda x: x).get_concrete_function(1, 2),
    "gradient": lambda: tf.GradientTape().gradient(1, 2),
    "import_graph_def": lambda: tf.compat.v1.import_graph_def("x"),
}


@pytest.mark.parametrize("name", FAILING)
def test_no_frame_of_ours_is_shown(name):
    with pytest.raises(Exception) as caught:
        FAILING[name]()
    shown = [f.filename for f in traceback.extract_tb(caught.value.__traceback__)]
    assert shown
    assert not [file for file in shown if file.startswith(PACKAGE)]
    assert shown[-1] == __file__
    seen = caught.value
    while seen.__context__ is not None:  # what we tried before is no news
        seen = seen.__context__
        frames = traceback.extract_tb(seen.__traceback__)
        assert not [f for f in frames if f.filename.startswith(PACKAGE)]


def test_the_users_own_deep_frames_stay():
    with pytest.raises(KeyError) as caught:
        traced(tf.constant(1.0))
    names = [f.name for f in traceback.extract_tb(caught.value.__traceback__)]
    assert names[-2:] == ["traced", "own"]


def test_what_the_user_calls_stays():
    """A library that the user's code calls is shown, also below a function of ours."""

    @tf.function
    def reads(x):
        return np.linalg.inv(np.zeros([2, 2])) * x

    with pytest.raises(np.linalg.LinAlgError) as caught:
        reads(tf.constant(1.0))
    files = [f.filename for f in traceback.extract_tb(caught.value.__traceback__)]
    assert any("numpy" in file for file in files)
    assert not [file for file in files if file.startswith(PACKAGE)]


PROGRAM = """
import holdfast as tf

@tf.function
def step(x):
    return tf.reshape(x, [7])

def train():
    return step(tf.ones([2, 3]))

train()
"""


def run(tmp_path, *command, **env):
    done = subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        env={**os.environ, "HOLDFAST_DIAG": "", **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stdout + done.stderr


def ways(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "test_program.py").write_text(
        textwrap.dedent(
            """
            import runpy
            def test_it():
                runpy.run_path("program.py")
            """
        )
    )
    (tmp_path / "executes.py").write_text(
        "import traceback\n"
        "try:\n"
        "    exec(compile(open('program.py').read(), 'program.py', 'exec'), {})\n"
        "except Exception:\n"
        "    print(traceback.format_exc())\n"
    )
    (tmp_path / "threads.py").write_text(
        "import threading, runpy\n"
        "t = threading.Thread(target=lambda: runpy.run_path('program.py'))\n"
        "t.start(); t.join()\n"
    )
    return {
        "script": ["program.py"],
        "exec": ["executes.py"],
        "thread": ["threads.py"],
        "pytest": ["-m", "pytest", "-p", "no:cacheprovider", "test_program.py"],
        "stdin": ["-c", PROGRAM],
    }


@pytest.mark.parametrize("how", ["script", "exec", "thread", "pytest", "stdin"])
def test_wherever_the_program_runs(how, tmp_path):
    said = run(tmp_path, *ways(tmp_path)[how])
    assert "E1102" in said
    assert "in train" in said or "train()" in said
    assert f"{PACKAGE}{os.sep}_" not in said


def test_full_shows_all(tmp_path):
    said = run(tmp_path, *ways(tmp_path)["script"], HOLDFAST_DIAG="full")
    assert f"{PACKAGE}{os.sep}_" in said


def test_in_a_notebook(tmp_path):
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    result = shell.run_cell(PROGRAM)
    shown = traceback.extract_tb(result.error_in_exec.__traceback__)
    assert shown[-1].name == "step"
    assert not [f for f in shown if f.filename.startswith(PACKAGE)]


@tf.function
def two(x, y=1):
    return x


BAD_CALLS = {
    "tf.reduce_sum()": ("needs the argument `input_tensor`", "`axis`"),
    "tf.matmul(1)": ("needs the argument `b`", "`transpose_a`"),
    "tf.add(1, 2, z=3)": ("has no parameter `z`", "`x`"),
    "tf.constant()": ("needs the argument `value`", "dtype=None"),
    "tf.map_fn()": ("needs the arguments `fn` and `elems`", "parallel_iterations"),
    "tf.Variable(1.0).assign()": ("needs the argument `value`", "use_locking"),
    "tf.GradientTape(1, 2, 3)": ("got 3 positional arguments, expected at most 2", "persistent"),
    "tf.Graph(3)": ("got 1 positional argument, takes no", "no parameters"),
    "tf.TensorSpec()": ("needs the argument `shape`", "dtype"),
    "two()": ("needs the argument `x`", "x, y=1"),
    "two(1, 2, 3)": ("got 3 positional arguments, expected at most 2", "x, y=1"),
    "two(1, z=2)": ("has no parameter `z`", "x, y=1"),
    "two(1, x=2)": ("got `x` twice", "x, y=1"),
    "two.get_concrete_function()": ("needs the argument `x`", "x, y=1"),
    "Net().forward()": ("needs the argument `x`", "`x`"),
    "tf.function(lambda a: a)()": ("needs the argument `a`", "`a`"),
    "tf.constant(1, dtype=tf.int32, value=2)": ("got `value` twice", "value"),
    "tf.compat.v1.Session().run()": ("needs the argument `fetches`", "feed_dict"),
}


@pytest.mark.parametrize("call", BAD_CALLS)
def test_a_bad_call_names_the_function_and_its_parameters(call, tmp_path):
    program = tmp_path / "bad_call.py"
    program.write_text(f"result = {call}\n")
    code = compile(program.read_text(), str(program), "exec")
    with pytest.raises(TypeError) as caught:
        exec(code, {"tf": tf, "two": two, "Net": Net})
    wrong, parameters = BAD_CALLS[call]
    headline = str(caught.value).splitlines()[0]
    assert wrong in headline
    assert call.rpartition("(")[0].split("(")[0] in headline or "`two" in headline
    assert parameters in caught.value.diagnostic.why
    assert caught.value.code == "E1104"


def test_a_public_function_is_one_as_before():
    assert list(inspect.signature(tf.map_fn).parameters)[:2] == ["fn", "elems"]
    assert list(inspect.signature(tf.TensorArray).parameters)[:1] == ["dtype"]
    assert tf.map_fn.__name__ == "map_fn"
    assert tf.map_fn.__doc__
    assert inspect.isroutine(tf.map_fn)
    assert pickle.loads(pickle.dumps(tf.while_loop)) is tf.while_loop
    assert copy.deepcopy(tf.cond) is tf.cond


def test_methods_bind_and_are_inherited():
    class Mine(tf.Module):
        def __init__(self):
            super().__init__(name="mine")

    assert Mine().name == "mine"
    tape = tf.GradientTape()
    assert tape.watch.__self__ is tape


def test_an_exception_whose_traceback_was_taken_off_may_come_before():
    with pytest.raises(ValueError, match="second") as caught:
        try:
            raise KeyError("first")
        except KeyError as error:
            error.with_traceback(None)
            tf.nest.map_structure(_raises, [1])
    assert isinstance(caught.value.__context__, KeyError)


def _raises(_):
    raise ValueError("second")


def test_what_is_refused_while_numpy_handles_an_error_of_ours_comes_alone():
    squeezed = tf.function(lambda x: np.bincount(x))
    with pytest.raises(NotImplementedError) as caught:
        squeezed(tf.constant([1, 2]))
    assert caught.value.__context__ is None

    @tf.function
    def wrapped(x):
        return np.trim_zeros(x)

    for _ in range(2):
        with pytest.raises(Exception, match="x") as caught:
            wrapped(tf.constant([1.0, 2.0]))
        text = "".join(traceback.format_exception(caught.value))
        assert PACKAGE not in text


def test_every_function_that_users_can_name_hides_our_frames():
    """One written in Python would stand in each traceback that leaves it."""
    shown = []
    for path, names in namespaces().items():
        module = tf
        for part in path.split(".") if path else ():
            module = getattr(module, part, None)
        if not isinstance(module, types.ModuleType):
            continue
        for name in names:
            try:
                value = getattr(module, name)
            except (AttributeError, tf.errors.UnimplementedError):
                continue
            if isinstance(value, types.FunctionType):
                shown.append(f"{path}.{name}")
    assert not shown
