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

/// The product chosen for a matrix, and what the choice cost.
struct HybridChoice {
  HybridPlan plan;
  std::unique_ptr<SparseProduct> product;
  double analysis_milliseconds = 0.0;  ///< Time that plan_hybrids() took on the host.
  /// Products computed on the device to choose among the plans: under 10, or more if all of them
  /// take only a few milliseconds.
  int sampled_products = 0;
};

/// Makes the best plans and times one product of each, after one product that is not counted. Where
/// products take but microseconds, other kernels of the best plan's formats are timed too, and the
/// best plans again. Throws ConfigError when the profile knows no implementation to choose from,
/// and as make_product() does when no plan can be made.
HybridChoice choose_hybrid(Context& context, const CsrMatrix& matrix, const FormatProfile& profile,
                           const AnalysisOptions& options = {});

}  // namespace diacut
