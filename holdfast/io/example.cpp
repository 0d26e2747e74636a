#include "holdfast/io/example.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/io/feature_lists.h"

namespace holdfast::io {
namespace {

[[noreturn]] void damaged(const char* what) {
  fail(Code::E1302, std::string("the bytes are no ") + what,
       "they end too early, or fields are of other kinds than in such a message");
}

Message written(const Feature& feature) {
  Message out;
  if (auto* texts = std::get_if<1>(&feature)) out.bytes(1, written_list(*texts));
  if (auto* floats = std::get_if<2>(&feature)) out.bytes(2, written_list(*floats));
  if (auto* ints = std::get_if<3>(&feature)) out.bytes(3, written_list(*ints));
  return out;
}

/// A map's message: keys, and what `write` makes of the values.
template <class Map, class F>
Message written_map(const Map& map, F&& write) {
  Message out;
  for (const auto& [key, value] : map)
    out.message(1, Message().bytes(1, key).message(2, write(value)));
  return out;
}

Feature feature_from(std::string_view bytes, const char* what) {
  std::string_view list;
  Feature out;
  bool good = true;
  switch (kind_of_feature(bytes, list)) {
    case 0: break;
    case 1: good = read_list(list, out.emplace<1>()); break;
    case 2: good = read_list(list, out.emplace<2>()); break;
    case 3: good = read_list(list, out.emplace<3>()); break;
    default: good = false;
  }
  if (!good) damaged(what);
  return out;
}

bool read_features(std::string_view bytes, const char* what, Features& to) {
  return each_entry(bytes, [&](std::string_view key, std::string_view value) {
    to[std::string(key)] = feature_from(value, what);
    return true;
  });
}

}  // namespace

std::string serialize(const Example& example) {
  Message out;
  if (!example.features.empty()) out.message(1, written_map(example.features, written));
  return out.text();
}

std::string serialize(const SequenceExample& example) {
  Message out;
  if (!example.context.empty()) out.message(1, written_map(example.context, written));
  if (!example.feature_lists.empty())
    out.message(2, written_map(example.feature_lists, [](const std::vector<Feature>& list) {
                  Message all;
                  for (const Feature& f : list) all.message(1, written(f));
                  return all;
                }));
  return out.text();
}

Example example_from(std::string_view bytes) {
  const char* what = "Example";
  Example out;
  if (!each_of(bytes, 1, [&](std::string_view f) { return read_features(f, what, out.features); }))
    damaged(what);
  return out;
}

SequenceExample sequence_example_from(std::string_view bytes) {
  const char* what = "SequenceExample";
  SequenceExample out;
  auto read_list_of = [&](std::string_view key, std::string_view value) {
    std::vector<Feature>& list = out.feature_lists[std::string(key)];
    list.clear();
    return each_of(value, 1, [&](std::string_view f) {
      list.push_back(feature_from(f, what));
      return true;
    });
  };
  if (!each_of(bytes, 1, [&](std::string_view f) { return read_features(f, what, out.context); }) ||
      !each_of(bytes, 2, [&](std::string_view lists) { return each_entry(lists, read_list_of); }))
    damaged(what);
  return out;
}

}  // namespace holdfast::io
