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


NAMES: dict[str, Any] = {
    "signal.inverse_stft": inverse_stft,
    "signal.inverse_stft_window_fn": inverse_stft_window_fn,
    "signal.stft": stft,
}
