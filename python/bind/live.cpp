// What lives in memory now.
#include "holdfast/tensor/live.h"

#include "python/bind/call.h"
#include "python/bind/nb.h"

namespace nb = nanobind;

namespace holdfast::py {

void bind_live(nb::module_& m) {
  m.def("live_tensors", [](bool by_line) {
    return run([&] {
      nb::list out;
      for (const LiveTensors& t : live_tensors(by_line ? GroupBy::kLine : GroupBy::kNothing))
        out.append(nb::make_tuple(t.bytes, t.count, given(to_dict(t.line)),
                                  nb::borrow(dtype_object(t.dtype)), given(shape_object(t.shape)),
                                  t.alike));
      return out;
    });
  });
  m.attr("LEDGER_BYTES") = kLedgerBytes;
}

}  // namespace holdfast::py
