"""Devices, memory and threads."""

import os
import subprocess
import sys
import textwrap

import pytest

import holdfast as tf


def run(code, **environment):
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**os.environ, **environment},
    )


def test_devices_are_listed_as_tensorflow_lists_them():
    (cpu,) = tf.config.list_physical_devices("CPU")
    assert repr(cpu) == "PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')"
    assert tf.config.list_logical_devices("CPU")[0].name == "/device:CPU:0"
    assert (
        cpu in tf.config.get_visible_devices()
        and tf.config.experimental.get_device_details(cpu) == {}
    )


def test_a_cpu_is_divided():
    done = run("""
        import holdfast as tf
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
        assert len(tf.config.list_logical_devices("CPU")) == 2
        assert len(tf.config.get_logical_device_configuration(cpu)) == 2
        with tf.device("/CPU:1"):
            x = tf.constant([1.0]) * 2
        print(x.device)
    """)
    assert done.stdout.strip() == "/job:localhost/replica:0/task:0/device:CPU:1", done.stderr


@pytest.mark.parametrize(
    "name",
    [
        "/CPU:0",
        "CPU",
        "cpu:0",
        "/device:CPU:0",
        "/job:localhost/replica:0/task:0/device:CPU:0",
        None,
        "",
    ],
)
def test_names_of_the_cpu(name):
    with tf.device(name):
        assert (tf.constant(1.0) + 1).device.endswith("CPU:0")


@pytest.mark.parametrize("name", ["foo", "/TPU:x", "/job:worker/task:3"])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match="E1103"), tf.device(name):
        pass


def test_functions_and_numbers_are_no_devices():
    with pytest.raises(NotImplementedError):
        tf.device(lambda op: "/cpu:0")
    with pytest.raises(TypeError):
        tf.device(3)


def test_an_absent_device_is_replaced_and_named(capsys):
    with tf.device("/GPU:77"):
        y = tf.constant(1.0) + 1
    said = capsys.readouterr().err
    assert float(y) == 2 and said.startswith(
        "warning[W0703]: GPU:77 was asked for and is absent; CPU:0 was used"
    )
    assert 'tf.device("/CPU:0")' in said and "runs on CPU:0 instead" in said


def test_without_soft_placement_an_absent_device_is_an_error():
    tf.config.set_soft_device_placement(False)
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="GPU:77"), tf.device("/GPU:77"):
            pass
    finally:
        tf.config.set_soft_device_placement(True)
    assert tf.config.get_soft_device_placement()


def test_memory():
    before = tf.config.experimental.get_memory_info("CPU:0")
    big = tf.constant([1.0] * 100_000)
    after = tf.config.experimental.get_memory_info("CPU:0")
    assert after["current"] >= before["current"] + 400_000 and after["peak"] >= after["current"]
    del big
    tf.config.experimental.reset_memory_stats("CPU:0")
    assert tf.config.experimental.get_memory_info("CPU:0")["peak"] < after["peak"]
    with pytest.raises(ValueError, match="none of this machine's devices"):
        tf.config.experimental.get_memory_info("GPU:77")
    with pytest.raises(ValueError, match="memory growth"):
        tf.config.experimental.set_memory_growth(tf.config.list_physical_devices("CPU")[0], True)


def test_policies_threads_and_options():
    experimental, threading = tf.config.experimental, tf.config.threading
    assert experimental.get_device_policy() == "warn"
    experimental.set_device_policy("silent")
    assert experimental.get_device_policy() == "silent"
    experimental.set_device_policy(None)
    with pytest.raises(ValueError, match="foo"):
        experimental.set_device_policy("foo")
    was = threading.get_intra_op_parallelism_threads()
    threading.set_intra_op_parallelism_threads(1)
    assert threading.get_intra_op_parallelism_threads() == 1
    threading.set_intra_op_parallelism_threads(was)
    tf.config.optimizer.set_experimental_options({"constant_folding": False})
    assert tf.config.optimizer.get_experimental_options()["constant_folding"] is False
    for refused in (
        lambda: tf.config.optimizer.set_jit(True),
        lambda: tf.config.optimizer.set_experimental_options({"auto_mixed_precision": True}),
        lambda: experimental.enable_tensor_float_32_execution(True),
        lambda: experimental.set_device_policy("silent_for_int32"),
    ):
        with pytest.raises(NotImplementedError):
            refused()


# A library that was told of two threads waited for the other for ever.
@pytest.mark.parametrize("setting", [{"OMP_THREAD_LIMIT": "1"}, {"OMP_DYNAMIC": "true"}])
def test_openmp_may_give_fewer_threads_than_cores(setting):
    done = run(
        """
        import holdfast as tf
        tf.config.threading.set_intra_op_parallelism_threads(2)
        x, w = tf.Variable(tf.ones([6, 20, 20, 15])), tf.Variable(tf.ones([5, 5, 15, 40]))
        with tf.GradientTape() as tape:
            y = tf.nn.conv2d(x, w, 1, "VALID")
        slopes = tape.gradient(y, [x, w])
        print(float(slopes[0][0, 10, 10, 0]), float(slopes[1][0, 0, 0, 0]))
        print(tf.matmul(tf.ones([300, 200]), tf.ones([200, 130]))[7, 7].numpy())
        """,
        **setting,
    )
    assert done.stdout.split() == ["1000.0", "1536.0", "200.0"], done.stderr
