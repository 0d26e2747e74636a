"""The package's names: from the registry, honest about what is missing, also as `tensorflow`."""

import inspect
import os
import pydoc
import subprocess
import sys
import textwrap

import pytest

import holdfast as tf
from holdfast._tensors import registry


def run(code, *args, **env):
    return subprocess.run(
        [sys.executable, *args, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        env=os.environ | env,
        check=False,
    )


def test_every_path_of_the_registry_is_importable():
    import importlib

    for path in registry.BY_PATH:
        space, _, leaf = path.rpartition(".")
        module = importlib.import_module("holdfast" + ("." + space if space else ""))
        assert callable(getattr(module, leaf)), path


def test_a_raw_op_that_is_not_there_is_told_from_one_that_nobody_has():
    with pytest.raises(tf.errors.UnimplementedError) as caught:
        tf.raw_ops.TemporaryVariable(shape=[1], dtype=tf.float32)
    said = caught.value.diagnostic
    assert said.code == "E1105" and "`tf.raw_ops.TemporaryVariable`" in said.headline
    assert "tf.Variable" in said.fixes[0].title
    with pytest.raises(AttributeError, match="did you mean|Did you mean"):
        tf.raw_ops.Addd  # noqa: B018


def test_raw_ops_are_the_registry():
    assert set(registry.RAW_OPS) <= set(vars(tf.raw_ops))
    assert tf.raw_ops.Mul(x=tf.constant(2.0), y=tf.constant(3.0)).numpy() == 6.0
    assert "Mul" in repr(tf.raw_ops.Mul) and tf.raw_ops.Mul.__doc__


@pytest.mark.parametrize("name", ["lite", "saved_model", "tpu", "feature_column"])
def test_what_tensorflow_has_and_we_have_not_is_said(name):
    assert not hasattr(tf, name)
    with pytest.raises(NotImplementedError) as caught:
        getattr(tf, name)
    assert caught.value.code == "E1105" and isinstance(
        caught.value, (AttributeError, tf.errors.UnimplementedError)
    )
    assert f"`tf.{name}` is not part of Holdfast" in str(caught.value)


def test_missing_members_of_namespaces_are_said_too():
    with pytest.raises(NotImplementedError, match=r"tf\.experimental\.numpy"):
        _ = tf.experimental.numpy
    with pytest.raises(NotImplementedError, match=r"tf\.linalg\.LinearOperator"):
        _ = tf.linalg.LinearOperator


@pytest.mark.parametrize(
    "path", ["nn.rnn_cell", "train.MonitoredSession", "metrics", "lookup", "linalg.LinearOperator"]
)
def test_members_of_version_1_that_are_missing_are_said_too(path):
    found = tf.compat.v1
    with pytest.raises(NotImplementedError, match=f"`tf.compat.v1.{path}` is not part"):
        for part in path.split("."):
            found = getattr(found, part)


@pytest.mark.parametrize("name", ["initializers", "losses", "metrics", "optimizers"])
def test_modules_of_keras_have_short_names(name):
    assert getattr(tf, name) is getattr(tf.keras, name)


def test_a_name_nobody_has_is_a_plain_error_with_a_guess():
    with pytest.raises(AttributeError, match="Did you mean: 'constant'") as caught:
        _ = tf.constnat
    assert type(caught.value) is AttributeError
    with pytest.raises(AttributeError, match="has no attribute"):
        _ = tf.__nothing__


def test_versions():
    assert tf.version.VERSION == tf.__version__ and tf.newaxis is None and tf.executing_eagerly()


def test_trivial_names_of_graph_programs():
    called = []
    with tf.control_dependencies([lambda: called.append(1)]), tf.init_scope():
        pass
    assert tf.timestamp().dtype == tf.float64 and len(tf.tuple([tf.constant(1), None])) == 2
    with tf.name_scope("a"):
        assert tf.get_current_name_scope() == "a"
    assert called == [1] and tf.group(tf.constant(1)) is None and tf.no_op() is None
    assert (
        tf.compat.as_bytes("a") == b"a" and tf.compat.as_text(b"a") == tf.compat.as_str(b"a") == "a"
    )
    with pytest.raises(TypeError):
        tf.Operation()


def test_importing_is_silent_and_brings_nothing_heavy():
    done = run("import holdfast")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = run("import sys, holdfast; print(*sorted({m.partition('.')[0] for m in sys.modules}))")
    heavy = {"scipy", "pandas", "matplotlib", "IPython", "sklearn", "tensorflow", "torch", "jax"}
    assert not heavy & set(done.stdout.split())


def test_posing_as_tensorflow():
    done = run("""
        import holdfast
        holdfast.install_as_tensorflow()
        import tensorflow as tf
        from tensorflow import constant
        import tensorflow.math
        from tensorflow.nest import flatten
        import tensorflow.compat.v2 as tf2
        assert tf.__version__ == tf.version.VERSION == "2.21.0" and tf.__name__ == "tensorflow"
        assert tf.constant is holdfast.constant is constant and flatten is holdfast.nest.flatten
        assert tensorflow.math is holdfast.math and tf2 is tf and holdfast.__version__ != tf.__version__
        assert not hasattr(tf, "lite")
        try:
            import tensorflow.python.framework
        except NotImplementedError as e:
            assert e.code == "E1105", e
            here = next(label.loc for label in e.diagnostic.labels if label.primary)
            assert "importlib" not in here.file and here.line == 14, here  # the line that imports
        else:
            raise SystemExit("the real one was found")
        print(tf.constant([1, 2]) + 1)
    """)
    assert done.returncode == 0 and "[2 3]" in done.stdout, done.stderr


def test_functions_of_the_registry_say_how_they_are_called():
    signature = inspect.signature(tf.reduce_sum)
    assert list(signature.parameters) == ["input_tensor", "axis", "keepdims", "name"]
    assert signature.parameters["keepdims"].default is False
    assert inspect.signature(tf.argmax).parameters["output_type"].default is tf.int64
    assert "reduce_sum(input_tensor" in pydoc.plain(pydoc.render_doc(tf.reduce_sum))
    for function in registry.FUNCTIONS:
        assert "name" in inspect.signature(function).parameters


def test_a_function_of_the_registry_in_a_class_takes_no_self():
    class Layer:
        activation = tf.nn.relu

    assert Layer().activation(tf.constant([-1.0, 2.0])).numpy().tolist() == [0.0, 2.0]
