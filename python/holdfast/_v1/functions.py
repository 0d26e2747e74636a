"""Functions of `tf.compat.v1` that take other arguments than those of version 2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _holdfast, debugging
from .._flow import control, printing
from .._flow.checks import refuse_data
from .._flow.pyfunc import numpy_function
from .._gradients.symbolic import gradients
from .._graphs.eager import control_dependencies
from .._graphs.name_scope import named_ops
from .._tensors import registry
from .._tensors.dtypes import as_dtype, int64
from .._tensors.indexed_slices import IndexedSlices
from .._tensors.shape import as_shape, dimension_at_index, dimension_value
from .._tensors.tensor import UnconnectedGradients, constant, convert_to_tensor
from ..errors import unsupported

__all__ = ["NAMES"]


def div(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y as Python 2 had it: of integers, rounded down."""
    a = convert_to_tensor(x)
    b = convert_to_tensor(y, a.dtype)
    path = "math.floordiv" if a.dtype.is_integer else "divide"
    return registry.function(path)(a, b, name=name)


def arg_max(input: Any, dimension: Any, output_type: Any = int64, name: str | None = None) -> Any:
    """`tf.argmax`."""
    return registry.function("argmax")(input, dimension, output_type, name=name)


def arg_min(input: Any, dimension: Any, output_type: Any = int64, name: str | None = None) -> Any:
    """`tf.argmin`."""
    return registry.function("argmin")(input, dimension, output_type, name=name)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Positions of what is true, or `x` there and `y` elsewhere; a vector chooses whole rows."""
    if x is None and y is None:
        return registry.function("where")(condition, name=name)
    if x is None or y is None:
        raise ValueError("`x` and `y` are given both or not at all.")
    return registry.function("raw_ops.Select")(condition, x, y, name=name)


def multinomial(
    logits: Any,
    num_samples: Any,
    seed: Any = None,
    name: str | None = None,
    output_dtype: Any = None,
) -> Any:
    """`tf.random.categorical`."""
    dtype = int64 if output_dtype is None else as_dtype(output_dtype)
    draw = registry.function("random.categorical")
    return draw(logits, num_samples, dtype, seed, name=name)


def stateless_multinomial(
    logits: Any,
    num_samples: Any,
    seed: Any,
    output_dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """`tf.random.stateless_categorical`."""
    draw = registry.function("random.stateless_categorical")
    return draw(logits, num_samples, seed, as_dtype(output_dtype), name=name)


def random_poisson(
    lam: Any, shape: Any, dtype: Any = "float32", seed: Any = None, name: str | None = None
) -> Any:
    """`tf.random.poisson`, whose shape comes first."""
    return registry.function("random.poisson")(shape, lam, as_dtype(dtype), seed, name=name)


def v1_constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Any:
    """`tf.constant`. Of too few elements the last is repeated; not with `verify_shape`."""
    if shape is None or isinstance(value, _holdfast.Tensor):
        return constant(value, dtype, shape, name)
    sizes = as_shape(shape)
    found = np.asarray(value)
    if verify_shape and list(found.shape) != sizes.as_list():
        raise TypeError(f"the value has the shape {found.shape}, and `shape` says {sizes}")
    missing = (sizes.num_elements() or 0) - found.size
    if missing > 0 and found.size > 1:
        dtype = constant(value, dtype).dtype
        value = np.concatenate([found.ravel(), np.repeat(found.ravel()[-1:], missing)])
    return constant(value, dtype, shape, name)


def v1_convert_to_tensor(
    value: Any,
    dtype: Any = None,
    name: str | None = None,
    preferred_dtype: Any = None,
    dtype_hint: Any = None,
) -> Any:
    """`tf.convert_to_tensor`."""
    hint = preferred_dtype if dtype_hint is None else dtype_hint
    return convert_to_tensor(value, dtype, hint, name)


def v1_cond(
    pred: Any,
    true_fn: Any = None,
    false_fn: Any = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Any = None,
    fn2: Any = None,
) -> Any:
    """`tf.cond`; one tensor in a list comes as itself, unless `strict`."""
    for new, old, names in ((true_fn, fn1, "true_fn"), (false_fn, fn2, "false_fn")):
        if new is not None and old is not None:
            raise TypeError(f"`{names}` is given twice, under its old name too")
    first = true_fn if true_fn is not None else fn1
    second = false_fn if false_fn is not None else fn2
    found = control.cond(pred, first, second, name=name)
    alone = isinstance(found, (list, tuple)) and len(found) == 1 and not strict
    return found[0] if alone else found


def v1_while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """`tf.while_loop`; of one variable its value, unless `return_same_structure`."""
    hints = (parallel_iterations, back_prop, swap_memory)
    found = control.while_loop(
        cond, body, loop_vars, shape_invariants, *hints, maximum_iterations, name
    )
    alone = isinstance(found, (list, tuple)) and len(found) == 1 and not return_same_structure
    return found[0] if alone else found


def v1_gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """`tf.gradients`; a gradient is computed where its op is, whatever the first hint says."""
    hints = (gate_gradients, aggregation_method)
    return gradients(ys, xs, grad_ys, name, *hints, stop_gradients, unconnected_gradients)


def _ranked(check: str) -> Callable[..., Any]:
    """A check of ranks, with the arguments of version 1."""
    newer = getattr(debugging, check)

    def ranked(
        x: Any,
        rank: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Any:
        refuse_data(f"compat.v1.{check}", data)
        return newer(x, rank, message, name)

    ranked.__name__, ranked.__doc__ = check, newer.__doc__
    return ranked


def v1_assert_rank_in(
    x: Any,
    ranks: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Stops unless the number of dimensions of `x` is one of `ranks`."""
    refuse_data("compat.v1.assert_rank_in", data)
    return debugging.assert_rank_in(x, ranks, message, name)


def v1_assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Stops unless tensors have shapes that fit."""
    refuse_data("compat.v1.assert_shapes", data)
    return debugging.assert_shapes(shapes, None, summarize, message, name)


def v1_assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Any:
    """Stops unless `x` and `y` are close to each other everywhere."""
    refuse_data("compat.v1.assert_near", data)
    return debugging.assert_near(x, y, rtol, atol, message, summarize, name)


def py_func(
    func: Callable[..., Any],
    inp: Any,
    Tout: Any,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """`tf.numpy_function`."""
    return numpy_function(func, inp, Tout, stateful, name)


@named_ops
def count_up_to(ref: Any, limit: int, name: str | None = None) -> Any:
    """The value of `ref`, which then goes up by one."""
    return ref.count_up_to(limit)


def verify_tensor_all_finite(
    t: Any = None, msg: Any = None, name: str | None = None, x: Any = None, message: Any = None
) -> Any:
    """`t`, checked to be free of NaN and Inf."""
    text = msg if message is None else message
    return debugging.check_numerics(t if x is None else x, text, name=name)


def _scatter(how: str) -> Callable[..., Any]:
    def scatter(
        ref: Any, indices: Any, updates: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """The value of `ref` after rows of it were changed."""
        change = getattr(ref, f"scatter_{how}")
        return change(IndexedSlices(updates, indices), use_locking, name)

    scatter.__name__ = f"scatter_{how}"
    return scatter


def _scatter_nd(how: str) -> Callable[..., Any]:
    def scatter(
        ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None
    ) -> Any:
        """The value of `ref` after parts of it were changed."""
        return getattr(ref, f"scatter_nd_{how}")(indices, updates, name)

    scatter.__name__ = f"scatter_nd_{how}"
    return scatter


def _check(name: str) -> Callable[..., Any]:
    """A check of version 2, whose arguments stand in another order."""
    check = getattr(debugging, name)
    two = name not in _OF_ONE

    def one_checked(
        x: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Any:
        refuse_data(f"compat.v1.{check.__name__}", data)
        return check(x, message=message, summarize=summarize, name=name)

    def two_checked(
        x: Any,
        y: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Any:
        refuse_data(f"compat.v1.{check.__name__}", data)
        return check(x, y, message=message, summarize=summarize, name=name)

    made = two_checked if two else one_checked
    made.__name__, made.__doc__ = name, check.__doc__
    return made


@named_ops
def batch_scatter_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None
) -> Any:
    """The value of `ref` after rows of its batches were replaced."""
    return ref.batch_scatter_update(IndexedSlices(updates, indices))


def Print(
    input_: Any,
    data: Any,
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Any:
    """`input_`; whenever it is computed, `message` and `data` are printed."""
    if first_n is not None and first_n >= 0:
        unsupported(
            "`tf.compat.v1.Print` with `first_n` is not supported",
            "how often it printed is nowhere counted",
            fix="leave `first_n` out",
        )
    parts = [part if isinstance(part, str) else convert_to_tensor(part) for part in data]
    said = printing.print(message or "", *parts, sep="", summarize=summarize or 3)
    with control_dependencies([] if said is None else [said]):
        return registry.function("identity")(input_, name=name)


_ROWS = ("add", "sub", "mul", "div", "min", "max", "update")
_OF_ONE = ("assert_negative", "assert_non_negative", "assert_non_positive", "assert_positive")
_OF_TWO = (
    *("assert_equal", "assert_none_equal", "assert_less", "assert_less_equal"),
    *("assert_greater", "assert_greater_equal"),
)
# Checks that take the same arguments in both versions.
_SAME = (
    *("assert_integer", "assert_proper_iterable", "assert_same_float_dtype", "assert_scalar"),
    *("assert_type", "is_numeric_tensor"),
)

NAMES: dict[str, Any] = {
    "div": div,
    "arg_max": arg_max,
    "arg_min": arg_min,
    "where": where,
    "multinomial": multinomial,
    "random.stateless_multinomial": stateless_multinomial,
    "random_poisson": random_poisson,
    "constant": v1_constant,
    "convert_to_tensor": v1_convert_to_tensor,
    "cond": v1_cond,
    "py_func": py_func,
    "count_up_to": count_up_to,
    "verify_tensor_all_finite": verify_tensor_all_finite,
    "check_numerics": debugging.check_numerics,
    "while_loop": v1_while_loop,
    "gradients": v1_gradients,
    "assert_rank": _ranked("assert_rank"),
    "assert_rank_at_least": _ranked("assert_rank_at_least"),
    "assert_rank_in": v1_assert_rank_in,
    "assert_shapes": v1_assert_shapes,
    "assert_near": v1_assert_near,
    **{name: getattr(debugging, name) for name in _SAME},
    "newaxis": None,
    "Print": Print,
    "batch_scatter_update": batch_scatter_update,
    "dimension_value": dimension_value,
    "dimension_at_index": dimension_at_index,
    **{f"scatter_{how}": _scatter(how) for how in _ROWS},
    **{f"scatter_nd_{how}": _scatter_nd(how) for how in ("add", "sub", "update")},
    **{name: _check(name) for name in (*_OF_ONE, *_OF_TWO)},
}
