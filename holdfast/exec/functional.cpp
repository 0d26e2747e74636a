#include "holdfast/exec/functional.h"

#include <optional>

#include "holdfast/base/text.h"
#include "holdfast/exec/plan.h"
#include "holdfast/graph/trace.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/list.h"
#include "holdfast/ops/math.h"
#include "holdfast/ops/slicing.h"

namespace holdfast {
namespace {

Tensor rows_of(const Tensor& x) {
  if (x.rank() == 0)
    fail(Code::E1102, "rows of a scalar were asked for",
         "a first axis is what rows are counted along");
  Shape row = x.shape();
  if (row.rank() > 0 && row[0] != kUnknown) return Tensor::scalar(static_cast<int32_t>(row[0]));
  Tensor sizes = shape(x);
  return list_get(list_unstack(sizes), 0, {sizes.dtype(), Shape{}});
}

Tensor row_at(const Tensor& x, const Tensor& i) { return gather(x, i); }

// Runs `step(value, row, i)` over the rows, from `first` on, beginning with `start`.
Tensors over_rows(const Tensor& x, int first, Tensors start, bool backwards,
                  const std::function<Tensors(std::span<const Tensor>, const Tensor& row,
                                              const Tensor& at)>& step) {
  Tensor n = rows_of(x);
  Tensors variables{Tensor::scalar(first)};
  for (Tensor& t : start) variables.push_back(std::move(t));
  Tensors out = while_loop([&](std::span<const Tensor> v) -> Tensors { return {less(v[0], n)}; },
                           [&](std::span<const Tensor> v) {
                             Tensor at = backwards ? subtract(subtract(n, v[0]), 1) : v[0];
                             Tensors next{add(v[0], 1)};
                             for (Tensor& t : step(v.subspan(1), row_at(x, at), at))
                               next.push_back(std::move(t));
                             return next;
                           },
                           variables);
  out.erase(0);
  return out;
}

Tensor fold(const FoldFn& f, const Tensor& x, const MaybeIn& initial, bool backwards) {
  Tensor start = initial.given()
                     ? initial.tensor(x.dtype())
                     : row_at(x, backwards ? subtract(rows_of(x), 1) : Tensor::scalar(0));
  return over_rows(x, initial.given() ? 0 : 1, {start}, backwards,
                   [&](std::span<const Tensor> v, const Tensor& row, const Tensor&) -> Tensors {
                     return {f(v[0], row)};
                   })[0];
}

}  // namespace

Tensor map_fn(const RowFn& f, In in) {
  Tensor x = in.tensor();
  std::optional<ElementType> element;
  Tensor list = list_reserve({x.dtype(), Shape::unknown()}, rows_of(x));
  Tensors out =
      over_rows(x, 0, {list}, false,
                [&](std::span<const Tensor> v, const Tensor& row, const Tensor& at) -> Tensors {
                  Tensor y = f(row);
                  element = ElementType{y.dtype(), y.shape()};
                  return {list_set(v[0], at, y)};
                });
  return list_stack(out[0], element.value_or(ElementType{x.dtype(), Shape::unknown()}));
}

Tensor foldl(const FoldFn& f, In x, MaybeIn initial) { return fold(f, x.tensor(), initial, false); }
Tensor foldr(const FoldFn& f, In x, MaybeIn initial) { return fold(f, x.tensor(), initial, true); }

Tensor scan(const FoldFn& f, In in, MaybeIn initial) {
  Tensor x = in.tensor();
  Tensor start = initial.given() ? initial.tensor(x.dtype()) : row_at(x, Tensor::scalar(0));
  ElementType element{start.dtype(), start.shape()};
  Tensor list = list_reserve(element, rows_of(x));
  if (!initial.given()) list = list_set(list, 0, start);
  Tensors out =
      over_rows(x, initial.given() ? 0 : 1, {start, list}, false,
                [&](std::span<const Tensor> v, const Tensor& row, const Tensor& at) -> Tensors {
                  Tensor y = f(v[0], row);
                  return {y, list_set(v[1], at, y)};
                });
  return list_stack(out[1], element);
}

Tensors switch_case(In index, const std::vector<BranchFn>& branches) {
  if (branches.empty()) fail(Code::E1104, "switch_case: there is no branch");
  Tensor i = index.tensor(int32);
  BranchFn rest = branches.back();
  for (size_t k = branches.size() - 1; k-- > 0;)
    rest = [=, first = branches[k]] { return cond(equal(i, static_cast<int>(k)), first, rest); };
  return rest();
}

Tensors case_of(const std::vector<std::pair<Tensor, BranchFn>>& pairs, const BranchFn& otherwise) {
  BranchFn rest = otherwise;
  for (size_t k = pairs.size(); k-- > 0;)
    rest = [=, pair = pairs[k]] { return cond(pair.first, pair.second, rest); };
  return rest();
}

Tensor peek(const Tensor& t, const std::vector<std::pair<std::string, Tensor>>& feed) {
  if (!t.is_symbolic()) return t;
  auto part = make_ref<Graph>(symbol_of(t)->scope);
  part->nodes = needed_for(edge_of(t));
  Tensors given, out;
  for (const Ref<Node>& n : part->nodes) {
    if (n->op != &placeholder_op()) continue;
    const Tensor* found = nullptr;
    for (auto& [name, value] : feed)
      if (name == n->name) found = &value;
    if (!found)
      fail(Code::E0801, cat("peek: the input `", n->name, "` is needed and was not given"),
           "the value depends on it", {manual_fix(cat("add it: `feed={\"", n->name, "\": ...}`"))});
    part->inputs.push_back(n);
    given.push_back(*found);
  }
  part->outputs.push_back(edge_of(t));
  Plan::build(part)->run(given, out);
  return out[0];
}

}  // namespace holdfast
