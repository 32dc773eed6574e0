#include "matrix/matvec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "answers/checks.hpp"
#include "diacut/errors.hpp"
#include "matchers.hpp"
#include "right.hpp"
#include "shared_context.hpp"

namespace diacut {

/// How GoogleTest names a parameter.
static void PrintTo(MatvecKind kind, std::ostream* stream) { *stream << to_string(kind); }

namespace {

using testing::context;

/// A random matrix of that shape, zero where the shape's contract says so.
HostDiaMatrix random_matrix(DiaShape shape, Trial& trial) {
  HostDiaMatrix matrix{std::move(shape), {}};
  matrix.values = trial.normal(matrix.shape.stored());
  const auto rows = static_cast<std::int64_t>(matrix.shape.rows);
  for (std::size_t d = 0; d < matrix.shape.diagonals(); ++d) {
    for (std::size_t row = 0; row < matrix.shape.pitch; ++row) {
      const std::int64_t col = static_cast<std::int64_t>(row) + matrix.shape.offsets[d];
      if (row >= matrix.shape.rows || col < 0 || col >= rows) {
        matrix.values[d * matrix.shape.pitch + row] = 0.0f;
      }
    }
  }
  return matrix;
}

/// Multiplies by a matrix of that shape in both forms and compares every row with the definition,
/// against the bound for a sum of n products in any order: (n + 1) u sum |a_i x_i|, with u = 2^-24,
/// half of Trial::kEps, and three more roundings for the recurrence.
void check_product_of(Context& context, const DiaShape& shape, MatvecKind kind) {
  SCOPED_TRACE(::testing::Message()
               << shape.rows << " rows, " << shape.diagonals() << " diagonals");
  testing::expect_right(context, [&](Trial& trial) {
    const HostDiaMatrix host = random_matrix(shape, trial);
    const DiaMatrix matrix = upload(context, host);
    DiaOperator op(context, matrix, kind);
    ASSERT_EQ(op.rows(), shape.rows);
    const std::vector<float> x = trial.normal(shape.rows);
    check_product(trial, op, x, expected_product(host, x),
                  (static_cast<double>(shape.diagonals()) + 4) / 2);
    EXPECT_EQ(op.products(), 5);
  });
}

class Matvec : public ::testing::TestWithParam<MatvecKind> {
 protected:
  void check(const DiaShape& shape) { check_product_of(context(), shape, GetParam()); }
};

class TinyMatvec : public Matvec {};

std::string kind_name(const ::testing::TestParamInfo<MatvecKind>& info) {
  return to_string(info.param);
}
const auto kKinds = ::testing::Values(MatvecKind::kNaive, MatvecKind::kAligned, MatvecKind::kLocal,
                                      MatvecKind::kVectorized, MatvecKind::kImage,
                                      MatvecKind::kCoarsened, MatvecKind::kUnrolled);
INSTANTIATE_TEST_SUITE_P(Kernels, TinyMatvec, kKinds, kind_name);
INSTANTIATE_TEST_SUITE_P(Kernels, Matvec, kKinds, kind_name);

/// Every alignment, both signs, a repeated offset, and some that leave small matrices.
const std::vector<std::int64_t> kMixed = {-64, -33, -32, -7, -2, -1, 0, 0, 1, 3, 6, 8, 31, 65};

TEST_P(TinyMatvec, AwkwardShapes) {
  for (std::size_t rows : {1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 63, 64, 65, 70}) {
    check(dia_shape(rows, kMixed));
  }
  check(dia_shape(Grid{2, 2}, disc_stencil(1)));
  for (const Grid& grid : {Grid{1, 1}, Grid{1, 7}, Grid{7, 1}, Grid{2, 2}}) {
    check(dia_shape(grid, disc_stencil(2)));
  }
  // None, and some wholly outside of the matrix.
  for (const std::vector<std::int64_t>& offsets :
       {std::vector<std::int64_t>{}, {-1000, -5, 5, 1000}, {-1000, -4, 0, 4, 1000}}) {
    check(dia_shape(5, offsets));
  }
}

TEST_P(TinyMatvec, GroupsInsideOrOneColumnOff) {
  check(dia_shape(1100, {0, 1, 2, 3, 5, 8}));
  check(dia_shape(1100, {-513, -129, 0, 8}));
}

TEST_P(Matvec, RowsOneByOneAndAroundWorkGroups) {
  for (std::size_t rows = 1; rows <= 70; ++rows) check(dia_shape(rows, kMixed));
  // In the last two the second group reaches one column too far, and just not.
  const auto reach = static_cast<std::size_t>(kMixed.back());
  for (std::size_t group : {128, 256, 512}) {
    for (std::size_t rows :
         {group - 1, group, group + 1, 2 * group + reach - 1, 2 * group + reach}) {
      check(dia_shape(rows, kMixed));
    }
  }
}

TEST_P(Matvec, Stencils) {
  // In images narrower than them too; the last one is a photograph's.
  for (const auto& [width, height, radius] : {std::tuple(1, 7, 5),
                                              {2, 2, 5},
                                              {3, 50, 10},
                                              {40, 29, 1},
                                              {37, 29, 2},
                                              {64, 47, 5},
                                              {97, 101, 10},
                                              {481, 321, 5}}) {
    check(dia_shape(Grid{width, height}, disc_stencil(radius)));
  }
}

TEST_P(Matvec, ManyDiagonalsOfNoStencil) {
  std::mt19937 random(5);
  std::uniform_int_distribution<std::int64_t> offset(-900, 900);
  std::set<std::int64_t> offsets;
  while (offsets.size() < 521) offsets.insert(offset(random));
  check(dia_shape(4001, {offsets.begin(), offsets.end()}));
}

TEST(TinyUnrolled, TheKernelsOfCpusAndOfOtherDevices) {
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kGpu}) {
    Context treated(testing::test_device());
    treated.guard_allocations();
    treated.treat_as(kind);
    const auto check = [&](const DiaShape& shape) {
      check_product_of(treated, shape, MatvecKind::kUnrolled);
    };
    for (std::size_t rows : {33, 40, 63, 64}) check(dia_shape(rows, kMixed));
    check(dia_shape(1100, {-9, -1, 0, 1, 2, 3, 5, 8}));
  }
}

/// A device with images of at most that size.
DeviceInfo device(DeviceKind kind, std::size_t image_width, std::size_t image_height,
                  const std::string& vendor = "a vendor") {
  DeviceInfo info;
  info.name = "a device";
  info.vendor = vendor;
  info.kind = kind;
  info.images = image_width > 0;
  info.image_max_width = image_width;
  info.image_max_height = image_height;
  return info;
}

TEST(MatvecChoice, FollowsMeasurementsAndElseARule) {
  using enum MatvecStorage;
  constexpr DeviceKind kGpu = DeviceKind::kGpu;
  constexpr DeviceKind kCpu = DeviceKind::kCpu;
  struct Row {
    DeviceKind kind;
    Grid grid;
    std::vector<MatvecStorage> storages;
    std::string chosen;
    std::string vendor = "a vendor";
  };
  for (const Row& row : {Row{kGpu, {481, 321}, {}, "image"}, Row{kCpu, {481, 321}, {}, "unrolled"},
                         Row{kGpu, {400, 1000}, {}, "naive", "NVIDIA Corporation"},
                         Row{kGpu, {1000, 1000}, {}, "unrolled", "NVIDIA Corporation"},
                         Row{kGpu, {100, 1000}, {kHalf}, "symmetric half"},
                         Row{kGpu, {1000, 1000}, {kFloat32, kHalf}, "symmetric half"},
                         Row{kGpu, {1000, 1000}, {kHalf, kMinifloat}, "symmetric minifloat"},
                         Row{kCpu, {1000, 1000}, {kHalf}, "symmetric half"},
                         Row{kCpu, {1000, 1000}, {}, "unrolled"}}) {
    const MatvecChoice choice = choose_matvec({}, device(row.kind, 16384, 16384, row.vendor),
                                              dia_shape(row.grid, disc_stencil(5)), row.storages);
    EXPECT_EQ(choice.name(), row.chosen);
    EXPECT_EQ(choice.note, "");
  }
}

TEST(MatvecChoice, ImagesMissingOrTooSmallGiveTheNextBestAndSaySo) {
  const DiaShape shape = dia_shape(Grid{481, 321}, disc_stencil(5));
  constexpr MatvecKind next = MatvecKind::kUnrolled;
  for (const MatvecKind asked : {MatvecKind::kAuto, MatvecKind::kImage}) {
    const MatvecChoice missing = choose_matvec({asked}, device(DeviceKind::kGpu, 0, 0), shape);
    EXPECT_EQ(missing.kind, next);
    EXPECT_NE(missing.note.find("no images"), std::string::npos) << missing.note;
    EXPECT_NE(missing.note.find(to_string(next)), std::string::npos) << missing.note;
    // 154,401 rows are 150 whole image rows of 256 float4 and a bit, or 37 of 1,024.
    const MatvecChoice small = choose_matvec({asked}, device(DeviceKind::kGpu, 512, 60), shape);
    EXPECT_EQ(small.kind, next);
    EXPECT_NE(small.note.find("512 x 60"), std::string::npos) << small.note;
    EXPECT_EQ(choose_matvec({asked}, device(DeviceKind::kGpu, 1024, 60), shape).kind,
              MatvecKind::kImage);
    EXPECT_EQ(choose_matvec({asked}, device(DeviceKind::kGpu, 256, 150), shape).kind,
              MatvecKind::kImage);
  }
  const MatvecChoice emulated =
      choose_matvec({MatvecKind::kImage}, device(DeviceKind::kCpu, 16384, 16384), shape);
  EXPECT_EQ(emulated.kind, next);
  EXPECT_THAT(emulated.note, ::testing::HasSubstr("emulates images"));
}

TEST(MatvecChoice, WhatWasAskedForIsKept) {
  const DiaShape shape = dia_shape(10, {0});
  for (const char* name :
       {"naive", "aligned", "local", "vectorized", "image", "coarsened", "unrolled", "symmetric"}) {
    const MatvecKind kind = matvec_kind(name);
    EXPECT_STREQ(to_string(kind), name);
    const MatvecChoice choice = choose_matvec({kind}, device(DeviceKind::kGpu, 4096, 4096), shape);
    EXPECT_EQ(choice.kind, kind);
    EXPECT_EQ(choice.storage == MatvecStorage::kAuto, kind != MatvecKind::kSymmetric);
    EXPECT_TRUE(choice.note.empty());
  }
  EXPECT_EQ(matvec_kind("auto"), MatvecKind::kAuto);
}

TEST(MatvecChoice, AnUnknownNameIsAnErrorThatListsTheKnown) {
  EXPECT_THAT(testing::message_of<ConfigError>([] { matvec_kind("fast"); }),
              ::testing::AllOf(::testing::HasSubstr("'fast'"),
                               ::testing::HasSubstr("auto, naive, aligned, "),
                               ::testing::HasSubstr("unrolled")));
}

TEST(DiaOperator, DoesNotChooseForItself) {
  const HostDiaMatrix host{dia_shape(3, {0}), std::vector<float>(32, 1.0f)};
  const DiaMatrix matrix = upload(context(), host);
  EXPECT_THROW(DiaOperator(context(), matrix, MatvecKind::kAuto), ConfigError);
  EXPECT_THROW(DiaOperator(context(), matrix, MatvecKind::kSymmetric), ConfigError);
}

}  // namespace
}  // namespace diacut
