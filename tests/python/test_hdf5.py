"""HDF5 files of ours open in h5py and h5py's here, or are refused by name."""

import io

import h5py
import numpy as np
import pytest

import holdfast as tf

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]


def written(make, **options):
    """The bytes of a file that h5py made."""
    out = io.BytesIO()
    with h5py.File(out, "w", **options) as f:
        make(f)
    return out.getvalue()


def read(data):
    """What we see in a file: path -> (array or None, attributes)."""
    return {
        path: (None if value is None else value.numpy(), {n: t.numpy() for n, t in attributes})
        for path, value, attributes in tf._holdfast.h5_read(data)
    }


def values(dtype, shape, seed=0):
    numbers = np.random.default_rng(seed).integers(0, 2 if dtype == "bool" else 100, shape)
    return numbers.astype(dtype) * (1 + 2j if dtype.startswith("complex") else 1)


def same(got, want):
    want = np.asarray(want)
    assert got.dtype == want.dtype.newbyteorder("=") and got.shape == want.shape
    assert got.tobytes() == want.astype(want.dtype.newbyteorder("=")).tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (0, 3), (2, 1, 3, 2)])
def test_h5py_reads_what_we_write(dtype, shape):
    array = values(dtype, shape).astype(dtype)
    tensor = tf.constant(array)
    data = tf._holdfast.h5_write([("a/b", tensor, [("also", tensor)])])
    with h5py.File(io.BytesIO(data), "r") as f:
        same(f["a/b"][()], array)
        same(f["a/b"].attrs["also"], array)


@pytest.mark.parametrize("libver", ["earliest", "latest", ("earliest", "v110"), "v108"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_we_read_what_h5py_writes(dtype, libver):
    arrays = {
        f"g{i}/x{i}": values(dtype, s, i).astype(dtype)
        for i, s in enumerate([(), (7,), (0,), (3, 2)])
    }

    def make(f):
        for path, array in arrays.items():
            f[path] = array
            f[path].attrs["mine"] = array

    seen = read(written(make, libver=libver))
    for path, array in arrays.items():
        same(seen[path][0], array)
        same(seen[path][1]["mine"], array)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("dtype", [">i2", ">u8", ">f4", ">f8"])
def test_numbers_in_the_other_order_of_bytes(dtype, libver):
    array = np.arange(-3, 4).astype(dtype)
    same(read(written(lambda f: f.create_dataset("x", data=array), libver=libver))["x"][0], array)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_texts(libver):
    def make(f):
        f["fixed"] = np.array([b"ab", b"", b"abcd"])
        f["free"] = np.array(["ä" * 50, "", "x"], dtype=h5py.string_dtype())
        f.create_dataset("scalar", data="one text")
        f.attrs["title"] = "größe"
        f.attrs["bytes"] = b"raw"
        f.attrs["list"] = ["a", "bc"]

    seen = read(written(make, libver=libver))
    assert list(seen["fixed"][0]) == [b"ab", b"", b"abcd"]
    assert list(seen["free"][0]) == ["ä".encode() * 50, b"", b"x"]
    assert seen["scalar"][0] == b"one text"
    assert seen[""][1]["title"] == "größe".encode()
    assert seen[""][1]["bytes"] == b"raw"
    assert list(seen[""][1]["list"]) == [b"a", b"bc"]


def test_texts_of_ours_are_h5pys_own_kind():
    texts = tf.constant([["a", ""], ["ä", "long " * 99]])
    data = tf._holdfast.h5_write([("", None, [("name", tf.constant("dense"))]), ("t", texts, [])])
    with h5py.File(io.BytesIO(data), "r") as f:
        assert f.attrs["name"] == "dense"
        assert f["t"].asstr()[()].tolist() == [["a", ""], ["ä", "long " * 99]]


def test_many_texts_fill_several_heaps():
    texts = [f"text {i}" for i in range(70_000)]
    data = tf._holdfast.h5_write([("t", tf.constant(texts), [])])
    with h5py.File(io.BytesIO(data), "r") as f:
        assert f["t"].asstr()[()].tolist() == texts
    assert read(data)["t"][0][69_999] == b"text 69999"


@pytest.mark.parametrize("count", [8, 9, 33, 257, 3000])
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_groups_of_many(count, libver):
    names = [f"m{i}" for i in range(count)]

    def make(f):
        for i, name in enumerate(names):
            f.create_group(f"g/{name}").attrs["i"] = i

    seen = read(written(make, libver=libver))
    for i, name in enumerate(names):
        assert seen[f"g/{name}"][1]["i"] == i
    ours = tf._holdfast.h5_write([(f"g/{name}", None, []) for name in names])
    with h5py.File(io.BytesIO(ours), "r") as f:
        assert list(f["g"]) == sorted(names)
        assert all(name in f["g"] for name in names)


def test_a_file_of_ours_can_be_added_to():
    data = tf._holdfast.h5_write([(f"g/{i}", tf.constant(i), []) for i in range(40)])
    file = io.BytesIO(data)
    with h5py.File(file, "r+") as f:
        for i in range(40, 120):
            f[f"g/{i}"] = i
        del f["g/7"]
        f["g"].attrs["more"] = "yes"
    seen = read(file.getvalue())
    assert {int(v) for path, (v, _) in seen.items() if path.startswith("g/")} == set(range(120)) - {
        7
    }
    assert seen["g"][1]["more"] == b"yes"


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_groups_list_what_they_hold_in_the_order_it_was_made_if_they_know_it(libver):
    names = [f"n{(7 * i) % 30}" for i in range(30)]

    def make(f):
        g = f.create_group("g", track_order=True)
        for name in names:
            g.create_group(name)

    listed = [path[2:] for path in read(written(make, libver=libver)) if path.startswith("g/")]
    assert listed == names


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_many_and_large_attributes(libver):
    def make(f):
        for i in range(100):
            f.attrs[f"a{i}"] = np.arange(i)
        f.attrs["large"] = np.arange(6000)

    seen = read(written(make, libver=libver))[""][1]
    assert len(seen) == 101 and all(list(seen[f"a{i}"]) == list(range(i)) for i in range(100))
    assert list(seen["large"]) == list(range(6000))


CHUNKED = [
    {"chunks": (4, 4)},
    {"chunks": (3, 7), "compression": "gzip"},
    {"chunks": (3, 7), "compression": "gzip", "shuffle": True, "compression_opts": 9},
    {"chunks": (30, 23), "compression": "gzip"},
    {"chunks": (1, 1), "shuffle": True},
    {"chunks": True, "maxshape": (40, 30)},
]


@pytest.mark.parametrize("options", CHUNKED, ids=str)
@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_chunks(options, libver, dtype):
    array = values(dtype, (30, 23)).astype(dtype)
    data = written(lambda f: f.create_dataset("x", data=array, **options), libver=libver)
    same(read(data)["x"][0], array)


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_what_was_never_written_is_the_fill_value(libver):
    def make(f):
        f.create_dataset("whole", (3, 2), "f4", fillvalue=2.5)
        d = f.create_dataset("chunks", (9, 9), "i4", chunks=(2, 2), fillvalue=-1)
        d[4, 4] = 7

    seen = read(written(make, libver=libver))
    same(seen["whole"][0], np.full((3, 2), 2.5, "f4"))
    want = np.full((9, 9), -1, "i4")
    want[4, 4] = 7
    same(seen["chunks"][0], want)


def test_elements_in_the_header():
    def make(f):
        space = h5py.h5s.create_simple((3,))
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_layout(h5py.h5d.COMPACT)
        d = h5py.h5d.create(f.id, b"x", h5py.h5t.NATIVE_INT32, space, plist)
        d.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([1, 2, 3], "i4"))

    assert list(read(written(make))["x"][0]) == [1, 2, 3]


def test_bfloat16_as_keras_has_it():
    x = tf.cast(tf.constant([1.5, -3.25]), tf.bfloat16)
    data = tf._holdfast.h5_write([("v", x, [])])
    with h5py.File(io.BytesIO(data), "r") as f:
        assert f["v"].attrs["dtype"] == "bfloat16" and f["v"].dtype == np.dtype("V2")
        raw = f["v"][()].tobytes()
    assert raw == b"\xc0\x3f\x50\xc0"

    def make(f):
        f.create_dataset("v", data=np.frombuffer(raw, "V2")).attrs["dtype"] = "bfloat16"

    (tensor,) = [t for path, t, _ in tf._holdfast.h5_read(written(make)) if path == "v"]
    assert tensor.dtype == tf.bfloat16
    assert tf.cast(tensor, tf.float32).numpy().tolist() == [1.5, -3.25]


def two_names(f):
    f.create_group("a/b")
    f["a/b/again"] = f["a"]


REFUSED = {
    "a soft link": lambda f: f.__setitem__("x", h5py.SoftLink("/other")),
    "an external link": lambda f: f.__setitem__("x", h5py.ExternalLink("/etc/passwd", "y")),
    "two names": two_names,
    "in other files": lambda f: f.create_dataset("x", (4,), "f4", external=[("no.bin", 0, 16)]),
    "compounds": lambda f: f.__setitem__("x", np.zeros(2, [("a", "i4"), ("b", "f4")])),
    "enumeration": lambda f: f.create_dataset(
        "x", (2,), h5py.enum_dtype({"RED": 0, "BLUE": 1}, basetype="i1")
    ),
    "references": lambda f: f.create_dataset("x", (1,), h5py.ref_dtype),
    "sequences of variable length": lambda f: f.create_dataset("x", (2,), h5py.vlen_dtype("i4")),
    "opaque elements of 3": lambda f: f.__setitem__("x", np.zeros(2, "V3")),
    "no attribute says": lambda f: f.__setitem__("x", np.zeros(2, "V2")),
    "the filter 32000": lambda f: f.create_dataset(
        "x", data=np.zeros(9), compression="lzf", chunks=(3,)
    ),
    "the filter 3": lambda f: f.create_dataset("x", data=np.zeros(9), fletcher32=True, chunks=(3,)),
    "empty dataspace": lambda f: f.__setitem__("x", h5py.Empty("f4")),
    "arrays": lambda f: f.create_dataset("x", (2,), np.dtype((np.float32, (3,)))),
    "named datatype": lambda f: (
        f.__setitem__("t", np.dtype("f8")),
        f.create_dataset("x", (2,), f["t"]),
    ),
    "was never written": lambda f: f.create_dataset("x", (1 << 40,), "f4"),
    "are stored of it": lambda f: f.create_dataset("x", (1 << 40,), "f4", chunks=(1 << 20,)),
    "more chunks than": lambda f: f.create_dataset("x", (1 << 40,), "f4", chunks=(1 << 4,)),
}


@pytest.mark.parametrize("libver", ["earliest", "latest"])
@pytest.mark.parametrize("said", REFUSED)
def test_the_rest_is_refused_by_name(said, libver):
    with pytest.raises(tf.errors.InvalidArgumentError, match="E1301") as caught:
        read(written(REFUSED[said], libver=libver))
    assert " ".join(said.split()) in " ".join(str(caught.value).split())


def test_a_bomb_is_refused_before_it_takes_memory():
    def make(f):
        d = f.create_dataset("x", (1 << 34,), "u1", chunks=(1 << 24,), compression="gzip")
        d[: 1 << 24] = 0

    with pytest.raises(tf.errors.InvalidArgumentError, match="E1301"):
        read(written(make))


@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_damaged_files_of_h5py_end_in_values_or_a_refusal(libver):
    def make(f):
        for i in range(12):
            f[f"layers/l{i}/vars/0"] = np.arange(i + 1, dtype="f4")
            f[f"layers/l{i}/vars"].attrs["name"] = f"l{i}"
        f.create_dataset(
            "packed", data=np.arange(99), chunks=(10,), compression="gzip", shuffle=True
        )
        f["texts"] = ["a", "bc"]
        for i in range(12):
            f.attrs[f"a{i}"] = i

    good = written(make, libver=libver)
    rng = np.random.default_rng(3)
    ends = {"values": 0, "E1301": 0, "E1302": 0}
    # Zeros are mostly room that is not used.
    places = np.flatnonzero(np.frombuffer(good, "u1"))
    for i in range(1500):
        data = bytearray(good)
        for at in rng.choice(places, rng.integers(1, 6)):
            data[at] = rng.integers(256)
        if i % 10 == 0:
            data = data[: rng.integers(len(data))]
        try:
            tf._holdfast.h5_read(bytes(data))
            ends["values"] += 1
        except (tf.errors.InvalidArgumentError, tf.errors.DataLossError) as refused:
            ends[refused.code] += 1
    assert ends["E1302"] > 100 and sum(ends.values()) == 1500
