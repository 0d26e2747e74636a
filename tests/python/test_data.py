"""`tf.data`: what each method gives, in which order, and what it says when it can't."""

import collections
import gc
import threading
import weakref

import numpy as np
import pytest

import holdfast as tf

Dataset = tf.data.Dataset


def values(dataset):
    return [x.tolist() for x in dataset.as_numpy_iterator()]


def test_rows_of_structures_of_arrays():
    x, y = np.arange(6.0).reshape(3, 2), np.array([1, 2, 3], np.int32)
    found = list(Dataset.from_tensor_slices({"x": x, "y": (y, y * 2)}))
    assert [e["x"].numpy().tolist() for e in found] == x.tolist()
    assert [int(e["y"][1]) for e in found] == [2, 4, 6]
    spec = Dataset.from_tensor_slices((x, y)).element_spec
    assert spec == (tf.TensorSpec((2,), tf.float64), tf.TensorSpec((), tf.int32))


def test_a_list_is_a_tensor_and_a_tuple_a_structure():
    assert values(Dataset.from_tensor_slices([1, 2, 3])) == [1, 2, 3]
    assert Dataset.from_tensors([1, 2, 3]).element_spec == tf.TensorSpec((3,), tf.int32)
    # What a function gives is a tuple if it is a list of tensors, as TensorFlow has it: a list in
    # a tuple is a tensor.
    listed = Dataset.range(3).map(lambda x: [x, x * 2])
    assert listed.element_spec == (tf.TensorSpec((), tf.int64), tf.TensorSpec((), tf.int64))
    assert [(int(a), int(b)) for a, b in listed] == [(0, 0), (1, 2), (2, 4)]
    mixed = Dataset.range(2).map(lambda x: [x, "text", 1.5])
    assert [spec.dtype for spec in mixed.element_spec] == [tf.int64, tf.string, tf.float32]
    inside = Dataset.range(3).map(lambda x: ([x, x * 2],))
    assert [e[0].tolist() for e in inside.as_numpy_iterator()] == [[0, 0], [1, 2], [2, 4]]


Pair = collections.namedtuple("Pair", "left right")


def test_named_tuples_keep_their_class():
    ds = Dataset.from_tensor_slices(Pair(np.arange(3), np.arange(3) * 10)).shuffle(2, seed=1)
    assert all(type(e) is Pair for e in ds)
    assert type(ds.element_spec) is Pair
    summed = ds.map(lambda pair: Pair(pair.left + pair.right, pair.right)).batch(2)
    assert sorted(v for e in summed for v in e.left.numpy()) == [0, 11, 22]


def test_functions_are_traced_once_with_autograph():
    traces = []

    def halved(x):
        traces.append(1)
        if x % 2 == 0:
            return x // 2
        return x * 3 + 1

    ds = Dataset.range(6).map(halved)
    assert values(ds) == values(ds) == [0, 4, 1, 10, 2, 16]
    assert len(traces) == 1


def test_a_function_of_a_tuple_gets_its_parts():
    ds = Dataset.from_tensor_slices((np.arange(4), np.arange(4) * 2)).map(lambda a, b: a * b)
    assert values(ds) == [0, 2, 8, 18]
    inner = Dataset.from_tensor_slices(((np.arange(2), np.arange(2)), np.arange(2)))
    assert values(inner.map(lambda pair, c: pair[0] + pair[1] + c)) == [0, 3]


def test_functions_use_variables_and_python_functions():
    factor = tf.Variable(2, dtype=tf.int64)
    ds = Dataset.range(3).map(lambda x: x * factor).prefetch(1)
    assert values(ds) == [0, 2, 4]
    factor.assign(5)
    assert values(ds) == [0, 5, 10]
    through = Dataset.range(4).map(lambda x: tf.py_function(lambda v: v.numpy() + 1, [x], tf.int64))
    assert values(through.prefetch(2)) == [1, 2, 3, 4]


def test_generators_begin_anew_and_are_converted():
    begun = []

    def numbers(stop):
        begun.append(stop)
        for i in range(int(stop)):
            yield i, [i, i + 0.5]

    ds = Dataset.from_generator(
        numbers,
        args=(3,),
        output_signature=(tf.TensorSpec((), tf.int64), tf.TensorSpec((2,), tf.float32)),
    )
    for _ in range(2):
        found = [(int(i), v.numpy().tolist()) for i, v in ds]
        assert found == [(0, [0, 0.5]), (1, [1, 1.5]), (2, [2, 2.5])]
    assert len(begun) == 2
    plain = Dataset.from_generator(lambda: iter([1, 2]), output_types=tf.int32)
    assert plain.element_spec.shape.rank is None
    assert values(plain) == [1, 2]


@pytest.mark.parametrize("ahead", [0, 1, 4])
def test_what_a_generator_raises_arrives_as_it_is(ahead):
    def broken():
        yield 1
        raise KeyError("mine")

    it = iter(Dataset.from_generator(broken, output_types=tf.int32).prefetch(ahead))
    assert int(next(it)) == 1
    with pytest.raises(KeyError, match="mine"):
        next(it)


def test_an_element_that_is_not_as_the_spec_says_is_refused_by_number_and_line():
    def numbers():
        yield [1.0, 2.0]
        yield [1.0, 2.0, 3.0]

    ds = Dataset.from_generator(numbers, output_signature=tf.TensorSpec((2,), tf.float32))
    it = iter(ds)
    next(it)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"float32\[3\], expected float32\[2\]"
    ) as e:
        next(it)
    assert "element 1" in str(e.value)


def test_elements_of_different_shapes_are_refused_with_the_cure():
    ds = Dataset.range(1, 4).map(lambda n: tf.fill([n], n)).batch(2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="different shapes") as e:
        list(ds)
    assert "padded_batch" in str(e.value)
    assert "element 0" in str(e.value) and "element 1" in str(e.value)


def test_rows_of_different_shapes_make_no_batch_of_another_size():
    spec = tf.TensorSpec([None, None], tf.int64)
    ds = Dataset.from_generator(lambda: iter([[[1, 2, 3]], [[4]]]), output_signature=spec)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        list(ds.rebatch(2))
    text = str(caught.value)
    assert "`rebatch` can't put elements of different shapes side by side: [3] and [1]" in text
    assert "that of element 1 is int64[1]" in text
    assert [x.numpy().tolist() for x in ds.rebatch(1)] == [[[1, 2, 3]], [[4]]]


def test_numpy_in_a_map_is_refused_while_it_is_traced():
    with pytest.raises(AttributeError) as e:
        Dataset.range(3).map(lambda x: x.numpy() + 1)
    assert e.value.code == "E0203"
    assert "py_function" in str(e.value)


def test_an_error_in_a_map_names_the_element():
    ds = Dataset.range(5).map(lambda x: tf.debugging.assert_less(x, tf.constant(3, tf.int64)) or x)
    it = iter(Dataset.range(5).map(lambda x: tf.reshape(tf.range(x), [3])))
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        next(it)
    assert "element 0 of this `map`" in str(e.value)
    assert ds is not None


def test_padded_batches():
    ds = Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
    assert values(ds.padded_batch(3)) == [[[1, 0, 0], [2, 2, 0], [3, 3, 3]]]
    padded = ds.padded_batch(2, padded_shapes=[4], padding_values=tf.constant(-1, tf.int64))
    assert values(padded)[0] == [[1, -1, -1, -1], [2, 2, -1, -1]]
    both = Dataset.from_tensor_slices((["a", "b"], [[1], [2]])).padded_batch(
        2, padded_shapes=([], [2]), padding_values=("", 7)
    )
    words, numbers = next(iter(both))
    assert words.numpy().tolist() == [b"a", b"b"]
    assert numbers.numpy().tolist() == [[1, 7], [2, 7]]


def test_zip_takes_structures_of_datasets():
    a, b = Dataset.range(3), Dataset.range(10, 20)
    assert [tuple(map(int, e)) for e in Dataset.zip(a, b)] == [(0, 10), (1, 11), (2, 12)]
    assert [tuple(map(int, e)) for e in Dataset.zip((a, b))] == [(0, 10), (1, 11), (2, 12)]
    assert [int(e) for e in Dataset.zip(a)] == [int(e) for e in a]  # one by itself is no tuple
    assert [tuple(map(int, e)) for e in Dataset.zip((b,))] == [(int(e),) for e in b]
    found = list(Dataset.zip({"n": a, "m": (a, b)}))
    assert int(found[2]["m"][1]) == 12


def test_datasets_of_datasets():
    ds = Dataset.range(1, 6).interleave(
        lambda x: Dataset.from_tensors(x).repeat(x), cycle_length=3, block_length=2
    )
    assert values(ds) == [1, 2, 2, 3, 3, 4, 4, 3, 4, 4, 5, 5, 5, 5, 5]
    each = Dataset.range(3).flat_map(lambda x: Dataset.range(x).map(lambda y: y + x * 10))
    assert values(each) == [10, 20, 21]
    assert values(
        Dataset.from_tensor_slices([[1, 2], [3, 4]]).flat_map(Dataset.from_tensor_slices)
    ) == [1, 2, 3, 4]


def test_cardinality_and_length():
    ds = Dataset.range(10)
    assert len(ds.batch(3)) == 4
    assert int(ds.batch(3, drop_remainder=True).cardinality()) == 3
    assert int(ds.repeat().cardinality()) == tf.data.INFINITE_CARDINALITY
    assert int(ds.filter(lambda x: x > 3).cardinality()) == tf.data.UNKNOWN_CARDINALITY
    with pytest.raises(TypeError, match="infinite"):
        len(ds.repeat())
    with pytest.raises(TypeError, match="unknown"):
        len(ds.filter(lambda x: x > 3))
    assert bool(Dataset.range(0))


def test_reduce_apply_and_options():
    assert int(Dataset.range(5).reduce(np.int64(0), lambda a, b: a + b)) == 10
    assert values(Dataset.range(5).apply(lambda ds: ds.take(2))) == [0, 1]
    options = tf.data.Options()
    options.threading.private_threadpool_size = 3
    options.deterministic = False
    ds = Dataset.range(3).with_options(options).map(lambda x: x)
    assert ds.options().threading.private_threadpool_size == 3
    assert ds.options().deterministic is False
    with pytest.raises(TypeError):
        options.threadin = 1
    assert int(Dataset.range(7, 8).get_single_element()) == 7


def test_names_that_are_not_there_say_so():
    ds = Dataset.range(3)
    with pytest.raises(tf.errors.UnimplementedError, match="SqlDataset"):
        _ = tf.data.experimental.SqlDataset
    with pytest.raises(AttributeError, match="no attribute"):
        _ = ds.batched


def test_an_iterator_goes_on_from_where_it_was_saved():
    def made():
        return (
            Dataset.range(30)
            .shuffle(7, seed=3)
            .map(lambda x: (x, x * 2))
            .shuffle(4, seed=5)
            .repeat(2)
            .batch(4)
            .prefetch(2)
        )

    it = iter(made())
    for _ in range(5):
        next(it)
    position = it.save()
    rest = [(a.numpy().tolist(), b.numpy().tolist()) for a, b in it]
    other = iter(made())
    next(other)
    other.restore(position)
    assert [(a.numpy().tolist(), b.numpy().tolist()) for a, b in other] == rest
    assert len(rest) == 10


def test_many_threads_share_an_iterator():
    def numbers():
        yield from range(2000)

    it = iter(Dataset.from_generator(numbers, output_types=tf.int64).prefetch(4))
    found, lock = [], threading.Lock()

    def take():
        for x in it:
            with lock:
                found.append(int(x))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert sorted(found) == list(range(2000))


def test_a_dropped_pipeline_frees_everything():
    class Data:
        def __call__(self):
            yield from range(100)

    source = Data()
    gone = weakref.ref(source)
    variables = []

    def times(factor):
        variables.append(weakref.ref(factor))
        return lambda x: x * factor

    ds = Dataset.from_generator(source, output_types=tf.int32).map(times(tf.Variable(3)))
    it = iter(ds.prefetch(2))
    next(it)
    del source, ds, it
    gc.collect()
    assert gone() is None
    assert variables[0]() is None


def test_strings_pass_through_every_stage():
    ds = Dataset.from_tensor_slices(["a", "bc", "def", "g"]).shuffle(3, seed=1).batch(3).unbatch()
    assert sorted(ds.as_numpy_iterator()) == [b"a", b"bc", b"def", b"g"]
    assert values(Dataset.from_tensor_slices(["a", "bc"]).map(lambda s: s + "!").batch(2)) == [
        [b"a!", b"bc!"]
    ]


def test_an_exception_of_a_generator_has_a_note_of_its_element():
    def broken():
        yield 1
        yield 2
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine") as e:
        list(Dataset.from_generator(broken, output_types=tf.int32).prefetch(1))
    (note,) = e.value.__notes__
    assert "test_data.py" in note and "element 2 of this `from_generator`" in note


def test_a_dataset_is_one_wherever_it_is_copied_and_is_not_pickled():
    import copy
    import pickle

    ds = Dataset.range(3)
    assert copy.copy(ds) is ds and copy.deepcopy({"data": ds})["data"] is ds
    with pytest.raises(tf.errors.UnimplementedError, match="pickled"):
        pickle.dumps(ds)
    with pytest.raises(TypeError, match="not made by calling the class"):
        Dataset()


def test_a_subclass_may_make_another_dataset():
    class Numbers(Dataset):
        def __new__(cls, n):
            return Dataset.from_generator(
                lambda: iter(range(n)), output_signature=tf.TensorSpec((), tf.int64)
            )

    assert values(Numbers(3)) == [0, 1, 2]


def test_a_dataset_made_while_a_function_is_traced_has_values():
    @tf.function
    def total():
        out = 0
        for x in Dataset.from_tensor_slices([1, 2, 3]):
            out += x
        return out

    assert int(total()) == 6


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda ds: ds.batch("a"), "`batch_size` is 'a', expected an integer"),
        (lambda ds: ds.batch(0), "`batch_size` of `batch` is 0"),
        (lambda ds: ds.shuffle(-7), "`buffer_size` of `shuffle` is -7"),
        (lambda ds: ds.take(2**70), "which int64 does not hold"),
        (lambda ds: ds.filter(lambda x: x), "expected a bool scalar"),
        (lambda ds: ds.map(lambda x, y: x), "needs the argument `y`"),
        (lambda ds: ds.flat_map(lambda x: x), "expected a dataset"),
        (lambda ds: ds.concatenate(Dataset.from_tensors("a")), "expected the same form and dtypes"),
        (lambda ds: ds.interleave(Dataset.from_tensors, cycle_length=0), "`cycle_length`"),
        (lambda ds: Dataset.zip([ds]), "got list"),
        (lambda ds: Dataset.from_tensor_slices(5), "is a scalar"),
        (lambda ds: Dataset.from_tensor_slices(([1, 2], [1])), "component 1 has 1 rows"),
        (lambda ds: Dataset.from_generator(lambda: [1]), "needs to know what the generator gives"),
        (lambda ds: list(Dataset.from_generator(lambda: 5, tf.int32)), "to iterate over"),
        (lambda ds: iter(ds).restore(b"junk"), "is refused"),
    ],
)
def test_what_makes_no_sense_is_refused_in_words(call, said):
    with pytest.raises((TypeError, ValueError, tf.errors.OpError)) as e:
        call(Dataset.range(3))
    assert said in str(e.value)


def test_enumerate_stops_where_an_index_is_no_int64():
    last = 2**63 - 1
    it = iter(tf.data.Dataset.from_tensors(1).repeat().enumerate(last - 1))
    assert [int(next(it)[0]) for _ in range(2)] == [last - 1, last]
    with pytest.raises(tf.errors.InvalidArgumentError, match="`enumerate` began with"):
        next(it)


def test_a_counter_has_no_end():
    ds = Dataset.counter(5, -2)
    assert ds.cardinality() == tf.data.INFINITE_CARDINALITY
    assert values(ds.take(3)) == [5, 3, 1]
    assert values(Dataset.counter().batch(2).skip(1).take(1)) == [[2, 3]]
    with pytest.raises(ValueError, match="steps of 0"):
        Dataset.counter(step=0)


def test_datasets_are_rows_of_a_list():
    ds = Dataset.from_tensor_slices([Dataset.range(3), Dataset.range(5, 7)])
    assert ds.element_spec == tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    assert values(ds.flat_map(lambda d: d)) == [0, 1, 2, 5, 6]
    assert values(ds.interleave(lambda d: d, cycle_length=2)) == [0, 5, 1, 6, 2]
    ragged = Dataset.from_tensor_slices(tf.ragged.constant([[1], [2, 3]]))
    rows = Dataset.from_tensor_slices([ragged, ragged]).flat_map(lambda d: d.batch(2))
    assert [r.to_list() for r in rows] == [[[1], [2, 3]]] * 2
    with pytest.raises(TypeError, match="one structure"):
        Dataset.from_tensor_slices([Dataset.range(3), ragged])
    with pytest.raises(TypeError, match="datasets alone"):
        Dataset.from_tensor_slices([Dataset.range(3), 5])


def test_a_class_makes_elements():
    Pair = collections.namedtuple("Pair", ["a", "b"])
    ds = Dataset.zip(Dataset.range(2), Dataset.range(5, 7)).map(Pair)
    assert [(int(e.a), int(e.b)) for e in ds] == [(0, 5), (1, 6)]
    assert values(ds.map(lambda e: e._replace(a=e.b)).map(lambda e: e.a)) == [5, 6]


def test_cardinalities_of_endless_inputs_are_tensorflows():
    endless, ten = Dataset.range(10).repeat(), Dataset.range(10)

    def two(_):
        return Dataset.range(2)

    made = Dataset.from_generator(lambda: [1], output_types=tf.int64)
    found = [
        endless.interleave(two, cycle_length=2),
        endless.interleave(two, cycle_length=2, num_parallel_calls=2),
        endless.flat_map(two),
        endless.batch(2).rebatch(3),
        endless.ignore_errors(),
        Dataset.sample_from_datasets([endless, ten]),
        Dataset.choose_from_datasets([ten, ten], Dataset.range(2).repeat()),
        endless.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5]),
        made.repeat(),
        made,
    ]
    assert [int(ds.cardinality()) for ds in found] == [-2, -1, -2, -2, -2, -1, -2, -1, -1, -2]


def test_padding_to_less_than_elements_have_is_refused_at_once():
    threes = Dataset.from_tensors([1, 2, 3])
    with pytest.raises(ValueError, match="padded_shapes"):
        threes.padded_batch(2, padded_shapes=[1])
    assert values(threes.padded_batch(2, padded_shapes=[4])) == [[[1, 2, 3, 0]]]


def test_a_state_stays_what_it_was():
    ds = Dataset.range(3)
    for wrong in (lambda s, x: (), lambda s, x: (s, s), lambda s, x: tf.cast(s, tf.float32)):
        with pytest.raises(TypeError, match="the function of `reduce` gave"):
            ds.reduce(tf.constant(0, tf.int64), wrong)
        with pytest.raises(TypeError):
            tf.function(lambda f=wrong: ds.reduce(tf.constant(0, tf.int64), f))()
    grown = ds.reduce(tf.zeros([0], tf.int64), lambda s, x: tf.concat([s, [x]], 0))
    assert grown.numpy().tolist() == [0, 1, 2]


def test_a_tensor_that_leaves_a_map_is_told_with_its_lines():
    kept = []

    def keep(x):
        kept.append(x)
        return x

    list(Dataset.range(2).map(keep))
    with pytest.raises(TypeError) as e:
        kept[0] + 1
    assert e.value.code == "E0101"
    assert "kept[0]" in str(e.value) and "an argument of keep" in str(e.value)
    assert "Dataset.range(2).map(keep)" in str(e.value)


def test_rows_that_are_known_to_differ_are_refused_at_once(tmp_path):
    uneven = Dataset.from_tensors((tf.zeros([2, 3]), tf.zeros([3])))
    with pytest.raises(ValueError, match="as many rows"):
        uneven.unbatch()
    assert len(list(Dataset.from_tensors((tf.zeros([2, 3]), tf.zeros([2]))).unbatch())) == 2
    with pytest.raises(ValueError, match="buffer_size"):
        tf.data.experimental.CsvDataset(str(tmp_path / "a"), [tf.int32], buffer_size=0)


def test_batches_of_none_need_to_know_their_axes():
    rows = tf.data.Dataset.from_generator(lambda: iter([[1, 2], [3]]), output_types=tf.int64)
    with pytest.raises(ValueError, match="component 0 of an element"):
        rows.rebatch([0, 1])
