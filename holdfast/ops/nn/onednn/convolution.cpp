// Convolutions by oneDNN.
//
// Images and maps have their channels last: on every machine measured, its kernels for that layout
// are within a few percent of those for its own blocked layouts, and the two reorders those need
// cost 10 to 40 % of the convolution. With channels first its kernels take 1.7 times as long, so
// those are reordered (which the pass `layouts` mostly takes out of graphs). The filter takes
// whatever layout the kernel likes best: reordering it is cheap beside the convolution, so its
// reordered form is not kept (variables change every step).
#include "holdfast/ops/nn/conv/shape.h"

#ifdef HOLDFAST_ONEDNN
#include <limits>
#include <mutex>

#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/base/signals.h"
#include "holdfast/base/text.h"
#include "holdfast/base/variants.h"
#include "holdfast/ops/nn/onednn/engine.h"

namespace holdfast::nn {
namespace {

using dnnl::memory;

// How one operand or result lies in our tensor and in the kernel's, and what takes it from one to
// the other.
struct Side {
  memory::desc ours, kernels;
  dnnl::primitive reorder;  // empty where they are the same
  bool result = false;
  size_t bytes = 0;  // of the kernel's, where they are not the same
};
enum : size_t { kImage, kFilter, kMaps };

// The library's handles of memory. Each run points them at its own, so no two may share them.
struct Handles {
  std::array<memory, 3> ours, kernels;  // by side
  memory scratch;
};

// A convolution, compiled for its shapes and number of threads.
struct Compiled {
  dnnl::primitive primitive;
  std::array<Side, 3> sides;
  size_t scratch = 0;   // of the primitive or of a reorder, whichever takes more
  bool usable = false;  // false: the library declined these shapes
  mutable std::atomic<Handles*> spare{nullptr};  // of the run before

  Compiled() = default;
  ~Compiled() { delete spare.load(); }
};

struct Layout {
  memory::desc image, maps, filter;                  // as our tensors lie
  memory::desc inner_image, inner_maps, any_filter;  // as kernels are asked for
  memory::dims stride, dilation, before, after;
};

Layout layout_of(const ConvShape& s, DType dtype) {
  using Tag = memory::format_tag;
  auto type = onednn::type_of(dtype);
  Layout l;
  memory::dims image{s.batch, s.channels}, maps{s.batch, s.out_channels}, filter;
  if (s.groups > 1)
    filter = {s.groups, s.group_out(), s.group_in()};
  else
    filter = {s.out_channels, s.channels};
  for (auto i = static_cast<size_t>(3 - s.axes); i < 3; ++i) {
    image.push_back(s.in[i]);
    maps.push_back(s.out[i]);
    filter.push_back(s.size[i]);
    l.stride.push_back(s.stride[i]);
    l.dilation.push_back(s.dilation[i] - 1);
    l.before.push_back(s.before[i]);
    // The library wants the padding that the last window reaches, which may be less than what was
    // asked.
    l.after.push_back((s.out[i] - 1) * s.stride[i] + (s.size[i] - 1) * s.dilation[i] + 1 - s.in[i] -
                      s.before[i]);
  }
  Tag last = s.axes == 3 ? Tag::ndhwc : Tag::nhwc;
  Tag data = !s.channels_first ? last : s.axes == 3 ? Tag::ncdhw : Tag::nchw;
  Tag ours = s.axes == 3 ? (s.groups > 1 ? Tag::dhwigo : Tag::dhwio)
                         : (s.groups > 1 ? Tag::hwigo : Tag::hwio);
  l.image = memory::desc(image, type, data);
  l.maps = memory::desc(maps, type, data);
  l.inner_image = memory::desc(image, type, last);
  l.inner_maps = memory::desc(maps, type, last);
  l.filter = memory::desc(filter, type, ours);
  l.any_filter = memory::desc(filter, type, Tag::any);
  return l;
}

// Slow catch-alls of the library; our own kernels are no worse.
bool is_fallback(const char* name) {
  return std::string_view(name).find("ref") != std::string_view::npos;
}

// Made under the team that will run it: the kernels cut their work for its size.
std::unique_ptr<const Compiled> compile(Pass pass, DType dtype, const ConvShape& s) {
  auto c = std::make_unique<Compiled>();
  const dnnl::engine& e = onednn::engine();
  Layout l = layout_of(s, dtype);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  auto take = [&](auto pd, memory::desc filter, auto make) {
    if (is_fallback(pd.impl_info_str())) return;
    c->primitive = make(pd);
    c->sides[kImage] = {l.image, l.inner_image, {}, pass == Pass::kInput};
    c->sides[kFilter] = {l.filter, filter, {}, pass == Pass::kFilter};
    c->sides[kMaps] = {l.maps, l.inner_maps, {}, pass == Pass::kForward};
    c->scratch = pd.scratchpad_desc().get_size();
    for (Side& side : c->sides) {
      if (side.ours == side.kernels) continue;
      dnnl::reorder::primitive_desc reorder(e, side.result ? side.kernels : side.ours, e,
                                            side.result ? side.ours : side.kernels, attr);
      side.reorder = dnnl::reorder(reorder);
      side.bytes = side.kernels.get_size();
      c->scratch = std::max(c->scratch, reorder.scratchpad_desc().get_size());
    }
    c->usable = true;
  };
  try {
    dnnl::convolution_forward::primitive_desc forward(
        e, dnnl::prop_kind::forward_training, kDirect, l.inner_image, l.any_filter, l.inner_maps,
        l.stride, l.dilation, l.before, l.after, attr);
    if (pass == Pass::kForward) {
      take(forward, forward.weights_desc(), [](auto& pd) { return dnnl::convolution_forward(pd); });
    } else if (pass == Pass::kInput) {
      dnnl::convolution_backward_data::primitive_desc pd(e, kDirect, l.inner_image, l.any_filter,
                                                         l.inner_maps, l.stride, l.dilation,
                                                         l.before, l.after, forward, attr);
      take(pd, pd.weights_desc(), [](auto& d) { return dnnl::convolution_backward_data(d); });
    } else {
      dnnl::convolution_backward_weights::primitive_desc pd(e, kDirect, l.inner_image, l.any_filter,
                                                            l.inner_maps, l.stride, l.dilation,
                                                            l.before, l.after, forward, attr);
      take(pd, pd.diff_weights_desc(),
           [](auto& d) { return dnnl::convolution_backward_weights(d); });
    }
  } catch (const dnnl::error&) {
    c->usable = false;
  }
  return c;
}

// A fixed way to cut the work, so that results do not depend on the number of threads: one image a
// piece, one thread each. The gradient of the filter adds over images and stays in one piece.
bool by_image(Pass pass) { return deterministic() && pass != Pass::kFilter; }

Team whole_team() { return Team(deterministic() ? 1 : std::numeric_limits<int>::max()); }

// One geometry. How many images go at a time, and over how many threads, is decided by each run:
// there are few such numbers, and the library compiles for each.
class Convolution final : public Prepared {
 public:
  Convolution(Pass p, DType d, const ConvShape& s) : pass(p), dtype(d), shape(s) {}

  const Compiled& whole(const Team& team) const { return get(shape.batch, team.threads()); }
  /// For pieces of so many images, of which each thread computes its own.
  const Compiled& piece(int64_t images) const {
    Team one(1);
    return get(images, 1);
  }

  const Pass pass;
  const DType dtype;
  const ConvShape shape;

 private:
  const Compiled& get(int64_t images, int threads) const {
    return *compiled_.get(std::pair(images, threads), [&] {
      ConvShape part = shape;
      part.batch = images;
      return compile(pass, dtype, part);
    });
  }
  Variants<std::pair<int64_t, int>, std::unique_ptr<const Compiled>> compiled_;
};

Status failed(const Call& c, const dnnl::error& e) {
  return Status(Code::E1599, cat(c.op.name, ": oneDNN failed: ", e.what()));
}

void execute(const dnnl::primitive& p, std::initializer_list<dnnl_exec_arg_t> args) {
  dnnl::error::wrap_c_api(dnnl_primitive_execute(p.get(), onednn::stream().get(),
                                                 static_cast<int>(args.size()), args.begin()),
                          "could not execute a primitive");
}

// Handles for the time of a run, and the memory that they need beside our tensors.
class Work {
 public:
  // With room for these sides in the kernel's layout.
  Work(const Call& c, const Compiled& k, std::initializer_list<size_t> sides)
      : k_(k), handles_(take(k)) {
    std::array<size_t, 3> at{};
    size_t bytes = rounded(k.scratch);
    for (size_t i : sides) {
      at[i] = bytes;
      bytes += rounded(k.sides[i].bytes);
    }
    if (bytes) memory_ = c.scratch(uint8, Shape{bytes + kLine});
    auto* first = bytes ? static_cast<char*>(memory_.mutable_raw()) : nullptr;
    first += (kLine - reinterpret_cast<uintptr_t>(first) % kLine) % kLine;
    handles_->scratch.set_data_handle(first);
    for (size_t i : sides)
      if (k.sides[i].bytes) handles_->kernels[i].set_data_handle(first + at[i]);
  }
  ~Work() {
    // The next run on whatever thread takes them; two at a time make their own.
    delete k_.spare.exchange(handles_.release(), std::memory_order_acq_rel);
  }
  Work(const Work&) = delete;

  void point(size_t side, const void* ours) const {
    auto* p = const_cast<void*>(ours);
    handles_->ours[side].set_data_handle(p);
    if (!k_.sides[side].bytes) handles_->kernels[side].set_data_handle(p);
  }
  /// The filter, where another run has put it into the kernel's layout.
  void share_filter(const Work& from) const {
    handles_->kernels[kFilter].set_data_handle(from.handles_->kernels[kFilter].get_data_handle());
  }
  void reorder(size_t side) const {
    if (!k_.sides[side].bytes) return;
    bool back = k_.sides[side].result;
    dnnl_memory_t ours = handles_->ours[side].get(), kernels = handles_->kernels[side].get();
    execute(k_.sides[side].reorder, {{DNNL_ARG_FROM, back ? kernels : ours},
                                     {DNNL_ARG_TO, back ? ours : kernels},
                                     {DNNL_ARG_SCRATCHPAD, handles_->scratch.get()}});
  }
  void convolve(Pass pass) const {
    execute(k_.primitive, {{pass == Pass::kInput ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC,
                            handles_->kernels[kImage].get()},
                           {pass == Pass::kFilter ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS,
                            handles_->kernels[kFilter].get()},
                           {pass == Pass::kForward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST,
                            handles_->kernels[kMaps].get()},
                           {DNNL_ARG_SCRATCHPAD, handles_->scratch.get()}});
  }

 private:
  static constexpr size_t kLine = 64;
  static size_t rounded(size_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

  static std::unique_ptr<Handles> take(const Compiled& k) {
    std::unique_ptr<Handles> h(k.spare.exchange(nullptr, std::memory_order_acq_rel));
    if (h) return h;
    const dnnl::engine& e = onednn::engine();
    h = std::make_unique<Handles>();
    for (size_t i : {kImage, kFilter, kMaps}) {
      h->ours[i] = memory(k.sides[i].ours, e, DNNL_MEMORY_NONE);
      h->kernels[i] = memory(k.sides[i].kernels, e, DNNL_MEMORY_NONE);
    }
    h->scratch = memory(memory::desc({static_cast<int64_t>(k.scratch)}, memory::data_type::u8,
                                     memory::format_tag::a),
                        e, DNNL_MEMORY_NONE);
    return h;
  }

  const Compiled& k_;
  std::unique_ptr<Handles> handles_;
  Tensor memory_;
};

void run_whole(const Call& c, const Compiled& k, Pass pass, const ConvCall& call) {
  Work work(c, k, {kImage, kFilter, kMaps});
  const std::array<const void*, 3> ours{call.image.raw(), call.filter.raw(), call.maps.raw()};
  for (size_t i : {kImage, kFilter, kMaps}) work.point(i, ours[i]);
  SignalsWait wait;
  for (size_t i : {kFilter, kImage, kMaps})
    if (!k.sides[i].result) work.reorder(i);
  work.convolve(pass);
  for (size_t i : {kImage, kFilter, kMaps})
    if (k.sides[i].result) work.reorder(i);
  onednn::stream().wait();
}

// Why the library is not asked at all.
const char* refuse_sizes(DType dtype, const ConvShape& s) {
  if (!DTypes{float32, float16, bfloat16}.has(dtype)) return "dtype";
  constexpr int64_t kMost = int64_t{1} << 30;  // its generated code counts in 32 bits
  if (!s.batch || !s.channels || !s.positions() || !s.in_positions()) return "an operand is empty";
  for (size_t i = 0; i < 3; ++i)
    if (s.stride[i] > kMost || s.before[i] > kMost || s.after[i] > kMost ||
        (s.size[i] - 1) * s.dilation[i] > kMost)
      return "very large sizes";
  if (s.in_positions() > kMost / s.channels || s.positions() > kMost / s.out_channels)
    return "images above a gigabyte";
  return nullptr;
}

}  // namespace

Preparation prepare_onednn(const Types& t, Pass pass, bool depthwise) {
  ConvShape s = conv_shape(t, pass, depthwise);
  if (auto why = refuse_sizes(t.out_dtype(), s)) return why;
  auto made = make_ref<Convolution>(pass, t.out_dtype(), s);
  bool usable = by_image(pass) ? made->piece(1).usable : made->whole(whole_team()).usable;
  if (!usable) return "oneDNN has no fast kernel for these shapes";
  return made;
}

Status run_onednn(Call& c, const Prepared& prepared, bool depthwise) {
  const auto& conv = static_cast<const Convolution&>(prepared);
  if (by_image(conv.pass)) return run_onednn_pieces(c, prepared, 1, [](int64_t) {});
  Team team(whole_team());
  const Compiled& all = conv.whole(team);
  // It was prepared for another number of threads, and may be declined for this one.
  if (!all.usable) return run_reference(c, conv.pass, depthwise);
  try {
    run_whole(c, all, conv.pass, ConvCall(c, conv.pass, conv.shape));
  } catch (const dnnl::error& e) {
    return failed(c, e);
  }
  return {};
}

Preparation prepare_onednn_pieces(const Types& t, Pass pass, bool depthwise, int64_t images) {
  ConvShape s = conv_shape(t, pass, depthwise);
  if (auto why = refuse_sizes(t.out_dtype(), s)) return why;
  auto made = make_ref<Convolution>(pass, t.out_dtype(), s);
  if (!made->piece(images).usable) return "oneDNN has no fast kernel for these pieces";
  return made;
}

bool onednn_takes_pieces(const Prepared& prepared, int64_t images) {
  return static_cast<const Convolution&>(prepared).piece(images).usable;
}

Status run_onednn_pieces(Call& c, const Prepared& prepared, int64_t images,
                         const std::function<void(int64_t)>& then) {
  const auto& conv = static_cast<const Convolution&>(prepared);
  ConvCall k(c, conv.pass, conv.shape);
  const Compiled& piece = conv.piece(images);
  int64_t image = k.image.bytes() / k.shape.batch, maps = k.maps.bytes() / k.shape.batch;
  Status first;
  std::mutex mutex;
  try {
    Work filter(c, piece, {kFilter});
    filter.point(kFilter, k.filter.raw());
    {
      SignalsWait wait;
      filter.reorder(kFilter);
      onednn::stream().wait();
    }
    int64_t work = images * k.shape.positions() * k.shape.work() / 16;  // 16 products at once
    parallel_for(k.shape.batch / images, grain_for(work), [&](int64_t begin, int64_t end) {
      Team team(1);
      for (int64_t i = begin * images; i < end * images; i += images) {
        try {
          Work own(c, piece, {kImage, kMaps});
          own.share_filter(filter);
          own.point(kImage, static_cast<const char*>(k.image.raw()) + i * image);
          own.point(kMaps, static_cast<const char*>(k.maps.raw()) + i * maps);
          SignalsWait wait;
          for (size_t side : {kImage, kMaps})
            if (!piece.sides[side].result) own.reorder(side);
          own.convolve(conv.pass);
          for (size_t side : {kImage, kMaps})
            if (piece.sides[side].result) own.reorder(side);
          onednn::stream().wait();
        } catch (const dnnl::error& e) {
          std::lock_guard lock(mutex);
          first = failed(c, e);
          continue;
        }
        then(i);
      }
    });
  } catch (const dnnl::error& e) {
    return failed(c, e);
  }
  return first;
}

}  // namespace holdfast::nn

#else

namespace holdfast::nn {

Preparation prepare_onednn(const Types&, Pass, bool) { return "built without oneDNN"; }
Status run_onednn(Call&, const Prepared&, bool) {
  return Status(Code::E1599, "built without oneDNN");
}
Preparation prepare_onednn_pieces(const Types&, Pass, bool, int64_t) {
  return "built without oneDNN";
}
bool onednn_takes_pieces(const Prepared&, int64_t) { return false; }
Status run_onednn_pieces(Call&, const Prepared&, int64_t, const std::function<void(int64_t)>&) {
  return Status(Code::E1599, "built without oneDNN");
}

}  // namespace holdfast::nn
#endif
