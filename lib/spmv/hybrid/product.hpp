#pragma once

#include <memory>
#include <vector>

#include "spmv/hybrid/plan.hpp"
#include "spmv/product.hpp"

namespace diacut {

/// The parts of a matrix on the host: result[i] has the entries that plan.parts[i] takes. Each part
/// has the matrix's shape, and each entry of the matrix is in exactly one part.
std::vector<CsrMatrix> split_matrix(const CsrMatrix& matrix, const HybridPlan& plan);

/// The parts of a plan on a device, whose products add up. Throws ConfigError when the plan does
/// not end with the rest, and as make_product() does.
std::unique_ptr<SparseProduct> make_hybrid(Context& context, const CsrMatrix& matrix,
                                           const HybridPlan& plan,
                                           const ProductOptions& options = {});

}  // namespace diacut
