"""Files read, written and found; numbers, tables and pixels in them."""

import gzip
import struct
import zlib

import numpy as np
import pytest

import holdfast as tf

io, gfile = tf.io, tf.io.gfile


def picture(height=13, width=17):
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([x * 9 % 256, y * 11 % 256, x * y % 256], -1).astype("uint8")


def test_a_file_comes_back_as_it_was_written(tmp_path):
    path = str(tmp_path / "new" / "folder" / "a.bin")
    io.write_file(path, b"\x00bytes\xff")
    assert io.read_file(path).numpy() == b"\x00bytes\xff"

    @tf.function
    def copied(source, target):
        io.write_file(target, io.read_file(source))
        return io.read_file(target)

    assert copied(tf.constant(path), tf.constant(path + "2")).numpy() == b"\x00bytes\xff"
    io.write_file(path, "again")
    assert copied(tf.constant(path), tf.constant(path + "2")).numpy() == b"again"
    with pytest.raises(tf.errors.NotFoundError, match="(?s)E1304.*No such file"):
        io.read_file(str(tmp_path / "none"))
    with pytest.raises(tf.errors.OpError, match="E1301"):
        io.read_file(str(tmp_path))


def test_patterns_find_files(tmp_path):
    for name in ("b.txt", "a.txt", "c.bin"):
        (tmp_path / name).write_text(name)
    found = io.matching_files(str(tmp_path / "*.txt")).numpy()
    assert [each.decode().rpartition("/")[2] for each in found] == ["a.txt", "b.txt"]
    both = io.matching_files([str(tmp_path / "*.bin"), str(tmp_path / "[a]*")])
    assert both.shape == (2,)
    assert io.matching_files(str(tmp_path / "none*")).shape == (0,)


def test_files_are_mapped_in_a_pipeline(tmp_path):
    image = picture()
    for n in range(3):
        io.write_file(str(tmp_path / f"{n}.png"), io.encode_png(image + n))
    names = io.matching_files(str(tmp_path / "*.png"))
    pixels = tf.data.Dataset.from_tensor_slices(names).map(
        lambda name: io.decode_png(io.read_file(name), channels=3)
    )
    assert pixels.element_spec.shape.as_list() == [None, None, 3]
    (batch,) = pixels.batch(3)
    assert batch.numpy().tolist() == [(image + n).tolist() for n in range(3)]


def test_texts_of_bytes_are_numbers():
    assert io.decode_raw(b"\x01\x02\x03\x04", tf.int16).numpy().tolist() == [0x0201, 0x0403]
    big = io.decode_raw([b"\x01\x02", b"\x03\x04"], tf.int16, little_endian=False)
    assert big.numpy().tolist() == [[0x0102], [0x0304]]
    assert io.decode_raw(b"\x05", tf.int16, fixed_length=4).numpy().tolist() == [5, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"multiple\s+of\s+2"):
        io.decode_raw(b"abc", tf.int16)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"one\s+length"):
        io.decode_raw([b"ab", b"abcd"], tf.int16)
    with pytest.raises(tf.errors.InvalidArgumentError, match="fixed_length"):
        io.decode_raw(b"ab", tf.int16, fixed_length=3)


def columns(*args, **kwargs):
    return [np.asarray(each.numpy()).tolist() for each in io.decode_csv(*args, **kwargs)]


def test_lines_become_columns():
    lines = ["1,2.5,x", '3,,"q,""r"']
    assert columns(lines, [0, 1.0, ""]) == [[1, 3], [2.5, 1.0], [b"x", b'q,"r']]
    assert columns("1|2", [tf.int32, tf.float32], field_delim="|") == [1, 2.0]
    assert columns("1,NA,3", [0, 7, 0], na_value="NA") == [1, 7, 3]
    assert columns("1,2,3", [[0], [0]], select_cols=[0, 2]) == [1, 3]
    assert columns('a"b,c', ["", ""], use_quote_delim=False) == [b'a"b', b"c"]
    assert columns("-1e50,inf", [0.0, 0.0]) == [-np.inf, np.inf]


@pytest.mark.parametrize(
    ("line", "defaults", "message"),
    [
        ("1,2", [0], "line 0 has 2 fields, expected 1"),
        ("x", [0], 'has "x" in field 0, which is no int32'),
        ("1.5", [0], "no int32"),
        ("1,", [0, tf.int32], "has nothing in field 1"),
        ('"a', [""], "quote that does not end"),
        ('"a"b', [""], "behind a quote"),
        ('a"b', [""], "inside of a field"),
        ("1", [], "record_defaults"),
        ("1", [tf.complex64], "expected float32"),
    ],
)
def test_lines_that_do_not_fit_are_told(line, defaults, message):
    with pytest.raises(ValueError, match=message):
        io.decode_csv(line, defaults)


def test_csv_files_are_datasets(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('x,y,z\n1,"two\nlines",0.5\n2,b,\n')
    made = tf.data.experimental.CsvDataset(str(path), [0, "", 9.0], header=True)
    assert [tuple(np.asarray(each).tolist() for each in row) for row in made] == [
        (1, b"two\nlines", 0.5),
        (2, b"b", 9.0),
    ]
    some = tf.data.experimental.CsvDataset(str(path), [0.0], header=True, select_cols=[2])
    assert [float(row[0]) for row in some] == [0.5, 0.0]
    rest = tf.data.experimental.CsvDataset(str(path), [0.0], header=True, exclude_cols=[0, 1])
    assert [float(row[0]) for row in rest] == [0.5, 0.0]
    path.write_text("1,a\n\n")
    with pytest.raises(tf.errors.InvalidArgumentError, match="1 fields, expected 2"):
        list(tf.data.experimental.CsvDataset(str(path), [0, ""]))


def test_columns_of_csv_files_are_batched_by_name(tmp_path):
    lines = ["a,b,label,far"] + [f"{n},{n / 2},{n % 3},{n * 10**12}" for n in range(10)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    (tmp_path / "t.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    for name, kind in (("t.csv", None), ("t.gz", "GZIP")):
        made = tf.data.experimental.make_csv_dataset(
            str(tmp_path / name),
            4,
            label_name="label",
            num_epochs=1,
            shuffle=False,
            compression_type=kind,
        )
        features, labels = next(iter(made))
        assert sorted(features) == ["a", "b", "far"]
        assert features["a"].dtype == tf.int32
        assert features["b"].dtype == tf.float32
        assert features["far"].dtype == tf.int64
        assert features["a"].numpy().tolist() == [0, 1, 2, 3]
        assert labels.numpy().tolist() == [0, 1, 2, 0]
        assert len(list(made)) == 3
    mixed = tf.data.experimental.make_csv_dataset(
        str(tmp_path / "t.csv"), 10, select_columns=["a", 3], num_epochs=1, shuffle_seed=3
    )
    (batch,) = mixed
    assert sorted(batch["a"].numpy()) == list(range(10))
    with pytest.raises(ValueError, match="no column"):
        tf.data.experimental.make_csv_dataset(str(tmp_path / "t.csv"), 2, label_name="q")
    with pytest.raises(ValueError, match="no file"):
        tf.data.experimental.make_csv_dataset(str(tmp_path / "q*"), 2)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_pixels_come_back_from_a_png(channels, dtype):
    image = np.random.default_rng(channels).integers(0, 256, (5, 7, channels)).astype(dtype)
    file = io.encode_png(image)
    assert io.decode_png(file, dtype=dtype).numpy().tolist() == image.tolist()
    assert io.decode_image(file, dtype=dtype).numpy().tolist() == image.tolist()
    if channels > 2:
        assert (
            io.decode_png(file, channels=3, dtype=dtype).numpy().tolist() == image[..., :3].tolist()
        )
    assert io.decode_png(file, channels=1).shape == (5, 7, 1)


def test_several_images_are_several_files():
    images = np.stack([picture(), 255 - picture()])
    files = io.encode_png(images)
    assert files.shape == (2,)
    assert io.decode_png(files[1]).numpy().tolist() == images[1].tolist()


def test_a_jpeg_is_near_what_it_was_made_of():
    image = picture(32, 48)
    smooth = np.clip(image.astype(float).mean(-1, keepdims=True), 0, 255).astype("uint8")
    file = io.encode_jpeg(smooth, quality=100)
    found = io.decode_jpeg(file)
    assert found.shape == (32, 48, 1)
    assert np.abs(found.numpy().astype(int) - smooth).mean() < 4
    assert io.decode_jpeg(file, channels=3).shape == (32, 48, 3)
    assert io.decode_jpeg(file, ratio=4).shape == (8, 12, 1)
    assert io.extract_jpeg_shape(file).numpy().tolist() == [32, 48, 1]
    assert float(tf.reduce_max(tf.cast(io.decode_image(file), tf.float32))) > 100
    unit = io.decode_image(file, dtype=tf.float32)
    assert np.allclose(unit, found.numpy() / 255, atol=1e-6)


def test_a_bmp_is_read_from_below():
    image = picture(2, 3)
    rows = b"".join(bytes(row[:, ::-1].tobytes()) + b"\0" * 3 for row in image[::-1])
    head = struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + len(rows), 0, 0, 54, 40, 3, 2, 1, 24, 0, len(rows), 0, 0, 0, 0)  # fmt: skip
    assert io.decode_bmp(head + rows).numpy().tolist() == image.tolist()
    assert io.decode_image(head + rows).numpy().tolist() == image.tolist()
    with pytest.raises(tf.errors.InvalidArgumentError, match="BMP"):
        io.decode_bmp((head + rows)[:-1])
    clear = io.decode_bmp(head + rows, channels=4).numpy()
    assert clear[..., :3].tolist() == image.tolist() and (clear[..., 3] == 255).all()
    with pytest.raises(tf.errors.InvalidArgumentError, match="1 channel is wanted"):
        io.decode_bmp(head + rows, channels=1)


@pytest.mark.parametrize("size", [(2**31 - 1, -(2**31)), (2**30, -(2**31)), (2**31 - 1, 1)])
def test_a_bmp_that_claims_to_be_huge_is_refused(size):
    head = struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54, 0, 0, 54, 40, *size, 1, 32, 0, 0, 0, 0, 0, 0)  # fmt: skip
    for decode in (io.decode_bmp, io.decode_image, lambda f: io.decode_image(f, dtype=tf.float32)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="ends too early"):
            decode(head)


def test_a_gray_bmp_has_as_many_channels_as_are_wanted():
    rows = bytes([7, 9, 0, 0]) + bytes([1, 3, 0, 0])
    head = struct.pack("<2sIHHIIiiHHIIiiII", b"BM", 54 + len(rows), 0, 0, 54, 40, 2, 2, 1, 8, 0, len(rows), 0, 0, 0, 0)  # fmt: skip
    assert io.decode_bmp(head + rows).numpy()[..., 0].tolist() == [[1, 3], [7, 9]]
    assert io.decode_bmp(head + rows, channels=3).numpy()[1].tolist() == [[7] * 3, [9] * 3]
    assert io.decode_bmp(head + rows, channels=4).numpy()[0, 1].tolist() == [3, 3, 3, 255]


def chunk(kind, data):
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def test_a_palette_with_transparency_has_as_many_channels_as_are_wanted():
    file = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, 8, 3, 0, 0, 0))
    file += chunk(b"PLTE", bytes([10, 20, 30, 40, 50, 60])) + chunk(b"tRNS", bytes([99]))
    file += chunk(b"IDAT", zlib.compress(b"\0\0\1")) + chunk(b"IEND", b"")
    whole = [[[10, 20, 30, 99], [40, 50, 60, 255]]]
    assert io.decode_png(file).numpy().tolist() == whole
    assert io.decode_png(file, channels=4).numpy().tolist() == whole
    assert io.decode_png(file, channels=3).numpy().tolist() == [[p[:3] for p in whole[0]]]
    assert io.decode_png(file, channels=1).shape == (1, 2, 1)
    wide = io.decode_png(file, channels=3, dtype=tf.uint16).numpy()
    assert wide.tolist() == [[[n * 257 for n in p[:3]] for p in whole[0]]]


def test_ops_of_one_kind_of_file_read_the_others():
    image = picture()
    png, jpeg = io.encode_png(image), io.encode_jpeg(image)
    assert io.decode_jpeg(png).numpy().tolist() == image.tolist()
    assert io.decode_png(jpeg).numpy().tolist() == io.decode_jpeg(jpeg).numpy().tolist()
    assert io.decode_gif(png).numpy().tolist() == [image.tolist()]
    assert io.decode_png(png, channels=1).numpy().tolist() == io.decode_jpeg(png, channels=1).numpy().tolist()  # fmt: skip
    assert io.decode_png(jpeg, dtype=tf.uint16).dtype == tf.uint16
    for decode in (io.decode_jpeg, io.decode_png):
        with pytest.raises(tf.errors.InvalidArgumentError, match="a GIF of 2 frames"):
            decode(GIF)
    with pytest.raises(tf.errors.InvalidArgumentError, match="`ratio` of 2 is for JPEGs"):
        io.decode_jpeg(png, ratio=2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="BMP"):
        io.decode_bmp(png)


# Two frames of 2x2 pixels, of four colors, written by hand; the second is one pixel.
GIF = (
    b"GIF89a\x02\x00\x02\x00\x91\x00\x00\x00\x00\x00\xff\x00\x00\x00\xff\x00\x00\x00\xff"
    b",\x00\x00\x00\x00\x02\x00\x02\x00\x00\x02\x03D4\x05\x00"
    b",\x01\x00\x01\x00\x01\x00\x01\x00\x00\x02\x02L\x01\x00;"
)


def test_the_frames_of_a_gif_lie_over_each_other():
    found = io.decode_gif(GIF).numpy()
    colors = np.array([[0, 0, 0], [255, 0, 0], [0, 255, 0], [0, 0, 255]])
    first = colors[[[0, 1], [2, 3]]]
    assert found.shape == (2, 2, 2, 3)
    assert found[0].tolist() == first.tolist()
    assert found[1][0].tolist() == first[0].tolist()
    assert io.decode_image(GIF).shape == (2, 2, 2, 3)
    assert io.decode_image(GIF, expand_animations=False).numpy().tolist() == first.tolist()


def test_no_image_file_does_harm():
    rng = np.random.default_rng(2)
    files = [
        io.encode_png(picture()).numpy(),
        io.encode_jpeg(picture()).numpy(),
        io.encode_jpeg(picture(), progressive=True).numpy(),
        GIF,
    ]
    for file in files:
        for _ in range(300):
            changed = bytearray(file)
            for place in rng.integers(0, len(changed), rng.integers(1, 4)):
                changed[place] = rng.integers(0, 256)
            data = bytes(changed[: rng.integers(1, len(changed) + 1)])
            try:
                io.decode_image(data)
            except tf.errors.InvalidArgumentError as error:
                assert "contents" in str(error)
    # One that claims to be larger than any memory.
    head = b"IHDR" + struct.pack(">IIBBBBB", 2**30, 2**30, 8, 2, 0, 0, 0)
    huge = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    with pytest.raises(tf.errors.InvalidArgumentError, match="PNG"):
        io.decode_png(huge)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: io.decode_jpeg(b"x", channels=2), "channels"),
        (lambda: io.decode_jpeg(b"x", ratio=3), "ratio"),
        (lambda: io.decode_jpeg(b"x", dct_method="SLOW"), "dct_method"),
        (lambda: io.decode_png(b"x", channels=5), "channels"),
        (lambda: io.decode_png(b"x", dtype=tf.float32), "dtype"),
        (lambda: io.decode_jpeg(b"junk"), "JPEG"),
        (lambda: io.decode_image(b""), "neither JPEG nor PNG"),
        (lambda: io.encode_jpeg(np.zeros((2, 2, 2), "uint8")), "1 or 3 channels"),
        (lambda: io.encode_jpeg(np.zeros((2, 2, 3), "uint8"), quality=101), "quality"),
        (lambda: io.encode_jpeg(np.zeros((2, 2, 3), "float32")), "uint8"),
        (lambda: io.encode_jpeg(np.zeros((0, 2, 3), "uint8")), "1 to 65500"),
        (lambda: io.encode_png(np.zeros((2, 2, 5), "uint8")), "1 to 4 channels"),
        (lambda: io.encode_png(np.zeros((2, 2, 3), "uint8"), compression=10), "compression"),
    ],
)
def test_what_no_image_can_be_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_files_by_name(tmp_path):
    folder = gfile.join(str(tmp_path), "a", "b")
    gfile.makedirs(folder)
    gfile.makedirs(folder)
    path = gfile.join(folder, "t.txt")
    with gfile.GFile(path, "w") as file:
        file.write("one\ntwo\n")
    with gfile.GFile(path) as file:
        assert file.readline() == "one\n"
        assert file.read() == "two\n"
        assert file.size() == 8
    with gfile.GFile(path, "rb") as file:
        assert list(file) == [b"one\n", b"two\n"]
    with gfile.GFile(path, "a") as file:
        file.write("three")
    assert gfile.stat(path).length == 13
    assert gfile.exists(path) and not gfile.isdir(path) and gfile.isdir(folder)
    assert gfile.glob(gfile.join(folder, "*.txt")) == [path]
    assert gfile.listdir(folder) == ["t.txt"]
    gfile.copy(path, path + "2")
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.copy(path, path + "2")
    gfile.copy(path, path + "2", overwrite=True)
    gfile.rename(path + "2", path + "3")
    assert sorted(list(gfile.walk(str(tmp_path)))[-1][2]) == ["t.txt", "t.txt3"]
    gfile.remove(path + "3")
    assert gfile.listdir(folder) == ["t.txt"]
    gfile.rmtree(str(tmp_path / "a"))
    assert not gfile.exists(folder)
    for call in (
        lambda: gfile.GFile(path).read(),
        lambda: gfile.remove(path),
        lambda: gfile.listdir(folder),
        lambda: gfile.stat(path),
    ):
        with pytest.raises(tf.errors.NotFoundError):
            call()
    with pytest.raises(tf.errors.UnimplementedError):
        gfile.exists("gs://bucket/a")
    with pytest.raises(tf.errors.InvalidArgumentError):
        gfile.GFile(path, "q")
