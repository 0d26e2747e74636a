// tf.random.Generator's C++ half. The Variable that holds the state is Python's own, so that
// checkpoints and modules find it.
#include "holdfast/ops/random.h"

#include "holdfast/base/text.h"
#include "holdfast/op/op.h"
#include "holdfast/ops/array.h"
#include "holdfast/ops/random/generator.h"
#include "holdfast/ops/random/streams.h"
#include "python/bind/arrays.h"
#include "python/bind/call.h"
#include "python/bind/nb.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace holdfast::py {
namespace {

using random::Algorithm;
using random::Generator;

// A bare number stays one; anything else becomes a tensor of the dtype of the result.
MaybeIn value_of(nb::handle o, DType dtype, const char* argument) {
  PyObject* p = o.ptr();
  if (o.is_none()) return std::nullopt;
  if (PyFloat_CheckExact(p) && is_floating(dtype)) return PyFloat_AS_DOUBLE(p);
  if (PyLong_CheckExact(p) && is_floating(dtype)) {
    if (auto ints = ints_of(p)) return (*ints)[0];
  }
  return In(convert(p, dtype, false, argument));
}

Sizes sizes_of(nb::handle o) {
  PyObject* p = o.ptr();
  if (is_tensor(p)) return tensor_of(p);
  if (is_variable(p)) return variable_of(p).read();
  if (auto ints = ints_of(p))
    return PyIndex_Check(p) && !PySequence_Check(p) ? Sizes((*ints)[0]) : Sizes(*ints);
  return convert(p, DType::kInvalid, false, "shape");
}

int number_of(nb::handle alg) {
  PyObject* p = alg.ptr();
  if (PyUnicode_Check(p)) {
    auto known = random::algorithm_named(bytes_of(p));
    if (!known)
      fail(Code::E1103,
           cat("`alg` is ", repr_of(p), ", expected 'philox', 'threefry' or 'auto_select'"));
    return static_cast<int>(*known);
  }
  auto ints = PyIndex_Check(p) ? ints_of(p) : std::nullopt;
  if (!ints)
    type_error(cat("`alg` is ", repr_of(p), ", expected a string, an int or an Algorithm"));
  const int64_t n = (*ints)[0];
  if (n < 1 || n > 3)
    fail(Code::E1103,
         cat("`alg` is ", n, ", expected 1 (philox), 2 (threefry) or 3 (auto_select)"));
  return static_cast<int>(n);
}

Algorithm algorithm_of(nb::handle alg) { return static_cast<Algorithm>(number_of(alg)); }

// Each method: the user's line noted, our exceptions turned into Python's.
template <class F>
auto called(F&& f) {
  return run([&] {
    mark();
    return f();
  });
}

class OwnSeeds {
 public:
  void enter() {
    was_ = random::seed_scope().graph;
    seeds_.emplace(random::seeds_for_trace());
    random::seed_scope().graph = &*seeds_;
  }
  void exit() { random::seed_scope().graph = was_; }

 private:
  std::optional<random::GraphSeeds> seeds_;
  random::GraphSeeds* was_ = nullptr;
};

}  // namespace

void bind_random(nb::module_& m) {
  nb::class_<OwnSeeds>(m, "OwnSeeds",
                       "While entered, random ops are numbered from 0 again, as those of a "
                       "function inside another are.")
      .def(nb::init<>())
      .def("__enter__", &OwnSeeds::enter)
      .def("__exit__", [](OwnSeeds& s, nb::args) { s.exit(); });
  m.def(
      "op_seeds",
      [](std::optional<int64_t> op_seed) -> nb::object {
        random::GraphSeeds* graph = context().interpreter ? random::seed_scope().graph : nullptr;
        random::OpSeeds found =
            graph ? graph->op_seeds(op_seed) : random::seed_state().op_seeds(op_seed);
        if (found.nondeterministic()) return nb::make_tuple(nb::none(), nb::none());
        return nb::make_tuple(found.seed, found.seed2);
      },
      "op_seed"_a.none());
  m.def("rng_algorithm", [](nb::handle alg) { return called([&] { return number_of(alg); }); });
  m.def("rng_state", [](nb::handle seed, nb::handle alg) {
    return called([&] {
      return random::rng_state(In(convert(seed.ptr(), DType::kInvalid)), algorithm_of(alg));
    });
  });
  m.def("rng_state_of_key", [](nb::handle key, nb::handle counter, nb::handle alg) {
    return called([&] {
      return Generator::from_key_counter(convert(key.ptr(), int64), convert(counter.ptr(), int64),
                                         algorithm_of(alg))
          .state()
          .read();
    });
  });
  m.def("rng_state_unpredictable", [](nb::handle alg) {
    return called([&] {
      random::refuse_if_deterministic("Generator.from_non_deterministic_state");
      static const Op ints(find_op("NonDeterministicInts"));
      Shape size{static_cast<int64_t>(random::state_size(algorithm_of(alg)))};
      return ints({Sizes(size).tensor()});
    });
  });

  auto c = nb::class_<Generator>(m, "GeneratorBase");
  c.def("__init__", [](Generator* self, nb::handle variable, nb::handle alg) {
    called([&] {
      new (self) Generator(
          Generator::from_state(variable_argument(variable.ptr(), "`state`"), algorithm_of(alg)));
      return 0;
    });
  });
  m.def("set_global_generator", [](const Generator& g) { random::set_global_generator(g); });
  c.def("key", [](Generator& g) { return called([&] { return g.key(); }); });
  c.def("skip", [](Generator& g, nb::handle delta) {
    return called([&] { return g.skip(convert(delta.ptr(), int64)); });
  });
  c.def("make_seeds",
        [](Generator& g, int64_t count) { return called([&] { return g.make_seeds(count); }); });
  c.def("split", [](Generator& g, int64_t count) {
    return called([&] {
      // While a function is traced keys are symbols, so states are put together by ops.
      Tensor keys = reshape(g.uniform_full_int({count}, int64), {count, 1});
      int64_t words = g.state().shape()[0];
      Tensor counters = zeros({count, words - 1}, int64);
      Tensors states = unstack(concat({counters, keys}, 1), {.num = count});
      return std::vector<Tensor>(states.begin(), states.end());
    });
  });
  c.def("normal", [](Generator& g, nb::handle shape, nb::handle mean, nb::handle stddev,
                     nb::handle dtype) {
    return called([&] {
      const DType d = dtype_of_object(dtype.ptr());
      return g.normal(
          sizes_of(shape),
          {.mean = value_of(mean, d, "mean"), .stddev = value_of(stddev, d, "stddev"), .dtype = d});
    });
  });
  c.def("truncated_normal", [](Generator& g, nb::handle shape, nb::handle mean, nb::handle stddev,
                               nb::handle dtype) {
    return called([&] {
      const DType d = dtype_of_object(dtype.ptr());
      return g.truncated_normal(
          sizes_of(shape),
          {.mean = value_of(mean, d, "mean"), .stddev = value_of(stddev, d, "stddev"), .dtype = d});
    });
  });
  c.def(
      "uniform",
      [](Generator& g, nb::handle shape, nb::handle minval, nb::handle maxval, nb::handle dtype) {
        return called([&] {
          const DType d = dtype_of_object(dtype.ptr());
          return g.uniform(sizes_of(shape), {.minval = value_of(minval, d, "minval"),
                                             .maxval = value_of(maxval, d, "maxval"),
                                             .dtype = d});
        });
      },
      "shape"_a, "minval"_a.none(), "maxval"_a.none(), "dtype"_a);
  c.def("uniform_full_int", [](Generator& g, nb::handle shape, nb::handle dtype) {
    return called(
        [&] { return g.uniform_full_int(sizes_of(shape), dtype_of_object(dtype.ptr())); });
  });
  c.def("binomial",
        [](Generator& g, nb::handle shape, nb::handle counts, nb::handle probs, nb::handle dtype) {
          return called([&] {
            return g.binomial(sizes_of(shape), convert(counts.ptr()), convert(probs.ptr()),
                              dtype_of_object(dtype.ptr()));
          });
        });
}

}  // namespace holdfast::py
