#pragma once

#include <cstdint>
#include <vector>

#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "matrix/normalized_matrix.hpp"

namespace diacut {

/// What random_walk() found.
struct RandomWalk {
  /// For each element of the matrix's grid its label, from 1 on; 0 where there is no data, and
  /// where no seed can be reached.
  std::vector<std::int32_t> labels;
  /// For each label the probability that a walker from the element meets one of its seeds first, in
  /// [0, 1]; empty unless they are to be kept.
  std::vector<std::vector<float>> probabilities;
  int iterations = 0;     ///< Of conjugate gradients, the most of all blocks of labels.
  double error = 0;       ///< As ConjugateGradientResult::error, the largest.
  bool converged = true;  ///< Whether every system reached the tolerance.
};

/// Labels of all pixels from those of a few (L. Grady, "Random walks for image segmentation",
/// 2006): a pixel gets the label whose seeds a random walker from there is the likeliest to meet
/// first, the steps' probabilities being the rows of D^-1 W. For each label the probabilities x of
/// the pixels U without a seed solve (D - W)_UU x_U = W_US x_S, where x_S is 1 at the label's seeds
/// S and 0 at others. With y = D^1/2 x that is (I - A)_UU y_U = A_US y_S, which is solved for
/// up to kWalkerColumns labels at once by conjugate gradients under the V-cycle of CoarseLevels, in
/// blocks no wider than the labels ask for.
///
/// `matrix` is of one image, in DIA form, and is used up. `seeds`: for each element of its grid 0
/// or a label from 1 to `labels`; 0 where there is no data. Of equally likely labels the smallest
/// counts. `form`: that of the V-cycle's matrices; compressed it moves less memory, and the
/// products of conjugate gradients, which the solution is held to, stay those of the matrix itself.
/// Compressed matrices need a disc's stencil, and blocks are then of four labels. `keep`: whether
/// probabilities are kept. `start`: probabilities of the first labels, for each element, that the
/// systems start from; other labels start from 0. Precondition: they are 0 where no seed can be
/// reached. The same input gives the same result, to the bit. Throws DeviceError, NumericalError,
/// CancelledError.
RandomWalk random_walk(Context& context, NormalizedMatrix matrix,
                       const std::vector<std::int32_t>& seeds, int labels,
                       const WalkerParameters& parameters, bool keep, const Watch& watch,
                       const std::vector<std::vector<float>>& start = {},
                       MatrixForm form = MatrixForm::kDia);

/// The most labels whose systems are solved at once.
inline constexpr int kWalkerColumns = 8;

}  // namespace diacut
