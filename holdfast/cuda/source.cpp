#include "holdfast/cuda/source.h"

#include <algorithm>
#include <bit>

#include "holdfast/base/text.h"
#include "holdfast/cuda/statements.h"

namespace holdfast::cuda {
namespace {

constexpr int kMostInTeam = 1024;   // threads
constexpr int64_t kHeldBytes = 32;  // of each value that a thread holds of its row, where it can

// The offsets of strided loads at element `at`, as statements.
std::string offsets(const Spec& s, const std::vector<size_t>& strided, const char* indent) {
  std::string t = cat(indent, "Index left = at");
  for (size_t i : strided) t += cat(", at", i, " = 0");
  t += ";\n";
  int fixed = s.wide ? 1 : 3;  // arrays before the strides
  for (int k = 0; k < s.axes; ++k) {
    t += cat(indent, "{ const Index ");
    if (k + 1 == s.axes)
      t += "r = left;";
    else if (s.wide)
      t += cat("q = left / axes.at[", k, "], r = left - q * axes.at[", k, "]; left = q;");
    else
      t += cat("q = (__umulhi(left, axes.at[", s.axes + k, "]) + left) >> axes.at[", 2 * s.axes + k,
               "], r = left - q * axes.at[", k, "]; left = q;");
    for (size_t j = 0; j < strided.size(); ++j)
      t += cat(" at", strided[j], " += r * axes.at[", (fixed + static_cast<int>(j)) * s.axes + k,
               "];");
    t += " }\n";
  }
  return t;
}

// What both kinds of kernel know of the list.
class Printer {
 public:
  Printer(const Expr& e, std::span<const int> loads, const Spec& s)
      : e_(e), loads_(loads), s_(s), words_(e) {
    for (size_t i = 0; i < loads.size(); ++i)
      if (s.access[i] == Access::kStrided) strided_.push_back(i);
  }

  std::string text() {
    std::string t = "#include \"holdfast/cuda/fold_device.h\"\nnamespace holdfast::scalar {\n";
    t += cat("using Index = ", s_.wide ? "unsigned long long" : "unsigned", ";\n");
    t += "template <class E, int N> struct alignas(sizeof(E) * N) Pack { E e[N]; };\n";
    if (s_.axes)
      t += cat("struct Axes { Index at[",
               s_.axes * (static_cast<int>(strided_.size()) + (s_.wide ? 1 : 3)), "]; };\n");
    t += words_.functions();
    return t + (e_.row() ? rows() : flat()) + "}\n}\n";
  }

 private:
  DType dtype(int v) const { return e_.dtype(v); }
  bool per_row(int v) const { return e_.values()[static_cast<size_t>(v)].per_row; }
  // Whether a load has another element for each thread's place in the domain.
  bool moves(size_t i) const {
    return !per_row(loads_[i]) && s_.access[i] != Access::kOne && s_.access[i] != Access::kValue;
  }

  std::string header(int block) const {
    std::string t = cat("extern \"C\" __global__ void __launch_bounds__(", block, ") expr(");
    for (size_t i = 0; i < loads_.size(); ++i)
      t += s_.access[i] == Access::kValue
               ? cat("const ", c_type(computed_in(dtype(loads_[i]))), " a", i, ", ")
               : cat("const ", c_type(dtype(loads_[i])), "* __restrict__ a", i, ", ");
    for (size_t k = 0; k < e_.stores().size(); ++k)
      t += cat(c_type(dtype(e_.stores()[k])), "* __restrict__ out", k, ", ");
    return t + cat("const Index n", s_.axes ? ", const Axes axes" : "", ") {\n");
  }

  // Loads that are the same for all elements that a thread sees.
  std::string fixed_loads(const char* row) const {
    std::string t;
    for (size_t i = 0; i < loads_.size(); ++i) {
      if (moves(i)) continue;
      const char* type = c_type(dtype(loads_[i]));
      std::string from = s_.access[i] == Access::kValue ? cat("static_cast<", type, ">(a", i, ")")
                         : s_.access[i] == Access::kOne ? cat("*a", i)
                                                        : cat("a", i, "[", row, "]");
      t += cat("  const ", type, " x", loads_[i], " = ", from, ";\n");
    }
    return t;
  }

  // -- no rows: every thread computes some elements
  std::string flat() {
    std::string f = "__device__ __forceinline__ void f(";
    for (int v : loads_) f += cat("const ", c_type(dtype(v)), " x", v, ", ");
    for (size_t k = 0; k < e_.stores().size(); ++k)
      f += cat(k ? ", " : "", c_type(dtype(e_.stores()[k])), "& y", k);
    f += ") {\n";
    for (const Instruction& k : e_.code())
      if (k.does != Does::kSame)
        f +=
            cat("  const ", c_type(dtype(k.result)), " v", k.result, " = ", words_.value(k), ";\n");
    for (size_t k = 0; k < e_.stores().size(); ++k)
      f += cat("  y", k, " = ", words_.name(e_.stores()[k]), ";\n");
    return f + "}\n" + header(kThreads) + fixed_loads("") +
           (strided_.empty() ? dense_body() : strided_body());
  }

  template <class Load, class Store>
  std::string call(Load&& load, Store&& store) const {
    std::string t = "f(";
    for (size_t i = 0; i < loads_.size(); ++i)
      t += cat(moves(i) ? load(i) : cat("x", loads_[i]), ", ");
    for (size_t k = 0; k < e_.stores().size(); ++k) t += cat(k ? ", " : "", store(k));
    return t + ");\n";
  }

  std::string dense_body() const {
    std::string t =
        cat("  constexpr int V = ", s_.vector, ", U = ", s_.unroll, ", B = ", kThreads, ";\n");
    t += "  const Index base = Index(blockIdx.x) * (B * V * U) + threadIdx.x * V;\n";
    t += "  if (base + (B * V * (U - 1) + V) <= n) {\n";
    for (size_t i = 0; i < loads_.size(); ++i)
      if (moves(i)) t += cat("    Pack<", c_type(dtype(loads_[i])), ", V> p", i, "[U];\n");
    t += "    #pragma unroll\n    for (int u = 0; u < U; ++u) {\n";
    t += "      const Index at = base + Index(u) * (B * V);\n";
    for (size_t i = 0; i < loads_.size(); ++i)
      if (moves(i))
        t += cat("      p", i, "[u] = *reinterpret_cast<const Pack<", c_type(dtype(loads_[i])),
                 ", V>*>(a", i, " + at);\n");
    t += "    }\n    #pragma unroll\n    for (int u = 0; u < U; ++u) {\n";
    for (size_t k = 0; k < e_.stores().size(); ++k)
      t += cat("      Pack<", c_type(dtype(e_.stores()[k])), ", V> r", k, ";\n");
    t += "      #pragma unroll\n      for (int k = 0; k < V; ++k) ";
    t += call([&](size_t i) { return cat("p", i, "[u].e[k]"); },
              [&](size_t k) { return cat("r", k, ".e[k]"); });
    for (size_t k = 0; k < e_.stores().size(); ++k)
      t += cat("      *reinterpret_cast<Pack<", c_type(dtype(e_.stores()[k])), ", V>*>(out", k,
               " + base + Index(u) * (B * V)) = r", k, ";\n");
    t += "    }\n    return;\n  }\n";
    t += "  for (int u = 0; u < U; ++u)\n    for (int k = 0; k < V; ++k) {\n";
    t += "      const Index at = base + Index(u) * (B * V) + k;\n      if (at < n) ";
    t += call([&](size_t i) { return cat("a", i, "[at]"); },
              [&](size_t k) { return cat("out", k, "[at]"); });
    return t + "    }\n";
  }

  // All loads come before the first store, so that they are in flight together.
  std::string strided_body() const {
    std::string t = cat("  constexpr int U = ", s_.unroll, ", B = ", kThreads, ";\n");
    t += "  const Index base = Index(blockIdx.x) * (B * U) + threadIdx.x;\n";
    for (size_t i = 0; i < loads_.size(); ++i)
      if (moves(i)) t += cat("  ", c_type(dtype(loads_[i])), " p", i, "[U];\n");
    t += "  #pragma unroll\n  for (int u = 0; u < U; ++u) {\n";
    t +=
        "    const Index at = base + u * B;\n    if (at < n) {\n" + offsets(s_, strided_, "      ");
    for (size_t i = 0; i < loads_.size(); ++i)
      if (moves(i))
        t += cat("      p", i, "[u] = a", i,
                 s_.access[i] == Access::kStrided ? cat("[at", i, "];\n") : "[at];\n");
    t += "    }\n  }\n  #pragma unroll\n  for (int u = 0; u < U; ++u) {\n";
    t += "    const Index at = base + u * B;\n    if (at < n) ";
    t += call([&](size_t i) { return cat("p", i, "[u]"); },
              [&](size_t k) { return cat("out", k, "[at]"); });
    return t + "  }\n";
  }

  // -- rows: a team of threads holds one, and walks over it once for each fold that waits for
  // another
  std::string rows() {
    Team team = team_of(e_.row(), s_.vector, widest(e_, loads_, s_.access));
    std::string t = header(team.block);
    t += cat("  constexpr int R = ", e_.row(), ", V = ", s_.vector, ", K = ", team.packs,
             ", TEAM = ", team.threads, ", BLOCK = ", team.block, ";\n");
    // Threads without a row walk along, for the others wait for them where a team joins.
    t += "  const Index mine = Index(blockIdx.x) * (BLOCK / TEAM) + threadIdx.x / TEAM;\n";
    t += "  const bool live = mine < n;\n  const Index row = live ? mine : n - 1;\n";
    t += "  const unsigned lane = threadIdx.x % TEAM;\n";
    t += fixed_loads("row");
    full_ = e_.row() % (int64_t{team.threads} * s_.vector) == 0;
    std::vector<bool> moving(e_.values().size(), false);
    for (size_t i = 0; i < loads_.size(); ++i) moving[static_cast<size_t>(loads_[i])] = moves(i);
    Walks walks(e_, words_, std::move(moving));
    for (int w = 0; w < walks.count(); ++w) t += walk(walks, w);
    return t;
  }

  // The beginning of a loop over what a thread holds of its row.
  std::string packs() const {
    return cat("  #pragma unroll\n  for (int k = 0; k < K; ++k) {\n",
               "    const unsigned col = (k * TEAM + lane) * V;\n",
               full_ ? "    {\n" : "    if (col < R) {\n");
  }

  std::string walk(const Walks& walks, int w) const {
    std::string t;
    for (const Instruction& k : e_.code())
      if (k.does != Does::kFold && k.does != Does::kSame && per_row(k.result) &&
          walks.of(k.result) == w)
        t +=
            cat("  const ", c_type(dtype(k.result)), " v", k.result, " = ", words_.value(k), ";\n");
    t += stores_a_row(walks, w) + row_loads(walks, w);
    std::string inside = elements(walks, w), folds;
    if (inside.empty()) return t;
    for (const Instruction& k : e_.code()) {
      if (per_row(k.result) || k.does == Does::kSame) continue;
      if (walks.of(k.result) == w && walks.held(k.result))
        t += cat("  ", c_type(dtype(k.result)), " v", k.result, "[K * V];\n");
    }
    for (const Instruction& k : e_.code()) {
      if (k.does != Does::kFold || walks.of(k.result) != w + 1) continue;
      const char* type = c_type(dtype(k.result));
      std::string f = cat("F", k.result);
      t += cat("  using ", f, " = ", words_.fold(k), ";\n  ", f, "::Cell c", k.result, " = ", f,
               "::nothing();\n");
      folds += cat("  __shared__ ", f, "::Cell parts", k.result, "[BLOCK / 32];\n  const ", type,
                   " v", k.result, " = static_cast<", type, ">(", f, "::result(join_team<", f,
                   ", TEAM, BLOCK>(c", k.result, ", parts", k.result, "), R));\n");
    }
    return t + packs() + inside + "    }\n  }\n" + folds;
  }

  std::string stores_a_row(const Walks& walks, int w) const {
    std::string t;
    for (size_t k = 0; k < e_.stores().size(); ++k)
      if (int v = e_.stores()[k]; per_row(v) && walks.of(v) == w)
        t += cat("  if (live && lane == 0) out", k, "[row] = ", words_.name(v), ";\n");
    return t;
  }

  // Loads whose first reader is in this walk.
  std::string row_loads(const Walks& walks, int w) const {
    std::string t, body;
    bool strides = false;
    for (size_t i = 0; i < loads_.size(); ++i) {
      int v = loads_[i];
      if (!moves(i) || walks.first(v) != w) continue;
      const char* type = c_type(dtype(v));
      t += cat("  ", type, " x", v, "[K * V];\n");
      if (s_.access[i] == Access::kStrided) {
        strides = true;
        continue;
      }
      body += cat("      { const auto p = *reinterpret_cast<const Pack<", type, ", V>*>(a", i,
                  s_.access[i] == Access::kDense ? " + row * R + col);\n" : " + col);\n",
                  "        #pragma unroll\n        for (int j = 0; j < V; ++j) x", v,
                  "[k * V + j] = p.e[j]; }\n");
    }
    if (strides) {
      body += "      #pragma unroll\n      for (int j = 0; j < V; ++j) {\n";
      body += "        const Index at = row * R + col + j;\n" + offsets(s_, strided_, "        ");
      for (size_t i : strided_)
        if (walks.first(loads_[i]) == w)
          body += cat("        x", loads_[i], "[k * V + j] = a", i, "[at", i, "];\n");
      body += "      }\n";
    }
    return t.empty() ? t : t + packs() + body + "    }\n  }\n";
  }

  // What is done to each element of the row; empty where there is nothing.
  std::string elements(const Walks& walks, int w) const {
    std::string each, before, after;
    for (const Instruction& k : e_.code()) {
      if (k.does == Does::kFold) {
        if (walks.of(k.result) == w + 1)
          each += cat("        c", k.result, " = F", k.result, "::join(c", k.result, ", F",
                      k.result, "::taken(", words_.name(k.operands[0], &walks), "));\n");
        continue;
      }
      if (k.does == Does::kSame || per_row(k.result) || walks.of(k.result) != w) continue;
      std::string value = words_.value(k, &walks);
      each += walks.held(k.result) ? cat("        v", k.result, "[k * V + j] = ", value, ";\n")
                                   : cat("        const ", c_type(dtype(k.result)), " v", k.result,
                                         " = ", value, ";\n");
    }
    for (size_t k = 0; k < e_.stores().size(); ++k) {
      int v = e_.stores()[k];
      if (per_row(v) || walks.of(v) != w) continue;
      const char* type = c_type(dtype(v));
      before += cat("      Pack<", type, ", V> r", k, ";\n");
      each += cat("        r", k, ".e[j] = ", words_.name(v, &walks), ";\n");
      after += cat("      if (live) *reinterpret_cast<Pack<", type, ", V>*>(out", k,
                   " + row * R + col) = r", k, ";\n");
    }
    if (each.empty()) return each;
    return before + "      #pragma unroll\n      for (int j = 0; j < V; ++j) {\n" + each +
           "      }\n" + after;
  }

  const Expr& e_;
  std::span<const int> loads_;
  const Spec& s_;
  Words words_;
  std::vector<size_t> strided_;  // loads
  bool full_ = false;            // rows fill their teams
};

}  // namespace

Team team_of(int64_t row, int vector, int64_t cell) {
  auto fitting = [](int64_t n) {
    return static_cast<int>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
  };
  int64_t held = std::max<int64_t>(kHeldBytes / cell, 1);
  int threads = std::max(fitting((row + held - 1) / held),
                         std::min(32, fitting((row + vector - 1) / vector)));
  threads = std::min(threads, kMostInTeam);
  int64_t step = int64_t{threads} * vector;
  return {threads, static_cast<int>((row + step - 1) / step), std::max(threads, kThreads)};
}

int64_t widest(const Expr& e, std::span<const int> loads, std::span<const Access> access) {
  int64_t most = 1;
  for (size_t i = 0; i < loads.size(); ++i)
    if (access[i] == Access::kDense || access[i] == Access::kColumn)
      most = std::max(most, size_of(e.dtype(loads[i])));
  for (int v : e.stores()) most = std::max(most, size_of(e.dtype(v)));
  return most;
}

std::string print_source(const Expr& e, std::span<const int> loads, const Spec& s) {
  return Printer(e, loads, s).text();
}

}  // namespace holdfast::cuda
