// The kernels of LOBPCG over blocks of vectors by Eigen, in double.
#include "eigen/lobpcg/block_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "matchers.hpp"
#include "matrix/quadratic_form.hpp"

namespace diacut::testing {
namespace {

class BlockKernelsTest : public BlockPrecisionTest {
 protected:
  static constexpr int kColumns = 24;
  static constexpr std::size_t kSegments = 3;

  /// Calls check(workspace, segments) for three images of each size, of which the first and the
  /// last are active.
  template <class Check>
  void for_images(std::initializer_list<std::size_t> sizes, const Check& check) {
    for (const std::size_t each : sizes) {
      SCOPED_TRACE(each);
      const Segments segments{each, each + 5};
      auto active = std::make_shared<ActiveSegments>(context_, static_cast<int>(kSegments));
      Workspace workspace(context_, kColumns, segments.pitch, active);
      active->set({0, 2});
      check(workspace, segments);
    }
  }

  /// A block of the images; NaN where nothing may be read.
  std::vector<float> block_of_read(const Segments& segments) {
    std::vector<float> x = trial_.normal(kSegments * segments.pitch * kColumns);
    for (std::size_t row = 0; row < kSegments * segments.pitch; ++row) {
      const bool read = row % segments.pitch < segments.rows && row / segments.pitch != 1;
      for (std::size_t c = 0; c < kColumns && !read; ++c) x[row * kColumns + c] = NAN;
    }
    return x;
  }

  /// The elements of an active image: the first or the other one.
  static Rows image_of(const Rows& block, const Segments& segments, int active) {
    return block.middleRows(static_cast<Eigen::Index>(2 * at_size(active) * segments.pitch),
                            static_cast<Eigen::Index>(segments.rows));
  }

  /// Six columns of the first active image, and the last column of the other.
  static std::vector<std::int32_t> some_columns(std::size_t width) {
    std::vector<std::int32_t> columns(2 * width, -1);
    for (std::size_t k = 0; k < 6; ++k) columns[k] = static_cast<std::int32_t>(3 * k + 1);
    columns[width] = 23;
    return columns;
  }

  /// The columns of the active images that `columns` names, 0 where it names none and between
  /// images.
  static Rows selected(const Rows& block, const std::vector<std::int32_t>& columns,
                       const Segments& segments) {
    const auto width = static_cast<int>(columns.size() / 2);
    const auto pitch = static_cast<Eigen::Index>(segments.pitch);
    Rows result = Rows::Zero(2 * pitch, width);
    for (int k = 0; k < 2 * width; ++k) {
      if (columns[at_size(k)] < 0) continue;
      result.col(k % width).segment(k / width * pitch, static_cast<Eigen::Index>(segments.rows)) =
          image_of(block, segments, k / width).col(columns[at_size(k)]);
    }
    return result;
  }

  /// Holds the active images of a narrow block to be the ones expected, and the other one to be as
  /// it was.
  void expect_selected(const Buffer<float>& block, const Rows& expected, const Rows& magnitudes,
                       double roundings) {
    std::vector<float> found = block.download();
    const auto first = found.begin() + static_cast<std::ptrdiff_t>(found.size() / kSegments);
    const auto last = first + static_cast<std::ptrdiff_t>(found.size() / kSegments);
    EXPECT_TRUE(std::all_of(first, last, [](float value) { return std::isnan(value); }));
    found.erase(first, last);
    trial_.expect("selected columns", found, numbers_of(expected), numbers_of(magnitudes),
                  roundings);
  }
};
INSTANTIATE_TEST_SUITE_P(Precision, BlockKernelsTest, ::testing::Bool(), precision_name);

TEST_P(BlockKernelsTest, SumsOfColumns) {
  for_images({1U, 33U, 513U, 3001U}, [&](Workspace& workspace, const Segments& segments) {
    const DrawnBlock x(trial_, block_of_read(segments), kColumns);
    const std::vector<double> found = column_sums(workspace, x.device, segments);
    ASSERT_EQ(found.size(), 2 * at_size(kColumns));
    for (int at = 0; at < 2 * kColumns; ++at) {
      const Eigen::VectorXd column = image_of(x.rows, segments, at / kColumns).col(at % kColumns);
      // 32 roundings of a sum in float.
      EXPECT_NEAR(found[at_size(at)], column.sum(), 32 * kEps * column.lpNorm<1>()) << at;
    }
  });
}

TEST_P(BlockKernelsTest, PeaksAreTheFirstOfEquals) {
  for_images({1U, 65U, 10007U}, [&](Workspace& workspace, const Segments& segments) {
    // Few values, the largest ones late.
    std::vector<float> drawn = block_of_read(segments);
    for (std::size_t at = 0; at < drawn.size(); ++at) {
      drawn[at] = std::round(std::clamp(drawn[at], -1.0F, 1.0F));
      if (at / kColumns % segments.pitch >= segments.rows / 3 * 2) drawn[at] *= 2;
    }
    const DrawnBlock x(trial_, drawn, kColumns);
    Buffer<float> spare = trial_.empty(drawn.size());
    const std::vector<float> found = column_peaks(workspace, x.device, segments, spare).take();
    ASSERT_EQ(found.size(), 2 * at_size(kColumns));
    for (int at = 0; at < 2 * kColumns; ++at) {
      const Eigen::VectorXd column = image_of(x.rows, segments, at / kColumns).col(at % kColumns);
      Eigen::Index peak = 0;
      column.cwiseAbs().maxCoeff(&peak);
      EXPECT_EQ(found[at_size(at)], column(peak)) << at;
    }
  });
}

TEST_P(BlockKernelsTest, ColumnsAreGatheredAndResidualsAreThoseOfTheSelected) {
  for_images({1U, 17U, 130U}, [&](Workspace& workspace, const Segments& segments) {
    const std::size_t count = kSegments * segments.pitch;
    const std::vector<std::int32_t> columns = some_columns(at_size(workspace.narrow_columns(7)));
    const std::vector<std::int32_t> directions(columns.rbegin(), columns.rend());
    const ColumnSelection selection = select_columns(workspace, columns, directions);
    ASSERT_EQ(2 * at_size(selection.width), columns.size());
    const DrawnBlock x(trial_, count, kColumns);
    const DrawnBlock product(trial_, count, kColumns);
    Buffer<float> out = trial_.empty(count * at_size(selection.width));
    gather_columns(workspace, selection, x.device, kColumns, segments, out);
    const Rows expected = selected(x.rows, directions, segments);
    expect_selected(out, expected, expected, 0);
    x.require_unchanged();

    const std::vector<float> theta = trial_.normal(kSegments * kColumns);
    Buffer<float> residuals = trial_.empty(count * at_size(selection.width));
    ritz_residuals(workspace, x.device, product.device, Uploaded(context_, theta), selection,
                   segments, residuals);
    Rows parts = x.rows;
    for (Eigen::Index row = 0; row < parts.rows(); ++row) {
      const auto image = row / static_cast<Eigen::Index>(segments.pitch);
      parts.row(row).array() *= rows_of(theta, kColumns).row(image).array();
    }
    expect_selected(residuals, selected(product.rows - parts, columns, segments),
                    selected(parts.cwiseAbs() + product.rows.cwiseAbs(), columns, segments), 2);
    x.require_unchanged();
    product.require_unchanged();
  });
}

TEST_P(BlockKernelsTest, RayleighQuotientsAreSumsOfSquares) {
  constexpr int kWide = 16;
  unsigned seed = 900;
  for (const Grid& size : kBlockSizes) {
    SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height);
    const BlockProblem problem(size.width, size.height, 5, ++seed);
    const std::size_t rows = problem.rows();
    const Eigen::VectorXd roots = rows_of(problem.sqrt_degree, 1).col(0);
    Workspace workspace(context_, kWide, rows);
    const DrawnBlock x(trial_, rows, kWide);
    const CompressedProblem compressed(context_, problem);
    const std::vector<cl_int2> upper = upper_diagonals(problem.matrix.shape.offsets, rows);
    const auto check = [&](const HostDiaMatrix& matrix, const NormalizedMatrix& device_matrix) {
      Buffer<float> quotients = trial_.empty(x.values.size());
      Buffer<float> parts = trial_.empty(x.values.size());
      const std::vector<double> found = RayleighQuotients(workspace, device_matrix)
                                            .compute(device_matrix, x.device, quotients, parts);
      ASSERT_EQ(found.size(), at_size(kWide));
      const Rows divided = roots.cwiseInverse().asDiagonal() * x.rows;
      // OpenCL's division is right to 2.5 units in the last place.
      expect_block(trial_, "quotient", quotients, divided, divided.cwiseAbs(), 2.5);
      const Rows y = rows_of(quotients.download(), kWide);
      Eigen::RowVectorXd expected = Eigen::RowVectorXd::Zero(kWide);
      const Rows diagonals = rows_of(matrix.values, static_cast<int>(problem.pitch()));
      for (const cl_int2& each : upper) {
        const Eigen::Index count = y.rows() - each.s[1];
        const Eigen::VectorXd weights = diagonals.row(each.s[0]).head(count).transpose();
        const Eigen::VectorXd both =
            weights.cwiseProduct(roots.head(count)).cwiseProduct(roots.tail(count));
        expected += both.transpose() * (y.topRows(count) - y.bottomRows(count)).cwiseAbs2();
      }
      for (int c = 0; c < kWide; ++c) {
        // Positive terms; of each a difference's rounding counts twice beside some of products.
        const double roundings = 8 + static_cast<double>(upper.size());
        EXPECT_NEAR(found[at_size(c)], expected(c), roundings * kEps * expected(c)) << c;
      }
    };
    check(problem.matrix, matrix_of(context_, problem));
    check(compressed.rounded, compressed.matrix);
  }
}

class BlockColumnsTest : public BlockTest {};

TEST_F(BlockColumnsTest, SegmentsHaveFactorsAndOrdersOfTheirOwn) {
  constexpr int kColumns = 8;
  constexpr std::size_t kSegments = 3;
  for (const std::size_t each : {1U, 30U, 77U}) {
    SCOPED_TRACE(each);
    const std::size_t count = each * kColumns;
    BlockColumns columns(context_, kColumns);
    DrawnBlock b(trial_, kSegments * each, kColumns);
    const DrawnBlock vector(trial_, kSegments * each, 1);
    columns.insert(vector.device, trial_.uploaded<float>({5, 6, 1, 2, -3}), 2, kSegments, each, 7,
                   b.device);
    const std::vector<float> inserted = b.device.download();
    const float factors[] = {1, 2, -3};
    for (std::size_t at = 0; at < inserted.size(); ++at) {
      const bool in_column = at % kColumns == 7;
      ASSERT_EQ(inserted[at],
                in_column ? factors[at / count] * vector.values[at / kColumns] : b.values[at]);
    }
    // The middle one alone, its last column turned.
    const std::vector<std::int32_t> wanted = {1, 2, 3, -8, 1, 2, 3, 4, 5, 6, 7, 8,
                                              1, 2, 3, 4,  5, 6, 7, 8, 1, 1, 1, 1};
    Buffer<float> basis = trial_.empty(2 * 96);
    columns.extract(b.device, {each, each, Uploaded(context_, wanted), 2, 2}, 96, basis);
    const std::vector<float> found = basis.download();
    for (std::size_t i = 0; i < 96; ++i) {
      ASSERT_EQ(found[i], i < each ? inserted[count + i * kColumns + 2] : 0);
      ASSERT_EQ(found[96 + i], i < each ? -inserted[count + i * kColumns + 7] : 0);
    }
  }
}

class BasisUpdateTest : public BlockTest {};

TEST_F(BasisUpdateTest, ImagesWithFewerColumnsHaveRotationsOfTheirOwn) {
  // Two images in a basis [X W P]: one corrects columns 2 and 5, the other one column 1.
  constexpr int kColumns = 8;
  constexpr int kRows = 3;
  Workspace workspace(context_, kColumns, kRows,
                      std::make_shared<const ActiveSegments>(context_, 2));
  const std::vector<std::vector<std::int32_t>> selected = {{2, 5}, {1}};
  std::vector<std::vector<float>> q;
  for (const auto& each : selected) q.push_back(trial_.normal((8 + 2 * each.size()) * 8));
  const std::vector<ImageRotation> images = {{q[0], selected[0]}, {q[1], selected[1]}};
  DrawnBlock x(trial_, 2 * kRows, kColumns);
  const DrawnBlock w(trial_, 2 * kRows, kColumns);
  const DrawnBlock p(trial_, 2 * kRows, kColumns);
  Buffer<float> next = trial_.empty(2 * kRows * kColumns);
  const Rotation rotation =
      upload_rotation(workspace, std::vector<float>(2 * kColumns, 0.5F), images, 3, kColumns);
  update_basis(workspace, rotation, x.device, &w.device, &p.device, kColumns, {kRows, kRows}, next);
  Rows vectors(2 * kRows, kColumns);
  Rows directions = Rows::Zero(2 * kRows, kColumns);
  Rows vector_magnitudes(2 * kRows, kColumns);
  Rows direction_magnitudes = directions;
  for (int k = 0; k < 2; ++k) {
    const auto own = static_cast<Eigen::Index>(selected[at_size(k)].size());
    const auto update = [&](const Rows& s, const Rows& rotated, Rows& all, Rows& narrow) {
      all.middleRows(k * kRows, kRows) = s * rotated;
      const Rows sums = s.rightCols(2 * own) * rotated.bottomRows(2 * own);
      for (Eigen::Index i = 0; i < own; ++i) {
        narrow.col(i).segment(k * kRows, kRows) = sums.col(selected[at_size(k)][i]);
      }
    };
    Rows s(kRows, kColumns + 2 * own);
    s << x.rows.middleRows(k * kRows, kRows), w.rows.block(k * kRows, 0, kRows, own),
        p.rows.block(k * kRows, 0, kRows, own);
    const Rows rotated = rows_of(q[at_size(k)], kColumns);
    update(s, rotated, vectors, directions);
    update(s.cwiseAbs(), rotated.cwiseAbs(), vector_magnitudes, direction_magnitudes);
  }
  constexpr double kRoundings = 3.0 * kColumns + 2;
  expect_block(trial_, "Ritz vectors", x.device, vectors, vector_magnitudes, kRoundings);
  expect_block(trial_, "directions", next, directions, direction_magnitudes, kRoundings);
}

}  // namespace
}  // namespace diacut::testing
