"""Functions with gradients of their own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from .. import _holdfast
from .._structures import nesting
from .._tensors import registry
from .._tensors.tensor import Tensor, convert_to_tensor
from .._variables.variable import Variable
from ..errors import fail
from .tape import GradientTape, dense, suspended

__all__ = ["custom_gradient", "grad_pass_through", "recompute_grad"]


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    try:
        parameters = inspect.signature(grad_fn).parameters
    except (TypeError, ValueError):
        return False
    return "variables" in parameters or any(
        p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()
    )


def _input_tensor(leaf: Any) -> Any:
    """What a tape knows an argument by: a tensor, or a Variable's handle."""
    if isinstance(leaf, Tensor):
        return leaf
    return leaf._handle if isinstance(leaf, Variable) else None


def _name_of(f: Callable[..., Any]) -> str:
    return getattr(f, "__name__", "custom_gradient")


def _run(f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    watcher = GradientTape()
    with suspended() as tapes, watcher:
        result, grad_fn = f(*args, **kwargs)
        # Outputs need identities of their own: `f` may hand an argument through.
        identity = registry.function("identity")
        flat_result = [identity(convert_to_tensor(y)) for y in nesting.flatten(result)]
    leaves = nesting.flatten(args)
    given = [leaf for leaf in leaves + nesting.flatten(kwargs) if isinstance(leaf, Variable)]
    variables = [v for v in watcher.watched_variables() if all(v is not other for other in given)]
    if variables and not _takes_variables(grad_fn):
        names = ", ".join(f"`{variable.name.removesuffix(':0')}`" for variable in variables)
        fail(
            "E1104",
            f"the gradient of `{_name_of(f)}` takes no `variables`, and `{_name_of(f)}` reads some",
            f"it is asked for the gradients of what is read without being given: {names}",
            fix="write it as `def grad(*upstream, variables)`, and return a pair: the gradients "
            "of the arguments, and those of the variables",
        )
    for tape in tapes:  # they were not recording while these were read
        if tape._watch_accessed:
            for variable in (*variables, *given):
                if variable.trainable:
                    tape._watch(variable)
    inputs = [(i, t) for i, leaf in enumerate(leaves) if (t := _input_tensor(leaf)) is not None]

    def backward(upstream: Sequence[Any]) -> list[Any]:
        zeros_like = registry.function("zeros_like")
        dy = [zeros_like(y) if g is None else g for g, y in zip(upstream, flat_result, strict=True)]
        found: Any
        if variables:
            found, for_variables = grad_fn(*dy, variables=variables)
            for_variables = nesting.flatten(for_variables, whole=True)
            if len(for_variables) != len(variables):
                fail(
                    "E1104",
                    f"the gradient of `{_name_of(f)}` gave {len(for_variables)} gradients for "
                    f"{len(variables)} variables",
                    "the second of its two results has one gradient for each of `variables`",
                )
        else:
            found, for_variables = grad_fn(*dy), []
        flat = list(found) if isinstance(found, (list, tuple)) else [found]
        flat = [leaf for part in flat for leaf in nesting.flatten(part, whole=True)]
        if len(flat) != len(leaves):
            fail(
                "E1104",
                f"the gradient of `{_name_of(f)}` gave {len(flat)} gradients for {len(leaves)} "
                f"argument{'' if len(leaves) == 1 else 's'}",
                "it gives one for each argument, None where there is none",
            )
        return [dense(flat[i]) for i, _ in inputs] + [dense(g) for g in for_variables]

    _holdfast.record_custom(
        _name_of(f),
        [t for _, t in inputs] + [v._handle for v in variables],
        flat_result,
        backward,
    )
    return nesting.pack_sequence_as(result, flat_result)


class _WithGradient:
    """A function that says its own gradient; also as a method."""

    def __init__(self, f: Callable[..., Any]) -> None:
        functools.update_wrapper(self, f)
        self._f = f

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        return _run(self._f, args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return _WithGradient(self._f.__get__(instance, owner))


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorates a function that returns its result and the function for its gradient.

    The gradient function takes one tensor for each result, returns one for each argument, and if
    `f` reads variables takes them as `variables` and returns their gradients as a second list.
    """
    if f is None:
        return custom_gradient
    return _WithGradient(f)


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, which forgets what it computed and computes it again when its gradient is asked for."""

    @custom_gradient
    def forgetting(*args: Any, **kwargs: Any) -> Any:
        def grad(*upstream: Any, variables: Any = None) -> Any:
            identity = registry.function("identity")
            copies = nesting.map_structure(
                lambda leaf: identity(leaf) if isinstance(leaf, Tensor) else leaf, args
            )
            leaves = nesting.flatten(copies)
            tensors = [leaf for leaf in leaves if isinstance(leaf, (Tensor, Variable))]
            with GradientTape() as tape:
                tape.watch(tensors)
                tape.watch(variables or [])
                result = f(*copies, **kwargs)
            flat = nesting.flatten(result)
            targets = [convert_to_tensor(y) for y in flat]
            sources = [*tensors, *(variables or [])]
            found = tape._gradient(targets, sources, list(upstream), False)
            by_leaf = iter([dense(g) for g in found])
            grads = [
                next(by_leaf) if isinstance(leaf, (Tensor, Variable)) else None for leaf in leaves
            ]
            return (grads, list(by_leaf)) if variables else grads

        return f(*args, **kwargs), grad

    return functools.update_wrapper(forgetting, f)


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, whose gradient is that of the identity."""

    @custom_gradient
    def passing(*args: Any, **kwargs: Any) -> Any:
        def grad(*upstream: Any, variables: Any = None) -> Any:
            return upstream if variables is None else (upstream, [None] * len(variables))

        return f(*args, **kwargs), grad

    return functools.update_wrapper(passing, f)
