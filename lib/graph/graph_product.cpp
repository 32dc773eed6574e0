#include "graph/graph_product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "matrix/block.hpp"
#include "opencl/arguments.hpp"

namespace diacut {

namespace {

constexpr char kFile[] = "graph/graph_product.cl";
/// Entries of the longest row that one work-item sums, and of the pieces of longer ones. Their sums
/// in float keep some five digits.
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
      values_(uploaded(context, matrix.values, "weights of a graph")) {
  std::vector<std::uint32_t> long_rows;
  std::vector<std::uint32_t> piece_rows;
  for (std::size_t row = 0; row < rows_; ++row) {
    const std::size_t length = matrix.starts[row + 1] - matrix.starts[row];
    if (length <= kLong) continue;
    const std::size_t pieces = round_up(length, kLong) / kLong;
    long_rows.insert(long_rows.end(), {static_cast<std::uint32_t>(row),
                                       static_cast<std::uint32_t>(piece_rows.size()),
                                       static_cast<std::uint32_t>(pieces)});
    piece_rows.insert(piece_rows.end(), pieces, static_cast<std::uint32_t>(long_count_++));
  }
  piece_count_ = piece_rows.size();
  long_rows_ = uploaded(context, long_rows, "long rows of a graph");
  piece_rows_ = uploaded(context, piece_rows, "pieces of long rows of a graph");
}

std::uint64_t DeviceCsr::memory(std::size_t rows, std::size_t entries) {
  // A long row has more than kLong entries, and less than one piece for each kLong / 2 of them.
  const std::uint64_t pieces = entries / kLong * 2;
  return (rows + 4) * sizeof(std::uint32_t) + entries * (sizeof(std::uint32_t) + sizeof(float)) +
         4 * pieces * sizeof(std::uint32_t);
}

GraphProduct::GraphProduct(Context& context, int columns, DeviceKind kind)
    : context_(&context), info_(context.info()) {
  info_.kind = kind;
  kernels_for(columns, false);
}

GraphProduct::Kernels& GraphProduct::kernels_for(int columns, bool energy) {
  const int built_for = program_columns(info_, columns);
  Kernels& kernels = kernels_[{built_for, energy}];
  if (kernels.rows) return kernels;
  const std::string options =
      fmt::format("{} -DLONG={} -DPIECE={} -DRUN={}{}", block_options(info_, built_for), kLong,
                  kLong, kRun, energy ? " -DENERGY" : "");
  kernels.rows = context_->kernel(kFile, "graph_rows", options);
  kernels.pieces = context_->kernel(kFile, "graph_pieces", options);
  kernels.long_rows = context_->kernel(kFile, "graph_long_rows", options);
  kernels.scale = context_->kernel(kFile, "graph_scale", options);
  return kernels;
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

const Buffer<float>& GraphProduct::partials(std::size_t floats) {
  if (partials_.size() < floats) {
    // Kernels of another matrix may be using the old ones: the queue keeps them until then.
    partials_ = context_->allocate<float>(floats, "partial sums of long rows");
  }
  return partials_;
}

void GraphProduct::launch(Kernels& kernels, const DeviceCsr& matrix, const Terms& terms,
                          Buffer<float>& out, int columns) {
  const Buffer<float>& own = terms.own != nullptr ? *terms.own : out;
  const Buffer<float>& other = terms.other != nullptr ? *terms.other : out;
  const Buffer<float>& factors = terms.factors != nullptr ? *terms.factors : matrix.values_;
  const auto scaled = int{terms.factors != nullptr};
  const int sets = columns / block_vector(info_, columns);
  const auto wide = static_cast<std::size_t>(sets);
  const auto rows = static_cast<int>(matrix.rows_);
  const std::size_t group = cpu() ? 1 : 2 * kRowGroup;
  set_arguments(kernels.rows, matrix.starts_, matrix.columns_, matrix.values_, factors, rows,
                *terms.x, own, other, out, terms.keep, terms.p, terms.q, terms.r, scaled, sets);
  const std::size_t items = cpu() ? round_up(matrix.rows_, kRun) / kRun : matrix.rows_ * wide;
  context_->launch(kernels.rows, cl::NDRange(round_up(items, group)), cl::NDRange(group));
  if (matrix.long_count_ == 0) return;
  const Buffer<float>& sums = partials(matrix.piece_count_ * static_cast<std::size_t>(columns));
  set_arguments(kernels.pieces, matrix.starts_, matrix.columns_, matrix.values_, factors,
                static_cast<int>(matrix.piece_count_), *terms.x, own, matrix.long_rows_,
                matrix.piece_rows_, sums, sets);
  const std::size_t pieces = matrix.piece_count_ * (cpu() ? 1 : wide);
  context_->launch(kernels.pieces, cl::NDRange(round_up(pieces, group)), cl::NDRange(group));
  set_arguments(kernels.long_rows, factors, static_cast<int>(matrix.long_count_), matrix.long_rows_,
                sums, own, other, out, terms.keep, terms.p, terms.q, terms.r, scaled, sets);
  context_->launch(kernels.long_rows, cl::NDRange(round_up(matrix.long_count_ * wide, group)),
                   cl::NDRange(group));
}

void GraphProduct::scale(const Buffer<float>* factors, float alpha, const Buffer<float>& a,
                         float beta, Buffer<float>& out, std::size_t rows, int columns) {
  Kernel& kernel = kernels_for(columns, false).scale;
  const int sets = columns / block_vector(info_, columns);
  set_arguments(kernel, factors != nullptr ? *factors : a, int{factors != nullptr}, alpha, a, beta,
                out, rows, sets);
  context_->launch(kernel, cl::NDRange(round_up(rows * static_cast<std::size_t>(sets), kRowGroup)),
                   cl::NDRange(kRowGroup));
}

}  // namespace diacut
