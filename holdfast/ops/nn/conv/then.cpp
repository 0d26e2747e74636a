// What follows a convolution reads its result while it is in the second cache: a few images are
// convolved, then the expression runs over them in place, then come the next ones.
#include "holdfast/ops/nn/conv/then.h"

#include <algorithm>

#include "holdfast/base/parallel.h"
#include "holdfast/expr/cpu_program.h"
#include "holdfast/ops/nn/conv/raw.h"
#include "holdfast/ops/nn/conv/shape.h"

namespace holdfast::nn {
namespace {

constexpr int64_t kPiece =
    512 << 10;  // bytes of results that stay in the second cache, beside operands

struct ThenAttrs {
  Attr<Ints> strides;
  Attr<std::string> padding;
  Attr<std::string> data_format;
  Attr<Ints> dilations;
  Attr<Ints> explicit_paddings;
  Attr<RefCounted> expression;
  Attr<int64_t> position;
};

const Expr& expression(const Call& c) { return *expr_in(c.attrs<ThenAttrs>().expression.arg()); }
template <class C>
int position(const C& c) {
  return static_cast<int>(c.template attrs<ThenAttrs>().position());
}

// The attributes of the convolution alone.
Attrs window_part(const Attrs& all) {
  return Attrs(all.begin(), all.begin() + holdfast::detail::kFields<PaddedConvAttrs>);
}
Attrs conv_part(const Attrs& all, const OpDef& conv) {
  Attrs out = window_part(all);
  for (size_t i = out.size(); i < conv.attrs.size(); ++i)
    out.push_back(conv.attrs[i].default_value);
  return out;
}

// The inputs of the expression, of which `convolved` is one.
template <class Input>
Tensors operands(int inputs, size_t own, int position, const Tensor& convolved, Input&& input) {
  Tensors out;
  for (int i = static_cast<int>(own); i < inputs; ++i) {
    if (static_cast<int>(out.size()) == position) out.push_back(convolved);
    out.push_back(input(i));
  }
  if (static_cast<int>(out.size()) == position) out.push_back(convolved);
  return out;
}

// How many images a piece has: they divide the batch, and no thread is left with much less than
// another. 0: there is no such number.
int64_t images_a_piece(const Shape& out, int64_t cell) {
  int64_t batch = out[0], threads = num_threads();
  if (batch < 1 || out.size() == 0) return 0;
  if (deterministic()) return 1;
  int64_t most =
      std::clamp<int64_t>(kPiece / std::max<int64_t>(1, out.size() / batch * cell), 1, batch);
  for (int64_t each = most; each >= 1; --each) {
    int64_t pieces = batch / each;
    if (batch % each == 0 && (pieces % threads == 0 || pieces >= 4 * threads)) return each;
  }
  return 0;
}

template <const Op* const& Conv, Pass P, bool Depthwise>
struct Then {
  static const OpDef& conv() { return Conv->def(); }
  static size_t own() { return conv().inputs.size(); }

  static void infer(Infer& s) {
    const Arg& given = s.attrs<ThenAttrs>().expression.arg();
    const Expr* e = expr_in(given);
    if (!e) s.bad_value("expression", given.text(), "one that the pass which joins nodes made");
    Tensors in;
    for (size_t i = 0; i < own(); ++i) in.push_back(s.input(static_cast<int>(i)));
    Attrs attrs = conv_part(s.attrs(), conv());
    Infer first(conv(), in, attrs);
    conv().infer(first);
    auto rep = make_ref<TensorRep>(first.dtypes[0], first.shapes[0], nullptr);
    rep->op = conv().name.c_str();
    Tensors then = operands(s.inputs(), own(), position(s), Tensor(std::move(rep)),
                            [&](int i) { return s.input(i); });
    Attrs what{given};
    Infer second(fused_op(), then, what);
    e->infer(second);
    s.output(second.dtypes[0], second.shapes[0]);
  }

  // The parts of the expression's operands that belong to a piece, and what runs it over one.
  static auto follower(Call& c, int64_t images) {
    const Tensor out = c.out();
    return [&c, out, images](int64_t first) {
      int64_t batch = out.dim(0);
      auto piece = [&](const Tensor& t) {
        if (t.rank() != out.rank() || t.dim(0) != batch) return t;  // the same for all images
        Dims dims = t.shape().dims();
        dims[0] = images;
        return view_of(t, Shape(dims), t.bytes() / batch * first);
      };
      Tensor part = piece(out);
      cpu_program(expression(c))
          .run(
              operands(c.inputs(), own(), position(c), part, [&](int i) { return piece(c.in(i)); }),
              {&part, 1}, part.shape());
    };
  }

  static const char* refuse_by_winograd(const Types& t) {
    if (Depthwise) return "depthwise";
    if (!images_a_piece(t.out_shape(), size_of(t.out_dtype())))
      return "the batch can't be cut evenly for the threads";
    return refuse_winograd(t, P, Depthwise);
  }
  static Status by_winograd(Call& c) {
    int64_t images = images_a_piece(c.out_shape(), size_of(c.out_dtype()));
    if (!images) return then(c, nullptr);
    return run_winograd(c, ConvCall(c, P, conv_shape(c.types(), P, Depthwise)), images,
                        follower(c, images));
  }

  static Preparation prepare_pieces(const Types& t) {
    int64_t images = images_a_piece(t.out_shape(), size_of(t.out_dtype()));
    if (!images) return "the batch can't be cut evenly for the threads";
    return prepare_onednn_pieces(t, P, Depthwise, images);
  }

  static Status in_pieces(Call& c, const Prepared& prepared) {
    int64_t images = images_a_piece(c.out_shape(), size_of(c.out_dtype()));
    // The number of threads may be another one than when a plan chose this kernel.
    if (!images || !onednn_takes_pieces(prepared, images)) return then(c, &prepared);
    return run_onednn_pieces(c, prepared, images, follower(c, images));
  }

  // The convolution as a whole, and then the expression. Results of both are of one type, or the
  // pass would not have joined them.
  static Status then(Call& c, const Prepared* onednn) {
    Tensors in, convolved(1);
    for (size_t i = 0; i < own(); ++i) in.push_back(c.in(static_cast<int>(i)));
    Attrs attrs = conv_part(c.attrs(), conv());
    Infer gives(conv(), in, attrs);
    gives.output(c.out_dtype(), c.out_shape());
    Call first(conv(), in, attrs, gives, c.device, convolved);
    bool few = P == Pass::kInput && !refuse_few_channels(first.types(), P, Depthwise);
    bool winograd = !Depthwise && !refuse_winograd(first.types(), P, Depthwise);
    Status s = few ? run_few_channels(first, P, Depthwise)
               : winograd
                   ? run_winograd(
                         first, ConvCall(first, P, conv_shape(first.types(), P, Depthwise)), 1, {})
               : onednn ? run_onednn(first, *onednn, Depthwise)
                        : run_reference(first, P, Depthwise);
    if (!s.ok()) return s;
    Tensor out = c.out();
    cpu_program(expression(c))
        .run(operands(c.inputs(), own(), position(c), convolved[0], [&](int i) { return c.in(i); }),
             {&out, 1}, out.shape());
    return {};
  }

  static Preparation prepare_whole(const Types& t) { return prepare_onednn(t, P, Depthwise); }
  static Status whole(Call& c, const Prepared& prepared) { return then(c, &prepared); }
  static Status reference(Call& c) { return then(c, nullptr); }

  static Builder& declare(Builder& b) {
    return b.attr("strides")
        .attr("padding")
        .attr("data_format")
        .attr("dilations")
        .attr("explicit_paddings")
        .attr("expression")
        .attr("position")
        .attrs<&ThenAttrs::strides, &ThenAttrs::padding, &ThenAttrs::data_format,
               &ThenAttrs::dilations, &ThenAttrs::explicit_paddings, &ThenAttrs::expression,
               &ThenAttrs::position>()
        .attrs<&PaddedConvAttrs::strides, &PaddedConvAttrs::padding, &PaddedConvAttrs::data_format,
               &PaddedConvAttrs::dilations, &PaddedConvAttrs::explicit_paddings>()
        .dtypes(kPlain, "any")
        .infer(infer)
        .no_gradient()
        .kernel("winograd", by_winograd, kAll, refuse_by_winograd)
        .kernel("pieces", prepare_pieces, in_pieces)
        .kernel("at once", prepare_whole, whole)
        .kernel("reference", reference);
  }
};

const Op conv_then = Then<kConv2D.forward, Pass::kForward, false>::declare(
    RAW_OP(Conv2DThen)
        .inputs("input, filter, operands: any*")
        .dtypes(kFloats)
        .doc("Convolution over two axes, and what an expression makes of it. Graphs hold it after "
             "they were optimised."));
const Op conv_input_then = Then<kConv2D.input, Pass::kInput, false>::declare(
    RAW_OP(Conv2DBackpropInputThen)
        .inputs("input_sizes: Tidx!, filter, out_backprop, operands: any*")
        .dtypes(kFloats)
        .doc("Gradient of Conv2D with respect to its input, and what an expression makes of it. "
             "Graphs hold it after they were optimised."));
const Op depthwise_then = Then<kDepthwise.forward, Pass::kForward, true>::declare(
    RAW_OP(DepthwiseConv2dNativeThen)
        .inputs("input, filter, operands: any*")
        .dtypes(kFloats)
        .doc("Each channel convolved with its own filters, and what an expression makes of it. "
             "Graphs hold it after they were optimised."));

}  // namespace

Attrs followed_attrs(const Attrs& conv, Ref<RefCounted> expression, size_t position) {
  Attrs out = window_part(conv);
  out.push_back(Arg(std::move(expression)));
  out.push_back(Arg(static_cast<int64_t>(position)));
  return out;
}

const OpDef* followed_op(const OpDef& conv) {
  if (&conv == &kConv2D.forward->def()) return &conv_then.def();
  if (&conv == &kConv2D.input->def()) return &conv_input_then.def();
  if (&conv == &kDepthwise.forward->def()) return &depthwise_then.def();
  return nullptr;
}

}  // namespace holdfast::nn
