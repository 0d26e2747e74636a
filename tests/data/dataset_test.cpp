#include "holdfast/data/dataset.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <thread>

#include "holdfast/data/inner.h"
#include "holdfast/holdfast.h"

namespace holdfast::data {
namespace {

using Numbers = std::vector<int64_t>;

Numbers numbers(const Dataset& ds) {
  Numbers out;
  for (const Nested& n : ds) {
    Tensor t = n.first();
    for (int64_t v : t.to_vector<int64_t>()) out.push_back(v);
  }
  return out;
}

std::vector<Numbers> lists(const Dataset& ds) {
  std::vector<Numbers> out;
  for (const Nested& n : ds) out.push_back(n.first().to_vector<int64_t>());
  return out;
}

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error came";
}

TEST(Dataset, ElementsOfKnownPartsAreTakenApart) {
  int seen = 0;
  for (const Nested& element : Dataset::from_tensor_slices({range(4), range(4) * 2})) {
    auto [x, y] = exactly<2>(element);
    EXPECT_EQ(y.to_int(), 2 * x.to_int());
    EXPECT_NE(refusal([&] { (void)exactly<3>(element); }).find("names for 3"), std::string::npos);
    ++seen;
  }
  EXPECT_EQ(seen, 4);
  EXPECT_NE(refusal([] { (void)exactly<2>(Nested(ones({2}))); }).find("1 tensors"),
            std::string::npos);
}

TEST(Dataset, RowsOfTensorsComeInTheirOrder) {
  Tensor x = constant({{1, 2}, {3, 4}, {5, 6}});
  Tensor y = constant({10, 20, 30});
  auto ds = Dataset::from_tensor_slices(Nested::tuple({x, y}));
  EXPECT_EQ(ds.element_spec().text(), "(int32[2], int32[])");
  EXPECT_EQ(ds.cardinality(), 3);
  int i = 0;
  for (const Nested& n : ds) {
    EXPECT_EQ(n[0].tensor().to_vector<int32_t>(), (std::vector<int32_t>{2 * i + 1, 2 * i + 2}));
    EXPECT_EQ(n[1].tensor().item<int32_t>(), 10 * ++i);
  }
  EXPECT_EQ(i, 3);
}

TEST(Dataset, ARowLooksIntoTheTensor) {
  Tensor x = zeros({100, 50});
  auto it = Dataset::from_tensor_slices(x).skip(7).iterator();
  EXPECT_EQ(it.next()->tensor().raw<float>(), x.raw<float>() + 7 * 50);
  auto batch = Dataset::from_tensor_slices(x).skip(7).batch(10).iterator();
  EXPECT_EQ(batch.next()->tensor().raw<float>(), x.raw<float>() + 7 * 50);
}

TEST(Dataset, ShuffleHasTensorFlowsOrderForASeed) {
  auto ds = Dataset::range(10).shuffle(4, {.seed = 7});
  EXPECT_EQ(numbers(ds), (Numbers{0, 4, 2, 3, 5, 6, 1, 8, 7, 9}));
  EXPECT_EQ(numbers(ds), (Numbers{1, 3, 0, 4, 6, 5, 7, 8, 9, 2}));
  auto fixed = Dataset::range(10).shuffle(4, {.seed = 7, .reshuffle_each_iteration = false});
  EXPECT_EQ(numbers(fixed), (Numbers{3, 4, 0, 5, 1, 8, 2, 7, 6, 9}));
  EXPECT_EQ(numbers(fixed), numbers(fixed));
}

TEST(Dataset, ShuffledElementsHaveTheOrderOfShuffledRows) {
  auto rows = Dataset::range(50).shuffle(7, {.seed = 3}).repeat(2);
  auto elements =
      Dataset::range(50).map([](Tensor x) { return x + 0; }).shuffle(7, {.seed = 3}).repeat(2);
  EXPECT_EQ(numbers(rows), numbers(elements));
}

TEST(Dataset, BatchesAreGatheredFromRowsAndStackedFromElements) {
  auto ds = Dataset::range(7).batch(3);
  EXPECT_EQ(lists(ds), (std::vector<Numbers>{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(ds.cardinality(), 3);
  EXPECT_EQ(ds.element_spec().text(), "int64[?]");
  auto full =
      Dataset::range(7).map([](Tensor x) { return x * 2; }).batch(3, {.drop_remainder = true});
  EXPECT_EQ(lists(full), (std::vector<Numbers>{{0, 2, 4}, {6, 8, 10}}));
  EXPECT_EQ(full.element_spec().text(), "int64[3]");
}

TEST(Dataset, FunctionsTakeTensorsOrTheElementAndGivePairsOrStructures) {
  auto pairs = Dataset::range(3).map([](Tensor x) { return std::pair(x, x * x); });
  EXPECT_EQ(pairs.element_spec().text(), "(int64[], int64[])");
  EXPECT_EQ(numbers(pairs.map([](Tensor a, Tensor b) { return a + b; })), (Numbers{0, 2, 6}));
  auto dicts = pairs.map([](const Nested& n) {
    return Nested::dict({{"sum", n[0].tensor() + n[1].tensor()}, {"first", n[0]}});
  });
  EXPECT_EQ(dicts.element_spec().text(), "{'sum': int64[], 'first': int64[]}");
  EXPECT_EQ(numbers(dicts.map([](const Nested& n) { return n.find("sum")->tensor(); })),
            (Numbers{0, 2, 6}));
}

TEST(Dataset, AFunctionIsTracedOnceAndPlainCodeRunsForEach) {
  int calls = 0;
  auto traced = Dataset::range(5).map([&](Tensor x) {
    ++calls;
    return x + 1;
  });
  EXPECT_EQ(numbers(traced), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(calls, 1);
  auto plain =
      Dataset::range(5).filter([&](Tensor x) { return ++calls, x > 2; }, {.traced = false});
  EXPECT_EQ(numbers(plain), (Numbers{3, 4}));
  EXPECT_EQ(calls, 6);
}

TEST(Dataset, OtherStagesDoWhatTheirNamesSay) {
  auto ten = Dataset::range(10);
  EXPECT_EQ(numbers(ten.take(3)), (Numbers{0, 1, 2}));
  EXPECT_EQ(numbers(ten.skip(8)), (Numbers{8, 9}));
  EXPECT_EQ(numbers(ten.take(2).repeat(2)), (Numbers{0, 1, 0, 1}));
  EXPECT_EQ(numbers(ten.shard(4, 1)), (Numbers{1, 5, 9}));
  EXPECT_EQ(numbers(ten.filter([](Tensor x) { return x % 3 == 0; })), (Numbers{0, 3, 6, 9}));
  EXPECT_EQ(numbers(ten.take_while([](Tensor x) { return x < 2; })), (Numbers{0, 1}));
  EXPECT_EQ(numbers(ten.take(2).concatenate(ten.skip(9))), (Numbers{0, 1, 9}));
  EXPECT_EQ(numbers(ten.batch(4).unbatch()), numbers(ten));
  EXPECT_EQ(numbers(Dataset::range(5, 0, -2)), (Numbers{5, 3, 1}));
  auto zipped = Dataset::zip({ten, ten.skip(7)});
  EXPECT_EQ(zipped.cardinality(), 3);
  EXPECT_EQ(numbers(zipped.map([](Tensor a, Tensor b) { return a * 100 + b; })),
            (Numbers{7, 108, 209}));
  auto each =
      Dataset::range(1, 4).flat_map([](Tensor x) { return Dataset::from_tensors(x).repeat(2); });
  EXPECT_EQ(numbers(each), (Numbers{1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(numbers(Dataset::range(0).repeat()), Numbers{});
}

TEST(Dataset, PaddedBatchesArePaddedToTheLargest) {
  auto ds = Dataset::range(1, 4)
                .map([](Tensor x) { return fill(stack({x, constant(int64_t{2})}), x); })
                .padded_batch(3, {.padding_values = {Tensor::scalar(int64_t{-1})}});
  EXPECT_EQ(numbers(ds), (Numbers{1, 1, -1, -1, -1, -1, 2, 2, 2, 2, -1, -1, 3, 3, 3, 3, 3, 3}));
}

TEST(Dataset, AGeneratorBeginsAnewWithEachIteration) {
  auto ds = Dataset::from_generator(ElementSpec(int64),
                                    [i = int64_t{0}]() mutable -> std::optional<Nested> {
                                      if (i == 3) return std::nullopt;
                                      return Nested(Tensor::scalar(i++));
                                    });
  EXPECT_EQ(numbers(ds), (Numbers{0, 1, 2}));
  EXPECT_EQ(numbers(ds), (Numbers{0, 1, 2}));
  EXPECT_EQ(ds.cardinality(), kUnknownCardinality);
}

Dataset random_pipeline() {
  return Dataset::range(40)
      .shuffle(9, {.seed = 11})
      .map([](Tensor x) { return x * 3; })
      .shuffle(5, {.seed = 2})
      .repeat(3)
      .cache()
      .batch(4)
      .prefetch(3);
}

TEST(Iterator, GoesOnFromASavedPositionInAnotherPipeline) {
  for (int after : {0, 1, 7, 14, 29, 30}) {
    auto it = random_pipeline().iterator();
    Nested element;
    for (int i = 0; i < after; ++i) it.next(element);
    std::string position = it.save();
    auto other = random_pipeline().iterator();
    other.restore(position);
    for (;;) {
      Nested a, b;
      bool more = it.next(a);
      ASSERT_EQ(other.next(b), more);
      if (!more) break;
      EXPECT_EQ(a.tensor().to_vector<int64_t>(), b.tensor().to_vector<int64_t>());
    }
  }
}

TEST(Iterator, RefusesAPositionOfAnotherPipelineAndDamagedOnes) {
  auto it = random_pipeline().iterator();
  it.next();
  std::string position = it.save();
  auto other = Dataset::range(40).batch(4).iterator();
  EXPECT_NE(refusal([&] { other.restore(position); }).find("it was saved from the stages"),
            std::string::npos);
  for (size_t cut = 0; cut < position.size(); cut += 13) {
    auto fresh = random_pipeline().iterator();
    EXPECT_NE(refusal([&] { fresh.restore(position.substr(0, cut)); }).find("is refused"),
              std::string::npos);
    EXPECT_TRUE(fresh.next());  // and changed nothing
  }
}

TEST(Iterator, ThreadsShareTheElements) {
  auto it = Dataset::range(4000).map([](Tensor x) { return x + 1; }).prefetch(8).iterator();
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      Nested n;
      while (it.next(n)) sum += n.tensor().item<int64_t>();
    });
  for (auto& t : threads) t.join();
  EXPECT_EQ(sum, 4000 * 4001 / 2);
}

TEST(Prefetch, EndsWhenItIsDropped) {
  std::atomic<int> made{0};
  {
    auto it = Dataset::range(1'000'000)
                  .map([&](const Nested& n) { return ++made, n; }, {.traced = false})
                  .prefetch(4)
                  .iterator();
    it.next();
  }
  int then = made;
  EXPECT_LE(then, 8);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(made, then);
}

TEST(Prefetch, EndsAlsoInsideAFilterThatNeverPassesAnything) {
  auto never = Dataset::range(5).repeat().filter([](Tensor x) { return x > 100; });
  auto it = Dataset::range(1).concatenate(never).prefetch().prefetch().iterator();
  EXPECT_TRUE(it.next());
}

TEST(Prefetch, HandsOnWhatWentWrongAndGoesOn) {
  auto it = Dataset::range(4)
                .map(
                    [](const Nested& n) {
                      if (!n.tensor().is_symbolic() && n.tensor().item<int64_t>() == 2)
                        fail(Code::E1103, "two is refused");
                      return n;
                    },
                    {.traced = false})
                .prefetch()
                .iterator();
  EXPECT_EQ(it.next()->tensor().item<int64_t>(), 0);
  EXPECT_EQ(it.next()->tensor().item<int64_t>(), 1);
  std::string said = refusal([&] { it.next(); });
  EXPECT_NE(said.find("two is refused"), std::string::npos);
  EXPECT_NE(said.find("element 2 of this `map`"), std::string::npos);
  EXPECT_EQ(it.next()->tensor().item<int64_t>(), 3);
  EXPECT_FALSE(it.next());
}

TEST(Dataset, RefusesWhatMakesNoSense) {
  auto ds = Dataset::range(3);
  EXPECT_NE(refusal([&] { ds.batch(0); }).find("`batch_size` of `batch` is 0"), std::string::npos);
  EXPECT_NE(refusal([&] { ds.shuffle(0); }).find("`buffer_size`"), std::string::npos);
  EXPECT_NE(refusal([&] { ds.shard(2, 2); }).find("`index` of `shard` is 2"), std::string::npos);
  EXPECT_NE(refusal([&] { Dataset::range(1, 2, 0); }).find("steps of 0"), std::string::npos);
  EXPECT_NE(refusal([&] {
              ds.interleave([](Tensor) { return Dataset::range(1); },
                            {.num_parallel_calls = 70000});
            }).find("`num_parallel_calls` of `interleave` is 70000"),
            std::string::npos);
  EXPECT_NE(refusal([&] { Dataset::from_tensor_slices(constant(1)); }).find("is a scalar"),
            std::string::npos);
  EXPECT_NE(refusal([&] {
              Dataset::from_tensor_slices(Nested::tuple({constant({1, 2}), constant({1, 2, 3})}));
            }).find("component 1 has 3 rows, those before it 2"),
            std::string::npos);
  auto ragged = Dataset::range(1, 4).map([](Tensor x) { return fill(stack({x}), x); }).batch(2);
  std::string said = refusal([&] { numbers(ragged); });
  EXPECT_NE(said.find("different shapes"), std::string::npos);
  EXPECT_NE(said.find("padded_batch"), std::string::npos);
}

TEST(Arrays, BatchesGoByAPermutationOfTheirOwn) {
  Tensor x = constant(std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  auto ds = arrays(x, {.batch_size = 4, .shuffle = true, .seed = 3});
  Numbers first = numbers(ds), second = numbers(ds);
  EXPECT_NE(first, second);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(ds.cardinality(), 3);
  auto it = ds.iterator();
  it.next();
  std::string position = it.save();
  auto other = arrays(x, {.batch_size = 4, .shuffle = true, .seed = 3}).iterator();
  other.restore(position);
  EXPECT_EQ(it.next()->tensor().to_vector<int64_t>(), other.next()->tensor().to_vector<int64_t>());
}

TEST(Dataset, WindowsAreDatasetsInElements) {
  Dataset windows = Dataset::range(7).window(3, {.shift = 2});
  EXPECT_EQ(windows.cardinality(), 4);
  int64_t count = 0;
  for (const Nested& one : windows) count += dataset_in(one.tensor())->cardinality();
  EXPECT_EQ(count, 10);
  Dataset flat = windows.flat_map(
      [](const Nested& w) { return Dataset(Ref<DatasetObject>(dataset_in(w.tensor()))).batch(3); });
  EXPECT_EQ(lists(flat), (std::vector<Numbers>{{0, 1, 2}, {2, 3, 4}, {4, 5, 6}, {6}}));
  EXPECT_NE(refusal([&] { windows.batch(2); }).find("E1105"), std::string::npos);
}

TEST(Dataset, GroupsAndBuckets) {
  Dataset groups = Dataset::range(6).group_by_window(
      [](Tensor x) { return x % 2; },
      [](const Tensor&, const Dataset& window) { return window.batch(2); }, {.window_size = 2});
  EXPECT_EQ(lists(groups), (std::vector<Numbers>{{0, 2}, {1, 3}, {4}, {5}}));
  Dataset buckets = Dataset::range(4).bucket_by_sequence_length(
      [](Tensor x) { return x; }, {.boundaries = {2}, .batch_sizes = {2, 2}, .no_padding = true});
  EXPECT_EQ(lists(buckets), (std::vector<Numbers>{{0, 1}, {2, 3}}));
}

TEST(Dataset, ChoicesStatesAndOtherBatches) {
  Dataset choices = Dataset::from_tensor_slices(Tensor::of(Numbers{0, 1, 1, 0}));
  Dataset chosen =
      Dataset::choose_from_datasets({Dataset::range(5), Dataset::range(10, 15)}, choices);
  EXPECT_EQ(numbers(chosen), (Numbers{0, 10, 11, 1}));
  Dataset drawn = Dataset::sample_from_datasets({Dataset::range(5), Dataset::range(10, 15)},
                                                {.weights = {0, 1}});
  EXPECT_EQ(numbers(drawn), (Numbers{10, 11, 12, 13, 14}));
  Dataset sums = Dataset::range(4).scan(Tensor::scalar(int64_t{0}),
                                        [](Tensor s, Tensor x) { return std::pair(s + x, s + x); });
  EXPECT_EQ(numbers(sums), (Numbers{0, 1, 3, 6}));
  EXPECT_EQ(lists(Dataset::range(5).batch(2).rebatch({3})),
            (std::vector<Numbers>{{0, 1, 2}, {3, 4}}));
  EXPECT_EQ(numbers(Dataset::range(6).map([](Tensor x) { return x % 3; }).unique()),
            (Numbers{0, 1, 2}));
  EXPECT_EQ(numbers(Dataset::random({.seed = 1}).take(3)).size(), 3U);
}

TEST(Dataset, IsReducedToOneStateOrItsOnlyElement) {
  Dataset d = Dataset::range(1, 5);
  auto sum = [](Tensor s, Tensor x) { return s + x; };
  EXPECT_EQ(d.reduce(Tensor::scalar(int64_t{10}), sum).tensor().item<int64_t>(), 20);
  EXPECT_EQ(d.take(0).reduce(Tensor::scalar(int64_t{10}), sum).tensor().item<int64_t>(), 10);
  auto both = d.reduce(Nested::tuple({Tensor::scalar(int64_t{0}), Tensor::scalar(int64_t{1})}),
                       [](const Nested& in) {
                         Tensor x = in[1].tensor();
                         return Nested::tuple({in[0][0].tensor() + x, in[0][1].tensor() * x});
                       });
  EXPECT_EQ(both[0].tensor().item<int64_t>(), 10);
  EXPECT_EQ(both[1].tensor().item<int64_t>(), 24);
  EXPECT_NE(refusal([&] {
              d.reduce(Tensor::scalar(1.f), [](Tensor, Tensor x) { return x; });
            }).find("the state of `reduce`"),
            std::string::npos);

  Tensor only = d.skip(3).get_single_element();
  EXPECT_EQ(only.item<int64_t>(), 4);
  EXPECT_NE(refusal([&] { d.get_single_element(); }).find("several"), std::string::npos);
  EXPECT_NE(refusal([&] { d.skip(9).get_single_element(); }).find("no element"), std::string::npos);
  EXPECT_EQ(d.apply([](const Dataset& whole) { return whole.batch(2); }).cardinality(), 2);
}

TEST(Dataset, AnElementByItsNumberIsAlwaysTheSameOne) {
  Dataset d = Dataset::range(6).shuffle(6, {.seed = 3});
  Numbers order;
  for (int64_t i = 0; i < 6; ++i) order.push_back(at(d, i).tensor().item<int64_t>());
  EXPECT_EQ(order, (Numbers{5, 4, 2, 0, 3, 1}));  // TensorFlow's for this seed
  EXPECT_EQ(numbers(d), (Numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(at(d, 2).tensor().item<int64_t>(), order[2]);
  EXPECT_THROW(at(d, 6), Error);
  EXPECT_THROW(at(d, -1), Error);
}

TEST(Dataset, ASnapshotHasFilesAndAReader) {
  std::string folder = testing::TempDir() + "/holdfast_snapshot";
  std::filesystem::remove_all(folder);
  auto third = [](const Nested& x) { return x.tensor().item<int64_t>() % 3; };
  auto in_order = [](const Dataset& parts) {
    return parts.flat_map(
        [](const Nested& part) { return Dataset(Ref<DatasetObject>(dataset_in(part.tensor()))); });
  };
  Dataset d = Dataset::range(6).snapshot(folder, {.shard_func = third, .reader_func = in_order});
  EXPECT_EQ(numbers(d), (Numbers{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(numbers(d), (Numbers{0, 3, 1, 4, 2, 5}));
  Dataset::range(4).save(folder + "/saved", {.shard_func = third});
  EXPECT_EQ(numbers(Dataset::load(folder + "/saved", {.reader_func = in_order})),
            (Numbers{0, 3, 1, 2}));
}

TEST(Dataset, PositionsHoldWhatListsOfDatasetsDrew) {
  auto made = [] {
    return of_datasets({Dataset::range(4).shuffle(4, {.seed = 1}),
                        Dataset::range(10, 14).shuffle(4, {.seed = 2})})
        .repeat(2)
        .flat_map([](const Nested& part) {
          return Dataset(Ref<DatasetObject>(dataset_in(part.tensor())));
        });
  };
  Numbers all = numbers(made());
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    Iterator first = made().iterator(), again = made().iterator();
    Nested one;
    for (size_t i = 0; i < cut; ++i) first.next(one);
    again.restore(first.save());
    Numbers rest;
    while (again.next(one)) rest.push_back(one.tensor().item<int64_t>());
    EXPECT_EQ(rest, Numbers(all.begin() + static_cast<ptrdiff_t>(cut), all.end())) << cut;
  }
}

TEST(Dataset, ACounterHasNoEnd) {
  Dataset d = Dataset::counter(5, -2);
  EXPECT_EQ(d.cardinality(), kInfinite);
  EXPECT_EQ(numbers(d.take(3)), (Numbers{5, 3, 1}));
}

TEST(Dataset, FilesAreChosenByAFunctionAndDeflated) {
  std::string folder = testing::TempDir() + "/holdfast_saved";
  auto third = [](const Nested& x) { return x.tensor().item<int64_t>() % 3; };
  Dataset::range(9).save(folder, {.compression = "GZIP", .shard_func = third});
  auto loaded = Dataset::load(folder);
  EXPECT_EQ(numbers(loaded), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(loaded.cardinality(), 9);
  auto whole = loaded.iterator();
  Nested one;
  for (int i = 0; i < 4; ++i) whole.next(one);
  std::string position = whole.save();
  EXPECT_LT(position.size(), 400U) << "of the files, not what is in them";
  auto again = loaded.iterator();
  again.restore(position);
  for (int64_t i = 4; again.next(one); ++i) EXPECT_EQ(one.tensor().item<int64_t>(), i);
  Dataset::range(2).save(folder);
  EXPECT_EQ(numbers(Dataset::load(folder)), (Numbers{0, 1}));
  EXPECT_THROW(Dataset::range(2).save(folder, {.compression = "LZ9"}), Error);
}

TEST(Dataset, RandomOpsOfAStageBeginAnewWithEachIteration) {
  Dataset d = Dataset::range(4).map([](Tensor) {
    return random::uniform({}, {.minval = 0, .maxval = 1000, .dtype = int64, .seed = 4});
  });
  Numbers first = numbers(d);
  EXPECT_EQ(numbers(d), first);
  EXPECT_NE(numbers(d.repeat(2)), first);
}

TEST(Dataset, ThreadsKeepTheOrder) {
  auto made = [] {
    return Dataset::range(200)
        .map([](Tensor x) { return x * 2; }, {.num_parallel_calls = 3})
        .interleave([](Tensor x) { return Dataset::from_tensors(x).repeat(2); },
                    {.cycle_length = 2, .num_parallel_calls = 2});
  };
  Dataset plain = Dataset::range(200)
                      .map([](Tensor x) { return x * 2; })
                      .interleave([](Tensor x) { return Dataset::from_tensors(x).repeat(2); },
                                  {.cycle_length = 2});
  EXPECT_EQ(numbers(made()), numbers(plain));
  Iterator first = made().iterator(), again = made().iterator();
  for (int i = 0; i < 37; ++i) first.next();
  again.restore(first.save());
  for (Nested a, b; first.next(a);) {
    ASSERT_TRUE(again.next(b));
    EXPECT_EQ(a.tensor().item<int64_t>(), b.tensor().item<int64_t>());
  }
  EXPECT_NE(made().explain(10).find("Most of it is"), std::string::npos);
}

}  // namespace
}  // namespace holdfast::data
