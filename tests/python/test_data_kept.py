"""Elements in files: `save` and `load`, `cache` in a file, `snapshot`."""

import collections
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

import holdfast as tf

Dataset = tf.data.Dataset


def values(dataset):
    return [x.tolist() for x in dataset.as_numpy_iterator()]


def counted(n, seen):
    """A dataset that notes each element that it makes."""

    def gen():
        for i in range(n):
            seen.append(i)
            yield i

    return Dataset.from_generator(gen, output_signature=tf.TensorSpec((), tf.int64))


def test_what_is_saved_is_loaded(tmp_path):
    path = str(tmp_path / "deep" / "folder")
    ds = Dataset.from_tensor_slices(
        {"x": np.arange(6.0).reshape(3, 2), "s": (["a", "", "länger"], [True, False, True])}
    )
    ds.save(path)
    again = Dataset.load(path)
    assert len(again) == 3 and again.element_spec == ds.element_spec
    for a, b in zip(ds, again, strict=True):
        np.testing.assert_array_equal(a["x"], b["x"])
        assert a["s"][0].numpy() == b["s"][0].numpy()
        assert a["s"][1].numpy() == b["s"][1].numpy()
    first, second = iter(again), iter(again)
    next(first)
    second.restore(first.save())
    assert len(list(second)) == 2
    with pytest.raises(ValueError, match="expected"):
        Dataset.load(path, element_spec=tf.TensorSpec((), tf.int32))
    shuffled = Dataset.load(path, reader_func=lambda all_of: all_of.flat_map(lambda d: d.skip(1)))
    assert len(list(shuffled)) == 2


def test_unknown_sizes_and_windows_are_saved(tmp_path):
    Dataset.range(5).batch(2).save(str(tmp_path / "a"))
    again = Dataset.load(str(tmp_path / "a"))
    assert values(again) == [[0, 1], [2, 3], [4]]
    assert again.element_spec == tf.TensorSpec((None,), tf.int64)
    Dataset.range(5).window(2).save(str(tmp_path / "b"))
    assert values(Dataset.load(str(tmp_path / "b")).flat_map(lambda w: w)) == list(range(5))


def test_files_that_are_not_whole_are_refused(tmp_path):
    path = tmp_path / "s"
    Dataset.range(20).save(str(path))
    (file,) = path.glob("elements.*")
    whole = file.read_bytes()
    with pytest.raises(tf.errors.NotFoundError, match="E1304"):
        Dataset.load(str(tmp_path / "nothing"))
    for cut in (0, 5, 40, len(whole) - 3):
        file.write_bytes(whole[:cut])
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.DataLossError)):
            list(Dataset.load(str(path)))
    for at in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[at] ^= 0x5A
        file.write_bytes(damaged)
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.DataLossError)):
            list(Dataset.load(str(path)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="never end"):
        Dataset.range(3).repeat().save(str(path))


@pytest.mark.parametrize("stage", ["cache", "snapshot"])
def test_elements_are_made_once(tmp_path, stage):
    seen = []

    def made():
        return getattr(counted(4, seen), stage)(str(tmp_path / "kept"))

    ds = made()
    half = iter(ds)
    assert [int(next(half)) for _ in range(2)] == [0, 1]
    del half  # nothing counts that is not whole
    assert values(ds) == values(ds) == [0, 1, 2, 3]
    assert values(made()) == [0, 1, 2, 3]
    assert seen == [0, 1, *range(4)]
    assert not [p for p in tmp_path.rglob("*") if "part" in p.name]
    other = getattr(Dataset.from_tensors("a"), stage)(str(tmp_path / "kept"))
    if stage == "snapshot":  # other pipelines have a place of their own
        assert list(other.as_numpy_iterator()) == [b"a"]
        assert values(Dataset.range(9).snapshot(str(tmp_path / "kept"))) == list(range(9))
        assert values(made()) == [0, 1, 2, 3]
    else:
        with pytest.raises(tf.errors.InvalidArgumentError, match="they are int64"):
            list(other)


@pytest.mark.parametrize("place", ["memory", "file"])
def test_what_is_kept_is_whole_with_the_last_element(tmp_path, place):
    paths = [str(tmp_path / str(i)) if place == "file" else "" for i in range(3)]
    shuffled = [Dataset.range(9).shuffle(9).cache(path) for path in paths]
    both = Dataset.zip(*shuffled)  # the first one ends it: nobody asks the others for one more
    first = [tuple(map(int, e)) for e in both]
    assert [tuple(map(int, e)) for e in both] == first
    some = iter(shuffled[0])
    assert [int(next(some)) for _ in range(9)] == [e[0] for e in first]


@pytest.mark.parametrize("taken", [0, 2, 5])
def test_positions_are_saved_while_a_file_is_written(tmp_path, taken):
    ds = Dataset.range(5).map(lambda x: x * 3).cache(str(tmp_path / "c"))
    first = iter(ds)
    for _ in range(taken):
        next(first)
    position = first.save()
    del first
    again = iter(ds)
    again.restore(position)
    assert values_left(again) == [x * 3 for x in range(taken, 5)]
    assert values(ds) == [0, 3, 6, 9, 12]


def files_in(folder):
    return sorted(map(str, pathlib.Path(folder).glob("elements.*")))


def values_left(iterator):
    return [int(x) for x in iterator]


def test_options_that_files_do_not_have_are_refused(tmp_path):
    for options in ({"compression": "SNAPPY"}, {"checkpoint_args": {}}):
        with pytest.raises(tf.errors.UnimplementedError):
            Dataset.range(3).save(str(tmp_path / "s"), **options)
    with pytest.raises(TypeError, match="path"):
        Dataset.range(3).save(5)
    with pytest.raises(ValueError, match="compression"):
        Dataset.load(str(tmp_path / "s"), compression="LZ9")


def test_elements_are_deflated(tmp_path):
    ds = Dataset.from_tensor_slices({"x": tf.zeros([50, 100]), "t": ["abc"] * 50})
    plain, packed = str(tmp_path / "plain"), str(tmp_path / "packed")
    ds.save(plain)
    ds.save(packed, compression="GZIP")
    files = [file for each in (plain, packed) for file in files_in(each)]
    assert os.path.getsize(files[0]) > 5 * os.path.getsize(files[1])
    for options in ({}, {"compression": "GZIP"}):
        found = list(Dataset.load(packed, **options))
        assert [e["t"].numpy() for e in found] == [b"abc"] * 50
        assert all(e["x"].shape == [100] for e in found)
    it = iter(Dataset.load(packed))
    next(it)
    again = iter(Dataset.load(packed))
    again.restore(it.save())
    assert len(list(again)) == 49
    kept = Dataset.range(4).snapshot(str(tmp_path / "snap"), compression="GZIP")
    assert values(kept) == values(kept) == [0, 1, 2, 3]
    with open(files[1], "r+b") as file:
        file.seek(-60, 2)
        file.write(b"\xff")
    with pytest.raises(tf.errors.DataLossError, match="checksum"):
        list(Dataset.load(packed))


def test_elements_go_to_the_files_that_a_function_names(tmp_path):
    folder = str(tmp_path / "s")
    Dataset.range(9).save(folder, shard_func=lambda x: x % 3)
    assert [file[-2:] for file in files_in(folder)] == ["-0", "-1", "-2"]
    assert values(Dataset.load(folder)) == list(range(9))  # of each in turn
    one_by_one = Dataset.load(folder, reader_func=lambda parts: parts.flat_map(lambda d: d))
    assert values(one_by_one) == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    seen = []

    def reader(parts):
        seen.append(int(parts.cardinality()))
        return parts.interleave(lambda d: d, cycle_length=2)

    assert sorted(values(Dataset.load(folder, reader_func=reader))) == list(range(9))
    assert seen == [3]
    Dataset.range(2).save(folder)  # what was there before is gone
    assert len(files_in(folder)) == 1
    assert len(os.listdir(folder)) == 2  # with the one that names it
    assert values(Dataset.load(folder)) == [0, 1]
    with pytest.raises(TypeError, match="shard_func"):
        Dataset.range(2).save(folder, shard_func=lambda x: tf.cast(x, tf.float32))


def test_a_folder_says_what_its_elements_are(tmp_path):
    folder = str(tmp_path / "s")
    Pair = collections.namedtuple("Pair", ["rows", "n"])
    ds = Dataset.from_tensor_slices(Pair(tf.ragged.constant([[1, 2], [], [3]]), [1, 2, 3]))
    ds.save(folder)
    again = Dataset.load(folder)
    assert repr(again.element_spec) == repr(ds.element_spec)
    assert [(e.rows.numpy().tolist(), int(e.n)) for e in again] == [([1, 2], 1), ([], 2), ([3], 3)]
    sparse = Dataset.from_tensor_slices({"s": tf.sparse.from_dense([[1, 0], [0, 2]])})
    sparse.save(folder)
    assert Dataset.load(folder).element_spec == sparse.element_spec
    Dataset.range(2).save(folder)
    assert Dataset.load(folder).element_spec == tf.TensorSpec([], tf.int64)
    named = pathlib.Path(folder, "dataset")
    whole = named.read_bytes()
    for damaged in (whole[:-3], whole[:25] + b"?" + whole[26:], whole + b"?"):
        named.write_bytes(damaged)
        with pytest.raises(tf.errors.DataLossError, match="checksum"):
            Dataset.load(folder)
    named.write_bytes(b"something else")
    with pytest.raises(tf.errors.InvalidArgumentError, match="another kind"):
        Dataset.load(folder)


def test_a_folder_stays_what_it_is_until_another_one_is_whole(tmp_path):
    folder = tmp_path / "s"
    Dataset.range(6).save(folder, shard_func=lambda x: x % 2)
    before = Dataset.load(folder)

    def breaks():
        yield from range(3)
        raise ValueError("no more")

    other = Dataset.from_generator(breaks, output_signature=tf.TensorSpec((), tf.int64))
    with pytest.raises(ValueError, match="no more"):
        other.save(folder, shard_func=lambda x: x)
    assert values(Dataset.load(folder)) == values(before) == list(range(6))
    # What a program that was killed left behind does not count, and goes with the next `save`.
    first = pathlib.Path(files_in(folder)[0])
    for name in ("elements.0123456789abcdef-5", "elements.0123456789abcdef-6.77.0.part"):
        (folder / name).write_bytes(first.read_bytes())
    assert values(Dataset.load(folder)) == list(range(6))
    Dataset.load(folder).map(lambda x: x + 10).save(folder)  # it reads what it replaces
    assert len(os.listdir(folder)) == 2
    assert values(Dataset.load(folder)) == list(range(10, 16))


def test_savers_and_readers_of_one_folder_see_whole_ones(tmp_path):
    folder, rounds = str(tmp_path / "s"), 6
    made = {n: [n * 100 + i for i in range(20)] for n in range(1, 5)}
    Dataset.from_tensor_slices(made[1]).save(folder)
    ended = threading.Event()

    def save(n):
        for _ in range(rounds):
            Dataset.from_tensor_slices(made[n]).save(
                folder, shard_func=lambda x: tf.cast(x, tf.int64) % n
            )

    def read():
        while not ended.is_set():
            assert sorted(values(Dataset.load(folder))) in made.values()

    with concurrent.futures.ThreadPoolExecutor(len(made) + 2) as threads:
        readers = [threads.submit(read) for _ in range(2)]
        savers = [threads.submit(save, n) for n in made]
        concurrent.futures.wait(savers)
        ended.set()
    for each in savers + readers:
        each.result()
    last = sorted(values(Dataset.load(folder)))
    assert last in made.values()
    assert len(os.listdir(folder)) == 1 + last[0] // 100  # nothing else is left behind


def test_an_iteration_reads_what_the_folder_held_when_it_began(tmp_path):
    folder = str(tmp_path / "s")
    Dataset.range(6).save(folder, shard_func=lambda x: x % 2)
    loaded = Dataset.load(folder)
    begun = iter(loaded)
    assert int(next(begun)) == 0
    Dataset.range(10, 16).save(folder, shard_func=lambda x: x % 3)
    assert values_left(begun) == [1, 2, 3, 4, 5]
    assert values(loaded) == [12, 10, 11, 15, 13, 14]  # of three files now


@pytest.mark.parametrize("deflated", [None, "GZIP"])
def test_a_snapshot_goes_to_the_files_that_a_function_names(tmp_path, deflated):
    def made(**options):
        ds = Dataset.range(9).snapshot(
            tmp_path, compression=deflated, shard_func=lambda x: x % 3, **options
        )
        return ds.map(lambda x: x)

    ds = made()
    assert values(ds) == list(range(9))  # while it is written, in the order of the input
    assert [file[-2:] for file in map(str, sorted(tmp_path.rglob("elements.*")))] == [
        "-0",
        "-1",
        "-2",
    ]
    assert values(ds) == list(range(9))  # of each file in turn
    one_by_one = made(reader_func=lambda parts: parts.flat_map(lambda part: part))
    assert values(one_by_one) == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    shuffled = made(reader_func=lambda parts: parts.flat_map(lambda p: p).shuffle(9, seed=1))
    first, second = values(shuffled), values(shuffled)
    assert sorted(first) == sorted(second) == list(range(9)) and first != second
    for cut in range(10):
        it, again = iter(one_by_one), iter(one_by_one)
        for _ in range(cut):
            next(it)
        again.restore(it.save())
        assert values_left(again) == [0, 3, 6, 1, 4, 7, 2, 5, 8][cut:]
    with pytest.raises(tf.errors.InvalidArgumentError, match="reader_func"):
        made(reader_func=lambda parts: parts.flat_map(lambda p: p.map(lambda x: (x, x))))
    with pytest.raises(TypeError, match="expected a dataset"):
        made(reader_func=lambda parts: 5)


def test_a_snapshot_that_is_half_written_is_gone_on_with(tmp_path):
    def made(where):
        return Dataset.range(7).snapshot(tmp_path / where, shard_func=lambda x: x % 2)

    for cut in range(8):
        first = iter(made(str(cut)))
        for _ in range(cut):
            next(first)
        position = first.save()
        del first
        again = iter(made(str(cut)))
        again.restore(position)
        assert values_left(again) == list(range(cut, 7))
        assert sorted(values(made(str(cut)))) == list(range(7))


def test_the_reader_of_a_snapshot_does_not_see_the_first_iteration(tmp_path):
    ds = Dataset.range(4).snapshot(
        tmp_path, reader_func=lambda parts: parts.flat_map(lambda p: p.skip(2))
    )
    assert [values(ds) for _ in range(3)] == [[0, 1, 2, 3], [2, 3], [2, 3]]


def test_pipelines_that_differ_in_a_number_a_tensor_or_a_trace_are_told_apart(tmp_path):
    def made():
        a, b = Dataset.range(12), Dataset.from_tensor_slices([1.0, 2.0, 3.0])
        yield from (a, Dataset.range(1, 13), Dataset.range(0, 24, 2), a.skip(1), a.take(11))
        yield from (a.batch(4), a.batch(5), a.batch(5).map(lambda x: x), a.shard(2, 0))
        yield from (a.shard(2, 1), a.repeat(1), a.enumerate(), a.enumerate(1), a.shuffle(3))
        yield from (b, Dataset.from_tensor_slices([1.0, 2.0, 4.0]), b.map(lambda x: x + 1))
        yield from (b.map(lambda x: x + 2), b.map(lambda x: x * 2), b.filter(lambda x: x > 2))
        yield from (b.filter(lambda x: x > 1), b.window(2), b.window(2, 1), b.padded_batch(2))
        yield tf.data.TextLineDataset("a")
        yield tf.data.TextLineDataset("b")
        yield tf.data.TextLineDataset("a", compression_type="GZIP")
        yield from (tf.data.FixedLengthRecordDataset("a", n) for n in (4, 8))
        for delim in ",;":
            yield tf.data.experimental.CsvDataset("a", [0], field_delim=delim, header=True)
        c = b.filter(lambda x: x > 0).batch(2)
        yield from (c.rebatch(1), c.rebatch(3), c.rebatch(3, drop_remainder=True))
        r = b.filter(lambda x: x > 0).map(lambda x: tf.ragged.constant([[1], [2, 3]]))
        yield from (r.batch(2), r.batch(3))
        yield from (
            Dataset.choose_from_datasets([a, a], a, stop_on_empty_dataset=stop)
            for stop in (True, False)
        )
        for bounds, sizes in (([2], [1, 2]), ([3], [1, 2]), ([3], [2, 2])):
            yield b.map(lambda x: x[None]).bucket_by_sequence_length(tf.size, bounds, sizes)

    first, second = ([ds.fingerprint().numpy() for ds in made()] for _ in range(2))
    assert first == second
    assert len(set(first)) == len(first)
    seeds = [Dataset.range(9).shuffle(9, seed=n).fingerprint().numpy() for n in range(2)]
    assert seeds[0] == seeds[1]  # an order of the same elements
    kept = [Dataset.range(12).batch(n).snapshot(tmp_path) for n in (4, 5)]
    for _ in range(2):
        assert [len(values(ds)[0]) for ds in kept] == [4, 5]


TABLE = {"a": 1}


def scaled(x):
    return x * TABLE["a"]


def test_code_of_functions_tells_pipelines_apart(tmp_path, monkeypatch):
    a = Dataset.range(3)
    weight = tf.Variable(2, dtype=tf.int64)

    def generator(n):
        def gen():
            yield from range(n)

        return Dataset.from_generator(gen, output_signature=tf.TensorSpec([], tf.int64))

    def python(f):
        return a.map(lambda x: tf.py_function(f, [x], tf.int64))

    def several(sizes):
        return a.flat_map(lambda x: Dataset.from_tensor_slices(sizes))

    def made():
        yield from (a.flat_map(lambda x: Dataset.range(x)), a.flat_map(lambda x: Dataset.range(2)))
        yield from (a.interleave(lambda x, n=n: Dataset.range(x, x + n)) for n in (1, 2))
        yield from (several([1, 2]), several([1, 3]), several(np.ones(2)), several(np.zeros(2)))
        yield from (generator(2), generator(3))
        yield from (python(lambda x: x), python(lambda x: x + 1), python(scaled))
        yield from (a.map(lambda x: x * weight), a.map(lambda x: x + weight))
        for n in (2, 3):
            yield a.group_by_window(lambda x: x, lambda k, w, n=n: w.batch(n), window_size=2)
            yield a.group_by_window(lambda x: x, lambda k, w: w, window_size_func=lambda k, n=n: n)
            yield a.map(lambda x, n=n: Dataset.range(n)).flat_map(lambda d: d)

    first, second = ([ds.fingerprint().numpy() for ds in made()] for _ in range(2))
    assert first == second
    assert len(set(first)) == len(first)
    before = python(scaled).fingerprint().numpy()
    monkeypatch.setitem(TABLE, "a", 5)
    assert python(scaled).fingerprint().numpy() != before
    for _ in range(2):  # the second time of the files
        kept = [several(sizes).snapshot(tmp_path) for sizes in ([1, 2], [1, 3])]
        assert [values(ds) for ds in kept] == [[1, 2] * 3, [1, 3] * 3]


def test_another_process_finds_the_same_pipeline():
    code = """
import holdfast as tf
D = tf.data.Dataset
names = {"b", "a", "c", "xyz", "q"}
def f(x):
    return D.range(x) if "xyz" in {"b", "a", "xyz"} else D.range(2)
one = D.range(4).flat_map(f).map(lambda x: tf.py_function(lambda y: y + len(names), [x], tf.int64))
print(one.fingerprint().numpy())
"""
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": str(n)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for n in range(2)
    }
    assert len(found) == 1


def test_folders_that_are_loaded_are_told_apart(tmp_path):
    for name, first in (("a", 0), ("b", 5)):
        Dataset.range(first, first + 3).save(str(tmp_path / name), shard_func=lambda x: x % 2)
    for _ in range(2):
        kept = [Dataset.load(str(tmp_path / n)).snapshot(tmp_path / "kept") for n in "ab"]
        assert [sorted(values(ds)) for ds in kept] == [[0, 1, 2], [5, 6, 7]]
