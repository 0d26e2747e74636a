// `vectorized_map`: code that is written for one row, for all of them.
#pragma once

#include "holdfast/exec/control.h"
#include "holdfast/exec/structure.h"

namespace holdfast {
namespace detail {

/// `code` of each row, stacked; it is traced once, for one row. One row stands for any number.
HOLDFAST_API Tensors map_rows(std::span<const Tensor> elems, const LoopFn& code);

template <class R>
R mapped(std::span<const Tensor> elems,
         const Callback<Tensors(std::span<const Tensor>, Form&)>& code) {
  Form form;
  Tensors out = map_rows(elems, [&](std::span<const Tensor> rows) { return code(rows, form); });
  return put_together<R>(std::move(out), form);
}

}  // namespace detail

/// `fn` of each row of `elems`, stacked: a tensor, or a pair, a struct, a list of them. It is
/// traced once, for one row.
///
///   Tensor squares = vectorized_map([](Tensor row) { return row * row; }, x);
template <class F>
auto vectorized_map(F fn, const In& elems) {
  static_assert(std::is_invocable_v<F&, Tensor>,
                "holdfast::vectorized_map: the code takes one row, as a Tensor");
  using R = std::decay_t<std::invoke_result_t<F&, Tensor>>;
  Tensor all = elems.tensor();
  return detail::mapped<R>({&all, 1}, [&](std::span<const Tensor> rows, detail::Form& form) {
    return detail::taken_apart<R>(fn(rows[0]), form);
  });
}
/// The same over the rows of several tensors: `fn` takes a pair, a struct or a list as `elems` is,
/// with one row in the place of each tensor.
template <class F, class E>
  requires(!ConvertsTo<const E&, In>)
auto vectorized_map(F fn, const E& elems,
                    const std::source_location& at = std::source_location::current()) {
  static_assert(std::is_invocable_v<F&, E>,
                "holdfast::vectorized_map: the code takes what the rows are given as, with one row "
                "of each: `[](std::pair<Tensor, Tensor> row) { ... }`");
  using R = std::decay_t<std::invoke_result_t<F&, E>>;
  mark_caller(at);
  E form_of_rows = elems;
  detail::Parts parts;
  detail::visit_parts(parts, form_of_rows);
  return detail::mapped<R>({parts.tensors.data(), parts.tensors.size()},
                           [&](std::span<const Tensor> rows, detail::Form& form) {
                             E row = form_of_rows;
                             detail::Filling filling{rows};
                             detail::visit_parts(filling, row);
                             return detail::taken_apart<R>(fn(std::move(row)), form);
                           });
}

}  // namespace holdfast
