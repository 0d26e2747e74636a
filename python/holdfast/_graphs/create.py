"""`Graph.create_op`: an op by its type, with inputs and attributes as a graph's format has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _holdfast
from .._tensors.dtypes import as_dtype
from .._tensors.shape import TensorShape
from ..errors import fail
from .operation import Operation, operation_of

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["created"]


def created(
    graph: Graph, op_type: str, inputs: list[Any], dtypes: Any, name: str | None, attrs: Any
) -> Operation:
    """Adds the op, and checks that it gives what `dtypes` says, if it says something."""
    record = _holdfast.raw_op_record(op_type)
    for tensor in inputs:
        if not isinstance(tensor, _holdfast.Tensor):
            kind = type(tensor).__name__
            fail("E1104", f"`inputs` has what is of type {kind}, expected tensors")
    if record is None:
        # Nobody here can run it, and a graph may have it all the same.
        kinds = [as_dtype(dtype) for dtype in dtypes or ()]
        with graph.as_default():
            return operation_of(graph._foreign(op_type, inputs, kinds, name or ""))
    arguments = _arguments(record, inputs)
    known = {attr["name"] for attr in record["attrs"]}
    arguments |= {key: _plain(value) for key, value in attrs.items() if key in known}
    with graph.as_default():
        before = graph._size()
        _holdfast.raw_op(op_type, **arguments, **({"name": name} if name else {}))
        added = [node for node in graph._nodes()[before:] if node.type == op_type]
    if not added:
        fail("E1105", f"`create_op` of the op {op_type!r} is not supported: it adds no node")
    op = operation_of(added[-1])
    if dtypes is not None:
        given, wanted = [t.dtype for t in op.outputs], [as_dtype(d) for d in dtypes]
        if given != wanted:
            names = [d.name for d in given], [d.name for d in wanted]
            raise TypeError(f"`{op_type}` gives {names[0]}, and `dtypes` says {names[1]}")
    return op


def _arguments(record: dict[str, Any], inputs: list[Any]) -> dict[str, Any]:
    """Flat inputs by their names; a list takes what the other inputs leave."""
    names = record["inputs"]
    single = sum(not each["list"] for each in names)
    lists = len(names) - single
    if (not lists and len(inputs) > single) or len(inputs) < single - sum(
        each["optional"] for each in names
    ):
        fail("E1104", f"`{record['name']}` takes {single} inputs, and `inputs` has {len(inputs)}")
    rest = iter(inputs)
    found: dict[str, Any] = {}
    for each in names:
        if each["list"]:
            found[each["name"]] = [next(rest) for _ in range((len(inputs) - single) // lists)]
        else:
            value = next(rest, None)
            if value is not None:
                found[each["name"]] = value
    return found


def _plain(value: Any) -> Any:
    """An attribute as Python has it; one of TensorFlow's format says which kind it is."""
    which = getattr(value, "WhichOneof", None)
    if which is None:
        return value
    kind = which("value")
    held: Any = getattr(value, kind) if kind else None
    if kind == "type":
        return as_dtype(held)
    if kind == "shape":
        return TensorShape([d.size if d.size >= 0 else None for d in held.dim])
    if kind == "list":
        return next((list(part) for _, part in held.ListFields()), [])
    return held
