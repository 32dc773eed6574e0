#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix/block.hpp"

namespace diacut {

/// kernels/walker/seeds.cl: what makes the linear systems of the random walker, and labels from
/// their solutions. `seeds` holds for each element the number of the label that it was given, from
/// 1 on, or 0. Every function enqueues.
class SeedKernels {
 public:
  /// For matrices of `rows` elements and blocks of `columns` columns.
  SeedKernels(Context& context, std::size_t rows, int columns);

  /// Sets the rows and columns of seeded elements to 0 in the values of a DIA form. `offsets`: of
  /// its diagonals.
  void eliminate(Buffer<float>& values, std::size_t pitch, const Buffer<std::int64_t>& offsets,
                 const Buffer<std::int32_t>& seeds);
  /// out = sqrt_degree, but 0 at seeded elements.
  void unseeded_degree(const Buffer<float>& sqrt_degree, const Buffer<std::int32_t>& seeds,
                       Buffer<float>& out);
  /// Column c of the block becomes sqrt_degree where the seed is first + c, else 0.
  void seed_block(const Buffer<std::int32_t>& seeds, const Buffer<float>& sqrt_degree, int first,
                  Buffer<float>& block);
  /// Column `column` of the block becomes probabilities * sqrt_degree.
  void start_column(const Buffer<float>& probabilities, const Buffer<float>& sqrt_degree,
                    int column, Buffer<float>& block);
  /// Sets the block to 0 at seeded elements.
  void clear_seeds(const Buffer<std::int32_t>& seeds, Buffer<float>& block);
  /// Labels become first + c for the column c, of `count`, with the largest value, where that is
  /// larger than `best`, which becomes that value. Of equal values the first counts.
  void best_columns(const Buffer<float>& block, int first, int count, Buffer<float>& best,
                    Buffer<std::int32_t>& labels);
  /// out = column `column` of the block over sqrt_degree, in [0, 1]: the probability of `label`. At
  /// seeds it is 0 or 1.
  void probability(const Buffer<float>& block, const Buffer<float>& sqrt_degree,
                   const Buffer<std::int32_t>& seeds, int column, int label, Buffer<float>& out);

 private:
  template <class... Arguments>
  void run(Kernel& kernel, std::size_t lines, const Arguments&... arguments);

  Context* context_;
  std::size_t rows_;
  Kernel eliminate_;
  Kernel degree_;
  Kernel block_;
  Kernel start_;
  Kernel clear_;
  Kernel best_;
  Kernel probability_;
};

}  // namespace diacut
