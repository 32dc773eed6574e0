// The product with a compressed symmetric matrix against its definition in double, in every form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "answers/checks.hpp"
#include "block_problem.hpp"
#include "diacut/errors.hpp"
#include "matchers.hpp"
#include "matrix/matvec.hpp"
#include "right.hpp"
#include "shared_context.hpp"

namespace diacut::testing {
namespace {

struct Case {
  Grid grid;
  int radius = 5;
};

/// A symmetric matrix S M S of random weights in [0, 1], some of them tiny, zero or one, on the
/// device, and its definition.
struct Compressed {
  BlockProblem problem;      ///< M, before it is rounded.
  std::vector<float> roots;  ///< S^-1, 0 where there is no data.
  SymmetricDia matrix;
  HostDiaMatrix reference;  ///< M

  Compressed(Trial& trial, const Case& each, MatvecStorage storage, bool scaled)
      : problem(each.grid.width, each.grid.height, each.radius, 1), roots(problem.rows(), 1.0F) {
    // Both halves alike, as a weight stands in each.
    for (float& weight : problem.matrix.values) {
      if (weight < 0.2f) weight = std::ldexp(weight, -static_cast<int>(200.0f * weight));
      if (weight > 0.95f) weight = weight > 0.97f ? 1.0f : 0.0f;
    }
    if (scaled) roots = trial.uniform(problem.rows());
    for (float& root : roots) root = root < 0.1f ? 0.0f : 0.5f + root / 2;
    const Buffer<float> device_roots = trial.uploaded(roots);
    matrix = compress(context(), upload(context(), problem.matrix), each.grid, problem.stencil,
                      storage, scaled ? MainDiagonal::kScaled : MainDiagonal::kOwn,
                      scaled ? &device_roots : nullptr);
    context().finish();
    if (scaled) unscale();
    reference = rounded_matrix(problem, storage);
    for (std::size_t row = 0; scaled && row < problem.rows(); ++row) {
      double rest = double{roots[row]} * roots[row];
      const auto at = [&](std::size_t d) -> float& {
        return reference.values[d * problem.pitch() + row];
      };
      for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
        if (d != problem.stencil.centre()) rest -= at(d);
      }
      at(problem.stencil.centre()) = static_cast<float>(rest);
    }
  }

  /// The product by its definition.
  TermSums product(const std::vector<float>& x) const {
    TermSums sums(0);
    sums.values = reference_matvec(reference, scaled({x.begin(), x.end()}), &sums.magnitudes);
    sums.values = scaled(sums.values);
    sums.magnitudes = scaled(sums.magnitudes);
    return sums;
  }

 private:
  /// Makes M of S M S.
  void unscale() {
    for (std::size_t d = 0; d < problem.stencil.size(); ++d) {
      for (std::size_t row = 0; row < problem.rows(); ++row) {
        float& weight = problem.entry(d, row);
        if (weight == 0) continue;
        weight *=
            roots[row] * roots[row + static_cast<std::size_t>(problem.matrix.shape.offsets[d])];
      }
    }
  }
  std::vector<double> scaled(std::vector<double> x) const {
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = roots[i] > 0 ? x[i] / roots[i] : 0;
    return x;
  }
};

/// Every form that a device may use, and then the device's own.
struct Form {
  const char* name;
  MatvecSymmetricForm form;
  bool own = false;
};

std::vector<Form> forms() {
  //                        tiles lanes   pixels parts
  return {{"own", {}, true},
          {"tile", {true, 8, 2, 4, 1, 1}},
          {"tile8", {true, 4, 4, 8, 1, 1}},
          {"tile16", {true, 2, 4, 16, 1, 1}},
          {"tile_two_rows", {true, 8, 2, 4, 2, 1}},
          {"tile_halves", {true, 8, 2, 4, 1, 2}},
          {"tile_quarters", {true, 4, 4, 8, 2, 4}},
          {"run", {false, 1, 1, 64, 3, 1}},
          {"run_wide", {false, 1, 1, 256, 16, 1}}};
}

/// A form by its index, and what it is tried with.
struct Tried {
  std::size_t form;
  MatvecStorage storage;
  bool scaled;
};

class SymmetricForms : public ::testing::TestWithParam<Tried> {
 protected:
  static Form form() { return forms()[GetParam().form]; }
  static MatvecStorage storage() { return GetParam().storage; }
  static bool scaled() { return GetParam().scaled; }

  /// Against the bound for a sum of n products in any order: (n + 1) u sum |a_i x_i|, u = 2^-24,
  /// half of Trial::kEps, with six more roundings for the scales and the diagonal, and three for
  /// the recurrence.
  static void check(const Case& each, bool recurrence = false) {
    SCOPED_TRACE(::testing::Message()
                 << each.grid.width << "x" << each.grid.height << ", radius " << each.radius);
    expect_right(context(), [&](Trial& trial) {
      const Compressed compressed(trial, each, storage(), scaled());
      SymmetricOperator op(context(), compressed.matrix,
                           form().own
                               ? matvec_symmetric_form(context().info(), compressed.matrix.layout)
                               : form().form);
      ASSERT_EQ(op.rows(), each.grid.rows());
      std::vector<float> x = trial.uniform(op.rows());
      for (float& value : x) value = 2 * value - 1;
      check_product(trial, op, x, compressed.product(x),
                    (static_cast<double>(compressed.problem.stencil.size()) + 10) / 2, recurrence);
      EXPECT_EQ(op.products(), recurrence ? 5 : 2);
    });
  }
};

std::string form_name(const ::testing::TestParamInfo<Tried>& info) {
  return std::string(forms()[info.param.form].name) + "_" + to_string(info.param.storage);
}
constexpr MatvecStorage kAllStorages[] = {MatvecStorage::kFloat32, MatvecStorage::kHalf,
                                          MatvecStorage::kMinifloat};

/// Every storage where it changes how weights are loaded, else one: a program takes its time to
/// build.
std::vector<Tried> tried(bool tiny) {
  std::vector<Tried> result;
  for (std::size_t form = 0; form < forms().size(); ++form) {
    for (const MatvecStorage storage : kAllStorages) {
      const bool loads_differ = tiny ? form == 1 : form <= 3 || form == 7;
      if (!loads_differ && storage != MatvecStorage::kMinifloat) continue;
      result.push_back({form, storage, result.size() % 2 == 1});
    }
  }
  return result;
}

class TinySymmetricForms : public SymmetricForms {};
INSTANTIATE_TEST_SUITE_P(Kernels, SymmetricForms, ::testing::ValuesIn(tried(false)), form_name);
INSTANTIATE_TEST_SUITE_P(Kernels, TinySymmetricForms, ::testing::ValuesIn(tried(true)), form_name);

TEST_P(TinySymmetricForms, OnTinyGrids) {
  check({{1, 1}, 2});
  check({{7, 5}, 2});
  check({{8, 5}, 2}, true);
}

TEST_P(SymmetricForms, ImagesNarrowerThanTheStencilAndAroundTheBordersOfTiles) {
  for (const auto& [width, height] :
       {std::pair(1, 7), {7, 1}, {2, 2}, {4, 2}, {31, 13}, {64, 16}, {65, 17}}) {
    check({{width, height}, 5});
  }
  check({{131, 9}, 5}, true);
}

TEST_P(SymmetricForms, OtherRadii) {
  if (GetParam().storage != MatvecStorage::kMinifloat) GTEST_SKIP() << "alike for all storages";
  check({{37, 29}, 0});
  check({{40, 29}, 1});
  if (GetParam().form <= 1) check({{37, 29}, 10});
}

TEST(SymmetricStorageError, IsThatOfTheFormat) {
  const auto worst = [](MatvecStorage storage, double least) {
    double largest = 0.0;
    for (double weight = least; weight <= 1.0; weight *= 1.0007) {
      largest = std::max(largest, std::abs(reference_weight(weight, storage) - weight) / weight);
    }
    return largest;
  };
  EXPECT_LE(worst(MatvecStorage::kMinifloat, 0x1p-14), 0x1p-5);
  EXPECT_GT(worst(MatvecStorage::kMinifloat, 0x1p-14), 0x1p-6);
  EXPECT_LE(worst(MatvecStorage::kHalf, 0x1p-29), 0x1p-11);
  EXPECT_EQ(reference_weight(1.0, MatvecStorage::kMinifloat), 1.0);
  EXPECT_EQ(reference_weight(0x0.fp-15, MatvecStorage::kMinifloat), 0.0);
  EXPECT_EQ(reference_weight(0x1p-15, MatvecStorage::kMinifloat), 0x1p-14);
}

TEST(SymmetricNames, AreReadAndListed) {
  EXPECT_EQ(matvec_storage("minifloat"), MatvecStorage::kMinifloat);
  EXPECT_THAT(message_of<ConfigError>([] { matvec_storage("tiny"); }),
              HasSubstr("auto, float32, half, minifloat"));
}

}  // namespace
}  // namespace diacut::testing
