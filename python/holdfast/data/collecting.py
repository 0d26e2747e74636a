"""Stages that collect elements, or carry something from one to the next."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .. import _holdfast
from .._tensors.composite import Composite, CompositeSpec
from .._tensors.dtypes import int64
from .._tensors.shape import TensorSpec
from .._tensors.symbols import is_symbol
from ..errors import fail, need_callable
from .functions import Traced, traced, traced_for
from .later import made_later
from .loop import state_of
from .padding import padded_shapes_of, padding_values_of
from .parts import batched, need_tensors, unbatched
from .probing import number, on_symbols
from .spec import DatasetSpec
from .structure import (
    flag,
    flat_leaves,
    holds_composites,
    map_leaves,
    packed,
    spec_of,
    template_of,
    whole_number,
    whole_numbers,
)

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
        count = whole_number(number(size), "`size`")
        by = count if shift is None else whole_number(number(shift), "`shift`")
        if by == 0 and shift is not None:
            fail("E1103", "`shift` of `window` is 0, expected 1 or more")
        step, drop = (
            whole_number(number(stride), "`stride`"),
            flag(drop_remainder, "`drop_remainder`"),
        )
        gives = map_leaves(DatasetSpec, self.element_spec)
        widths = [
            len(leaf._component_specs) if isinstance(leaf, CompositeSpec) else 0
            for leaf in flat_leaves(self.element_spec)
        ]
        made = _holdfast.data_window(self, count, by, step, drop, gives, widths)
        return self._like(made, template_of(gives))

    @made_later("window_size", functions=("reduce_func", "window_size_func"))
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
        _need_key(key, "key_func", "group_by_window")
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
        bounds = whole_numbers(bucket_boundaries, "`bucket_boundaries`")
        sizes = whole_numbers(bucket_batch_sizes, "`bucket_batch_sizes`")
        drop = flag(drop_remainder, "`drop_remainder`")
        if holds_composites(self._template) and no_padding:
            return _unpadded_buckets(self, element_length_func, bounds, sizes, drop)
        need_tensors(self, "bucket_by_sequence_length")
        length = traced(element_length_func, self, "bucket_by_sequence_length")
        _need_key(length, "element_length_func", "bucket_by_sequence_length")
        made = _holdfast.data_bucket(
            self,
            length.concrete,
            length.captured,
            length.gives,
            bounds,
            sizes,
            padded_shapes_of(self.element_spec, padded_shapes),
            padding_values_of(self.element_spec, padding_values),
            flag(pad_to_bucket_boundary, "`pad_to_bucket_boundary`"),
            flag(no_padding, "`no_padding`"),
            drop,
        )
        return self._same(made)

    def scan(
        self: Any, initial_state: Any, scan_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """`scan_func(state, element)` gives the next state, and what comes out."""
        state = state_of(initial_state)
        known = map_leaves(
            lambda t: t._type_spec if isinstance(t, Composite) else TensorSpec(t.shape, t.dtype),
            state,
        )
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
        many = isinstance(batch_size, (list, tuple, range)) or getattr(batch_size, "ndim", 0) == 1
        sizes = (
            whole_numbers(batch_size, "`batch_size`")
            if many
            else [whole_number(batch_size, "`batch_size`")]
        )
        if holds_composites(self._template) and len(sizes) == 1:
            return batched(unbatched(self), sizes[0], flag(drop_remainder, "`drop_remainder`"))
        need_tensors(self, "rebatch")
        return self._same(
            _holdfast.data_rebatch(self, sizes, flag(drop_remainder, "`drop_remainder`"))
        )

    def ignore_errors(self: Any, log_warning: bool = False, name: str | None = None) -> Any:
        """Leaves out elements that end in an error."""
        return self._same(_holdfast.data_ignore_errors(self, flag(log_warning, "`log_warning`")))


def _need_key(function: Traced, argument: str, stage: str) -> None:
    if function.gives is None:
        fail("E1104", f"`{argument}` of `{stage}` gave None, expected an integer scalar")


def _unpadded_buckets(
    dataset: Any, length_of: Callable[..., Any], bounds: list[int], sizes: list[int], drop: bool
) -> Any:
    """Buckets of ragged and sparse elements, which batches put side by side as they are."""
    tf: Any = sys.modules["holdfast"]
    if len(sizes) != len(bounds) + 1:
        fail(
            "E1103",
            f"`bucket_batch_sizes` of `bucket_by_sequence_length` has {len(sizes)} entries, "
            f"expected one more than `bucket_boundaries`, which has {len(bounds)}",
        )

    def bucket(*element: Any) -> Any:
        length = tf.cast(length_of(*element), int64)
        return tf.math.count_nonzero(length >= tf.constant(bounds, int64, shape=[len(bounds)]))

    def batch(key: Any, window: Any) -> Any:
        if is_symbol(key):  # stands for any of the buckets
            return window.batch(sizes[0], drop_remainder=drop and len(set(sizes)) == 1)
        return window.batch(sizes[int(key)], drop_remainder=drop)

    return dataset.group_by_window(bucket, batch, window_size_func=lambda key: sizes[int(key)])


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
