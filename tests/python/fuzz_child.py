"""Calls raw ops with random bad signatures and says what became of each: run by test_fuzz.py.

    python fuzz_child.py SEED COUNT OP...

Each call is made at once, and again by a session whose graph knows the arguments late: placeholders of
any shape, of their own shapes, and constants of other values in whose place they are fed. That must end
as the call did: with the same values, or with a refusal that names the op.

Prints `try OP N` before each call, so that the parent knows what killed us, and one JSON line for each
call that ended in a way it may not.
"""

import json
import random
import signal
import sys

import numpy as np

import holdfast as tf
from holdfast import _holdfast
from holdfast.errors import DiagnosticError

SECONDS = 20  # a call that takes longer hangs

DTYPES = [d for d in tf._dtypes.ALL[1:] if d.name not in ("bfloat16", "resource", "variant")]
GRAPHS_OWN = {"Placeholder", "Const", "VarHandleOp"}  # a graph gives them their meaning
HUGE = [2**31 - 1, 2**31, 2**62, 2**63 - 1, -(2**63), -1, 0, 1, 2, 3, 7, -7]


def shape(rng):
    rank = rng.choice([0, 0, 1, 1, 2, 2, 3, 4, 5, 8])
    return [rng.choice([0, 1, 1, 2, 2, 3, 4]) for _ in range(rank)]


def tensor(rng):
    if rng.random() < 0.3:  # small integers: shapes, axes, indices
        count = rng.choice([0, 1, 2, 3, 4])
        values = [rng.choice(HUGE) for _ in range(count)]
        dtype = rng.choice(["int32", "int64"])
        array = np.array(values, dtype="int64").astype(dtype)
        return tf.constant(array if rng.random() < 0.8 or not count else array[0])
    dtype, dims = rng.choice(DTYPES), shape(rng)
    if dtype.name == "string":
        return tf.constant(np.full(dims, b"x", dtype=object))
    draw = np.random.default_rng(rng.getrandbits(32))
    values = draw.uniform(-3, 3, dims)
    if dtype.is_floating and rng.random() < 0.2:
        values = values * np.array([np.nan, np.inf, 0, 1e30])[draw.integers(0, 4, dims)]
    with np.errstate(all="ignore"):
        return tf.constant(np.asarray(values).astype(dtype.as_numpy_dtype))


def attribute(rng):
    pick = rng.randrange(9)
    if pick == 0:
        return rng.choice(HUGE)
    if pick == 1:
        return rng.choice([float("nan"), float("inf"), -1.0, 0.0, 1e300])
    if pick == 2:
        return rng.choice(["", "SAME", "VALID", "NHWC", "NCHW", "bogus", "x" * 1000])
    if pick == 3:
        return rng.choice([True, False])
    if pick == 4:
        return [rng.choice(HUGE) for _ in range(rng.choice([0, 1, 2, 4, 5]))]
    if pick == 5:
        return rng.choice(DTYPES)
    if pick == 6:
        return None
    if pick == 7:
        return [rng.choice(["a", ""]) for _ in range(2)]
    return rng.choice([1, 2, [1, 1, 1, 1], "SAME", 0])


def handle(rng, spec):
    """What an op takes that holds no numbers: a list of tensors, or a variable."""
    if "variant" in spec["dtypes"]:
        rows = tf.constant(
            np.ones(rng.choice([[2], [0, 3], [3, 2]]), rng.choice(["float32", "int32"]))
        )
        return _holdfast.raw_op("TensorListFromTensor", tensor=rows)
    dtype = rng.choice(["float32", "int64"])
    return tf.Variable(np.ones(rng.choice([[], [3], [2, 2]]), dtype))


def arguments(rng, record):
    said = {}
    first = None
    for spec in record["inputs"]:
        if spec["list"]:
            said[spec["name"]] = [tensor(rng) for _ in range(rng.choice([0, 1, 2, 3]))]
            continue
        if spec["dtypes"] in ("variant", "resource") and rng.random() < 0.8:
            said[spec["name"]] = handle(rng, spec)
            continue
        made = tensor(rng)
        if first is not None and rng.random() < 0.5:
            made = first  # same dtype and shape, so that more calls reach the shape rule
        first = made if first is None else first
        said[spec["name"]] = made
    for spec in record["attrs"]:
        if spec["required"] or rng.random() < 0.4:
            said[spec["name"]] = attribute(rng)
    return said


def shown(arguments):
    return {k: text_of(v)[:120] for k, v in arguments.items()}


def text_of(value):
    if isinstance(value, tf.Tensor) and value.dtype in (tf.variant, tf.resource):
        return f"a {value.dtype.name}"
    return str(value)


class Late:
    """Calls an op in graphs that know its arguments late."""

    def __init__(self, op, said):
        self.op, self.said = op, said

    def written(self, stand_in):
        """The graph, what the op gives there and what is to be fed."""
        feeds = {}

        def moved(value):
            if isinstance(value, list):
                return [moved(part) for part in value]
            if not isinstance(value, tf.Tensor) or value.dtype in (tf.variant, tf.resource):
                return value
            made = stand_in(value)
            feeds[made] = value
            return made

        graph = tf.Graph()
        with graph.as_default():
            result = _holdfast.raw_op(self.op, **{k: moved(v) for k, v in self.said.items()})
        results = result if isinstance(result, tuple) else [result]
        return graph, [t for t in results if t is not None], feeds

    @staticmethod
    def stand_ins(rng):
        place = tf.compat.v1.placeholder

        def other(value):
            cells = np.array(value.numpy()).ravel()
            rng.shuffle(cells)
            return tf.constant(cells.reshape(value.shape.as_list()), value.dtype)

        return {
            "of any shape": lambda t: place(t.dtype),
            "of its shape": lambda t: place(t.dtype, t.shape),
            "a constant": other,
        }

    def run(self, stand_in):
        """What a session computes."""
        graph, results, feeds = self.written(stand_in)
        kept = [t for t in results if t.dtype not in (tf.variant, tf.resource)]
        with graph.as_default():  # a list can't be fetched, its length can
            lists = [_holdfast.list_length(t) for t in results if t.dtype == tf.variant]
        if not kept and not lists:
            return None
        with tf.compat.v1.Session(graph=graph) as session:
            return session.run([kept, lists], feeds)[0]


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return a.tobytes() == b.tobytes() if a.dtype != object else bool(np.all(a == b))


def holds_state(said):
    return any(isinstance(value, tf.Variable) for value in said.values())


def late(rng, op, record, said, result, tell):
    """The same call again, by a session; `result`: what it gave, None if it was refused."""
    for what, stand_in in Late.stand_ins(rng).items():
        try:
            got = Late(op, said).run(stand_in)
        except DiagnosticError as refused:
            if not names(op, refused):
                tell(f"late ({what}): does not name the op", str(refused))
            if result is not None and refused.code != "E0804" and what != "a constant":
                tell(f"late ({what}): refused what is taken at once", str(refused))
            continue
        if got is None:  # nothing that a session could fetch
            continue
        if result is None:
            tell(f"late ({what}): took what is refused at once", str(got)[:300])
        elif not record["stateful"] and not all(map(same, got, result)):
            tell(f"late ({what}): other values", f"{got}\n{result}"[:600])


def arrays(result):
    results = result if isinstance(result, tuple) else [result]
    return [
        t.numpy() for t in results if t is not None and t.dtype not in (tf.variant, tf.resource)
    ]


def names(op, refused):
    """Whether a refusal says whose it is. NumPy's limits on empty arrays are no op's."""
    text = str(refused)
    return op in text or refused.diagnostic.op == op or "NumPy has no arrays of shape" in text


def main():
    seed, count, *ops = sys.argv[1:]
    _holdfast.set_memory_limit("CPU", 0, 1 << 28)
    for op in ops:
        record = _holdfast.raw_op_record(op)
        for n in range(int(count)):
            rng = random.Random(f"{seed} {op} {n}")
            said = arguments(rng, record)
            print("try", op, n, flush=True)
            signal.alarm(SECONDS)
            result = None

            def tell(why, text, op=op, n=n, said=said):
                bad = {"op": op, "n": n, "why": why, "text": text}
                print(json.dumps(bad | {"arguments": shown(said)}), flush=True)

            try:
                result = arrays(_holdfast.raw_op(op, **said))
            except DiagnosticError as refused:
                if not names(op, refused):
                    tell("does not name the op", str(refused))
            except BaseException as other:  # noqa: BLE001 (whatever it is, it is the finding)
                tell(f"raised {type(other).__name__}", str(other))
            if op not in GRAPHS_OWN and not holds_state(said):
                signal.alarm(SECONDS)
                try:
                    late(rng, op, record, said, result, tell)
                except BaseException as other:  # noqa: BLE001 (as above)
                    tell(f"late: raised {type(other).__name__}", str(other))
            signal.alarm(0)
    print("done", flush=True)


main()
