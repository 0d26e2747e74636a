// TensorFlow's examples: named lists of texts, floats or integers, as records hold them.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "holdfast/base/api.h"
#include "holdfast/base/by_name.h"

namespace holdfast::io {

/// A list of one of three kinds; the first alternative: of none.
using Feature = std::variant<std::monostate, std::vector<std::string>, std::vector<float>,
                             std::vector<int64_t>>;
using Features = ByName<Feature>;

///   io::Example e{{{"label", std::vector<int64_t>{3}}}};
///   writer.write(io::serialize(e));
struct Example {
  Features features;
};
struct SequenceExample {
  Features context;
  ByName<std::vector<Feature>> feature_lists;
};

HOLDFAST_API std::string serialize(const Example& example);
HOLDFAST_API std::string serialize(const SequenceExample& example);
/// The message that `bytes` is; E1302 where it is none.
HOLDFAST_API Example example_from(std::string_view bytes);
HOLDFAST_API SequenceExample sequence_example_from(std::string_view bytes);

}  // namespace holdfast::io
