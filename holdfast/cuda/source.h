// An expression as CUDA source. Knows no CUDA: text from a list and from how its operands lie.
#pragma once

#include <string>

#include "holdfast/expr/layout.h"

namespace holdfast::cuda {

inline constexpr int kThreads = 256;  // a block, where a row does not need more

/// Everything beside the list that shapes the source; two equal ones are one kernel.
struct Spec {
  InlineVector<Access, 8> access;  // of each load
  int axes = 0;                    // that strided loads are found by
  bool wide = false;               // 2^31 elements or more
  int vector = 1;                  // elements that a load takes
  int unroll = 1;                  // loads in flight, where there are no rows

  bool operator==(const Spec&) const = default;
};

/// The threads that share a row.
struct Team {
  int threads;  // a power of two
  int packs;    // vectors that each thread holds
  int block;    // threads of a block: one team, or several
};
/// `cell`: bytes of the widest element that a thread holds.
Team team_of(int64_t row, int vector, int64_t cell);
/// Bytes of the widest element that is read or written in the order of the domain.
int64_t widest(const Expr&, std::span<const int> loads, std::span<const Access> access);

/// The kernel `expr(load..., output*..., Index n[, Axes])`: n elements, or n rows where the
/// expression has some. `Axes` is an array of Index: the sizes of the axes from the inside out, for
/// narrow ones a multiplier and a shift for each (division by multiplication), then the strides of
/// each strided load.
std::string print_source(const Expr&, std::span<const int> loads, const Spec&);

}  // namespace holdfast::cuda
