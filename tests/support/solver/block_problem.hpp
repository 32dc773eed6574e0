#pragma once

#include <Eigen/Sparse>
#include <cstddef>
#include <limits>
#include <vector>

#include "answers/problems.hpp"

namespace diacut {

/// A problem's matrix on a device, in DIA form, with bands of NaN behind its buffers. The images of
/// `batch` lie on the problem's grid.
NormalizedMatrix matrix_of(Context& context, const BlockProblem& problem, const Batch& batch);
inline NormalizedMatrix matrix_of(Context& context, const BlockProblem& problem) {
  return matrix_of(context, problem, Batch(problem.grid));
}

/// Column `column` of a block.
std::vector<double> column_of(const std::vector<float>& block, int columns, int column);

}  // namespace diacut

namespace diacut::testing {

inline constexpr double kEps = std::numeric_limits<float>::epsilon();

using diacut::at_size;
using diacut::BlockProblem;

/// A problem's matrix compressed to 16 bits, on the device and on the host.
struct CompressedProblem {
  NormalizedMatrix matrix;
  HostDiaMatrix rounded;  ///< Both halves, as the definition in double rounds them.

  CompressedProblem(Context& context, const BlockProblem& problem);
};

/// The interpolation by hops within the disc: element i, coarse element J.
Eigen::SparseMatrix<double> reference_interpolation(const MatrixProblem& problem,
                                                    const std::vector<float>& gain);

/// Normally distributed.
std::vector<float> random_values(std::size_t count, unsigned seed);

/// Expects numbers that are each off by at most so many roundings of `magnitude`.
void expect_near(const std::vector<float>& found, const std::vector<double>& expected,
                 const std::vector<double>& magnitude, double roundings);

}  // namespace diacut::testing
