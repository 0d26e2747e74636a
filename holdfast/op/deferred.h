// Code that can only be written out once ranks and sizes are there: a graph keeps its name and
// plain arguments as one node, and runs it on values.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "holdfast/op/function.h"

namespace holdfast {

/// Dtype and shape of what such code gives, as far as they are known.
using Given = std::vector<std::pair<DType, Shape>>;

namespace detail {
/// Code without its types; `run` calls it with arguments that were kept.
struct CompositionDef {
  const char* name;
  size_t least;  // how many tensors it reads whatever its arguments are
  void (*code)();
  Tensors (*run)(void (*code)(), std::span<const Tensor> in, std::span<const Arg> arguments);
};
HOLDFAST_API void add_composition(const CompositionDef&);
HOLDFAST_API Tensors deferred(const char* composition, const Tensors& in, const Given& outputs,
                              std::vector<Arg> arguments);
}  // namespace detail

/// Ops over some tensors, with plain arguments, registered by a name so that a graph that holds it
/// can be written down and read again. Made when the library is loaded:
///
///   const Composition turned("matrix_transpose", 1, +[](std::span<const Tensor> in, bool
///   conjugate) {
///     return linalg::matrix_transpose(in[0], {.conjugate = conjugate});
///   });
///
/// The number is how many tensors it reads at least: a graph that somebody wrote may hold fewer.
///   ... return turned({t}, t.dtype(), Shape::unknown(), o.conjugate);
template <class R, class... P>
class Composition {
 public:
  using Code = R (*)(std::span<const Tensor>, P...);
  Composition(const char* name, size_t least, Code code) : name_(name) {
    detail::add_composition({name, least, reinterpret_cast<void (*)()>(code), &run});
  }
  /// As one op with a gradient. `name` is what messages call it.
  Tensors list(const Tensors& in, const Given& outputs,
               const std::remove_cvref_t<P>&... arguments) const {
    return detail::deferred(name_, in, outputs,
                            {ParamType<std::remove_cvref_t<P>>::arg(arguments)...});
  }
  /// The same for code of one result.
  Tensor operator()(const Tensors& in, DType dtype, Shape shape,
                    const std::remove_cvref_t<P>&... arguments) const {
    return list(in, {{dtype, std::move(shape)}}, arguments...)[0];
  }

 private:
  static Tensors run(void (*code)(), std::span<const Tensor> in, std::span<const Arg> arguments) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return detail::Result<R>::list(reinterpret_cast<Code>(code)(
          in, ParamType<std::remove_cvref_t<P>>::from(arguments[I])...));
    }(std::index_sequence_for<P...>{});
  }
  const char* name_;
};

/// The gradient of `op` by its formula, once the values are there: attributes as they are, and
/// which of inputs, outputs and upstream gradients are among `in`.
HOLDFAST_API Tensors deferred_gradient(const OpDef& op, const Attrs& attrs, const Tensors& in,
                                       const Given& outputs, const Ints& which);

/// Whether all ranks are known, and whether all sizes are.
HOLDFAST_API bool ranks_known(const Tensors&);
HOLDFAST_API bool sizes_known(const Tensors&);

/// Thrown by a gradient formula that reads what a trace does not know yet; the formula is then
/// deferred.
struct NotKnownYet {};

/// Ops over the inputs, while they run.
using Body = std::function<Tensors(std::span<const Tensor>)>;
/// What arrives for the results of `body`, turned into what leaves for its inputs (empty for those
/// that are not differentiable). Registered once by autodiff/, as is what runs a formula.
using Pullback = Tensors (*)(const Body& body, std::span<const Tensor> inputs,
                             std::span<const Tensor> upstream);
using Formula = Tensors (*)(const OpDef& op, const Attrs& attrs, std::span<const Tensor> in,
                            const Ints& which);
HOLDFAST_API void set_pullback(Pullback, Formula);

}  // namespace holdfast
