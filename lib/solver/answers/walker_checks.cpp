// The random walker.
#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>
#include <algorithm>

#include "answers/checks.hpp"

namespace diacut {

namespace {

/// (I - A)_UU y = A_US y_S by Cholesky's factor, in double; for each label a column y / D^1/2.
Eigen::MatrixXd exact_probabilities(const MatrixProblem& problem,
                                    const std::vector<std::int32_t>& seeds, int labels) {
  const Eigen::MatrixXd a = problem.dense();
  const Eigen::VectorXd roots =
      Eigen::Map<const Eigen::VectorXf>(problem.sqrt_degree.data(), a.rows()).cast<double>();
  std::vector<Eigen::Index> unknown;
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(a.rows(), labels);
  for (Eigen::Index i = 0; i < a.rows(); ++i) {
    const std::int32_t seed = seeds[static_cast<std::size_t>(i)];
    if (seed != 0) {
      all(i, seed - 1) = 1;
    } else if (roots(i) > 0) {
      unknown.push_back(i);
    }
  }
  const Eigen::MatrixXd right = (a * (roots.asDiagonal() * all))(unknown, Eigen::all);
  const Eigen::MatrixXd own = a(unknown, unknown);
  const Eigen::SparseMatrix<double> matrix =
      (Eigen::MatrixXd::Identity(own.rows(), own.cols()) - own).sparseView();
  all(unknown, Eigen::all) =
      roots(unknown).cwiseInverse().asDiagonal() *
      Eigen::MatrixXd(Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>>(matrix).solve(right));
  return all;
}

}  // namespace

void expect_walk(Trial& trial, const RandomWalk& walk, const MatrixProblem& problem,
                 const std::vector<std::int32_t>& seeds, int labels) {
  constexpr double kMargin = 1e-3;
  Trial::require(walk.converged, "the random walker's linear systems are not solved");
  Trial::require(walk.probabilities.size() == at_size(labels), "a label has no probabilities");
  const Eigen::MatrixXd exact = exact_probabilities(problem, seeds, labels);
  for (int k = 0; k < labels; ++k) {
    const Eigen::VectorXd column = exact.col(k);
    trial.expect_near("probability of a label", walk.probabilities[at_size(k)],
                      std::vector<double>(column.begin(), column.end()), kMargin);
  }
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const int label = walk.labels[i];
    if (problem.sqrt_degree[i] == 0) {
      Trial::require(label == 0, "a pixel without data has a label");
      continue;
    }
    const auto row = exact.row(static_cast<Eigen::Index>(i));
    Trial::require(label >= 1 && label <= labels && row(label - 1) >= row.maxCoeff() - 2 * kMargin,
                   "a pixel has not the label of the largest probability");
  }
}

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

void random_walks(Trial& trial, MatrixForm form, const CosineProblem& problem) {
  const std::vector<std::int32_t> seeds = drawn_seeds(problem.sqrt_degree.size());
  const std::vector<float> half(seeds.size(), 0.5F);  // Of the first label, to start from.
  const RandomWalk walk =
      random_walk(trial.context(), matrix_of(trial.context(), problem), seeds, kLabels,
                  {.tolerance = 1e-6, .max_iterations = 500}, true, {}, {half}, form);
  expect_walk(trial, walk, problem, seeds, kLabels);
}

}  // namespace

/// The grid is as small as one that is made coarser can be.
void check_walks(Trial& trial, MatrixForm form, int radius) {
  random_walks(trial, form,
               {std::max(20, 2 * radius + 2), std::max(14, 2 * radius), disc_stencil(radius)});
}

std::vector<DeviceCheck> walker_checks() {
  return {{"the random walker",
           [](Trial& trial) {
             random_walks(trial, MatrixForm::kDia, {29, 23, disc_stencil(3)});
           }},
          {"the random walker by compressed matrices", [](Trial& trial) {
             random_walks(trial, MatrixForm::kCompressed, {29, 23, disc_stencil(3)});
           }}};
}

}  // namespace diacut
