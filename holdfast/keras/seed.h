// What layers and initializers draw from: a number, or a stream of seeds that several may share.
#pragma once

#include <optional>

#include "holdfast/keras/function.h"

namespace holdfast::keras {

/// Whoever gives a new seed each time: a `SeedGenerator`, or one of another language.
class HOLDFAST_API SeedSource : public Object, public HasConfig {
 public:
  /// Two integers, for functions such as `random::stateless_uniform`.
  virtual Tensor next() = 0;
  /// Where it stands: the seed, and how often it was asked.
  virtual const Variable& state() = 0;
  std::string text() const override { return "a stream of seeds"; }
};

/// The option `seed`: `{.seed = 42}`, or a stream: `{.seed = make_ref<SeedGenerator>(42)}`.
struct HOLDFAST_API Seed {
  Seed() = default;
  template <std::integral T>
    requires(!std::is_same_v<T, bool>)
  Seed(T first) : number(static_cast<int64_t>(first)) {}
  Seed(std::optional<int64_t> first) : number(first) {}
  template <class S>
    requires ConvertsTo<S*, SeedSource*>
  Seed(Ref<S> shared) : stream(std::move(shared)) {}

  std::optional<int64_t> number;
  Ref<SeedSource> stream;  // in the place of a number
};
template <>
struct HOLDFAST_API OptionType<Seed> {
  static Config get(const Seed& v);
  static void set(Seed& v, const Config& c, const std::string& what);
};

}  // namespace holdfast::keras
