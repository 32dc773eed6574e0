// The random walker against a direct solution of its linear systems.
#include "walker/random_walker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <random>

#include "diacut/errors.hpp"
#include "eigen_problem.hpp"
#include "shared_context.hpp"

namespace diacut::testing {
namespace {

using Probabilities = std::vector<std::vector<double>>;

/// `count` seeds of each label at pixels with data that are drawn at random.
std::vector<std::int32_t> random_seeds(const EigenProblem& problem, int labels, int count,
                                       unsigned number) {
  std::mt19937 random(number);
  std::vector<std::int32_t> seeds(problem.sqrt_degree.size(), 0);
  std::uniform_int_distribution<std::size_t> pixel(0, seeds.size() - 1);
  for (int label = 1; label <= labels; ++label) {
    for (int placed = 0; placed < count;) {
      const std::size_t at = pixel(random);
      if (seeds[at] != 0 || problem.sqrt_degree[at] == 0) continue;
      seeds[at] = label;
      ++placed;
    }
  }
  return seeds;
}

/// (I - A)_UU y = A_US y_S by Cholesky's factor, in double; for each label y / D^1/2.
Probabilities exact_probabilities(const EigenProblem& problem,
                                  const std::vector<std::int32_t>& seeds, int labels) {
  const Eigen::MatrixXd a = problem.dense();
  std::vector<Eigen::Index> unknown(seeds.size(), -1);
  Eigen::Index count = 0;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    if (seeds[i] == 0 && problem.sqrt_degree[i] > 0) unknown[i] = count++;
  }
  std::vector<Eigen::Triplet<double>> entries;
  Eigen::MatrixXd right = Eigen::MatrixXd::Zero(count, labels);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    if (unknown[i] < 0) continue;
    entries.emplace_back(unknown[i], unknown[i], 1.0);
    for (std::size_t j = 0; j < seeds.size(); ++j) {
      if (a(i, j) == 0) continue;
      if (unknown[j] >= 0) entries.emplace_back(unknown[i], unknown[j], -a(i, j));
      if (seeds[j] != 0) right(unknown[i], seeds[j] - 1) += a(i, j) * problem.sqrt_degree[j];
    }
  }
  Eigen::SparseMatrix<double> matrix(count, count);
  matrix.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor(matrix);
  const Eigen::MatrixXd y = factor.solve(right);
  Probabilities result(static_cast<std::size_t>(labels), std::vector<double>(seeds.size(), 0.0));
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    for (int k = 0; k < labels; ++k) {
      double& value = result[static_cast<std::size_t>(k)][i];
      if (seeds[i] != 0) value = seeds[i] == k + 1 ? 1 : 0;
      if (unknown[i] >= 0) value = y(unknown[i], k) / problem.sqrt_degree[i];
    }
  }
  return result;
}

/// Expects the probabilities to be the exact ones up to `margin`, and labels to be those of the
/// largest, but where the two largest are closer than that.
void expect_exact(const RandomWalk& walk, const Probabilities& exact, double margin) {
  ASSERT_EQ(walk.probabilities.size(), exact.size());
  std::size_t decided = 0;
  for (std::size_t i = 0; i < walk.labels.size(); ++i) {
    std::vector<std::pair<double, std::int32_t>> order;
    for (std::size_t k = 0; k < exact.size(); ++k) {
      ASSERT_NEAR(walk.probabilities[k][i], exact[k][i], margin)
          << "label " << k + 1 << " at " << i;
      order.emplace_back(exact[k][i], static_cast<std::int32_t>(k) + 1);
    }
    std::sort(order.rbegin(), order.rend());
    if (order[0].first - order[1].first <= 2 * margin) continue;
    ++decided;
    ASSERT_EQ(walk.labels[i], order[0].second) << "at " << i;
  }
  EXPECT_GT(decided, walk.labels.size() * 9 / 10);
}

class RandomWalker : public ::testing::Test {
 protected:
  RandomWalk walk(const EigenProblem& problem, const std::vector<std::int32_t>& seeds, int labels,
                  double tolerance = 1e-6, const std::vector<std::vector<float>>& start = {},
                  MatrixForm form = MatrixForm::kDia) {
    return random_walk(context(), matrix_of(context(), problem), seeds, labels,
                       {.tolerance = tolerance, .max_iterations = 500}, true, {}, start, form);
  }
  void expect_direct_solution(const EigenProblem& problem, const std::vector<std::int32_t>& seeds,
                              int labels) {
    const Probabilities exact = exact_probabilities(problem, seeds, labels);
    for (const MatrixForm form : {MatrixForm::kDia, MatrixForm::kCompressed}) {
      SCOPED_TRACE(form == MatrixForm::kDia ? "levels in DIA form" : "compressed levels");
      const RandomWalk found = walk(problem, seeds, labels, 1e-6, {}, form);
      EXPECT_TRUE(found.converged);
      expect_exact(found, exact, 1e-3);
    }
  }
};

using TinyRandomWalker = RandomWalker;

TEST_F(RandomWalker, MatchesTheDirectSolution) {
  const EigenProblem problem(61, 47, 5);
  expect_direct_solution(problem, random_seeds(problem, 3, 2, 1), 3);
}

TEST_F(RandomWalker, MatchesItForMoreLabelsThanABlockHolds) {
  const EigenProblem problem(53, 40, 5);
  expect_direct_solution(problem, random_seeds(problem, 11, 3, 2), 11);
}

TEST_F(RandomWalker, MatchesItAroundPixelsWithoutData) {
  std::vector<std::uint8_t> hidden(60 * 40, 0);
  for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = i % 60 / 7 % 3 == 1 && i / 60 < 35;
  const EigenProblem problem(60, 40, 5, 0.1, hidden);
  const auto seeds = random_seeds(problem, 2, 1, 3);
  const RandomWalk found = walk(problem, seeds, 2);
  EXPECT_TRUE(found.converged);
  const Probabilities exact = exact_probabilities(problem, seeds, 2);
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    ASSERT_EQ(hidden[i] != 0, found.labels[i] == 0) << i;
    ASSERT_NEAR(found.probabilities[0][i], exact[0][i], 1e-3) << i;
  }
}

TEST_F(RandomWalker, MatchesItUnderBroadStrokes) {
  const EigenProblem problem(64, 48, 5);
  std::vector<std::int32_t> seeds(64 * 48, 0);
  for (std::size_t x = 4; x < 60; ++x) {
    for (std::size_t y = 0; y < 9; ++y) {
      seeds[(y + 3) * 64 + x] = 1;
      seeds[(y + 33) * 64 + x] = 2;
    }
  }
  expect_direct_solution(problem, seeds, 2);
}

TEST_F(RandomWalker, PixelsThatNoSeedReachesHaveNoLabel) {
  std::vector<std::uint8_t> hidden(50 * 40, 0);
  for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = i % 50 >= 20 && i % 50 < 26;
  const EigenProblem problem(50, 40, 5, 0.1, hidden);
  std::vector<std::int32_t> seeds(hidden.size(), 0);
  seeds[10 * 50 + 3] = 1;
  seeds[30 * 50 + 16] = 2;
  const RandomWalk found = walk(problem, seeds, 2);
  EXPECT_TRUE(found.converged);
  for (std::size_t i = 0; i < hidden.size(); ++i) {
    ASSERT_EQ(found.labels[i] != 0, i % 50 < 20) << i;
  }
}

TEST_F(RandomWalker, GivesTheSameBitsAgain) {
  const EigenProblem problem(61, 47, 5);
  const auto seeds = random_seeds(problem, 4, 5, 4);
  const RandomWalk once = walk(problem, seeds, 4, 1e-4);
  const RandomWalk again = walk(problem, seeds, 4, 1e-4);
  EXPECT_EQ(once.labels, again.labels);
  EXPECT_EQ(once.probabilities, again.probabilities);
  EXPECT_LE(once.iterations, 40);
}

TEST_F(RandomWalker, TakesAsManyIterationsByCompressedLevels) {
  const EigenProblem problem(121, 95, 5);
  const auto seeds = random_seeds(problem, 3, 6, 11);
  const RandomWalk whole = walk(problem, seeds, 3, 1e-4);
  const RandomWalk compressed = walk(problem, seeds, 3, 1e-4, {}, MatrixForm::kCompressed);
  EXPECT_TRUE(compressed.converged);
  EXPECT_LE(compressed.iterations, whole.iterations + 1);
}

// One seed more, and a label that the earlier walk did not have, in two blocks of columns.
TEST_F(RandomWalker, StartsFromTheAnswerToOtherSeeds) {
  const EigenProblem problem(61, 47, 5);
  auto seeds = random_seeds(problem, 9, 4, 8);
  const RandomWalk earlier = walk(problem, seeds, 9);
  const auto unseeded = std::find(seeds.begin() + 20 * 61, seeds.end(), 0);
  *unseeded = 2;
  *std::find(unseeded, seeds.end(), 0) = 10;
  const RandomWalk found = walk(problem, seeds, 10, 1e-6, earlier.probabilities);
  EXPECT_TRUE(found.converged);
  expect_exact(found, exact_probabilities(problem, seeds, 10), 1e-3);
}

// Nothing that it starts from is kept: neither wrong numbers, nor those of seeded pixels.
TEST_F(RandomWalker, StartsFromAnything) {
  const EigenProblem problem(61, 47, 5);
  const auto seeds = random_seeds(problem, 3, 4, 9);
  std::mt19937 random(10);
  std::vector<std::vector<float>> start(3, std::vector<float>(seeds.size()));
  for (std::vector<float>& each : start) {
    for (float& value : each) value = std::uniform_real_distribution<float>(0, 1)(random);
  }
  const RandomWalk found = walk(problem, seeds, 3, 1e-6, start);
  EXPECT_TRUE(found.converged);
  expect_exact(found, exact_probabilities(problem, seeds, 3), 1e-3);
}

TEST_F(RandomWalker, SaysWhenItEndsTooEarly) {
  const EigenProblem problem(61, 47, 5);
  const auto seeds = random_seeds(problem, 2, 1, 5);
  const RandomWalk found = random_walk(context(), matrix_of(context(), problem), seeds, 2,
                                       {.tolerance = 1e-7, .max_iterations = 1}, false, {});
  EXPECT_FALSE(found.converged);
  EXPECT_GT(found.error, 1e-7);
  EXPECT_EQ(found.iterations, 1);
  EXPECT_THAT(found.probabilities, ::testing::IsEmpty());
}

TEST_F(RandomWalker, IsCancelled) {
  const EigenProblem problem(61, 47, 5);
  const auto seeds = random_seeds(problem, 2, 1, 7);
  CancelToken cancel;
  cancel.cancel();
  EXPECT_THROW(
      random_walk(context(), matrix_of(context(), problem), seeds, 2, {}, false, {{}, &cancel}),
      CancelledError);
}

// Without coarser grids.
TEST_F(TinyRandomWalker, MatchesTheDirectSolution) {
  const EigenProblem problem(15, 13, 2);
  expect_direct_solution(problem, random_seeds(problem, 3, 2, 6), 3);
}

}  // namespace
}  // namespace diacut::testing
