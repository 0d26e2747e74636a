"""`tf.compat.v1.train.Saver`: what is saved comes back, by name, part by part, into any session."""

import os

import numpy as np
import pytest

import holdfast as tf

v1 = tf.compat.v1


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        yield made


def test_each_session_gets_the_values_back(graph, tmp_path):
    a = v1.get_variable("a", initializer=[1.0, 2.0])
    with v1.variable_scope("deep"):
        b = v1.get_variable("b", initializer=tf.constant(["x", "y"]))
    saver = v1.train.Saver()
    with v1.Session() as first:
        first.run(v1.global_variables_initializer())
        first.run(a.assign([3.0, 4.0]))
        path = saver.save(first, str(tmp_path / "model"), global_step=7)
    assert path == str(tmp_path / "model-7") and v1.train.checkpoint_exists(path)
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    assert dict(tf.train.list_variables(path)) == {"a": [2], "deep/b": [2]}
    reader = v1.train.NewCheckpointReader(path)
    assert reader.get_tensor("a").tolist() == [3, 4]
    with v1.Session() as second:
        saver.restore(second, path)
        found = second.run([a, b])
        assert found[0].tolist() == [3, 4] and found[1].tolist() == [b"x", b"y"]


def test_variables_may_have_other_names_and_be_a_choice(graph, tmp_path):
    a, b = tf.Variable(1.0, name="a"), tf.Variable(2.0, name="b")
    with v1.Session() as session:
        path = v1.train.Saver({"other": a}).save(session, str(tmp_path / "m"))
        v1.train.Saver({"other": b}).restore(session, path)
        assert session.run(b) == 1.0
        with pytest.raises(tf.errors.NotFoundError, match="`b`"):
            v1.train.Saver([b]).restore(session, path)


def test_parts_of_a_variable_are_one_tensor(graph, tmp_path):
    cut = v1.fixed_size_partitioner(3)
    start = np.arange(14, dtype="float32").reshape(7, 2)
    with v1.variable_scope("s", partitioner=cut):
        whole = v1.get_variable("w", initializer=tf.constant(start))
    with v1.Session() as session:
        path = v1.train.Saver().save(session, str(tmp_path / "m"))
        assert tf.train.load_variable(path, "s/w").tolist() == start.tolist()
        session.run(whole.assign(tf.zeros([7, 2])))
        v1.train.Saver({"s/w": whole}).restore(session, path)
        assert session.run(whole.as_tensor()).tolist() == start.tolist()


def test_the_last_few_are_kept(graph, tmp_path):
    v = tf.Variable(0.0)
    saver = v1.train.Saver(max_to_keep=2, pad_step_number=True)
    step = v1.train.get_or_create_global_step()
    with v1.Session() as session:
        for _ in range(3):
            saver.save(session, str(tmp_path / "m"), step)
            session.run(step.assign_add(1))
    kept = [os.path.basename(path) for path in saver.last_checkpoints]
    assert kept == ["m-00000001", "m-00000002"]
    assert sorted(p.name for p in tmp_path.glob("*.index")) == [f"{name}.index" for name in kept]
    again = v1.train.Saver([v], max_to_keep=1)
    again.recover_last_checkpoints(saver.last_checkpoints)
    assert again.last_checkpoints == saver.last_checkpoints
    v1.train.remove_checkpoint(saver.last_checkpoints[0])
    assert not v1.train.checkpoint_exists(saver.last_checkpoints[0])


def test_eager_variables_are_saved_by_their_names(tmp_path):
    v = tf.Variable([1, 2], name="v")
    saver = v1.train.Saver([v])
    path = saver.save(None, str(tmp_path / "m"))
    v.assign([3, 4])
    saver.restore(None, path)
    assert v.numpy().tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="var_list"):
        v1.train.Saver()


def test_what_does_not_fit_is_refused_and_changes_nothing(graph, tmp_path):
    a, b = tf.Variable([1.0, 2.0], name="a"), tf.Variable([[3.0]], name="b")
    with v1.Session() as session:
        path = v1.train.Saver({"a": a, "b": a}).save(session, str(tmp_path / "m"))
        session.run([a.assign([5.0, 6.0]), b.assign([[7.0]])])
        saver = v1.train.Saver()
        with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
            saver.restore(session, path)
        assert session.run(a).tolist() == [5, 6]
        wide = tf.Variable([[0.0], [0.0]])
        v1.train.Saver({"a": wide}, reshape=True).restore(session, path)
        assert session.run(wide).tolist() == [[1], [2]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="float32"):
            v1.train.Saver({"a": tf.Variable([1, 2])}).restore(session, path)
        for bad in (str(tmp_path / "nothing"), None):
            with pytest.raises(ValueError):
                saver.restore(session, bad)
        with pytest.raises(ValueError, match="folder"):
            saver.save(session, str(tmp_path / "no" / "m"))
    with pytest.raises(tf.errors.UnimplementedError, match="write_version"):
        v1.train.Saver([a], write_version=1)
    with pytest.raises(TypeError, match="expected variables"):
        v1.train.Saver([tf.constant(1.0)])


def test_a_graph_without_variables_has_nothing_to_save(graph, tmp_path):
    with pytest.raises(ValueError, match="no variables"):
        v1.train.Saver()
    nothing = v1.train.Saver(allow_empty=True)
    assert nothing.save(v1.Session(), str(tmp_path / "m")) is None
    nothing.restore(v1.Session(), str(tmp_path / "m"))
    late = v1.train.Saver(defer_build=True)
    with pytest.raises(RuntimeError, match="build"):
        late.save(v1.Session(), str(tmp_path / "m"))
    tf.Variable(1.0)
    late.build()
    assert late.save(v1.Session(), f"file://{tmp_path}/m") == str(tmp_path / "m")
    with pytest.raises(ValueError, match="defer_build"):
        v1.train.Saver([], defer_build=True)


def test_parts_take_a_whole_of_their_own_shape_only(graph, tmp_path):
    with v1.Session() as session:
        long = tf.Variable(np.ones((8, 2), "float32"), name="long")
        first = tf.Variable([1.0], name="first")
        path = v1.train.Saver({"w": long, "a": first}).save(session, str(tmp_path / "m"))
        cut = v1.get_variable("w", [7, 2], partitioner=v1.fixed_size_partitioner(3))
        session.run([part.assign(part * 0.0) for part in cut])
        session.run(first.assign([5.0]))
        for reshape in (False, True):
            saver = v1.train.Saver({"w": cut, "a": first}, reshape=reshape)
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"`w`.*\(8, 2\)"):
                saver.restore(session, path)
        assert not session.run(cut.as_tensor()).any() and session.run(first).tolist() == [5]


def test_parts_that_nobody_gave_are_not_saved_as_zeros(graph, tmp_path):
    start = np.arange(14, dtype="float32").reshape(7, 2)
    cut = v1.get_variable(
        "w", initializer=tf.constant(start), partitioner=v1.fixed_size_partitioner(3)
    )
    with v1.Session() as session:
        parts = list(cut)
        with pytest.raises(tf.errors.UnimplementedError, match="`w`"):
            v1.train.Saver(parts[:2]).save(session, str(tmp_path / "m"))
        twice = v1.Variable(start[:3])
        twice._set_save_slice_info(parts[0]._get_save_slice_info())
        with pytest.raises(ValueError, match="same part of `w`"):
            v1.train.Saver([*parts, twice]).save(session, str(tmp_path / "m"))
        assert not list(tmp_path.iterdir())
        path = v1.train.Saver(parts).save(session, str(tmp_path / "m"))
        session.run([part.assign(part * 0.0) for part in parts])
        v1.train.Saver([parts[1]]).restore(session, path)
        found = session.run(cut.as_tensor())
        assert found[3:5].tolist() == start[3:5].tolist() and not found[:3].any()


def test_another_number_of_elements_can_not_be_reshaped(graph, tmp_path):
    with v1.Session() as session:
        path = v1.train.Saver({"a": tf.Variable([1.0, 2.0])}).save(session, str(tmp_path / "m"))
        wide = v1.train.Saver({"a": tf.Variable([1.0, 2.0, 3.0])}, reshape=True)
        with pytest.raises(tf.errors.InvalidArgumentError, match="expected 3 elements") as caught:
            wide.restore(session, path)
    assert caught.value.code == "E1102" and "fix:" in str(caught.value)


def test_one_in_some_hours_is_kept_after_the_list_was_set(graph, tmp_path):
    v = tf.Variable(0.0)
    saver = v1.train.Saver([v], max_to_keep=1, keep_checkpoint_every_n_hours=1e-9)
    with v1.Session() as session:
        saver.set_last_checkpoints([saver.save(session, str(tmp_path / "m"), 0)])
        for step in range(1, 4):
            saver.save(session, str(tmp_path / "m"), step)
    assert [v1.train.checkpoint_exists(str(tmp_path / f"m-{i}")) for i in range(4)] == [True] * 4


def test_a_graph_beside_a_checkpoint_goes_with_it(tmp_path):
    path = v1.train.Saver([tf.Variable(1.0, name="v")]).save(None, str(tmp_path / "m"))
    for suffix in ("meta", "graph"):
        (tmp_path / f"m.{suffix}").write_bytes(b"")
    v1.train.remove_checkpoint(path, meta_graph_suffix="graph")
    assert [each.name for each in tmp_path.glob("m*")] == ["m.meta"]
    with pytest.raises(tf.errors.UnimplementedError, match="checkpoint_format_version"):
        v1.train.remove_checkpoint(path, checkpoint_format_version=1)
