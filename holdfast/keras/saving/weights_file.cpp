#include "holdfast/keras/saving/weights_file.h"

#include <algorithm>

#include "holdfast/base/text.h"

namespace holdfast::keras {
namespace {

constexpr const char* kVars = "vars";
// What files of TensorFlow 2.13's Keras call `layers`.
constexpr std::string_view kLayers = "layers", kOldLayers = "_layer_checkpoint_dependencies";

std::string below(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : cat(path, "/", name);
}

// "2" before "10"; other names behind the numbers.
bool key_order(const std::string& a, const std::string& b) {
  auto number = [](const std::string& s) {
    return !s.empty() && s.size() < 10 && s.find_first_not_of("0123456789") == std::string::npos;
  };
  bool first = number(a), second = number(b);
  if (first != second) return first;
  if (first && a.size() != b.size()) return a.size() < b.size();
  return a < b;
}

// A path with other names for those of its groups that are called `from`.
std::string renamed(std::string_view path, std::string_view from, std::string_view to) {
  std::string out;
  while (!path.empty()) {
    std::string_view part = path.substr(0, path.find('/'));
    out = below(out, part == from ? to : part);
    path.remove_prefix(std::min(path.size(), part.size() + 1));
  }
  return out;
}

void collect(const io::H5Reader& file, const std::string& path, std::vector<std::string>& out) {
  if (file.has_group(below(path, kVars))) out.push_back(path);
  for (const std::string& name : file.children(path))
    if (name != kVars && file.has_group(below(path, name))) collect(file, below(path, name), out);
}

}  // namespace

StoredWeights StoredWeights::numbered(std::string path, std::string name,
                                      const std::vector<Tensor>& values) {
  StoredWeights out{std::move(path), std::move(name), {}};
  for (size_t i = 0; i < values.size(); ++i) out.values.emplace_back(cat(i), values[i]);
  return out;
}

io::H5Writer weights_file(const std::vector<StoredWeights>& weights) {
  io::H5Writer out;
  for (const StoredWeights& w : weights) {
    std::string vars = below(w.path, kVars);
    out.group(vars);
    if (!w.name.empty()) out.attribute(vars, "name", w.name);
    for (const auto& [key, value] : w.values) out.dataset(below(vars, key), value);
  }
  return out;
}

void write_weights(const std::string& path, const std::vector<StoredWeights>& weights) {
  weights_file(weights).save(path);
}

std::vector<std::string> WeightsReader::paths() const {
  std::vector<std::string> out;
  collect(file_, "", out);
  for (std::string& path : out) path = renamed(path, kOldLayers, kLayers);
  return out;
}

// The group of a path, under the name it has in old files if need be; "" if there is none. The root
// itself is "/".
std::string WeightsReader::place(const std::string& path) const {
  if (path.empty()) return "/";
  if (file_.has_group(path)) return path;
  std::string old = renamed(path, kLayers, kOldLayers);
  return file_.has_group(std::string(kOldLayers)) && file_.has_group(old) ? old : "";
}

std::string WeightsReader::vars(const std::string& path) const {
  std::string group = place(path);
  return group.empty() ? group : below(group == "/" ? "" : group, kVars);
}

std::vector<std::string> WeightsReader::keys(const std::string& path) const {
  std::string group = vars(path);
  if (group.empty() || !file_.has_group(group)) return {};
  std::vector<std::string> out = file_.children(group);
  std::sort(out.begin(), out.end(), key_order);
  return out;
}

Tensor WeightsReader::read(const std::string& path, const std::string& key) const {
  return file_.read(below(vars(path), key));
}
DType WeightsReader::dtype(const std::string& path, const std::string& key) const {
  return file_.dtype(below(vars(path), key));
}
Shape WeightsReader::shape(const std::string& path, const std::string& key) const {
  return file_.shape(below(vars(path), key));
}

StoredWeights WeightsReader::read(const std::string& path) const {
  StoredWeights out{path, "", {}};
  std::string group = vars(path);
  if (group.empty() || !file_.has_group(group)) return out;
  Tensor name = file_.attribute(group, "name");
  if (name.defined() && name.dtype() == DType::kString && name.size() == 1)
    out.name = *name.raw<std::string>();
  for (const std::string& key : keys(path)) out.values.emplace_back(key, read(path, key));
  return out;
}

}  // namespace holdfast::keras
