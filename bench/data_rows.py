"""Rows of input pipelines: what is timed, per element. Files are written once, for all who read them."""

import hashlib
import os
import pathlib

import numpy as np

BATCH, BUFFER = 128, 10_000
COUNT, ROWS, RECORDS, IMAGES = 200_000, 60_000, 50_000, 128

RANGE = "range, map, shuffle, batch, prefetch"
BRANCH = "the same, a map that branches"
SLICES = "rows of (60000, 784), shuffle(10k), batch"
ALL_SLICES = "the same, shuffle(60000)"
RECORD = "50k Examples: batch, parse_example"
ONE_RECORD = "the same: parse_single_example, batch"
JPEG = "JPEG files: decode, resize, batch, 2 threads"


def slices():
    """The arrays of the rows that slice."""
    g = np.random.default_rng(1)
    x = g.standard_normal((ROWS, 784), dtype=np.float32)
    return x, g.integers(0, 10, ROWS).astype(np.int32)


def write(tf, folder):
    """A file of 50k Examples, and images like photographs: smooth, with edges and some noise."""
    g, features = np.random.default_rng(2), tf.train
    with tf.io.TFRecordWriter(str(folder / "examples.tfrecord")) as file:
        for i in range(RECORDS):
            values = g.standard_normal(32).astype(np.float32)
            feature = {
                "x": features.Feature(float_list=features.FloatList(value=values)),
                "label": features.Feature(int64_list=features.Int64List(value=[i % 10])),
                "name": features.Feature(bytes_list=features.BytesList(value=[b"row %d" % i])),
            }
            whole = features.Example(features=features.Features(feature=feature))
            file.write(whole.SerializeToString())
    for i in range(IMAGES):
        y, x = np.mgrid[0:240, 0:320] / 240.0
        planes = [np.sin(x * (3 + k) + i) * np.cos(y * (5 - k)) + (x > y) * 0.5 for k in range(3)]
        noise = g.standard_normal((240, 320, 3)) * 6
        image = np.clip(np.stack(planes, -1) * 80 + 110 + noise, 0, 255).astype(np.uint8)
        encoded = tf.io.encode_jpeg(tf.constant(image), quality=90).numpy()
        (folder / f"{i:04}.jpg").write_bytes(encoded)


def of_tensorflow(tf, folder):
    """The rows for anything that speaks TensorFlow: name, function, elements, digest of the values."""
    data, auto = tf.data.Dataset, tf.data.AUTOTUNE

    def run(dataset):
        count = 0
        for element in dataset:
            first = element[0] if isinstance(element, tuple) else element
            count += int(first.shape[0])
        return count

    def numbers(change):
        return lambda: run(
            data.range(COUNT).map(change).shuffle(BUFFER).batch(BATCH).prefetch(auto)
        )

    def branching(v):
        return tf.cond(v % 2 == 0, lambda: v + 1, lambda: v * 2)

    yield RANGE, numbers(lambda v: v + 1), COUNT, None
    yield BRANCH, numbers(branching), COUNT, None
    base = data.from_tensor_slices(slices())
    for name, size in ((SLICES, BUFFER), (ALL_SLICES, ROWS)):
        yield name, (lambda n=size: run(base.shuffle(n).batch(BATCH).prefetch(auto))), ROWS, None

    spec = {
        "x": tf.io.FixedLenFeature([32], tf.float32),
        "label": tf.io.FixedLenFeature([], tf.int64),
        "name": tf.io.FixedLenFeature([], tf.string),
    }
    records = str(folder / "examples.tfrecord")

    def pair(e):
        return e["x"], e["label"], e["name"]

    def batches():
        dataset = tf.data.TFRecordDataset(records).batch(BATCH)
        return dataset.map(lambda r: pair(tf.io.parse_example(r, spec))).prefetch(auto)

    def singles():
        dataset = tf.data.TFRecordDataset(records)
        dataset = dataset.map(lambda r: pair(tf.io.parse_single_example(r, spec)))
        return dataset.batch(BATCH).prefetch(auto)

    yield RECORD, (lambda: run(batches())), RECORDS, lambda: digest(batches())
    yield ONE_RECORD, (lambda: run(singles())), RECORDS, lambda: digest(singles())

    def image(path):
        decoded = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
        return tf.image.resize(decoded, [160, 160])

    def images():
        files = data.list_files(str(folder / "*.jpg"), shuffle=False)
        return files.map(image, num_parallel_calls=2).batch(32).prefetch(auto)

    yield JPEG, (lambda: run(images())), IMAGES, lambda: digest(images())


def digest(dataset):
    """Of all values of a dataset, floats to the last bit."""
    found = hashlib.sha256()
    for element in dataset.as_numpy_iterator():
        for part in element if isinstance(element, tuple) else (element,):
            found.update(b"".join(part) if part.dtype == object else np.ascontiguousarray(part))
    return found.hexdigest()[:12]


def of_torch(torch, folder):
    """A DataLoader over the same values."""
    data = torch.utils.data

    class Range(data.Dataset):
        def __init__(self, change):
            self.change = change

        def __len__(self):
            return COUNT

        def __getitem__(self, i):
            return self.change(i)

    def numbers(change):
        loader = data.DataLoader(Range(change), batch_size=BATCH, shuffle=True)
        return lambda: sum(batch.shape[0] for batch in loader)

    yield RANGE, numbers(lambda i: i + 1), COUNT, None
    yield BRANCH, numbers(lambda i: i + 1 if i % 2 == 0 else i * 2), COUNT, None
    arrays = data.TensorDataset(*map(torch.from_numpy, slices()))

    def rows():
        loader = data.DataLoader(arrays, batch_size=BATCH, shuffle=True)
        return sum(x.shape[0] for x, _ in loader)

    yield SLICES, rows, ROWS, None
    yield ALL_SLICES, rows, ROWS, None


def of_numpy(_, folder):
    """Fancy indexing: what a loop by hand does."""
    x, y = slices()
    g = np.random.default_rng(0)

    def rows():
        order, count = g.permutation(ROWS), 0
        for i in range(0, ROWS, BATCH):
            at = order[i : i + BATCH]
            bx, _ = x[at], y[at]
            count += len(bx)
        return count

    yield SLICES, rows, ROWS, None
    yield ALL_SLICES, rows, ROWS, None


def open_rows(kind, threads):
    """Rows of one framework; the first one, ours, writes the files."""
    folder = pathlib.Path(os.environ["HOLDFAST_BENCH_FILES"])
    if kind == "numpy":
        return of_numpy(np, folder)
    if kind == "torch":
        import torch

        torch.set_num_threads(threads)
        return of_torch(torch, folder)
    tf = __import__("holdfast" if kind == "ours" else "tensorflow")
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    if not (folder / "examples.tfrecord").exists():
        write(tf, folder)
    return of_tensorflow(tf, folder)


def main(kind, threads, answer, ask):
    """Speaks with run.py: the names and digests, then for each name that is asked the times of one element."""
    import json
    import time

    rows = {name: (f, n, check) for name, f, n, check in open_rows(kind, threads)}
    for f, n, _ in rows.values():
        if f() != n:
            raise SystemExit(f"{kind} lost elements")
    print(
        json.dumps({k: c() if c else "" for k, (_, _, c) in rows.items()}), file=answer, flush=True
    )
    for line in ask:
        f, n, _ = rows[json.loads(line)]
        wall, cpu = time.perf_counter(), time.process_time()
        f()
        times = (time.perf_counter() - wall) / n, (time.process_time() - cpu) / n
        print(json.dumps(times), file=answer, flush=True)
