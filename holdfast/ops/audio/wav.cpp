// WAV files: RIFF chunks, of which "fmt " says what the samples in "data" are.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "holdfast/base/text.h"
#include "holdfast/io/byte_put.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/audio.h"

namespace holdfast {
namespace {

struct DecodeAttrs {
  Attr<int64_t> desired_channels;
  Attr<int64_t> desired_samples;
};

constexpr uint16_t kPcm = 1, kExtensible = 0xfffe;

struct Wav {
  uint16_t channels = 0;
  uint32_t rate = 0;
  std::string_view samples;  // of 16 bits
};

template <class T>
T read(std::string_view from, size_t at) {
  T v;
  std::memcpy(&v, from.data() + at, sizeof v);
  return v;
}

// Why a text is no such file; empty where it is one.
std::string parse(std::string_view file, Wav& wav) {
  if (file.size() < 12 || file.substr(0, 4) != "RIFF" || file.substr(8, 4) != "WAVE")
    return "it does not begin as a WAV file does";
  bool described = false;
  for (size_t at = 12; at + 8 <= file.size();) {
    std::string_view name = file.substr(at, 4);
    size_t size = read<uint32_t>(file, at + 4);
    at += 8;
    std::string_view body = file.substr(at, size);
    if (name == "fmt ") {
      if (body.size() < 16) return "its description is cut off";
      auto format = read<uint16_t>(body, 0);
      auto bits = read<uint16_t>(body, 14);
      wav.channels = read<uint16_t>(body, 2);
      wav.rate = read<uint32_t>(body, 4);
      if (format != kPcm && format != kExtensible)
        return cat("its samples are of format ", format, ", expected 1: PCM");
      if (bits != 16) return cat("its samples have ", bits, " bits, expected 16");
      if (wav.channels == 0) return "it has no channels";
      if (wav.rate == 0 || wav.rate > 0x7fffffff) return "its sample rate is no number above 0";
      described = true;
    } else if (name == "data") {
      if (!described) return "its samples come before their description";
      if (body.size() < size) return "its samples are cut off";
      wav.samples = body;
      return {};
    }
    at += size + size % 2;
  }
  return "it has no samples";
}

void infer_decode(Infer& s) {
  auto a = s.attrs<DecodeAttrs>();
  s.need_rank(0, 0, 0);
  for (auto [name, n] : {std::pair("desired_channels", a.desired_channels()),
                         std::pair("desired_samples", a.desired_samples())})
    if (n < -1 || n == 0) s.bad_value(name, cat(n), "-1, or a number above 0");
  s.output(float32, Shape{a.desired_samples() < 0 ? kUnknown : a.desired_samples(),
                          a.desired_channels() < 0 ? kUnknown : a.desired_channels()});
  s.output(int32, Shape{});
}

Status run_decode(Call& c) {
  auto a = c.attrs<DecodeAttrs>();
  Wav wav;
  if (std::string wrong = parse(*c.in().raw<std::string>(), wav); !wrong.empty())
    return {Code::E1301, "`contents` can't be read as a WAV file", wrong};
  auto own = static_cast<int64_t>(wav.channels);
  int64_t there = static_cast<int64_t>(wav.samples.size()) / (2 * own);
  int64_t channels = a.desired_channels() < 0 ? own : a.desired_channels();
  int64_t samples = a.desired_samples() < 0 ? there : a.desired_samples();
  Tensor& out = c.out(0, Shape{samples, channels});
  auto* to = out.mutable_raw<float>();
  std::fill_n(to, out.size(), 0.f);
  for (int64_t i = 0; i < std::min(samples, there); ++i)
    for (int64_t k = 0; k < channels; ++k) {
      auto at = static_cast<size_t>((i * own + std::min(k, own - 1)) * 2);
      to[i * channels + k] = static_cast<float>(read<int16_t>(wav.samples, at)) / 32768.f;
    }
  *c.out(1).mutable_raw<int32_t>() = static_cast<int32_t>(wav.rate);
  return {};
}

void infer_encode(Infer& s) {
  s.need_rank(0, 2, 2);
  s.need_rank(1, 0, 0);
  s.output(string, Shape{});
}

Status run_encode(Call& c) {
  const Tensor& audio = c.in(0);
  int64_t rate = *c.in(1).raw<int32_t>(), channels = audio.dim(1);
  if (rate < 1)
    return {Code::E1103, cat("EncodeWav: `sample_rate` is ", rate, ", expected 1 or more")};
  if (channels < 1 || channels > 0xffff || audio.size() > 0x7fffff00)
    return {Code::E1102, cat("EncodeWav: `audio` is ", audio.shape().text(),
                             ", expected 1 to 65535 channels, and less than 2 GiB of samples")};
  io::Put put;
  auto bytes = static_cast<uint32_t>(audio.size() * 2);
  put.bytes("RIFF").u32(36 + bytes).bytes("WAVE").bytes("fmt ").u32(16).u16(kPcm);
  put.u16(static_cast<uint16_t>(channels)).u32(static_cast<uint32_t>(rate));
  put.u32(static_cast<uint32_t>(rate * channels * 2)).u16(static_cast<uint16_t>(channels * 2));
  put.u16(16).bytes("data").u32(bytes);
  const auto* from = audio.raw<float>();
  for (int64_t i = 0; i < audio.size(); ++i) {
    float level =
        std::isnan(from[i]) ? 0.f : std::clamp(std::round(from[i] * 32768.f), -32768.f, 32767.f);
    put.u16(static_cast<uint16_t>(static_cast<int16_t>(level)));
  }
  *c.out().mutable_raw<std::string>() = put.take();
  return {};
}

const Op decode_op =
    OP(DecodeWav, &audio::decode_wav)
        .args("contents")
        .options<&audio::DecodeWavOptions::desired_channels,
                 &audio::DecodeWavOptions::desired_samples>("desired_channels, desired_samples")
        .python("audio.decode_wav")
        .returns("audio, sample_rate")
        .doc(
            "The samples of a WAV file, [samples, channels] from -1 to 1, and how many a second "
            "has.")
        .inputs("contents")
        .outputs("audio, sample_rate")
        .dtypes(kStrings)
        .attr("desired_channels", -1)
        .attr("desired_samples", -1)
        .attrs<&DecodeAttrs::desired_channels, &DecodeAttrs::desired_samples>()
        .infer(infer_decode)
        .kernel("reference", run_decode)
        .on_host()
        .no_gradient();
const Op encode_op = OP(EncodeWav, &audio::encode_wav)
                         .args("audio, sample_rate: I")
                         .python("audio.encode_wav")
                         .doc("A WAV file of 16 bits a sample.")
                         .inputs("audio: T, sample_rate: I")
                         .dtypes(DTypes{float32}, "T")
                         .dtypes(DTypes{int32}, "I")
                         .infer(infer_encode)
                         .kernel("reference", run_encode)
                         .on_host()
                         .no_gradient();

}  // namespace

std::tuple<Tensor, Tensor> audio::decode_wav(const In& contents, const DecodeWavOptions& o) {
  Tensors out = decode_op.many({contents}, {o.desired_channels, o.desired_samples});
  return {out[0], out[1]};
}
Tensor audio::encode_wav(const In& audio, const In& sample_rate) {
  return encode_op(audio, sample_rate);
}

}  // namespace holdfast
