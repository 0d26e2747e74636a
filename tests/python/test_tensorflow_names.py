"""Names that programs written for TensorFlow ask for: initializers, device specs, version 1's."""

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


@pytest.mark.parametrize(
    ("make", "want"),
    [
        (tf.zeros_initializer(), [0, 0]),
        (tf.ones_initializer(), [1, 1]),
        (tf.constant_initializer(3.0), [3, 3]),
        (tf.constant_initializer([1.0, 2.0]), [1, 2]),
    ],
)
def test_initializers(make, want):
    assert make([2]).numpy().tolist() == want
    assert make(shape=(2,), dtype=tf.float64).dtype == tf.float64
    assert type(make).from_config(make.get_config())([2]).numpy().tolist() == want
    assert tf.Variable(make([2])).numpy().tolist() == want
    assert make([2], partition_shape=[1], partition_offset=[1]).numpy().tolist() == want[1:]
    assert make([2], partition_shape=[1]).numpy().tolist() == want[:1]
    with pytest.raises(TypeError, match="no `partition_shape`"):
        make([2], partition_offset=[1])
    with pytest.raises(TypeError, match="dtpye"):
        make([2], dtpye=tf.float32)


def test_random_initializers_repeat_themselves_by_their_seed():
    normal = tf.random_normal_initializer(mean=0.0, stddev=0.05, seed=1)
    np.testing.assert_allclose(normal([2]), [0.0063, -0.0247], atol=1e-4)  # as TensorFlow's
    np.testing.assert_array_equal(normal([2]), normal([2]))
    uniform = tf.random_uniform_initializer(minval=1.0, maxval=2.0)
    drawn = uniform([100]).numpy()
    assert drawn.min() >= 1 and drawn.max() < 2 and (uniform([100]).numpy() != drawn).any()
    with pytest.raises(tf.errors.DiagnosticError, match="int32"):
        normal([2], tf.int32)


def test_device_specs():
    spec = tf.DeviceSpec.from_string("/job:worker/replica:0/task:1/device:GPU:2")
    assert (spec.job, spec.replica, spec.task) == ("worker", 0, 1)
    assert (spec.device_type, spec.device_index) == ("GPU", 2)
    assert spec.to_string() == "/job:worker/replica:0/task:1/device:GPU:2"
    assert tf.DeviceSpec(device_type="cpu").to_string() == "/device:CPU:*"
    assert spec.replace(task=3).task == 3
    merged = spec.make_merged_spec(tf.DeviceSpec.from_string("/cpu:0"))
    assert merged.to_string() == "/job:worker/replica:0/task:1/device:CPU:0"
    for bad in ("/nothing:1", "/device:CPU:x", "/CPU:0/GPU:0"):
        with pytest.raises(ValueError, match=bad):
            tf.DeviceSpec.from_string(bad)
    with tf.device(tf.DeviceSpec(device_type="CPU", device_index=0)):
        assert tf.constant(1).device.endswith("CPU:0")


def test_classes_of_the_program_convert_themselves():
    class Money:
        def __init__(self, cents):
            self.cents = cents

    class Euro(Money):
        pass

    def convert(value, dtype=None, name=None, as_ref=False):
        return tf.constant(value.cents / 100, dtype)

    with pytest.raises(TypeError, match="Money"):
        tf.convert_to_tensor(Money(1))
    tf.register_tensor_conversion_function(Money, convert)
    assert tf.convert_to_tensor(Money(250)).numpy() == 2.5
    assert tf.convert_to_tensor(Euro(250), tf.float64).dtype == tf.float64
    assert (tf.constant([1.0, 2.0]) + Money(50)).numpy().tolist() == [1.5, 2.5]
    assert tf.stack([Money(100), 2.0]).numpy().tolist() == [1, 2]
    tf.register_tensor_conversion_function(Euro, lambda *_, **__: NotImplemented, priority=1)
    assert tf.convert_to_tensor(Euro(100)).numpy() == 1
    tf.register_tensor_conversion_function(Euro, lambda *_, **__: 7, priority=0)
    with pytest.raises(TypeError, match="no tensor"):
        tf.convert_to_tensor(Euro(100))
    with pytest.raises(TypeError, match="not open to change"):
        tf.register_tensor_conversion_function(int, convert)


def test_a_loop_gives_back_the_kind_of_sequence_it_was_given():
    def loop(state):
        return tf.while_loop(lambda i, j: i < 3, lambda i, j: (i + 1, j * 2), state)

    assert type(loop((0, 1))) is tuple and type(loop([0, 1])) is list
    assert [int(t) for t in loop((0, 1))] == [3, 8]
    traced = tf.function(lambda n: tf.while_loop(lambda i: i < n, lambda i: (i + 1,), (0,)))
    assert traced(tf.constant(2))[0].numpy() == 2
    assert v1.while_loop(lambda i: i < 3, lambda i: i + 1, [0]).numpy() == 3


def test_what_a_concrete_function_says_of_itself():
    double = tf.function(lambda x, n=2: {"y": x * n})
    concrete = double.get_concrete_function(tf.TensorSpec([None, 2]))
    assert concrete.output_shapes["y"].as_list() == [None, 2]
    assert concrete.output_dtypes == {"y": tf.float32}
    text = concrete.pretty_printed_signature()
    assert "x (POSITIONAL_OR_KEYWORD): TensorSpec(shape=(None, 2), dtype=tf.float32" in text
    assert list(double.function_type.parameters) == ["x", "n"]


def test_names_of_version_1_with_arguments_of_their_own():
    assert v1.div(7, 2).numpy() == 3 and v1.div(7.0, 2.0).numpy() == 3.5
    assert v1.arg_max([1.0, 3.0, 2.0], 0).numpy() == 1
    assert v1.cond(tf.constant(True), fn1=lambda: [1], fn2=lambda: [2]) == 1
    assert v1.convert_to_tensor(1, preferred_dtype=tf.float32).dtype == tf.float32
    assert v1.py_func(lambda a: a + 1, [tf.constant(1.0)], tf.float32).numpy() == 2
    assert v1.constant(1, shape=[2], verify_shape=False).shape == [2]
    with pytest.raises(TypeError, match="and `shape` says"):
        v1.constant(1, shape=[2], verify_shape=True)
    v1.assert_equal([1], [1], None, 3, "message")
    with pytest.raises(tf.errors.InvalidArgumentError, match="why"):
        v1.assert_less([2], [1], message="why")
    with pytest.raises(tf.errors.UnimplementedError, match="`data`"):
        v1.assert_positive([1], data=[1])
    assert v1.newaxis is None and v1.lin_space(0.0, 1.0, 3).numpy().tolist() == [0, 0.5, 1]
    assert v1.multinomial([[0.0, 1.0]], 3).shape == [1, 3]
    assert v1.random_poisson(3.0, [2]).shape == [2]


def test_scatter_functions_of_version_1():
    with tf.Graph().as_default():
        v = v1.Variable([1.0, 2.0, 3.0])
        changes = [
            v1.scatter_add(v, [0], [10.0]),
            v1.scatter_mul(v, [1], [10.0]),
            v1.scatter_nd_update(v, [[2]], [7.0]),
        ]
        slope = v1.gradients(v * v, v, colocate_gradients_with_ops=True)[0]
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for change in changes:
                session.run(change)
            assert session.run(v).tolist() == [11, 20, 7]
            assert session.run(slope).tolist() == [22, 40, 14]


def test_names_of_version_1_that_are_not_there_say_so():
    with pytest.raises(tf.errors.UnimplementedError) as caught:
        v1.ConditionalAccumulator  # noqa: B018 (the lookup is what fails)
    assert caught.value.code == "E1105"


def test_what_is_built():
    assert tf.test.is_gpu_available() is bool(tf.config.list_physical_devices("GPU"))
    assert bool(tf.test.gpu_device_name()) is tf.test.is_gpu_available()
    assert tf.test.is_built_with_rocm() is False


def test_types_of_compat():
    assert isinstance(np.int64(1), tf.compat.integral_types) and tf.compat.dimension_value(3) == 3
    assert tf.compat.dimension_at_index(tf.TensorShape(None), 1).value is None


def test_operators_as_functions():
    x, o = tf.constant([1, 2, 3]), tf.__operators__
    assert o.add(x, 1).numpy().tolist() == [2, 3, 4]
    assert o.add(tf.constant("a"), "b").numpy() == b"ab"
    assert o.eq(x, [1, 0, 3]).numpy().tolist() == [True, False, True]
    assert o.ne(x, [1, 0, 3]).numpy().tolist() == [False, True, False]
    assert o.getitem(x, slice(1, None)).numpy().tolist() == [2, 3]
    assert o.getitem(x, 0, tf.Variable([5, 6])).numpy() == 5
