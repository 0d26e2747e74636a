"""Stages that collect elements, or carry something from one to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._tensors.dtypes import int64
from .._tensors.shape import TensorSpec
from ..errors import fail, need_callable
from .functions import traced, traced_for
from .later import made_later
from .padding import padded_shapes_of, padding_values_of
from .parts import batched, need_tensors, unbatched
from .probing import number, on_symbols
from .structure import holds_composites, map_leaves, packed, spec_of, template_of, whole_number

__all__ = ["Collecting"]


class Collecting:
    """What `Dataset` has of them."""

    @made_later("size", "shift", "stride")
    def window(
        self: Any,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Datasets of `size` elements each, one for each tensor of an element.

        A window begins `shift` elements after the one before it, and takes each `stride`-th.
        """
        need_tensors(self, "window")
        count = whole_number(number(size), "`size`")
        by = count if shift is None else whole_number(number(shift), "`shift`")
        if by == 0 and shift is not None:
            fail("E1103", "`shift` of `window` is 0, expected 1 or more")
        made = _holdfast.data_window(
            self, count, by, whole_number(number(stride), "`stride`"), bool(drop_remainder)
        )
        return self._same(made)

    def group_by_window(
        self: Any,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: Any = None,
        window_size_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """Collects elements of one key, and gives those of what is made of each window of them.

        `reduce_func(key, window)` takes a dataset, and makes one.
        """
        need_callable(reduce_func, "Dataset.group_by_window")
        if (window_size is None) == (window_size_func is None):
            fail(
                "E1104",
                "`group_by_window` takes either `window_size` or `window_size_func`",
                fix="give one of them",
            )
        template = self._template

        def reduced(key: Any, window: Any) -> Any:
            window._template = template
            made = reduce_func(key, window)
            if not isinstance(made, _holdfast.DatasetBase):
                fail(
                    "E1104",
                    f"`reduce_func` of `group_by_window` gave {type(made).__name__}, expected a "
                    "dataset",
                    fix="make one of the window: `window.batch(...)`",
                )
            return made

        def specs(key: Any) -> tuple[Any, Any]:
            made: Any = reduced(key, _holdfast.data_promised(spec_of(self)))
            return spec_of(made), made._template

        gives, named = on_symbols(specs, TensorSpec((), int64), "group_by_window")
        key = traced(key_func, self, "group_by_window")
        size: Any
        if window_size_func is None:
            size = whole_number(number(window_size), "`window_size`")
        else:
            sizes = window_size_func
            need_callable(sizes, "Dataset.group_by_window")

            def size(key: Any) -> int:
                return whole_number(sizes(key), "what `window_size_func` gives")

        made = _holdfast.data_group_by_window(
            self, key.concrete, key.captured, key.gives, reduced, size, gives
        )
        return self._like(made, named)

    def bucket_by_sequence_length(
        self: Any,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Any,
        bucket_batch_sizes: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Any:
        """Batches of elements of similar length, padded to the longest of a batch."""
        need_tensors(self, "bucket_by_sequence_length")
        length = traced(element_length_func, self, "bucket_by_sequence_length")
        made = _holdfast.data_bucket(
            self,
            length.concrete,
            length.captured,
            length.gives,
            [whole_number(each, "`bucket_boundaries`") for each in bucket_boundaries],
            [whole_number(each, "`bucket_batch_sizes`") for each in bucket_batch_sizes],
            padded_shapes_of(self.element_spec, padded_shapes),
            padding_values_of(self.element_spec, padding_values),
            bool(pad_to_bucket_boundary),
            bool(no_padding),
            bool(drop_remainder),
        )
        return self._same(made)

    def scan(
        self: Any, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """`scan_func(state, element)` gives the next state, and what comes out."""
        state = map_leaves(_holdfast.convert, initial_state)
        known = map_leaves(lambda t: TensorSpec(t.shape, t.dtype), state)
        element = packed(self._template, spec_of(self))
        template = (tuple, [template_of(state), self._template])
        while True:
            f = traced_for(scan_func, (known, element), "scan", template)
            if not isinstance(f.gives, tuple) or len(f.gives) != 2:
                fail(
                    "E1104",
                    "the function of `scan` gives no pair",
                    f"expected the next state and an element, it gives {f.gives!r}",
                )
            wider = _wider(known, f.gives[0])
            if wider == known:
                break
            known = wider
        made = _holdfast.data_scan(self, state, f.concrete, f.captured, f.gives)
        return self._like(made, template_of(f.gives[1]))

    def unique(self: Any, name: str | None = None) -> Any:
        """The elements that did not come before."""
        return self._same(_holdfast.data_unique(self))

    def rebatch(
        self: Any, batch_size: Any, drop_remainder: bool = False, name: str | None = None
    ) -> Any:
        """Batches of another size, or of several sizes in turn."""
        if isinstance(batch_size, _holdfast.Tensor):
            batch_size = batch_size.numpy().tolist()
        many = batch_size if isinstance(batch_size, (list, tuple)) else [batch_size]
        sizes = [whole_number(each, "`batch_size`") for each in many]
        if holds_composites(self._template) and len(sizes) == 1:
            return batched(unbatched(self), sizes[0], bool(drop_remainder))
        need_tensors(self, "rebatch")
        return self._same(_holdfast.data_rebatch(self, sizes, bool(drop_remainder)))

    def ignore_errors(self: Any, log_warning: bool = False, name: str | None = None) -> Any:
        """Leaves out elements that end in an error."""
        return self._same(_holdfast.data_ignore_errors(self, bool(log_warning)))


def _wider(known: Any, given: Any) -> Any:
    """Specs that both fit; the structure and dtypes are looked at where the stage is made."""
    if isinstance(known, tuple) and isinstance(given, tuple) and len(known) == len(given):
        items = [_wider(a, b) for a, b in zip(known, given, strict=True)]
        return type(known)(*items) if hasattr(known, "_fields") else tuple(items)
    if isinstance(known, dict) and isinstance(given, dict) and known.keys() == given.keys():
        return {key: _wider(known[key], given[key]) for key in known}
    both = isinstance(known, TensorSpec) and isinstance(given, TensorSpec)
    if both and known.dtype == given.dtype:
        return known.most_specific_compatible_type(given)
    return known
