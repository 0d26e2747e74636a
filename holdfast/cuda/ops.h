// What each file of kernels adds to the registry. The plugin's entry calls them all.
#pragma once

#include "holdfast/op/opdef.h"

namespace holdfast::cuda {

/// A reason if an input does not lie on a multiple of its element's size, as a reinterpreted view
/// may: a GPU can't load it.
const char* refuse_misaligned(const Call&);

void add_expression_kernels();
void add_matmul_kernels();
void add_row_kernels();

}  // namespace holdfast::cuda
