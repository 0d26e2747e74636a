#include "holdfast/data/state.h"

#include <algorithm>
#include <cstring>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/text.h"
#include "holdfast/data/functions.h"
#include "holdfast/data/inner.h"
#include "holdfast/data/stages.h"
#include "holdfast/device/device.h"

namespace holdfast::data {
namespace {

constexpr int kDeepest = 64;       // structures inside structures
constexpr int64_t kDataset = 100;  // in place of a structure's kind
// In place of the number of a stage: the elements of a dataset follow, how a function made it, or
// which of those that functions made it is.
constexpr int64_t kElements = -1, kMade = -2, kMadeBefore = -3;
constexpr int64_t kFirst = -1;  // in place of the number of what was written before

// Writes a structure, and what `leaf` writes for each of its tensors.
template <class Leaf>
void write(Saving& to, const Nested& n, const Leaf& leaf) {
  bool dataset = n.is_tensor() && dataset_in(n.tensor());
  to.number(dataset ? kDataset : static_cast<int64_t>(n.kind()));
  if (n.is_tensor()) return leaf(n.tensor());
  to.number(static_cast<int64_t>(n.size()));
  for (size_t i = 0; i < n.size(); ++i) {
    if (n.is_dict()) to.text(n.key(i));
    write(to, n[i], leaf);
  }
}

// The stages of a pipeline, once they are asked for.
Stages& stages_of(const Ref<const DatasetObject>& pipeline, Owned<Stages>& made) {
  if (!made)
    made = make_owned<Stages>(
        std::vector{Ref<DatasetObject>(const_cast<DatasetObject*>(pipeline.get()))});
  return *made;
}

}  // namespace

Saving::Saving() = default;
Saving::Saving(const DatasetObject& pipeline) : pipeline_(&pipeline) {}
Saving::~Saving() = default;

int64_t Saving::number_of(const DatasetObject& stage) {
  return pipeline_ ? stages_of(pipeline_, stages_).number_of(stage) : -1;
}

bool Saving::keeps(const Nested& n) {
  for (const Tensor& t : n.leaves()) {
    DatasetObject* inner = dataset_in(t);
    if (!inner || number_of(*inner) >= 0) continue;
    const Origin* origin = origin_of(t);
    if (origin && pipeline_ && stages_of(pipeline_, stages_).maker_of(origin->maker) >= 0 &&
        keeps(origin->element))
      continue;
    if (!holds_elements(*inner)) return false;
    for (const Nested& one : all_of(*inner))
      if (!keeps(one)) return false;
  }
  return true;
}

void Saving::number(int64_t v) {
  bytes_ += 'i';
  raw(&v, sizeof v);
}

void Saving::text(std::string_view v) {
  bytes_ += 's';
  number(static_cast<int64_t>(v.size()));
  raw(v.data(), v.size());
}

void Saving::tensor(const Tensor& given) {
  Tensor t = copy_to(given, cpu());
  bytes_ += 't';
  number(static_cast<int64_t>(t.dtype()));
  number(t.rank());
  for (int64_t d : t.shape()) number(d);
  if (t.dtype() == DType::kString)
    for (int64_t i = 0; i < t.size(); ++i) text(t.raw<std::string>()[i]);
  else
    raw(t.raw(), static_cast<size_t>(t.bytes()));
}

void Saving::element(const Nested& n) {
  bytes_ += 'e';
  write(*this, n, [&](const Tensor& t) {
    DatasetObject* inner = dataset_in(t);
    if (!inner) return tensor(t);
    if (int64_t known = number_of(*inner); known >= 0) return number(known);
    const Origin* origin = origin_of(t);
    if (origin && pipeline_ && keeps(t)) {
      Stages& stages = stages_of(pipeline_, stages_);
      if (int64_t before = stages.number_of_made(*inner); before >= 0) {
        number(kMadeBefore);
        return number(before);
      }
      number(kMade);
      number(stages.maker_of(origin->maker));
      number(static_cast<int64_t>(origin->leaf));
      element(origin->element);
      stages.made.push_back(t);
      return save_kept_of_made(Ref<DatasetObject>(inner), *this);
    }
    number(kElements);
    std::vector<Nested> all = all_of(*inner, pipeline_.get() != nullptr);
    spec(inner->spec());
    number(static_cast<int64_t>(all.size()));
    for (const Nested& one : all) element(one);
  });
}

void Saving::spec(const ElementSpec& s) {
  bytes_ += 'f';
  write(*this, s.form(), [&](const Tensor& t) {
    if (DatasetObject* inner = dataset_in(t)) return spec(inner->spec());
    number(static_cast<int64_t>(t.dtype()));
    number(t.shape().has_rank() ? t.shape().rank() : -1);
    if (t.shape().has_rank())
      for (int64_t d : t.shape()) number(d);
  });
}

void Saving::error(const std::exception_ptr& why) {
  try {
    std::rethrow_exception(why);
  } catch (const Error& e) {
    const Diagnostic& d = e.diagnostic();
    for (const std::string& each : {std::string(info(d.code).name), d.headline, d.op, d.why})
      text(each);
    number(static_cast<int64_t>(d.labels.size()));
    for (const Label& l : d.labels) {
      for (const std::string& each : {text_of(l), l.loc.file, l.loc.qualname, l.loc.source})
        text(each);
      number(static_cast<int64_t>(l.role));
      for (int n : {l.loc.line, l.loc.col_begin, l.loc.col_end, int{l.primary}}) number(n);
    }
    number(static_cast<int64_t>(d.fixes.size()));
    for (const Fix& fix : d.fixes) text(fix.title);
  }
}

void Saving::made(const Nested& one, const std::exception_ptr& why_not) {
  number(static_cast<bool>(why_not));
  if (why_not)
    error(why_not);
  else
    element(one);
}

bool Saving::first(const Ref<const RefCounted>& shared) {
  auto found = std::find(shared_.begin(), shared_.end(), shared);
  bool fresh = found == shared_.end();
  number(fresh ? kFirst : found - shared_.begin());
  if (fresh) shared_.push_back(shared);
  return fresh;
}

Restoring::Restoring(std::string_view bytes) : left_(bytes) {}
Restoring::Restoring(std::string_view bytes, const DatasetObject& pipeline)
    : left_(bytes), pipeline_(&pipeline) {}
Restoring::~Restoring() = default;

void Restoring::later(Callback<void()> change) { later_.push_back(std::move(change)); }

void Restoring::finish() {
  for (const auto& change : later_) change();
}

void Restoring::refuse(const std::string& why) {
  fail(Code::E1103, cat("the saved position of an iterator is refused: ", why),
       "a position belongs to the pipeline that it was saved from",
       {manual_fix("restore it into an iterator of a dataset that is made in the same way")});
}

std::optional<Ref<RefCounted>> Restoring::shared_before() {
  int64_t known = number();
  if (known == kFirst) return std::nullopt;
  if (known < 0 || known >= static_cast<int64_t>(shared_.size()))
    refuse("it names something that does not stand before it");
  return shared_[static_cast<size_t>(known)];
}

std::string_view Restoring::raw(size_t bytes) {
  if (bytes > left_.size()) refuse("it ends too early");
  std::string_view out = left_.substr(0, bytes);
  left_.remove_prefix(bytes);
  return out;
}

void Restoring::tag(char expected) {
  if (raw(1)[0] != expected) refuse("something else stands where a value should");
}

int64_t Restoring::bare_number() {
  int64_t v;
  std::memcpy(&v, raw(sizeof v).data(), sizeof v);
  return v;
}

int64_t Restoring::number() {
  tag('i');
  return bare_number();
}

int64_t Restoring::count() {
  int64_t n = number();
  if (n < 0 || static_cast<uint64_t>(n) > left_.size()) refuse("it holds less than it says");
  return n;
}

std::string Restoring::text() {
  tag('s');
  return std::string(raw(static_cast<size_t>(count())));
}

Tensor Restoring::tensor() {
  tag('t');
  int64_t dtype = number(), rank = number();
  if (dtype <= 0 || dtype >= static_cast<int64_t>(DType::kResource) || rank < 0 || rank > kMaxRank)
    refuse("a tensor has a dtype or a rank that there is not");
  Dims dims;
  for (int64_t i = 0; i < rank; ++i) {
    dims.push_back(number());
    if (dims.back() < 0) refuse("a tensor has a negative size");
  }
  Shape shape(std::move(dims));
  auto d = static_cast<DType>(dtype);
  std::optional<int64_t> n = shape.elements();
  int64_t each = d == DType::kString ? 1 : size_of(d);
  if (!n || *n > static_cast<int64_t>(left_.size()) / each) refuse("a tensor is larger than it");
  Tensor t = empty(d, shape, cpu());
  if (d == DType::kString)
    for (int64_t i = 0; i < *n; ++i) t.mutable_raw<std::string>()[i] = text();
  else
    std::memcpy(t.mutable_raw(), raw(static_cast<size_t>(t.bytes())).data(),
                static_cast<size_t>(t.bytes()));
  return t;
}

Nested Restoring::element() { return element(0); }

Nested Restoring::element(int depth) {
  tag('e');
  return structure(depth, [&](int deeper, bool dataset) -> Nested {
    if (!dataset) return tensor();
    int64_t known = number();
    if (known >= 0) return stage(known);
    if (known == kMade || known == kMadeBefore) {
      if (!pipeline_) refuse("it names a function of a pipeline");
      Stages& stages = stages_of(pipeline_, stages_);
      if (known == kMade) {
        int64_t place = number(), leaf = number();
        Nested of = element(deeper);
        ElementFunction* maker = stages.maker_at(place);
        if (!maker) refuse("it names a function that there is not");
        std::vector<Tensor> out = (*maker)(of).leaves();
        bool there = leaf >= 0 && leaf < static_cast<int64_t>(out.size());
        DatasetObject* again = there ? dataset_in(out[static_cast<size_t>(leaf)]) : nullptr;
        if (!again) refuse("a function makes no dataset where it made one");
        stages.made.push_back(out[static_cast<size_t>(leaf)]);
        restore_kept_of_made(Ref<DatasetObject>(again), *this);
        return stages.made.back();
      }
      int64_t before = number();
      if (before < 0 || before >= static_cast<int64_t>(stages.made.size()))
        refuse("it names a dataset that there is not");
      return stages.made[static_cast<size_t>(before)];
    }
    if (known != kElements) refuse("a dataset is told in a way that there is not");
    ElementSpec of = spec();
    int64_t n = count();
    std::vector<Nested> all;
    for (int64_t i = 0; i < n; ++i) {
      all.push_back(element(deeper));
      if (auto wrong = of.mismatch(all.back())) refuse(cat("an element of a window: ", *wrong));
    }
    return component_of(of_elements(of, std::move(all)));
  });
}

Nested Restoring::stage(int64_t number) {
  if (!pipeline_) refuse("it names a stage of a pipeline");
  const auto& all = stages_of(pipeline_, stages_).all();
  if (number >= static_cast<int64_t>(all.size())) refuse("it names a stage that there is not");
  return component_of(Dataset(
      Ref<DatasetObject>(const_cast<DatasetObject*>(all[static_cast<size_t>(number)].get()))));
}

ElementSpec Restoring::spec() {
  auto read = [this](const auto& again, int depth) -> ElementSpec {
    tag('f');
    return ElementSpec::of(structure(depth, [&](int deeper, bool dataset) -> Nested {
      if (dataset) return component_of(promised(again(again, deeper)));
      int64_t dtype = number(), rank = number();
      if (dtype <= 0 || dtype > static_cast<int64_t>(DType::kVariant) || rank < -1 ||
          rank > kMaxRank)
        refuse("a spec has a dtype or a rank that there is not");
      Dims dims;
      for (int64_t i = 0; i < rank; ++i) {
        dims.push_back(number());
        if (dims.back() < kUnknown) refuse("a spec has a negative size");
      }
      Shape shape = rank < 0 ? Shape::unknown() : Shape(std::move(dims));
      return ElementSpec(static_cast<DType>(dtype), shape).form();
    }));
  };
  return read(read, 0);
}

std::exception_ptr Restoring::error() {
  Diagnostic d;
  std::string name = text();
  const auto& codes = all_codes();
  auto known = std::find_if(codes.begin(), codes.end(), [&](auto& c) { return name == c.name; });
  if (known == codes.end()) refuse("an error has a code that there is not");
  d.code = static_cast<Code>(known - codes.begin());
  for (std::string* each : {&d.headline, &d.op, &d.why}) *each = text();
  for (int64_t n = count(); n > 0; --n) {
    Label& l = d.labels.emplace_back();
    for (std::string* each : {&l.text, &l.loc.file, &l.loc.qualname, &l.loc.source}) *each = text();
    int64_t role = number();
    if (role < 0 || role > static_cast<int64_t>(Role::kPlaced)) refuse("a line has no such role");
    l.role = static_cast<Role>(role);
    for (int* each : {&l.loc.line, &l.loc.col_begin, &l.loc.col_end})
      *each = static_cast<int>(number());
    l.primary = number() != 0;
  }
  for (int64_t n = count(); n > 0; --n) d.fixes.push_back(manual_fix(text()));
  try {
    raise(std::move(d));
  } catch (...) {
    return std::current_exception();
  }
}

template <class Leaf>
Nested Restoring::structure(int depth, const Leaf& leaf) {
  if (depth > kDeepest) refuse("a structure is too deep");
  int64_t kind = number();
  if (kind == static_cast<int64_t>(Nested::Kind::kTensor)) return leaf(depth + 1, false);
  if (kind == kDataset) return leaf(depth + 1, true);
  int64_t n = count();
  std::vector<Nested::Entry> entries;
  std::vector<Nested> items;
  for (int64_t i = 0; i < n; ++i)
    if (kind == static_cast<int64_t>(Nested::Kind::kDict)) {
      std::string key = text();
      entries.emplace_back(std::move(key), structure(depth + 1, leaf));
    } else {
      items.push_back(structure(depth + 1, leaf));
    }
  switch (kind) {
    case static_cast<int64_t>(Nested::Kind::kNone): return {};
    case static_cast<int64_t>(Nested::Kind::kList): return Nested::list(std::move(items));
    case static_cast<int64_t>(Nested::Kind::kTuple): return Nested::tuple(std::move(items));
    case static_cast<int64_t>(Nested::Kind::kDict): return Nested::dict(std::move(entries));
    default: refuse("a structure is of a kind that there is not");
  }
}

}  // namespace holdfast::data
