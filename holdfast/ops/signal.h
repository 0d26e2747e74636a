// Signals: Fourier transforms, frames and windows.
#pragma once

#include "holdfast/op/in.h"

namespace holdfast::signal {

// -- Fourier transforms, of any length; axes before those that are transformed are batches

/// Discrete Fourier transform of complex numbers along the last axis.
HOLDFAST_API Tensor fft(const In& input);
/// The same along the last two axes.
HOLDFAST_API Tensor fft2d(const In& input);
/// The same along the last three axes.
HOLDFAST_API Tensor fft3d(const In& input);
/// The inverse of `fft`.
HOLDFAST_API Tensor ifft(const In& input);
/// The inverse of `fft2d`.
HOLDFAST_API Tensor ifft2d(const In& input);
/// The inverse of `fft3d`.
HOLDFAST_API Tensor ifft3d(const In& input);

struct RealTransformOptions {
  Axes fft_length = {};  // one for each axis; input is cut off or padded with zeros
};
/// The first n / 2 + 1 numbers of the transform of real ones; the others are their conjugates.
HOLDFAST_API Tensor rfft(const In& input_tensor, const RealTransformOptions& = {});
/// The same along the last two axes.
HOLDFAST_API Tensor rfft2d(const In& input_tensor, const RealTransformOptions& = {});
/// The same along the last three axes.
HOLDFAST_API Tensor rfft3d(const In& input_tensor, const RealTransformOptions& = {});
/// The inverse of `rfft`; where no length is given, an even one.
HOLDFAST_API Tensor irfft(const In& input_tensor, const RealTransformOptions& = {});
/// The inverse of `rfft2d`.
HOLDFAST_API Tensor irfft2d(const In& input_tensor, const RealTransformOptions& = {});
/// The inverse of `rfft3d`.
HOLDFAST_API Tensor irfft3d(const In& input_tensor, const RealTransformOptions& = {});

struct ShiftOptions {
  Axes axes = {};  // all where none are given
};
/// What stands for frequency 0 moved into the middle.
HOLDFAST_API Tensor fftshift(const In& x, const ShiftOptions& = {});
/// The inverse of `fftshift`.
HOLDFAST_API Tensor ifftshift(const In& x, const ShiftOptions& = {});

// -- frames

struct FrameOptions {
  bool pad_end = false;  // the last frames may reach over the end
  KeptIn pad_value = 0;
  int64_t axis = -1;
};
/// Pieces of `frame_length` numbers along an axis, which begin `frame_step` apart.
HOLDFAST_API Tensor frame(const In& signal, int64_t frame_length, int64_t frame_step,
                          const FrameOptions& = {});
/// Frames [..., frames, frame_length] put together again, those that overlap added up.
HOLDFAST_API Tensor overlap_and_add(const In& signal, int64_t frame_step);

// -- windows

struct WindowOptions {
  bool periodic = true;  // as one period of an endless one; else symmetric
  DType dtype = float32;
};
/// Half a cosine less than 1/2: 0 at the ends and 1 in the middle.
HOLDFAST_API Tensor hann_window(int64_t window_length, const WindowOptions& = {});
/// The same raised, so that its ends are 0.08.
HOLDFAST_API Tensor hamming_window(int64_t window_length, const WindowOptions& = {});

struct KaiserOptions {
  double beta = 12;
  DType dtype = float32;
};
/// Kaiser's window, the narrower the larger `beta`.
HOLDFAST_API Tensor kaiser_window(int64_t window_length, const KaiserOptions& = {});
/// A window whose overlapping halves have squares that add up to 1, made of Kaiser's.
HOLDFAST_API Tensor kaiser_bessel_derived_window(int64_t window_length, const KaiserOptions& = {});
struct VorbisOptions {
  DType dtype = float32;
};
/// The window of Vorbis, whose overlapping halves have squares that add up to 1.
HOLDFAST_API Tensor vorbis_window(int64_t window_length, const VorbisOptions& = {});

}  // namespace holdfast::signal
