#include "graph/graph_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "matrix/block.hpp"

namespace diacut {

namespace {

/// Entries of a row that are summed before the sum is added to that of others.
constexpr std::size_t kLong = 512;
/// Rows that a work-item takes on a CPU.
constexpr std::size_t kRun = 64;

/// Uploads; buffers of no elements get one, since a kernel's argument has to be a buffer.
template <class T>
Buffer<T> uploaded(Context& context, const std::vector<T>& values, const char* what) {
  auto buffer = context.allocate<T>(std::max<std::size_t>(values.size(), 1), what);
  if (!values.empty()) buffer.upload(std::span(values));
  return buffer;
}

}  // namespace

DeviceCsr::DeviceCsr(Context& context, const HostCsr& matrix)
    : rows_(matrix.rows()),
      starts_(uploaded(context, matrix.starts, "row starts of a graph")),
      columns_(uploaded(context, matrix.columns, "columns of a graph")),
      values_(uploaded(context, matrix.values, "weights of a graph")) {}

GraphProduct::GraphProduct(Context& context, int columns, DeviceKind kind)
    : context_(&context), info_(context.info()) {
  info_.kind = kind;
  kernels_for(columns, false);
}

const KernelFile& GraphProduct::kernels_for(int columns, bool energy) {
  const std::pair key(program_columns(info_, columns), energy);
  const auto found = kernels_.find(key);
  if (found != kernels_.end()) return found->second;
  const KernelFile made(*context_, "graph/graph_product.cl",
                        fmt::format("{} -DLONG={} -DRUN={}{}", block_options(info_, key.first),
                                    kLong, kRun, energy ? " -DENERGY" : ""));
  return kernels_.emplace(key, made).first->second;
}

void GraphProduct::launch(const DeviceCsr& matrix, const Terms& terms, Buffer<float>& out,
                          int columns) {
  launch(kernels_for(columns, false), matrix, terms, out, columns);
}

void GraphProduct::energy(const DeviceCsr& matrix, const Buffer<float>& factors,
                          const Buffer<float>& y, Buffer<float>& out, int columns) {
  launch(kernels_for(columns, true), matrix,
         {.x = &y, .own = &y, .other = nullptr, .factors = &factors}, out, columns);
}

void GraphProduct::launch(const KernelFile& kernels, const DeviceCsr& matrix, const Terms& terms,
                          Buffer<float>& out, int columns) {
  const Buffer<float>& own = terms.own != nullptr ? *terms.own : out;
  const Buffer<float>& other = terms.other != nullptr ? *terms.other : out;
  const Buffer<float>& factors = terms.factors != nullptr ? *terms.factors : matrix.values_;
  const auto scaled = int{terms.factors != nullptr};
  const int sets = columns / block_vector(info_, columns);
  const auto wide = static_cast<std::size_t>(sets);
  const auto rows = static_cast<int>(matrix.rows_);
  const std::size_t group = cpu() ? 1 : 2 * kRowGroup;
  const std::size_t items = cpu() ? round_up(matrix.rows_, kRun) / kRun : matrix.rows_ * wide;
  kernels.launch("graph_rows", cl::NDRange(round_up(items, group)), cl::NDRange(group),
                 matrix.starts_, matrix.columns_, matrix.values_, factors, rows, *terms.x, own,
                 other, out, terms.keep, terms.p, terms.q, terms.r, scaled, sets);
}

void GraphProduct::scale(const Buffer<float>* factors, float alpha, const Buffer<float>& a,
                         float beta, Buffer<float>& out, std::size_t rows, int columns) {
  const int sets = columns / block_vector(info_, columns);
  kernels_for(columns, false)
      .launch_rows("graph_scale", rows * static_cast<std::size_t>(sets), 1,
                   factors != nullptr ? *factors : a, int{factors != nullptr}, alpha, a, beta, out,
                   rows, sets);
}

}  // namespace diacut
