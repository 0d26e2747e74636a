"""Branches and loops over tensors: at once on values, one op of the graph inside a trace."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from .. import _holdfast
from .._graphs.eager import control_dependencies, done
from .._graphs.name_scope import named_ops
from .._graphs.operation import Operation
from .._messages.user_code import is_user_class
from .._structures import nesting
from .._tensors import registry
from .._tensors.composite import after_iteration, each_time, either, facts_of, invariants_of
from .._tensors.dtypes import bool as bool_dtype
from .._tensors.dtypes import int32
from .._tensors.shape import TensorShape
from .._tensors.symbols import is_symbol
from .._tracing.converter import converter
from .._tracing.journal import Growth, Journal, journal
from ..errors import fail
from .checks import Assert

__all__ = [
    "case",
    "cond",
    "repeatable",
    "stage_cond",
    "stage_while",
    "switch_case",
    "while_loop",
    "without_gradient",
]


def name_of(function: Callable[..., Any], otherwise: str) -> str:
    """What messages call a branch or a body: the user's own name for it."""
    while isinstance(function, functools.partial):
        function = function.func
    name, kind = getattr(function, "__name__", ""), type(function)
    if name == "<lambda>":  # two sides may both be one
        return otherwise
    return name or (kind.__name__ if is_user_class(kind) else otherwise)


def stage_cond(
    pred: Any,
    true_fn: Callable[[], Sequence[Any]],
    false_fn: Callable[[], Sequence[Any]],
    names: tuple[str, str] = ("true branch", "false branch"),
) -> list[Any]:
    """Flat results of one of two functions, each of which gives a list of tensors."""
    return _holdfast.cond(pred, true_fn, false_fn, *names)


def stage_while(
    condition: Callable[..., Any],
    body: Callable[..., Sequence[Any]],
    variables: Sequence[Any],
    maximum_iterations: int | None = None,
    shape_invariants: Sequence[Any] | None = None,
    names: tuple[str, str] = ("condition", "body"),
) -> list[Any]:
    """Flat variables after a loop over flat variables."""
    return _holdfast.while_loop(
        lambda *v: [condition(*v)],
        body,
        list(variables),
        maximum_iterations,
        None
        if shape_invariants is None
        else [None if s is None else TensorShape(s) for s in shape_invariants],
        *names,
    )


def to_tensors(structure: Any) -> list[Any]:
    """The leaves of a structure as tensors."""
    return [
        leaf if leaf is None else _holdfast.convert(leaf) for leaf in nesting.flatten(structure)
    ]


def structure_of(structure: Any) -> Any:
    """The structure without its leaves."""
    return nesting.map_structure(lambda _: None, structure)


def _named_in(graph: Any) -> set[str]:
    return set() if graph._store is None else set(graph._store.variables)


def repeatable(block: Callable[..., Any]) -> Callable[..., Any]:
    """A block that may be written down several times before it settles.

    Variables that it makes by name are made the first time, and found by the others.
    """
    made: set[str] = set()

    def run(*args: Any) -> Any:
        graph = _holdfast.root_graph()
        if graph is None:
            return block(*args)
        before, around = _named_in(graph), graph._made_before
        graph._made_before = around | made
        try:
            return block(*args)
        finally:
            graph._made_before = around
            made.update(_named_in(graph) - before)

    run.__name__ = name_of(block, "block")
    return run


class _Shaped:
    """Runs a function for its flat tensors, and remembers the structure they came in."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._function, self._name = repeatable(function), name
        self.structure: Any = None

    def __call__(self, *args: Any) -> list[Any]:
        result = nesting.map_structure(_as_ran, self._function(*args))
        self.structure = structure_of(result)
        return to_tensors(result)


def _as_ran(leaf: Any) -> Any:
    """A result of a branch; an operation has run when the branch has."""
    return done([leaf]) if isinstance(leaf, Operation) else leaf


class _Stored(Exception):
    """A branch or a body changed Python objects."""


class _LessKnown(Exception):
    """An iteration leaves less known of its composites than it began with."""


def _unless_stored(block: Callable[..., Any]) -> Callable[..., Any]:
    """A block that raises where it changes objects, which then are as they were."""
    if journal() is None:
        return block

    def run(*args: Any) -> Any:
        inner, outer = Journal(), journal()
        try:
            with inner:
                result = block(*args)
        except _LessKnown:
            inner.undo()
            raise
        local = [each for each in inner.changes if isinstance(each, Growth) and not each.outlives]
        if inner.changes and not local:
            inner.undo()
            raise _Stored
        if outer is not None:
            outer.take(inner)  # a list of the trace itself: who reads it learns where it was made
        return result

    return run


def _pack(structure: Any, flat: Sequence[Any]) -> Any:
    return nesting.pack_sequence_as(structure, list(flat))


@named_ops
def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """What `true_fn()` gives if `pred` holds, else what `false_fn()` gives."""
    for argument, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if not callable(function):
            raise TypeError(f"'{argument}' must be callable, got {type(function).__name__}")
    if not is_symbol(pred):
        return true_fn() if bool(pred) else false_fn()  # type: ignore[misc]
    first, second = _Shaped(true_fn, "true_fn"), _Shaped(false_fn, "false_fn")  # type: ignore[arg-type]
    names = (name_of(true_fn, "true_fn"), name_of(false_fn, "false_fn"))  # type: ignore[arg-type]
    try:
        flat = stage_cond(pred, _unless_stored(first), _unless_stored(second), names)
    except _Stored:
        return converter().cond(pred, true_fn, false_fn, names)  # type: ignore[arg-type]
    nesting.assert_same_structure(first.structure, second.structure)
    return _pack(either(second.structure, first.structure), flat)


@named_ops
def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """What the function beside the first true predicate gives, else `default()`."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    if not pairs:
        raise ValueError("`pred_fn_pairs` is empty")
    checked = [_at_most_one([pred for pred, _ in pairs])] if exclusive else []
    if default is None:
        *pairs, (last, function) = pairs
        default = _Certain(last, function)
    result = default
    for pred, function in reversed(pairs):
        result = _Choice(pred, function, result)
    with control_dependencies(checked):
        return result()


class _Certain:
    """The last function of a case without a default: its predicate has to hold."""

    def __init__(self, pred: Any, then: Callable[[], Any]) -> None:
        self._pred, self._then = pred, then
        self.__name__ = name_of(then, "case")

    def __call__(self) -> Any:
        checked = Assert(
            self._pred, ["case: none of the predicates holds, and no default is given"]
        )
        with control_dependencies([checked]):
            return self._then()


def _at_most_one(predicates: list[Any]) -> Any:
    """Stops where several predicates hold; in a graph by hand, the operation that does."""
    found = [_holdfast.convert(each, bool_dtype) for each in predicates]
    count = registry.function("reduce_sum")(
        registry.function("cast")(registry.function("stack")(found), int32)
    )
    few = registry.function("less_equal")(count, 1)
    return Assert(few, ["case: more than one of the exclusive predicates holds", count])


class _Choice:
    """One step of a case, as a function."""

    def __init__(self, pred: Any, then: Callable[[], Any], otherwise: Callable[[], Any]) -> None:
        self._pred, self._then, self._otherwise = pred, then, otherwise
        self.__name__ = "case"

    def __call__(self) -> Any:
        return cond(self._pred, self._then, self._otherwise)


@named_ops
def switch_case(
    branch_index: Any,
    branch_fns: Any,
    default: Callable[[], Any] | None = None,
    name: str = "switch_case",
) -> Any:
    """What the function with that number gives; `default` or the last one for any other."""
    functions = _numbered(branch_fns)
    if not isinstance(branch_index, (int, _holdfast.Tensor, _holdfast.VariableBase)):
        raise TypeError(
            f"`branch_index` is of type {type(branch_index).__name__}, expected an integer tensor"
        )
    index = _holdfast.convert(branch_index)
    if default is None:
        *functions, (_, default) = functions
    equal = registry.function("equal")  # `==` of a graph's tensors may mean being one object
    result: Callable[[], Any] = default
    for number, branch in reversed(functions):
        result = _Choice(equal(index, number), branch, result)
    return result()


def _numbered(branch_fns: Any) -> list[tuple[int, Callable[[], Any]]]:
    """The functions of a switch with their numbers, which count from 0 without a gap."""
    if not isinstance(branch_fns, (list, tuple, dict)) or not branch_fns:
        fail(
            "E1104",
            f"`branch_fns` is {branch_fns!r}, expected functions in a list, or by their numbers",
            op="switch_case",
        )
    pairs: list[Any] = list(branch_fns.items() if isinstance(branch_fns, dict) else branch_fns)
    if all(callable(each) for each in pairs):
        pairs = list(enumerate(pairs))
    for pair in pairs:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not callable(pair[1]):
            fail(
                "E1104",
                f"`branch_fns` holds {pair!r}, expected a function or a number with one",
                op="switch_case",
            )
        if not isinstance(pair[0], int):
            fail(
                "E1104",
                f"a number of a branch is {pair[0]!r}, expected a Python `int`",
                op="switch_case",
            )
    pairs.sort(key=lambda pair: pair[0])
    numbers = [number for number, _ in pairs]
    if numbers != list(range(len(pairs))):
        raise ValueError(f"the numbers of the branches are {numbers}, expected 0, 1, 2 and so on")
    return pairs


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    maximum_iterations: Any = None,
    name: str | None = None,
) -> Any:
    """Runs `body` on the variables while `cond` holds of them; gives what they are at the end.

    `parallel_iterations` and `swap_memory` are hints that change no result, and nothing here.
    Without `back_prop`, gradients end at the results.
    """
    if not callable(cond) or not callable(body):
        raise TypeError("'cond' and 'body' must be callable")
    if not back_prop:
        hints = (shape_invariants, parallel_iterations, True, swap_memory, maximum_iterations)
        return without_gradient(while_loop(cond, body, loop_vars, *hints, name))
    plain_tuple = isinstance(loop_vars, tuple) and not hasattr(loop_vars, "_fields")
    loop_vars = list(loop_vars) if plain_tuple else loop_vars
    structure = after = structure_of(loop_vars)
    start = to_tensors(loop_vars)
    if maximum_iterations is not None and isinstance(maximum_iterations, _holdfast.Tensor):
        if is_symbol(maximum_iterations):
            found = _bounded(cond, body, loop_vars, maximum_iterations)
            return tuple(found) if plain_tuple else found
        maximum_iterations = int(maximum_iterations)
    invariants = None
    if shape_invariants is not None:
        invariants = invariants_of(loop_vars, shape_invariants)

    repeated_cond, repeated_body = repeatable(cond), repeatable(body)

    def test(*flat: Any) -> Any:
        return _holdfast.convert(_call(repeated_cond, _pack(structure, flat)), bool_dtype)

    def step(*flat: Any) -> list[Any]:
        nonlocal structure, after
        result = _call(repeated_body, _pack(structure, flat))
        if len(start) == 1 and not nesting.is_nested(result):
            result = [result]
        if isinstance(result, tuple) and not hasattr(result, "_fields"):
            result = list(result)
        out = to_tensors(result)
        if len(out) != len(start):
            fail("E1104", f"the body of a loop over {len(start)} tensors gave {len(out)}")
        after = structure_of(result)  # an array knows more of its elements once one is written
        staged = any(is_symbol(each) for each in flat)
        began, structure = structure, after_iteration(structure, after, same=staged)
        if staged:
            if facts_of(structure) != facts_of(began):
                raise _LessKnown
            after = after_iteration(after, structure, same=False)
        return out

    names = (name_of(cond, "cond"), name_of(body, "body"))

    def attempt() -> list[Any]:
        nonlocal structure
        try:
            blocks = _unless_stored(test), _unless_stored(step)
            return stage_while(*blocks, start, maximum_iterations, invariants, names)
        except _LessKnown:  # which ends: there are less facts each time
            return attempt()
        except _Stored:
            structure = each_time(structure)
            return list(converter().while_loop(test, step, start, maximum_iterations))

    final = attempt()
    packed = _pack(after, final)
    return tuple(packed) if plain_tuple else packed


def without_gradient(structure: Any) -> Any:
    """What loops without `back_prop` give: gradients end there."""

    def end(leaf: Any) -> Any:
        flows = isinstance(leaf, _holdfast.Tensor) and (
            leaf.dtype.is_floating or leaf.dtype.is_complex
        )
        return registry.function("stop_gradient")(leaf) if flows else leaf

    return nesting.map_structure(end, structure)


def _bounded(cond: Any, body: Any, loop_vars: Any, most: Any) -> Any:
    """A loop whose bound is itself a symbol: a counter beside the variables."""
    both = registry.function("logical_and")
    zero = _holdfast.convert(0, most.dtype)
    result = while_loop(
        lambda n, v: both(n < most, _call(cond, v)),
        lambda n, v: (n + 1, _as_list(_call(body, v), v)),
        [zero, loop_vars],
    )
    return result[1]


def _as_list(result: Any, like: Any) -> Any:
    if isinstance(like, list) and not isinstance(result, (list, tuple)):
        return [result]
    return list(result) if isinstance(like, list) else result


def _call(function: Callable[..., Any], variables: Any) -> Any:
    if isinstance(variables, (list, tuple)) and not hasattr(variables, "_fields"):
        return function(*variables)
    return function(variables)
