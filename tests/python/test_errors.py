"""Exceptions are TensorFlow's classes and Python's at once, and carry their diagnostic as data."""

import copy
import dataclasses
import json
import os
import pickle
import subprocess
import sys

import pytest

import holdfast as tf
from holdfast import _holdfast, errors


def caught():
    price = tf.constant([1.5, 2.5])
    count = tf.constant([2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError) as info:
        price * count
    return info.value


def test_every_code_has_its_bases():
    import builtins

    for code in _holdfast.codes():
        kind = errors._classes[code["name"]]
        assert issubclass(kind, errors.DiagnosticError)
        if code["status"]:
            assert issubclass(kind, getattr(tf.errors, code["status"]))
        for base in filter(None, code["bases"].split(",")):
            assert issubclass(kind, getattr(errors, base, None) or getattr(builtins, base))


def test_an_error_carries_code_text_and_data():
    e = caught()
    assert isinstance(e, TypeError) and e.code == "E1101" and str(e) == e.message
    assert str(e).startswith("error[E1101]: ") and len(str(e).splitlines()) <= 25
    d = e.diagnostic
    assert d.subject.py_name == "price" and d.others[0].py_name == "count"
    assert sum(label.primary for label in d.labels) == 1 and d.why and d.fixes
    with pytest.raises(dataclasses.FrozenInstanceError):
        d.code = "E0000"


def test_the_fix_casts_what_the_user_typed():
    (edit,) = caught().diagnostic.fixes[0].edits
    assert (edit.old, edit.new) == ("count", "tf.cast(count, tf.float32)")


def test_json_has_the_documented_keys():
    said = json.loads(caught().diagnostic.to_json())
    for key in [
        "schema",
        "code",
        "level",
        "message",
        "op",
        "spans",
        "subject",
        "owner",
        "others",
        "path",
        "why",
        "fixes",
        "children",
        "hidden_frames",
        "thread",
        "docs",
        "rendered",
    ]:
        assert key in said
    assert said["level"] == "error" and said["rendered"].startswith("error[E1101]")
    span = next(s for s in said["spans"] if s["is_primary"])
    assert span["role"] == "used" and len(span["col"]) == 2


@pytest.mark.parametrize(
    "function",
    [
        tf.nn.relu,
        tf.matmul,
        tf.cond,
        tf.map_fn,
        tf.debugging.assert_equal,
        tf.Variable.assign,
        tf.GradientTape.gradient,
    ],
)
def test_functions_and_methods_are_pickled_by_their_names(function):
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function


def test_errors_pickle():
    e = pickle.loads(pickle.dumps(caught()))
    assert e.code == "E1101" and e.diagnostic.headline == caught().diagnostic.headline


def test_tensorflows_own_classes():
    e = tf.errors.OutOfRangeError(None, None, "end")
    assert (str(e), e.message, e.error_code, e.node_def, e.op) == ("end", "end", 11, None, None)
    assert tf.errors.OpError(None, None, "x", 3).error_code == tf.errors.INVALID_ARGUMENT == 3
    assert caught().error_code == 3 and caught().node_def is None
    assert issubclass(tf.errors.OperatorNotAllowedInGraphError, TypeError)


def test_operands_have_the_names_the_user_typed():
    class Holder:
        pass

    net = Holder()
    net.h = tf.constant([1.0, 2.0, 3.0])
    rows = [tf.constant([1.0, 2.0])]
    with pytest.raises(ValueError) as info:
        net.h + rows[0]
    assert "net.h" in str(info.value) and "rows[0]" in str(info.value)
    counts = tf.Variable([1, 2, 3])
    with pytest.raises(TypeError) as info:
        counts * net.h
    assert "`counts`" in str(info.value)


def test_the_module_is_called_what_the_user_calls_it(tmp_path):
    program = tmp_path / "app.py"
    program.write_text("import holdfast as hf\na = hf.constant(1.0)\nb = hf.constant(1)\na + b\n")
    command = [sys.executable, str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "hf.cast(b, hf.float32)" in done.stderr and "app.py:4" in done.stderr


def test_pages_of_codes():
    assert tf.explain("E1101").startswith("# E1101") and tf.explain("w0502").startswith("# W0502")
    assert "E1105" in tf.explain()
    with pytest.raises(LookupError, match="E1101"):
        tf.explain("E9999")


def test_out_of_memory_names_who_holds_most():
    cache = [tf.zeros((300, 300)) * 1.0 for _ in range(3)]
    with pytest.raises(tf.errors.ResourceExhaustedError) as info:
        tf.fill((1 << 23, 1 << 23), cache[0][0, 0])
    text = str(info.value)
    assert info.value.code == "E0702" and "held by `cache`" in text
    assert "`cache.clear()`" in info.value.diagnostic.fixes[0].title


def test_operands_on_two_devices_name_the_lines_that_placed_them(tmp_path):
    program = tmp_path / "app.py"
    program.write_text(
        "import holdfast as tf\n"
        "cpu = tf.config.list_physical_devices('CPU')[0]\n"
        "two = [tf.config.LogicalDeviceConfiguration()] * 2\n"
        "tf.config.set_logical_device_configuration(cpu, two)\n"
        "tf.config.experimental.set_device_policy('explicit')\n"
        "with tf.device('/CPU:1'):\n"
        "    table = tf.ones((64, 64)) * 1\n"
        "y = table * tf.ones((64,))\n"
    )
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, check=False
    )
    assert "placed `table` on CPU:1" in done.stderr
    # The product runs where `table` is, so the other operand has to go there.
    said = " ".join(done.stderr.split())
    assert '`with tf.device("/CPU:1"):` and there `tf.identity(tf.ones((64,)))`' in said


FAILING = """
import json, os, sys
import holdfast as tf

def matmul():
    tf.matmul(tf.ones((2, 3)), tf.ones((2, 3)))

@tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec(None)])
def traced(a, b):
    return tf.matmul(a, b)

def at_run_time():
    traced(tf.ones((2, 3)), tf.ones((2, 3)))

def memory():
    held = tf.ones((100,))
    tf.zeros((1 << 20, 1 << 20, 1 << 8))

def device():
    tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
    )
    tf.config.experimental.set_device_policy("explicit")
    with tf.device("/CPU:0"):
        a = tf.ones((3,))
    with tf.device("/CPU:1"):
        b = tf.ones((3,))
    a + b

def dtype():
    tf.constant(1.0) + tf.constant(1)

try:
    globals()[sys.argv[1]]()
except tf.errors.DiagnosticError as error:
    print(error.diagnostic.to_json())
"""


@pytest.mark.parametrize(
    ("way", "code", "has"),
    [
        ("matmul", "E1102", "transpose_b=True)"),
        ("at_run_time", "E0904", "transpose_b"),
        ("memory", "E0702", "held"),
        ("device", "E0701", "identity(b)"),  # it is `b` that lives elsewhere
        ("dtype", "E1101", "tf.cast("),
    ],
)
def test_the_log_holds_what_the_exception_holds(way, code, has, tmp_path):
    program, log = tmp_path / "app.py", tmp_path / "log.json"
    program.write_text(FAILING)
    done = subprocess.run(
        [sys.executable, str(program), way],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=os.environ | {"HOLDFAST_DIAG_JSON": str(log)},
    )
    raised = json.loads(done.stdout)
    assert raised["code"] == code
    assert has in json.dumps(raised["fixes"])
    assert [json.loads(line) for line in log.read_text().splitlines()] == [raised]
