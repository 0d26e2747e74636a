"""`tf.print`: tensors as TensorFlow's string formatting shows them."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from .. import _holdfast
from .._graphs.control import newest
from .._tensors import registry
from .._tensors.composite import Composite
from .._tensors.dtypes import string
from .._tensors.tensor import Tensor, convert_to_tensor
from .._variables.variable import Variable
from .staging import is_staged, stage

__all__ = ["AsItIs", "print"]


class AsItIs:
    """A tensor that is a text already: it is printed without quotes."""

    def __init__(self, text: Any) -> None:
        self.text = text


class _Template:
    """What is printed as one text, with a hole in the place of each tensor."""

    def __init__(self, inputs: tuple[Any, ...], separator: str, summarize: int) -> None:
        self.tensors: list[Any] = []
        self._ready: list[Any] = []
        self._inputs, self._separator, self._summarize = inputs, separator, summarize
        self.hole, self._cut = "{}", ""
        self.text = self._written("")
        while self.hole in self.text:
            self.hole = f"{{_{self.hole[1:]}"
        if self.tensors or self._ready:
            self._cut = "\0"
            while self._cut in self.text:
                self._cut += "\0"
            self.tensors.clear()
            self._ready.clear()
            self.text = self._written(self.hole)

    def _written(self, hole: str) -> str:
        return self._separator.join(self._part(value, hole, True) for value in self._inputs)

    def _part(self, value: Any, hole: str, top: bool = False) -> str:
        if isinstance(value, (Tensor, Variable)):
            self.tensors.append(value)
            return hole
        if isinstance(value, AsItIs):
            self._ready.append(value.text)
            return self._cut
        if isinstance(value, Composite):
            shown = value._printed(self._summarize)
            return "".join(p if isinstance(p, str) else self._part(p, hole) for p in shown)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            parts = (
                f"{name}={self._part(part, hole)}"
                for name, part in zip(value._fields, value, strict=True)
            )
            return f"{type(value).__name__}({', '.join(parts)})"
        if isinstance(value, tuple):
            inside = ", ".join(self._part(part, hole) for part in value)
            return f"({inside},)" if len(value) == 1 else f"({inside})"
        if isinstance(value, list):
            return "[" + ", ".join(self._part(part, hole) for part in value) + "]"
        if isinstance(value, Mapping):
            parts = (
                f"{key!r}: {self._part(value[key], hole)}"
                for key in (sorted(value) if all(isinstance(k, str) for k in value) else value)
            )
            return "{" + ", ".join(parts) + "}"
        return value if top and isinstance(value, str) else repr(value)

    def filled(self) -> Any:
        """The text with the tensors in it, as a tensor."""
        values = [t.read() if isinstance(t, Variable) else t for t in self.tensors]
        if not self._ready:
            return self._formatted(self.text, values)
        parts: list[Any] = []
        for text, ready in zip(self.text.split(self._cut), [*self._ready, None], strict=True):
            holes = text.count(self.hole)
            parts.append(self._formatted(text, values[:holes]))
            parts += [] if ready is None else [ready]
            values = values[holes:]
        return registry.function("strings.join")(parts)

    def _formatted(self, text: str, values: list[Any]) -> Any:
        if not values:
            return convert_to_tensor(text, string)
        return registry.raw_op(
            "StringFormat",
            inputs=values,
            template=text,
            placeholder=self.hole,
            summarize=self._summarize,
        )


def _stream_name(stream: Any) -> str | None:
    """What the op calls a stream; None for one that only Python knows."""
    if stream is None or stream is sys.stderr:
        return "stderr"
    if stream is sys.stdout:
        return "stdout"
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    if isinstance(stream, str) or not hasattr(stream, "write"):
        raise ValueError(
            f"`output_stream` is {stream!r}, expected an object with `write`, such as "
            "`sys.stdout`, or a text like 'file:///tmp/log'"
        )
    return None


def _write(stream: Any, text: bytes) -> None:
    stream.write(text.decode("utf-8", "backslashreplace"))
    if hasattr(stream, "flush"):
        stream.flush()


def show_printed(to_stdout: bool, text: bytes) -> None:
    """Writes what the library prints where Python's streams go now."""
    stream = sys.stdout if to_stdout else sys.stderr
    if stream is not None:
        _write(stream, text)


def print(*inputs: Any, **kwargs: Any) -> Any:
    """Prints values and tensors, to standard error unless `output_stream` says otherwise.

    `summarize` elements are shown at each end of an axis, all if it is negative. In a traced
    function it prints each time that runs; in a graph by hand its operation is returned.
    """
    stream = kwargs.pop("output_stream", None)
    name = kwargs.pop("name", None)  # names the op in a graph; an eager call has none
    summarize = kwargs.pop("summarize", 3)
    separator, end = kwargs.pop("sep", " "), kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"`tf.print` takes no {', '.join(f'`{key}`' for key in kwargs)}")
    known = _stream_name(stream)
    ends = 3 if summarize is None else int(summarize)
    text = _Template(inputs, separator, ends).filled()
    if known is not None:
        title = {"name": name} if name else {}
        registry.raw_op("PrintV2", input=text, output_stream=known, end=end, **title)
        return newest([text])

    # An object with a `write` of its own is Python's: the op can't know it.
    def run(whole: Any) -> None:
        _write(stream, whole.numpy() + end.encode())

    if is_staged([text]):
        stage("PyFunc", name or "print", run, [text])
        return newest([text])
    run(text)
    return None


_holdfast.set_print_sink(show_printed)
