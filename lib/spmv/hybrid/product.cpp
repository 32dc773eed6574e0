#include "spmv/hybrid/product.hpp"

#include <algorithm>
#include <utility>

#include "diacut/errors.hpp"
#include "spmv/block_walk.hpp"

namespace diacut {

namespace {

/// A matrix of the given matrix's shape, to be filled by rows.
CsrMatrix shaped_like(const CsrMatrix& matrix) {
  CsrMatrix result;
  result.rows = matrix.rows;
  result.cols = matrix.cols;
  result.starts.reserve(matrix.rows + 1);
  return result;
}

/// Entries for which takes(row, entry) holds, and the others. Entries are asked for in order.
template <class Takes>
std::pair<CsrMatrix, CsrMatrix> split(const CsrMatrix& matrix, const Takes& takes) {
  std::pair<CsrMatrix, CsrMatrix> result{shaped_like(matrix), shaped_like(matrix)};
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    for (std::uint64_t e = matrix.starts[row]; e < matrix.starts[row + 1]; ++e) {
      CsrMatrix& to = takes(row, e) ? result.first : result.second;
      to.columns.push_back(matrix.columns[e]);
      to.values.push_back(matrix.values[e]);
    }
    result.first.starts.push_back(result.first.columns.size());
    result.second.starts.push_back(result.second.columns.size());
  }
  return result;
}

/// For each entry, whether it lies in a block with more than `share` of its elements taken.
std::vector<bool> in_dense_blocks(const CsrMatrix& matrix, const BlockSize& block, double share) {
  std::vector<bool> result(matrix.nonzeros(), false);
  const double least = share * static_cast<double>(block.elements());
  for (std::size_t top = 0; top < matrix.rows; top += block.height) {
    const std::size_t height = std::min(block.height, matrix.rows - top);
    for_each_block(matrix.starts, matrix.columns, top, height, block.width,
                   [&](const auto& from, const auto& to, std::size_t entries) {
                     if (static_cast<double>(entries) <= least) return;
                     for (std::size_t i = 0; i < height; ++i) {
                       for (std::uint64_t e = from[i]; e < to[i]; ++e) result[e] = true;
                     }
                   });
  }
  return result;
}

/// The entries that a part takes, and the others.
std::pair<CsrMatrix, CsrMatrix> take_part(const CsrMatrix& matrix, const HybridPart& part) {
  switch (part.take) {
    case HybridPart::Take::kDiagonals:
      return split(matrix, [&](std::size_t row, std::uint64_t e) {
        const std::int64_t offset =
            static_cast<std::int64_t>(matrix.columns[e]) - static_cast<std::int64_t>(row);
        return std::binary_search(part.offsets.begin(), part.offsets.end(), offset);
      });
    case HybridPart::Take::kBlocks: {
      const std::vector<bool> dense =
          in_dense_blocks(matrix, part.implementation.block, part.block_share);
      return split(matrix, [&](std::size_t, std::uint64_t e) { return dense[e]; });
    }
    case HybridPart::Take::kRowStarts:
      return split(matrix, [&](std::size_t row, std::uint64_t e) {
        return e - matrix.starts[row] < part.width;
      });
    case HybridPart::Take::kRest:
      break;
  }
  return split(matrix, [](std::size_t, std::uint64_t) { return true; });
}

/// Products that add up: the first one replaces the result, the others add to it.
class SumProduct final : public SparseProduct {
 public:
  SumProduct(std::size_t rows, std::size_t cols, std::vector<std::unique_ptr<SparseProduct>> parts)
      : SparseProduct(rows, cols), parts_(std::move(parts)) {
    for (const auto& part : parts_) matrix_bytes_ += part->matrix_bytes();
  }
  void product(const Buffer<float>& in, Buffer<float>& out) override {
    for (const auto& part : parts_) part->product(in, out);
  }

 private:
  std::vector<std::unique_ptr<SparseProduct>> parts_;
};

}  // namespace

std::vector<CsrMatrix> split_matrix(const CsrMatrix& matrix, const HybridPlan& plan) {
  std::vector<CsrMatrix> result;
  CsrMatrix left = matrix;
  for (const HybridPart& part : plan.parts) {
    auto [taken, rest] = take_part(left, part);
    result.push_back(std::move(taken));
    left = std::move(rest);
  }
  return result;
}

std::unique_ptr<SparseProduct> make_hybrid(Context& context, const CsrMatrix& matrix,
                                           const HybridPlan& plan, const ProductOptions& options) {
  if (plan.parts.empty() || plan.parts.back().take != HybridPart::Take::kRest) {
    throw ConfigError("a plan for a matrix must end with a part that takes the rest");
  }
  if (plan.parts.size() == 1) {
    return make_product(context, matrix, plan.parts.front().implementation, options);
  }
  std::vector<std::unique_ptr<SparseProduct>> products;
  const std::vector<CsrMatrix> parts = split_matrix(matrix, plan);
  ProductOptions part_options = options;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const HybridPart& part = plan.parts[i];
    // An empty part is needed only to write zeros where nothing else does.
    if (parts[i].nonzeros() == 0 && (i > 0 || options.add)) continue;
    products.push_back(part.take == HybridPart::Take::kDiagonals
                           ? make_diagonal_product(context, parts[i], part.offsets,
                                                   part.implementation, part_options)
                           : make_product(context, parts[i], part.implementation, part_options));
    part_options.add = true;
  }
  return std::make_unique<SumProduct>(matrix.rows, matrix.cols, std::move(products));
}

}  // namespace diacut
