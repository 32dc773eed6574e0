#include "region/device_graph.hpp"

#include <fmt/format.h>

#include <cmath>

#include "opencl/kernel_file.hpp"

namespace diacut {

namespace {

/// The macro ENTRIES of region_product.cl.
std::string entries_macro(const Stencil& stencil) {
  std::string text;
  for (std::size_t d = 0; d < stencil.size(); ++d) {
    text += fmt::format("ENTRY({},{},{})", d, stencil.entries[d].dx, stencil.entries[d].dy);
  }
  return text;
}

}  // namespace

DeviceAffinityGraph::DeviceAffinityGraph(Context& context, const NormalizedMatrix& matrix)
    : context_(&context),
      grid_(matrix.grid()),
      matrix_(&matrix),
      region_(context.allocate<std::int32_t>(grid_.rows(), "regions")),
      x_(context.allocate<float>(grid_.rows() * kMaxColumns,
                                 "the vectors of a product within regions")),
      out_(context.allocate<float>(grid_.rows() * kMaxColumns,
                                   "the result of a product within regions")) {}

void DeviceAffinityGraph::product_within(const std::vector<std::int32_t>& region,
                                         const std::vector<float>& x, int columns,
                                         std::vector<float>& out) {
  region_.upload(region);
  x_.upload(x);
  const KernelFile kernels(
      *context_, "region/region_product.cl",
      fmt::format("-DENTRIES={} -DCOLUMNS={}", entries_macro(matrix_->stencil()), columns));
  kernels.launch_rows("region_product", grid_.rows(), 1, matrix_->dia().values,
                      matrix_->sqrt_degree(), region_, x_, out_, grid_.width, grid_.height,
                      matrix_->shape().pitch);
  out.resize(x.size());
  out_.download(std::span(out));
}

std::vector<float> DeviceAffinityGraph::links(StencilOffset neighbour) const {
  std::vector<float> values(grid_.rows());
  const std::size_t diagonal = matrix_->stencil().index(neighbour);
  matrix_->dia().values.download(std::span(values), diagonal * matrix_->shape().pitch);
  const std::vector<float> root = matrix_->sqrt_degree().download();
  const auto step = static_cast<std::size_t>(neighbour.dy * grid_.width + neighbour.dx);
  std::vector<float> links;
  links.reserve(grid_.rows());
  for (int y = 0; y < grid_.height; ++y) {
    for (int x = 0; x < grid_.width; ++x) {
      const std::size_t at = links.size();
      const bool inside = x + neighbour.dx < grid_.width && y + neighbour.dy < grid_.height;
      links.push_back(inside ? values[at] * root[at] * root[at + step] : 0.0f);
    }
  }
  return links;
}

const std::vector<float>& DeviceAffinityGraph::right() {
  if (right_.empty()) right_ = links({1, 0});
  return right_;
}

const std::vector<float>& DeviceAffinityGraph::down() {
  if (down_.empty()) down_ = links({0, 1});
  return down_;
}

std::vector<double> reference_product_within(const Grid& grid, const Stencil& stencil,
                                             const HostDiaMatrix& normalized,
                                             const std::vector<float>& sqrt_degree,
                                             const std::vector<std::int32_t>& region,
                                             const std::vector<float>& x, int columns,
                                             std::vector<double>& magnitude) {
  std::vector<double> out(grid.rows() * static_cast<std::size_t>(columns), 0.0);
  magnitude.assign(out.size(), 0.0);
  for (std::size_t d = 0; d < stencil.size(); ++d) {
    for (std::size_t i = 0; i < grid.rows(); ++i) {
      const auto [dx, dy] = stencil.entries[d];
      const int nx = static_cast<int>(i % static_cast<std::size_t>(grid.width)) + dx;
      const int ny = static_cast<int>(i / static_cast<std::size_t>(grid.width)) + dy;
      if (nx < 0 || nx >= grid.width || ny < 0 || ny >= grid.height) continue;
      const std::size_t j = static_cast<std::size_t>(ny) * grid.width + nx;
      if (region[i] == 0 || region[i] != region[j]) continue;
      const double link = static_cast<double>(normalized.values[d * normalized.shape.pitch + i]) *
                          static_cast<double>(sqrt_degree[i]) * static_cast<double>(sqrt_degree[j]);
      for (int c = 0; c < columns; ++c) {
        const double term = link * static_cast<double>(x[j * columns + c]);
        out[i * columns + c] += term;
        magnitude[i * columns + c] += std::abs(term);
      }
    }
  }
  return out;
}

}  // namespace diacut
