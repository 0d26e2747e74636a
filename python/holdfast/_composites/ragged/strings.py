"""Functions of `tf.strings` whose results are ragged: parts, characters and runs of texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import _holdfast
from ..._graphs.name_scope import named_ops
from ..._tensors import registry
from ..._tensors.dtypes import int32, int64, string
from ...errors import fail
from .dense import from_tensor
from .tensor import RaggedTensor, is_ragged

__all__ = ["NAMES", "texts_of"]

_reshape = registry.function("reshape")


def texts_of(value: Any, function: str) -> Any:
    """A tensor of texts, or a ragged one."""
    empty = isinstance(value, (list, tuple)) and not value  # which says nothing of its dtype
    found = value if is_ragged(value) else _holdfast.convert(value, string if empty else None)
    if found.dtype != string:
        fail("E1101", f"`{function}` got a tensor of {found.dtype.name}, expected texts")
    return found


def _rows_of_each(value: Any, function: str, split: Callable[[Any], Any]) -> Any:
    """`split` of the texts of a tensor, which takes a vector and gives a row for each.

    A row is a tensor for one text; of more axes than one, rows lie inside of the axes there are.
    """
    texts = texts_of(value, function)
    if is_ragged(texts):
        found = _rows_of_each(texts.flat_values, function, split)
        return _inside(texts, found)
    rank = texts.shape.rank
    if rank is None:
        fail("E1102", f"`{function}`: the number of axes of its texts is not known")
    if rank == 0:
        found = split(_reshape(texts, [1]))
        return tuple(each.values for each in found) if isinstance(found, tuple) else found.values
    if rank == 1:
        return split(texts)
    outer = from_tensor(texts, None, None, rank - 1, int64)
    return _inside(outer, split(outer.flat_values))


def _inside(outer: Any, rows: Any) -> Any:
    """Rows, or several kinds of them, inside of the axes of a ragged tensor."""
    if isinstance(rows, tuple):
        return tuple(map(outer.with_flat_values, rows))
    return outer.with_flat_values(rows)


def _of_sparse(parts: Any) -> Any:
    indices, values, shape = parts
    return RaggedTensor.from_value_rowids(values, indices[:, 0], nrows=shape[0], validate=False)


@named_ops
def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """Texts cut at `sep`, or at white space where it is None; `maxsplit` times at most."""
    separator = "" if sep is None else sep

    def cut(texts: Any) -> Any:
        return _of_sparse(
            registry.raw_op("StringSplitV2", input=texts, sep=separator, maxsplit=maxsplit)
        )

    return _rows_of_each(input, "tf.strings.split", cut)


@named_ops
def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of texts."""

    def cut(texts: Any) -> Any:
        return _of_sparse(
            registry.raw_op("StringSplit", input=texts, delimiter="", skip_empty=False)
        )

    return _rows_of_each(input, "tf.strings.bytes_split", cut)


def _decoded(
    input: Any,
    function: str,
    encoding: str,
    errors: str,
    replacement_char: int,
    replace_control_characters: bool,
    give: Callable[[Any, Any, Any], Any],
) -> Any:
    def decode(texts: Any) -> Any:
        splits, characters, starts = registry.raw_op(
            "UnicodeDecodeWithOffsets",
            input=texts,
            input_encoding=encoding,
            errors=errors,
            replacement_char=replacement_char,
            replace_control_characters=replace_control_characters,
        )
        return give(splits, characters, starts)

    return _rows_of_each(input, function, decode)


@named_ops
def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The characters of texts, as numbers of Unicode."""
    return _decoded(
        input,
        "tf.strings.unicode_decode",
        input_encoding,
        errors,
        replacement_char,
        replace_control_characters,
        lambda splits, characters, _: RaggedTensor._rows(characters, splits),
    )


@named_ops
def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The same, and at which byte each character begins."""
    return _decoded(
        input,
        "tf.strings.unicode_decode_with_offsets",
        input_encoding,
        errors,
        replacement_char,
        replace_control_characters,
        lambda splits, characters, starts: (
            RaggedTensor._rows(characters, splits),
            RaggedTensor._rows(starts, splits),
        ),
    )


def _one_by_one(characters: Any, encoding: str, errors: str, replacement: int) -> Any:
    count = registry.function("shape")(characters)[0]
    return registry.raw_op(
        "UnicodeEncode",
        input_values=characters,
        input_splits=registry.function("range")(count + 1),
        errors=errors,
        output_encoding=encoding,
        replacement_char=replacement,
    )


@named_ops
def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: str | None = None,
) -> Any:
    """The characters of texts, each as a text."""
    return _decoded(
        input,
        "tf.strings.unicode_split",
        input_encoding,
        errors,
        replacement_char,
        False,
        lambda splits, characters, _: RaggedTensor._rows(
            _one_by_one(characters, input_encoding, errors, replacement_char), splits
        ),
    )


@named_ops
def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: str | None = None,
) -> Any:
    """The same, and at which byte each character begins."""
    return _decoded(
        input,
        "tf.strings.unicode_split_with_offsets",
        input_encoding,
        errors,
        replacement_char,
        False,
        lambda splits, characters, starts: (
            RaggedTensor._rows(
                _one_by_one(characters, input_encoding, errors, replacement_char), splits
            ),
            RaggedTensor._rows(starts, splits),
        ),
    )


@named_ops
def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: str | None = None,
) -> Any:
    """Texts of characters, which are numbers of Unicode: a text for each row of the last axis."""
    characters = input if is_ragged(input) else _holdfast.convert(input)
    if characters.dtype != int32:
        fail(
            "E1101",
            f"`tf.strings.unicode_encode` got characters of {characters.dtype.name}, expected "
            "int32",
        )

    def encode(values: Any, splits: Any) -> Any:
        return registry.raw_op(
            "UnicodeEncode",
            input_values=values,
            input_splits=splits,
            errors=errors,
            output_encoding=output_encoding,
            replacement_char=replacement_char,
        )

    if is_ragged(characters):
        if is_ragged(characters.values):
            inner = unicode_encode(characters.values, output_encoding, errors, replacement_char)
            return characters.with_values(inner)
        if characters.values.shape.rank == 1:
            return encode(characters.values, characters.row_splits)
        inner = unicode_encode(characters.values, output_encoding, errors, replacement_char)
        return characters.with_values(inner)
    rank = characters.shape.rank
    if not rank:
        fail(
            "E1102",
            f"`tf.strings.unicode_encode` got characters of shape {characters.shape}, expected one "
            "axis or more",
        )
    shape = registry.function("shape")(characters)
    flat = _reshape(characters, [-1])
    length = shape[-1]
    rows = registry.function("reduce_prod")(shape[:-1])
    splits = registry.function("range")(rows + 1) * length
    return _reshape(encode(flat, splits), shape[:-1])


@named_ops
def format(
    template: str,
    inputs: Any,
    placeholder: str = "{}",
    summarize: int = 3,
    name: str | None = None,
) -> Any:
    """A template with tensors, printed as `tf.print` does, in the places of its placeholders."""
    given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    if template.count(placeholder) != len(given):
        fail(
            "E1103",
            f"the template of `tf.strings.format` has {template.count(placeholder)} places, and "
            f"there are {len(given)} tensors",
        )
    return registry.raw_op(
        "StringFormat",
        inputs=[_holdfast.convert(each) for each in given],
        template=template,
        placeholder=placeholder,
        summarize=summarize,
    )


@named_ops
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Runs of `ngram_width` texts that stand side by side along the last axis, put together."""
    texts = texts_of(data, "tf.strings.ngrams")
    left, right = _padding(pad_values)
    if padding_width is not None:
        if padding_width < 1:
            fail("E1103", f"`padding_width` is {padding_width}, expected 1 or more")
        if pad_values is None:
            fail("E1104", "`padding_width` of `tf.strings.ngrams` needs `pad_values`")
    pad = 0 if pad_values is None else -1 if padding_width is None else padding_width
    widths = list(ngram_width) if isinstance(ngram_width, (list, tuple)) else [ngram_width]
    dense = not is_ragged(texts)
    if dense:
        rank = texts.shape.rank
        if not rank:
            fail("E1102", f"`tf.strings.ngrams` got texts of shape {texts.shape}")
        one = rank == 1
        if one:
            texts = registry.function("expand_dims")(texts, 0)
        texts = from_tensor(texts, None, None, texts.shape.rank - 1, int64)
    inner = texts
    outer = []
    while is_ragged(inner.values):
        outer.append(inner)
        inner = inner.values
    if inner.values.shape.rank not in (1, None):
        inner_rows = ngrams(
            inner.values, widths, separator, pad_values, padding_width, preserve_short_sequences
        )
        found = inner.with_values(inner_rows)
    else:
        made, splits = registry.raw_op(
            "StringNGrams",
            data=inner.values,
            data_splits=inner.row_splits,
            separator=separator,
            ngram_widths=widths,
            left_pad=left,
            right_pad=right,
            pad_width=pad,
            preserve_short_sequences=preserve_short_sequences,
        )
        found = RaggedTensor._rows(made, splits)
    for each in reversed(outer):
        found = each.with_values(found)
    if not dense:
        return found
    return found.flat_values if one else found.to_tensor(default_value="")


def _padding(pad_values: Any) -> tuple[Any, Any]:
    if pad_values is None:
        return "", ""
    if isinstance(pad_values, (str, bytes)):
        return pad_values, pad_values
    if not isinstance(pad_values, tuple) or len(pad_values) != 2:
        fail(
            "E1104",
            f"`pad_values` of `tf.strings.ngrams` is {pad_values!r}, expected a text, or a tuple "
            "of two",
        )
    return pad_values


NAMES: dict[str, Callable[..., Any]] = {
    "strings.bytes_split": bytes_split,
    "strings.format": format,
    "strings.ngrams": ngrams,
    "strings.split": split,
    "strings.unicode_decode": unicode_decode,
    "strings.unicode_decode_with_offsets": unicode_decode_with_offsets,
    "strings.unicode_encode": unicode_encode,
    "strings.unicode_split": unicode_split,
    "strings.unicode_split_with_offsets": unicode_split_with_offsets,
}
