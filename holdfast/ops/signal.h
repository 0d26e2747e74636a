// Signals: Fourier and cosine transforms, frames and windows.
#pragma once

#include <optional>
#include <string>

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

// -- cosine transforms

struct DctOptions {
  int64_t type = 2;
  std::optional<int64_t> n = {};  // the last axis is cut off or padded with zeros to so many
  int64_t axis = -1;              // the last one
  std::optional<std::string> norm = {};
};
/// Cosine transform of type 1 to 4 along the last axis, of `n` numbers if that is given.
HOLDFAST_API Tensor dct(const In& input, const DctOptions& = {});
/// What undoes `dct` of that type, but for a factor where there is no `norm`.
HOLDFAST_API Tensor idct(const In& input, const DctOptions& = {});

struct MelOptions {
  int64_t num_mel_bins = 20;
  int64_t num_spectrogram_bins = 129;
  double sample_rate = 8000;
  double lower_edge_hertz = 125;
  double upper_edge_hertz = 3800;
  DType dtype = float32;
};
/// The matrix by which a spectrogram is multiplied to have its bins on the mel scale.
HOLDFAST_API Tensor linear_to_mel_weight_matrix(const MelOptions& = {});
/// Coefficients of the cepstrum of logarithms of mel spectrograms [..., bins].
HOLDFAST_API Tensor mfccs_from_log_mel_spectrograms(const In& log_mel_spectrograms);

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
