"""No attribute of an object makes the interpreter crash or hang, whatever it is given, and when it is deleted."""

import json
import pathlib
import pickle

import attribute_fuzz_child
import children
import numpy as np
import pytest

import holdfast as tf
from holdfast import keras

CHILD = pathlib.Path(attribute_fuzz_child.__file__)
KINDS = attribute_fuzz_child.kinds()
CHUNK = 16


@pytest.mark.parametrize("start", range(0, len(KINDS), CHUNK), ids=lambda i: KINDS[i])
def test_odd_attributes_are_refused_or_kept(start):
    wrong = children.run(CHILD, KINDS[start : start + CHUNK], timeout=600)
    assert not wrong, "\n".join(json.dumps(w, indent=1) for w in wrong[:10])


@pytest.mark.parametrize("value", [tf.ones([3, 2]), "x", 3])
def test_a_weight_is_a_variable(value):
    layer = attribute_fuzz_child.built()
    before = layer.kernel
    with pytest.raises(TypeError, match="`kernel` of layer `dense.*expected a Variable"):
        layer.kernel = value
    assert layer.kernel is before
    layer.kernel = other = tf.Variable(tf.ones([3, 2]))
    assert layer(tf.ones([1, 3])).numpy().tolist() == [[3.0, 3.0]]
    assert layer.weights[0] is other and len(layer.weights) == 2


def test_a_weight_in_the_place_of_another_is_trained_penalized_and_shared():
    layer = keras.layers.Dense(1, use_bias=False, kernel_regularizer="l2")
    model = keras.Sequential([keras.Input((2,)), layer])
    before = layer.kernel
    layer.kernel = other = tf.Variable([[1.0], [2.0]])
    assert [v is other for v in model.trainable_variables] == [True]
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.fit(tf.ones([1, 2]), tf.zeros([1, 1]), verbose=0)
    # d/dw of (x w)^2 + 0.01 w^2 = 2 * 3 + 0.02 w
    np.testing.assert_allclose(other.numpy().ravel(), [1 - 0.602, 2 - 0.604], rtol=1e-6)
    twin = keras.layers.Dense(1, use_bias=False)
    twin.build((None, 2))
    twin.kernel = layer.kernel
    assert twin.weights[0] is layer.weights[0] is not before


def test_a_weight_that_changed_after_training_is_trained_from_the_next_compile_on():
    model = attribute_fuzz_child.compiled()
    x, y = tf.ones([2, 3]), tf.zeros([2, 2])
    model.fit(x, y, verbose=0)
    model.layers[0].kernel = other = tf.Variable(tf.ones([3, 2]))
    model.compile("sgd", "mse")
    model.fit(x, y, verbose=0)
    assert (other.numpy() < 1).all()
    np.testing.assert_allclose(model.predict(x, verbose=0), model(x), rtol=1e-6)


def test_a_weight_may_go_and_come_back():
    layer = attribute_fuzz_child.built()
    bias = layer.bias
    layer.bias = None
    assert layer.bias is None and len(layer.weights) == 1
    layer.bias = bias
    layer.bias = bias
    assert [weight.name for weight in layer.weights] == ["kernel", "bias"]


def test_what_can_be_set_and_not_deleted_says_so():
    layer = attribute_fuzz_child.built()
    for name in ("built", "supports_masking"):
        with pytest.raises(AttributeError, match=f"`{name}` can be set, not deleted"):
            delattr(layer, name)
    assert layer.built


def test_a_model_may_lose_its_optimizer(tmp_path):
    model = attribute_fuzz_child.compiled()
    model.optimizer = None
    assert model.optimizer is None
    assert model.evaluate(tf.ones([1, 3]), tf.zeros([1, 2]), verbose=0)[0] >= 0
    with pytest.raises((ValueError, TypeError), match="optimizer"):
        model.fit(tf.ones([1, 3]), tf.zeros([1, 2]), verbose=0)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.optimizer is None and copy.loss is not None
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.optimizer is None
    assert loaded.evaluate(tf.ones([1, 3]), tf.zeros([1, 2]), verbose=0)[0] >= 0
    model.optimizer = "sgd"
    model.fit(tf.ones([1, 3]), tf.zeros([1, 2]), verbose=0)


def test_a_step_of_ones_own_needs_no_optimizer():
    class Own(keras.Sequential):
        def train_step(self, data):
            self.seen = data
            return {"loss": tf.constant(1.0)}

    model = Own([keras.Input((3,)), keras.layers.Dense(2)])
    model.compile(optimizer=None, loss="mse", run_eagerly=True)
    history = model.fit(tf.ones([1, 3]), tf.zeros([1, 2]), verbose=0)
    assert history.history == {"loss": [1.0]}


def test_a_truth_that_raises_is_told():
    layer = attribute_fuzz_child.built()
    with pytest.raises(ValueError, match="no truth"):
        layer.trainable = attribute_fuzz_child.Unkind()
    assert layer.trainable
