// Sounds.
#pragma once

#include <tuple>

#include "holdfast/op/in.h"

namespace holdfast::audio {

struct DecodeWavOptions {
  int64_t desired_channels = -1;  // -1: those of the file; more repeat the last
  int64_t desired_samples = -1;   // -1: all; more are silent
};
/// The samples of a WAV file, [samples, channels] from -1 to 1, and how many a second has.
HOLDFAST_API std::tuple<Tensor, Tensor> decode_wav(const In& contents,
                                                   const DecodeWavOptions& = {});
/// A WAV file of 16 bits a sample.
HOLDFAST_API Tensor encode_wav(const In& audio, const In& sample_rate);

}  // namespace holdfast::audio
