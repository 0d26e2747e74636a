// What the layers SimpleRNN, LSTM and GRU have in common: each repeats a cell of its own.
#pragma once

#include "holdfast/keras/layers/recurrent/gated_cell.h"
#include "holdfast/keras/layers/recurrent/rnn.h"

namespace holdfast::keras::layers {

/// How the layer of these options repeats a new cell of class C.
template <class C, class O>
RNNOptions repeats_of(const O& o, const char* cell_name) {
  Ref<C> cell = make_ref<C>();
  cell->configure(cell_options_of<typename C::Options>(o, cell_name));
  RNNOptions out;
  out.cell = Ref<Layer>(cell);
  out.return_sequences = o.return_sequences;
  out.return_state = o.return_state;
  out.go_backwards = o.go_backwards;
  out.stateful = o.stateful;
  out.unroll = o.unroll;
  out.zero_output_for_mask = o.zero_output_for_mask;
  return out;
}

/// What Python shows of a layer besides its options.
template <class L>
Declare<L>&& repeating_parts(Declare<L>&& d) {
  return std::move(d)
      .key_before("return_sequences", "units")
      .key_before("return_state", "units")
      .key_before("go_backwards", "units")
      .key_before("stateful", "units")
      .key_before("unroll", "units")
      .key_before("zero_output_for_mask", "units")
      .parameters({"sequences", "initial_state", "mask", "training"})
      .property("cell", [](const Object& o) {
        return Config(Ref<Object>(dynamic_cast<const RNNLayer&>(o).cell()));
      });
}
/// What Python shows of a cell besides its options.
template <class L>
Declare<L>&& cell_parts(Declare<L>&& d) {
  return std::move(d)
      .parameters({"inputs", "states", "training"})
      .template weight<&L::kernel>("kernel")
      .template weight<&L::recurrent_kernel>("recurrent_kernel")
      .template weight<&L::bias>("bias")
      .property("state_size",
                [](const Object& o) { return dynamic_cast<const CellLayer&>(o).state_size(); })
      .property("output_size", [](const Object& o) {
        return Config(dynamic_cast<const CellLayer&>(o).output_size());
      });
}

/// `use_cudnn` says which kernels may be used; there are none of cuDNN's.
inline void check_cudnn(const Config& use, const std::string& of) {
  bool automatic = use.kind() == Config::Kind::kText && use.as_text() == "auto";
  bool never = use.kind() == Config::Kind::kBool && !use.as_bool();
  if (automatic || never) return;
  if (use.kind() == Config::Kind::kBool)
    fail(Code::E1105, cat(of, ": `use_cudnn` is true, and there are no kernels of cuDNN's here"),
         "layers run by kernels of our own", {manual_fix("leave `use_cudnn` out")});
  fail(Code::E1104, cat(of, ": `use_cudnn` is ", use.text(), ", expected \"auto\" or a bool"));
}

}  // namespace holdfast::keras::layers
