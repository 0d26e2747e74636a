"""Datasets of files: records, lines and pieces, from good files, compressed ones and damaged ones."""

import gzip
import pathlib
import zlib

import numpy as np
import pytest

import holdfast as tf


def written(path, records, options=None):
    with tf.io.TFRecordWriter(str(path), options) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def values(dataset):
    return list(dataset.as_numpy_iterator())


RECORDS = [b"", b"a", b"\x00\xff" * 9, b"x" * 70_000, "ü".encode()]


@pytest.mark.parametrize("kind", [None, "", "GZIP", "ZLIB"])
def test_records_come_back_as_they_were_written(tmp_path, kind):
    path = written(tmp_path / "a.rec", RECORDS, kind)
    dataset = tf.data.TFRecordDataset(path, compression_type=kind)
    assert values(dataset) == RECORDS
    assert values(tf.data.TFRecordDataset([path], kind, buffer_size=100)) == RECORDS
    assert isinstance(dataset, tf.data.TFRecordDataset)
    assert isinstance(dataset, tf.data.Dataset)
    assert dataset.element_spec == tf.TensorSpec((), tf.string)
    assert int(dataset.cardinality()) == tf.data.UNKNOWN_CARDINALITY


def test_a_file_has_the_bytes_that_the_format_asks_for(tmp_path):
    path = written(tmp_path / "a.rec", [b"r0"])
    assert pathlib.Path(path).read_bytes() == (
        b"\x02\x00\x00\x00\x00\x00\x00\x00x'\x0b4r0\x15\x9e\x97V"
    )


def test_compressed_files_are_those_of_zlib_and_gzip(tmp_path):
    plain = pathlib.Path(written(tmp_path / "a", RECORDS)).read_bytes()
    options = tf.io.TFRecordOptions("GZIP", compression_level=9)
    assert (
        gzip.decompress(pathlib.Path(written(tmp_path / "b", RECORDS, options)).read_bytes())
        == plain
    )
    assert (
        zlib.decompress(pathlib.Path(written(tmp_path / "c", RECORDS, "ZLIB")).read_bytes())
        == plain
    )


def test_two_gzip_files_put_together_are_one(tmp_path):
    one = pathlib.Path(written(tmp_path / "a", [b"1", b"2"], "GZIP")).read_bytes()
    (tmp_path / "b").write_bytes(one + one)
    assert values(tf.data.TFRecordDataset(str(tmp_path / "b"), "GZIP")) == [b"1", b"2"] * 2


def test_several_files_follow_each_other_or_take_turns(tmp_path):
    paths = [written(tmp_path / f"{n}", [f"{n}{i}" for i in range(2 + n)]) for n in range(2)]
    assert values(tf.data.TFRecordDataset(paths)) == [b"00", b"01", b"10", b"11", b"12"]
    turns = tf.data.TFRecordDataset(paths, num_parallel_reads=2)
    assert values(turns) == [b"00", b"10", b"01", b"11", b"12"]
    names = tf.data.Dataset.from_tensor_slices(paths).shuffle(1)
    assert len(values(tf.data.TFRecordDataset(names))) == 5
    assert len(values(tf.data.TFRecordDataset(tf.constant(paths)))) == 5
    assert values(tf.data.TFRecordDataset(tmp_path / "0")) == [b"00", b"01"]
    assert values(tf.data.TFRecordDataset([])) == []


def test_files_are_opened_inside_of_interleave_and_flat_map(tmp_path):
    paths = [written(tmp_path / f"{n}", [f"{n}{i}" for i in range(2)]) for n in range(3)]
    names = tf.data.Dataset.from_tensor_slices(paths)
    assert values(names.flat_map(tf.data.TFRecordDataset)) == [
        b"00", b"01", b"10", b"11", b"20", b"21",
    ]  # fmt: skip
    some = names.interleave(lambda f: tf.data.TFRecordDataset(f).skip(0), cycle_length=3)
    assert values(some) == [b"00", b"10", b"20", b"01", b"11", b"21"]


def test_lines_have_no_ends(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\rb\r\nc\r\r\n\n\nlast\r")
    assert values(tf.data.TextLineDataset(str(path))) == [b"ab", b"c", b"", b"", b"last"]
    assert values(tf.data.TextLineDataset([str(path)], buffer_size=64).skip(1).take(1)) == [b"c"]
    path.write_bytes(b"\n")
    assert values(tf.data.TextLineDataset(str(path))) == [b""]
    path.write_bytes(b"")
    assert values(tf.data.TextLineDataset(str(path))) == []
    path.write_bytes(gzip.compress(b"x" * 300_000 + b"\ny"))
    assert [len(v) for v in values(tf.data.TextLineDataset(str(path), "GZIP"))] == [300_000, 1]


def test_pieces_have_one_length(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"HHabcdefghijF")
    made = tf.data.FixedLengthRecordDataset
    assert values(made(str(path), 5, 2, 1)) == [b"abcde", b"fghij"]
    assert values(made(str(path), record_bytes=13)) == [b"HHabcdefghijF"]
    path.write_bytes(zlib.compress(b"HHabcdefghijF"))
    assert values(made(str(path), 5, 2, 1, compression_type="ZLIB")) == [b"abcde", b"fghij"]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="10 bytes besides 2 bytes at its start"
    ):
        values(made(str(path), 4, 2, 1, compression_type="ZLIB"))
    path.write_bytes(b"HHabcdefghijF")
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="10 bytes besides 2 bytes at its start"
    ):
        values(made(str(path), 4, 2, 1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="fewer than"):
        values(made(str(path), 4, 20, 1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="record_bytes"):
        made(str(path), 0)


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_file_that_is_cut_off_is_damaged(tmp_path, cut):
    whole = pathlib.Path(written(tmp_path / "a", [b"r1", b"r2", b"r3"])).read_bytes()
    assert len(whole) == 54
    (tmp_path / "b").write_bytes(whole[:-cut])
    found = []
    name = "record 1, at byte 18" if cut == 19 else "record 2, at byte 36"
    if cut == 18:
        assert len(values(tf.data.TFRecordDataset(str(tmp_path / "b")))) == 2
        return
    with pytest.raises(tf.errors.DataLossError, match=name) as error:
        found.extend(tf.data.TFRecordDataset(str(tmp_path / "b")))
    assert "`" in str(error.value) and "cut off" in str(error.value)


def test_a_changed_byte_is_found_and_told_where(tmp_path):
    whole = pathlib.Path(written(tmp_path / "a", [b"r1", b"r2", b"r3"])).read_bytes()
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1
        (tmp_path / "b").write_bytes(changed)
        it = iter(tf.data.TFRecordDataset(str(tmp_path / "b")))
        for _ in range(place // 18):
            next(it)
        with pytest.raises(
            tf.errors.DataLossError, match=f"record {place // 18}, at byte"
        ) as error:
            next(it)
        assert str(tmp_path / "b") in str(error.value)
        # Behind bytes that are wrong the next record is found; behind a wrong length none is.
        rest = [each.numpy() for each in it]
        assert rest == ([b"r1", b"r2", b"r3"][place // 18 + 1 :] if place % 18 >= 12 else [])


def test_lengths_that_no_file_has_are_refused(tmp_path):
    def masked(data):
        crc = 0xFFFFFFFF
        for byte in data:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        crc ^= 0xFFFFFFFF
        return ((crc >> 15 | crc << 17) + 0xA282EAD8 & 0xFFFFFFFF).to_bytes(4, "little")

    for length in (2**63, 2**64 - 1, 2**40, 17):
        head = length.to_bytes(8, "little")
        (tmp_path / "a").write_bytes(head + masked(head) + b"few")
        with pytest.raises(tf.errors.DataLossError, match="record 0, at byte 0"):
            values(tf.data.TFRecordDataset(str(tmp_path / "a")))
        (tmp_path / "b").write_bytes(gzip.compress(head + masked(head) + b"few"))
        with pytest.raises(tf.errors.DataLossError, match="record 0, at byte 0"):
            values(tf.data.TFRecordDataset(str(tmp_path / "b"), "GZIP"))


def test_damaged_compression_is_told(tmp_path):
    rng = np.random.default_rng(0)
    records = [rng.bytes(500) for _ in range(40)]
    packed = pathlib.Path(written(tmp_path / "a", records, "GZIP")).read_bytes()
    (tmp_path / "b").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(tf.errors.DataLossError, match=str(tmp_path / "b")):
        values(tf.data.TFRecordDataset(str(tmp_path / "b"), "GZIP"))
    changed = bytearray(packed)
    changed[len(packed) // 2] ^= 255
    (tmp_path / "b").write_bytes(changed)
    with pytest.raises(tf.errors.DataLossError):
        values(tf.data.TFRecordDataset(str(tmp_path / "b"), "GZIP"))
    with pytest.raises(tf.errors.DataLossError, match="compressed as was said"):
        values(tf.data.TFRecordDataset(str(tmp_path / "a")))
    plain = written(tmp_path / "c", records)
    with pytest.raises(tf.errors.DataLossError, match="zlib"):
        values(tf.data.TFRecordDataset(plain, "ZLIB"))


def test_what_does_not_fit_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(ValueError, match="FOO"):
        tf.data.TFRecordDataset("a", "FOO")
    with pytest.raises(TypeError, match="filenames"):
        tf.data.TFRecordDataset(3)
    with pytest.raises(TypeError, match="string"):
        tf.data.TFRecordDataset(tf.data.Dataset.range(3))
    with pytest.raises(ValueError, match="num_parallel_reads"):
        tf.data.TextLineDataset("a", num_parallel_reads=0)
    with pytest.raises(ValueError, match="BAD"):
        tf.io.TFRecordOptions("BAD")
    with pytest.raises(ValueError, match="BAD"):
        tf.io.TFRecordWriter(str(tmp_path / "a"), "BAD")
    with pytest.raises(tf.errors.OpError, match="No such file"):
        values(tf.data.TFRecordDataset(str(tmp_path / "none")))
    writer = tf.io.TFRecordWriter(str(tmp_path / "a"))
    with pytest.raises(TypeError, match="expected bytes"):
        writer.write(3)
    writer.close()
    writer.close()
    with pytest.raises(tf.errors.OpError, match="closed"):
        writer.write(b"x")


@pytest.mark.parametrize("kind", [None, "GZIP"])
@pytest.mark.parametrize("at_once", [None, 2])
def test_a_saved_position_goes_on_in_the_same_file(tmp_path, kind, at_once):
    paths = [written(tmp_path / f"{n}", [f"{n}.{i}" for i in range(5)], kind) for n in range(3)]
    dataset = tf.data.TFRecordDataset(paths, kind, num_parallel_reads=at_once).shuffle(3, 1, False)
    whole = values(dataset)
    for taken in (0, 1, 6, 14, 15):
        first = iter(dataset)
        assert [next(first).numpy() for _ in range(taken)] == whole[:taken]
        saved = tf._holdfast.data_iterator_save(first)
        again = iter(dataset)
        tf._holdfast.data_iterator_restore(again, saved)
        assert [each.numpy() for each in again] == whole[taken:]


def test_lines_and_pieces_go_on_where_they_were(tmp_path):
    (tmp_path / "a").write_bytes(b"one\ntwo\nsix\n")
    for dataset in (
        tf.data.TextLineDataset(str(tmp_path / "a")),
        tf.data.FixedLengthRecordDataset(str(tmp_path / "a"), 4),
    ):
        whole = values(dataset)
        first = iter(dataset)
        next(first)
        again = iter(dataset)
        tf._holdfast.data_iterator_restore(again, tf._holdfast.data_iterator_save(first))
        assert [each.numpy() for each in again] == whole[1:]


def test_records_of_a_batch_reach_a_function(tmp_path):
    path = written(tmp_path / "a", [b"a", b"bb", b"ccc"])

    @tf.function
    def joined():
        out = tf.constant("")
        for record in tf.data.TFRecordDataset(path):
            out = tf.strings.join([out, record])
        return out

    assert joined().numpy() == b"abbccc"


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_records_of_csv_end_at_lines_and_empty_ones_are_records(tmp_path, ends):
    path = tmp_path / "a.csv"
    path.write_text(ends.join(["0", "", "2"]) + ends, newline="")
    found = tf.data.experimental.CsvDataset(str(path), [["NA"]])
    assert [x.numpy() for (x,) in found] == [b"0", b"NA", b"2"]
    path.write_text(ends.join(['1,"a\nb"', '2,"c"']), newline="")
    found = tf.data.experimental.CsvDataset(str(path), [tf.int32, tf.string])
    assert [(int(i), s.numpy()) for i, s in found] == [(1, b"a\nb"), (2, b"c")]


def test_columns_that_are_left_out_are_counted(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,2,3\n")
    kept = tf.data.experimental.CsvDataset(str(path), [[0], [0]], exclude_cols=[1])
    assert [tuple(map(int, e)) for e in kept] == [(1, 3)]
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(tf.data.experimental.CsvDataset(str(path), [[0]], exclude_cols=[1]))
    path.write_text("")
    with pytest.raises(tf.errors.InvalidArgumentError, match="header"):
        list(tf.data.experimental.CsvDataset(str(path), [[0]], header=True))


def test_a_quote_inside_of_a_field_opens_nothing(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('1,2"3,4\na,b,c"d\n"x, ""y""\nz",8,"7"\n9,8"7,6\ne,f,g\n')
    ds = tf.data.experimental.CsvDataset(str(path), [""] * 3).ignore_errors()
    found = [tuple(field.numpy() for field in row) for row in ds]
    assert found == [(b'x, "y"\nz', b"8", b"7"), (b"e", b"f", b"g")]
    path.write_text('1;"2\n;3"\n4;5"\n6;7\n')
    other = tf.data.experimental.CsvDataset(str(path), [""] * 2, field_delim=";").ignore_errors()
    assert [row[1].numpy() for row in other] == [b"2\n;3", b"7"]
    path.write_text('1,5""6\n2,3\n4,"7"\n')  # nor does a second one there
    ds = tf.data.experimental.CsvDataset(str(path), [""] * 2).ignore_errors()
    assert [row[1].numpy() for row in ds] == [b"3", b"7"]
