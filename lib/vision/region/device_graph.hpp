#pragma once

#include <cstdint>
#include <vector>

#include "matrix/dia_matrix.hpp"
#include "matrix/grid.hpp"
#include "matrix/normalized_matrix.hpp"
#include "matrix/stencil.hpp"
#include "opencl/context.hpp"
#include "region/region.hpp"

namespace diacut {

/// The affinity W on the device, restored from its normalized form: W_ij = s_i A_ij s_j. Keeps
/// a reference to the matrix, whose sqrt_degree() is s and which must outlive it.
class DeviceAffinityGraph final : public AffinityGraph {
 public:
  static constexpr int kMaxColumns = 16;

  /// Preconditions: the matrix is of one image, in DIA form, and its stencil's radius is at
  /// least 1. Throws DeviceError.
  DeviceAffinityGraph(Context& context, const NormalizedMatrix& matrix);

  void product_within(const std::vector<std::int32_t>& region, const std::vector<float>& x,
                      int columns, std::vector<float>& out) override;
  int max_columns() const override { return kMaxColumns; }
  const std::vector<float>& right() override;
  const std::vector<float>& down() override;

 private:
  /// W between each pixel and this neighbour, which comes later in scan order; 0 where that is
  /// outside. Waits.
  std::vector<float> links(StencilOffset neighbour) const;

  Context* context_;
  Grid grid_;
  const NormalizedMatrix* matrix_;
  Buffer<std::int32_t> region_;
  Buffer<float> x_;
  Buffer<float> out_;
  std::vector<float> right_;
  std::vector<float> down_;
};

/// AffinityGraph::product_within() on the host by plain loops, in double: out[i * columns + c].
/// `magnitude` receives the sums of |W_ij x_jc|, to which rounding errors are relative.
std::vector<double> reference_product_within(const Grid& grid, const Stencil& stencil,
                                             const HostDiaMatrix& normalized,
                                             const std::vector<float>& sqrt_degree,
                                             const std::vector<std::int32_t>& region,
                                             const std::vector<float>& x, int columns,
                                             std::vector<double>& magnitude);

}  // namespace diacut
