#include "region/affinity_graph.hpp"

#include <utility>

#include "core/parallel.hpp"

namespace diacut {

AffinityGraph::AffinityGraph(const Grid& grid, const std::vector<StencilOffset>& later,
                             std::vector<float> weights)
    : grid_(grid), pitch_(grid.rows()), weights_(std::move(weights)) {
  for (const StencilOffset& each : later) {
    if (each == StencilOffset{1, 0}) right_ = steps_.size();
    if (each == StencilOffset{0, 1}) down_ = steps_.size();
    steps_.push_back(std::ptrdiff_t{each.dy} * grid.width + each.dx);
  }
}

AffinityGraph::AffinityGraph(const NormalizedMatrix& matrix)
    : AffinityGraph(matrix.grid(),
                    {matrix.stencil().entries.begin() +
                         static_cast<std::ptrdiff_t>(matrix.stencil().centre()) + 1,
                     matrix.stencil().entries.end()},
                    {}) {
  pitch_ = matrix.shape().pitch;
  weights_.resize(steps_.size() * pitch_);
  matrix.dia().values.download(std::span(weights_), (matrix.stencil().centre() + 1) * pitch_);
  const std::vector<float> root = matrix.sqrt_degree().download();
  parallel_for(steps_.size(), [&](std::size_t k) {
    float* const own = weights_.data() + k * pitch_;
    visit(0, grid_.rows(), k, steps_[k],
          [&](std::ptrdiff_t first, std::ptrdiff_t last, std::ptrdiff_t step, const float*) {
            for (std::ptrdiff_t i = first; i < last; ++i) own[i] *= root[i] * root[i + step];
          });
  });
}

std::vector<double> leaving_affinity(const AffinityGraph& graph,
                                     const std::vector<std::int32_t>& region) {
  std::vector<double> sums(region.size(), 0);
  parallel_ranges(region.size(), 4096, [&](std::size_t begin, std::size_t end) {
    graph.for_each_parted(region, begin, end, [&](std::size_t i, std::size_t, float weight) {
      sums[i] += static_cast<double>(weight);
    });
  });
  return sums;
}

}  // namespace diacut
