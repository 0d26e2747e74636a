// Arguments that make no sense, for all that programs call on datasets: what is refused is refused
// with an Error, and nothing crashes.
#include "bad_arguments.h"

namespace holdfast::data {
namespace {

// The first elements: some datasets have no end.
void go_through(const Dataset& dataset) {
  int seen = 0;
  for (const Nested& element : dataset)
    if ((void)element.leaves(), ++seen == 5) break;
  (void)dataset.cardinality();
  (void)dataset.element_spec().text();
}
template <class F>
void made(const char* what, F f) {
  survives(what, [&] { go_through(f()); });
}

TEST(BadDataArguments, OfSourcesAreRefused) {
  const Tensor dead = dead_symbol();
  for (const Tensor& t : {Tensor(), dead, constant(1.5), constant("a"), zeros({0}), zeros({0, 3}),
                          ones({2, 3}), Variable(1.5).handle()}) {
    made("tensors", [&] { return Dataset::from_tensors(t); });
    made("tensors", [&] { return Dataset::from_tensors({t, ones({2})}); });
    made("slices", [&] { return Dataset::from_tensor_slices(t); });
    made("slices", [&] { return Dataset::from_tensor_slices({t, ones({2})}); });
    made("slices", [&] { return Dataset::from_tensor_slices(Nested::dict({{"a", t}, {"b", t}})); });
    made("generator", [&] {
      return Dataset::from_generator({float32, {2}}, [t]() -> std::optional<Nested> { return t; });
    });
    made("map", [&] { return Dataset::range(3).map([t](Tensor) { return t; }); });
    made("map", [&] { return Dataset::range(3).map([t](Tensor x) { return std::pair(x, t); }); });
    made("map",
         [&] { return Dataset::range(3).map([t](Tensor) { return t; }, {.traced = false}); });
    made("filter", [&] { return Dataset::range(3).filter([t](Tensor) { return t; }); });
    made("take_while", [&] { return Dataset::range(3).take_while([t](Tensor) { return t; }); });
    made("flat_map", [&] {
      return Dataset::range(3).flat_map([t](Tensor) { return Dataset::from_tensor_slices(t); });
    });
    made("padded", [&] {
      return Dataset::from_tensor_slices(ones({2, 3})).padded_batch(2, {.padding_values = {t}});
    });
  }
  made("none", [] { return Dataset(Ref<DatasetObject>()); });
  made("empty", [] { return Dataset::from_tensors(Nested()); });
  made("empty", [] { return Dataset::from_tensor_slices(Nested::tuple({})); });
  made("zip", [] { return Dataset::zip(std::vector<Dataset>{}); });
  made("generator", [] {
    return Dataset::from_generator({DType::kInvalid, {-3}},
                                   []() -> std::optional<Nested> { return ones({2}); });
  });
}

TEST(BadDataArguments, OfStepsAreRefused) {
  const auto numbers = [] { return Dataset::range(6); };
  for (int64_t n : {int64_t{0}, int64_t{1}, int64_t{-1}, int64_t{-2}, INT64_MAX, INT64_MIN}) {
    made("range", [&] { return Dataset::range(n); });
    made("range", [&] { return Dataset::range(n, INT64_MAX, n); });
    made("range", [&] { return Dataset::range(INT64_MIN, n, INT64_MAX); });
    made("range", [&] { return Dataset::range(3, {.dtype = DType::kString}); });
    made("batch", [&] { return numbers().batch(n); });
    made("batch", [&] { return numbers().batch(n, {.drop_remainder = true}); });
    made("padded", [&] { return numbers().padded_batch(n); });
    made("padded", [&] {
      return numbers().batch(2).padded_batch(2, {.padded_shapes = std::vector<Shape>{{n}}});
    });
    made("shuffle", [&] { return numbers().shuffle(n); });
    made("repeat", [&] { return numbers().repeat(n); });
    made("repeat", [&] { return numbers().repeat(n).repeat(n); });
    made("take", [&] { return numbers().take(n); });
    made("skip", [&] { return numbers().skip(n); });
    made("shard", [&] { return numbers().shard(n, n); });
    made("shard", [&] { return numbers().shard(2, n); });
    made("enumerate", [&] { return numbers().enumerate(n); });
    made("prefetch", [&] { return numbers().prefetch(n); });
    made("interleave", [&] {
      return numbers().interleave([](Tensor) { return Dataset::range(2); },
                                  {.cycle_length = n, .block_length = n});
    });
  }
  made("unbatch", [&] { return numbers().unbatch(); });
  made("concatenate", [&] { return numbers().concatenate(Dataset::from_tensors(constant("a"))); });
  made("batch", [&] {
    return Dataset::from_tensor_slices(ones({3, 2}))
        .concatenate(Dataset::from_tensor_slices(ones({3, 4})))
        .batch(6);
  });
}

TEST(BadDataArguments, OfIteratorsAreRefused) {
  Iterator one = Dataset::range(3).iterator();
  const std::string at = one.save();
  survives("restore", [&] { one.restore(""); });
  survives("restore", [&] { one.restore("nonsense"); });
  survives("restore", [&] { one.restore(std::string(1000, '\xff')); });
  for (size_t n = 0; n < at.size(); ++n) {
    survives("cut", [&] { one.restore(at.substr(0, n)); });
    std::string changed = at;
    changed[n] = static_cast<char>(changed[n] ^ 0x5a);
    survives("changed", [&] { one.restore(changed); });
    survives("next", [&] { (void)one.next(); });
  }
  survives("other", [&] { Dataset::range(3).batch(2).iterator().restore(at); });
  while (one.next()) {
  }
  survives("after", [&] { (void)one.next(); });
  survives("none", [&] { (void)Iterator(Ref<IteratorObject>()).next(); });
}

}  // namespace
}  // namespace holdfast::data
