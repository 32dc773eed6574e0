#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "diacut/parameters.hpp"
#include "diacut/progress.hpp"
#include "matrix/block.hpp"
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

/// The columns of a block for so many labels, the V-cycle's matrices being in that form.
int walker_columns(int labels, MatrixForm form);

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
