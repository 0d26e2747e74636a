#include "holdfast/ops/training/rule.h"

#include <algorithm>
#include <vector>

#include "holdfast/base/parallel.h"
#include "holdfast/base/text.h"
#include "holdfast/ops/array/scatter_loops.h"
#include "holdfast/ops/array/write_variable.h"

namespace holdfast::train {
namespace {

// What the gradient of a variable of shape `var` looks like.
Shape gradient_shape(const Shape& var, const Shape* indices) {
  if (!indices || !var.has_rank() || var.rank() < 1) return var;
  Dims want(var.begin(), var.end());
  want[0] = indices->has_rank() && indices->rank() == 1 ? (*indices)[0] : kUnknown;
  return Shape(want);
}

// What `infer` could not see: the values that are there now.
Status misfit(const Call& c, const Parts& p, const Memory& held) {
  const Shape& var = held[0]->shape();
  for (int i = 1; i < p.cells; ++i)
    if (held[static_cast<size_t>(i)]->shape() != var)
      return {Code::E1102, cat(c.op.name, ": `", c.op.inputs[static_cast<size_t>(i)].name,
                               "` has shape ", held[static_cast<size_t>(i)]->shape().text(),
                               ", expected ", var.text(), ", that of `var`")};
  const Tensor& grad = c.in(p.grad);
  const Shape* rows = p.indices < 0 ? nullptr : &c.in(p.indices).shape();
  if (rows && var.rank() < 1)
    return {Code::E1102, cat(c.op.name, ": `var` is a scalar, expected rank 1 or more")};
  if (Shape want = gradient_shape(var, rows); grad.shape() != want)
    return {Code::E1102, cat(c.op.name, ": `", c.op.inputs[static_cast<size_t>(p.grad)].name,
                             "` has shape ", grad.shape().text(), ", expected ", want.text())};
  for (int i : p.numbers)
    if (c.in(i).rank() != 0)
      return {Code::E1102, cat(c.op.name, ": `", c.op.inputs[static_cast<size_t>(i)].name,
                               "` has shape ", c.in(i).shape().text(), ", expected one number")};
  return rows ? check_indices(c.op.name.c_str(), c.in(p.indices), var[0]) : Status();
}

// A variable, and where its memory is noted.
using Place = std::pair<VariableState*, const Tensor**>;

// Takes hold of one variable after the other, always in the order of their addresses, so that two
// steps over the same variables cannot wait for each other.
Status hold(std::span<const Place> left, const std::function<Status()>& then) {
  if (left.empty()) return then();
  return write_variable(left[0].first, [&](const Tensor& memory) {
    *left[0].second = &memory;
    return hold(left.subspan(1), then);
  });
}

// Elements of all moves, one after the other, in pieces of one length.
void run(std::span<const Move> moves) {
  constexpr int64_t kPiece = 1 << 13;
  if (moves.size() == 1) return parallel_for(moves[0].size, kPiece, moves[0].run);
  std::vector<int64_t> ends;
  for (const Move& m : moves) ends.push_back((ends.empty() ? 0 : ends.back()) + m.size);
  parallel_for(ends.back(), kPiece, [&](int64_t begin, int64_t end) {
    auto i = static_cast<size_t>(std::upper_bound(ends.begin(), ends.end(), begin) - ends.begin());
    for (; begin < end; ++i) {
      int64_t first = ends[i] - moves[i].size, last = std::min(end, ends[i]);
      if (begin < last) moves[i].run(begin - first, last - first);
      begin = std::max(begin, last);
    }
  });
}

auto& rules() {
  static auto& noted = *new std::vector<std::pair<KernelFn, MoveFn>>;
  return noted;
}

}  // namespace

Parts::Parts(const OpDef& op) {
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const InputDef& in = op.inputs[i];
    if (in.group == "R")
      ++cells;
    else if (in.name == "grad" || in.name == "delta")
      grad = static_cast<int>(i);
    else if (in.name == "indices")
      indices = static_cast<int>(i);
    else
      numbers.push_back(static_cast<int>(i));
  }
}

void infer_move(Infer& s) {
  Parts p(s.op());
  VariableState* var = variable_state(s.input(0));
  if (s.dtype(p.grad) != var->dtype)
    s.bad_dtype(p.grad, cat(name(var->dtype), ", the dtype of variable `", var->name, "`"));
  for (int i = 1; i < p.cells; ++i) {
    VariableState* kept = variable_state(s.input(i));
    const std::string& argument = s.op().inputs[static_cast<size_t>(i)].name;
    if (kept->dtype != var->dtype)
      s.bad_value(argument, cat("variable `", kept->name, "` of ", name(kept->dtype)),
                  cat("a variable of ", name(var->dtype), ", as `var` is"));
    if (!kept->shape.compatible(var->shape))
      s.bad_value(argument, cat("variable `", kept->name, "` of shape ", kept->shape.text()),
                  cat("one of shape ", var->shape.text(), ", that of `var`"));
    for (int j = 0; j < i; ++j)
      if (variable_state(s.input(j)) == kept)
        s.bad_value(argument, cat("variable `", kept->name, "`"),
                    cat("another variable than `", s.op().inputs[static_cast<size_t>(j)].name,
                        "`: both change"));
  }
  for (int i : p.numbers) s.need_rank(i, 0, 0);
  const Shape* rows = nullptr;
  if (p.indices >= 0) {
    s.need_rank(p.indices, 1, 1);
    rows = &s.shape(p.indices);
    if (var->shape.has_rank() && var->shape.rank() < 1)
      s.bad_value("var", cat("variable `", var->name, "`, a scalar"), "rank 1 or more");
  }
  if (Shape want = gradient_shape(var->shape, rows); !want.compatible(s.shape(p.grad)))
    s.bad_shape(p.grad, cat("shape ", want.text(), " for variable `", var->name, "`"));
}

Status move_variables(Call& c, MoveFn move) { return move_together({&c, 1}, move); }

Status move_together(std::span<Call> calls, MoveFn move) {
  Parts p(calls[0].op);
  InlineVector<Memory, 1> held(calls.size());
  InlineVector<Place, 4> order;
  for (size_t k = 0; k < calls.size(); ++k) {
    held[k].resize(static_cast<size_t>(p.cells), nullptr);
    for (int i = 0; i < p.cells; ++i)
      order.push_back({variable_state(calls[k].in(i)), &held[k][static_cast<size_t>(i)]});
  }
  std::sort(order.begin(), order.end(), [](const Place& a, const Place& b) {
    return std::less<VariableState*>()(a.first, b.first);
  });
  for (size_t i = 1; i < order.size(); ++i)
    if (order[i].first == order[i - 1].first)
      return {Code::E1103, cat(calls[0].op.name, ": variable `", order[i].first->name,
                               "` came twice, expected a variable of its own for each argument")};
  return hold({order.begin(), order.end()}, [&]() -> Status {
    for (size_t k = 0; k < calls.size(); ++k)
      if (Status s = misfit(calls[k], p, held[k]); !s.ok()) return s;
    InlineVector<Move, 1> moves;
    for (size_t k = 0; k < calls.size(); ++k) moves.push_back(move(calls[k], p, held[k]));
    run({moves.begin(), moves.end()});
    return {};
  });
}

void note_rule(KernelFn kernel, MoveFn move) { rules().emplace_back(kernel, move); }

MoveFn rule_of(const OpDef& op) {
  for (const Kernel& k : op.kernels)
    for (auto [kernel, move] : rules())
      if (k.run && k.run == kernel) return move;
  return nullptr;
}

}  // namespace holdfast::train
