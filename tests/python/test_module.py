"""`tf.Module` finds what it holds."""

import copy
import pickle

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
        with pytest.raises(ValueError, match="Python identifier"):
            Net(name=bad)


def test_dicts_without_an_order_are_walked_too():
    net = tf.Module()
    net.table = {1: tf.Variable(1.0), "a": tf.Variable(2.0)}
    assert [float(v) for v in net.variables] == [1, 2]


# Stores of traced functions.


class Keeper(tf.Module):
    pass


@tf.autograph.experimental.do_not_convert
def keep(keeper, x):
    keeper.h = x * 2


def test_code_that_is_not_converted_stores_in_a_module_at_each_call():
    keeper = Keeper()

    @tf.function
    def f(x):
        keep(keeper, x)
        return x

    for value in (1.0, 4.0, 7.0):
        f(tf.constant(value))
        assert float(keeper.h) == value * 2
    assert f.experimental_get_tracing_count() == 1


def test_a_function_that_is_not_converted_stores_in_a_module_at_each_call():
    keeper = Keeper()

    @tf.function(autograph=False)
    def f(x):
        keeper.h = x * 2
        return x

    for value in (1.0, 4.0):
        f(tf.constant(value))
        assert float(keeper.h) == value * 2


@pytest.mark.parametrize("how", ["converted", "as it is"])
def test_a_branch_that_is_not_taken_stores_nothing_in_a_module(how):
    keeper = Keeper()
    keeper.h = tf.constant(-1.0)

    @tf.function
    def f(x):
        if x > 0:
            if how == "converted":
                keeper.h = x * 2
            else:
                keep(keeper, x)
        return x

    f(tf.constant(-3.0))
    assert float(keeper.h) == -1.0
    f(tf.constant(3.0))
    assert float(keeper.h) == 6.0
    f(tf.constant(-5.0))
    assert float(keeper.h) == 6.0


def test_a_branch_fills_an_empty_attribute_of_a_module_where_it_is_taken():
    keeper = Keeper()

    @tf.function
    def f(x):
        if x > 0:
            keeper.fresh = x * 2
        return x

    f(tf.constant(-3.0))
    assert not hasattr(keeper, "fresh")
    f(tf.constant(3.0))
    assert float(keeper.fresh) == 6.0


def test_a_setter_of_a_module_may_store_elsewhere():
    class Counted(tf.Module):
        def __setattr__(self, name, value):
            if name == "h":
                super().__setattr__("copy", value + 1)
            super().__setattr__(name, value)

    counted = Counted()

    @tf.function
    def f(x):
        counted.h = x * 2
        return x

    for value in (1.0, 4.0):
        f(tf.constant(value))
        assert (float(counted.h), float(counted.copy)) == (value * 2, value * 2 + 1)


def test_copies_have_traced_functions_of_their_own():
    class Trainer:
        def __init__(self):
            self.value = tf.Variable(1.0)
            self.step = tf.function(self._step)

        def _step(self, x):
            self.value.assign_add(x)
            return self.value.read_value()

    trainer = Trainer()
    trainer.step(tf.constant(1.0))
    other = copy.deepcopy(trainer)
    assert float(other.step(tf.constant(10.0))) == 12.0
    assert (float(trainer.value), float(other.value)) == (2.0, 12.0)
    assert copy.copy(trainer.step) is trainer.step


def double(x):
    return x * 2


traced_double = tf.function(double)


@tf.function
def decorated(x):
    return x * 3


def test_traced_functions_are_pickled_by_name_or_by_their_python_function():
    assert pickle.loads(pickle.dumps(decorated)) is decorated
    again = pickle.loads(pickle.dumps(traced_double))
    assert int(again(tf.constant(4))) == 8
