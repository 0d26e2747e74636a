"""The end of an iteration and files that are not there: codes and classes of their own."""

import errno
import gc
import pickle
import threading
import time
import weakref

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


class Holder:
    pass


def held_by_its_own_generator(stages, taken):
    """An iterator that is held by what its generator holds; a weak reference to that."""
    holder = Holder()

    def numbers():
        for i in range(9):
            yield i if holder else 0

    spec = tf.TensorSpec((), tf.int64)
    source = tf.data.Dataset.from_generator(numbers, output_signature=spec)
    holder.iterator = iter(stages(source))
    for _ in range(taken):
        next(holder.iterator)
    return weakref.ref(holder)


@pytest.mark.parametrize("taken", [0, 1, 3])
@pytest.mark.parametrize(
    "stages",
    [
        lambda ds: ds,
        lambda ds: ds.map(lambda x: x + 1).filter(lambda x: x > 0),
        lambda ds: ds.prefetch(2),
        lambda ds: ds.batch(2).unbatch().shuffle(2).repeat(2),
        lambda ds: ds.map(lambda x: x + 1, num_parallel_calls=2),
        lambda ds: tf.data.Dataset.zip(ds, ds.cache()),
        lambda ds: ds.interleave(tf.data.Dataset.from_tensors, 2),
    ],
    ids=["plain", "map", "prefetch", "order", "threads", "zip", "interleave"],
)
def test_a_generator_and_the_iterator_that_it_holds_are_collected(stages, taken):
    gone = held_by_its_own_generator(stages, taken)
    for _ in range(3):
        gc.collect()
    assert gone() is None


def test_what_is_still_held_is_not_collected():
    holder = Holder()

    def numbers():
        for i in range(5):
            yield i + holder.more

    holder.more = 10
    spec = tf.TensorSpec((), tf.int64)
    iterator = iter(tf.data.Dataset.from_generator(numbers, output_signature=spec).prefetch(1))
    holder.iterator = iterator
    found = []
    for x in iterator:
        gc.collect()
        found.append(int(x))
    assert found == [10, 11, 12, 13, 14]


def test_the_function_of_buckets_is_collected_with_the_iterator_that_it_holds():
    def begun():
        holder = Holder()

        def length(x):
            return tf.py_function(lambda y: len(y) if holder else 0, [x], tf.int32)

        ds = tf.data.Dataset.range(9).map(lambda x: tf.fill([x % 3], x))
        holder.iterator = iter(ds.bucket_by_sequence_length(length, [2], [2, 2]))
        next(holder.iterator)
        return weakref.ref(holder)

    gone = begun()
    for _ in range(3):
        gc.collect()
    assert gone() is None


def test_threads_that_do_not_end_are_waited_for_together():
    go_on = threading.Event()

    def code(x):
        if x > 0:
            go_on.wait(30)
        return x

    ds = Dataset.range(20).map(lambda x: tf.py_function(code, [x], tf.int64), num_parallel_calls=6)
    it = iter(ds)
    assert int(next(it)) == 0
    begin = time.monotonic()
    del it
    assert time.monotonic() - begin < 4  # one second, and not one for each
    go_on.set()


def _nothing(*_):
    return next(iter([]))


def _makes_one():
    """A function that makes a dataset when it is looked at, and for no element."""
    calls = []

    def make(*_):
        calls.append(0)
        return Dataset.range(2) if len(calls) == 1 else _nothing()

    return tf.autograph.experimental.do_not_convert(make)


@pytest.mark.parametrize(
    "stage",
    [
        lambda ds: ds.flat_map(_makes_one()),
        lambda ds: ds.interleave(_makes_one(), num_parallel_calls=2),
        lambda ds: ds.group_by_window(lambda x: x, _makes_one(), window_size=1),
        lambda ds: ds.map(lambda x: tf.py_function(_nothing, [x], tf.int64), num_parallel_calls=2),
        lambda ds: ds.map(lambda x: tf.numpy_function(_nothing, [x], tf.int64)).prefetch(2),
        lambda ds: Dataset.from_generator(_nothing, output_signature=tf.TensorSpec([], tf.int64)),
    ],
    ids=["flat_map", "interleave", "group_by_window", "py_function", "numpy_function", "generator"],
)
def test_a_function_that_raises_stop_iteration_does_not_end_the_data(stage):
    with pytest.raises(RuntimeError, match="raised StopIteration") as caught:
        list(stage(Dataset.range(3)))
    assert isinstance(caught.value.__cause__, StopIteration)
