#pragma once

#include <cstddef>
#include <vector>

#include "diacut/eigenvectors.hpp"
#include "matrix/kept_rows.hpp"
#include "matrix/normalized_matrix.hpp"
#include "opencl/buffer.hpp"

namespace diacut {

/// Eigenvectors of one image on the device. Vector k is elements [k * pitch, k * pitch + rows) of
/// `basis`; of unit norm; vector 0 is the trivial one; entries of elements without data are zero.
struct DeviceEigenvectors {
  std::size_t rows = 0;
  std::size_t pitch = 0;
  int count = 0;
  Buffer<float> basis;
  /// Eigenvalues of the normalized Laplacian I - A, ascending: half the sum of
  /// a_ij s_i s_j (z_i/s_i - z_j/s_j)^2 in double (s = D^1/2), because 1 minus a float32 Ritz value
  /// keeps no digit of them.
  std::vector<double> values;
  EigenReport report;
};

/// The eigenvectors of all pixels of image `image`, R z for those z of the kept ones. Vector 0, the
/// trivial one, stays unset. Eigenvalues are as much smaller as one step on the kept grid stands
/// for several (CoarseLevels::kHops). Enqueues.
DeviceEigenvectors interpolated(Context& context, const KeptRows& rows, int image,
                                const DeviceEigenvectors& kept);

/// The eigenvectors of image `image` of the matrix's batch, and its square roots of the degrees, on
/// the host. Waits for the device.
Eigenvectors to_host(const DeviceEigenvectors& eigenvectors, const NormalizedMatrix& matrix,
                     int image = 0);

}  // namespace diacut
