// Convolutions by oneDNN.
//
// Images and maps have their channels last: on every machine measured, its kernels for that layout
// are within a few percent of those for its own blocked layouts, and the two reorders those need
// cost 10 to 40 % of the convolution. With channels first its kernels take 1.7 times as long, so
// those are reordered (which the pass `layouts` mostly takes out of graphs). The filter takes
// whatever layout the kernel likes best: reordering it is cheap beside the convolution, so its
// reordered form is not kept (variables change every step).
#include "holdfast/ops/nn/conv_shape.h"

#ifdef HOLDFAST_ONEDNN
#include <limits>
#include <list>
#include <mutex>
#include <unordered_map>

#include "holdfast/base/grain.h"
#include "holdfast/base/parallel.h"
#include "holdfast/base/signals.h"
#include "holdfast/base/text.h"
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
};

// A convolution, compiled for its shapes and number of threads.
struct Compiled final : RefCounted {
  dnnl::primitive primitive;
  Side image, filter, maps;
  size_t scratch = 0;   // of the primitive or of a reorder, whichever takes more
  bool usable = false;  // false: the library declined these shapes
};

// Everything that decides what is compiled.
struct Key {
  std::array<int64_t, 28> v{};
  Key(Pass pass, DType dtype, const ConvShape& s, int threads) {
    size_t n = 0;
    for (int64_t x : {static_cast<int64_t>(pass), static_cast<int64_t>(dtype), int64_t{s.axes},
                      int64_t{s.channels_first}, s.batch, s.channels, s.out_channels, s.groups,
                      int64_t{threads}})
      v[n++] = x;
    for (const Extent* e : {&s.in, &s.size, &s.stride, &s.dilation, &s.before, &s.after})
      for (int64_t x : *e) v[n++] = x;
  }
  bool operator==(const Key&) const = default;
};
struct HashKey {
  size_t operator()(const Key& k) const {
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int64_t x : k.v) h = (h ^ static_cast<uint64_t>(x)) * 0x100000001b3u + (h >> 29);
    return h;
  }
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
Ref<Compiled> compile(Pass pass, DType dtype, const ConvShape& s) {
  auto c = make_ref<Compiled>();
  const dnnl::engine& e = onednn::engine();
  Layout l = layout_of(s, dtype);
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  constexpr auto kDirect = dnnl::algorithm::convolution_direct;
  auto take = [&](auto pd, memory::desc filter, auto make) {
    if (is_fallback(pd.impl_info_str())) return;
    c->primitive = make(pd);
    c->image = {l.image, l.inner_image, {}, pass == Pass::kInput};
    c->filter = {l.filter, filter, {}, pass == Pass::kFilter};
    c->maps = {l.maps, l.inner_maps, {}, pass == Pass::kForward};
    c->scratch = pd.scratchpad_desc().get_size();
    for (Side* side : {&c->image, &c->filter, &c->maps}) {
      if (side->ours == side->kernels) continue;
      dnnl::reorder::primitive_desc reorder(e, side->result ? side->kernels : side->ours, e,
                                            side->result ? side->ours : side->kernels, attr);
      side->reorder = dnnl::reorder(reorder);
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

// The last shapes seen. A network has some dozens; the bound is for programs whose shapes keep
// changing.
class Cache {
 public:
  Ref<Compiled> get(Pass pass, DType dtype, const ConvShape& s, int threads) {
    Key key(pass, dtype, s, threads);
    {
      std::lock_guard lock(mutex_);
      if (auto it = index_.find(key); it != index_.end()) {
        order_.splice(order_.begin(), order_, it->second);
        return it->second->second;
      }
    }
    Ref<Compiled> fresh = compile(pass, dtype, s);
    std::lock_guard lock(mutex_);
    if (auto it = index_.find(key); it != index_.end()) return it->second->second;
    order_.emplace_front(key, fresh);
    index_[key] = order_.begin();
    if (order_.size() > kMost) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
    return fresh;
  }

 private:
  static constexpr size_t kMost = 512;
  std::mutex mutex_;
  std::list<std::pair<Key, Ref<Compiled>>> order_;
  std::unordered_map<Key, decltype(order_)::iterator, HashKey> index_;
};

Cache& cache() {
  static auto* c = new Cache;
  return *c;
}

// A fixed way to cut the work, so that results do not depend on the number of threads: one image a
// piece, one thread each. The gradient of the filter adds over images and stays in one piece.
bool by_image(Pass pass) { return deterministic() && pass != Pass::kFilter; }

Team whole_team() { return Team(deterministic() ? 1 : std::numeric_limits<int>::max()); }

Ref<Compiled> compiled(const ConvShape& s, Pass pass, DType dtype, const Team& team) {
  return cache().get(pass, dtype, s, team.threads());
}

// For pieces of so many images, of which each thread computes its own.
Ref<Compiled> compiled_for(int64_t images, ConvShape s, Pass pass, DType dtype) {
  s.batch = images;
  return compiled(s, pass, dtype, Team(1));
}

memory at(const memory::desc& d, const void* p) {
  return memory(d, onednn::engine(), const_cast<void*>(p));
}

Status failed(const Call& c, const dnnl::error& e) {
  return Status(Code::E1599, cat(c.op.name, ": oneDNN failed: ", e.what()));
}

// One convolution after another with the same filter.
class Run {
 public:
  // The result of the gradient of a filter is the filter.
  Run(const Call& c, const Compiled& k, Pass pass, const void* filter)
      : c_(c), k_(k), pass_(pass), filter_(operand(k.filter, filter)) {
    SignalsWait wait;
    if (k.filter.result) return;
    Tensor work = scratch(k.scratch);
    reorder(filter_, scratchpad(work));
    onednn::stream().wait();
  }

  Status operator()(const void* image, const void* maps) const {
    Tensor work = scratch(k_.scratch);
    memory pad = scratchpad(work);
    const Operand in = operand(k_.image, image), out = operand(k_.maps, maps);
    SignalsWait wait;
    try {
      for (const Operand* o : {&in, &out})
        if (!o->side->result) reorder(*o, pad);
      k_.primitive.execute(
          onednn::stream(),
          {{pass_ == Pass::kInput ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, in.kernels},
           {pass_ == Pass::kFilter ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, filter_.kernels},
           {pass_ == Pass::kForward ? DNNL_ARG_DST : DNNL_ARG_DIFF_DST, out.kernels},
           {DNNL_ARG_SCRATCHPAD, pad}});
      for (const Operand* o : {&in, &filter_, &out})
        if (o->side->result) reorder(*o, pad);
      onednn::stream().wait();
    } catch (const dnnl::error& e) {
      return failed(c_, e);
    }
    return {};
  }

 private:
  struct Operand {
    const Side* side;
    memory ours, kernels;
    Tensor reordered;
  };

  Tensor scratch(size_t bytes) const {
    return c_.scratch(uint8, Shape{static_cast<int64_t>(bytes)});
  }
  static memory scratchpad(const Tensor& t) {
    return at(memory::desc({t.size()}, memory::data_type::u8, memory::format_tag::a), t.raw());
  }

  Operand operand(const Side& side, const void* p) const {
    memory ours = at(side.ours, p);
    if (!side.reorder) return {&side, ours, ours, {}};
    Tensor space = scratch(side.kernels.get_size());
    return {&side, ours, at(side.kernels, space.raw()), space};
  }

  static void reorder(const Operand& o, const memory& pad) {
    if (!o.side->reorder) return;
    bool back = o.side->result;
    o.side->reorder.execute(onednn::stream(), {{DNNL_ARG_FROM, back ? o.kernels : o.ours},
                                               {DNNL_ARG_TO, back ? o.ours : o.kernels},
                                               {DNNL_ARG_SCRATCHPAD, pad}});
  }

  const Call& c_;
  const Compiled& k_;
  Pass pass_;
  Operand filter_;
};

// Why the library is not asked at all.
const char* refuse_sizes(const Call& c, const ConvShape& s) {
  if (!DTypes{float32, float16, bfloat16}.has(c.out_dtype())) return "dtype";
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

const char* refuse_onednn(const Call& c, Pass pass, bool depthwise) {
  ConvShape s = conv_shape(c, pass, depthwise);
  if (auto why = refuse_sizes(c, s)) return why;
  Ref<Compiled> k = by_image(pass) ? compiled_for(1, s, pass, c.out_dtype())
                                   : compiled(s, pass, c.out_dtype(), whole_team());
  return k->usable ? nullptr : "oneDNN has no fast kernel for these shapes";
}

Status run_onednn(Call& c, Pass pass, bool depthwise) {
  if (by_image(pass)) return run_onednn_pieces(c, pass, depthwise, 1, [](int64_t) {});
  ConvCall k(c, pass, depthwise);
  Team team(whole_team());
  Ref<Compiled> all = compiled(k.shape, pass, k.dtype, team);
  try {
    return Run(c, *all, pass, k.filter.raw())(k.image.raw(), k.maps.raw());
  } catch (const dnnl::error& e) {
    return failed(c, e);
  }
}

const char* refuse_onednn_pieces(const Call& c, Pass pass, bool depthwise, int64_t images) {
  ConvShape s = conv_shape(c, pass, depthwise);
  if (auto why = refuse_sizes(c, s)) return why;
  return compiled_for(images, s, pass, c.out_dtype())->usable
             ? nullptr
             : "oneDNN has no fast kernel for these pieces";
}

Status run_onednn_pieces(Call& c, Pass pass, bool depthwise, int64_t images,
                         const std::function<void(int64_t)>& then) {
  ConvCall k(c, pass, depthwise);
  Ref<Compiled> piece = compiled_for(images, k.shape, pass, k.dtype);
  int64_t image = k.image.bytes() / k.shape.batch, maps = k.maps.bytes() / k.shape.batch;
  Status first;
  std::mutex mutex;
  try {
    Run run(c, *piece, pass, k.filter.raw());
    int64_t work = images * k.shape.positions() * k.shape.work() / 16;  // 16 products at once
    parallel_for(k.shape.batch / images, grain_for(work), [&](int64_t begin, int64_t end) {
      Team team(1);
      for (int64_t i = begin * images; i < end * images; i += images) {
        Status s = run(static_cast<const char*>(k.image.raw()) + i * image,
                       static_cast<const char*>(k.maps.raw()) + i * maps);
        if (s.ok()) {
          then(i);
          continue;
        }
        std::lock_guard lock(mutex);
        first = s;
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

const char* refuse_onednn(const Call&, Pass, bool) { return "built without oneDNN"; }
Status run_onednn(Call&, Pass, bool) { return Status(Code::E1599, "built without oneDNN"); }
const char* refuse_onednn_pieces(const Call&, Pass, bool, int64_t) {
  return "built without oneDNN";
}
Status run_onednn_pieces(Call&, Pass, bool, int64_t, const std::function<void(int64_t)>&) {
  return Status(Code::E1599, "built without oneDNN");
}

}  // namespace holdfast::nn
#endif
