// Datasets: pipelines that feed models.
//
//   auto ds = data::Dataset::from_tensor_slices(Nested::tuple({x, y}))
//                 .shuffle(10000)
//                 .map([](Tensor x, Tensor y) { return std::pair(x / 255, y); })
//                 .batch(128)
//                 .prefetch();
//   for (const Nested& batch : ds) step(batch[0].tensor(), batch[1].tensor());
//   for (Tensor row : data::Dataset::from_tensor_slices({1, 2, 3})) print(row);
#pragma once

#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "holdfast/data/node.h"
#include "holdfast/data/result.h"

namespace holdfast::data {

/// Of a buffer's size: as much as suits.
inline constexpr int64_t kAutotune = -1;

struct BatchOptions {
  bool drop_remainder = false;  // the last batch is left out where it is not full
};
struct ShuffleOptions {
  std::optional<int64_t> seed = {};
  bool reshuffle_each_iteration = true;
};
struct PaddedBatchOptions {
  /// To which shape each tensor is padded; -1: to the largest of the batch. None: all of it so.
  std::optional<std::vector<Shape>> padded_shapes = {};
  /// What it is padded with, one scalar for each tensor; none: 0, or an empty text.
  std::vector<Tensor> padding_values = {};
  bool drop_remainder = false;
};
/// How values of several tensors stand in the elements of `window`, for languages that have such:
/// what it gives, and how many tensors each value has, or 0 for a tensor by itself.
struct WindowParts {
  ElementSpec gives;
  std::vector<int64_t> widths;
};
struct SaveOptions {
  std::string compression = {};  // "GZIP"; else elements are written as they are
  /// The number of the file for an element: each has the elements of one number.
  Callback<int64_t(const Nested&)> shard_func = nullptr;
};
class Dataset;
struct LoadOptions {
  /// Makes the elements of a dataset of the datasets in the folder; else they come in turn.
  Callback<Dataset(const Dataset& parts)> reader_func = nullptr;
};
struct SnapshotOptions {
  std::string compression = {};
  /// The number of the file for an element.
  Callback<int64_t(const Nested&)> shard_func = nullptr;
  /// How the files are read, once they are whole: as that of `load`.
  Callback<Dataset(const Dataset& parts)> reader_func = nullptr;
};
struct RangeOptions {
  DType dtype = int64;
};
/// How many elements a stage works on at once, on threads of its own.
struct ParallelOptions {
  int64_t num_parallel_calls = 0;  // 0: one after the other, on the caller's thread; kAutotune
  /// In the order of the input. Else in the order in which they are done.
  bool deterministic = true;
};
struct MapOptions {
  /// The function is traced once, for elements of the dataset's spec, and runs as a graph. Not
  /// traced, it is plain code that is called for each element.
  bool traced = true;
  int64_t num_parallel_calls = 0;
  bool deterministic = true;
  ParallelOptions parallel() const {
    return {.num_parallel_calls = num_parallel_calls, .deterministic = deterministic};
  }
};
struct InterleaveOptions {
  int64_t cycle_length = kAutotune;  // of how many datasets elements are taken in turn
  int64_t block_length = 1;          // how many of each
  int64_t num_parallel_calls = 0;
  bool deterministic = true;
};
struct WindowOptions {
  int64_t shift = 0;   // from the begin of a window to that of the next; 0: the window's size
  int64_t stride = 1;  // from an element of a window to its next
  bool drop_remainder = false;
};
struct GroupOptions {
  int64_t window_size = 0;  // so many elements of a key are a window
  /// Says that of each key, in place of `window_size`.
  Callback<int64_t(int64_t key)> window_size_of = nullptr;
};
struct BucketOptions {
  std::vector<int64_t> boundaries;   // lengths at which the next bucket begins
  std::vector<int64_t> batch_sizes;  // of each bucket: one more than there are boundaries
  PaddedBatchOptions padding = {};
  bool pad_to_bucket_boundary = false;  // in place of the longest element of a batch
  bool no_padding = false;
};
struct RandomOptions {
  std::optional<int64_t> seed = {};
  bool rerandomize_each_iteration = false;
};
struct ChooseOptions {
  bool stop_on_empty_dataset = true;  // else those that have elements left go on
};
struct SampleOptions {
  std::vector<double> weights = {};  // how often each is chosen; none: all alike
  std::optional<int64_t> seed = {};
  bool stop_on_empty_dataset = false;
  bool rerandomize_each_iteration = false;
};
struct ListFilesOptions {
  bool shuffle = true;
  std::optional<int64_t> seed = {};
};

class Iterator;

/// A pipeline. A value: its copies are the same pipeline, which never changes.
class HOLDFAST_API Dataset {
  using Line = std::source_location;

 public:
  explicit Dataset(Ref<DatasetObject> object);

  /// One element.
  static Dataset from_tensors(const Nested& element, const Line& at = Line::current()) {
    mark_caller(at);
    return of_element(element);
  }
  /// The rows of tensors, side by side. The tensors are not copied.
  static Dataset from_tensor_slices(const Nested& tensors, const Line& at = Line::current()) {
    mark_caller(at);
    return of_slices(tensors);
  }
  /// The numbers from 0, or from `start`, up to `stop`.
  static Dataset range(int64_t stop, const RangeOptions& o = {}, const Line& at = Line::current()) {
    mark_caller(at);
    return of_range(0, stop, 1, o);
  }
  static Dataset range(int64_t start, int64_t stop, int64_t step = 1, const RangeOptions& o = {},
                       const Line& at = Line::current()) {
    mark_caller(at);
    return of_range(start, stop, step, o);
  }
  /// `start`, `start + step`, ... without end.
  static Dataset counter(int64_t start = 0, int64_t step = 1, const RangeOptions& o = {},
                         const Line& at = Line::current()) {
    mark_caller(at);
    return counted(start, step, o);
  }
  /// What a function gives until it gives nothing: `std::optional<Nested> f()`. Each iteration
  /// begins with a fresh copy of it.
  template <class F>
  static Dataset from_generator(const ElementSpec& spec, F f, const Line& at = Line::current()) {
    mark_caller(at);
    return generated(spec, make_ref<detail::CopiedGenerator<F>>(std::move(f)));
  }
  /// Random numbers of 32 bits without end, as int64: TensorFlow's for the seed.
  static Dataset random(const RandomOptions& o = {}, const Line& at = Line::current()) {
    mark_caller(at);
    return of_random(o);
  }
  /// The next element of that one of the datasets whose number `choices` gives, in turn.
  static Dataset choose_from_datasets(const std::vector<Dataset>& datasets, const Dataset& choices,
                                      const ChooseOptions& o = {},
                                      const Line& at = Line::current()) {
    mark_caller(at);
    return chosen(datasets, choices, o);
  }
  /// The next element of a dataset that is drawn at random.
  static Dataset sample_from_datasets(const std::vector<Dataset>& datasets,
                                      const SampleOptions& o = {},
                                      const Line& at = Line::current()) {
    mark_caller(at);
    return sampled(datasets, o);
  }
  /// The names of the files that patterns stand for: `data/*.txt`.
  static Dataset list_files(const std::vector<std::string>& patterns,
                            const ListFilesOptions& o = {}, const Line& at = Line::current()) {
    mark_caller(at);
    return listed(patterns, o);
  }
  /// What `save` wrote into a folder; of several files in turn.
  static Dataset load(const std::string& path, const LoadOptions& o = {},
                      const Line& at = Line::current()) {
    mark_caller(at);
    return loaded(path, o);
  }
  /// Elements of several datasets side by side, until one of them ends.
  static Dataset zip(const std::vector<Dataset>& datasets, const Line& at = Line::current()) {
    mark_caller(at);
    return zipped(datasets);
  }
  static Dataset zip(const Dataset& a, const Dataset& b, const Line& at = Line::current()) {
    mark_caller(at);
    return zipped({a, b});
  }
  static Dataset zip(const Dataset& a, const Dataset& b, const Dataset& c,
                     const Line& at = Line::current()) {
    mark_caller(at);
    return zipped({a, b, c});
  }
  static Dataset zip(const std::vector<std::pair<std::string, Dataset>>& datasets,
                     const Line& at = Line::current()) {
    mark_caller(at);
    return zipped(datasets);
  }

  /// What a function of each element gives. It takes the element as a Nested, or its tensors one
  /// by one; it gives a tensor, a pair, tuple or vector of them, or a Nested.
  template <class F>
  Dataset map(F f, const MapOptions& o = {}, const Line& at = Line::current()) const {
    mark_caller(at);
    return mapped(detail::element_code(std::move(f)), o);
  }
  /// The elements of which a function gives a true scalar.
  template <class F>
  Dataset filter(F f, const MapOptions& o = {}, const Line& at = Line::current()) const {
    mark_caller(at);
    return filtered(detail::element_code(std::move(f)), o, false);
  }
  /// The elements before the first of which it does not.
  template <class F>
  Dataset take_while(F f, const MapOptions& o = {}, const Line& at = Line::current()) const {
    mark_caller(at);
    return filtered(detail::element_code(std::move(f)), o, true);
  }
  /// The datasets that a function makes of each element, one after the other. It is called with
  /// values, each time.
  template <class F>
  Dataset flat_map(F f, const Line& at = Line::current()) const {
    return interleave(std::move(f), {.cycle_length = 1}, at);
  }
  /// The same with elements of several of them in turn.
  template <class F>
  Dataset interleave(F f, const InterleaveOptions& o = {}, const Line& at = Line::current()) const {
    mark_caller(at);
    return interleaved(
        [f = std::move(f)](const Nested& element) mutable { return detail::call_with(f, element); },
        o);
  }
  /// Datasets of `size` elements each, one for each tensor of an element.
  Dataset window(int64_t size, const WindowOptions& o = {},
                 const Line& at = Line::current()) const {
    mark_caller(at);
    return windowed(size, o);
  }
  /// Elements of one key, which `key` gives as an int64 scalar, are collected; of each window of
  /// them `reduce(Tensor key, Dataset window)` makes a dataset, whose elements come out.
  template <class K, class R>
  Dataset group_by_window(K key, R reduce, const GroupOptions& o,
                          const Line& at = Line::current()) const {
    mark_caller(at);
    return grouped(key_function(detail::element_code(std::move(key)), "group_by_window"),
                   std::move(reduce), o);
  }
  /// Batches of elements of similar length, which a function gives as an integer scalar.
  template <class F>
  Dataset bucket_by_sequence_length(F length, const BucketOptions& o,
                                    const Line& at = Line::current()) const {
    mark_caller(at);
    return bucketed(
        key_function(detail::element_code(std::move(length)), "bucket_by_sequence_length"), o);
  }
  /// `f(state, element)` gives a pair of the next state and what comes out.
  template <class F>
  Dataset scan(const Nested& initial_state, F f, const Line& at = Line::current()) const {
    mark_caller(at);
    return scanned(initial_state, detail::element_code(std::move(f)));
  }
  /// `f(state, element)`, from `initial_state` on, over all elements: the last state.
  template <class F>
  Nested reduce(const Nested& initial_state, F f, const Line& at = Line::current()) const {
    mark_caller(at);
    return reduced(initial_state, detail::element_code(std::move(f)));
  }
  /// The one element of a dataset that has no more.
  OneOrMore get_single_element(const Line& at = Line::current()) const {
    mark_caller(at);
    return only_element();
  }
  /// What a function of the dataset gives.
  template <class F>
  auto apply(F f) const {
    return f(*this);
  }
  /// The elements that did not come before.
  Dataset unique(const Line& at = Line::current()) const {
    mark_caller(at);
    return made_unique();
  }
  /// Batches of other sizes, which follow one another in turn.
  Dataset rebatch(const std::vector<int64_t>& batch_sizes, const BatchOptions& o = {},
                  const Line& at = Line::current()) const {
    mark_caller(at);
    return rebatched(batch_sizes, o);
  }
  /// Leaves out elements that end in an error.
  Dataset ignore_errors(bool log_warning = false, const Line& at = Line::current()) const {
    mark_caller(at);
    return without_errors(log_warning);
  }
  /// Throws where there are not as many elements as this.
  Dataset assert_cardinality(int64_t expected, const Line& at = Line::current()) const {
    mark_caller(at);
    return with_cardinality(expected);
  }
  /// Writes the elements into a folder, for `load`. What stands there stays until all is written.
  void save(const std::string& path, const SaveOptions& o = {},
            const Line& at = Line::current()) const {
    mark_caller(at);
    write_to(path, o);
  }
  /// Keeps the elements of the first whole iteration in a file, for this and later programs.
  Dataset cache(const std::string& file, const Line& at = Line::current()) const {
    mark_caller(at);
    return cached_in(file);
  }
  Dataset snapshot(const std::string& path, const SnapshotOptions& o = {},
                   const Line& at = Line::current()) const {
    mark_caller(at);
    return snapshot_in(path, o);
  }
  /// In TensorFlow's random order for the seed: each element is drawn from a buffer of this size.
  Dataset shuffle(int64_t buffer_size, const ShuffleOptions& o = {},
                  const Line& at = Line::current()) const {
    mark_caller(at);
    return shuffled(buffer_size, o);
  }
  Dataset batch(int64_t batch_size, const BatchOptions& o = {},
                const Line& at = Line::current()) const {
    mark_caller(at);
    return batched(batch_size, o);
  }
  Dataset padded_batch(int64_t batch_size, const PaddedBatchOptions& o = {},
                       const Line& at = Line::current()) const {
    mark_caller(at);
    return padded(batch_size, o);
  }
  /// The rows of each element.
  Dataset unbatch(const Line& at = Line::current()) const {
    mark_caller(at);
    return unbatched();
  }
  /// `count` times; without end for -1.
  Dataset repeat(int64_t count = -1, const Line& at = Line::current()) const {
    mark_caller(at);
    return repeated(count);
  }
  /// The first elements, and all but those; -1: all of them.
  Dataset take(int64_t count, const Line& at = Line::current()) const {
    mark_caller(at);
    return taken(count);
  }
  Dataset skip(int64_t count, const Line& at = Line::current()) const {
    mark_caller(at);
    return skipped(count);
  }
  /// Each `num_shards`-th element, from `index` on.
  Dataset shard(int64_t num_shards, int64_t index, const Line& at = Line::current()) const {
    mark_caller(at);
    return sharded(num_shards, index);
  }
  Dataset concatenate(const Dataset& other, const Line& at = Line::current()) const {
    mark_caller(at);
    return concatenated(other);
  }
  /// Pairs of a number, counted from `start`, and the element.
  Dataset enumerate(int64_t start = 0, const Line& at = Line::current()) const {
    mark_caller(at);
    return enumerated(start);
  }
  /// Keeps the elements of the first whole iteration for the next ones.
  Dataset cache(const Line& at = Line::current()) const {
    mark_caller(at);
    return cached();
  }
  /// The elements on a device.
  Dataset to_device(Device* device, const Line& at = Line::current()) const {
    mark_caller(at);
    return placed(device);
  }
  /// A thread of its own makes elements ahead of time.
  Dataset prefetch(int64_t buffer_size = kAutotune, const Line& at = Line::current()) const {
    mark_caller(at);
    return prefetched(buffer_size);
  }

  const ElementSpec& element_spec() const { return object_->spec(); }
  /// A number that pipelines share which are made in the same way, but for their seeds. Of
  /// functions it looks at traces, and not at plain code.
  uint64_t fingerprint() const;
  /// How many elements an iteration gives; kInfinite, or kUnknownCardinality.
  int64_t cardinality() const { return object_->cardinality(); }
  const Ref<DatasetObject>& object() const { return object_; }

  /// A fresh iteration. `for (const Nested& element : dataset)` makes one.
  Iterator iterator() const;
  class Each;
  Each begin() const;
  std::nullptr_t end() const { return nullptr; }

  // What the templates and other languages hand over.
  static Dataset generated(const ElementSpec& spec, Ref<GeneratorSource> source);
  Dataset mapped(detail::ElementCode f, const MapOptions&) const;
  Dataset mapped(Ref<ElementFunction> f, const ParallelOptions& = {}) const;
  Dataset filtered(detail::ElementCode f, const MapOptions&, bool until_first) const;
  Dataset filtered(Ref<ElementFunction> f, bool until_first) const;
  using Maker = Callback<Dataset(const Nested&)>;
  Dataset interleaved(Maker f, const InterleaveOptions&, Ref<Object> held = nullptr,
                      const ElementSpec* gives = nullptr) const;
  using Reducer = Callback<Dataset(const Tensor& key, const Dataset& window)>;
  Dataset grouped(Ref<ElementFunction> key, Reducer reduce, const GroupOptions&,
                  Ref<Object> held = nullptr, const ElementSpec* gives = nullptr) const;
  Dataset bucketed(Ref<ElementFunction> length, const BucketOptions&) const;
  /// `f` takes a tuple of a state and an element, and gives one of a state and an element.
  Dataset scanned(const Nested& initial_state, Ref<ElementFunction> f,
                  const char* name = "scan") const;
  Dataset snapshot_in(const std::string& path, const SnapshotOptions& o,
                      Ref<ElementFunction> shard = nullptr) const;
  /// `about` is what the language says of the elements (`stored_about`).
  void write_to(const std::string& path, const SaveOptions& o, const std::string& about = {}) const;
  /// A dataset of the datasets that `save` wrote into a folder.
  static Dataset load_parts(const std::string& path);
  Dataset windowed(int64_t size, const WindowOptions& o, const WindowParts* parts = nullptr) const;
  /// What the stages are, and how long each takes for an element: a fresh iteration is measured
  /// for as many seconds, or until it ends.
  std::string explain(double seconds = 1) const;

 private:
  Ref<ElementFunction> key_function(detail::ElementCode f, const char* stage) const;
  static Dataset of_random(const RandomOptions&);
  static Dataset chosen(const std::vector<Dataset>&, const Dataset& choices, const ChooseOptions&);
  static Dataset sampled(const std::vector<Dataset>&, const SampleOptions&);
  static Dataset listed(const std::vector<std::string>& patterns, const ListFilesOptions&);
  static Dataset loaded(const std::string& path, const LoadOptions& o);
  Dataset cached_in(const std::string& path) const;
  Dataset scanned(const Nested& initial_state, detail::ElementCode f,
                  const char* name = "scan") const;
  Nested reduced(const Nested& initial_state, detail::ElementCode f) const;
  Nested only_element() const;
  Dataset made_unique() const;
  Dataset rebatched(const std::vector<int64_t>& sizes, const BatchOptions& o) const;
  Dataset without_errors(bool log_warning) const;
  Dataset with_cardinality(int64_t expected) const;
  static Dataset of_element(const Nested& element);
  static Dataset of_slices(const Nested& tensors);
  static Dataset of_range(int64_t start, int64_t stop, int64_t step, const RangeOptions& o);
  static Dataset counted(int64_t start, int64_t step, const RangeOptions& o);
  static Dataset zipped(const std::vector<Dataset>& datasets);
  static Dataset zipped(const std::vector<std::pair<std::string, Dataset>>& datasets);
  Dataset shuffled(int64_t buffer_size, const ShuffleOptions& o) const;
  Dataset batched(int64_t batch_size, const BatchOptions& o) const;
  Dataset padded(int64_t batch_size, const PaddedBatchOptions& o) const;
  Dataset unbatched() const;
  Dataset repeated(int64_t count) const;
  Dataset taken(int64_t count) const;
  Dataset skipped(int64_t count) const;
  Dataset sharded(int64_t num_shards, int64_t index) const;
  Dataset concatenated(const Dataset& other) const;
  Dataset enumerated(int64_t start) const;
  Dataset cached() const;
  Dataset placed(Device* device) const;
  Dataset prefetched(int64_t buffer_size) const;

  Ref<DatasetObject> object_;
};

struct Bound;

/// What is behind an Iterator.
class HOLDFAST_API IteratorObject final : public Object {
 public:
  static const ObjectClass kClass;
  explicit IteratorObject(Ref<DatasetObject> dataset);
  /// Of one that is made of tensors of a graph, with their values.
  IteratorObject(Ref<DatasetObject> dataset, Ref<Bound> bound);
  ~IteratorObject() override;
  const ObjectClass& object_class() const override { return kClass; }
  void visit(Visitor& see) const override;
  void clear() override;

  bool next(Nested& out);
  std::string save() const;
  void restore(std::string_view position);
  const DatasetObject& dataset() const { return *dataset_; }

 private:
  struct Position;
  class Using;
  const Ref<DatasetObject> dataset_;
  const Owned<Position> position_;
};

/// One iteration of a dataset. Copies share their position. Several threads may call it: each
/// element goes to one of them.
class HOLDFAST_API Iterator {
  using Line = std::source_location;

 public:
  explicit Iterator(Ref<IteratorObject> object);
  /// The next element; false at the end.
  bool next(Nested& out, const Line& at = Line::current()) {
    mark_caller(at);
    return object_->next(out);
  }
  std::optional<Nested> next(const Line& at = Line::current()) {
    mark_caller(at);
    Nested out;
    if (!object_->next(out)) return std::nullopt;
    return out;
  }
  /// The next element; OutOfRangeError (E1402) at the end.
  Nested get_next(const Line& at = Line::current());
  /// Where it stands, with buffers and the states of random streams, as bytes. An iterator of a
  /// dataset that is made in the same way goes on from there, in another process too.
  std::string save() const { return object_->save(); }
  void restore(std::string_view position) { object_->restore(position); }
  const ElementSpec& element_spec() const { return object_->dataset().spec(); }
  const Ref<IteratorObject>& object() const { return object_; }

 private:
  Ref<IteratorObject> object_;
};

/// What a range-for over a dataset goes by.
class Dataset::Each {
 public:
  using value_type = OneOrMore;
  using difference_type = int64_t;
  explicit Each(Iterator iterator) : iterator_(std::move(iterator)) { ++*this; }
  const OneOrMore& operator*() const { return element_; }
  const OneOrMore* operator->() const { return &element_; }
  Each& operator++() {
    there_ = iterator_.object()->next(element_);
    return *this;
  }
  void operator++(int) { ++*this; }
  bool operator==(std::nullptr_t) const { return !there_; }

 private:
  Iterator iterator_;
  OneOrMore element_;
  bool there_ = false;
};

inline Iterator Dataset::iterator() const { return Iterator(make_ref<IteratorObject>(object_)); }
inline Dataset::Each Dataset::begin() const { return Each(iterator()); }

/// The element of a number: of the order that the first iteration has, wherever others stand.
/// OutOfRangeError (E1402) where there is none.
HOLDFAST_API Nested at(const Dataset& dataset, int64_t index);

struct ArraysOptions {
  int64_t batch_size = 32;
  bool shuffle = false;  // each iteration goes by a permutation of its own of all rows
  std::optional<int64_t> seed = {};
  bool drop_remainder = false;
  /// Gives the order of an iteration: int64 numbers of rows. In place of `shuffle` and `seed`.
  Callback<Tensor()> order = nullptr;
};
namespace detail {
HOLDFAST_API Dataset of_arrays(const Nested& tensors, const ArraysOptions& o);
}
/// Batches of rows of tensors, gathered at once: what training over arrays goes by.
inline Dataset arrays(const Nested& tensors, const ArraysOptions& o = {},
                      const std::source_location& at = std::source_location::current()) {
  mark_caller(at);
  return detail::of_arrays(tensors, o);
}

}  // namespace holdfast::data
