// Tensors out of their scope: of traced functions, graphs, sessions.
#include "programs.h"

namespace holdfast {
namespace {

// clang-format off
#include "E0101_argument.cpp"
#include "E0101_escaped.cpp"
#include "E0101_never_called.cpp"
#include "E0101_other_function.cpp"
#include "E0101_read.cpp"
#include "E0103_loop.cpp"
#include "E0104_branch.cpp"
#include "E0109_init_scope.cpp"
#include "E0110_two_graphs.cpp"
#include "E0111_other_graph.cpp"
#include "E0113_loop_body.cpp"
#include "E0201_flag.cpp"
#include "E0201_if.cpp"
#include "E0201_loop_flag.cpp"
#include "E0201_while.cpp"
#include "E0203_graph.cpp"
#include "E0203_item.cpp"
#include "E0203_to_vector.cpp"
#include "E0504_twice.cpp"
#include "E0801_not_fed.cpp"
#include "E0802_closed.cpp"
#include "E0803_finalized.cpp"
#include "E0902_branches.cpp"
#include "E0902_loop.cpp"
// clang-format on

}  // namespace
}  // namespace holdfast
