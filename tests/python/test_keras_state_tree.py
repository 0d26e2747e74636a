"""All that a model keeps, as a tree of names."""

import numpy as np
import pytest

import holdfast as tf

keras = tf.keras


def made():
    model = keras.Sequential(
        [keras.Input((2,)), keras.layers.Dense(1, name="out")],
        name=f"net_{keras.backend.get_uid('n')}",
    )
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)
    return model


def leaves(tree):
    return tf.nest.flatten(tree)


def test_a_tree_comes_back():
    model = made()
    tree = model.get_state_tree("numpy_array")
    assert set(tree) == {
        "trainable_variables",
        "non_trainable_variables",
        "optimizer_variables",
        "metrics_variables",
    }
    assert len(leaves(tree["trainable_variables"])) == 2
    assert len(leaves(tree["optimizer_variables"])) == len(model.optimizer.variables)
    before = [v.numpy() for v in model.variables]
    model.fit(np.ones((4, 2)), np.zeros((4, 1)), verbose=0)
    assert any((v.numpy() != b).any() for v, b in zip(model.variables, before, strict=True))
    model.set_state_tree(tree)
    for variable, value in zip(model.variables, before, strict=True):
        np.testing.assert_array_equal(variable, value)
    assert all(tf.is_tensor(leaf) for leaf in leaves(model.get_state_tree()))


def test_what_does_not_fit_changes_nothing():
    model = made()
    tree = model.get_state_tree("numpy_array")
    before = model.get_weights()
    changed = tf.nest.map_structure(lambda v: v + 1, tree["trainable_variables"])
    with pytest.raises(TypeError, match="nothing_of_it"):
        model.set_state_tree({"trainable_variables": changed, "nothing_of_it": {}})
    with pytest.raises(ValueError, match="shape"):
        model.set_state_tree(
            {"trainable_variables": changed, "optimizer_variables": _shaped(tree, (9, 9))}
        )
    with pytest.raises(TypeError, match="value_format"):
        model.get_state_tree("torch")
    for now, then in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(now, then)


def _shaped(tree, shape):
    return tf.nest.map_structure(lambda v: np.zeros(shape), tree["optimizer_variables"])
