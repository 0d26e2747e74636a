// What C++ can't mean, or what would mean something else: each line ends in words that the
// compiler's message for that line must have (tests/python/test_cpp_snippets.py).
#include <holdfast/holdfast.h>

using namespace holdfast;

// clang-format off
void s1() { Variable v(1.f); v = v + 1; }  // `v.assign(value)`
void s2() { Variable v(1.f); v = 2.f; }  // `v.assign_add(1)`
void s3() { Variable v(ones({2})), w(ones({2})); v = w[0]; }  // `v.assign(value)`
void s4() { Tensor x = ones({2}); x[0] = 1.f; }  // `v[0] = 1.f`
void s5() { Tensor x = ones({2, 2}); x(0, 1) = 1.f; }  // `v[0] = 1.f`
void s6() { Tensor x = 1.f; float f = static_cast<float>(x); (void)f; }  // `x.item<float>()`
void s7() { Tensor x = 1; int i = int(x); (void)i; }  // `x.item<float>()`
void s8() { Tensor x = 1.f; float f = x.item(); (void)f; }  // `x.item<float>()`
void s9() { auto [a, b] = split(range(4), 2); }  // holdfast::exactly<2>(...)
void s12() { std::vector<Tensor> a, b; bool same_values = a == b; (void)same_values; }  // `reduce_all(a == b)` for values
void s13() { keras::layers::Reshape r({2, 3}); }  // `{.option = {2, 3}}`
void s14() { keras::layers::MaxPooling2D p({2, 2}); }  // `{.option = {2, 3}}`
void s15() { keras::layers::Reshape r({6}); }  // `{.option = {2, 3}}`
void s16() { Tensor x = random::uniform({4}, -1.f, 1.f); }  // UniformOptions
void s17() { keras::Sequential m; m.compile("sgd", "mse"); }  // CompileOptions
// clang-format on
