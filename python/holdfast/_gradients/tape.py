"""`tf.GradientTape`: recording what was computed, and its gradients."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from .. import _holdfast
from .._messages.contexts import contextmanager
from .._messages.diagnostics import Diagnostic, Mark
from .._messages.gradients import explained, refuse_inside, refuse_rebound, refuse_second, warn_none
from .._tensors.composite import differentiated, regrouped
from .._tensors.indexed_slices import IndexedSlices
from .._tensors.tensor import Tensor, UnconnectedGradients, convert_to_tensor
from .._variables.variable import Variable
from ..errors import fail

__all__ = ["GradientTape", "dense", "recording_tapes", "suspended"]


def recording_tapes() -> list[GradientTape]:
    """The tapes of this thread that record now, the outermost first."""
    return [tape for tape in _holdfast.open_tapes() if tape.recording]


@contextmanager
def suspended() -> Iterator[list[GradientTape]]:
    """A context in which no tape that is open now records."""
    tapes = recording_tapes()
    for tape in tapes:
        tape.stop()
    try:
        yield tapes
    finally:
        for tape in tapes:
            tape.start()


def wants_zero(unconnected_gradients: Any) -> bool:
    """Whether missing gradients are to be zeros."""
    try:
        return UnconnectedGradients(unconnected_gradients) is UnconnectedGradients.ZERO
    except ValueError:
        fail(
            "E1103",
            f"`unconnected_gradients` is '{unconnected_gradients}', expected 'none' or 'zero'",
        )


class GradientTape(_holdfast.TapeBase):
    """Records the ops that run in its `with` block, so that gradients can be asked for.

    Trainable variables are watched when they are read; tensors when `watch` says so.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        super().__init__(persistent, watch_accessed_variables)

    @property
    def _opened(self) -> Mark | None:
        """What made it."""
        return None if self._opened_at is None else Mark(*self._opened_at)

    @functools.cached_property
    def _explanations(self) -> dict[tuple[int, int], dict[str, Any]]:
        """What was said of gradients that are None, by target and source."""
        return {}

    def __enter__(self) -> Self:
        if self.recording:
            raise ValueError("this tape is open already, and still recording: open another one")
        self._enter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leave()

    def reset(self) -> None:
        """Forgets everything recorded, as if the tape had just been opened."""
        super().reset()
        self._explanations.clear()

    def watch(self, tensor: Any) -> None:
        """Follows these tensors and variables, given alone or nested."""
        for leaf in differentiated(tensor):
            if not isinstance(leaf, (Tensor, _holdfast.VariableBase)):
                fail(
                    "E1104",
                    f"what is to be watched is of type {type(leaf).__name__}, expected a tensor",
                    "a tape follows what is computed from tensors",
                    fix="make it a tensor first, with `tf.constant`",
                )
            self._watch(leaf)

    def watched_variables(self) -> tuple[Variable, ...]:
        """The variables that were read while recording, in the order in which they were made."""
        return tuple(self._watched_variables())

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """A context in which nothing is recorded."""
        if not self.recording:
            raise RuntimeError("`stop_recording` of a tape that is not recording: open it first")
        self.stop()
        try:
            yield
        finally:
            self.start()

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
    ) -> Any:
        """d(sum of target)/d(each source), nested as `sources` are; None where there is none."""
        if output_gradients is None and unconnected_gradients is UnconnectedGradients.NONE:
            found = self._plain_gradient(target, sources, self._settled)
            if found is not NotImplemented:
                return found
        zero = wants_zero(unconnected_gradients)
        flat = differentiated(sources)
        targets = [self._target(t, flat) for t in differentiated(target)]
        for source in flat:
            if not isinstance(source, (Tensor, _holdfast.VariableBase)):
                fail(
                    "E1104",
                    f"a gradient's source is a {type(source).__name__}, not a tensor or a Variable",
                    "a derivative is taken with respect to something that was computed with",
                    op="GradientTape.gradient",
                )
        if not flat:
            return sources
        upstream = _upstream(output_gradients, targets)
        self._need_record()
        found = self._gradient(targets, flat, upstream, zero)
        return self._settle(targets, flat, sources, found)

    def _settled(self, target: Any, sources: Any, found: list[Any]) -> Any:
        return self._settle([target], differentiated(sources), sources, found)

    def _settle(self, targets: list[Any], flat: list[Any], sources: Any, found: list[Any]) -> Any:
        """The gradients, nested; says what is to be said of those that are None."""
        gradients = [IndexedSlices(*g) if isinstance(g, tuple) else g for g in found]
        lost = [x for x, g in zip(flat, gradients, strict=True) if g is None]
        if lost and targets:
            refuse_rebound(self, targets[0], lost)
            refuse_inside(targets, lost)
            if len(lost) == len(flat):
                said = warn_none(self, targets, flat)
                self._explanations[targets[0]._id, _key(flat[0])] = said
        return regrouped(sources, gradients)

    def _target(self, target: Any, sources: list[Any]) -> Any:
        """A target as a tensor. What is a source itself is looked at so that the tape sees it."""
        if not any(target is source for source in sources):
            return _differentiable(target)
        paused = not self.recording
        if paused:
            self.start()
        try:
            self._watch(target)
            return _differentiable(target)
        finally:
            if paused:
                self.stop()

    def _need_record(self) -> None:
        """Refuses a second use of a tape that is not persistent."""
        if self._spent:
            refuse_second(self)

    def explain(self, target: Any, source: Any) -> Diagnostic:
        """Why the gradient of `target` with respect to `source` is what it is, as data."""
        target = _differentiable(target)
        said = self._explanations.get((target._id, _key(source)))
        if said is None:
            said = explained(self, target, source)
        return Diagnostic.from_dict(said, _holdfast.render(said))

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """d(each element of target)/d(each source): the target's shape followed by the source's.

        Row after row, on this thread: how rows are spread over workers does not change the result,
        so `parallel_iterations` and `experimental_use_pfor` have nothing to choose from.
        """
        target = self._target(target, differentiated(sources))
        zero = wants_zero(unconnected_gradients)
        self._need_record()
        flat = differentiated(sources)
        return self._settle([target], flat, sources, self._jacobian(target, flat, zero))

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The jacobian of each example: row `b` of `target` depends on row `b` of `source` only.

        One backward pass for each element of an example gives all examples at once.
        """
        target = self._target(target, [source])
        target.shape.with_rank_at_least(2)
        source.shape.with_rank_at_least(2)
        if source.shape[0] != target.shape[0]:
            fail(
                "E1102",
                f"`batch_jacobian` of {target.shape} by {source.shape}, expected as many rows",
                "row `b` of the target is taken to depend on row `b` of the source alone",
                fix="for other shapes use `jacobian`",
            )
        zero = wants_zero(unconnected_gradients)
        self._need_record()
        return self._batch_jacobian(target, source, zero)


def _key(source: Any) -> int:
    number: int = source._id if isinstance(source, Tensor) else source._handle._id
    return number


def dense(gradient: Any) -> Any:
    """A gradient as one tensor, None if there is none."""
    if gradient is None or isinstance(gradient, Tensor):
        return gradient
    return convert_to_tensor(IndexedSlices(*gradient) if isinstance(gradient, tuple) else gradient)


def _differentiable(target: Any) -> Any:
    if isinstance(target, Variable):
        return target.read()
    if isinstance(target, Tensor):
        return target
    return convert_to_tensor(target)


def _upstream(output_gradients: Any, targets: list[Any]) -> list[Any]:
    if output_gradients is None:
        return []
    if len(targets) == 1 and not isinstance(output_gradients, (list, tuple, dict)):
        flat = differentiated([output_gradients])
    else:
        flat = differentiated(output_gradients)
        if len(flat) != len(targets) and len(targets) == 1:
            flat = [output_gradients]
    if len(flat) != len(targets):
        raise ValueError(
            f"output_gradients has {len(flat)} tensors for {len(targets)} targets, expected one "
            "each"
        )
    return [
        None if g is None else convert_to_tensor(g, t.dtype) if not isinstance(g, Tensor) else g
        for g, t in zip(flat, targets, strict=True)
    ]
