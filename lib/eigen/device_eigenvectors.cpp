#include "eigen/device_eigenvectors.hpp"

#include <algorithm>
#include <span>

#include "matrix/grid.hpp"

namespace diacut {

Eigenvectors to_host(const DeviceEigenvectors& eigenvectors, const NormalizedMatrix& matrix,
                     int image) {
  const Batch& batch = matrix.batch();
  const Grid& grid = batch.image;
  Eigenvectors host;
  host.width = grid.width;
  host.height = grid.height;
  host.values = eigenvectors.values;
  host.report = eigenvectors.report;
  std::vector<float> elements(grid.rows());
  matrix.sqrt_degree().download(std::span(elements),
                                static_cast<std::size_t>(image) * batch.segment());
  host.sqrt_degree = without_padding(elements, grid);
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
      host.vectors.push_back(without_padding(
          std::span(several).subspan(static_cast<std::size_t>(k) * eigenvectors.pitch, grid.rows()),
          grid));
    }
  }
  return host;
}

}  // namespace diacut
