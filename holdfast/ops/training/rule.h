// How a rule for one element becomes an op that moves whole variables.
//
//   template <class W> struct Momentum {
//     static constexpr int kCells = 2;              // the variable, and what is kept beside it
//     Momentum(const W* k, bool flag);              // the op's numbers, in their order, and its
//     flag void operator()(W* at, W g) const;            // moves at[0], at[1] along the gradient g
//   };
//   const Op op = moves<Momentum>(RAW_OP(ResourceApplyMomentum), "var: R, accum: R, lr, grad,
//   ...");
//
// Which input is what is told by its name: variables are of group R, the gradient is called `grad`
// or `delta`, the rows of a sparse one `indices`, and all others are numbers.
#pragma once

#include <array>
#include <functional>
#include <span>

#include "holdfast/expr/cpu/instruction_sets.h"
#include "holdfast/op/op.h"
#include "holdfast/op/variable.h"
#include "holdfast/tensor/complex.h"
#include "holdfast/tensor/indexed_slices.h"
#include "holdfast/tensor/visit.h"

namespace holdfast::train {

/// The inputs of an op by what they are.
struct Parts {
  int cells = 0, grad = -1, indices = -1;
  InlineVector<int, 8> numbers;
  explicit Parts(const OpDef& op);
};

/// The memory of the variables while a rule runs, which nobody else sees.
using Memory = InlineVector<const Tensor*, 4>;
/// A rule over `size` elements, of which `run(begin, end)` moves some. Nothing is left of a rule
/// that had to go row by row.
struct Move {
  int64_t size = 0;
  std::function<void(int64_t, int64_t)> run;
};
using MoveFn = Move (*)(const Call&, const Parts&, const Memory&);

/// Checks the operands, takes hold of the variables, and moves them.
Status move_variables(Call& c, MoveFn move);
/// The same for several calls of one op, whose variables are all different: nothing moves if one is
/// refused, and threads share all elements.
Status move_together(std::span<Call> calls, MoveFn move);
/// Keeps by which rule a kernel moves variables; what it was for the kernel of an op, null for
/// others.
void note_rule(KernelFn kernel, MoveFn move);
MoveFn rule_of(const OpDef& op);
void infer_move(Infer& s);
/// One number of the op.
template <class W>
W number(const Tensor& t) {
  W found{};
  if (t.dtype() == int64) return static_cast<W>(static_cast<double>(t.raw<int64_t>()[0]));
  auto read = [&]<class T>(T) {
    if constexpr (std::is_convertible_v<float_of<T>, W>)
      found = static_cast<W>(static_cast<float_of<T>>(t.raw<T>()[0]));
  };
  visit_floats(t.dtype(), read);
  if (t.dtype() == DType::kComplex64) read(complex64{});
  if (t.dtype() == DType::kComplex128) read(complex128{});
  return found;
}

namespace detail {

template <class T, class R>
inline __attribute__((always_inline)) void move_each(const R& rule,
                                                     const std::array<T*, R::kCells>& at,
                                                     const T* g, int64_t begin, int64_t end) {
  using W = float_of<T>;
  const R by = rule;  // copies, which no store into a variable can change
  T* to[R::kCells];
  for (size_t j = 0; j < R::kCells; ++j) to[j] = at[j];
#pragma GCC ivdep
  for (int64_t i = begin; i < end; ++i) {
    W cells[R::kCells];
    for (size_t j = 0; j < R::kCells; ++j) cells[j] = static_cast<W>(to[j][i]);
    by(cells, static_cast<W>(g[i]));
    for (size_t j = 0; j < R::kCells; ++j) to[j][i] = static_cast<T>(cells[j]);
  }
}

#ifdef __x86_64__
// Roots and quotients of four floats at a time take longer than memory does. AVX2 alone, without
// fused multiply-adds: the same bits on every processor.
template <class T, class R>
__attribute__((target("avx2"))) void move_wide(const R& rule, const std::array<T*, R::kCells>& at,
                                               const T* g, int64_t begin, int64_t end) {
  move_each<T, R>(rule, at, g, begin, end);
}
#endif

template <class T, class R>
void move_run(const R& rule, const std::array<T*, R::kCells>& at, const T* g, int64_t begin,
              int64_t end) {
#ifdef __x86_64__
  if (best_isa() != Isa::kBaseline) return move_wide<T, R>(rule, at, g, begin, end);
#endif
  move_each<T, R>(rule, at, g, begin, end);
}

template <class T, class R>
void move_rows(const R& rule, const std::array<T*, R::kCells>& at, const T* g,
               const Tensor& indices, int64_t inner) {
  visit_indices(indices.dtype(), [&]<class I>(I) {
    // One row after the other: a row that is named twice moves twice.
    for (int64_t i = 0, n = indices.size(); i < n; ++i) {
      std::array<T*, R::kCells> row = at;
      for (T*& p : row) p += static_cast<int64_t>(indices.raw<I>()[i]) * inner;
      move_run<T, R>(rule, row, g + i * inner, 0, inner);
    }
  });
}

template <template <class> class Rule, auto Flag>
Move move_all(const Call& c, const Parts& p, const Memory& held) {
  Move out;
  bool flag = false;
  if constexpr (!std::is_null_pointer_v<decltype(Flag)>)
    flag = (c.attrs<holdfast::detail::OwnerOf<Flag>>().*Flag)();
  auto as = [&]<class T>(T) {
    using W = float_of<T>;
    using R = Rule<W>;
    W numbers[10];
    for (size_t i = 0; i < p.numbers.size(); ++i) numbers[i] = number<W>(c.in(p.numbers[i]));
    R rule(numbers, flag);
    std::array<T*, R::kCells> at;
    for (size_t i = 0; i < R::kCells; ++i) at[i] = held[i]->mutable_raw<T>();
    const T* g = c.in(p.grad).raw<T>();
    if (p.indices >= 0) {
      int64_t rows = held[0]->dim(0);
      return move_rows<T, R>(rule, at, g, c.in(p.indices), rows ? held[0]->size() / rows : 0);
    }
    out = {held[0]->size(),
           [=](int64_t begin, int64_t end) { move_run<T, R>(rule, at, g, begin, end); }};
  };
  DType d = held[0]->dtype();
  visit_floats(d, as);
  if constexpr (!requires { Rule<float>::kReal; }) {
    if (d == DType::kComplex64) as(complex64{});
    if (d == DType::kComplex128) as(complex128{});
  }
  return out;
}

inline void add(InlineVector<Tensor, 12>& to, const Variable& v, DType) {
  to.push_back(v.handle());
}
inline void add(InlineVector<Tensor, 12>& to, const In& x, DType d) { to.push_back(x.tensor(d)); }
inline void add(InlineVector<Tensor, 12>& to, const IndexedSlices& s, DType) {
  to.push_back(s.values);
  to.push_back(s.indices);
}

}  // namespace detail

/// An op that moves variables by a rule; `Flag` is its attribute beside `use_locking`.
template <template <class> class Rule, auto Flag = nullptr>
Builder& moves(Builder& b, const char* inputs, bool flag_default = false) {
  constexpr bool kReal = requires { Rule<float>::kReal; };
  b.inputs(inputs)
      .dtypes(kReal ? kFloats : kFloats | kComplexes)
      .resource(VariableState::kKind)
      .dtypes(kIndices, "Tindices")
      .dtypes({int64}, "Step")
      .attr("use_locking", false);
  if constexpr (!std::is_null_pointer_v<decltype(Flag)>) {
    using A = holdfast::detail::OwnerOf<Flag>;
    b.attr(std::string(holdfast::detail::field_name<Flag>()).c_str(), flag_default)
        .template attrs<&A::use_locking, Flag>();
  }
  constexpr MoveFn kMove = detail::move_all<Rule, Flag>;
  KernelFn kernel = +[](Call& c) { return move_variables(c, kMove); };
  note_rule(kernel, kMove);
  return b.stateful().no_gradient().outputs("").infer(infer_move).kernel("in place", kernel);
}

/// Runs such an op: variables by their handles, numbers in the dtype of the first variable.
template <class... A>
void step(const Op& op, Attrs attrs, const Variable& var, const A&... rest) {
  InlineVector<Tensor, 12> in;
  in.push_back(var.handle());
  (detail::add(in, rest, var.dtype()), ...);
  op.list(Tensors(in.begin(), in.end()), std::move(attrs));
}

}  // namespace holdfast::train
