"""Datasets that take their elements from several others, and where the choices come from."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from .. import _holdfast
from .._tensors.dtypes import float32, float64, int64
from .._tensors.tensor import get_static_value
from ..errors import fail, need_callable
from .keeping import path_text
from .structure import arguments, flag, joined_template, whole_number

__all__ = ["Choosing"]


_ESTIMATED = 32  # elements by which the classes of `rejection_resample` are counted at once


class Choosing:
    """What `Dataset` has of them."""

    @staticmethod
    def random(
        seed: Any = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Any:
        """Random numbers of 32 bits without end, as int64: TensorFlow's for a seed."""
        own = None if seed is None else whole_number(seed, "`seed`")
        return _holdfast.data_random(
            own,
            rerandomize_each_iteration is not None
            and flag(rerandomize_each_iteration, "`rerandomize_each_iteration`"),
        )

    @staticmethod
    def choose_from_datasets(
        datasets: Sequence[Any], choice_dataset: Any, stop_on_empty_dataset: bool = True
    ) -> Any:
        """The next element of that one of `datasets` whose number comes next."""
        if not datasets:
            fail("E1103", "`choose_from_datasets` needs a dataset, and was given none")
        if not isinstance(choice_dataset, _holdfast.DatasetBase):
            fail(
                "E1104",
                f"`choice_dataset` is {type(choice_dataset).__name__}, expected a dataset",
                "it gives the numbers of the datasets to take from, as int64 scalars",
            )
        made: Any = _holdfast.data_choose(
            list(datasets), choice_dataset, flag(stop_on_empty_dataset, "`stop_on_empty_dataset`")
        )
        made._template = functools.reduce(joined_template, (d._template for d in datasets))
        return made

    @staticmethod
    def sample_from_datasets(
        datasets: Sequence[Any],
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Any:
        """The next element of a dataset that is drawn at random: TensorFlow's choices for a seed.

        `weights` say how often each is drawn: numbers, or a dataset of such.
        """
        tf: Any = sys.modules["holdfast"]
        all_of = list(datasets)
        if not all_of:
            fail("E1103", "`sample_from_datasets` needs a dataset, and was given none")
        seeds: Any = Choosing.random(seed, rerandomize_each_iteration).batch(2)
        if isinstance(weights, _holdfast.DatasetBase):
            changing: Any = weights
            logits = changing.map(lambda *p: tf.math.log(_row(p)))
            numbers = _zip(logits, seeds).map(_drawn)
        else:
            all_of, constant = _weighted(all_of, weights)
            if len(all_of) == 1:
                return all_of[0]
            numbers = seeds.map(lambda seed: _drawn(constant, seed))
        return Choosing.choose_from_datasets(all_of, numbers, stop_on_empty_dataset)

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: Any = None, name: str | None = None
    ) -> Any:
        """The names of the files that patterns like `data/*.txt` stand for."""
        if isinstance(file_pattern, _holdfast.Tensor):
            file_pattern = file_pattern.numpy()
            file_pattern = getattr(file_pattern, "tolist", lambda: file_pattern)()
        many = file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]
        patterns = [path_text(each, "`file_pattern`") for each in many]
        own = None if seed is None else whole_number(seed, "`seed`")
        return _holdfast.data_list_files(
            patterns, shuffle is None or flag(shuffle, "`shuffle`"), own
        )

    def rejection_resample(
        self: Any,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: Any = None,
        name: str | None = None,
    ) -> Any:
        """Pairs of a class and an element, in which classes are as frequent as `target_dist` says.

        Elements of classes that are too frequent are left out, some at random.
        """
        need_callable(class_func, "Dataset.rejection_resample")
        tf: Any = sys.modules["holdfast"]
        target = tf.cast(_holdfast.convert(target_dist), float32)

        def with_class(*element: Any) -> tuple[Any, Any]:
            return class_func(*element), element[0] if len(element) == 1 else element

        if initial_dist is not None:
            accepted, kept = _acceptance(tf.cast(_holdfast.convert(initial_dist), float32), target)
            known = get_static_value(kept)  # in a graph it may be one of values of its own
            whole = None if known is None else float(known)
            if whole == 1:
                return self.map(with_class)
            source: Any = type(self).from_tensors((accepted, kept)).repeat()
        else:
            whole = None
            source = _estimated(self.map(class_func), target).map(
                lambda initial: _acceptance(initial, target)
            )

        def weighed(both: Any, element: Any) -> tuple[Any, Any, Any]:
            kind = class_func(*arguments(element))
            return kind, tf.gather(both[0], kind), element

        def chosen(kind: Any, probability: Any, element: Any) -> Any:
            return tf.random.uniform([], seed=seed, dtype=probability.dtype) < probability

        weighted = _zip(source, self).map(weighed)
        filtered = weighted.filter(chosen).map(lambda kind, _, element: (kind, element)).prefetch(3)
        if whole == 0:
            return filtered
        return Choosing.sample_from_datasets(
            [self.map(with_class), filtered],
            weights=source.map(lambda _, kept: [(kept, 1.0 - kept)]),
            seed=seed,
            stop_on_empty_dataset=True,
        )


def _zip(*datasets: Any) -> Any:
    return type(datasets[0]).zip(datasets)


def _row(given: tuple[Any, ...]) -> Any:
    """Weights as a matrix of one row: they may come as a vector, one by one, or as that matrix."""
    tf: Any = sys.modules["holdfast"]
    one = given[0] if len(given) == 1 else tf.stack(list(given))
    return tf.reshape(one, [1, -1])


def _drawn(logits: Any, seed: Any) -> Any:
    """The number of a dataset, drawn by the logarithms of weights."""
    tf: Any = sys.modules["holdfast"]
    return tf.reshape(tf.random.stateless_categorical(logits, 1, seed=seed, dtype=int64), [])


def _weighted(datasets: list[Any], weights: Any) -> tuple[list[Any], Any]:
    """Those with a weight that is not 0, and the logarithms of their weights."""
    tf: Any = sys.modules["holdfast"]
    if weights is None:
        with tf.init_scope():
            return datasets, tf.ones([1, len(datasets)], float32)
    given = isinstance(weights, _holdfast.Tensor)
    if given:
        many: Any = weights
        count = many.shape[0] if many.shape.rank == 1 else None
    else:
        count = len(weights)
    if count != len(datasets):
        fail("E1103", f"`sample_from_datasets` got {count} weights for {len(datasets)} datasets")
    if not given:
        pairs = [(each, w) for each, w in zip(datasets, weights, strict=True) if w > 0] or [
            (datasets[0].take(0), 1.0)
        ]
        datasets, weights = [each for each, _ in pairs], [w for _, w in pairs]
    # Numbers are none of a graph's tensors, so that a traced function may give the dataset.
    with contextlib.nullcontext() if given else tf.init_scope():
        tensor = _holdfast.convert(weights)
        if tensor.dtype not in (float32, float64):
            fail("E1101", f"`weights` are {tensor.dtype.name}, expected float32 or float64")
        return datasets, tf.reshape(tf.math.log(tensor), [1, -1])


def _acceptance(initial: Any, target: Any) -> tuple[Any, Any]:
    """How likely an element of each class is kept, and how often one comes without being asked.

    Unasked elements come as often as the class needs that is furthest above its aim: the fewest
    are left out then.
    """
    tf: Any = sys.modules["holdfast"]
    ratio = target / (initial + float(initial.dtype.as_numpy_dtype(1.17549435e-38)))
    least, most = tf.reduce_min(ratio), tf.reduce_max(ratio)
    return (ratio - least) / (most - least), least


def _estimated(classes: Any, target: Any) -> Any:
    """How frequent each class was so far, for each element; looked at after so many of them."""
    tf: Any = sys.modules["holdfast"]
    count = target.shape[0]
    seen = tf.fill([count], tf.constant(10, int64))  # nothing is taken for never seen at first

    def update(now: Any, batch: Any) -> tuple[Any, Any]:
        after = now + tf.reduce_sum(tf.one_hot(batch, count, dtype=int64), 0)
        share = tf.cast(after / tf.reduce_sum(after), float32)
        # As often for the last ones, which may be fewer: draws go on as long as TensorFlow's.
        return after, tf.tile(tf.expand_dims(share, 0), [_ESTIMATED, 1])

    return classes.batch(_ESTIMATED).scan(seen, update).unbatch()
