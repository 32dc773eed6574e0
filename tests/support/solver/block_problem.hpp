#pragma once

#include <Eigen/Sparse>
#include <cstddef>
#include <span>
#include <vector>

#include "answers/problems.hpp"
#include "answers/trial.hpp"

namespace diacut::testing {

inline constexpr double kEps = Trial::kEps;

using diacut::at_size;
using diacut::BlockProblem;

/// Blocks of vectors, matrices of sums and the like, in double: a row for each element.
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
Rows rows_of(const std::vector<float>& block, int columns);
inline std::span<const double> numbers_of(const Rows& rows) {
  return {rows.data(), static_cast<std::size_t>(rows.size())};
}

/// A block of vectors on the host and on the device, normally distributed where no values are
/// given.
struct DrawnBlock {
  std::vector<float> values;
  Rows rows;
  Buffer<float> device;

  DrawnBlock(Trial& trial, std::size_t count, int columns)
      : DrawnBlock(trial, trial.normal(count * at_size(columns)), columns) {}
  DrawnBlock(Trial& trial, const std::vector<float>& drawn, int columns)
      : values(drawn), rows(rows_of(drawn, columns)), device(trial.uploaded(drawn)) {}

  /// Throws WrongAnswer if the device holds other values.
  void require_unchanged() const;
};

/// Holds a block to sums of terms, each number off by at most so many roundings of its terms'
/// magnitudes.
inline void expect_block(Trial& trial, const char* what, const Buffer<float>& found,
                         const Rows& expected, const Rows& magnitudes, double roundings) {
  trial.expect(what, found.download(), numbers_of(expected), numbers_of(magnitudes), roundings);
}

/// The product of a matrix with a block of vectors, and of their magnitudes.
struct BlockSums {
  Rows values;
  Rows magnitudes;

  BlockSums(const HostDiaMatrix& matrix, const Rows& x);
};

/// Expects the matrix of a stencil to be its own transpose, to the bit.
void expect_symmetric(const HostDiaMatrix& matrix);

/// The problem's matrix with all but the main diagonal rounded as the storage rounds it.
HostDiaMatrix rounded_matrix(const MatrixProblem& problem,
                             MatvecStorage storage = MatvecStorage::kHalf);

/// A problem's matrix compressed to 16 bits, on the device and on the host.
struct CompressedProblem {
  NormalizedMatrix matrix;
  HostDiaMatrix rounded;  ///< Both halves, as the definition in double rounds them.

  CompressedProblem(Context& context, const BlockProblem& problem);
};

/// The interpolation by hops within the disc: element i, coarse element J.
Eigen::SparseMatrix<double> reference_interpolation(const MatrixProblem& problem,
                                                    const std::vector<float>& gain);

}  // namespace diacut::testing
