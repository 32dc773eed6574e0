#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "matrix/grid.hpp"
#include "matrix/normalized_matrix.hpp"
#include "matrix/stencil.hpp"

namespace diacut {

/// The affinity W of one image in main memory, as direct cuts read it: the weights between each
/// pixel and those of its neighbours that come later in reading order. The other half is the same,
/// and a pixel's affinity with itself does not count.
class AffinityGraph {
 public:
  /// `later`: neighbours that come after the pixel in reading order, (1, 0) and (0, 1) among them.
  /// `weights`: for each of these, the affinity of every pixel with it, 0 where it lies outside.
  AffinityGraph(const Grid& grid, const std::vector<StencilOffset>& later,
                std::vector<float> weights);
  /// W_ij = s_i A_ij s_j, with s the square roots of the degrees. Waits for the device.
  /// Preconditions: the matrix is of one image, in DIA form, and its stencil's radius is at least
  /// 1. Throws DeviceError.
  explicit AffinityGraph(const NormalizedMatrix& matrix);

  const Grid& grid() const { return grid_; }
  /// W between each pixel and its right (x + 1) and lower (y + 1) neighbour, 0 at the border.
  std::span<const float> right() const { return of_neighbour(right_); }
  std::span<const float> down() const { return of_neighbour(down_); }

  /// Calls f(first, last, step, weights) for each neighbour of the pixels from `begin` to `end`:
  /// weights[i - first] is the affinity of the pixels i and i + step, first <= i < last, with 0
  /// where the neighbour lies outside.
  template <class F>
  void for_each_later(std::size_t begin, std::size_t end, const F& f) const {
    for (std::size_t d = 0; d < steps_.size(); ++d) visit(begin, end, d, steps_[d], f);
  }
  template <class F>
  void for_each_neighbour(std::size_t begin, std::size_t end, const F& f) const {
    for (std::size_t d = 0; d < steps_.size(); ++d) {
      visit(begin, end, d, steps_[d], f);
      visit(begin, end, d, -steps_[d], f);
    }
  }
  /// Calls f(i, j, weight) for each pixel i from `begin` to `end` and each neighbour of it in
  /// another region. Pixels without a region, 0, have no affinities.
  template <class F>
  void for_each_parted(const std::vector<std::int32_t>& region, std::size_t begin, std::size_t end,
                       const F& f) const;

 private:
  std::span<const float> of_neighbour(std::size_t d) const {
    return std::span(weights_).subspan(d * pitch_, grid_.rows());
  }
  template <class F>
  void visit(std::size_t begin, std::size_t end, std::size_t d, std::ptrdiff_t step,
             const F& f) const {
    const auto rows = static_cast<std::ptrdiff_t>(grid_.rows());
    const std::ptrdiff_t first = std::max(static_cast<std::ptrdiff_t>(begin), -step);
    const std::ptrdiff_t last = std::min(static_cast<std::ptrdiff_t>(end), rows - step);
    // An affinity belongs to the earlier pixel of the two.
    const std::ptrdiff_t own = step == steps_[d] ? first : first + step;
    if (first < last) f(first, last, step, of_neighbour(d).data() + own);
  }

  Grid grid_;
  std::vector<std::ptrdiff_t> steps_;
  std::size_t pitch_;  ///< From the weights of one neighbour to those of the next.
  std::vector<float> weights_;
  std::size_t right_ = 0;
  std::size_t down_ = 0;
};

template <class F>
void AffinityGraph::for_each_parted(const std::vector<std::int32_t>& region, std::size_t begin,
                                    std::size_t end, const F& f) const {
  // Most runs lie inside of a region, and so do their neighbours.
  constexpr std::ptrdiff_t kRun = 64;
  const std::int32_t* of = region.data();
  for_each_neighbour(
      begin, end,
      [&](std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t step, const float* weights) {
        for (std::ptrdiff_t at = first; at < last; at += kRun) {
          const std::ptrdiff_t until = std::min(at + kRun, last);
          const std::size_t bytes = static_cast<std::size_t>(until - at) * sizeof(std::int32_t);
          if (std::memcmp(of + at, of + at + step, bytes) == 0) continue;
          for (std::ptrdiff_t i = at; i < until; ++i) {
            const float weight = weights[i - first];
            if (of[i] != of[i + step] && of[i] != 0 && weight != 0) {
              f(static_cast<std::size_t>(i), static_cast<std::size_t>(i + step), weight);
            }
          }
        }
      });
}

/// By pixel, the sum of its affinities with pixels of other regions.
std::vector<double> leaving_affinity(const AffinityGraph& graph,
                                     const std::vector<std::int32_t>& region);

}  // namespace diacut
