// An argument, in code that runs once.
PROGRAM(E0109_init_scope) {
  auto f = function([](const Tensor& x) {
    InitScope once;
    return Variable(x * 2).read();
  });
  f(constant(1.));
}
