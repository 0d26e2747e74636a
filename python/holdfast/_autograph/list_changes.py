"""What else a list of the graph does: it is a stack and a queue, and it can be put in order.

The end of a list is cheap. What happens before its end makes one tensor of the elements, and a
list of that again.
"""

from __future__ import annotations

from typing import Any, NoReturn

from .. import _holdfast
from .._flow.checks import Assert
from .._tensors import registry
from .._tensors.dtypes import int32
from .._tensors.symbols import is_symbol
from .._tracing.conditional import refuse_stale
from .._tracing.journal import put
from .._tracing.locations import AttributeLocation
from ..errors import unsupported
from .iterables import Staged
from .state import as_tensor

__all__ = ["Changing"]


class Changing(Staged):
    """Methods of lists that change more than the end, or ask for a place. For `StagedList`."""

    _list: Any
    _kind: type[Any]
    _like: Any
    _outside: bool

    def _dims(self) -> Any:
        raise NotImplementedError

    def _element(self, value: Any) -> Any:
        raise NotImplementedError

    def stack(self) -> Any:
        raise NotImplementedError

    def _another(self) -> Any:
        raise NotImplementedError

    def _leave(self, elements: Any) -> None:
        put(AttributeLocation(self, "_list"), elements)

    def _need_own(self, method: str) -> None:
        """A list from outside is only appended to: when the graph has run, it is extended."""
        kind = self._kind.__name__
        if self._kind is tuple:
            raise AttributeError(f"'tuple' object has no attribute {method!r}")
        if self._outside:
            unsupported(
                f"`{method}` of a {kind} from outside that grows in a staged loop",
                f"what the loop appends is added to the {kind} when the graph has run; what was "
                "in it before stays.",
                fix=f"work on one of the function's own: `values = {kind}(values)` before the loop",
            )
        refuse_stale(self)

    def _rest(self, rows: Any, at: Any) -> Any:
        """All rows but one."""
        return registry.function("concat")([rows[:at], rows[at + 1 :]], 0)

    def _at(self, index: Any) -> Any:
        """An index from the begin."""
        if isinstance(index, int):
            return _number(self.length() + index if index < 0 else index)
        tensor = _number(index)
        return registry.function("where")(tensor < 0, tensor + self.length(), tensor)

    def pop(self, index: Any = -1) -> Any:
        """Takes an element out, the last one unless `index` says another."""
        self._need_own("pop")
        if not is_symbol(index) and index == -1:
            rest, last = registry.raw_op(
                "TensorListPopBack",
                input_handle=self._list,
                element_dtype=self._like.dtype,
                element_shape=self._dims(),
            )
            self._leave(rest)
            return last
        at = self._at(index)
        taken = _holdfast.list_get(self._list, at, self._like.dtype, self._dims())
        self._leave(_holdfast.list_unstack(self._rest(self.stack(), at)))
        return taken

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            self._cannot_slice("[...] =")
        self._need_own("[...] =")
        value = self._element(value)
        self._widen(value)
        self._leave(_holdfast.list_set(self._list, self._at(index), value, False))

    def __delitem__(self, index: Any) -> None:
        if isinstance(index, slice):
            self._cannot_slice("del")
        self.pop(index)

    def _cannot_slice(self, operator: str) -> NoReturn:
        unsupported(
            f"`{operator}` of a slice of a {self._kind.__name__} that grows in staged code",
            "in the graph it is a list of tensors, which has no slices to change.",
            fix="put the parts together: `values = values[:i] + new + values[j:]`",
        )

    def _widen(self, value: Any) -> None:
        raise NotImplementedError

    def insert(self, index: Any, value: Any) -> None:
        """Puts an element before another one."""
        self._need_own("insert")
        value = self._element(value)
        self._widen(value)
        count, rows = _number(self.length()), self.stack()
        at = registry.function("clip_by_value")(self._at(index), 0, count)
        parts = [rows[:at], registry.function("expand_dims")(value, 0), rows[at:]]
        self._leave(_holdfast.list_unstack(registry.function("concat")(parts, 0)))

    def clear(self) -> None:
        """Takes all elements out."""
        self._need_own("clear")
        none = _number(0)
        self._leave(_holdfast.list_reserve(self._like.dtype, self._dims(), none))

    def reverse(self) -> None:
        """Turns the elements round."""
        self._need_own("reverse")
        self._leave(_holdfast.list_unstack(registry.function("reverse")(self.stack(), [0])))

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        """Puts the elements in order."""
        self._need_own("sort")
        if key is not None:
            unsupported(
                f"`{self._kind.__name__}.sort` with a key of a list that grows in staged code",
                "in the graph it is a list of tensors, of which all are sorted at once.",
                fix="`tf.gather(rows, tf.argsort(keys))` of the result of `tf.stack`",
            )
        self._need_scalars("sort")
        order = "DESCENDING" if reverse else "ASCENDING"
        rows = registry.function("sort")(self.stack(), direction=order)
        self._leave(_holdfast.list_unstack(rows))

    def _need_scalars(self, method: str) -> None:
        if self._like.shape.rank != 0:
            unsupported(
                f"`{self._kind.__name__}.{method}` of elements that are no scalars",
                "the list grew in staged code, and its elements have no single truth of `<` or "
                "`==`.",
                fix="compare the rows of the result of `tf.stack`",
            )

    def _same(self, value: Any, method: str) -> Any:
        self._need_scalars(method)
        return registry.function("equal")(self.stack(), self._element(value))

    def index(self, value: Any) -> Any:
        """Where a value is first; the run stops where it is not there."""
        same = registry.function("cast")(self._same(value, "index"), int32)
        Assert(registry.function("reduce_any")(same > 0), [f"{value!r} is not in the list"])
        return registry.function("cast")(registry.function("argmax")(same), int32)

    def count(self, value: Any) -> Any:
        """How often a value is there."""
        same = registry.function("cast")(self._same(value, "count"), int32)
        return registry.function("reduce_sum")(same)

    def remove(self, value: Any) -> None:
        """Takes out the first element that is equal to a value."""
        self._need_own("remove")
        self.pop(self.index(value))

    def copy(self) -> Any:
        """Another list with the same elements."""
        refuse_stale(self)
        return self._another()

    def __contains__(self, value: Any) -> bool:
        return bool(self.holds(value))

    def holds(self, value: Any) -> Any:
        """Whether a value is there, as a tensor."""
        return registry.function("reduce_any")(self._same(value, "__contains__"))


def _number(value: Any) -> Any:
    """A number of an element, as lists of the graph take it."""
    tensor = as_tensor(value, int32)
    return tensor if tensor.dtype == int32 else registry.function("cast")(tensor, int32)
