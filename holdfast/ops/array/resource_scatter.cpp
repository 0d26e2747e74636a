// Rows and elements of a variable, changed in place.
#include "holdfast/ops/array.h"
#include "holdfast/ops/array/scatter_loops.h"
#include "holdfast/ops/array/view.h"
#include "holdfast/ops/array/write_variable.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/scatter.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

struct ResourceScatterNdAttrs {
  Attr<bool> use_locking;
  Attr<std::string> bad_indices_policy;
};

void need_dtype(const Infer& s, VariableState* v) {
  if (s.dtype(2) != v->dtype)
    s.bad_dtype(2, cat(name(v->dtype), ", the dtype of variable `", v->name, "`"));
}

// One part of a variable of shape `now`, past its first `depth` axes, for each index.
Shape updates_of(std::span<const int64_t> indices, const Shape& now, int64_t depth) {
  Dims want(indices);
  want.append(now.begin() + depth, now.end());
  return Shape(want);
}

Shape rows_of(const Shape& indices, const Shape& now) {
  return updates_of({indices.begin(), indices.end()}, now, 1);
}
Shape parts_of(const Shape& indices, const Shape& now) {
  return updates_of({indices.begin(), indices.end() - 1}, now, indices[-1]);
}

// What `infer` refuses where it knows the shape; a variable of a loose shape says only when it runs
// what it is.
Status misfit(const Call& c, const Shape& want, const Shape& now) {
  return {Code::E1102, cat(c.op.name, ": `updates` has shape ", c.in(2).shape().text(),
                           ", expected ", want.text(), " for ", now.text())};
}

void infer_rows(Infer& s) {
  VariableState* v = variable_state(s.input(0));
  need_dtype(s, v);
  if (!v->shape.has_rank()) return;
  if (v->shape.rank() < 1)
    s.bad_value("resource", cat("variable `", v->name, "`, a scalar"), "rank 1 or more");
  if (!s.shape(1).has_rank() || s.shape(2).rank() == 0) return;
  Shape want = rows_of(s.shape(1), v->shape);
  if (!want.compatible(s.shape(2)))
    s.bad_shape(2, cat("shape ", want.text(), ", one row of ", v->shape.text(), " for each index"));
}

// One function for all ways to combine: a loop for each of them and each dtype is enough.
void combine_rows(Combine how, const Tensor& now, const Tensor& indices, const Tensor& updates) {
  const int64_t inner = now.dim(0) ? now.size() / now.dim(0) : 0;
  const bool one = updates.rank() == 0, narrow = indices.dtype() == int32;
  auto row = [&](int64_t i) {
    return narrow ? int64_t{indices.raw<int32_t>()[i]} : indices.raw<int64_t>()[i];
  };
  auto rows = [&]<class T>(T) {
    for (int64_t i = 0, n = indices.size(); i < n; ++i)
      combine_run<T>(how, now.mutable_raw<T>() + row(i) * inner,
                     updates.raw<T>() + (one ? 0 : i * inner), inner, one ? 0 : 1);
  };
  if (how == Combine::kUpdate && now.dtype() == DType::kString)
    rows(std::string{});
  else
    visit_plain(now.dtype(), rows);
}

Status run_rows_as(Combine how, Call& c) {
  const Tensor &indices = c.in(1), &updates = c.in(2);
  if (how == Combine::kDiv && is_integer(updates.dtype())) {
    Tensor zero = Tensor::scalar(0, updates.dtype());
    for (int64_t i = 0; i < updates.size(); ++i)
      if (std::equal(zero.raw<char>(), zero.raw<char>() + zero.bytes(),
                     updates.raw<char>() + i * zero.bytes()))
        return {Code::E1103,
                cat(c.op.name, ": `updates` holds 0 at ", i, ", expected divisors other than 0")};
  }
  return write_variable(variable_state(c.in()), [&](const Tensor& now) -> Status {
    if (now.rank() < 1)
      return {Code::E1102,
              cat(c.op.name, ": the variable is a scalar now, expected rank 1 or more")};
    if (Status s = check_indices(c.op.name.c_str(), indices, now.dim(0)); !s.ok()) return s;
    Shape want = rows_of(indices.shape(), now.shape());
    if (updates.rank() > 0 && updates.shape() != want) return misfit(c, want, now.shape());
    combine_rows(how, now, indices, updates);
    return {};
  });
}
template <Combine how>
Status run_rows(Call& c) {
  return run_rows_as(how, c);
}

void infer_nd(Infer& s) {
  need_policy(s, s.attrs<ResourceScatterNdAttrs>().bad_indices_policy.arg());
  VariableState* v = variable_state(s.input(0));
  need_dtype(s, v);
  need_nd_indices(s, 1, v->shape, "the variable");
  if (!v->shape.has_rank() || !s.shape(1).has_rank() || s.shape(1)[-1] < 0) return;
  Shape want = parts_of(s.shape(1), v->shape);
  if (!want.compatible(s.shape(2)))
    s.bad_shape(
        2, cat("shape ", want.text(), ": one slice of ", v->shape.text(), " for each position"));
}

Status run_nd_as(Combine how, Call& c) {
  return write_variable(variable_state(c.in()), [&](const Tensor& now) -> Status {
    const Shape& indices = c.in(1).shape();
    if (indices[-1] > now.rank())
      return {Code::E1102, cat(c.op.name, ": `indices` has ", indices[-1],
                               " coordinates for a variable of shape ", now.shape().text())};
    if (!ignores_bad(c.attrs<ResourceScatterNdAttrs>().bad_indices_policy.arg()))
      if (Status s = check_nd_indices(c.op.name.c_str(), c.in(1), now.shape()); !s.ok()) return s;
    if (Shape want = parts_of(indices, now.shape()); c.in(2).shape() != want)
      return misfit(c, want, now.shape());
    scatter_nd_into(how, now, c.in(1), c.in(2));
    return {};
  });
}
template <Combine how>
Status run_nd(Call& c) {
  return run_nd_as(how, c);
}

const Variable& apply_rows(const Op& op, const Variable& v, const IndexedSlices& s) {
  op.many({v.handle(), s.indices, s.values});
  return v;
}

const Variable& apply_nd(const Op& op, const Variable& v, const In& indices, const In& updates) {
  op.many({v.handle(), indices, updates.tensor(v.dtype())});
  return v;
}

}  // namespace

#define SCATTER_ROWS(Name, fn, how, text, types)                              \
  static const Op Name##_op = RAW_OP(Name)                                    \
                                  .doc(text)                                  \
                                  .stateful()                                 \
                                  .no_gradient()                              \
                                  .outputs("")                                \
                                  .inputs("resource: R, indices: I, updates") \
                                  .resource(VariableState::kKind)             \
                                  .dtypes(kIndices, "I")                      \
                                  .dtypes(types)                              \
                                  .infer(infer_rows)                          \
                                  .kernel("in place", run_rows<how>);         \
  const Variable& fn(const Variable& v, const IndexedSlices& s) {             \
    return apply_rows(Name##_op, v, s);                                       \
  }

SCATTER_ROWS(ResourceScatterUpdate, scatter_update, Combine::kUpdate,
             "Gives rows of a variable new values.", kAll)
SCATTER_ROWS(ResourceScatterAdd, scatter_add, Combine::kAdd, "Adds to rows of a variable.",
             kNumbers)
SCATTER_ROWS(ResourceScatterSub, scatter_sub, Combine::kSub, "Subtracts from rows of a variable.",
             kNumbers)
SCATTER_ROWS(ResourceScatterMul, scatter_mul, Combine::kMul, "Multiplies rows of a variable.",
             kNumbers)
SCATTER_ROWS(ResourceScatterDiv, scatter_div, Combine::kDiv, "Divides rows of a variable.",
             kNumbers)
SCATTER_ROWS(ResourceScatterMin, scatter_min, Combine::kMin,
             "Rows of a variable become the smaller of themselves and the updates.", kReals)
SCATTER_ROWS(ResourceScatterMax, scatter_max, Combine::kMax,
             "Rows of a variable become the larger of themselves and the updates.", kReals)

#define SCATTER_ND(Name, fn, how, text, types)                                          \
  static const Op Name##_op = RAW_OP(Name)                                              \
                                  .doc(text)                                            \
                                  .stateful()                                           \
                                  .no_gradient()                                        \
                                  .outputs("")                                          \
                                  .inputs("ref: R, indices: I, updates")                \
                                  .resource(VariableState::kKind)                       \
                                  .dtypes(kIndices, "I")                                \
                                  .dtypes(types)                                        \
                                  .attr("use_locking", true)                            \
                                  .attr("bad_indices_policy", "")                       \
                                  .attrs<&ResourceScatterNdAttrs::use_locking,          \
                                         &ResourceScatterNdAttrs::bad_indices_policy>() \
                                  .infer(infer_nd)                                      \
                                  .kernel("in place", run_nd<how>);                     \
  const Variable& fn(const Variable& v, const In& i, const In& u) {                     \
    return apply_nd(Name##_op, v, i, u);                                                \
  }

SCATTER_ND(ResourceScatterNdUpdate, scatter_nd_update, Combine::kUpdate,
           "Gives elements of a variable new values.", kAll)
SCATTER_ND(ResourceScatterNdAdd, scatter_nd_add, Combine::kAdd, "Adds to elements of a variable.",
           kNumbers)
SCATTER_ND(ResourceScatterNdSub, scatter_nd_sub, Combine::kSub,
           "Subtracts from elements of a variable.", kNumbers)
SCATTER_ND(ResourceScatterNdMin, scatter_nd_min, Combine::kMin,
           "Elements of a variable become the smaller of themselves and the updates.", kReals)
SCATTER_ND(ResourceScatterNdMax, scatter_nd_max, Combine::kMax,
           "Elements of a variable become the larger of themselves and the updates.", kReals)

const Variable& batch_scatter_update(const Variable& v, const IndexedSlices& s) {
  const Tensor& rows = s.indices;
  if (!rows.shape().has_rank() || rows.rank() < 1)
    fail(Code::E1102, cat("batch_scatter_update: `indices` has shape ", rows.shape().text(),
                          ", expected a known rank of 1 or more"));
  // The number of its batch stands before each row's, so that both together are a position.
  Sizes sizes = Sizes(shape(rows));
  std::vector<Tensor> position;
  for (int axis = 0; axis + 1 < rows.rank(); ++axis) {
    Dims along(static_cast<size_t>(rows.rank()), 1);
    along[static_cast<size_t>(axis)] = -1;
    Tensor numbers = range(gather(shape(rows), axis));
    position.push_back(broadcast_to(reshape(cast(numbers, rows.dtype()), along), sizes));
  }
  position.push_back(rows);
  return scatter_nd_update(v, stack(position, {.axis = -1}), s.values);
}

}  // namespace holdfast
