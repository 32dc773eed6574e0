// The product with a compressed symmetric matrix against its definition in double, in every form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "answers/checks.hpp"
#include "diacut/errors.hpp"
#include "eigen_problem.hpp"
#include "guarded.hpp"
#include "matchers.hpp"
#include "matrix/matvec.hpp"
#include "reference_symmetric.hpp"
#include "right.hpp"
#include "shared_context.hpp"

namespace diacut::testing {
namespace {

struct Case {
  Grid grid;
  int radius = 5;
};

/// A symmetric matrix of random weights in [0, 1], some of them tiny, zero or one.
HostDiaMatrix random_symmetric(const Grid& grid, const Stencil& stencil, std::mt19937& random) {
  HostDiaMatrix matrix{dia_shape(grid, stencil), {}};
  const DiaShape& shape = matrix.shape;
  matrix.values.assign(shape.stored(), 0.0f);
  std::uniform_real_distribution<float> uniform(0.0f, 1.0f);
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      const auto row = static_cast<std::size_t>(y * grid.width + x);
      for (std::size_t k = stencil.centre(); k < stencil.size(); ++k) {
        const auto [dx, dy] = stencil.entries[k];
        if (x + dx < 0 || x + dx >= grid.width || y + dy >= grid.height) continue;
        float weight = uniform(random);
        const float kind = uniform(random);
        if (kind < 0.2f) weight = std::ldexp(weight, -static_cast<int>(40.0f * uniform(random)));
        if (kind > 0.95f) weight = kind > 0.97f ? 1.0f : 0.0f;
        const auto col =
            static_cast<std::size_t>(static_cast<std::int64_t>(row) + shape.offsets[k]);
        matrix.values[k * shape.pitch + row] = weight;
        matrix.values[stencil.opposite(k) * shape.pitch + col] = weight;
      }
    }
  }
  return matrix;
}

/// The matrix on the device and its definition.
struct Compressed {
  HostDiaMatrix host;
  std::vector<float> roots;
  SymmetricDia matrix;
  ReferenceSymmetric reference;

  Compressed(const Case& each, MatvecStorage storage, bool scaled, unsigned seed = 1)
      : host(make(each, seed)), roots(scaled ? make_roots(each.grid, seed) : std::vector<float>()) {
    const Stencil stencil = disc_stencil(each.radius);
    const DiaMatrix device = upload(context(), host);
    const Buffer<float> device_roots = Trial(context()).uploaded(roots);
    matrix = compress(context(), device, each.grid, stencil, storage,
                      scaled ? MainDiagonal::kScaled : MainDiagonal::kOwn,
                      scaled ? &device_roots : nullptr);
    context().finish();
    reference = reference_compress(host, each.grid, stencil, storage, scaled ? &roots : nullptr);
  }

  static HostDiaMatrix make(const Case& each, unsigned seed) {
    std::mt19937 random(seed);
    return random_symmetric(each.grid, disc_stencil(each.radius), random);
  }
  /// Some are 0: no data there.
  static std::vector<float> make_roots(const Grid& grid, unsigned seed) {
    std::mt19937 random(seed + 1);
    std::uniform_real_distribution<float> uniform(0.5f, 1.0f);
    std::vector<float> result(grid.rows(), 0.0f);
    for (float& root : result) {
      if (uniform(random) > 0.55f) root = uniform(random);
    }
    return result;
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
      const Compressed compressed(each, storage(), scaled());
      SymmetricOperator op(context(), compressed.matrix,
                           form().own
                               ? matvec_symmetric_form(context().info(), compressed.matrix.layout)
                               : form().form);
      ASSERT_EQ(op.rows(), each.grid.rows());
      std::vector<float> x = trial.uniform(op.rows());
      for (float& value : x) value = 2 * value - 1;
      TermSums expected(0);
      expected.values = reference_matvec(
          compressed.reference, std::vector<double>(x.begin(), x.end()), &expected.magnitudes);
      check_product(trial, op, x, expected,
                    (static_cast<double>(compressed.host.shape.diagonals()) + 10) / 2, recurrence);
      EXPECT_EQ(op.products(), recurrence ? 5 : 2);
    });
  }
};

std::string form_name(const ::testing::TestParamInfo<Tried>& info) {
  return std::string(forms()[info.param.form].name) + "_" + to_string(info.param.storage);
}
constexpr MatvecStorage kAllStorages[] = {MatvecStorage::kFloat32, MatvecStorage::kHalf,
                                          MatvecStorage::kMinifloat};
const auto kStorages = ::testing::ValuesIn(kAllStorages);

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

TEST_P(SymmetricForms, ImagesNarrowerThanTheStencil) {
  check({{1, 7}, 5});
  check({{7, 1}, 5});
  check({{2, 2}, 5});
  check({{4, 2}, 5});
}

TEST_P(SymmetricForms, AroundTheBordersOfTiles) {
  check({{31, 13}, 5});
  check({{64, 16}, 5});
  check({{65, 17}, 5});
  check({{131, 9}, 5}, true);
}

TEST_P(SymmetricForms, OtherRadii) {
  if (GetParam().storage != MatvecStorage::kMinifloat) GTEST_SKIP() << "alike for all storages";
  check({{37, 29}, 0});
  check({{40, 29}, 1});
  if (GetParam().form <= 1) check({{37, 29}, 10});
}

class SymmetricStorage : public ::testing::TestWithParam<MatvecStorage> {};
std::string storage_name(const ::testing::TestParamInfo<MatvecStorage>& info) {
  return to_string(info.param);
}
INSTANTIATE_TEST_SUITE_P(Kernels, SymmetricStorage, kStorages, storage_name);

TEST_P(SymmetricStorage, RoundsEveryWeightToTheNearest) {
  // A product with a unit vector gives a column, to the bit.
  const Case each{{11, 7}, 3};
  const Compressed compressed(each, GetParam(), false, 3);
  SymmetricOperator op(context(), compressed.matrix);
  const std::size_t rows = each.grid.rows();
  std::size_t zeros = 0;
  for (std::size_t col = 0; col < rows; ++col) {
    std::vector<float> unit(rows, 0.0f);
    unit[col] = 1.0f;
    Guarded<float> in(context(), unit);
    Guarded<float> out(context(), rows);
    op.perform_op(*in, *out);
    const std::vector<float> column = out.values();
    const std::vector<double> expected =
        reference_matvec(compressed.reference, std::vector<double>(unit.begin(), unit.end()));
    for (std::size_t row = 0; row < rows; ++row) {
      EXPECT_EQ(column[row], expected[row]) << row << ", " << col;
      zeros += expected[row] == 0.0 ? 1 : 0;
    }
  }
  EXPECT_LT(zeros, rows * rows);
}

TEST_P(SymmetricStorage, KeepsTheTrivialEigenvector) {
  const EigenProblem problem(61, 47, 5);
  const NormalizedMatrix whole = matrix_of(context(), problem);
  const SymmetricDia matrix = compress(context(), whole.dia(), problem.grid, disc_stencil(5),
                                       GetParam(), MainDiagonal::kScaled, &whole.sqrt_degree());
  SymmetricOperator op(context(), matrix);
  Guarded<float> out(context(), op.rows());
  op.perform_op(whole.sqrt_degree(), *out);
  const std::vector<float> product = out.values();
  for (std::size_t i = 0; i < product.size(); ++i) {
    // All terms are positive but for the diagonal's, which is at most 2 in magnitude of some 40.
    EXPECT_NEAR(product[i], problem.sqrt_degree[i],
                91.0 * std::ldexp(1.1 * problem.sqrt_degree[i], -24));
  }
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
              ::testing::HasSubstr("auto, float32, half, minifloat"));
}

}  // namespace
}  // namespace diacut::testing
