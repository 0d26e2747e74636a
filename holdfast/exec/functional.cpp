#include "holdfast/exec/functional.h"

#include <optional>

#include "holdfast/base/text.h"
#include "holdfast/exec/concrete.h"
#include "holdfast/exec/plan.h"
#include "holdfast/exec/vectorized_map.h"
#include "holdfast/graph/trace.h"
#include "holdfast/op/advice.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/debugging.h"
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

Tensor first_row(const Tensor& x, bool backwards) {
  return row_at(x, backwards ? subtract(rows_of(x), 1) : Tensor::scalar(0));
}

Tensor said(const char* words) { return Tensor::of<std::string>({words}); }

void need_code(bool given, const char* function) {
  if (!given)
    fail(Code::E1104, cat(function, ": a function that was given holds no code"),
         "a `std::function` that nothing was assigned to can't be called");
}

void need_rows(const Tensor& x, const char* function) {
  if (x.rank() > 0 && x.shape()[0] == 0)
    fail(Code::E1102, cat("`", function, "` over no rows has no value to begin with"),
         "without `initializer` it begins with a row of `elems`, and there is none",
         {manual_fix("give `initializer`")});
}

Tensor fold(const char* function, const FoldFn& f, const Tensor& x, const MaybeIn& initial,
            bool backwards, bool back_prop) {
  Tensor n = rows_of(x);  // refuses what has no rows
  if (!initial.given()) need_rows(x, function);
  Tensor start = initial.given() ? initial.tensor(x.dtype()) : first_row(x, backwards);
  Tensors out = over_rows(x, initial.given() ? 0 : 1, {start}, backwards,
                          [&](std::span<const Tensor> v, const Tensor& row,
                              const Tensor&) -> Tensors { return {f(v[0], row)}; });
  return back_prop ? out[0] : without_gradient(out)[0];
}

}  // namespace

// Several tensors with as many rows each: one row stands for any number of them.
static std::vector<Tensor> with_rows_alike(std::span<const Tensor> elems) {
  if (elems.empty()) fail(Code::E1104, "vectorized_map: `elems` holds no tensor");
  auto rows = [](const Tensor& t) { return t.rank() > 0 ? t.shape()[0] : kUnknown; };
  for (const Tensor& t : elems) rows_of(t);  // refuses what has no rows
  const Tensor* most = &elems[0];
  for (const Tensor& t : elems)
    if (rows(*most) == 1 || (rows(*most) == kUnknown && rows(t) > 1)) most = &t;
  std::vector<Tensor> out;
  for (const Tensor& t : elems) {
    if (rows(t) == 1 && rows(*most) != 1) {
      out.push_back(repeat(t, rows_of(*most), {.axis = 0}));
      continue;
    }
    if (rows(t) >= 0 && rows(*most) >= 0 && rows(t) != rows(*most))
      fail(Code::E1102, cat("vectorized_map: tensors of ", rows(*most), " and of ", rows(t),
                            " rows, expected as many of each"));
    if (&t != most && (rows(t) < 0 || rows(*most) < 0))
      debugging::assert_equal(rows_of(t), rows_of(*most),
                              {.message = "vectorized_map: other numbers of rows"});
    out.push_back(t);
  }
  return out;
}

Tensors detail::map_rows(std::span<const Tensor> elems, const LoopFn& code) {
  std::vector<Tensor> all = with_rows_alike(elems);
  Tracer* around = current_trace();
  auto graph = make_ref<Graph>(make_ref<Scope>(ScopeKind::kMap, "vectorized_map",
                                               around ? around->graph()->scope : nullptr));
  std::vector<ElementType> types;
  Tracer tracer(graph);
  {
    Tracing tracing(tracer, false);
    AtSite statement(here());
    std::vector<Tensor> rows;
    for (const Tensor& t : all) {
      Shape row = Shape::unknown();
      if (t.rank() > 0) row = Shape(std::span<const int64_t>(t.shape().dims()).subspan(1));
      rows.push_back(tracer.input(t.dtype(), row, "row"));
    }
    for (const Tensor& t : code(rows)) {
      if (!t.defined()) fail(Code::E1104, "vectorized_map: the code gave an empty Tensor");
      graph->outputs.push_back(tracer.resolve(t));
      types.push_back({t.dtype(), t.shape()});
    }
  }
  tracer.close();
  auto one = make_ref<ConcreteFunction>(graph);

  Tensor n = rows_of(all[0]);
  Tensors variables{Tensor::scalar(0)};
  for (const ElementType& t : types) variables.push_back(list_reserve(t, n));
  Tensors out = while_loop([&](std::span<const Tensor> v) -> Tensors { return {less(v[0], n)}; },
                           [&](std::span<const Tensor> v) {
                             Tensors in, next{add(v[0], 1)};
                             for (const Tensor& t : all) in.push_back(row_at(t, v[0]));
                             for (const Capture& c : graph->captures) in.push_back(c.outer);
                             Tensors made = one->call(in);
                             for (size_t i = 0; i < made.size(); ++i)
                               next.push_back(list_set(v[i + 1], v[0], made[i]));
                             return next;
                           },
                           variables);
  Tensors stacked;
  for (size_t i = 0; i < types.size(); ++i) stacked.push_back(list_stack(out[i + 1], types[i]));
  return stacked;
}

Tensor map_fn(const RowFn& fn, In in, const MapOptions& o) {
  need_code(static_cast<bool>(fn), "map_fn");
  Tensor x = in.tensor();
  Tensor n = rows_of(x);
  std::optional<ElementType> element = o.fn_output_signature;
  Tensor list = list_reserve(element.value_or(ElementType{x.dtype(), Shape::unknown()}), n);
  Tensors out =
      over_rows(x, 0, {list}, false,
                [&](std::span<const Tensor> v, const Tensor& row, const Tensor& at) -> Tensors {
                  Tensor y = fn(row);
                  if (!o.fn_output_signature)
                    element = ElementType{y.dtype(), o.infer_shape ? y.shape() : Shape::unknown()};
                  return {list_set(v[0], at, y)};
                });
  if (!element)
    fail(Code::E1102, "`map_fn` over no rows needs `fn_output_signature` to know what to give",
         "what a row becomes is known once a row was given to the function");
  Tensor stacked = list_stack(out[0], *element);
  return o.back_prop ? stacked : without_gradient({&stacked, 1})[0];
}

Tensor foldl(const FoldFn& fn, In elems, MaybeIn initializer, const FoldOptions& o) {
  need_code(static_cast<bool>(fn), "foldl");
  return fold("foldl", fn, elems.tensor(), initializer, false, o.back_prop);
}
Tensor foldr(const FoldFn& fn, In elems, MaybeIn initializer, const FoldOptions& o) {
  need_code(static_cast<bool>(fn), "foldr");
  return fold("foldr", fn, elems.tensor(), initializer, true, o.back_prop);
}

Tensor scan(const FoldFn& fn, In elems, MaybeIn initializer, const ScanOptions& o) {
  need_code(static_cast<bool>(fn), "scan");
  Tensor x = elems.tensor();
  Tensor n = rows_of(x);
  bool given = initializer.given();
  if (!given) need_rows(x, "scan");
  Tensor start = given ? initializer.tensor(x.dtype()) : first_row(x, o.reverse);
  ElementType element{start.dtype(), o.infer_shape ? start.shape() : Shape::unknown()};
  Tensor list = list_reserve(element, n);
  if (!given) list = list_set(list, o.reverse ? subtract(n, 1) : Tensor::scalar(0), start);
  Tensors out =
      over_rows(x, given ? 0 : 1, {start, list}, o.reverse,
                [&](std::span<const Tensor> v, const Tensor& row, const Tensor& at) -> Tensors {
                  Tensor y = fn(v[0], row);
                  return {y, list_set(v[1], at, y)};
                });
  Tensor stacked = list_stack(out[1], element);
  return o.back_prop ? stacked : without_gradient({&stacked, 1})[0];
}

Tensors switch_case(In branch_index, const std::vector<BranchFn>& branch_fns,
                    const BranchFn& default_fn) {
  if (branch_fns.empty()) fail(Code::E1104, "switch_case: there is no branch");
  for (const BranchFn& fn : branch_fns) need_code(static_cast<bool>(fn), "switch_case");
  Tensor i = branch_index.tensor(int32);
  size_t numbered = branch_fns.size() - (default_fn ? 0 : 1);
  BranchFn rest = default_fn ? default_fn : branch_fns.back();
  for (size_t k = numbered; k-- > 0;)
    rest = [=, first = branch_fns[k]] { return cond(equal(i, static_cast<int>(k)), first, rest); };
  return rest();
}

Tensors detail::choose_case(const std::vector<std::pair<Tensor, BranchFn>>& pairs,
                            const BranchFn& default_fn, const CaseOptions& o) {
  for (const auto& pair : pairs) need_code(static_cast<bool>(pair.second), "case_of");
  if (pairs.empty()) fail(Code::E1104, "case_of: there is no predicate");
  if (o.exclusive) {
    Tensor count = Tensor::scalar(0);
    for (const auto& [pred, fn] : pairs) count = add(count, cast(pred, int32));
    debugging::Assert(less_equal(count, 1),
                      {said("more than one of the exclusive predicates holds")});
  }
  size_t chosen = pairs.size() - (default_fn ? 0 : 1);
  BranchFn rest = default_fn;
  if (!rest)
    rest = [last = pairs.back()] {
      debugging::Assert(last.first,
                        {said("none of the predicates holds, and no default is given")});
      return last.second();
    };
  for (size_t k = chosen; k-- > 0;)
    rest = [=, pair = pairs[k]] { return cond(pair.first, pair.second, rest); };
  return rest();
}

Tensor detail::peek_at(const Tensor& t, const std::vector<std::pair<std::string, Tensor>>& feed) {
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
           "the value depends on it",
           {manual_fix(cat("add it: `", written(Advice::kFeedInput, {n->name}), "`"))});
    part->inputs.push_back(n);
    given.push_back(*found);
  }
  part->outputs.push_back(edge_of(t));
  Plan::build(part)->run(given, out);
  return out[0];
}

}  // namespace holdfast
