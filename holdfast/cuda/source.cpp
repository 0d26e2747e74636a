#include "holdfast/cuda/source.h"

#include "holdfast/base/text.h"

namespace holdfast::cuda {
namespace {

const char* c_type(DType d) {
  switch (d) {
    case DType::kBool: return "bool";
    case DType::kInt8: return "signed char";
    case DType::kInt16: return "short";
    case DType::kInt32: return "int";
    case DType::kInt64: return "long long";
    case DType::kUInt8: return "unsigned char";
    case DType::kUInt16: return "unsigned short";
    case DType::kUInt32: return "unsigned";
    case DType::kUInt64: return "unsigned long long";
    case DType::kFloat16: return "half";
    case DType::kBFloat16: return "bfloat";
    case DType::kFloat32: return "float";
    case DType::kFloat64: return "double";
    case DType::kComplex64: return "unsigned long long";  // only moved, never computed with
    case DType::kComplex128: return "cell16";
    default: return "void";
  }
}

constexpr const char* kNames[kMostOperands] = {"x", "y", "z"};

// f(first(x), second(y), ...)
template <class F>
std::string call(const ExprSpec& s, F&& argument) {
  std::string text = "f(";
  for (int i = 0; i < s.operands; ++i) text += cat(i ? ", " : "", argument(i));
  return text + ")";
}

// How operand `i` is read at element `at` of a dense walk.
std::string element(const ExprSpec& s, int i, const char* at) {
  std::string name = cat("a", i);
  switch (s.access[i]) {
    case Access::kDense: return cat(name, "[", at, "]");
    case Access::kUniform: return cat("*", name);
    default: return name;
  }
}

std::string dense_body(const ExprSpec& s) {
  std::string t = cat("  constexpr int V = ", s.vector, ", U = ", s.unroll, ";\n");
  t +=
      cat("  const Index base = Index(blockIdx.x) * (", kThreads, " * V * U) + threadIdx.x * V;\n");
  t += cat("  if (base + (", kThreads, " * V * (U - 1) + V) <= n) {\n");
  for (int i = 0; i < s.operands; ++i)
    if (s.access[i] == Access::kDense) t += cat("    Pack<A", i, ", V> p", i, "[U];\n");
  t += "    #pragma unroll\n    for (int u = 0; u < U; ++u) {\n";
  t += cat("      const Index at = base + Index(u) * (", kThreads, " * V);\n");
  for (int i = 0; i < s.operands; ++i)
    if (s.access[i] == Access::kDense)
      t += cat("      p", i, "[u] = *reinterpret_cast<const Pack<A", i, ", V>*>(a", i, " + at);\n");
  t += "    }\n    #pragma unroll\n    for (int u = 0; u < U; ++u) {\n      Pack<O, V> r;\n";
  t += "      #pragma unroll\n      for (int k = 0; k < V; ++k) r.e[k] = ";
  t += call(s, [&](int i) {
    return s.access[i] == Access::kDense ? cat("p", i, "[u].e[k]") : element(s, i, "");
  });
  t += cat(";\n      *reinterpret_cast<Pack<O, V>*>(out + base + Index(u) * (", kThreads,
           " * V)) = r;\n    }\n    return;\n  }\n");
  t += "  for (int u = 0; u < U; ++u)\n    for (int k = 0; k < V; ++k) {\n";
  t += cat("      const Index at = base + Index(u) * (", kThreads,
           " * V) + k;\n      if (at < n) out[at] = ");
  t += call(s, [&](int i) { return element(s, i, "at"); });
  return t + ";\n    }\n";
}

// All loads come before the first store, so that they are in flight together.
std::string strided_body(const ExprSpec& s) {
  auto loads = [&](int i) {
    return s.access[i] == Access::kDense || s.access[i] == Access::kStrided;
  };
  std::string t =
      cat("  constexpr int U = ", s.unroll, ";\n  const Index base = Index(blockIdx.x) * (",
          kThreads, " * U) + threadIdx.x;\n");
  for (int i = 0; i < s.operands; ++i)
    if (loads(i)) t += cat("  A", i, " v", i, "[U];\n");
  t += cat("  #pragma unroll\n  for (int u = 0; u < U; ++u) {\n    const Index at = base + u * ",
           kThreads, ";\n    if (at < n) {\n      Index left = at");
  for (int i = 0; i < s.operands; ++i)
    if (s.access[i] == Access::kStrided) t += cat(", at", i, " = 0");
  t += ";\n";
  for (int k = 0; k < s.axes; ++k) {
    bool last = k + 1 == s.axes;
    if (!last && s.wide)
      t += cat("      { const Index q = left / axes.size[", k, "], r = left - q * axes.size[", k,
               "]; left = q;");
    else if (!last)
      t += cat("      { const Index q = (__umulhi(left, axes.multiply[", k,
               "]) + left) >> axes.shift[", k, "], r = left - q * axes.size[", k, "]; left = q;");
    else
      t += "      { const Index r = left;";
    for (int i = 0; i < s.operands; ++i)
      if (s.access[i] == Access::kStrided)
        t += cat(" at", i, " += r * axes.stride[", i, "][", k, "];");
    t += " }\n";
  }
  for (int i = 0; i < s.operands; ++i)
    if (loads(i))
      t += cat("      v", i, "[u] = a", i,
               s.access[i] == Access::kDense ? "[at];\n" : cat("[at", i, "];\n"));
  t +=
      cat("    }\n  }\n  #pragma unroll\n  for (int u = 0; u < U; ++u) {\n    const Index at = "
          "base + u * ",
          kThreads, ";\n    if (at < n) out[at] = ");
  t += call(s, [&](int i) { return loads(i) ? cat("v", i, "[u]") : element(s, i, "at"); });
  return t + ";\n  }\n";
}

}  // namespace

DType computed_in(DType d) {
  return d == DType::kFloat16 || d == DType::kBFloat16 ? DType::kFloat32 : d;
}

std::string print_source(const ExprSpec& s) {
  std::string t = "#include \"holdfast/cuda/scalar_device.h\"\nnamespace holdfast::scalar {\n";
  for (int i = 0; i < s.operands; ++i)
    t += cat("using A", i, " = ", c_type(s.dtypes[i]), "; using W", i, " = ",
             c_type(computed_in(s.dtypes[i])), ";\n");
  t += cat("using O = ", c_type(s.out),
           "; using T = W0; using Index = ", s.wide ? "unsigned long long" : "unsigned", ";\n");
  t += "template <class E, int N> struct alignas(sizeof(E) * N) Pack { E e[N]; };\n";
  if (s.axes) {
    t += cat("struct Axes { Index size[", kMostAxes, "]",
             s.wide ? "" : cat(", multiply[", kMostAxes, "], shift[", kMostAxes, "]"), ", stride[",
             kMostOperands, "][", kMostAxes, "]; };\n");
  }
  t += "__device__ __forceinline__ O f(";
  for (int i = 0; i < s.operands; ++i) t += cat(i ? ", " : "", "W", i, " ", kNames[i]);
  t += cat(") { return static_cast<O>(", s.expression, "); }\n");
  t += cat("extern \"C\" __global__ void __launch_bounds__(", kThreads, ") expr(");
  for (int i = 0; i < s.operands; ++i)
    t += s.access[i] == Access::kValue ? cat("const W", i, " a", i, ", ")
                                       : cat("const A", i, "* __restrict__ a", i, ", ");
  t += cat("O* __restrict__ out, const Index n", s.axes ? ", const Axes axes" : "", ") {\n");
  t += s.axes ? strided_body(s) : dense_body(s);
  return t + "}\n}\n";
}

}  // namespace holdfast::cuda
