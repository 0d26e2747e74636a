"""`tf.data.Dataset`: the C++ class, with TensorFlow's methods."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn, cast

from .. import _holdfast
from .._structures import nesting
from .._tensors.dtypes import int64
from .._tensors.shape import TensorSpec
from .._tensors.symbols import is_symbol
from .._tracing.converter import converter
from .._tracing.function import Function
from ..errors import fail, need_callable, unsupported
from .argument import DatasetArgument
from .choosing import Choosing
from .collecting import Collecting
from .functions import stage_function, traced
from .generators import from_generator
from .iterator import Iterator, NumpyIterator, iterator_of, traced_iterator
from .keeping import Keeping, path_text
from .later import made_later
from .loop import graph_for, next_state, probed_reduce, staged_reduce, state_of
from .options import Options
from .padding import padded_shapes_of, padding_values_of
from .parts import (
    batched,
    need_as_many_rows,
    need_tensors,
    slices,
    to_ragged,
    to_sparse,
    unbatched,
)
from .probing import is_probing, made_spec, need_values, number, symbols_of
from .spec import DatasetSpec
from .structure import (
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Rebuilt,
    arguments,
    flag,
    holds_composites,
    is_own,
    joined_template,
    own_parts,
    packed,
    spec_of,
    template_of,
    whole_number,
    with_composites,
)

__all__ = ["Dataset"]


class Dataset(_holdfast.DatasetBase, Collecting, Choosing, Keeping):
    """A pipeline of elements. It never changes: each method gives another one.

    `name` is what a program calls a stage; it changes nothing.
    """

    _template: Any = None  # named tuples in its elements, which C++ knows as tuples
    _options: Options | None = None
    _kind: Any = None  # what traces know of its iterators

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec.from_value(self)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        fail(
            "E1104",
            f"`{type(self).__name__}` is not made by calling the class",
            "a dataset begins with a source",
            fix="make one with `tf.data.Dataset.from_tensor_slices(...)` or another source",
        )

    # It never changes, so a copy is itself; its functions and threads belong to this process.

    def __copy__(self) -> Dataset:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Dataset:
        return self

    def __reduce__(self) -> NoReturn:
        unsupported(
            "a dataset can't be pickled",
            "it holds functions and tensors of this process",
            fix="make it anew in the other process, and restore an iterator's position there",
        )

    def _like(self, made: Any, template: Any = None) -> Dataset:
        given: Dataset = made
        given._template, given._options = template, self._options
        return given

    def _same(self, made: Any) -> Dataset:
        """One whose elements are of the same structure."""
        return self._like(made, self._template)

    # -- sources

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element."""
        tensors = with_composites(tensors)
        need_values(*nesting.flatten(tensors))
        made: Dataset = _holdfast.data_from_tensors(tensors)
        made._template = template_of(tensors)
        return made

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None) -> Dataset:
        """The rows of tensors, side by side."""
        if type(tensors) is list and tensors and isinstance(tensors[0], Dataset):
            return _of_datasets(tensors)
        tensors = with_composites(tensors)
        template = template_of(tensors)
        if holds_composites(template):
            return _made(slices(Dataset.from_tensors(tensors)))
        need_values(*nesting.flatten(tensors))
        made: Dataset = _holdfast.data_from_tensor_slices(tensors)
        made._template = template
        return made

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: tuple[Any, ...] | None = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Dataset:
        """What a Python generator gives. Each iteration calls `generator` anew."""
        made, template = from_generator(
            generator, output_types, output_shapes, args, output_signature
        )
        made._template = template
        return _made(made)

    @staticmethod
    @made_later("args")
    def range(*args: Any, **kwargs: Any) -> Dataset:
        """`range(stop)`, `range(start, stop)` or `range(start, stop, step)`, as scalars."""
        output_type = kwargs.pop("output_type", int64)
        kwargs.pop("name", None)
        if kwargs or not 1 <= len(args) <= 3:
            fail(
                "E1104",
                f"`Dataset.range` got {len(args)} numbers"
                + (f" and {', '.join(sorted(kwargs))}" if kwargs else ""),
                fix="give it `stop`, `start, stop` or `start, stop, step`",
            )
        need_values(*args)
        if is_probing() and any(map(is_symbol, args)):
            return _made(_holdfast.data_promised(TensorSpec((), output_type)))
        numbers = [whole_number(each, "a bound of `Dataset.range`") for each in args]
        start, stop = (0, numbers[0]) if len(numbers) == 1 else numbers[:2]
        step = numbers[2] if len(numbers) == 3 else 1
        return _made(_holdfast.data_range(start, stop, step, output_type))

    @staticmethod
    @made_later("start", "step")
    def counter(
        start: Any = 0, step: Any = 1, dtype: Any = int64, name: str | None = None
    ) -> Dataset:
        """`start`, `start + step`, ... without end."""
        first, by = whole_number(number(start), "`start`"), whole_number(number(step), "`step`")
        return _made(_holdfast.data_counter(first, by, dtype))

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: str | None = None) -> Dataset:
        """Elements of several datasets, which may stand in a structure, side by side."""
        if datasets is None:
            datasets = args[0] if len(args) == 1 else args
        elif args:
            fail("E1104", "`Dataset.zip` got datasets by position and as `datasets`")
        return _zipped(datasets)

    # -- functions of elements

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """What a function of each element gives. It is traced, once.

        `num_parallel_calls` elements are worked on at once, on threads of the stage's own; they
        come out in their order unless `deterministic` is False. AUTOTUNE uses threads where they
        are worth it.
        """
        f = traced(map_func, self, "map")
        made = _holdfast.data_map(
            self,
            f.concrete,
            f.captured,
            f.gives,
            *self._parallel(num_parallel_calls, deterministic),
        )
        return self._like(made, template_of(f.gives))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements of which a function gives a true scalar."""
        return self._chosen(predicate, "filter")

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset:
        """The elements before the first of which it does not."""
        return self._chosen(predicate, "take_while")

    def _chosen(self, predicate: Callable[..., Any], stage: str) -> Dataset:
        f = traced(predicate, self, stage)
        until_first = stage == "take_while"
        made = _holdfast.data_filter(self, f.concrete, f.captured, f.gives, until_first)
        return self._same(made)

    @made_later(functions=("map_func",))
    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Dataset:
        """The datasets that a function makes of each element, one after the other."""
        return self._interleaved(map_func, 1, 1, "flat_map", (0, True))

    @made_later("cycle_length", "block_length", functions=("map_func",))
    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """The same with elements of `cycle_length` of them in turn, `block_length` of each."""
        cycle = (
            AUTOTUNE
            if cycle_length is None
            else whole_number(number(cycle_length), "`cycle_length`")
        )
        block = 1 if block_length is None else whole_number(number(block_length), "`block_length`")
        parallel = self._parallel(num_parallel_calls, deterministic)
        return self._interleaved(map_func, cycle, block, "interleave", parallel)

    def _parallel(self, calls: Any, deterministic: bool | None) -> tuple[int, bool]:
        """How many threads a stage uses, and whether it keeps the order."""
        if deterministic is None:
            deterministic = self._options.deterministic if self._options is not None else None
        ordered = deterministic is None or flag(deterministic, "`deterministic`")
        if calls is None:
            return 0, ordered
        count = whole_number(number(calls), "`num_parallel_calls`")
        if count == 0:
            fail("E1103", "`num_parallel_calls` is 0, expected 1 or more, or tf.data.AUTOTUNE")
        return count, ordered

    def _interleaved(
        self,
        map_func: Callable[..., Any],
        cycle: int,
        block: int,
        stage: str,
        parallel: tuple[int, bool],
    ) -> Dataset:
        need_callable(map_func, f"Dataset.{stage}")
        template = self._template

        def make(element: Any, code: Callable[..., Any] = map_func) -> Dataset:
            made = code(*arguments(packed(template, element)))
            if not isinstance(made, Dataset):
                fail(
                    "E1104",
                    f"the function of `{stage}` gave {type(made).__name__}, expected a dataset",
                    fix="make one: `tf.data.Dataset.from_tensors(...)`",
                )
            return made

        plain = map_func.python_function if isinstance(map_func, Function) else map_func
        staged = converter().convert(plain)
        gives, named = made_spec(lambda element: make(element, staged), self, stage)
        made = _holdfast.data_interleave(self, make, cycle, block, gives, *parallel)
        return self._like(made, named)

    def reduce(
        self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """`reduce_func(state, element)`, from `initial_state` on, over all elements."""
        need_callable(reduce_func, "Dataset.reduce")
        if is_probing():
            return probed_reduce(self, initial_state, reduce_func)
        if _holdfast.is_tracing():
            return staged_reduce(self, initial_state, reduce_func)
        step = stage_function(reduce_func)
        state = state_of(initial_state)
        for element in iterator_of(self):
            state = next_state(state, step(state, element))
        return state

    # -- order and number

    @made_later("buffer_size", "seed")
    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset:
        """In random order: each element is drawn from a buffer. TensorFlow's order for a seed."""
        size = whole_number(number(buffer_size), "`buffer_size`")
        own = None if seed is None else whole_number(number(seed), "`seed`")
        anew = reshuffle_each_iteration is None or flag(
            reshuffle_each_iteration, "`reshuffle_each_iteration`"
        )
        return self._same(_holdfast.data_shuffle(self, size, own, anew))

    @made_later("count")
    def repeat(self, count: Any = None, name: str | None = None) -> Dataset:
        """`count` times; without end for None and -1."""
        times = -1 if count is None else whole_number(number(count), "`count`")
        return self._same(_holdfast.data_repeat(self, times))

    @made_later("count")
    def take(self, count: Any, name: str | None = None) -> Dataset:
        """The first elements; all of them for -1."""
        return self._same(_holdfast.data_take(self, whole_number(number(count), "`count`")))

    @made_later("count")
    def skip(self, count: Any, name: str | None = None) -> Dataset:
        """All but the first elements; none for -1."""
        return self._same(_holdfast.data_skip(self, whole_number(number(count), "`count`")))

    @made_later("num_shards", "index")
    def shard(self, num_shards: Any, index: Any, name: str | None = None) -> Dataset:
        """Each `num_shards`-th element, from `index` on."""
        shards = whole_number(number(num_shards), "`num_shards`")
        first = 0 if is_probing() else whole_number(number(index), "`index`")
        return self._same(_holdfast.data_shard(self, shards, first))

    def concatenate(self, dataset: Dataset, name: str | None = None) -> Dataset:
        """The elements of this one, then those of another."""
        made: Dataset = _holdfast.data_concatenate(self, dataset)
        made._template = joined_template(self._template, dataset._template)
        made._options = _merged([self, dataset])
        return made

    @made_later("start")
    def enumerate(self, start: Any = 0, name: str | None = None) -> Dataset:
        """Pairs of a number and an element."""
        made = _holdfast.data_enumerate(self, whole_number(number(start), "`start`"))
        inner = self._template
        return self._like(made, None if inner is None else (tuple, [None, inner]))

    # -- batches

    @made_later("batch_size")
    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """`batch_size` elements side by side.

        They are copied at once, which no thread makes faster: `num_parallel_calls` and
        `deterministic` change nothing.
        """
        calls, _ = self._parallel(num_parallel_calls, deterministic)
        if calls < AUTOTUNE:
            fail(
                "E1103",
                f"`num_parallel_calls` of `batch` is {calls}, expected 1 or more, or "
                "tf.data.AUTOTUNE",
            )
        size, whole = _batches(batch_size, drop_remainder)
        if holds_composites(self._template):
            return _made(batched(self, size, whole))
        return self._same(_holdfast.data_batch(self, size, whole))

    @made_later("batch_size")
    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        row_splits_dtype: Any = int64,
        name: str | None = None,
    ) -> Dataset:
        """The same for elements of different sizes: tensors whose sizes vary become ragged."""
        size, whole = _batches(batch_size, drop_remainder)
        return _made(to_ragged(self, size, whole, row_splits_dtype))

    @made_later("batch_size")
    def sparse_batch(self, batch_size: Any, row_shape: Any, name: str | None = None) -> Dataset:
        """Sparse tensors of `batch_size` elements, each a tensor of `row_shape` at most."""
        size = whole_number(number(batch_size), "`batch_size`")
        return _made(to_sparse(self, size, row_shape))

    @made_later("batch_size", "padded_shapes", "padding_values")
    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """The same for elements of different sizes, padded to those of `padded_shapes`."""
        need_tensors(self, "padded_batch")
        size, whole = _batches(batch_size, drop_remainder)
        shapes = padded_shapes_of(self.element_spec, padded_shapes)
        values = padding_values_of(self.element_spec, padding_values)
        made = _holdfast.data_padded_batch(self, size, shapes, values, whole)
        return self._same(made)

    def unbatch(self, name: str | None = None) -> Dataset:
        """The rows of each element."""
        need_as_many_rows(self.element_spec, "unbatch")
        if holds_composites(self._template):
            return _made(unbatched(self))
        return self._same(_holdfast.data_unbatch(self))

    # -- ahead of time

    def cache(self, filename: Any = "", name: str | None = None) -> Dataset:
        """Keeps the elements of the first whole iteration: in memory, or in a file."""
        path = path_text(filename, "`filename`")
        if path:
            return self._same(_holdfast.data_cache_in(self, path))
        return self._same(_holdfast.data_cache(self))

    @made_later("buffer_size")
    def prefetch(self, buffer_size: Any = None, name: str | None = None) -> Dataset:
        """A thread of its own makes elements ahead of time."""
        size = (
            AUTOTUNE if buffer_size is None else whole_number(number(buffer_size), "`buffer_size`")
        )
        return self._same(_holdfast.data_prefetch(self, size))

    # -- the rest

    def apply(self, transformation_func: Callable[..., Any]) -> Any:
        """What a function of the dataset gives."""
        need_callable(transformation_func, "Dataset.apply")
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            fail("E1104", f"`Dataset.apply` got {type(made).__name__}, expected a dataset")
        return made

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """The same with options; see `tf.data.Options`."""
        if not isinstance(options, Options):
            fail("E1104", f"`options` is {type(options).__name__}, expected tf.data.Options")
        made = self._same(_holdfast.data_with_options(self))
        made._options = self.options().merge(options)
        return made

    def options(self) -> Options:
        """What was asked for with `with_options`."""
        asked = Options() if self._options is None else Options().merge(self._options)
        asked._for_reading()  # a dataset never changes: `with_options` makes another one
        return asked

    def _as_argument(self) -> DatasetArgument:
        """What stands for it in the call of a traced function."""
        return DatasetArgument.of(self)

    def cardinality(self, name: str | None = None) -> Any:
        """How many elements there are, as an int64 scalar; `tf.data.INFINITE_CARDINALITY` ..."""
        if _holdfast.is_tracing() and not is_probing():
            return _holdfast.data_cardinality_in_graph(self)
        return _holdfast.convert(_holdfast.data_cardinality(self), int64)

    def get_single_element(self, name: str | None = None) -> Any:
        """The one element of a dataset that has no more."""
        if is_probing():
            return symbols_of(self.element_spec)
        if _holdfast.is_tracing():
            return packed(self._template, _holdfast.data_single_element(self))
        found = [element for element, _ in zip(iterator_of(self), (0, 1), strict=False)]
        if len(found) != 1:
            fail(
                "E1103",
                "the dataset has no element" if not found else "the dataset has several elements",
                "`get_single_element` takes the only one",
            )
        return found[0]

    def explain(self, seconds: float = 1.0) -> str:
        """The tree of stages: what each gives, how long it takes, and which one holds up the rest.

        A fresh iteration is measured for as many seconds, or until it ends.
        """
        return str(_holdfast.data_explain(self, seconds))

    @property
    def element_spec(self) -> Any:
        """The structure of an element, with the spec of each tensor."""
        return packed(self._template, spec_of(self))

    def as_numpy_iterator(self) -> NumpyIterator:
        """Elements with NumPy's arrays in place of tensors."""
        return NumpyIterator(self)

    def __iter__(self) -> Iterator:
        if _holdfast.is_tracing():
            return cast(Iterator, traced_iterator(self))  # it has what graphs know of one
        return iterator_of(self)

    def __graph_for__(self, step: Any, go_on: Any, state: Any) -> list[Any]:
        return graph_for(self, self, step, go_on, state)

    def __len__(self) -> int:
        count: int = _holdfast.data_cardinality(self)
        if count == UNKNOWN_CARDINALITY and _holdfast.data_is_open(self):
            raise TypeError("The length of a dataset in a graph is `cardinality()`, a tensor.")
        if count == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if count == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return count

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Dataset {_holdfast.data_stages(self)} element_spec={self.element_spec!r}>"


def _batches(size: Any, drop_remainder: Any) -> tuple[int, bool]:
    """How large batches are, and whether all are: no spec tells that of a tensor's value."""
    unknown = is_probing() and is_symbol(size)
    return whole_number(number(size), "`batch_size`"), flag(
        drop_remainder, "`drop_remainder`"
    ) and not unknown


def _made(dataset: Any) -> Dataset:
    found: Dataset = dataset
    return found


def _of_datasets(datasets: list[Any]) -> Dataset:
    for each in datasets:
        if not isinstance(each, Dataset):
            fail("E1104", f"a list of datasets has {type(each).__name__}, expected datasets alone")
    made: Dataset = _holdfast.data_of_datasets(datasets)
    template = functools.reduce(joined_template, [each._template for each in datasets])
    made._template = template_of(DatasetSpec(packed(template, spec_of(datasets[0]))))
    return made


def _zipped(datasets: Any) -> Dataset:
    if isinstance(datasets, Dataset):
        return datasets
    if isinstance(datasets, dict):
        parts, keys = [_zipped(each) for each in datasets.values()], list(datasets)
        made: Dataset = _holdfast.data_zip(parts, keys)
        inner = {key: part._template for key, part in zip(keys, parts, strict=True)}
        made._template = (dict, inner) if any(t is not None for t in inner.values()) else None
        made._options = _merged(parts)
        return made
    own = is_own(datasets)
    if not own and not isinstance(datasets, tuple):
        fail(
            "E1104",
            f"`Dataset.zip` got {type(datasets).__name__}, expected datasets, or a tuple or dict "
            "of them",
            fix="give each as an argument: `tf.data.Dataset.zip(a, b)`",
        )
    parts = [_zipped(each) for each in (own_parts(datasets) if own else datasets)]
    made = _holdfast.data_zip(parts, None)
    inside = [part._template for part in parts]
    if own or hasattr(datasets, "_fields"):
        made._template = Rebuilt(datasets) if own else type(datasets), inside
    else:
        made._template = (tuple, inside) if any(t is not None for t in inside) else None
    made._options = _merged(parts)
    return made


def _merged(datasets: list[Dataset]) -> Options | None:
    """What was asked for of any of several datasets; of the last one where they differ."""
    given = [each._options for each in datasets if each._options is not None]
    return functools.reduce(Options.merge, given) if given else None


_holdfast.set_class("Dataset", Dataset)
