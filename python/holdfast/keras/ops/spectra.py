"""Fourier transforms; complex numbers are pairs of real and imaginary parts."""

from __future__ import annotations

from typing import Any

from ...errors import fail
from .values import rank_of, tensor, tf

__all__ = ["fft", "fft2", "ifft2", "irfft", "istft", "rfft", "stft"]


def _complex(x: Any, op: str) -> Any:
    if not isinstance(x, (list, tuple)) or len(x) != 2:
        fail("E1104", f"`x` of `{op}` is expected as a pair: real parts and imaginary parts")
    real, imag = map(tensor, x)
    if not real.shape.is_compatible_with(imag.shape) or real.shape.rank != imag.shape.rank:
        fail(
            "E1102",
            f"`x` of `{op}` has real parts of the shape {real.shape} and imaginary parts of "
            f"{imag.shape}, expected one shape",
        )
    for part in (real, imag):
        if part.dtype not in (tf.float32, tf.float64):
            fail(
                "E1101",
                f"`x` of `{op}` has parts of dtype {part.dtype.name}, expected float32 or float64",
            )
    return tf.complex(real, imag)


def _parts(z: Any) -> tuple[Any, Any]:
    return tf.math.real(z), tf.math.imag(z)


def _length(fft_length: Any) -> Any:
    return None if fft_length is None else [fft_length]


def fft(x: Any) -> tuple[Any, Any]:
    """The Fourier transform along the last axis, of a pair and as a pair."""
    return _parts(tf.signal.fft(_complex(x, "fft")))


def fft2(x: Any) -> tuple[Any, Any]:
    """The Fourier transform along the last two axes, of a pair and as a pair."""
    return _parts(tf.signal.fft2d(_complex(x, "fft2")))


def ifft2(x: Any) -> tuple[Any, Any]:
    """The inverse of `fft2`."""
    return _parts(tf.signal.ifft2d(_complex(x, "ifft2")))


def rfft(x: Any, fft_length: int | None = None) -> tuple[Any, Any]:
    """The Fourier transform of real numbers along the last axis, its first half, as a pair."""
    return _parts(tf.signal.rfft(tensor(x), _length(fft_length)))


def irfft(x: Any, fft_length: int | None = None) -> Any:
    """The inverse of `rfft`."""
    return tf.signal.irfft(_complex(x, "irfft"), _length(fft_length))


def _window(window: Any, length: int, fft_length: int, dtype: Any, op: str) -> Any:
    """A window of `length`, in the middle of `fft_length`; None where there is none."""
    if fft_length < length:
        fail(
            "E1103",
            f"`fft_length` of `{op}` is {fft_length}, expected at least the `sequence_length`, "
            f"{length}",
        )
    if window is None:
        return None
    if isinstance(window, str):
        if window not in ("hann", "hamming"):
            fail("E1103", f'`window` of `{op}` is "{window}", expected "hann", "hamming" or values')
        made = getattr(tf.signal, f"{window}_window")(length, periodic=True, dtype=dtype)
    else:
        made = tensor(window, dtype)
    if made.shape != (length,):
        fail(
            "E1102",
            f"`window` of `{op}` has the shape {made.shape}, expected one number for each of "
            f"{length} samples",
        )
    before = (fft_length - length) // 2
    return tf.pad(made, [[before, fft_length - length - before]])


def stft(
    x: Any,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    window: Any = "hann",
    center: bool = True,
) -> tuple[Any, Any]:
    """The Fourier transforms of windows over real signals `[..., samples]`, as a pair.

    With `center` a window is around its sample: signals are reflected at their ends.
    """
    x = tensor(x)
    if x.dtype not in (tf.float32, tf.float64):
        fail("E1101", f"`x` of `stft` is {x.dtype.name}, expected float32 or float64")
    made = _window(window, sequence_length, fft_length, x.dtype, "stft")
    if center:
        border = [fft_length // 2] * 2
        x = tf.pad(x, [[0, 0]] * (rank_of(x, "stft") - 1) + [border], mode="REFLECT")
    given = None if made is None else lambda *_, **__: made
    return _parts(tf.signal.stft(x, fft_length, sequence_stride, fft_length, given))


def istft(
    x: Any,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    length: int | None = None,
    window: Any = "hann",
    center: bool = True,
) -> Any:
    """The inverse of `stft`, cut off behind `length` samples where that is given."""
    z = _complex(x, "istft")
    dtype = tf.float32 if z.dtype == tf.complex64 else tf.float64
    made = _window(window, sequence_length, fft_length, dtype, "istft")
    given = None
    if made is not None:
        given = tf.signal.inverse_stft_window_fn(sequence_stride, lambda *_, **__: made)
    out = tf.signal.inverse_stft(z, fft_length, sequence_stride, fft_length, given)
    start = fft_length // 2 if center else 0
    if length is not None:
        return out[..., start : start + length]
    return out[..., start : -start or None]
