#include "holdfast/ops/array/scatter_loops.h"

#include "holdfast/op/refuse.h"
#include "holdfast/ops/array/view.h"

namespace holdfast {

std::string position_text(const Shape& s, int64_t i) {
  Dims at(static_cast<size_t>(s.rank()), 0);
  for (int k = s.rank() - 1; k >= 0; --k) {
    at[static_cast<size_t>(k)] = i % s[k];
    i /= s[k];
  }
  return sizes_text(at);
}

Status check_indices(const char* op, const Tensor& indices, int64_t size, const char* argument) {
  int64_t bad = -1, value = 0;
  visit_indices(indices.dtype(), [&]<class I>(I) {
    const I* p = indices.raw<I>();
    for (int64_t i = 0, n = indices.size(); i < n; ++i) {
      auto v = static_cast<int64_t>(p[i]);
      if (static_cast<uint64_t>(v) >= static_cast<uint64_t>(size)) {
        bad = i;
        value = v;
        return;
      }
    }
  });
  if (bad < 0) return {};
  std::string at = indices.rank() ? position_text(indices.shape(), bad) : "";
  return outside(cat(op, ": `", argument, at, "` is"), value, 0, size, "",
                 cat("argument `", argument, "` of ", op, ": got ", value, " at position ",
                     at.empty() ? "[]" : at, ", allowed are 0 to ", size - 1));
}

NdLayout::NdLayout(const Shape& indices, const Shape& shape) {
  depth = indices[-1];
  if (indices.elements().value_or(0) == 0 && depth > 0)
    count = 0;
  else
    for (int i = 0; i + 1 < indices.rank(); ++i) count *= indices[i];
  if (shape.elements().value_or(0) == 0)
    inner = 0;
  else
    for (auto i = static_cast<int>(depth); i < shape.rank(); ++i) inner *= shape[i];
  strides = Dims(static_cast<size_t>(depth), 1);
  for (int k = 0; k < static_cast<int>(depth); ++k) sizes.push_back(shape[k]);
  for (int64_t k = depth - 2; k >= 0; --k) {
    auto at = static_cast<size_t>(k);
    strides[at] = static_cast<int64_t>(static_cast<uint64_t>(strides[at + 1]) *
                                       static_cast<uint64_t>(shape[static_cast<int>(k) + 1]));
  }
}

Status check_nd_indices(const char* op, const Tensor& indices, const Shape& shape) {
  int64_t depth = indices.dim(-1);
  if (!depth) return {};
  int64_t bad = -1, value = 0;
  visit_indices(indices.dtype(), [&]<class I>(I) {
    const I* p = indices.raw<I>();
    for (int64_t i = 0, n = indices.size(); i < n; ++i) {
      auto v = static_cast<int64_t>(p[i]);
      if (static_cast<uint64_t>(v) >= static_cast<uint64_t>(shape[static_cast<int>(i % depth)])) {
        bad = i;
        value = v;
        return;
      }
    }
  });
  if (bad < 0) return {};
  std::string at = position_text(indices.shape(), bad);
  int axis = static_cast<int>(bad % depth);
  return outside(cat(op, ": `indices", at, "` is"), value, 0, shape[axis],
                 cat(" on axis ", axis, " of shape ", shape.text()),
                 cat("argument `indices` of ", op, ": got ", value, " at position ", at,
                     ", allowed are 0 to ", shape[axis] - 1));
}

void need_policy(const Infer& s, const Arg& policy) {
  for (const char* known : {"", "DEFAULT", "ERROR", "IGNORE"})
    if (policy.s() == known) return;
  s.bad_value("bad_indices_policy", cat("'", policy.s(), "'"),
              "'', 'DEFAULT', 'ERROR' or 'IGNORE'");
}
bool ignores_bad(const Arg& policy) { return policy.s() == "IGNORE"; }

void need_nd_indices(const Infer& s, int i, const Shape& shape, const char* what) {
  s.need_rank(i, 1);
  int64_t depth = s.shape(i).has_rank() ? s.shape(i)[-1] : kUnknown;
  if (shape.has_rank() && depth > shape.rank())
    s.bad_shape(i, cat("a last axis of at most ", shape.rank(), ", the number of axes of ", what));
}

void scatter_nd_into(Combine how, const Tensor& to, const Tensor& indices, const Tensor& updates) {
  NdLayout n(indices.shape(), to.shape());
  if (!n.count || !n.inner) return;
  auto place = [&](auto* out, const auto* from, auto combine) {
    visit_indices(indices.dtype(), [&]<class I>(I) {
      const I* p = indices.raw<I>();
      for (int64_t i = 0; i < n.count; ++i) {
        int64_t at = n.run_of(p, i);
        if (at >= 0) combine(out + at, from + i * n.inner);
      }
    });
  };
  if (how == Combine::kUpdate) {
    visit_cells(to.dtype(), [&]<class T>(T) {
      place(to.mutable_raw<T>(), updates.raw<T>(),
            [&](T* a, const T* b) { std::copy_n(b, n.inner, a); });
    });
    return;
  }
  if (to.dtype() == DType::kString)  // added, texts are joined
    return place(to.mutable_raw<std::string>(), updates.raw<std::string>(),
                 [&](std::string* a, const std::string* b) {
                   for (int64_t i = 0; i < n.inner; ++i) a[i] += b[i];
                 });
  visit_plain(to.dtype(), [&]<class T>(T) {
    place(to.mutable_raw<T>(), updates.raw<T>(),
          [&](T* a, const T* b) { combine_run<T>(how, a, b, n.inner); });
  });
}

}  // namespace holdfast
