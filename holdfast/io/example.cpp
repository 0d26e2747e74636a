#include "holdfast/io/example.h"

#include "holdfast/base/diagnostic.h"
#include "holdfast/io/wire.h"

namespace holdfast::io {
namespace {

[[noreturn]] void damaged(const char* what) {
  fail(Code::E1302, std::string("the bytes are no ") + what,
       "they end too early, or fields are of other kinds than in such a message");
}

std::string written(const Feature& feature) {
  std::string out;
  if (auto* texts = std::get_if<1>(&feature)) put_field(out, 1, written_list(*texts));
  if (auto* floats = std::get_if<2>(&feature)) put_field(out, 2, written_list(*floats));
  if (auto* ints = std::get_if<3>(&feature)) put_field(out, 3, written_list(*ints));
  return out;
}

/// Calls `write(value)` for each entry of a map, and puts key and message as field 1.
template <class Map, class F>
std::string written_map(const Map& map, F&& write) {
  std::string out;
  for (const auto& [key, value] : map) {
    std::string entry;
    put_field(entry, 1, key);
    put_field(entry, 2, write(value));
    put_field(out, 1, entry);
  }
  return out;
}

/// Calls `f(bytes)` for each field of a number that is of bytes.
template <class F>
void each_of(std::string_view message, uint32_t field, const char* what, F&& f) {
  WireReader fields(message);
  while (fields.next()) {
    if (fields.field() != field) continue;
    if (!fields.is_bytes()) damaged(what);
    f(fields.bytes());
  }
  if (fields.broken()) damaged(what);
}

template <class F>
void each_entry(std::string_view map, const char* what, F&& f) {
  each_of(map, 1, what, [&](std::string_view entry) {
    std::string_view key, value;
    each_of(entry, 1, what, [&](std::string_view bytes) { key = bytes; });
    each_of(entry, 2, what, [&](std::string_view bytes) { value = bytes; });
    f(std::string(key), value);
  });
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

void read_features(std::string_view bytes, const char* what, Features& to) {
  each_entry(bytes, what, [&](std::string key, std::string_view value) {
    to[std::move(key)] = feature_from(value, what);
  });
}

}  // namespace

int kind_of_feature(std::string_view feature, std::string_view& list) {
  WireReader fields(feature);
  int kind = 0;
  while (fields.next()) {
    if (fields.field() > 3) continue;
    if (!fields.is_bytes()) return -1;
    kind = static_cast<int>(fields.field());
    list = fields.bytes();
  }
  return fields.broken() ? -1 : kind;
}

std::string serialize(const Example& example) {
  std::string out;
  if (!example.features.empty()) put_field(out, 1, written_map(example.features, written));
  return out;
}

std::string serialize(const SequenceExample& example) {
  std::string out;
  if (!example.context.empty()) put_field(out, 1, written_map(example.context, written));
  if (!example.feature_lists.empty())
    put_field(out, 2, written_map(example.feature_lists, [](const std::vector<Feature>& list) {
                std::string all;
                for (const Feature& f : list) put_field(all, 1, written(f));
                return all;
              }));
  return out;
}

Example example_from(std::string_view bytes) {
  const char* what = "Example";
  Example out;
  each_of(bytes, 1, what, [&](std::string_view f) { read_features(f, what, out.features); });
  return out;
}

SequenceExample sequence_example_from(std::string_view bytes) {
  const char* what = "SequenceExample";
  SequenceExample out;
  each_of(bytes, 1, what, [&](std::string_view f) { read_features(f, what, out.context); });
  each_of(bytes, 2, what, [&](std::string_view lists) {
    each_entry(lists, what, [&](std::string key, std::string_view value) {
      std::vector<Feature>& list = out.feature_lists[std::move(key)];
      list.clear();
      each_of(value, 1, what, [&](std::string_view f) { list.push_back(feature_from(f, what)); });
    });
  });
  return out;
}

}  // namespace holdfast::io
