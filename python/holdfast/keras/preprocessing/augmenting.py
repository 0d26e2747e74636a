"""`ImageDataGenerator`: endless batches of images that are turned, moved and scaled at random.

Random numbers are those of `numpy.random`, drawn in Keras' order: a seed gives Keras' batches.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..._tensors import registry
from ...errors import fail, unsupported
from ..utils import to_categorical

__all__ = ["ImageDataGenerator"]

_ENDINGS = (".bmp", ".gif", ".jpeg", ".jpg", ".png")
_FILLS = ("nearest", "constant")
_CHANNELS = {"grayscale": 1, "rgb": 3, "rgba": 4}


class _Transform(NamedTuple):
    """How one image is changed: angles in degrees, shifts in pixels."""

    theta: float
    tx: float
    ty: float
    shear: float
    zx: float
    zy: float
    flip_horizontal: bool
    flip_vertical: bool

    def moves(self) -> bool:
        return (self.theta, self.tx, self.ty, self.shear, self.zx, self.zy) != (0, 0, 0, 0, 1, 1)

    def matrix(self, height: int, width: int) -> Any:
        """Where in the image a pixel of the result comes from: rows, columns and one."""
        angle, lean = math.radians(self.theta), math.radians(self.shear)
        cos, sin = math.cos(angle), math.sin(angle)
        turn = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]])
        shift = np.array([[1, 0, self.tx], [0, 1, self.ty], [0, 0, 1]])
        slant = np.array([[1, -math.sin(lean), 0], [0, math.cos(lean), 0], [0, 0, 1]])
        scale = np.diag([self.zx, self.zy, 1.0])
        # About the middle; Keras' first axis is x, whatever the image has there.
        x, y = height / 2 - 0.5, width / 2 - 0.5
        there = np.array([[1, 0, x], [0, 1, y], [0, 0, 1]])
        back = np.array([[1, 0, -x], [0, 1, -y], [0, 0, 1]])
        whole = there @ turn @ shift @ slant @ scale @ back
        swap = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 1]])
        return swap @ whole @ swap


class ImageDataGenerator:
    """Makes endless batches of images, each changed at random; `tf.data` does the same faster."""

    def __init__(
        self,
        featurewise_center: bool = False,
        samplewise_center: bool = False,
        featurewise_std_normalization: bool = False,
        samplewise_std_normalization: bool = False,
        zca_whitening: bool = False,
        zca_epsilon: float = 1e-6,
        rotation_range: float = 0,
        width_shift_range: float = 0.0,
        height_shift_range: float = 0.0,
        brightness_range: Any = None,
        shear_range: float = 0.0,
        zoom_range: Any = 0.0,
        channel_shift_range: float = 0.0,
        fill_mode: str = "nearest",
        cval: float = 0.0,
        horizontal_flip: bool = False,
        vertical_flip: bool = False,
        rescale: float | None = None,
        preprocessing_function: Callable[[Any], Any] | None = None,
        data_format: str | None = None,
        validation_split: float = 0.0,
        interpolation_order: int = 1,
        dtype: str | None = None,
    ) -> None:
        _refuse(
            featurewise_center=featurewise_center,
            samplewise_center=samplewise_center,
            featurewise_std_normalization=featurewise_std_normalization,
            samplewise_std_normalization=samplewise_std_normalization,
            zca_whitening=zca_whitening,
            brightness_range=brightness_range,
            channel_shift_range=channel_shift_range,
            validation_split=validation_split,
        )
        if data_format not in (None, "channels_last") or interpolation_order != 1:
            unsupported(
                "`ImageDataGenerator` of channels first, or of another order than 1",
                "images are [height, width, channels], and pixels are mixed linearly",
            )
        if fill_mode not in _FILLS:
            unsupported(
                f"`fill_mode={fill_mode!r}` of `ImageDataGenerator` is not supported",
                f"it is one of {', '.join(_FILLS)}",
            )
        for name, given in (("width", width_shift_range), ("height", height_shift_range)):
            if not isinstance(given, float) and given != 0:
                unsupported(
                    f"`{name}_shift_range={given!r}` of `ImageDataGenerator` is not supported",
                    "shifts are drawn between two floats",
                    fix="give it as a float, a share of the size where it is below 1",
                )
        pair = (1 - zoom_range, 1 + zoom_range) if np.ndim(zoom_range) == 0 else tuple(zoom_range)
        if len(pair) != 2:
            fail("E1103", f"`zoom_range` is {zoom_range!r}, expected a number or two")
        self.rotation_range, self.shear_range, self.zoom_range = rotation_range, shear_range, pair
        self.width_shift_range, self.height_shift_range = width_shift_range, height_shift_range
        self.horizontal_flip, self.vertical_flip = horizontal_flip, vertical_flip
        self.fill_mode, self.cval, self.rescale = fill_mode, cval, rescale
        self.preprocessing_function = preprocessing_function
        self.dtype = "float32" if dtype is None else dtype

    def flow(
        self,
        x: Any,
        y: Any = None,
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
    ) -> _Batches:
        """Batches of arrays: of images, or pairs of images and labels."""
        images = np.asarray(x, self.dtype)
        if images.ndim != 4:
            fail("E1102", f"`x` has the shape {list(images.shape)}, expected a batch of images")
        labels = None if y is None else np.asarray(y)
        if labels is not None and len(labels) != len(images):
            fail("E1102", f"`x` has {len(images)} images, and `y` {len(labels)} labels")
        return _Batches(self, images.__getitem__, labels, len(images), batch_size, shuffle, seed)

    def flow_from_directory(
        self,
        directory: Any,
        target_size: tuple[int, int] = (256, 256),
        color_mode: str = "rgb",
        classes: Any = None,
        class_mode: str | None = "categorical",
        batch_size: int = 32,
        shuffle: bool = True,
        seed: int | None = None,
        interpolation: str = "nearest",
    ) -> _Batches:
        """Batches of the images in a folder, which has a folder for each class."""
        if color_mode not in _CHANNELS:
            fail("E1103", f"`color_mode` is {color_mode!r}, expected one of {', '.join(_CHANNELS)}")
        root = os.fspath(directory)
        names = sorted(each.name for each in os.scandir(root) if each.is_dir())
        names = names if classes is None else list(classes)
        files = [
            (os.path.join(base, file), number)
            for number, name in enumerate(names)
            for base, _, inside in sorted(os.walk(os.path.join(root, name), followlinks=False))
            for file in sorted(inside)
            if file.lower().endswith(_ENDINGS)
        ]
        print(f"Found {len(files)} images belonging to {len(names)} classes.")
        numbers = np.array([number for _, number in files], np.int32)
        labels = _labels(numbers, class_mode, len(names), self.dtype)

        def image(i: int) -> Any:
            return _read(files[i][0], _CHANNELS[color_mode], target_size, interpolation)

        made = _Batches(self, image, labels, len(files), batch_size, shuffle, seed)
        made.class_indices = {name: number for number, name in enumerate(names)}
        made.classes, made.num_classes = numbers, len(names)
        made.filepaths = [path for path, _ in files]
        made.filenames = [os.path.relpath(path, root) for path, _ in files]
        return made

    def get_random_transform(self, img_shape: Any, seed: int | None = None) -> dict[str, Any]:
        """How an image of this shape is to be changed, drawn at random."""
        return self._drawn(img_shape, _numbers(seed))._asdict()

    def random_transform(self, x: Any, seed: int | None = None) -> Any:
        """An image changed at random."""
        return self._changed(np.asarray(x), self._drawn(np.shape(x), _numbers(seed)))

    def standardize(self, x: Any) -> Any:
        """An image as it stands in a batch: through the function, and rescaled."""
        if self.preprocessing_function is not None:
            x = self.preprocessing_function(x)
        return x * self.rescale if self.rescale else x

    def _drawn(self, shape: Any, random: Any) -> _Transform:
        def between(most: float) -> float:
            return float(random.uniform(-most, most)) if most else 0.0

        def shift(most: float, size: int) -> float:
            return between(most) * (size if most < 1 else 1)

        theta = between(self.rotation_range)
        tx, ty = shift(self.height_shift_range, shape[0]), shift(self.width_shift_range, shape[1])
        shear = between(self.shear_range)
        low, high = self.zoom_range
        zx, zy = (1, 1) if low == high == 1 else random.uniform(low, high, 2).tolist()
        sideways, upside = random.random() < 0.5, random.random() < 0.5
        flips = bool(sideways and self.horizontal_flip), bool(upside and self.vertical_flip)
        return _Transform(theta, tx, ty, shear, zx, zy, *flips)

    def _changed(self, image: Any, by: _Transform) -> Any:
        if by.moves():
            image = _moved(image, by.matrix(*image.shape[:2]), self.fill_mode, self.cval)
        if by.flip_horizontal:
            image = image[:, ::-1]
        return image[::-1] if by.flip_vertical else image


class _Batches(Iterator[Any]):
    """Batches without end; each pass has an order of its own."""

    class_indices: dict[str, int]
    classes: Any
    num_classes: int
    filepaths: list[str]
    filenames: list[str]

    def __init__(
        self,
        generator: ImageDataGenerator,
        image: Callable[[int], Any],
        labels: Any,
        n: int,
        batch_size: int,
        shuffle: bool,
        seed: int | None,
    ) -> None:
        if n == 0:
            fail("E1103", "there are no images to make batches of")
        self._generator, self._image, self.labels = generator, image, labels
        self.n = self.samples = n
        self.batch_size, self.shuffle, self.seed = batch_size, shuffle, seed
        self.total_batches_seen, self._at, self._order = 0, 0, np.arange(n)

    def __len__(self) -> int:
        return (self.n + self.batch_size - 1) // self.batch_size

    def reset(self) -> None:
        """Begins a pass."""
        self._at = 0

    def __next__(self) -> Any:
        random = _numbers(None if self.seed is None else self.seed + self.total_batches_seen)
        if self._at == 0:
            self._order = random.permutation(self.n) if self.shuffle else np.arange(self.n)
        numbers = self._order[self._at : self._at + self.batch_size]
        self._at = 0 if self._at + self.batch_size >= self.n else self._at + self.batch_size
        self.total_batches_seen += 1
        make = self._generator
        images = []
        for number in numbers:
            image = np.asarray(self._image(int(number)), make.dtype)
            image = make._changed(image, make._drawn(image.shape, random))
            images.append(make.standardize(image))
        batch = np.stack(images).astype(make.dtype)
        return batch if self.labels is None else (batch, self.labels[numbers])


def _numbers(seed: int | None) -> Any:
    """NumPy's random numbers: those of the program, or from a seed on."""
    return np.random if seed is None else np.random.RandomState(seed)


def _read(path: str, channels: int, size: tuple[int, int], interpolation: str) -> Any:
    bytes_ = registry.function("io.read_file")(path)
    picture = registry.function("io.decode_image")(bytes_, channels, expand_animations=False)
    return registry.function("image.resize")(picture, size, method=interpolation).numpy()


def _labels(numbers: Any, mode: str | None, count: int, dtype: str) -> Any:
    if mode == "categorical":
        return to_categorical(numbers, count).astype(dtype)
    if mode in ("binary", "sparse"):
        return numbers.astype(dtype)
    if mode is not None:
        unsupported(
            f"`class_mode={mode!r}` is not supported",
            'it is "categorical", "binary", "sparse" or None',
        )
    return None


def _moved(image: Any, matrix: Any, fill_mode: str, cval: float) -> Any:
    """Pixels from where the matrix says, those between others mixed of the four around."""
    cast, gather, reshape = (registry.function(name) for name in ("cast", "gather", "reshape"))
    clip, floor = registry.function("clip_by_value"), registry.function("floor")
    height, width, channels = image.shape
    rows, columns = np.indices((height, width)).reshape(2, -1)
    places = registry.function("matmul")(
        matrix[:2], np.stack([rows, columns, np.ones_like(rows)]).astype(np.float64)
    )
    last = np.array([[height - 1], [width - 1]], np.float64)
    inside = clip(places, np.zeros_like(last), last)
    low = floor(inside)
    high = registry.function("minimum")(low + 1.0, last)
    part = registry.function("expand_dims")(inside - low, -1)
    pixels = reshape(np.asarray(image, np.float64), [-1, channels])

    def at(row: Any, column: Any) -> Any:
        return gather(pixels, cast(row * float(width) + column, "int64"))

    above = at(low[0], low[1]) * (1 - part[1]) + at(low[0], high[1]) * part[1]
    below = at(high[0], low[1]) * (1 - part[1]) + at(high[0], high[1]) * part[1]
    mixed = above * (1 - part[0]) + below * part[0]
    if fill_mode == "constant":
        there = registry.function("reduce_all")(places == inside, axis=0)
        keep = registry.function("expand_dims")(there, -1)
        mixed = registry.function("where")(keep, mixed, float(cval))
    return reshape(mixed, image.shape).numpy().astype(image.dtype)


def _refuse(**options: Any) -> None:
    for name, given in options.items():
        if given is not None and given is not False and given != 0:
            unsupported(
                f"`{name}={given!r}` of `ImageDataGenerator` is not supported",
                "it turns, moves, scales and mirrors images",
                fix="do it in `preprocessing_function`, or in a `map` of a dataset",
            )
