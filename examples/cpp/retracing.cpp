// What a traced function costs: one trace for each kind of arguments, and a report that says why.
#include <holdfast/holdfast.h>

#include <cstdio>

namespace hf = holdfast;

int main() {
  auto norm = hf::function([](hf::Tensor x) { return hf::sqrt(hf::reduce_sum(x * x)); },
                           {.name = "norm", .reduce_retracing = true});
  for (int64_t rows = 1; rows <= 50; ++rows) norm(hf::ones({rows, 2}));
  norm(hf::ones({3}, hf::float64));
  std::printf("%s\n", norm.trace_report().c_str());
  return norm.traces() <= 3 ? 0 : 1;  // the second size leaves the first axis open
}
