"""TensorFlow's checkpoint files: recorded ones are read, ours come back, damaged ones are refused."""

import base64
import json
import pathlib
import struct

import numpy as np
import pytest

import holdfast as tf

RECORDED = pathlib.Path(__file__).parents[1] / "recorded" / "tensor_bundle.json"
GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"
VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"


@pytest.fixture
def recorded(tmp_path):
    """The prefix of a checkpoint that TensorFlow wrote."""
    for suffix, content in json.loads(RECORDED.read_text())["files"].items():
        (tmp_path / f"ckpt{suffix}").write_bytes(base64.b64decode(content))
    return str(tmp_path / "ckpt")


def read(prefix):
    keys = [key for key, _, _ in tf._holdfast.bundle_entries(prefix)]
    return dict(zip(keys, tf._holdfast.bundle_read(prefix, keys), strict=True))


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape
    a, b = (tf.cast(t, tf.float32) if t.dtype == tf.bfloat16 else t for t in (a, b))
    assert np.array_equal(a.numpy(), b.numpy())


def test_a_checkpoint_of_tensorflow_is_read(recorded):
    seen = read(recorded)
    assert seen[f"model/w{VALUE}"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert seen[f"model/texts{VALUE}"].numpy().tolist() == [b"a", b"", b"hello" * 40]
    assert seen[f"model/step{VALUE}"].numpy() == 7
    assert seen[f"model/list/0{VALUE}"].dtype == tf.bfloat16
    assert tf.cast(seen[f"model/list/0{VALUE}"], tf.float32).numpy().tolist() == [1.5, 2.5]
    assert seen[f"model/list/1{VALUE}"].numpy().tolist() == [True, False]
    assert seen[f"model/empty{VALUE}"].shape == (0, 3)
    assert seen[f"model/complex{VALUE}"].numpy().tolist() == [1 + 2j]
    assert [float(seen[f"model/many/v{i}{VALUE}"]) for i in range(40)] == list(range(40))


def test_its_object_graph_is_read_and_written_to_the_byte(recorded):
    text = read(recorded)[GRAPH].numpy()
    nodes = tf._holdfast.object_graph_decode(text)
    root = {name: node for node, name in nodes[0][0]}
    assert {"model", "optimizer"} <= set(root)
    inside = {name: node for node, name in nodes[root["model"]][0]}
    w = nodes[inside["w"]]
    assert w[1] == [("VARIABLE_VALUE", "w", f"model/w{VALUE}")]
    ((variable, name, slot),) = nodes[root["optimizer"]][2]
    assert (variable, name) == (inside["w"], "momentum") and slot < len(nodes)
    assert tf._holdfast.object_graph_encode(nodes) == text


def test_ours_comes_back(tmp_path, recorded):
    prefix = str(tmp_path / "ours")
    tensors = read(recorded)
    for _ in range(3):  # also over one that is there
        tf._holdfast.bundle_write(prefix, list(tensors.items()))
        again = read(prefix)
        assert list(again) == sorted(tensors)
        for key, value in tensors.items():
            same(again[key], value)
        assert len(list(tmp_path.glob("ours.*"))) == 2


def test_an_index_of_many_blocks(tmp_path):
    tensors = [(f"layer_{i:05}/{'x' * (i % 300)}", tf.constant(i)) for i in range(9000)]
    prefix = str(tmp_path / "many")
    tf._holdfast.bundle_write(prefix, tensors)
    seen = read(prefix)
    assert [int(seen[key]) for key, _ in tensors] == list(range(9000))


def test_what_cannot_be_stored_is_refused_and_changes_nothing(tmp_path):
    prefix = str(tmp_path / "c")
    tf._holdfast.bundle_write(prefix, [("a", tf.constant(1))])
    for bad in ([("", tf.constant(1))], [("a", tf.constant(1)), ("a", tf.constant(2))]):
        with pytest.raises(ValueError, match="key"):
            tf._holdfast.bundle_write(prefix, bad)
    assert int(read(prefix)["a"]) == 1 and len(list(tmp_path.iterdir())) == 2


def test_what_is_not_there(tmp_path, recorded):
    with pytest.raises(ValueError, match="No such file"):
        read(str(tmp_path / "nothing"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="holds no tensor `x`"):
        tf._holdfast.bundle_read(recorded, ["x"])


# -- tables made by hand


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def block(rows):
    out = b"".join(b"\0" + varint(len(k)) + varint(len(v)) + k + v for k, v in rows)
    return out + struct.pack("<II", 0, 1)


def snappy(data):
    """Snappy's format: pieces as they are, or copies of what came before, overlapping ones too."""
    out, plain, seen, at = varint(len(data)), b"", {}, 0

    def literal():
        nonlocal out, plain
        while plain:
            out += bytes([(len(plain[:60]) - 1) << 2]) + plain[:60]
            plain = plain[60:]

    while at < len(data):
        four = data[at : at + 4]
        before = seen.get(four)
        seen[four] = at
        if before is None or len(four) < 4:
            plain += data[at : at + 1]
            at += 1
            continue
        literal()
        length = 4
        while (
            length < 64 and at + length < len(data) and data[before + length] == data[at + length]
        ):
            length += 1
        if length < 12 and at - before < 2048:
            back = at - before
            out += bytes([back >> 8 << 5 | (length - 4) << 2 | 1, back & 255])
        else:
            out += bytes([(length - 1) << 2 | 2]) + struct.pack("<H", at - before)
        at += length
    literal()
    return out


def table(rows, kind=0, pack=lambda data: data):
    out = b""

    def add(data, kind):
        nonlocal out
        where = varint(len(out)) + varint(len(data))
        out += data + bytes([kind]) + masked(data + bytes([kind]))
        return where

    data = add(pack(block(rows)), kind)
    footer = add(block([]), 0) + add(block([(rows[-1][0], data)]), 0)
    return out + footer.ljust(40, b"\0") + bytes.fromhex("57fb808b247547db")


HEADER = (b"", b"\x08\x01\x1a\x02\x08\x01")


def checkpoint(folder, index, data=b""):
    (folder / "t.index").write_bytes(index)
    (folder / "t.data-00000-of-00001").write_bytes(data)
    return str(folder / "t")


def entry(dtype=1, dims=(2,), size=8, data=b"\0" * 8, offset=0, more=b""):
    shape = b"".join(b"\x12" + varint(len(d)) + d for d in (b"\x08" + varint(n) for n in dims))
    out = b"\x08" + varint(dtype) + b"\x12" + varint(len(shape)) + shape
    return out + b"\x20" + varint(offset) + b"\x28" + varint(size) + b"\x35" + masked(data) + more


def test_blocks_that_snappy_packed(tmp_path):
    two = struct.pack("<2f", 1, 2)
    rows = [HEADER] + [(b"a_long_name_%04d" % i, entry(data=two)) for i in range(50)]
    index = table(rows, 1, snappy)
    assert len(index) < len(table(rows)) / 2
    prefix = checkpoint(tmp_path, index, two)
    assert all(v.numpy().tolist() == [1, 2] for v in read(prefix).values())
    for damage in range(300):
        packed = bytearray(snappy(block(rows)))
        at = damage * len(packed) // 300
        packed[at] ^= 1 << damage % 8
        checkpoint(tmp_path, table(rows, 1, lambda _, packed=packed: bytes(packed)), two)
        try:
            read(prefix)
        except (tf.errors.DataLossError, tf.errors.InvalidArgumentError) as e:
            assert e.code in ("E1301", "E1302")


HOSTILE = {
    "no table": ("E1301", lambda: b"x" * 99),
    "no header": ("E1302", lambda: table([(b"w", entry())])),
    "big-endian": ("E1301", lambda: table([(b"", b"\x08\x01\x10\x01")])),
    "version 2": ("E1301", lambda: table([(b"", b"\x08\x01\x1a\x02\x10\x02")])),
    "in the way 9": ("E1301", lambda: table([HEADER], kind=9)),
    "not what Snappy writes": (
        "E1302",
        lambda: table([HEADER], 1, lambda _: b"\xff\xff\xff\xff\x0f"),
    ),
    "shape [4611686018427387904]": (
        "E1302",
        lambda: table([HEADER, (b"w", entry(dims=(1 << 62,)))]),
    ),
    "shape [3]": ("E1302", lambda: table([HEADER, (b"w", entry(dims=(3,)))])),
    "takes 8 bytes from 4096": ("E1302", lambda: table([HEADER, (b"w", entry(offset=4096))])),
    "another checksum": ("E1302", lambda: table([HEADER, (b"w", entry(data=b"other"))])),
    "dtype 21": ("E1301", lambda: table([HEADER, (b"w", entry(dtype=21))])),
    "a variable of it is stored in slices": (
        "E1301",
        lambda: table([HEADER, (b"\0\x01w\0\x01\x01\x01\x80", entry())]),
    ),
    "in slices": ("E1301", lambda: table([HEADER, (b"w", entry(more=b"\x3a\x00"))])),
    "is in shard 4": ("E1302", lambda: table([HEADER, (b"w", entry(more=b"\x18\x04"))])),
    "out of order": ("E1302", lambda: table([HEADER, (b"w", entry()), (b"v", entry())])),
    "not UTF-8": ("E1302", lambda: table([HEADER, (b"\xff", entry())])),
    "many times the bytes": (
        "E1301",
        lambda: table(
            [HEADER],
            pack=lambda _: (
                varint(0)
                + varint(60000)
                + varint(0)
                + b"k" * 60000
                + b"".join(varint(60000) + varint(0) + varint(0) for _ in range(9000))
                + struct.pack("<II", 0, 1)
            ),
        ),
    ),
}


@pytest.mark.parametrize("said", HOSTILE)
def test_indexes_that_lie_are_refused(said, tmp_path):
    code, index = HOSTILE[said]
    prefix = checkpoint(tmp_path, index(), b"\0" * 8)
    with pytest.raises(
        (tf.errors.DataLossError, tf.errors.InvalidArgumentError), match=code
    ) as caught:
        read(prefix)
    assert said in " ".join(str(caught.value).split())


def test_tensors_of_unknown_dtypes_are_listed_and_not_read(tmp_path):
    index = table([HEADER, (b"v", entry(dtype=21)), (b"w", entry())])
    prefix = checkpoint(tmp_path, index, b"\0" * 8)
    assert [key for key, _ in tf.train.list_variables(prefix)] == ["v", "w"]
    assert tf.train.load_checkpoint(prefix).get_variable_to_dtype_map()["v"] == tf.variant
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype 21"):
        tf.train.load_variable(prefix, "v")


def test_whatever_bytes_come_they_end_in_values_or_a_refusal(recorded):
    rng = np.random.default_rng(9)
    files = [pathlib.Path(f"{recorded}.index"), pathlib.Path(f"{recorded}.data-00000-of-00001")]
    good = [f.read_bytes() for f in files]
    refused = 0
    for i in range(1000):
        for file, content in zip(files, good, strict=True):
            data = bytearray(content)
            data[rng.integers(len(data))] ^= 1 << rng.integers(8)
            file.write_bytes(data[: rng.integers(len(data))] if i % 9 == 0 else data)
        with pytest.raises((tf.errors.DataLossError, tf.errors.InvalidArgumentError)):
            read(recorded)
        refused += 1
    assert refused == 1000
    for content, file in zip(good, files, strict=True):
        file.write_bytes(content)
    encoded = read(recorded)[GRAPH].numpy()
    for _ in range(1000):
        data = bytearray(encoded)
        data[rng.integers(len(data))] = rng.integers(256)
        try:
            tf._holdfast.object_graph_decode(bytes(data))
        except tf.errors.DataLossError as e:
            assert e.code == "E1302"
