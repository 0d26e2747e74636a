"""The end of an iteration and files that are not there: codes and classes of their own."""

import errno
import pickle

import numpy as np
import pytest

import holdfast as tf

Dataset = tf.data.Dataset
v1 = tf.compat.v1


def test_get_next_at_the_end():
    it = iter(Dataset.range(1))
    assert int(it.get_next()) == 0
    for _ in range(2):
        with pytest.raises(tf.errors.OutOfRangeError, match="E1402.*End of sequence") as caught:
            it.get_next()
    assert caught.value.code == "E1402" and not isinstance(caught.value, ValueError)
    assert caught.value.error_code == tf.errors.OUT_OF_RANGE


def test_get_next_at_the_end_of_a_traced_function():
    it = iter(Dataset.range(1))
    step = tf.function(lambda: it.get_next() + 1)
    assert int(step()) == 1
    with pytest.raises(tf.errors.OutOfRangeError, match="E1402"):
        step()


MISSING = {
    "read_file": lambda path: tf.io.read_file(path),
    "records": lambda path: list(tf.data.TFRecordDataset(path)),
    "lines": lambda path: list(tf.data.TextLineDataset(path)),
    "pieces": lambda path: list(tf.data.FixedLengthRecordDataset(path, 4)),
    "csv": lambda path: list(tf.data.experimental.CsvDataset(path, [tf.int32])),
    "csv batches": lambda path: tf.data.experimental.make_csv_dataset(path, 2),
    "load": lambda path: Dataset.load(path),
    "gfile": lambda path: tf.io.gfile.GFile(path).read(),
    "stat": lambda path: tf.io.gfile.stat(path),
    "weights": lambda path: tf.keras.Sequential([tf.keras.layers.Dense(1)]).load_weights(
        path + ".weights.h5"
    ),
    "checkpoint": lambda path: tf.train.Checkpoint(x=tf.Variable(1.0)).read(path),
}


@pytest.mark.parametrize("what", MISSING)
def test_a_file_that_is_not_there(what, tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="E1304") as caught:
        MISSING[what](str(tmp_path / "nothing"))
    error = caught.value
    assert isinstance(error, FileNotFoundError) and isinstance(error, ValueError)
    assert error.errno == errno.ENOENT and "nothing" in str(error)
    assert error.error_code == tf.errors.NOT_FOUND
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error)


def test_other_refusals_of_files_are_not_that(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="E1301"):
        tf.io.read_file(str(tmp_path))


# -- iterators of graphs


def test_a_one_shot_iterator_gives_an_element_in_each_run():
    with tf.Graph().as_default():
        it = v1.data.make_one_shot_iterator(Dataset.range(3).map(lambda x: (x, x * x)))
        a, b = it.get_next()
        total = a + b
        assert it.output_types == (tf.int64, tf.int64)
        with v1.Session() as sess:
            assert [sess.run(total) for _ in range(3)] == [0, 2, 6]
            for _ in range(2):
                with pytest.raises(tf.errors.OutOfRangeError, match="E1402"):
                    sess.run(total)
        with pytest.raises(ValueError, match="initializer"):
            _ = it.initializer


def test_an_initializable_iterator_begins_when_it_is_told():
    with tf.Graph().as_default():
        it = v1.data.make_initializable_iterator(Dataset.range(10, 13))
        value = it.get_next()
        with v1.Session() as sess:
            with pytest.raises(tf.errors.FailedPreconditionError, match="initialize"):
                sess.run(value)
            for taken in (3, 2, 3):
                sess.run(it.initializer)
                assert [sess.run(value) for _ in range(taken)] == [10, 11, 12][:taken]
            with pytest.raises(tf.errors.OutOfRangeError):
                sess.run(value)


def test_one_structure_serves_several_datasets():
    with tf.Graph().as_default():
        first = Dataset.range(3)
        second = Dataset.from_tensor_slices(np.array([7, 8], np.int64))
        it = v1.data.Iterator.from_structure(tf.int64, [])
        begin = [it.make_initializer(first), it.make_initializer(second)]
        value = it.get_next()
        with pytest.raises(TypeError, match="int64"):
            it.make_initializer(Dataset.from_tensors(1.5))
        with v1.Session() as sess:
            sess.run(begin[1])
            assert sess.run(value) == 7
            sess.run(begin[0])
            assert [sess.run(value) for _ in range(3)] == [0, 1, 2]


def test_a_handle_that_is_fed_chooses_the_iterator():
    with tf.Graph().as_default():
        a = v1.data.make_one_shot_iterator(Dataset.range(5))
        b = v1.data.make_initializable_iterator(Dataset.range(100, 105))
        handle = v1.placeholder(tf.string, [])
        either = v1.data.Iterator.from_string_handle(handle, tf.int64, [])
        value = either.get_next()
        with v1.Session() as sess:
            to_a, to_b = sess.run(a.string_handle()), sess.run(b.string_handle())
            sess.run(b.initializer)
            found = [sess.run(value, {handle: h}) for h in (to_a, to_b, to_a, to_b)]
            assert found == [0, 100, 1, 101]
            assert sess.run(a.get_next()) == 2  # they share the position
            with pytest.raises(tf.errors.InvalidArgumentError, match="no iterator"):
                sess.run(value, {handle: b"another"})


def test_eager_code_iterates_at_once():
    it = v1.data.make_one_shot_iterator(Dataset.range(2))
    assert [int(it.get_next()), int(next(it))] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError):
        it.get_next()
    with pytest.raises(RuntimeError, match="E1105"):
        v1.data.make_initializable_iterator(Dataset.range(2))
    assert v1.data.get_output_types(Dataset.range(2)) == tf.int64
    assert v1.data.get_output_shapes(Dataset.from_tensors([1, 2])).as_list() == [2]
    assert v1.data.get_output_classes(Dataset.range(2)) is tf.Tensor
