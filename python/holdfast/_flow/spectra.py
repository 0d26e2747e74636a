"""`tf.signal`: spectra of frames, whose windows are functions of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._tensors import registry
from .._tensors.dtypes import as_dtype
from .._tensors.tensor import convert_to_tensor
from ..errors import fail

__all__ = ["NAMES"]

Window = Callable[..., Any] | None
_hann = registry.function("signal.hann_window")
_vorbis = registry.function("signal.vorbis_window")


def _at_least_one(function: str, **lengths: Any) -> list[int]:
    out = []
    for name, value in lengths.items():
        try:
            number = int(value)
        except (TypeError, ValueError):
            fail("E1104", f"`{name}` of `{function}` is {value!r}, expected an integer")
        if number < 1:
            fail("E1103", f"`{name}` of `{function}` is {number}, expected 1 or more")
        out.append(number)
    return out


def _power_of_two_from(length: int) -> int:
    return 1 << (length - 1).bit_length()


def stft(
    signals: Any,
    frame_length: int,
    frame_step: int,
    fft_length: int | None = None,
    window_fn: Window = _hann,
    pad_end: bool = False,
    name: str | None = None,
) -> Any:
    """The Fourier transforms of frames of real signals `[..., samples]`, each times a window.

    `window_fn(frame_length, dtype=...)` gives the window; without one frames are as they are. The
    transforms are of `fft_length`, or of the next power of two.
    """
    length, step = _at_least_one("stft", frame_length=frame_length, frame_step=frame_step)
    size = _power_of_two_from(length)
    if fft_length is not None:
        (size,) = _at_least_one("stft", fft_length=fft_length)
    frames = registry.function("signal.frame")(signals, length, step, pad_end=pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return registry.function("signal.rfft")(frames, [size], name=name)


def inverse_stft_window_fn(
    frame_step: int, forward_window_fn: Callable[..., Any] = _hann, name: str | None = None
) -> Callable[..., Any]:
    """The window for `inverse_stft` that undoes `forward_window_fn` where frames overlap."""
    (step,) = _at_least_one("inverse_stft_window_fn", frame_step=frame_step)

    def inverse_window(frame_length: int, dtype: Any) -> Any:
        (length,) = _at_least_one("inverse_stft_window_fn", frame_length=frame_length)
        window = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        pad, reshape = registry.function("pad"), registry.function("reshape")
        squares = pad(window * window, [[0, overlaps * step - length]])
        # A sample is in every frame that reaches over it: as many windows add up there.
        sums = registry.function("reduce_sum")(reshape(squares, [overlaps, step]), 0, keepdims=True)
        total = reshape(registry.function("tile")(sums, [overlaps, 1]), [overlaps * step])
        # Where no window reaches, as with frames that do not overlap, the inverse is 0 too.
        return registry.function("math.divide_no_nan")(window, total[:length], name=name)

    return inverse_window


def inverse_stft(
    stfts: Any,
    frame_length: int,
    frame_step: int,
    fft_length: int | None = None,
    window_fn: Window = _hann,
    name: str | None = None,
) -> Any:
    """The signals whose `stft` this is, if `window_fn` is the inverse of the window there."""
    stfts = convert_to_tensor(stfts)
    length, step = _at_least_one("inverse_stft", frame_length=frame_length, frame_step=frame_step)
    size = _power_of_two_from(length)
    if fft_length is not None:
        (size,) = _at_least_one("inverse_stft", fft_length=fft_length)
    if stfts.shape.rank is None or stfts.shape.rank < 2:
        fail(
            "E1102",
            f"`stfts` of `inverse_stft` has the shape {stfts.shape}, expected "
            "[..., frames, frequencies]",
        )
    frames = registry.function("signal.irfft")(stfts, [size])
    if length > size:
        borders = [[0, 0]] * (stfts.shape.rank - 1) + [[0, length - size]]
        frames = registry.function("pad")(frames, borders)
    elif length < size:
        frames = frames[..., :length]
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=as_dtype(frames.dtype))
    return registry.function("signal.overlap_and_add")(frames, step, name=name)


def mdct(
    signals: Any,
    frame_length: int,
    window_fn: Window = _vorbis,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Any:
    """The modified cosine transforms of frames of signals `[..., samples]`, which overlap by half.

    `window_fn(frame_length, dtype=...)` gives the window; without one frames are times the root of
    a half. `frame_length` is a multiple of 4.
    """
    (length,) = _at_least_one("mdct", frame_length=frame_length)
    if length % 4:
        fail("E1103", f"`frame_length` of `mdct` is {length}, expected a multiple of 4")
    frames = registry.function("signal.frame")(signals, length, length // 2, pad_end=pad_end)
    frames = _windowed(frames, window_fn, length)
    a, b, c, d = registry.function("split")(frames, 4, -1)
    # What overlaps is folded into the frame, mirrored at its quarters.
    folded = registry.function("concat")([-_mirrored(c) - d, a - _mirrored(b)], -1)
    return registry.function("signal.dct")(folded, 4, norm=norm, name=name)


def inverse_mdct(
    mdcts: Any, window_fn: Window = _vorbis, norm: str | None = None, name: str | None = None
) -> Any:
    """The signals whose `mdct` this is, but for the first and the last half of a frame."""
    mdcts = convert_to_tensor(mdcts)
    half = mdcts.shape[-1] if mdcts.shape.rank else None
    if half is None:
        fail(
            "E1102", f"`mdcts` of `inverse_mdct` has the shape {mdcts.shape}: its last size counts"
        )
    found = registry.function("signal.dct")(mdcts, 4, norm=norm)
    if norm is None:
        found = found * (0.5 / half)
    first, second = registry.function("split")(found, 2, -1)
    parts = [second, -_mirrored(second), -_mirrored(first), -first]
    frames = registry.function("concat")(parts, -1)
    frames = _windowed(frames, window_fn, 2 * half)
    return registry.function("signal.overlap_and_add")(frames, half, name=name)


def _mirrored(x: Any) -> Any:
    return registry.function("reverse")(x, [-1])


def _windowed(frames: Any, window_fn: Window, length: int) -> Any:
    if window_fn is None:
        return frames * 0.5**0.5
    return frames * window_fn(length, dtype=frames.dtype)


NAMES: dict[str, Any] = {
    "signal.inverse_mdct": inverse_mdct,
    "signal.mdct": mdct,
    "signal.inverse_stft": inverse_stft,
    "signal.inverse_stft_window_fn": inverse_stft_window_fn,
    "signal.stft": stft,
}
