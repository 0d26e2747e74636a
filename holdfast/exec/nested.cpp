#include "holdfast/exec/nested.h"

#include <algorithm>
#include <numeric>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"

namespace holdfast {
namespace {

const char* word(Nested::Kind k) {
  switch (k) {
    case Nested::Kind::kNone: return "None";
    case Nested::Kind::kTensor: return "a tensor";
    case Nested::Kind::kList: return "a list";
    case Nested::Kind::kTuple: return "a tuple";
    case Nested::Kind::kDict: return "a dict";
  }
  return "a value";
}

std::vector<Nested::Entry> without_keys(std::vector<Nested> items) {
  std::vector<Nested::Entry> out;
  out.reserve(items.size());
  for (Nested& item : items) out.emplace_back(std::string(), std::move(item));
  return out;
}

}  // namespace

Nested Nested::list(std::vector<Nested> items) {
  return Nested(Kind::kList, without_keys(std::move(items)));
}
Nested Nested::tuple(std::vector<Nested> items) {
  return Nested(Kind::kTuple, without_keys(std::move(items)));
}
Nested::Nested(Nested first, Nested second)
    : Nested(tuple({std::move(first), std::move(second)})) {}
Nested::Nested(Nested first, Nested second, Nested third)
    : Nested(tuple({std::move(first), std::move(second), std::move(third)})) {}
Nested Nested::dict(std::vector<Entry> entries) {
  Nested out(Kind::kDict, std::move(entries));
  std::vector<size_t> order = out.sorted();
  for (size_t i = 1; i < order.size(); ++i)
    if (out.key(order[i]) == out.key(order[i - 1]))
      fail(Code::E1104, cat("a dict has the key \"", out.key(order[i]), "\" twice"));
  return out;
}

const Tensor& Nested::tensor(std::string_view what) const {
  if (kind_ != Kind::kTensor)
    fail(Code::E1104, cat(what, " is ", word(kind_), kind_ == Kind::kNone ? "" : cat(" ", form()),
                          ", expected a tensor"));
  return tensor_;
}

const Nested& Nested::operator[](size_t i) const {
  if (i >= entries_.size())
    fail(Code::E1103,
         cat("item ", i, " of ", word(kind_), " of ", entries_.size(), " was asked for"));
  return entries_[i].second;
}

const Nested& Nested::operator[](std::string_view key) const {
  if (const Nested* found = find(key)) return *found;
  std::string there;
  for (const Entry& e : entries_)
    if (kind_ == Kind::kDict) there += cat(there.empty() ? "" : ", ", "'", e.first, "'");
  fail(Code::E1103,
       cat("key '", key, "' of ", word(kind_), " of ", entries_.size(), " was asked for"),
       there.empty() ? "it has no keys" : cat("its keys are ", there));
}

const std::string& Nested::key(size_t i) const {
  if (i >= entries_.size())
    fail(Code::E1103,
         cat("key ", i, " of ", word(kind_), " of ", entries_.size(), " was asked for"));
  return entries_[i].first;
}

const Nested* Nested::find(std::string_view key) const {
  if (kind_ == Kind::kDict)
    for (const Entry& e : entries_)
      if (e.first == key) return &e.second;
  return nullptr;
}

std::vector<size_t> Nested::sorted() const {
  std::vector<size_t> order(entries_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (kind_ == Kind::kDict)
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return entries_[a].first < entries_[b].first; });
  return order;
}

void Nested::visit_leaves(void* to, void (*see)(void* to, Tensor&)) {
  if (kind_ == Kind::kTensor) see(to, tensor_);
  for (size_t i : sorted()) entries_[i].second.visit_leaves(to, see);
}

std::vector<Tensor> Nested::leaves() const {
  std::vector<Tensor> out;
  const_cast<Nested*>(this)->visit_leaves(
      &out, [](void* to, Tensor& t) { static_cast<std::vector<Tensor>*>(to)->push_back(t); });
  return out;
}

Nested Nested::with_leaves(std::span<const Tensor> tensors) const {
  Nested out = *this;
  std::span<const Tensor> left = tensors;
  size_t wanted = 0;
  struct Fill {
    std::span<const Tensor>* left;
    size_t* wanted;
  } fill{&left, &wanted};
  out.visit_leaves(&fill, [](void* to, Tensor& t) {
    auto& f = *static_cast<Fill*>(to);
    ++*f.wanted;
    if (f.left->empty()) return;
    t = f.left->front();
    *f.left = f.left->subspan(1);
  });
  if (wanted != tensors.size())
    fail(Code::E1103, cat("a structure of ", wanted, " tensors, ", form(),
                          ", was to be filled with ", tensors.size()));
  return out;
}

std::string Nested::form() const {
  if (kind_ == Kind::kNone) return "None";
  if (kind_ == Kind::kTensor) return "*";
  std::string out;
  for (size_t i : sorted()) {
    if (!out.empty()) out += ", ";
    if (kind_ == Kind::kDict) out += cat("'", key(i), "': ");
    out += entries_[i].second.form();
  }
  if (kind_ == Kind::kDict) return cat("{", out, "}");
  if (kind_ == Kind::kList) return cat("[", out, "]");
  return cat("(", out, entries_.size() == 1 ? ",)" : ")");
}

const Tensor& Nested::first(std::string_view what) const {
  if (kind_ == Kind::kTensor) return tensor_;
  for (size_t i : sorted())
    if (const Nested& inside = entries_[i].second; !inside.leaves().empty())
      return inside.first(what);
  fail(Code::E1104, cat(what, " has no tensor: it is ", form()));
}

}  // namespace holdfast
