// The position of an iterator as bytes: numbers, texts and tensors, one after the other, in the
// order in which the stages write and read them.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "holdfast/base/callback.h"
#include "holdfast/base/owned.h"
#include "holdfast/base/refcount.h"
#include "holdfast/data/spec.h"

namespace holdfast::data {

class DatasetObject;
class Stages;

class HOLDFAST_API Saving {
 public:
  Saving();
  /// A position in a dataset: its stages are named where they stand in elements.
  explicit Saving(const DatasetObject& pipeline);
  ~Saving();
  void number(int64_t v);
  void text(std::string_view v);
  void tensor(const Tensor& t);
  /// A dataset in it is saved as its elements, where it is no part of the pipeline.
  void element(const Nested& n);
  /// Whether the datasets in an element come back as they were: their positions fit them.
  bool keeps(const Nested& n);
  void spec(const ElementSpec& s);
  /// Why there is no element, in its place: an error of ours, as it says itself. What a program's
  /// own code raised is nothing that bytes hold, and is raised.
  void error(const std::exception_ptr& why);
  /// An element that was made ahead of its turn, or why there is none.
  void made(const Nested& element, const std::exception_ptr& why_not);
  /// Names something that several stages may lead to. Whether it is written now, behind this: each
  /// is written once.
  bool first(const Ref<const RefCounted>& shared);
  size_t size() const { return bytes_.size(); }
  std::string take() { return std::move(bytes_); }

 private:
  void raw(const void* from, size_t bytes) { bytes_.append(static_cast<const char*>(from), bytes); }
  int64_t number_of(const DatasetObject& stage);
  std::string bytes_;
  const Ref<const DatasetObject> pipeline_;
  Owned<Stages> stages_;  // made when a dataset stands in an element
  std::vector<Ref<const RefCounted>> shared_;
};

/// Reads what `Saving` wrote. What is no such thing is refused, before memory is taken for it.
class HOLDFAST_API Restoring {
 public:
  explicit Restoring(std::string_view bytes);
  Restoring(std::string_view bytes, const DatasetObject& pipeline);
  ~Restoring();
  int64_t number();
  /// A number of things of which each takes up a byte at least.
  int64_t count();
  std::string text();
  Tensor tensor();
  Nested element();
  ElementSpec spec();
  std::exception_ptr error();
  /// What `Saving::first` named: `read` reads it where it stands here.
  template <class T>
  Ref<T> shared(const Callback<Ref<T>()>& read) {
    if (auto known = shared_before()) {
      auto* found = dynamic_cast<T*>(known->get());
      if (!found) refuse("it names something of another kind");
      return Ref<T>(found);
    }
    size_t place = shared_.size();
    shared_.emplace_back();
    Ref<T> out = read();
    shared_[place] = out;
    return out;
  }
  bool done() const { return left_.empty(); }
  /// Puts off what changes more than the cursor that is restored: until nothing is refused any
  /// more, and the threads of the cursor that it replaces have ended.
  void later(Callback<void()> change);
  void finish();
  [[noreturn]] static void refuse(const std::string& why);

 private:
  void tag(char expected);
  int64_t bare_number();
  std::string_view raw(size_t bytes);
  Nested element(int depth);
  template <class Leaf>
  Nested structure(int depth, const Leaf& leaf);
  Nested stage(int64_t number);
  std::optional<Ref<RefCounted>> shared_before();
  std::string_view left_;
  const Ref<const DatasetObject> pipeline_;
  Owned<Stages> stages_;
  std::vector<Ref<RefCounted>> shared_;
  std::vector<Callback<void()>> later_;
};

}  // namespace holdfast::data
