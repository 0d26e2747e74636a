"""`tf.py_function` and `tf.numpy_function`: Python in the middle of a computation."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import _holdfast
from .._gradients.tape import dense
from .._graphs.control import newest
from .._graphs.operation import named
from .._messages.contexts import contextmanager
from .._structures import nesting
from .._tensors.dtypes import as_dtype
from .._tensors.shape import TensorSpec
from .._tensors.tensor import convert_to_tensor
from ..errors import need_callable
from .staging import is_staged

__all__ = ["numpy_function", "py_function", "python_node"]


def _shaped(result: Any, Tout: Any, of_numpy: bool) -> Any:
    if not nesting.is_nested(Tout) and not isinstance(Tout, (list, tuple)):
        return _one(result, Tout, of_numpy)
    wanted = list(Tout)
    values = [] if result is None else [result]
    if isinstance(result, (list, tuple)):
        values = list(result)
    if len(values) != len(wanted):
        raise ValueError(
            f"the Python function returned {len(values)} values, expected {len(wanted)} (Tout)"
        )
    return [_one(value, dtype, of_numpy) for value, dtype in zip(values, wanted, strict=True)]


def _one(value: Any, dtype: Any, of_numpy: bool) -> Any:
    wanted = as_dtype(getattr(dtype, "dtype", dtype))
    if of_numpy and wanted.name != "string":
        value = np.asarray(value)
        return convert_to_tensor(value)
    return convert_to_tensor(value, wanted)


class _Code:
    """A user's function as a node of a graph calls it."""

    def __init__(self, func: Callable[..., Any], Tout: Any, of_numpy: bool) -> None:
        self.func, self.Tout, self.of_numpy = func, Tout, of_numpy
        self.single = not isinstance(Tout, (list, tuple))

    def results(self, inputs: list[Any]) -> list[Any]:
        """What the function gives, as a list of tensors."""
        args = [t.numpy() for t in inputs] if self.of_numpy else inputs
        result = _shaped(self.func(*args), self.Tout, self.of_numpy)
        return [result] if self.single else list(result)

    def forward(self, inputs: list[Any], orders: int) -> tuple[list[Any], Any]:
        """The results, and what so many orders of gradients need; None where none was asked for."""
        if not orders:
            return self.results(inputs), None
        sources = [t for t in inputs if _has_gradient(t)]
        # Each may be asked by several rows of a jacobian, and is seen by those around it only.
        tapes = [_holdfast.TapeBase(True, False, sees_itself=False) for _ in range(orders)]
        with _recording(tapes, sources):
            results = self.results(inputs)
        return results, (tapes, sources, results)

    def backward(self, recorded: Any, arrived: list[Any]) -> tuple[list[Any], Any]:
        """What leaves for the sources, from what arrived; and the record for the next order."""
        (*around, tape), sources, results = recorded
        pairs = [
            (result, dy)
            for result, dy in zip(results, arrived, strict=True)
            if _has_gradient(result)
        ]
        upstream = [dy for _, dy in pairs]
        with _recording(around, upstream):
            found = [
                dense(g)
                for g in tape._gradient([result for result, _ in pairs], sources, upstream, True)
            ]
        return found, (around, [*upstream, *sources], found) if around else None


def _has_gradient(tensor: Any) -> bool:
    return bool(tensor.dtype.is_floating or tensor.dtype.is_complex)


@contextmanager
def _recording(tapes: list[_holdfast.TapeBase], watched: list[Any]) -> Iterator[None]:
    """A context in which these tapes record too, the first around the others."""
    with contextlib.ExitStack() as stack:
        for tape in tapes:
            tape._enter()
            stack.callback(tape._leave)
            for tensor in watched:
                tape._watch(tensor)
        yield


def _call(op: str, code: _Code, inp: Any, gradient: bool, node: str | None = None) -> Any:
    need_callable(code.func, op)
    args = [convert_to_tensor(value) for value in (() if inp is None else inp)]
    if not is_staged(args):
        results = code.results(args)
        return results[0] if code.single else results
    wanted = [code.Tout] if code.single else list(code.Tout)
    dtypes = [as_dtype(getattr(t, "dtype", t)) for t in wanted]
    shapes = [_dims(t) for t in wanted]
    name = getattr(code.func, "__name__", type(code.func).__name__)
    backward = code.backward if gradient else None
    results = named(
        node,
        lambda: _holdfast.call_python(op, name, code.forward, backward, args, dtypes, shapes),
    )
    if not results and (operation := newest(args)) is not None:
        return operation  # which can be run, though it gives nothing
    return results[0] if code.single else results


def python_node(func: Callable[..., Any], inp: Any, Tout: Any, name: str | None = None) -> Any:
    """What a list of tensors that Python code gives is, now or in each run; no gradient passes."""
    code = _Code(func, Tout, of_numpy=False)
    found = _call("EagerPyFunc", code, inp, gradient=False, node=name)
    return None if isinstance(found, list) and not found else found


def _dims(wanted: Any) -> Any:
    if not isinstance(wanted, TensorSpec) or wanted.shape.rank is None:
        return None
    return [-1 if size is None else size for size in wanted.shape.as_list()]


def _decorated(func: Callable[..., Any], call: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    """`func` as a function of tensors that runs as Python, whoever calls it."""

    @functools.wraps(func)
    def wrapper(*args: Any) -> Any:
        return call(list(args))

    return wrapper


def py_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    name: str | None = None,
) -> Any:
    """Calls `func` with the tensors `inp`; gradients pass through what it computes.

    In a traced function it is called each time that runs, and its results have no known shape: say
    it with `set_shape`.
    """
    if func is None:
        if Tout is None:
            raise TypeError("py_function needs `func`, or as a decorator `Tout`")
        return lambda f: _decorated(f, lambda args: py_function(f, args, Tout, name))
    return _call("EagerPyFunc", _Code(func, Tout, of_numpy=False), inp, gradient=True, node=name)


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Any = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls `func` with `inp` as NumPy arrays; no gradient passes.

    In a traced function it is called each time that runs; one that is not `stateful` only where its
    results are used.
    """
    if func is None:
        if Tout is None:
            raise TypeError("numpy_function needs `func`, or as a decorator `Tout`")
        return lambda f: _decorated(f, lambda args: numpy_function(f, args, Tout, stateful, name))
    op = "PyFunc" if stateful else "PyFuncStateless"
    found = _call(op, _Code(func, Tout, of_numpy=True), inp, gradient=False, node=name)
    return None if isinstance(found, list) and not found else found
