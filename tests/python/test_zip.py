"""Zip archives of ours open in Python's zipfile and its here; hostile ones are refused."""

import io
import struct
import zipfile

import numpy as np
import pytest

import holdfast as tf

FILES = [
    ("config.json", b'{"a": 1}'),
    ("model.weights.h5", bytes(range(256)) * 900),
    ("assets/vocabulary/ä.txt", "wörter".encode()),
    ("empty", b""),
]


def archive(files=FILES, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        for name, data in files:
            z.writestr(name, data)
    return out.getvalue()


def read(data):
    return [(name.decode(), content) for name, content in tf._holdfast.zip_read(data)]


def test_zipfile_reads_what_we_write():
    with zipfile.ZipFile(io.BytesIO(tf._holdfast.zip_write(FILES))) as z:
        assert z.testzip() is None
        assert [(name, z.read(name)) for name in z.namelist()] == FILES


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_we_read_what_zipfile_writes(method):
    assert read(archive(method=method)) == FILES


def test_our_own_come_back():
    assert read(tf._holdfast.zip_write(FILES)) == FILES
    assert read(tf._holdfast.zip_write([])) == []


def test_folders_and_comments_and_lengths_that_come_behind():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.comment = b"PK\x05\x06 a comment"
        z.mkdir("assets")
        z.writestr("assets/x", b"1")
    assert read(out.getvalue()) == [("assets/x", b"1")]

    class Stream(io.RawIOBase):
        def __init__(self):
            self.data = b""

        def writable(self):
            return True

        def write(self, more):
            self.data += bytes(more)
            return len(more)

    stream = Stream()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("x", b"y" * 1000)
    assert read(stream.data) == [("x", b"y" * 1000)]


def test_more_entries_than_sixteen_bits_count():
    files = [(f"{i}", b"") for i in range(70_000)]
    ours = tf._holdfast.zip_write(files)
    with zipfile.ZipFile(io.BytesIO(ours)) as z:
        assert len(z.namelist()) == 70_000
    assert len(read(ours)) == 70_000
    assert len(read(archive(files))) == 70_000


def test_entries_with_sizes_of_64_bits():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z, z.open("x", "w", force_zip64=True) as f:
        f.write(b"abc")
    assert read(out.getvalue()) == [("x", b"abc")]


def refusal(data, error=tf.errors.InvalidArgumentError):
    with pytest.raises(error) as caught:
        read(data)
    return " ".join(str(caught.value).split())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("../up", "leads out of the archive"),
        ("a/../../up", "leads out of the archive"),
        ("/etc/passwd", "absolute"),
        ("C:evil", "absolute"),
        ("a\\b", "backslash"),
        ("a//b", "no plain path"),
        ("./a", "no plain path"),
    ],
)
def test_names_that_lead_elsewhere(name, said):
    assert said in refusal(archive([(name, b"x")]))
    with pytest.raises(ValueError, match="can't be named"):
        tf._holdfast.zip_write([(name, b"x")])


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_names_that_come_twice():
    assert "twice" in refusal(archive([("a", b"1"), ("a", b"2")]))
    with pytest.raises(ValueError, match="already"):
        tf._holdfast.zip_write([("a", b"1"), ("a", b"2")])


def test_bombs():
    bomb = archive([("x", bytes(50_000_000))], zipfile.ZIP_DEFLATED)
    assert "stored of it" in refusal(bomb)
    # A size that deflate can't reach at all.
    small = bytearray(archive([("x", bytes(2000))], zipfile.ZIP_DEFLATED))
    for signature, at in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        struct.pack_into("<I", small, small.find(signature) + at, 1 << 31)
    assert "stored of it" in refusal(bytes(small))
    # Many files over the same bytes.
    one = archive([("a", b"x" * 100)])
    at = one.find(b"PK\x01\x02")
    directory, end = one[at:-22], one[-22:]
    other = directory.replace(b"a", b"b", 1)
    both = one[:at] + directory + other
    both += end[:8] + struct.pack("<HHII", 2, 2, len(directory) * 2, at) + end[20:]
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.DataLossError)):
        read(both)


def test_encrypted_entries_and_unknown_methods():
    data = bytearray(archive([("a", b"x")]))
    at = data.find(b"PK\x01\x02")
    data[at + 8] |= 1
    assert "is encrypted" in refusal(bytes(data))
    data[at + 8] &= ~1
    data[at + 10] = 12
    assert "method 12" in refusal(bytes(data))
    assert "method 14" in refusal(archive([("a", b"x")], zipfile.ZIP_LZMA))


def test_damage():
    good = archive([("a", b"some bytes")])
    at = good.find(b"some bytes")
    assert "checksum" in refusal(
        good.replace(b"some bytes", b"same bytes"), tf.errors.DataLossError
    )
    packed = bytearray(archive([("a", b"xyz" * 99)], zipfile.ZIP_DEFLATED))
    packed[at] ^= 0xFF
    assert "E1302" in refusal(bytes(packed), tf.errors.DataLossError)
    assert "no zip archive" in refusal(b"")
    assert "no zip archive" in refusal(good[:-1])
    assert "E1302" in refusal(good[:10] + good[11:], tf.errors.DataLossError)
    stored = bytearray(good)
    struct.pack_into("<I", stored, good.find(b"PK\x01\x02") + 24, 5)
    assert "10 are stored" in refusal(bytes(stored), tf.errors.DataLossError)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_whatever_bytes_come_they_end_in_values_or_a_refusal(method):
    good = archive([(f"n{i}", bytes(range(i))) for i in range(20)], method)
    rng = np.random.default_rng(5)
    refused = 0
    for i in range(1500):
        data = bytearray(good)
        for _ in range(rng.integers(1, 5)):
            data[rng.integers(len(data))] = rng.integers(256)
        if i % 6 == 0:
            data = data[: rng.integers(len(data))]
        try:
            tf._holdfast.zip_read(bytes(data))
        except (tf.errors.InvalidArgumentError, tf.errors.DataLossError) as e:
            refused += e.code in ("E1301", "E1302")
    assert refused > 1000
