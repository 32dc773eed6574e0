#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "matrix/dia_matrix.hpp"
#include "matrix/grid.hpp"
#include "matrix/normalized_matrix.hpp"
#include "matrix/stencil.hpp"
#include "opencl/context.hpp"
#include "region/region.hpp"

namespace diacut {

/// kernels/region/links.cl: enqueues the affinities W_ij = s_i A_ij s_j, s = matrix.sqrt_degree(),
/// of each pixel and its neighbours to the right and below. `right` and `down` hold one value a
/// pixel, 0 where there is no neighbour. Preconditions: `matrix` is in DIA form, and its stencil's
/// radius is at least 1. Throws DeviceError.
void launch_region_links(Context& context, const NormalizedMatrix& matrix, Buffer<float>& right,
                         Buffer<float>& down);

/// kernels/region/region_product.cl: products within regions for up to kMaxColumns vectors at once.
class RegionProduct {
 public:
  static constexpr int kMaxColumns = 16;

  /// The columns that the kernel computes when asked for `columns`: the next power of two.
  static int padded_columns(int columns);

  /// For matrices with that stencil.
  RegionProduct(Context& context, const Stencil& stencil);

  /// Enqueues the product with W, W_ij = s_i A_ij s_j, s = matrix.sqrt_degree(). `columns` is a
  /// result of padded_columns(); x and out hold pixels * columns values or more, region one value a
  /// pixel. The program is built at the first call with these columns. Precondition: `matrix` has
  /// the stencil, and is in DIA form. Throws DeviceError.
  void launch(const NormalizedMatrix& matrix, const Buffer<std::int32_t>& region,
              const Buffer<float>& x, int columns, Buffer<float>& out);

 private:
  Context* context_;
  std::string options_;
  std::map<int, Kernel> kernels_;
};

/// The affinity W on the device, restored from its normalized form: W_ij = s_i A_ij s_j. Keeps
/// a reference to the matrix, whose sqrt_degree() is s and which must outlive it.
class DeviceAffinityGraph final : public AffinityGraph {
 public:
  /// Preconditions: the matrix is of one image, in DIA form, and its stencil's radius is at
  /// least 1. Throws DeviceError.
  DeviceAffinityGraph(Context& context, const NormalizedMatrix& matrix);

  void product_within(const std::vector<std::int32_t>& region, const std::vector<float>& x,
                      int columns, std::vector<float>& out) override;
  int max_columns() const override { return RegionProduct::kMaxColumns; }
  const std::vector<float>& right() override;
  const std::vector<float>& down() override;

 private:
  void read_links();

  Context* context_;
  Grid grid_;
  const NormalizedMatrix* matrix_;
  RegionProduct product_;
  Buffer<std::int32_t> region_;
  Buffer<float> x_;
  Buffer<float> out_;
  std::vector<float> padded_;
  std::vector<float> right_;
  std::vector<float> down_;
};

/// AffinityGraph::product_within() on the host by plain loops, in double: out[i * columns + c]. If
/// `magnitude` is given it receives the sums of |W_ij x_jc|, to which rounding errors are relative.
std::vector<double> reference_product_within(const Grid& grid, const Stencil& stencil,
                                             const HostDiaMatrix& normalized,
                                             const std::vector<float>& sqrt_degree,
                                             const std::vector<std::int32_t>& region,
                                             const std::vector<float>& x, int columns,
                                             std::vector<double>* magnitude = nullptr);

/// W between each pixel and its neighbour (dx, dy), which is an offset of the stencil: width *
/// height values, 0 where the neighbour is outside the image.
std::vector<double> reference_links(const Grid& grid, const Stencil& stencil,
                                    const HostDiaMatrix& normalized,
                                    const std::vector<float>& sqrt_degree, StencilOffset neighbour);

}  // namespace diacut
