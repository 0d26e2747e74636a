// What each file of kernels adds to the registry. The plugin's entry calls them all.
#pragma once

namespace holdfast::cuda {

void add_expression_kernels();
void add_matmul_kernels();
void add_row_kernels();

}  // namespace holdfast::cuda
