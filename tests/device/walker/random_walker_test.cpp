// The random walker against a direct solution of its linear systems.
#include "walker/random_walker.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "answers/checks.hpp"
#include "diacut/errors.hpp"
#include "eigen_problem.hpp"
#include "right.hpp"
#include "shared_context.hpp"

namespace diacut::testing {
namespace {

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

/// The walk is the exact one up to a margin, whichever way it was found.
void expect_exact(const RandomWalk& walk, const EigenProblem& problem,
                  const std::vector<std::int32_t>& seeds, int labels) {
  expect_right(context(), [&](Trial& trial) { expect_walk(trial, walk, problem, seeds, labels); });
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
    for (const MatrixForm form : {MatrixForm::kDia, MatrixForm::kCompressed}) {
      SCOPED_TRACE(form == MatrixForm::kDia ? "levels in DIA form" : "compressed levels");
      expect_exact(walk(problem, seeds, labels, 1e-6, {}, form), problem, seeds, labels);
    }
  }
};

using TinyRandomWalker = RandomWalker;

TEST_F(RandomWalker, MatchesTheDirectSolution) {
  const EigenProblem problem(61, 47, 5);
  expect_direct_solution(problem, random_seeds(problem, 3, 2, 1), 3);
  // More labels than a block holds.
  const EigenProblem smaller(53, 40, 5);
  expect_direct_solution(smaller, random_seeds(smaller, 11, 3, 2), 11);
}

TEST_F(RandomWalker, MatchesItAroundPixelsWithoutData) {
  std::vector<std::uint8_t> hidden(60 * 40, 0);
  for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = i % 60 / 7 % 3 == 1 && i / 60 < 35;
  const EigenProblem problem(60, 40, 5, 0.1, hidden);
  expect_direct_solution(problem, random_seeds(problem, 2, 1, 3), 2);
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
  expect_exact(walk(problem, seeds, 10, 1e-6, earlier.probabilities), problem, seeds, 10);
}

// Nothing that it starts from is kept: neither wrong numbers, nor those of seeded pixels.
TEST_F(RandomWalker, StartsFromAnything) {
  const EigenProblem problem(61, 47, 5);
  const auto seeds = random_seeds(problem, 3, 4, 9);
  Trial trial(context());
  std::vector<std::vector<float>> start(3);
  for (std::vector<float>& each : start) each = trial.uniform(seeds.size());
  expect_exact(walk(problem, seeds, 3, 1e-6, start), problem, seeds, 3);
}

TEST_F(RandomWalker, SaysWhenItEndsTooEarly) {
  const EigenProblem problem(61, 47, 5);
  const auto seeds = random_seeds(problem, 2, 1, 5);
  const RandomWalk found = random_walk(context(), matrix_of(context(), problem), seeds, 2,
                                       {.tolerance = 1e-7, .max_iterations = 1}, false, {});
  EXPECT_FALSE(found.converged);
  EXPECT_GT(found.error, 1e-7);
  EXPECT_EQ(found.iterations, 1);
  EXPECT_TRUE(found.probabilities.empty());
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
