#include "region/device_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "opencl/kernel_file.hpp"

namespace diacut {

namespace {

/// Rows of `from` columns become rows of `to` columns: columns are cut off, or added with zeros.
void copy_rows(const std::vector<float>& in, int from, std::vector<float>& out, int to) {
  const std::size_t rows = in.size() / static_cast<std::size_t>(from);
  out.assign(rows * static_cast<std::size_t>(to), 0.0f);
  const int copied = std::min(from, to);
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy_n(in.data() + i * static_cast<std::size_t>(from), copied,
                out.data() + i * static_cast<std::size_t>(to));
  }
}

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
      region_(context.allocate<std::int32_t>(grid_.pixels(), "regions")),
      x_(context.allocate<float>(grid_.pixels() * kMaxColumns,
                                 "the vectors of a product within regions")),
      out_(context.allocate<float>(grid_.pixels() * kMaxColumns,
                                   "the result of a product within regions")) {}

void DeviceAffinityGraph::product_within(const std::vector<std::int32_t>& region,
                                         const std::vector<float>& x, int columns,
                                         std::vector<float>& out) {
  const int wide = static_cast<int>(std::bit_ceil(static_cast<unsigned>(columns)));
  const std::size_t count = grid_.pixels() * static_cast<std::size_t>(wide);
  region_.upload(region);
  if (wide != columns) {
    copy_rows(x, columns, padded_, wide);
    x_.upload(padded_);
  } else {
    x_.upload(x);
  }
  const KernelFile kernels(
      *context_, "region/region_product.cl",
      fmt::format("-DENTRIES={} -DCOLUMNS={}", entries_macro(matrix_->stencil()), wide));
  kernels.launch_rows("region_product", grid_.pixels(), 1, matrix_->dia().values,
                      matrix_->sqrt_degree(), region_, x_, out_, grid_.width, grid_.height,
                      static_cast<std::size_t>(grid_.stride), matrix_->shape().pitch);
  if (wide != columns) {
    padded_.resize(count);
    out_.download(std::span(padded_));
    copy_rows(padded_, wide, out, columns);
  } else {
    out.resize(count);
    out_.download(std::span(out));
  }
}

void DeviceAffinityGraph::read_links() {
  // Between products the vectors' buffers are free, and they are large enough for the links.
  const Stencil& stencil = matrix_->stencil();
  const KernelFile kernels(
      *context_, "region/links.cl",
      fmt::format("-DRIGHT={} -DDOWN={}", stencil.index({1, 0}), stencil.index({0, 1})));
  kernels.launch_rows("region_links", grid_.pixels(), 1, matrix_->dia().values,
                      matrix_->sqrt_degree(), x_, out_, grid_.width, grid_.height,
                      static_cast<std::size_t>(grid_.stride), matrix_->shape().pitch);
  right_.resize(grid_.pixels());
  down_.resize(grid_.pixels());
  x_.download(std::span(right_));
  out_.download(std::span(down_));
}

const std::vector<float>& DeviceAffinityGraph::right() {
  if (right_.empty()) read_links();
  return right_;
}

const std::vector<float>& DeviceAffinityGraph::down() {
  if (down_.empty()) read_links();
  return down_;
}

std::vector<double> reference_product_within(const Grid& grid, const Stencil& stencil,
                                             const HostDiaMatrix& normalized,
                                             const std::vector<float>& sqrt_degree,
                                             const std::vector<std::int32_t>& region,
                                             const std::vector<float>& x, int columns,
                                             std::vector<double>* magnitude) {
  std::vector<double> out(grid.pixels() * static_cast<std::size_t>(columns), 0.0);
  if (magnitude != nullptr) magnitude->assign(out.size(), 0.0);
  for (std::size_t d = 0; d < stencil.size(); ++d) {
    const std::vector<double> links =
        reference_links(grid, stencil, normalized, sqrt_degree, stencil.entries[d]);
    for (std::size_t i = 0; i < grid.pixels(); ++i) {
      const auto [dx, dy] = stencil.entries[d];
      const int nx = static_cast<int>(i % static_cast<std::size_t>(grid.width)) + dx;
      const int ny = static_cast<int>(i / static_cast<std::size_t>(grid.width)) + dy;
      if (nx < 0 || nx >= grid.width || ny < 0 || ny >= grid.height) continue;
      const std::size_t j = static_cast<std::size_t>(ny) * grid.width + nx;
      if (region[i] == 0 || region[i] != region[j]) continue;
      for (int c = 0; c < columns; ++c) {
        const double term = links[i] * static_cast<double>(x[j * columns + c]);
        out[i * columns + c] += term;
        if (magnitude != nullptr) (*magnitude)[i * columns + c] += std::abs(term);
      }
    }
  }
  return out;
}

std::vector<double> reference_links(const Grid& grid, const Stencil& stencil,
                                    const HostDiaMatrix& normalized,
                                    const std::vector<float>& sqrt_degree,
                                    StencilOffset neighbour) {
  const std::size_t d = stencil.index(neighbour);
  std::vector<double> links(grid.pixels(), 0.0);
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      const int nx = x + neighbour.dx;
      const int ny = y + neighbour.dy;
      if (nx < 0 || nx >= grid.width || ny < 0 || ny >= grid.height) continue;
      const std::size_t from = static_cast<std::size_t>(y) * grid.stride + x;
      const std::size_t to = static_cast<std::size_t>(ny) * grid.stride + nx;
      links[static_cast<std::size_t>(y) * grid.width + x] =
          static_cast<double>(normalized.values[d * normalized.shape.pitch + from]) *
          static_cast<double>(sqrt_degree[from]) * static_cast<double>(sqrt_degree[to]);
    }
  }
  return links;
}

}  // namespace diacut
