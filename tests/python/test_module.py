"""`tf.Module` finds what it holds."""

import pytest

import holdfast as tf


class Net(tf.Module):
    def __init__(self, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(1.0, name="w")
        self.parts = [tf.Variable(2.0, trainable=False), {"k": tf.Variable(3.0)}]
        self.inner = tf.Module(name="inner")
        self.inner.v = tf.Variable(5.0)
        self.also_w = self.w
        with self.name_scope:
            self.z = tf.Variable(4.0)

    @tf.Module.with_name_scope
    def make(self):
        return tf.Variable(1.0, name="made")


def test_variables_are_found_once_by_name_then_deeper():
    net = Net()
    assert [float(v) for v in net.variables] == [1, 2, 3, 4, 5]
    assert [float(v) for v in net.trainable_variables] == [1, 3, 4, 5]
    assert [float(v) for v in net.non_trainable_variables] == [2]
    assert net.submodules == (net.inner,)


def test_a_cycle_ends():
    a, b = tf.Module(), tf.Module()
    a.b, b.a, b.v = b, a, tf.Variable(1.0)
    assert len(a.variables) == 1 and a.submodules == (b,)


def test_names_and_scopes():
    class HTTPServer2D(tf.Module):
        pass

    net = Net()
    assert (net.name, net.name_scope.name, net.z.name) == ("net", "net/", "net/Variable:0")
    assert net.make().name == "net/made:0" and HTTPServer2D().name == "http_server2_d"
    with tf.name_scope("outer"):
        assert Net().make().name == "outer/net/made:0"
    for bad in ("1a", "a-b"):
        with pytest.raises(ValueError, match="valid Python identifiers"):
            Net(name=bad)


def test_dicts_without_an_order_are_walked_too():
    net = tf.Module()
    net.table = {1: tf.Variable(1.0), "a": tf.Variable(2.0)}
    assert [float(v) for v in net.variables] == [1, 2]
