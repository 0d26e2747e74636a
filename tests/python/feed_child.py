"""Feeds constants of graphs that samples write, and says what became of each: run by test_feed.py.

    python feed_child.py SEED SAMPLES FUNCTION...

For the first SAMPLES samples of each function:
- every constant of the graph is fed, with its own value, with others and with impossible ones. The
  run gives what the ops give when they are called one by one on these values, or refuses by a
  message that names an op;
- the graph is written for other numbers than the sample's, which are fed afterwards. The run gives
  what the function gives for the sample, or refuses because the graph was not written for them.

Prints `try FUNCTION N WHAT` before each run, so that the parent knows what killed us, and one JSON line
for each that ended in a way it may not.
"""

import json
import random
import signal
import sys
import zlib

import numpy as np
import samples

import holdfast as tf
from holdfast import _holdfast
from holdfast.errors import DiagnosticError

v1 = tf.compat.v1
SECONDS = 20  # a run that takes longer hangs
HUGE = [2**31 - 1, -(2**31), -1, 0, 1, 2, 3, 7, -7]
NOT_WRITTEN_FOR = "E0804"


class Unlike(Exception):
    """A node that can't be called by name: it holds a graph or Python code."""


def parts(result):
    """The tensors of what a function gave."""
    if isinstance(result, (list, tuple)):
        return [tensor for part in result for tensor in parts(part)]
    return [result] if isinstance(result, tf.Tensor) else []


def equal(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.kind in "fcV":
        wide = np.complex128 if a.dtype.kind == "c" else np.float64
        a, b = a.astype(wide), b.astype(wide)
        with np.errstate(all="ignore"):
            return np.allclose(a, b, rtol=1e-2, atol=1e-3, equal_nan=True)
    return bool(np.all(a == b))


def others(value, rng):
    """Values of the same dtype and shape: other ones, and such that no op can take."""
    if value.dtype == object:
        return [np.full(value.shape, b"other", object)]
    if value.dtype == bool:
        return [~value]
    if value.dtype.kind in "iu":
        found = [value[::-1] if value.ndim else value, value + 1, value - 1, value * 0]
        found.append(np.full_like(value, 2))
        picked = [rng.choice(HUGE) for _ in range(max(value.size, 1))]
        wild = np.array(picked, "int64").astype(value.dtype)[: value.size].reshape(value.shape)
        if value.size > 8:  # data, not sizes or axes
            return [found[1], wild]
        return [*found, wild, np.full_like(value, np.iinfo(value.dtype).max)]
    draw = np.random.default_rng(rng.getrandbits(32))
    return [(draw.uniform(-2, 2, value.shape)).astype(value.dtype)]


def one_by_one(graph, outputs, fed):
    """What the ops of the graph give when they are called on values; `fed` replaces some."""
    values = dict(fed)
    for op in graph.get_operations():
        if all(out.name in values for out in op.outputs):
            continue
        if op.type == "Const":
            values[op.outputs[0].name] = tf.constant(op.get_attr("value"))
            continue
        record = _holdfast.raw_op_record(op.type)
        if record["stateful"]:
            raise Unlike
        said, given = {}, iter([values[t.name] for t in op.inputs])
        for spec in record["inputs"]:
            if spec["optional"]:
                raise Unlike
            said[spec["name"]] = list(given) if spec["list"] else next(given)
        for spec in record["attrs"]:
            value = op.get_attr(spec["name"])
            if isinstance(value, bytes):
                value = value.decode()
            if isinstance(value, tf.TensorShape) and not value.is_fully_defined():
                raise Unlike
            said[spec["name"]] = value
            if spec["name"] in ("code", "expression", "then_branch", "else_branch", "body", "cond"):
                raise Unlike
        result = _holdfast.raw_op(op.type, **said)
        results = result if isinstance(result, (list, tuple)) else [result]
        for out, got in zip(op.outputs, results, strict=True):
            values[out.name] = got
    return [values[t.name].numpy() for t in outputs]


class Child:
    def __init__(self, seed):
        self.seed = seed
        self.count = 0

    def say(self, function, sample, why, **more):
        bad = {"function": function, "sample": sample, "why": why, "n": self.count}
        print(json.dumps(bad | {k: str(v)[:600] for k, v in more.items()}), flush=True)

    def trying(self, function, what):
        self.count += 1
        print("try", function, self.count, what, flush=True)
        signal.alarm(SECONDS)

    def run(self, session, outputs, feeds):
        """The values, or the refusal."""
        try:
            return session.run(outputs, feeds), None
        except DiagnosticError as refused:
            return None, refused
        finally:
            signal.alarm(0)

    def every_constant(self, function, sample):
        name = function.record["name"]
        graph = tf.Graph()
        with graph.as_default():
            outputs = parts(samples.call(function, sample).run())
        outputs = [t for t in outputs if t.dtype not in (tf.resource, tf.variant)]
        constants = [op for op in graph.get_operations() if op.type == "Const"]
        if not outputs:
            return
        session = v1.Session(graph=graph)
        for op in constants:
            tensor = op.outputs[0]
            value = np.asarray(op.get_attr("value").numpy())
            rng = random.Random(f"{self.seed} {name} {sample} {op.name}")
            for other in [value, *others(value, rng)]:
                self.one_feed(session, (name, sample), outputs, tensor, other)
        session.close()

    def one_feed(self, session, where, outputs, tensor, value):
        self.trying(where[0], tensor.name)
        got, refused = self.run(session, outputs, {tensor: value})
        fed = {tensor.name: tf.constant(value, tensor.dtype)}
        signal.alarm(SECONDS)
        try:
            wanted, wrong = one_by_one(session.graph, outputs, fed), None
        except Unlike:
            wanted, wrong = None, None
        except DiagnosticError as error:
            wanted, wrong = None, error
        signal.alarm(0)
        about = {"tensor": tensor.name, "fed": value.tolist()}
        if refused is not None:
            said = str(refused)
            ops = {op.type for op in session.graph.get_operations()}
            if not (refused.diagnostic.op or any(op in said for op in ops)):
                self.say(*where, "does not name the op", text=said, **about)
            if wanted is not None and refused.code != NOT_WRITTEN_FOR:
                self.say(*where, "refused what the ops take", text=said, **about)
        elif wrong is not None:
            self.say(*where, "took what the ops refuse", text=wrong, got=got, **about)
        elif wanted is not None:
            for mine, theirs in zip(got, wanted, strict=True):
                if not equal(mine, theirs):
                    self.say(*where, "other values", got=mine, wanted=theirs, **about)

    def known_late(self, function, sample):
        """Written for other numbers; the sample's are fed."""
        record = function.record
        kinds = {p["name"]: p["kind"] for p in record["params"]}
        call = samples.call(function, sample)
        named = dict(zip(kinds, call.args, strict=False)) | call.kwargs
        wanted = [t.numpy() for t in parts(call.run())]
        if not wanted or self.draws(call):
            return
        for name, argument in named.items():
            array = self.numbers(kinds.get(name, ""), argument)
            if array is None:
                continue
            rng = random.Random(f"{self.seed} {record['name']} {sample} {name}")
            self.late_argument(function, sample, named, name, array, wanted, rng)

    @staticmethod
    def draws(call):
        graph = tf.Graph()
        with graph.as_default():
            call.run()
        return any(_holdfast.raw_op_record(op.type)["stateful"] for op in graph.get_operations())

    @staticmethod
    def numbers(kind, argument):
        if isinstance(argument, samples.Made):
            return np.asarray(argument)
        plain = isinstance(argument, (list, tuple, int)) and not isinstance(argument, bool)
        if plain and kind in ("sizes", "axes", "tensor", "tensor?"):
            array = np.asarray(argument)
            return array.astype("int32") if array.dtype.kind == "i" else None
        return None

    def late_argument(self, function, sample, named, name, array, wanted, rng):
        title = function.record["name"]
        for other in others(array, rng)[:5]:
            graph = tf.Graph()
            self.trying(title, f"{name} late")
            with graph.as_default():
                late = tf.constant(other)
                given = {
                    key: late if key == name else self.plain(value) for key, value in named.items()
                }
                try:
                    outputs = parts(function(**given))
                except DiagnosticError:
                    continue  # these numbers make no graph
                finally:
                    signal.alarm(0)
            if len(outputs) != len(wanted):
                continue
            signal.alarm(SECONDS)
            got, refused = self.run(v1.Session(graph=graph), outputs, {late: array})
            about = {"argument": name, "written_for": other.tolist(), "fed": array.tolist()}
            if refused is not None:
                if refused.code != NOT_WRITTEN_FOR:
                    self.say(title, sample, "refused when late", text=refused, **about)
                continue
            for mine, theirs in zip(got, wanted, strict=True):
                if not equal(mine, theirs):
                    self.say(title, sample, "another value", got=mine, wanted=theirs, **about)

    @staticmethod
    def plain(value):
        if isinstance(value, samples.Made):
            return tf.constant(np.asarray(value))
        if isinstance(value, (list, tuple)):
            return type(value)(Child.plain(part) for part in value)
        return value


def main():
    seed, most, *names = sys.argv[1:]
    _holdfast.set_memory_limit("CPU", 0, 1 << 28)
    child = Child(zlib.crc32(seed.encode()))
    for name in names:
        function = next(f for f in samples.FUNCTIONS if f.record["name"] == name)
        for sample in function.record["samples"][: int(most)]:
            for look in (child.every_constant, child.known_late):
                try:
                    look(function, sample)
                except BaseException as other:  # noqa: BLE001 (whatever it is, it is the finding)
                    signal.alarm(0)
                    child.say(name, sample, f"raised {type(other).__name__}", text=other)
    print("done", flush=True)


if __name__ == "__main__":
    main()
