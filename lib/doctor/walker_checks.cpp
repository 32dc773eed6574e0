// The random walker.
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "doctor/checks.hpp"
#include "doctor/problems.hpp"
#include "walker/random_walker.hpp"

namespace diacut {

namespace {

constexpr int kLabels = 3;

/// Seeds of each label, spread over the grid.
std::vector<std::int32_t> drawn_seeds(std::size_t rows) {
  std::vector<std::int32_t> seeds(rows, 0);
  for (std::size_t k = 0; k < 12; ++k) {
    seeds[(k * rows / 12 + 7 * k) % rows] = static_cast<std::int32_t>(k % kLabels) + 1;
  }
  return seeds;
}

/// (I - A)_UU y = A_US y_S, solved densely in double; for each label y / D^1/2.
Eigen::MatrixXd exact_probabilities(const EigenProblem& problem,
                                    const std::vector<std::int32_t>& seeds) {
  const Eigen::MatrixXd a = problem.dense();
  const Eigen::VectorXd roots =
      Eigen::Map<const Eigen::VectorXf>(problem.sqrt_degree.data(), a.rows()).cast<double>();
  std::vector<Eigen::Index> unknown;
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(a.rows(), kLabels);
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    const std::int32_t seed = seeds[static_cast<std::size_t>(i)];
    if (seed == 0) {
      unknown.push_back(i);
    } else {
      all(i, seed - 1) = 1;
    }
  }
  const Eigen::MatrixXd own = a(unknown, unknown);
  const Eigen::MatrixXd right = (a * (roots.asDiagonal() * all))(unknown, Eigen::all);
  const Eigen::MatrixXd y =
      (Eigen::MatrixXd::Identity(own.rows(), own.cols()) - own).llt().solve(right);
  all(unknown, Eigen::all) = roots(unknown).cwiseInverse().asDiagonal() * y;
  return all;
}

void random_walks(Trial& trial, MatrixForm form, const EigenProblem& problem) {
  constexpr double kMargin = 1e-3;
  const std::vector<std::int32_t> seeds = drawn_seeds(problem.sqrt_degree.size());
  const RandomWalk walk =
      random_walk(trial.context(), matrix_of(trial.context(), problem), seeds, kLabels,
                  {.tolerance = 1e-6, .max_iterations = 500}, true, {}, {}, form);
  Trial::require(walk.converged, "the random walker's linear systems are not solved");
  const Eigen::MatrixXd exact = exact_probabilities(problem, seeds);
  for (int k = 0; k < kLabels; ++k) {
    const Eigen::VectorXd column = exact.col(k);
    trial.expect_near("probability of a label", walk.probabilities[static_cast<std::size_t>(k)],
                      std::vector<double>(column.begin(), column.end()), kMargin);
  }
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const Eigen::VectorXd row = exact.row(static_cast<Eigen::Index>(i));
    Eigen::Index best = 0;
    const double most = row.maxCoeff(&best);
    const double label = row(std::clamp(walk.labels[i], 1, kLabels) - 1);
    Trial::require(walk.labels[i] >= 1 && walk.labels[i] <= kLabels && label >= most - 2 * kMargin,
                   "a pixel has not the label of the largest probability");
  }
}

void kernels_for_seeds(Trial& trial) {
  constexpr int kColumns = 8;
  constexpr std::size_t kRows = 130;
  const std::vector<std::int32_t> seeds = drawn_seeds(kRows);
  std::vector<float> roots = trial.uniform(kRows);
  for (float& root : roots) root += 1;
  const Buffer<std::int32_t> device_seeds = trial.uploaded(seeds);
  const Buffer<float> device_roots = trial.uploaded(roots);
  SeedKernels kernels(trial.context(), kRows, kColumns);
  Buffer<float> unseeded = trial.empty(kRows);
  kernels.unseeded_degree(device_roots, device_seeds, unseeded);
  std::vector<float> expected = roots;
  for (std::size_t i = 0; i < kRows; ++i) expected[i] = seeds[i] != 0 ? 0 : roots[i];
  trial.expect_same("degrees without seeds", unseeded.download(), expected);
  Buffer<float> block = trial.empty(kRows * kColumns);
  kernels.seed_block(device_seeds, device_roots, 2, block);
  expected.assign(kRows * kColumns, 0.0F);
  for (std::size_t i = 0; i < kRows; ++i) {
    if (seeds[i] >= 2) expected[i * kColumns + static_cast<std::size_t>(seeds[i] - 2)] = roots[i];
  }
  trial.expect_same("block of seeds", block.download(), expected);
  std::vector<float> values = trial.normal(kRows * kColumns);
  block.upload(values);
  kernels.clear_seeds(device_seeds, block);
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (seeds[at / kColumns] != 0) values[at] = 0;
  }
  trial.expect_same("block without seeds", block.download(), values);
  const std::vector<float> start = trial.uniform(kRows);
  constexpr int kStarted = 3;
  kernels.start_column(trial.uploaded(start), device_roots, kStarted, block);
  for (std::size_t i = 0; i < kRows; ++i) values[i * kColumns + kStarted] = start[i] * roots[i];
  trial.expect_same("block with a start", block.download(), values);
  Buffer<float> best = trial.uploaded(std::vector<float>(kRows, 0.5F));
  Buffer<std::int32_t> labels = trial.uploaded(std::vector<std::int32_t>(kRows, 1));
  kernels.best_columns(block, 4, kColumns, best, labels);
  const std::vector<std::int32_t> found = labels.download();
  for (std::size_t i = 0; i < kRows; ++i) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i * kColumns);
    const auto largest = std::max_element(begin, begin + kColumns);
    const std::int32_t label = *largest > 0.5F ? 4 + static_cast<std::int32_t>(largest - begin) : 1;
    Trial::require(found[i] == label, "a best column is another one");
  }
}

}  // namespace

/// The grid is as small as one that is made coarser can be.
void check_walks(Trial& trial, MatrixForm form, int radius) {
  random_walks(trial, form, {20, 14, radius});
}

std::vector<DeviceCheck> walker_checks() {
  return {{"what seeds make of blocks", kernels_for_seeds},
          {"the random walker",
           [](Trial& trial) {
             random_walks(trial, MatrixForm::kDia, {29, 23, 3});
           }},
          {"the random walker by compressed matrices", [](Trial& trial) {
             random_walks(trial, MatrixForm::kCompressed, {29, 23, 3});
           }}};
}

}  // namespace diacut
