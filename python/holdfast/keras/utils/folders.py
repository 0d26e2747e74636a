"""Datasets of the files in a folder: images, texts and sounds, with a class for each subfolder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import fail, unsupported
from ..config import image_data_format

__all__ = [
    "audio_dataset_from_directory",
    "image_dataset_from_directory",
    "text_dataset_from_directory",
]

_IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
_METHODS = (
    "bilinear",
    "nearest",
    "bicubic",
    "area",
    "lanczos3",
    "lanczos5",
    "gaussian",
    "mitchellcubic",
)
_CHANNELS = {"grayscale": 1, "rgb": 3, "rgba": 4}


def _wrong(what: str) -> Any:
    fail("E1103", what)


class _Files(NamedTuple):
    """Files, and the number of the class of each; None for both where there are no classes."""

    paths: list[str]
    labels: Any
    class_names: list[str] | None

    def part(self, begin: int, end: int) -> _Files:
        labels = None if self.labels is None else self.labels[begin:end]
        return self._replace(paths=self.paths[begin:end], labels=labels)


class _Request(NamedTuple):
    """What the functions have in common: which files, and how they are split and labelled."""

    directory: Any
    labels: Any
    label_mode: str | None
    class_names: Sequence[str] | None
    shuffle: bool
    seed: int | None
    validation_split: float | None
    subset: str | None
    follow_links: bool
    format: str
    verbose: bool
    endings: tuple[str, ...]

    def checked(self) -> _Request:
        """The same with a seed, and without a label mode where there are no labels."""
        if self.format != "tf":
            unsupported(
                f"`format={self.format!r}` is not supported",
                "the files become a `tf.data.Dataset`",
                fix='leave `format` out, or say "tf"',
            )
        if self.labels not in ("inferred", None) and not isinstance(self.labels, (list, tuple)):
            _wrong(f'`labels` is {self.labels!r}, expected "inferred", None or a list of integers')
        if self.class_names is not None and self.labels != "inferred":
            _wrong('`class_names` says the order of folders, and so needs `labels="inferred"`')
        if self.label_mode not in ("int", "categorical", "binary", None):
            _wrong(
                f'`label_mode` is {self.label_mode!r}, expected "int", "categorical", "binary" or '
                "None"
            )
        split = self.validation_split
        if split is not None and not 0 < split < 1:
            _wrong(f"`validation_split` is {split}, expected a number between 0 and 1")
        if (split is None) != (self.subset is None):
            _wrong("`validation_split` and `subset` go together: give both, or none")
        if self.subset not in ("training", "validation", "both", None):
            _wrong(f'`subset` is {self.subset!r}, expected "training", "validation" or "both"')
        if split and self.shuffle and self.seed is None:
            _wrong(
                "`validation_split` of shuffled files needs `seed`: both parts are to have files "
                "of their own"
            )
        seed = int(np.random.randint(10**6)) if self.seed is None else self.seed
        mode = None if self.labels is None else self.label_mode
        return self._replace(seed=seed, label_mode=mode, labels=self.labels if mode else None)

    def found(self) -> _Files:
        """The files, shuffled where that was asked for."""
        root = os.fspath(self.directory)
        names: list[str] = [""]
        if self.labels == "inferred":
            names = sorted(
                each
                for each in os.listdir(root)
                if not each.startswith(".") and os.path.isdir(os.path.join(root, each))
            )
            if self.class_names is not None:
                if not set(self.class_names) <= set(names):
                    _wrong(
                        f"`class_names` is {list(self.class_names)}, and the folders are {names}"
                    )
                names = list(self.class_names)
        paths: list[str] = []
        numbers: list[int] = []
        for number, name in enumerate(names):
            inside = self._files(os.path.join(root, name))
            paths += inside
            numbers += [number] * len(inside)
        files = _Files(paths, None, None)
        if self.labels == "inferred":
            files = _Files(paths, np.array(numbers, "int32"), names)
        elif self.labels is not None:
            if len(self.labels) != len(paths):
                _wrong(f"`labels` has {len(self.labels)} entries, and there are {len(paths)} files")
            classes = [str(each) for each in sorted(set(self.labels))]
            files = _Files(paths, np.array(self.labels), classes)
        classes_now = files.class_names
        if self.verbose:
            kinds = "" if classes_now is None else f" belonging to {len(classes_now)} classes"
            print(f"Found {len(paths)} files{kinds}.")
        if self.label_mode == "binary" and classes_now is not None and len(classes_now) != 2:
            _wrong(f'`label_mode="binary"` needs two classes, and there are {classes_now}')
        if self.shuffle:
            np.random.RandomState(self.seed).shuffle(files.paths)
            if files.labels is not None:
                np.random.RandomState(self.seed).shuffle(files.labels)
        return files

    def _files(self, folder: str) -> list[str]:
        walk = sorted(os.walk(folder, followlinks=self.follow_links), key=lambda at: at[0])
        return [
            os.path.join(at, name)
            for at, _, names in walk
            for name in sorted(names)
            if name.lower().endswith(self.endings)
        ]

    def split(self, files: _Files) -> list[tuple[str, _Files]]:
        """The parts that were asked for, by their names."""
        count = len(files.paths)
        kept = count - int((self.validation_split or 0) * count)
        parts = [("training", files.part(0, kept)), ("validation", files.part(kept, count))]
        if self.subset is None:
            return [("", files)]
        chosen = [(name, part) for name, part in parts if self.subset in (name, "both")]
        for name, part in chosen:
            if self.verbose:
                print(f"Using {len(part.paths)} files for {name}.")
        return chosen

    def datasets(
        self,
        read: Callable[[Any], Any],
        batch: Callable[[Any], Any],
        buffer: int,
    ) -> Any:
        """What `read` makes of each path, with its label, in the batches that `batch` makes."""
        tf: Any = sys.modules["holdfast"]
        made = []
        for name, files in self.split(self.found()):
            if not files.paths:
                _wrong(
                    f"there are no {name + ' ' if name else ''}files in {self.directory!s} that "
                    f"end with {', '.join(self.endings)}"
                )
            dataset: Any = tf.data.Dataset.from_tensor_slices(files.paths)
            if self.label_mode:
                classes = len(files.class_names or ())
                labels = tf.data.Dataset.from_tensor_slices(
                    _labels(files, self.label_mode, classes)
                )
                dataset = tf.data.Dataset.zip(dataset, labels)
            if self.shuffle and (self.subset, name) != ("both", "validation"):
                dataset = dataset.shuffle(buffer, seed=self.seed)
            if self.label_mode:
                dataset = dataset.map(lambda path, label: (read(path), label), tf.data.AUTOTUNE)
            else:
                dataset = dataset.map(read, tf.data.AUTOTUNE)
            dataset = batch(dataset)
            dataset.class_names = files.class_names
            dataset.file_paths = files.paths
            made.append(dataset)
        return made if self.subset == "both" else made[0]


def _labels(files: _Files, mode: str, classes: int) -> Any:
    tf: Any = sys.modules["holdfast"]
    if mode == "binary":
        return np.asarray(files.labels, "float32")[:, None]
    return tf.one_hot(files.labels, classes) if mode == "categorical" else files.labels


def _buffer(batch_size: int | None) -> int:
    return 1024 if batch_size is None else batch_size * 8


def _batched(batch_size: int | None) -> Callable[[Any], Any]:
    tf: Any = sys.modules["holdfast"]

    def batch(dataset: Any) -> Any:
        whole = dataset if batch_size is None else dataset.batch(batch_size)
        return whole.prefetch(tf.data.AUTOTUNE)

    return batch


def image_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    color_mode: str = "rgb",
    batch_size: int | None = 32,
    image_size: Any = (256, 256),
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    interpolation: str = "bilinear",
    follow_links: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    data_format: str | None = None,
    format: str = "tf",
    verbose: bool = True,
) -> Any:
    """Images of one size, with the number of their subfolder: a `tf.data.Dataset` of batches.

    `subset="both"` gives the training part and the validation part.
    """
    if color_mode not in _CHANNELS:
        _wrong(f"`color_mode` is {color_mode!r}, expected one of {', '.join(_CHANNELS)}")
    if isinstance(image_size, int):
        image_size = (image_size, image_size)
    if not isinstance(image_size, (list, tuple)) or len(image_size) != 2:
        _wrong(f"`image_size` is {image_size!r}, expected a height and a width")
    method = interpolation.lower()
    if method not in _METHODS:
        _wrong(f"`interpolation` is {interpolation!r}, expected one of {', '.join(_METHODS)}")
    if crop_to_aspect_ratio and pad_to_aspect_ratio:
        _wrong("`crop_to_aspect_ratio` and `pad_to_aspect_ratio` contradict each other: give one")
    layout = image_data_format() if data_format is None else data_format
    if layout not in ("channels_last", "channels_first"):
        _wrong(f'`data_format` is {layout!r}, expected "channels_last" or "channels_first"')
    tf: Any = sys.modules["holdfast"]
    height, width = image_size
    channels = _CHANNELS[color_mode]

    def read(path: Any) -> Any:
        image = tf.io.decode_image(
            tf.io.read_file(path), channels=channels, expand_animations=False
        )
        if pad_to_aspect_ratio:
            image = tf.image.resize_with_pad(image, height, width, method=method)
        else:
            part = _in_proportion(image, height, width) if crop_to_aspect_ratio else image
            image = tf.image.resize(part, [height, width], method=method)
        image = tf.ensure_shape(image, [height, width, channels])
        return tf.transpose(image, [2, 0, 1]) if layout == "channels_first" else image

    asked = _Request(
        directory,
        labels,
        label_mode,
        class_names,
        shuffle,
        seed,
        validation_split,
        subset,
        follow_links,
        format,
        verbose,
        _IMAGES,
    ).checked()
    return asked.datasets(read, _batched(batch_size), _buffer(batch_size))


def _in_proportion(image: Any, height: int, width: int) -> Any:
    """The middle of an image, as large as the proportions of a size allow."""
    tf: Any = sys.modules["holdfast"]
    shape = tf.shape(image)
    high, wide = shape[0], shape[1]
    rows = tf.minimum(high, tf.cast(tf.cast(wide * height, "float32") / width, "int32"))
    columns = tf.minimum(wide, tf.cast(tf.cast(high * width, "float32") / height, "int32"))
    return tf.image.crop_to_bounding_box(
        image, (high - rows) // 2, (wide - columns) // 2, rows, columns
    )


def text_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    batch_size: int | None = 32,
    max_length: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    follow_links: bool = False,
    format: str = "tf",
    verbose: bool = True,
) -> Any:
    """What text files hold, with the number of their subfolder: a `tf.data.Dataset` of batches.

    Texts are cut to `max_length` bytes where it is given.
    """
    tf: Any = sys.modules["holdfast"]

    def read(path: Any) -> Any:
        text = tf.io.read_file(path)
        return text if max_length is None else tf.strings.substr(text, 0, max_length)

    asked = _Request(
        directory,
        labels,
        label_mode,
        class_names,
        shuffle,
        seed,
        validation_split,
        subset,
        follow_links,
        format,
        verbose,
        (".txt",),
    ).checked()
    return asked.datasets(read, _batched(batch_size), _buffer(batch_size))


def audio_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Sequence[str] | None = None,
    batch_size: int | None = 32,
    sampling_rate: int | None = None,
    output_sequence_length: int | None = None,
    ragged: bool = False,
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    follow_links: bool = False,
    verbose: bool = True,
) -> Any:
    """Samples of WAV files, with the number of their subfolder: a `tf.data.Dataset` of batches.

    All have `output_sequence_length` samples where it is given; else they are padded to the
    longest of a batch, or are ragged.
    """
    if ragged and output_sequence_length is not None:
        _wrong("`ragged` and `output_sequence_length` contradict each other: give one")
    if sampling_rate is not None:
        unsupported(
            "`sampling_rate` of `audio_dataset_from_directory` is not supported",
            "sounds have the rate of their files",
            fix="leave it out",
        )
    tf: Any = sys.modules["holdfast"]
    samples = -1 if output_sequence_length is None else output_sequence_length

    def read(path: Any) -> Any:
        sound, _ = tf.audio.decode_wav(tf.io.read_file(path), desired_samples=samples)
        return tf.RaggedTensor.from_tensor(sound) if ragged else sound

    def batch(dataset: Any) -> Any:
        ahead = dataset.prefetch(tf.data.AUTOTUNE)
        if batch_size is None:
            return ahead
        padded = output_sequence_length is None and not ragged
        return ahead.padded_batch(batch_size) if padded else ahead.batch(batch_size)

    asked = _Request(
        directory,
        labels,
        label_mode,
        class_names,
        shuffle,
        seed,
        validation_split,
        subset,
        follow_links,
        "tf",
        verbose,
        (".wav",),
    ).checked()
    return asked.datasets(read, batch, _buffer(batch_size))
