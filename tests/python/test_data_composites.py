"""Ragged and sparse tensors as elements of datasets."""

import numpy as np
import pytest

import holdfast as tf

Dataset = tf.data.Dataset
Ragged, Sparse = tf.RaggedTensorSpec, tf.SparseTensorSpec


def rows():
    return tf.ragged.constant([[1, 2], [3], [], [4, 5, 6]])


def lists(dataset):
    return [e.to_list() if isinstance(e, tf.RaggedTensor) else e.numpy().tolist() for e in dataset]


def dense(dataset):
    return [tf.sparse.to_dense(e).numpy().tolist() for e in dataset]


def test_rows_of_a_ragged_tensor():
    ds = Dataset.from_tensor_slices(rows())
    assert ds.element_spec == Ragged([None], tf.int32, 0)
    assert len(ds) == 4
    assert lists(ds) == [[1, 2], [3], [], [4, 5, 6]]
    assert ds.batch(3).element_spec == Ragged([None, None], tf.int32, 1)
    assert lists(ds.batch(3)) == [[[1, 2], [3], []], [[4, 5, 6]]]
    assert lists(ds.batch(3, drop_remainder=True)) == [[[1, 2], [3], []]]
    assert ds.batch(3, drop_remainder=True).element_spec.shape == [3, None]


def test_rows_of_rows_keep_their_rows():
    deep = [[[1], [2, 3]], [], [[], [4, 5, 6]]]
    ds = Dataset.from_tensor_slices(tf.ragged.constant(deep))
    assert ds.element_spec == Ragged([None, None], tf.int32, 1)
    assert lists(ds) == deep
    assert lists(ds.batch(2)) == [deep[:2], deep[2:]]
    assert lists(ds.batch(2).batch(2)) == [[deep[:2], deep[2:]]]
    assert lists(ds.batch(2).unbatch()) == deep
    assert lists(ds.batch(3).rebatch(2)) == [deep[:2], deep[2:]]


def test_row_splits_keep_their_dtype():
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]], row_splits_dtype=tf.int32)
    ds = Dataset.from_tensor_slices(ragged)
    assert ds.element_spec.row_splits_dtype == tf.int32
    (batch,) = ds.batch(5)
    assert batch.row_splits.dtype == tf.int32
    assert batch.to_list() == [[1.0], [2.0, 3.0]]


def test_texts_and_inner_axes():
    words = tf.ragged.constant([["a", "bc"], [], ["d"]])
    assert lists(Dataset.from_tensor_slices(words).batch(2)) == [[[b"a", b"bc"], []], [[b"d"]]]
    pairs = tf.RaggedTensor.from_row_lengths(tf.reshape(tf.range(6), [3, 2]), [1, 2])
    (batch,) = Dataset.from_tensor_slices(pairs).batch(2)
    assert batch.shape.as_list() == [2, None, 2]
    assert batch.to_list() == [[[0, 1]], [[2, 3], [4, 5]]]


def test_structures_with_tensors_beside():
    features = {"ids": rows(), "n": tf.range(4), "s": tf.sparse.from_dense(np.eye(4))}
    ds = Dataset.from_tensor_slices((features, ["a", "b", "c", "d"]))
    assert list(ds.element_spec[0]) == ["ids", "n", "s"]
    for x, label in ds.shuffle(4, seed=1).repeat(2).batch(3):
        for i, n in enumerate(x["n"].numpy()):
            assert x["ids"][i].numpy().tolist() == rows()[n].numpy().tolist()
            assert tf.sparse.to_dense(x["s"]).numpy()[i].tolist() == np.eye(4)[n].tolist()
            assert label.numpy()[i] == b"abcd"[n : n + 1]


def test_maps_take_and_give_them():
    ds = Dataset.range(1, 5).map(lambda n: tf.ragged.range([n, 2]))
    assert ds.element_spec == Ragged([2, None], tf.int64, 1)
    assert ds.batch(2).element_spec == Ragged([None, 2, None], tf.int64, 2)
    assert lists(ds.batch(2))[0] == [[[0], [0, 1]], [[0, 1], [0, 1]]]
    sums = ds.map(lambda r: tf.reduce_sum(r, 1), num_parallel_calls=2)
    assert lists(sums) == [[0, 1], [1, 1], [3, 1], [6, 1]]
    assert lists(ds.filter(lambda r: tf.shape(r.flat_values)[0] > 4).map(lambda r: r + 1)) == [
        [[1, 2, 3], [1, 2]],
        [[1, 2, 3, 4], [1, 2]],
    ]
    both = Dataset.zip(ds, Dataset.range(4)).map(lambda r, n: {"r": r * n, "n": n})
    assert [e["r"].to_list() for e in both][2] == [[0, 2, 4], [0, 2]]


def test_ragged_batch_of_tensors():
    ds = Dataset.range(1, 5).map(lambda n: (tf.fill([n], n), tf.fill([n, 3], n), n))
    batched = ds.ragged_batch(3, row_splits_dtype=tf.int32)
    assert batched.element_spec == (
        Ragged([None, None], tf.int64, 1, tf.int32),
        Ragged([None, None, 3], tf.int64, 1, tf.int32),
        tf.TensorSpec([None], tf.int64),
    )
    first, _ = batched
    assert first[0].to_list() == [[1], [2, 2], [3, 3, 3]]
    assert first[1].shape.as_list() == [3, None, 3]
    assert first[2].numpy().tolist() == [1, 2, 3]
    old = ds.apply(tf.data.experimental.dense_to_ragged_batch(3, drop_remainder=True))
    assert [e[0].to_list() for e in old] == [[[1], [2, 2], [3, 3, 3]]]
    square = Dataset.range(1, 4).map(lambda n: tf.fill([2, n, n], n)).ragged_batch(2)
    assert square.element_spec == Ragged([None, 2, None, None], tf.int64, 3)
    assert next(iter(square))[1, 0].to_list() == [[2, 2], [2, 2]]
    assert Dataset.range(4).ragged_batch(2).element_spec == tf.TensorSpec([None], tf.int64)


def test_sparse_elements():
    sparse = tf.sparse.from_dense([[0, 1, 2], [3, 0, 0], [0, 0, 0]])
    ds = Dataset.from_tensor_slices(sparse)
    assert ds.element_spec == Sparse([3], tf.int32)
    assert len(ds) == 3
    assert dense(ds) == [[0, 1, 2], [3, 0, 0], [0, 0, 0]]
    assert ds.batch(2).element_spec == Sparse([None, 3], tf.int32)
    assert dense(ds.batch(2)) == [[[0, 1, 2], [3, 0, 0]], [[0, 0, 0]]]
    assert dense(ds.batch(2).unbatch()) == dense(ds)
    assert next(iter(ds.batch(2))).shape.as_list() == [2, 3]
    wider = Dataset.from_tensors(tf.sparse.from_dense([1, 0])).concatenate(
        Dataset.from_tensors(tf.sparse.from_dense([0, 0, 5]))
    )
    assert wider.element_spec == Sparse([None], tf.int32)
    assert dense(wider.batch(2)) == [[[1, 0, 0], [0, 0, 5]]]


def test_sparse_batch_of_tensors():
    ds = Dataset.range(1, 4).map(lambda n: tf.fill([n], n))
    batched = ds.sparse_batch(2, [4])
    assert batched.element_spec == Sparse([None, 4], tf.int64)
    assert dense(batched) == [[[1, 0, 0, 0], [2, 2, 0, 0]], [[3, 3, 3, 0]]]
    open_ended = ds.apply(tf.data.experimental.dense_to_sparse_batch(2, [None]))
    assert dense(open_ended) == [[[1, 0], [2, 2]], [[3, 3, 3]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="row_shape"):
        list(ds.sparse_batch(2, [1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="row_shape"):
        ds.sparse_batch(2, [2, 2])
    with pytest.raises(TypeError, match="one tensor"):
        Dataset.zip(ds, ds).sparse_batch(2, [4])


def test_loops_of_graphs():
    ds = Dataset.from_tensor_slices(rows()).batch(2)

    @tf.function
    def total(dataset):
        out = 0
        for batch in dataset:
            out += tf.reduce_sum(batch) * batch.nrows(tf.int32)
        return out

    assert int(total(ds)) == 2 * (1 + 2 + 3) + 2 * (4 + 5 + 6)
    it = iter(ds)

    @tf.function
    def step(iterator):
        return tf.reduce_sum(next(iterator), 1)

    assert step(it).numpy().tolist() == [3, 3]
    assert step(it).numpy().tolist() == [0, 15]
    assert int(ds.reduce(0, lambda s, r: s + tf.reduce_sum(r))) == 21


def test_positions_are_restored():
    def made():
        return Dataset.from_tensor_slices(rows()).repeat(2).shuffle(5, seed=3).batch(3)

    whole = lists(made())
    it = iter(made())
    next(it)
    other = iter(made())
    other.restore(it.save())
    assert lists(other) == whole[1:]
    it = iter(Dataset.from_tensor_slices(rows()).batch(3).unbatch())
    next(it)
    other = iter(Dataset.from_tensor_slices(rows()).batch(3).unbatch())
    other.restore(it.save())
    assert lists(other) == [[3], [], [4, 5, 6]]


def test_generators_give_them():
    def generate():
        yield tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([0, 7])
        yield tf.ragged.constant([[], [4]], dtype=tf.int32), tf.sparse.from_dense([8, 0])

    ds = Dataset.from_generator(
        generate, output_signature=(Ragged([2, None], tf.int32), Sparse([2], tf.int32))
    )
    ((ragged, sparse),) = ds.batch(2)
    assert ragged.to_list() == [[[1], [2, 3]], [[], [4]]]
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[0, 7], [8, 0]]
    wrong = Dataset.from_generator(
        lambda: iter([1.0]), output_signature=Ragged([2, None], tf.int32)
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="signature"):
        list(wrong)


def test_kept_prefetched_and_as_arrays(tmp_path):
    ds = Dataset.from_tensor_slices(rows())
    assert lists(ds.cache().prefetch(2)) == lists(ds)
    assert lists(ds.cache(str(tmp_path / "kept"))) == lists(ds)
    (array,) = Dataset.from_tensors(rows()).as_numpy_iterator()
    assert [row.tolist() for row in array] == [[1, 2], [3], [], [4, 5, 6]]
    (array,) = Dataset.from_tensors(tf.sparse.from_dense([[0, 2]])).as_numpy_iterator()
    assert array.tolist() == [[0, 2]]
    path = str(tmp_path / "saved")
    ds.batch(2).save(path)
    assert lists(Dataset.load(path, ds.batch(2).element_spec)) == lists(ds.batch(2))


def test_parsed_examples():
    def example(n):
        feature = {
            "v": tf.train.Feature(int64_list=tf.train.Int64List(value=range(n))),
            "w": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5] * n)),
        }
        message = tf.train.Example(features=tf.train.Features(feature=feature))
        return message.SerializeToString()

    features = {"v": tf.io.RaggedFeature(tf.int64), "w": tf.io.VarLenFeature(tf.float32)}
    texts = Dataset.from_tensor_slices([example(n) for n in range(4)])
    whole = texts.batch(4).map(lambda t: tf.io.parse_example(t, features))
    (parsed,) = whole
    assert parsed["v"].to_list() == [[], [0], [0, 1], [0, 1, 2]]
    assert tf.sparse.to_dense(parsed["w"]).shape.as_list() == [4, 3]
    singly = texts.map(lambda t: tf.io.parse_single_example(t, features)).ragged_batch(4)
    (again,) = singly
    assert again["v"].to_list() == parsed["v"].to_list()
    assert tf.sparse.to_dense(again["w"]).numpy().tolist() == (
        tf.sparse.to_dense(parsed["w"]).numpy().tolist()
    )


def test_windows_of_ragged_and_sparse_elements():
    of_rows = tf.ragged.constant([[1, 2], [], [3], [4, 5, 6]])
    ds = Dataset.from_tensor_slices(of_rows).window(2)
    assert ds.element_spec == tf.data.DatasetSpec(tf.RaggedTensorSpec([None], tf.int32, 0))
    assert [[x.numpy().tolist() for x in w] for w in ds] == [[[1, 2], []], [[3], [4, 5, 6]]]
    batches = ds.flat_map(lambda w: w.batch(2))
    assert [b.to_list() for b in batches] == [[[1, 2], []], [[3], [4, 5, 6]]]
    sparse = tf.sparse.from_dense([[1, 0], [0, 2], [3, 0]])
    both = Dataset.from_tensor_slices({"s": sparse, "n": [1, 2, 3]}).window(2, shift=1)
    found = [
        ([tf.sparse.to_dense(s).numpy().tolist() for s in w["s"]], [int(n) for n in w["n"]])
        for w in both
    ]
    assert found == [
        ([[1, 0], [0, 2]], [1, 2]),
        ([[0, 2], [3, 0]], [2, 3]),
        ([[3, 0]], [3]),
    ]
    joined = both.flat_map(lambda w: Dataset.zip(w["s"].batch(2), w["n"].batch(2)))
    assert [n.numpy().tolist() for _, n in joined] == [[1, 2], [2, 3], [3]]
    deep = ds.map(lambda w: w).flat_map(lambda w: w.map(lambda row: tf.reduce_sum(row)))
    assert [int(x) for x in deep] == [3, 0, 3, 15]


def test_buckets_of_ragged_and_sparse_elements():
    def sparse(n):
        return tf.SparseTensor(tf.reshape(tf.range(n), [-1, 1]), tf.fill([n], n), [8])

    def length(s):
        return tf.shape(s.values)[0]

    ds = Dataset.range(1, 6).map(sparse)
    buckets = ds.bucket_by_sequence_length(length, [3], [2, 2], no_padding=True)
    found = [tf.sparse.to_dense(b).numpy().max(1).tolist() for b in buckets]
    assert found == [[1, 2], [3, 4], [5]]
    whole = ds.bucket_by_sequence_length(length, [3], [2, 3], no_padding=True, drop_remainder=True)
    assert [b.shape.as_list() for b in whole] == [[2, 8], [3, 8]]
    plain = Dataset.range(1, 6).map(lambda n: tf.fill([n], n))
    sized = plain.bucket_by_sequence_length(
        lambda t: tf.shape(t)[0], [3], [2, 3], drop_remainder=True
    )
    assert sized.element_spec.shape.as_list() == [None, None]  # buckets have batches of their own
    assert [b.shape.as_list() for b in sized] == [[2, 2], [3, 5]]
    with pytest.raises(ValueError, match="expected one more"):
        ds.bucket_by_sequence_length(length, [3], [2], no_padding=True)


def test_other_features_put_the_values_of_one_into_rows():
    kind = tf.io.RaggedFeature

    def example(**lists):
        feature = {
            key: tf.train.Feature(
                **(
                    {"float_list": tf.train.FloatList(value=given)}
                    if key == "v"
                    else {"int64_list": tf.train.Int64List(value=given)}
                )
            )
            for key, given in lists.items()
        }
        return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()

    texts = tf.constant(
        [
            example(v=[1.0, 2.0, 3.0], s=[0, 2, 3], n=[2, 1], i=[0, 0, 1], b=[0, 2], e=[2, 3]),
            example(v=[4.0], s=[0, 1], n=[1], i=[0], b=[0], e=[1]),
            example(v=[], s=[0], n=[], i=[], b=[], e=[]),
        ]
    )
    rows = [[[1.0, 2.0], [3.0]], [[4.0]], []]
    cases = [
        ([kind.RowSplits("s")], rows),
        ([kind.RowLengths("n")], rows),
        ([kind.ValueRowIds("i")], rows),
        ([kind.RowStarts("b")], rows),
        ([kind.RowLimits("e")], rows),
        ([kind.UniformRowLength(1)], [[[1.0], [2.0], [3.0]], [[4.0]], []]),
        (
            [kind.RowLengths("n"), kind.UniformRowLength(1)],
            [[[[1.0], [2.0]], [[3.0]]], [[[4.0]]], []],
        ),
        ([kind.UniformRowLength(1), kind.RowSplits("s")], [[[[1.0, 2.0]], [[3.0]]], [[[4.0]]], []]),
    ]
    for partitions, expected in cases:
        features = {"x": kind(tf.float32, value_key="v", partitions=partitions)}
        whole = tf.io.parse_example(texts, features)["x"]
        assert whole.to_list() == expected
        assert whole.row_splits.dtype == tf.int32
        one = tf.io.parse_single_example(texts[0], features)["x"]
        found = one.to_list() if isinstance(one, tf.RaggedTensor) else one.numpy().tolist()
        assert found == expected[0]
        traced = Dataset.from_tensors(texts).map(lambda t, f=features: tf.io.parse_example(t, f))
        assert next(iter(traced))["x"].to_list() == expected
        checked = {"x": kind(tf.float32, value_key="v", partitions=partitions, validate=True)}
        assert tf.io.parse_example(texts, checked)["x"].to_list() == expected
    with pytest.raises(TypeError, match="partitions"):
        tf.io.parse_example(texts, {"x": kind(tf.float32, value_key="v", partitions=["n"])})


def test_what_is_refused():
    ragged = Dataset.from_tensors(rows())
    for stage in (
        lambda: ragged.padded_batch(2),
        lambda: ragged.bucket_by_sequence_length(lambda r: 1, [2], [1, 1]),
    ):
        with pytest.raises(TypeError, match="elements of tensors"):
            stage()
    with pytest.raises(tf.errors.InvalidArgumentError, match="as many rows"):
        Dataset.from_tensor_slices((rows(), tf.range(3)))
    with pytest.raises(TypeError, match="row_splits_dtype"):
        Dataset.range(3).ragged_batch(2, row_splits_dtype=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="batch_size"):
        ragged.batch(0)
    broken = tf.RaggedTensor.from_row_splits([1, 2], [0, 5], validate=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="row splits"):
        list(Dataset.from_tensor_slices(broken))
    outside = tf.SparseTensor([[5, 0]], [1], [2, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match="outside"):
        list(Dataset.from_tensor_slices(outside))
    mixed = Dataset.range(1, 3).map(lambda n: tf.fill([n, n], n))
    loose = mixed.map(lambda t: tf.ensure_shape(t, [None, None])).map(
        lambda t: tf.RaggedTensor.from_tensor(t).flat_values
    )
    assert lists(loose.ragged_batch(2)) == [[[1], [2, 2, 2, 2]]]


def test_values_of_sparse_and_ragged_tensors_are_elements():
    value = tf.compat.v1.SparseTensorValue([[0, 0], [1, 2]], [1, 2], [2, 3])
    for dataset in (
        tf.data.Dataset.from_tensors(value),
        tf.data.Dataset.range(1).map(lambda _: value),
    ):
        (found,) = dataset
        assert isinstance(found, tf.SparseTensor)
        assert tf.sparse.to_dense(found).numpy().tolist() == [[1, 0, 0], [0, 0, 2]]
    rows = tf.compat.v1.ragged.constant_value([[1, 2], [], [3]])
    assert [r.numpy().tolist() for r in tf.data.Dataset.from_tensor_slices(rows)] == [
        [1, 2],
        [],
        [3],
    ]


def test_a_state_of_several_tensors_is_reduced():
    def added(state, x):
        count, sparse = state
        return count + 1, tf.sparse.add(sparse, tf.sparse.expand_dims(x, 0))

    rows = tf.sparse.from_dense([[1, 0], [0, 2], [3, 0]])
    ds = Dataset.from_tensor_slices(rows)

    def total():
        return ds.reduce((0, tf.sparse.from_dense([[0, 7]])), added)

    for run in (total, tf.function(total)):
        count, sparse = run()
        assert int(count) == 3
        assert tf.sparse.to_dense(sparse).numpy().tolist() == [[4, 9]]
    ragged = Dataset.range(1, 3).reduce(
        tf.ragged.constant([[5]], dtype=tf.int64),
        lambda state, x: tf.concat(
            [state, tf.RaggedTensor.from_row_lengths(tf.fill([x], x), [x])], 0
        ),
    )
    assert ragged.to_list() == [[5], [1], [2, 2]]


def test_a_state_of_several_tensors_goes_from_element_to_element():
    def rows():
        first = tf.ragged.constant([[1], [2, 3]], dtype=tf.int64)
        return Dataset.range(4).scan(first, lambda s, x: (s + x, s))

    wanted = [[[1], [2, 3]], [[1], [2, 3]], [[2], [3, 4]], [[4], [5, 6]]]
    assert [x.to_list() for x in rows()] == wanted
    it, again = iter(rows()), iter(rows())
    next(it)
    again.restore(it.save())
    assert [x.to_list() for x in again] == wanted[1:]
    sparse = tf.sparse.from_dense([0, 1])
    dense = Dataset.range(2).scan(sparse, lambda s, x: (s * 2, tf.sparse.to_dense(s)))
    assert [x.numpy().tolist() for x in dense] == [[0, 1], [0, 2]]


def array(x=1):
    return tf.TensorArray(tf.int64, 2).unstack(tf.stack([tf.cast(x, tf.int64)] * 2))


def optional(x=1):
    return tf.experimental.Optional.from_value(x)


@pytest.mark.parametrize("made", [array, optional])
def test_parts_that_are_no_tensors_are_refused_as_unsupported(made):
    ds = Dataset.range(3)
    for use in (
        lambda: Dataset.from_tensors(made()),
        lambda: Dataset.from_tensor_slices({"a": made()}),
        lambda: ds.map(made),
        lambda: ds.map(lambda x: {"a": (x, made(x))}),
        lambda: ds.scan(made(), lambda s, x: (s, x)),
        lambda: ds.reduce(made(), lambda s, x: s),
    ):
        with pytest.raises(tf.errors.UnimplementedError, match="part of a dataset's element"):
            use()


def test_an_optional_of_several_tensors():
    sparse = tf.sparse.from_dense([0, 3])
    found = tf.experimental.Optional.from_value({"s": sparse, "n": 5})
    assert found.element_spec["s"] == tf.SparseTensorSpec([2], tf.int32)
    value = found.get_value()
    assert tf.sparse.to_dense(value["s"]).numpy().tolist() == [0, 3]
    assert int(value["n"]) == 5


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize(
    ("kind", "numbers"),
    [
        ("RowSplits", [0, 2, 5]),
        ("RowSplits", [0, 2]),
        ("RowSplits", [0, 2, 1, 3]),
        ("RowSplits", []),
        ("RowLengths", [2, 5]),
        ("RowLengths", [4, -1]),
        ("RowStarts", [1, 2]),
        ("RowStarts", [0, 5]),
        ("RowLimits", [2, 5]),
        ("RowLimits", [2, 1, 3]),
        ("ValueRowIds", [0, 1]),
        ("ValueRowIds", [1, 0, 1]),
        ("ValueRowIds", [-1, 0, 1]),
    ],
)
def test_rows_that_do_not_fit_the_values_are_refused_where_the_feature_says_so(
    kind, numbers, batch, traced
):
    def parsed(text, validate):
        how = [getattr(tf.io.RaggedFeature, kind)("s")]
        feature = tf.io.RaggedFeature(tf.int64, "v", partitions=how, validate=validate)
        parse = tf.io.parse_example if batch else tf.io.parse_single_example
        return parse([text, text] if batch else text, {"x": feature})["x"]

    def of(values):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    message = tf.train.Example(
        features=tf.train.Features(feature={"v": of([1, 2, 3]), "s": of(numbers)})
    )
    run = tf.function(parsed) if traced else parsed
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(message.SerializeToString(), True)
    run(message.SerializeToString(), False)  # then nothing looks at the numbers
