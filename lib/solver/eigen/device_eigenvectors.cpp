#include "eigen/device_eigenvectors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "eigen/lanczos/basis.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "eigen/lobpcg/workspace.hpp"
#include "eigen/multilevel/coarse_levels.hpp"
#include "eigen/resolution.hpp"
#include "eigen/solvers.hpp"
#include "matrix/grid.hpp"
#include "matrix/quadratic_form.hpp"

namespace diacut {

namespace {

/// Vectors of a block, whose quadratic forms with a compressed matrix are computed in one pass.
constexpr int kBlockColumns = 8;

/// Norms of A z - (z'Az) z for each vector z. Waits for the device once.
std::vector<double> residual_norms(Context& context, DeviceOperator& op, std::size_t pitch,
                                   const Buffer<float>& basis, int count, BasisKernels& kernels) {
  auto z = context.allocate<float>(pitch, "a vector");
  auto az = context.allocate<float>(pitch, "a vector");
  az.fill(0);
  // The first half of the sums are squared norms, the second half dot products.
  const auto vectors = static_cast<std::size_t>(count);
  DeviceSums sums(context, 2 * vectors, "dot products and norms");
  for (int k = 0; k < count; ++k) {
    kernels.copy(basis, k, 1, z);
    op.perform_op(z, az);
    kernels.dots(z, 1, az, sums, count + k);
    kernels.update(z, 1, az, sums, count + k, k);
  }
  std::vector<double> result = sums.download(vectors);
  for (double& norm : result) norm = std::sqrt(std::max(norm, 0.0));
  return result;
}

/// quadratic_forms() of a matrix in compressed form, a block of vectors at a time.
std::vector<double> compressed_quadratic_forms(Context& context, const NormalizedMatrix& matrix,
                                               const Buffer<float>& basis, int count) {
  const std::size_t rows = matrix.rows();
  const std::size_t pitch = matrix.shape().pitch;
  BasisKernels vectors(context, pitch, count);
  BlockColumns blocks(context, kBlockColumns);
  Workspace workspace(context, kBlockColumns, rows);
  RayleighQuotients quotients(workspace, matrix);
  auto z = context.allocate<float>(pitch, "a vector");
  auto x = context.allocate<float>(rows * kBlockColumns, "a block of vectors");
  auto y = context.allocate<float>(rows * kBlockColumns, "a block of vectors");
  auto one = context.allocate<float>(1, "a factor");
  one.fill(1);
  x.fill(0);
  std::vector<double> result;
  for (int first = 0; first < count; first += kBlockColumns) {
    const int columns = std::min(kBlockColumns, count - first);
    for (int k = 0; k < columns; ++k) {
      vectors.copy(basis, first + k, 1, z);
      blocks.insert(z, one, 0, 1, rows, k, x);
    }
    const std::vector<double> values = quotients.compute(matrix, x, y, x);
    result.insert(result.end(), values.begin(), values.begin() + columns);
  }
  return result;
}

}  // namespace

DeviceEigenvectors interpolated(Context& context, const KeptRows& rows, int image,
                                const DeviceEigenvectors& kept) {
  DeviceEigenvectors result{rows.fine.image.rows(),
                            dia_pitch(rows.fine.image.rows()),
                            kept.count,
                            {},
                            kept.values,
                            kept.report};
  for (double& value : result.values) value /= CoarseLevels::kHops;
  result.basis =
      context.allocate<float>(static_cast<std::size_t>(kept.count) * result.pitch, "eigenvectors");
  interpolate_kept_rows(context, rows, image, kept.count, kept.basis, kept.pitch, result.basis,
                        result.pitch);
  return result;
}

Eigenvectors to_host(const DeviceEigenvectors& eigenvectors, const NormalizedMatrix& matrix,
                     int image) {
  const Batch& batch = matrix.batch();
  const Grid& grid = batch.image;
  Eigenvectors host;
  host.width = grid.width;
  host.height = grid.height;
  host.values = eigenvectors.values;
  host.report = eigenvectors.report;
  host.sqrt_degree.resize(grid.rows());
  matrix.sqrt_degree().download(std::span(host.sqrt_degree),
                                static_cast<std::size_t>(image) * batch.segment());
  // Each download waits for the device; a download of many elements holds as many on the host.
  constexpr std::size_t kMostElements = std::size_t{1} << 24;
  const int at_once =
      static_cast<int>(std::max<std::size_t>(kMostElements / eigenvectors.pitch, 1));
  for (int first = 0; first < eigenvectors.count; first += at_once) {
    const int count = std::min(at_once, eigenvectors.count - first);
    std::vector<float> several(static_cast<std::size_t>(count - 1) * eigenvectors.pitch +
                               grid.rows());
    eigenvectors.basis.download(std::span(several),
                                static_cast<std::size_t>(first) * eigenvectors.pitch);
    for (int k = 0; k < count; ++k) {
      const auto own =
          std::span(several).subspan(static_cast<std::size_t>(k) * eigenvectors.pitch, grid.rows());
      host.vectors.emplace_back(own.begin(), own.end());
    }
  }
  return host;
}

DeviceEigenvectors eigenpairs(Context& context, const NormalizedMatrix& matrix, DeviceOperator& op,
                              DeviceEigenvectors result) {
  const std::size_t pitch = matrix.shape().pitch;
  const int count = result.count;
  result.rows = matrix.rows();
  result.pitch = pitch;
  result.report.products = op.products();
  result.report.passes = result.report.products;
  result.report.matvec = op.name();

  std::vector<double> values =
      matrix.form() == MatrixForm::kDia
          ? quadratic_forms(context, matrix, result.basis, count)
          : compressed_quadratic_forms(context, matrix, result.basis, count);
  values[0] = 0;  // The trivial eigenvector's is known, not computed.
  BasisKernels kernels(context, pitch, count);
  const std::vector<double> residuals =
      residual_norms(context, op, pitch, result.basis, count, kernels);
  const std::vector<float> peaks = kernels.peaks(result.basis, count);

  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin() + 1, order.end(),
                   [&](int a, int b) { return values[a] < values[b]; });
  std::vector<float> signed_permutation(order.size() * order.size(), 0.0F);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto from = static_cast<std::size_t>(order[k]);
    signed_permutation[k * order.size() + from] = peaks[from] < 0 ? -1.0F : 1.0F;
    result.values.push_back(values[from]);
    result.report.residuals.push_back(residuals[from]);
  }
  result.report.resolution = resolution_of(result.values, result.report.residuals);
  kernels.rotate(result.basis, 0, count, count, signed_permutation);
  return result;
}

}  // namespace diacut
