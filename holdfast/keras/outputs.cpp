#include "holdfast/keras/outputs.h"

#include <algorithm>

#include "holdfast/base/text.h"
#include "holdfast/keras/functional.h"
#include "holdfast/keras/sequential.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/indexing.h"
#include "holdfast/ops/math.h"

namespace holdfast::keras {
namespace {

bool lies_in(std::string_view path, std::string_view holder) {
  return path == holder ||
         (path.size() > holder.size() && path.starts_with(holder) && path[holder.size()] == '/');
}

bool is_deep(const Nested& n) {
  for (const Nested::Entry& e : n.entries())
    if (e.second.is_dict() || e.second.is_sequence()) return true;
  return false;
}

// The paths of all tensors, in the order of `leaves`.
void find_paths(const Nested& n, const std::string& path, std::vector<std::string>& out) {
  if (n.is_tensor()) {
    out.push_back(path);
    return;
  }
  std::vector<std::pair<std::string, const Nested*>> parts;
  for (size_t i = 0; i < n.size(); ++i) parts.emplace_back(n.is_dict() ? n.key(i) : cat(i), &n[i]);
  if (n.is_dict())
    std::sort(parts.begin(), parts.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [key, part] : parts)
    find_paths(*part, path.empty() ? key : cat(path, "/", key), out);
}

// What lies at a path; null where nothing does.
const Nested* at_path(const Nested& n, std::string_view path) {
  if (path.empty()) return &n;
  if (n.is_dict())  // a key may have a slash itself
    for (const auto& [key, part] : n.entries())
      if (lies_in(path, key))
        return at_path(part, path.substr(std::min(path.size(), key.size() + 1)));
  if (!n.is_sequence()) return nullptr;
  std::string_view first = path.substr(0, path.find('/'));
  for (size_t i = 0; i < n.size(); ++i)
    if (first == std::to_string(i))
      return at_path(n[i], path.substr(std::min(path.size(), first.size() + 1)));
  return nullptr;
}

// The names of the layers that give the outputs of a model that is made of calls.
std::vector<std::string> layer_names(const ModelLayer& model) {
  Nested symbols;
  if (auto* f = dynamic_cast<const FunctionalLayer*>(&model)) symbols = f->outputs();
  if (auto* s = dynamic_cast<const SequentialLayer*>(&model)) symbols = s->outputs();
  std::vector<std::string> out;
  for (const Tensor& t : symbols.leaves()) out.push_back(node_of(t)->name);
  return out;
}

}  // namespace

ModelOutputs::ModelOutputs(const ModelLayer& model, const Nested& y_pred) : deep(is_deep(y_pred)) {
  if (y_pred.is_dict() && !deep) {
    for (const Nested::Entry& e : y_pred.entries()) names.push_back(e.first);
    paths = names;
    return;
  }
  names = layer_names(model);
  if (deep) {
    find_paths(y_pred, "", paths);
    if (names.size() != paths.size()) names.assign(paths.size(), "");
    return;
  }
  size_t wanted = y_pred.is_sequence() ? y_pred.size() : 1;
  paths = names;
  if (names.size() == wanted) return;
  // A model with a `call` of its own does not say what they are called.
  names.assign(wanted, "");
  paths.clear();
  for (size_t i = 0; i < wanted; ++i) paths.push_back(cat(i));
}

bool ModelOutputs::meant(size_t i, const std::string& path) const {
  return (!names[i].empty() && path == names[i]) || lies_in(paths[i], path) ||
         lies_in(path, paths[i]) ||
         // "1/0" in a list for several outputs: the first of what output 1 has.
         (!deep && size() > 1 && lies_in(path, std::to_string(i)));
}

size_t ModelOutputs::count_in(const std::string& path) const {
  return static_cast<size_t>(std::count_if(paths.begin(), paths.end(),
                                           [&](const std::string& p) { return lies_in(p, path); }));
}

const Nested* ModelOutputs::part_at(const Nested& given, std::string_view path) {
  return at_path(given, path);
}

std::vector<Nested> ModelOutputs::each(const Nested& given) const {
  if (given.is_none()) return std::vector<Nested>(size());
  std::vector<Nested> out;
  if (deep) {
    bool found = false;
    for (size_t i = 0; i < size(); ++i) {
      const Nested* part = at_path(given, paths[i]);
      if (!part && given.is_dict() && !names[i].empty()) part = given.find(names[i]);
      out.push_back(part ? *part : Nested());
      found = found || part;
    }
    std::vector<Tensor> leaves = given.leaves();
    if ((!found || !is_deep(given)) && leaves.size() == size())
      return {leaves.begin(), leaves.end()};  // in another form
    return out;
  }
  if (size() == 1 && !given.is_dict()) {
    if (given.is_sequence() && given.size() == 1) return {given[0]};
    return {given};
  }
  if (given.is_dict()) {
    for (const std::string& name : names) {
      const Nested* found = given.find(name);
      out.push_back(found ? *found : Nested());
    }
    return out;
  }
  for (size_t i = 0; i < given.size(); ++i) out.push_back(given[i]);
  return out;
}

std::vector<Nested> ModelOutputs::weights(const Nested& given) const {
  if (given.is_tensor() || given.is_none()) return std::vector<Nested>(size(), given);
  return each(given);
}

Tensor examples_in(const Nested& batch) {
  Tensor first = batch.first("`x`");
  if (first.rank() > 0 && first.dim(0) >= 0)
    return Tensor::scalar(static_cast<float>(first.dim(0)));
  return first.rank() > 0 ? cast(at(shape(first), 0), float32) : Tensor::scalar(1.0f);
}

}  // namespace holdfast::keras
