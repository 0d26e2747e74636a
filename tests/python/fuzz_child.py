"""Calls raw ops with random bad signatures and says what became of each: run by test_fuzz.py.

    python fuzz_child.py SEED COUNT OP...

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


def arguments(rng, record):
    said = {}
    first = None
    for spec in record["inputs"]:
        if spec["list"]:
            said[spec["name"]] = [tensor(rng) for _ in range(rng.choice([0, 1, 2, 3]))]
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
    return {k: str(v)[:120] for k, v in arguments.items()}


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
            try:
                _holdfast.raw_op(op, **said)
            except DiagnosticError as refused:
                if op not in str(refused) and refused.diagnostic.op != op:
                    bad = {"op": op, "n": n, "why": "does not name the op", "text": str(refused)}
                    print(json.dumps(bad | {"arguments": shown(said)}), flush=True)
            except BaseException as other:  # noqa: BLE001 (whatever it is, it is the finding)
                bad = {
                    "op": op,
                    "n": n,
                    "why": f"raised {type(other).__name__}",
                    "text": str(other),
                }
                print(json.dumps(bad | {"arguments": shown(said)}), flush=True)
            signal.alarm(0)
    print("done", flush=True)


main()
