"""Where ops of a graph were asked to run, as tensors, variables and ops tell it."""

import subprocess
import sys

import pytest

import holdfast as tf

v1 = tf.compat.v1


@pytest.mark.parametrize("name", ["cpu:0", "/CPU:0", "/job:localhost/device:CPU:0"])
def test_tensors_and_variables_tell_where(name):
    with tf.Graph().as_default():
        with tf.device(name):
            variable = tf.Variable([1.0, 2.0])
            held = v1.get_variable("held", initializer=1.0)
            there = variable * 2.0
        for each in (variable, held, there, there.op):
            assert each.device == "/device:CPU:0"
        after = variable + 1.0
        assert after.device == after.op.device == ""
        assert tf.Variable(1.0).device == ""


def test_a_function_that_is_traced():
    seen = []

    @tf.function
    def f(x):
        with tf.device("/CPU:0"):
            y = x + 1.0
        seen.append((y.device, (y * 2.0).device))
        return y

    assert f(tf.constant(1.0)).device.endswith("/device:CPU:0")
    assert seen == [("/device:CPU:0", "")]


PROGRAM = """
import sys
import numpy as np
import holdfast as tf
if int(sys.argv[1]) > 1:
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(
        cpu, [tf.config.LogicalDeviceConfiguration()] * int(sys.argv[1]))
assert len(tf.config.list_logical_devices("CPU")) == int(sys.argv[1])
def numbers(*shape):
    return tf.constant(np.sin(np.arange(np.prod(shape), dtype=np.float32)).reshape(shape))
images, kernel, w = numbers(2, 3, 9, 9), tf.Variable(numbers(3, 3, 3, 4)), tf.Variable(numbers(4, 2))
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        y = tf.nn.conv2d(tf.transpose(x, [0, 2, 3, 1]), kernel, 1, "SAME")
        y = tf.nn.relu(y * 0.5 + 1.0)
        loss = tf.reduce_mean(tf.nn.softmax(tf.reduce_mean(y, [1, 2]) @ w) ** 2)
        for _ in tf.range(2):
            loss = tf.where(loss > 0.0, loss * 1.5, loss)
    for v, g in zip((kernel, w), tape.gradient(loss, [kernel, w])):
        v.assign_sub(0.1 * g)
    return loss
for _ in range(3):
    print(step(images).numpy().tobytes().hex())
print(kernel.numpy().tobytes().hex(), w.numpy().tobytes().hex())
print(step.explain(images).count("->"))
"""


def run_with_devices(count):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(count)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_device_that_nobody_uses_changes_neither_bits_nor_plans():
    one = run_with_devices(1)
    assert one.count("\n") == 5 and int(one.splitlines()[-1]) > 5
    assert run_with_devices(2) == one
