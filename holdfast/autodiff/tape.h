// Recording what was computed, so that gradients can be asked for afterwards.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "holdfast/base/diagnostic.h"
#include "holdfast/base/owned.h"
#include "holdfast/op/context.h"
#include "holdfast/op/variable.h"
#include "holdfast/tensor/indexed_slices.h"

namespace holdfast {

/// A gradient: dense, sparse, or none.
struct HOLDFAST_API Gradient {
  Tensor dense;
  std::optional<IndexedSlices> slices = {};
  bool none() const { return !dense.defined() && !slices; }
  /// As one dense tensor; empty if there is none.
  Tensor tensor() const;
  operator Tensor() const { return tensor(); }
};

enum class Unconnected : uint8_t { kNone, kZero };

struct GradientOptions {
  Tensor output_gradients = {};  // weighs the target; none: ones
  Unconnected unconnected_gradients = Unconnected::kNone;
};

struct TapeOptions {
  bool persistent = false;
  bool watch_accessed_variables = true;
  bool paused = false;      // wait for `start`
  bool sees_itself = true;  // if persistent: its own gradients may be computed while it records
};

/// Why a gradient is None.
enum class NoGradient : uint8_t {
  kNotDifferentiable,  // the source is no float
  kNotWatched,         // the tape was not told of the source
  kCut,                // an op without a gradient is on the way
  kTaken,              // numbers computed from the source left for the program: `.numpy()`
  kOffTape,            // nothing that the tape watches leads to the target
  kNoPath,             // the target is computed from something else
};

/// Why, and which lines of the program did it.
struct NoGradientReason {
  NoGradient kind = NoGradient::kNoPath;
  const char* op = "";       // of a cut
  std::vector<Where> lines;  // of a cut, or where numbers were taken, also where there is no path
};

/// What the program calls the parts of a gradient; empty where that is not known.
struct GradientNames {
  std::string target = {}, source = {}, tape = {};
  std::string replaced = {};  // of the Variable whose name the source took over, where it did
};

/// What a gradient is asked for: a tensor, or a variable.
class HOLDFAST_API Source {
 public:
  [[gnu::always_inline]] Source(const Tensor& t,
                                const std::source_location& at = std::source_location::current())
      : id_((mark_caller(at), t.id())), type_(t) {}
  [[gnu::always_inline]] Source(const Variable& v,
                                const std::source_location& at = std::source_location::current())
      : id_((mark_caller(at), v.handle().id())), type_(v.state()->get()), variable_(v.handle()) {}
  uint64_t id() const { return id_; }
  const Tensor& type() const { return type_; }
  const Tensor& variable() const { return variable_; }

 private:
  uint64_t id_;
  Tensor type_, variable_;
};

/// Records what its thread computes, from construction until `stop`, a gradient, or the end of its
/// scope.
class HOLDFAST_API GradientTape {
 public:
  [[gnu::always_inline]] explicit GradientTape(
      TapeOptions options = {}, const std::source_location& at = std::source_location::current())
      : GradientTape((mark_caller(at), options), Opened()) {}
  ~GradientTape();
  GradientTape(const GradientTape&) = delete;

  void start();
  void stop();
  bool recording() const;
  [[gnu::always_inline]] void watch(
      const Tensor& t, const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    watch_tensor(t);
  }
  [[gnu::always_inline]] void watch(
      const Variable& v, const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    watch_variable(v);
  }
  void watch(std::initializer_list<Source> all) {
    for (const Source& one : all) watch_source(one);
  }
  void reset();
  /// Variables that were read while recording, each once, in order.
  std::vector<Variable> watched_variables() const;

  const TapeOptions& options() const;
  /// Where it was opened, and where it was last used for a gradient; null before that.
  Where opened() const;
  Where used() const;
  /// Whether it has given the one gradient that a tape has which is not persistent.
  bool spent() const { return used() && !options().persistent; }

  /// d(sum of targets)/d(each source). `upstream` weighs the targets; empty: ones. A tape that is
  /// not persistent frees its record on the way.
  [[gnu::always_inline]] std::vector<Gradient> gradients(
      const std::vector<Tensor>& targets, const std::vector<Source>& sources,
      const std::vector<Tensor>& upstream = {}, Unconnected unconnected = Unconnected::kNone,
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return pull(targets, sources, upstream, unconnected, kTells);
  }
  [[gnu::always_inline]] Tensor gradient(
      const Tensor& target, const Source& source,
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return pull_one(target, source, kTells);
  }
  [[gnu::always_inline]] Tensor gradient(
      const Tensor& target, const Source& source, const GradientOptions& options,
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return pull_one(target, source, options, kTells);
  }
  /// Of several sources: `auto [dw, db] = tape.gradient(loss, w, b)`. Empty where there is none.
  template <class... More>
  std::array<Tensor, 2 + sizeof...(More)> gradient(const Tensor& target, const Source& first,
                                                   const Source& second, const More&... more) {
    Where caller = here();  // the others are made into Sources in this line, not the caller's
    std::vector<Source> sources{first, second, Source(more)...};
    set_site(caller);
    std::vector<Tensor> all = each_gradient(target, sources, kTells);
    std::array<Tensor, 2 + sizeof...(More)> out;
    for (size_t i = 0; i < out.size(); ++i) out[i] = std::move(all[i]);
    return out;
  }
  /// Of many: `tape.gradient(loss, model.trainable_variables())`, in their order.
  [[gnu::always_inline]] std::vector<Tensor> gradient(
      const Tensor& target, const std::vector<Variable>& sources,
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return each_gradient(target, variable_sources(sources), kTells);
  }
  [[gnu::always_inline]] std::vector<Tensor> gradient(
      const Tensor& target, const std::vector<Tensor>& sources,
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return each_gradient(target, tensor_sources(sources), kTells);
  }
  std::vector<Tensor> gradient(const Tensor& target, std::initializer_list<Source> sources) {
    return each_gradient(target, std::span<const Source>(sources.begin(), sources.size()), kTells);
  }
  /// d(each element of target)/d(each source): the target's shape followed by the source's. Empty
  /// where there is none.
  [[gnu::always_inline]] std::vector<Tensor> jacobian(
      const Tensor& target, const std::vector<Source>& sources,
      Unconnected unconnected = Unconnected::kNone,
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return pull_jacobian(target, sources, unconnected);
  }
  /// Of one source.
  template <class S>
    requires(std::same_as<S, Tensor> || std::same_as<S, Variable>)
  [[gnu::always_inline]] Tensor jacobian(
      const Tensor& target, const S& source, Unconnected unconnected = Unconnected::kNone,
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return pull_jacobian(target, {Source(source, at)}, unconnected)[0];
  }
  /// The jacobian of each example: row `b` of `target` depends on row `b` of `source` only. One
  /// backward pass for each element of an example gives all examples at once.
  [[gnu::always_inline]] Tensor batch_jacobian(
      const Tensor& target, const Source& source, Unconnected unconnected = Unconnected::kNone,
      const std::source_location& at = std::source_location::current()) {
    mark_caller(at);
    return pull_batch_jacobian(target, source, unconnected);
  }

  /// Records `outputs` as computed from `inputs` by something with a gradient of its own.
  using Backward = holdfast::Backward;
  static void record_custom(const char* name, const std::vector<Tensor>& inputs,
                            const std::vector<Tensor>& outputs, Backward);
  /// What is known of the gradients of a call before they are computed.
  struct Paths : RefCounted {
    /// Inputs whose gradient is rows of a variable: their values stand where a dense gradient
    /// would, and their indices and dense shapes follow after those of all inputs.
    std::vector<size_t> sparse = {};
    /// Whether an output leads to an input, as `leads[output][input]`; empty: each may.
    std::vector<std::vector<bool>> leads = {};
  };
  /// What one order of gradients needs of a call: everything that is computed from the inputs, as
  /// far as that order looks at it.
  struct Level {
    std::vector<Tensor> outputs;
    Backward backward;
    Ref<Paths> paths = {};
  };
  static constexpr size_t kAnyNumber = SIZE_MAX;
  /// How many orders the open tapes of this thread may ask of something computed from `inputs`;
  /// `kAnyNumber` where one of them is persistent, and sees its own gradients.
  static size_t orders(std::span<const Tensor> inputs);
  /// Records a call for each open tape that watches its inputs: the innermost sees the first level;
  /// those that may ask for more than there are see all of them, and then what is `beyond`.
  static void record_call(const char* name, const std::vector<Tensor>& inputs,
                          const std::vector<Level>& levels, const std::optional<Level>& beyond);
  /// While it lives, this thread runs a call of which tapes may ask so many orders, though they do
  /// not see its inside.
  class HOLDFAST_API Inside {
   public:
    explicit Inside(size_t orders);
    ~Inside();
    Inside(const Inside&) = delete;
    /// How many; for ops that keep records of their own.
    static size_t orders();

   private:
    size_t was_;
    NoTapes tapes_;
  };
  /// Tells the open tapes of this thread that these variables are read. `lease`: what keeps the
  /// handles good, for tapes that did not know them.
  static void accessed(std::span<const Tensor> handles,
                       const Callback<Ref<RefCounted>()>& lease = {});
  /// Whether some open tape of this thread watches one of these.
  static bool watched(std::span<const Tensor> inputs);

  /// Tells the open tapes of this thread that the program takes the numbers of a tensor.
  static void taken(const Tensor& t);

  /// Why d(target)/d(source) is None.
  NoGradientReason why_none(const Tensor& target, const Source& source) const;
  /// The same in words.
  Diagnostic explain(const Tensor& target, const Source& source, const GradientNames& = {}) const;
  /// What a second gradient of a tape that is not persistent is refused with.
  Diagnostic already_used(const GradientNames& = {}) const;

 private:
  class Recorder;
  std::vector<Tensor> each_gradient(const Tensor& target, const std::vector<Source>& sources,
                                    bool tells);
  std::vector<Tensor> each_gradient(const Tensor& target, std::span<const Source> sources,
                                    bool tells);
  static std::vector<Source> variable_sources(const std::vector<Variable>&);
  static std::vector<Source> tensor_sources(const std::vector<Tensor>&);
  // A program is told of a gradient that is None (W0502). Our own code knows why it asks, and
  // Python's part names what it tells by Python's own means.
#ifdef HOLDFAST_BUILDING
  static constexpr bool kTells = false;
#else
  static constexpr bool kTells = true;
#endif
  struct Opened {};
  GradientTape(TapeOptions, Opened);
  void watch_tensor(const Tensor& t);
  void watch_variable(const Variable& v);
  void watch_source(const Source& s);
  std::vector<Gradient> pull(const std::vector<Tensor>& targets, const std::vector<Source>& sources,
                             const std::vector<Tensor>& upstream, Unconnected, bool tells);
  Tensor pull_one(const Tensor& target, const Source& source, bool tells);
  Tensor pull_one(const Tensor& target, const Source& source, const GradientOptions&, bool tells);
  std::vector<Tensor> pull_jacobian(const Tensor& target, const std::vector<Source>& sources,
                                    Unconnected);
  Tensor pull_batch_jacobian(const Tensor& target, const Source& source, Unconnected);
  /// Begins the one use of what was recorded, or one of many if the tape is persistent.
  void begin_use();
  /// One row of gradients for each upstream, as a single use.
  std::vector<std::vector<Tensor>> rows(const Tensor& target, const std::vector<Source>& sources,
                                        const std::vector<Tensor>& upstream, Unconnected);
  Owned<Recorder> recorder_;
};

}  // namespace holdfast
