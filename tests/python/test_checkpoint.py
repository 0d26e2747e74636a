"""Checkpoints give variables back by who holds whom, also later; and say what does not match."""

import base64
import json
import os
import pathlib

import numpy as np
import pytest

import holdfast as tf

RECORDED = pathlib.Path(__file__).parents[1] / "recorded" / "tensor_bundle.json"


class Net(tf.Module):
    """Variables in attributes, lists and dicts, one of them under two names."""

    def __init__(self, value=0.0, more=True):
        super().__init__()
        self.w = tf.Variable([value, value])
        self.list = [tf.Variable(value), {"deep": tf.Variable([value])}]
        self.by_name = {"a/b.c": tf.Variable(value)}
        self.again = self.w
        if more:
            self.late = tf.Variable([[value]])


def test_values_come_back(tmp_path):
    step = tf.Variable(7, dtype=tf.int64)
    path = tf.train.Checkpoint(net=Net(3.0), step=step).write(tmp_path / "c")
    assert path == str(tmp_path / "c")
    keys = [key for key, _ in tf.train.list_variables(path)]
    assert "net/w/.ATTRIBUTES/VARIABLE_VALUE" in keys
    assert "net/list/1/deep/.ATTRIBUTES/VARIABLE_VALUE" in keys
    assert "net/by_name/a.Sb..c/.ATTRIBUTES/VARIABLE_VALUE" in keys
    net, other = Net(), tf.Variable(0, dtype=tf.int64)
    status = tf.train.Checkpoint(net=net, step=other).read(path)
    status.assert_consumed().assert_nontrivial_match()
    assert other.numpy() == 7 and net.w.numpy().tolist() == [3, 3]
    assert net.list[1]["deep"].numpy() == 3 and net.by_name["a/b.c"].numpy() == 3


def test_a_checkpoint_of_tensorflow_is_restored(tmp_path):
    for suffix, content in json.loads(RECORDED.read_text())["files"].items():
        (tmp_path / f"ckpt{suffix}").write_bytes(base64.b64decode(content))

    class Model(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(tf.zeros([2, 3]))
            self.texts = tf.Variable(["", "", ""])
            self.list = [tf.Variable(tf.zeros([2], tf.bfloat16)), tf.Variable([False, False])]
            self.many = {f"v{i}": tf.Variable(-1.0) for i in range(40)}

    model = Model()
    status = tf.train.Checkpoint(model=model).read(str(tmp_path / "ckpt"))
    status.assert_existing_objects_matched().expect_partial()
    assert model.w.numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert model.texts.numpy().tolist()[2] == b"hello" * 40
    assert model.list[1].numpy().tolist() == [True, False]
    assert model.many["v39"].numpy() == 39
    with pytest.raises(AssertionError, match="went to nothing here"):
        status.assert_consumed()


def test_what_is_made_later_gets_its_value_then(tmp_path):
    path = tf.train.Checkpoint(net=Net(5.0)).save(tmp_path / "c")
    assert path.endswith("c-1")
    checkpoint = tf.train.Checkpoint(net=Net(more=False))
    status = checkpoint.restore(path)
    with pytest.raises(AssertionError):
        status.assert_consumed()
    checkpoint.net.late = tf.Variable([[0.0]])
    assert checkpoint.net.late.numpy() == 5
    status.assert_consumed()
    assert checkpoint.save_counter.numpy() == 1

    empty = tf.train.Checkpoint(net=tf.Module())
    empty.restore(path)
    empty.net.list = [tf.Variable(0.0), {"deep": tf.Variable([0.0])}]
    assert empty.net.list[1]["deep"].numpy() == 5


def test_what_waits_is_found_by_identity(tmp_path):
    class Same(tf.Module):
        __hash__ = None

        def __eq__(self, other):
            return True

    path = tf.train.Checkpoint(net=Net(5.0)).write(tmp_path / "c")
    waiting, other = Same(), Same()
    tf.train.Checkpoint(net=waiting).read(path)
    other.late = tf.Variable([[0.0]])
    waiting.late = tf.Variable([[0.0]])
    assert (other.late.numpy(), waiting.late.numpy()) == (0, 5)


def test_what_does_not_fit_changes_nothing(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable([1.0]), b=tf.Variable([1.0, 2.0])).write(
        tmp_path / "c"
    )
    a, b = tf.Variable([0.0]), tf.Variable([0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="has shape"):
        tf.train.Checkpoint(a=a, b=b).read(path)
    with pytest.raises(TypeError, match="float32 in the file, and int32"):
        tf.train.Checkpoint(a=tf.Variable([0])).read(path)
    assert a.numpy() == 0
    with pytest.raises(AssertionError, match="no value for `c`"):
        tf.train.Checkpoint(c=a).read(path).assert_existing_objects_matched()
    with pytest.raises(AssertionError, match="nothing of the checkpoint"):
        tf.train.Checkpoint(c=a).read(path).assert_nontrivial_match()
    with pytest.raises(NotImplementedError, match="options"):
        tf.train.Checkpoint(c=a).write(tmp_path / "d", options=1)
    with pytest.raises(ValueError, match="n_hours"):
        tf.train.CheckpointManager(tf.train.Checkpoint(c=a), tmp_path, 1, -2.0)
    status = tf.train.Checkpoint(c=a).restore(None)
    for check in (status.assert_consumed, status.assert_existing_objects_matched):
        with pytest.raises(AssertionError, match="no checkpoint was given"):
            check()
    assert status.expect_partial() is status
    with pytest.raises(TypeError, match="`x` of a Checkpoint is of type int"):
        tf.train.Checkpoint(x=1)


def test_layers_and_models(tmp_path):
    def made():
        model = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(2)])
        model(tf.ones([1, 4]))
        return model

    model, other, x = made(), made(), tf.random.normal([2, 4])
    path = tf.train.Checkpoint(model=model).save(tmp_path / "c")
    tf.train.Checkpoint(model=other).restore(path).assert_consumed()
    assert np.array_equal(model(x).numpy(), other(x).numpy())


def test_a_manager_keeps_the_last_few(tmp_path):
    step = tf.Variable(0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), tmp_path, max_to_keep=2)
    assert manager.latest_checkpoint is None and manager.restore_or_initialize() is None
    for i in range(4):
        step.assign(i)
        manager.save()
    assert [os.path.basename(p) for p in manager.checkpoints] == ["ckpt-3", "ckpt-4"]
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-4")
    assert len(list(tmp_path.iterdir())) == 5
    again = tf.Variable(0)
    other = tf.train.CheckpointManager(tf.train.Checkpoint(step=again), tmp_path, max_to_keep=2)
    assert other.restore_or_initialize() == str(tmp_path / "ckpt-4") and again.numpy() == 3
    assert other.save(checkpoint_number=9).endswith("ckpt-9")
    assert tf.train.get_checkpoint_state(tmp_path).all_model_checkpoint_paths == other.checkpoints


def test_a_manager_keeps_one_of_each_few_hours_for_good(tmp_path, monkeypatch):
    clock = [1_000_000.0]
    monkeypatch.setattr("time.time", lambda: clock[0])
    held = tf.train.Checkpoint(step=tf.Variable(0))

    def manager():
        return tf.train.CheckpointManager(held, tmp_path, 2, keep_checkpoint_every_n_hours=2)

    first = manager()
    for _ in range(9):
        clock[0] += 1800
        first.save()
    second = manager()  # knows when the last one was kept
    assert second.checkpoints == first.checkpoints
    for _ in range(4):
        clock[0] += 1800
        second.save()
    there = sorted(int(p.stem.partition("-")[2]) for p in tmp_path.glob("ckpt-*.index"))
    assert there == [4, 8, 12, 13]
    assert [os.path.basename(p) for p in second.checkpoints] == ["ckpt-12", "ckpt-13"]
    assert second.latest_checkpoint == tf.train.latest_checkpoint(tmp_path)


def test_a_manager_waits_for_enough_steps(tmp_path):
    step = tf.Variable(0)
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(step=step), tmp_path, 3, step_counter=step, checkpoint_interval=2
    )
    saved = []
    for i in range(5):
        step.assign(i)
        saved.append(manager.save() is not None)
    assert saved == [True, False, True, False, True]


def test_what_a_checkpoint_holds(tmp_path):
    tf.train.Checkpoint(a=tf.Variable([1.0, 2.0])).save(tmp_path / "c")
    reader = tf.train.load_checkpoint(tmp_path)
    key = "a/.ATTRIBUTES/VARIABLE_VALUE"
    assert reader.has_tensor(key) and reader.get_tensor(key).tolist() == [1, 2]
    assert reader.get_variable_to_dtype_map()[key] == tf.float32
    assert reader.get_variable_to_shape_map()[key] == [2]
    assert tf.train.load_variable(tmp_path, key).tolist() == [1, 2]
    assert tf.train.latest_checkpoint(tmp_path / "nothing") is None
    with pytest.raises(ValueError, match="no checkpoint"):
        tf.train.load_checkpoint(tmp_path.parent)


@pytest.fixture
def named(tmp_path):
    """A checkpoint without an object graph, as `Saver` writes it."""
    a, c = tf.Variable(1.0, name="a"), tf.Variable([3.0, 4.0], name="scoped/c")
    other = tf.Variable(9.0, name="other")
    return tf.compat.v1.train.Saver([a, c, other]).save(None, str(tmp_path / "named"))


def test_a_checkpoint_of_names_goes_to_variables_of_those_names(named):
    a = tf.Variable(0.0, name="a")
    with tf.name_scope("scoped"):
        c = tf.Variable([0.0, 0.0], name="c")
    again, alone = tf.Variable([0.0, 0.0], name="scoped/c"), tf.Variable(5.0, name="alone")
    module = tf.Module()
    module.list = [c, again]
    status = tf.train.Checkpoint(a=a, module=module).restore(named)
    assert a.numpy() == 1 and c.numpy().tolist() == again.numpy().tolist() == [3, 4]
    status.assert_consumed().assert_nontrivial_match()
    with pytest.raises(AssertionError, match="no value for `alone`"):
        tf.train.Checkpoint(a=a, alone=alone).restore(named).assert_existing_objects_matched()
    assert alone.numpy() == 5


def test_what_is_made_later_is_found_by_its_name_once(named):
    module = tf.Module()
    tf.train.Checkpoint(module=module).restore(named)
    module.a = tf.Variable(0.0, name="a")
    assert module.a.numpy() == 1
    module.a.assign(7.0)
    module.b = tf.Variable([0.0, 0.0], name="scoped/c")
    assert module.a.numpy() == 7 and module.b.numpy().tolist() == [3, 4]


def test_a_named_value_of_another_shape_changes_nothing(named):
    a, c = tf.Variable(0.0, name="a"), tf.Variable([0.0], name="scoped/c")
    with pytest.raises(ValueError, match=r"`scoped/c` has shape \(2,\) in the file, and \(1,\)"):
        tf.train.Checkpoint(a=a, c=c).restore(named)
    assert a.numpy() == 0 and c.numpy().tolist() == [0]
