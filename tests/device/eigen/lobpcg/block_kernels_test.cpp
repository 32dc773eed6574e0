// The kernels of LOBPCG over blocks of vectors against plain loops in double.
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
#include "guarded.hpp"
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
  static std::vector<float> block_of_read(const Segments& segments, unsigned seed) {
    std::vector<float> x = random_values(kSegments * segments.pitch * kColumns, seed);
    for (std::size_t row = 0; row < kSegments * segments.pitch; ++row) {
      const bool read = row % segments.pitch < segments.rows && row / segments.pitch != 1;
      for (std::size_t c = 0; c < kColumns && !read; ++c) x[row * kColumns + c] = NAN;
    }
    return x;
  }

  /// Six columns of the first active image, and the last column of the other.
  static std::vector<std::int32_t> some_columns(std::size_t width) {
    std::vector<std::int32_t> columns(2 * width, -1);
    for (std::size_t k = 0; k < 6; ++k) columns[k] = static_cast<std::int32_t>(3 * k + 1);
    columns[width] = 23;
    return columns;
  }

  /// Calls check(found, row, segment, column) for the entries of a narrow block that `columns`
  /// names. Expects 0 where it names none and between images, and an image that is not active as
  /// it was.
  template <class Check>
  static void expect_selected(const std::vector<float>& found,
                              const std::vector<std::int32_t>& columns, const Segments& segments,
                              const Check& check) {
    const std::size_t width = columns.size() / 2;
    for (std::size_t at = 0; at < found.size(); ++at) {
      const std::size_t row = at / width;
      const std::size_t segment = row / segments.pitch;
      if (segment == 1) {
        ASSERT_TRUE(std::isnan(found[at]));
        continue;
      }
      const std::int32_t column = columns[segment / 2 * width + at % width];
      if (column < 0 || row % segments.pitch >= segments.rows) {
        ASSERT_EQ(found[at], 0);
      } else {
        check(found[at], row, segment, at_size(column));
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Precision, BlockKernelsTest, ::testing::Bool(), precision_name);

TEST_P(BlockKernelsTest, SumsOfColumns) {
  for_images({1U, 33U, 513U, 3001U}, [&](Workspace& workspace, const Segments& segments) {
    const std::vector<float> x = block_of_read(segments, 5);
    const std::vector<double> found =
        column_sums(workspace, *Guarded<float>(context_, x), segments);
    ASSERT_EQ(found.size(), 2 * at_size(kColumns));
    for (std::size_t at = 0; at < found.size(); ++at) {
      double expected = 0;
      double magnitude = 0;
      for (std::size_t i = 0; i < segments.rows; ++i) {
        const double value =
            x[(2 * (at / kColumns) * segments.pitch + i) * kColumns + at % kColumns];
        expected += value;
        magnitude += std::abs(value);
      }
      // 32 roundings of a sum in float.
      EXPECT_NEAR(found[at], expected, 32 * kEps * magnitude) << at;
    }
  });
}

TEST_P(BlockKernelsTest, PeaksAreTheFirstOfEquals) {
  for_images({1U, 65U, 10007U}, [&](Workspace& workspace, const Segments& segments) {
    // Few values, the largest ones late.
    std::vector<float> x = block_of_read(segments, 17);
    for (std::size_t at = 0; at < x.size(); ++at) {
      x[at] = std::round(std::clamp(x[at], -1.0F, 1.0F));
      if (at / kColumns % segments.pitch >= segments.rows / 3 * 2) x[at] *= 2;
    }
    Guarded<float> spare(context_, x.size());
    const std::vector<float> found =
        column_peaks(workspace, *Guarded<float>(context_, x), segments, *spare);
    ASSERT_EQ(found.size(), 2 * at_size(kColumns));
    for (std::size_t at = 0; at < found.size(); ++at) {
      float peak = 0;
      for (std::size_t i = 0; i < segments.rows; ++i) {
        const float value =
            x[(2 * (at / kColumns) * segments.pitch + i) * kColumns + at % kColumns];
        if (std::abs(value) > std::abs(peak)) peak = value;
      }
      EXPECT_EQ(found[at], peak) << at;
    }
  });
}

TEST_P(BlockKernelsTest, ColumnsOfTheDirectionsAreGathered) {
  for_images({1U, 17U, 130U}, [&](Workspace& workspace, const Segments& segments) {
    const std::vector<std::int32_t> directions = some_columns(at_size(workspace.narrow_columns(7)));
    // The columns of X do not matter.
    const std::vector<std::int32_t> columns(directions.rbegin(), directions.rend());
    const ColumnSelection selection = select_columns(workspace, columns, directions);
    EXPECT_EQ(2 * at_size(selection.width), directions.size());
    const std::vector<float> in = random_values(kSegments * segments.pitch * kColumns, 1);
    Guarded<float> p(context_, in);
    Guarded<float> out(context_, kSegments * segments.pitch * at_size(selection.width));
    gather_columns(workspace, selection, *p, kColumns, segments, *out);
    EXPECT_EQ(p.values(), in);
    expect_selected(out.values(), directions, segments,
                    [&](float found, std::size_t row, std::size_t, std::size_t column) {
                      ASSERT_EQ(found, in[row * kColumns + column]);
                    });
  });
}

TEST_P(BlockKernelsTest, ResidualsAreThoseOfTheSelectedColumns) {
  for_images({1U, 17U, 130U}, [&](Workspace& workspace, const Segments& segments) {
    const std::vector<std::int32_t> columns = some_columns(at_size(workspace.narrow_columns(7)));
    // The directions in P do not matter.
    const std::vector<std::int32_t> directions(columns.rbegin(), columns.rend());
    const std::vector<float> product = random_values(kSegments * segments.pitch * kColumns, 1);
    const std::vector<float> theta = random_values(kSegments * kColumns, 2);
    const std::vector<float> x = random_values(product.size(), 3);
    Guarded<float> product_in(context_, product);
    Guarded<float> x_in(context_, x);
    Guarded<float> r(context_, kSegments * segments.pitch * (columns.size() / 2));
    ritz_residuals(workspace, *x_in, *product_in, Uploaded(context_, theta),
                   select_columns(workspace, columns, directions), segments, *r);
    EXPECT_EQ(product_in.values(), product);
    EXPECT_EQ(x_in.values(), x);
    expect_selected(r.values(), columns, segments,
                    [&](float found, std::size_t row, std::size_t segment, std::size_t column) {
                      const std::size_t from = row * kColumns + column;
                      const double part =
                          static_cast<double>(theta[segment * kColumns + column]) * x[from];
                      ASSERT_LE(std::abs(found - (product[from] - part)),
                                2 * kEps * (std::abs(part) + std::abs(product[from])));
                    });
  });
}

TEST_P(BlockKernelsTest, RayleighQuotientsAgreeWithPlainLoops) {
  constexpr int kWide = 16;
  unsigned seed = 900;
  for (const Grid& size : kBlockSizes) {
    SCOPED_TRACE(::testing::Message() << size.width << "x" << size.height);
    const testing::BlockProblem problem(size.width, size.height, 5, ++seed);
    const std::size_t rows = problem.rows();
    Workspace workspace(context_, kWide, rows);
    const std::vector<float> x = random_values(rows * kWide, ++seed);
    Guarded<float> x_in(context_, x);
    Guarded<float> y_in(context_, rows * kWide);
    const CompressedProblem compressed(context_, problem);
    const std::vector<cl_int2> upper =
        upper_diagonals(problem.matrix.shape.offsets, problem.matrix.shape.rows);
    const auto check = [&](const HostDiaMatrix& matrix, const NormalizedMatrix& device_matrix) {
      auto parts = context_.allocate<float>(rows * kWide, "parts of sums");
      const std::vector<double> found =
          RayleighQuotients(workspace, device_matrix).compute(device_matrix, *x_in, *y_in, parts);
      ASSERT_EQ(found.size(), at_size(kWide));
      const std::vector<float> y = y_in.values();
      for (std::size_t at = 0; at < y.size(); ++at) {
        const float s = problem.sqrt_degree[at / kWide];
        // OpenCL's division is right to 2.5 units in the last place.
        ASSERT_NEAR(y[at], s > 0 ? x[at] / s : 0, 2.5 * kEps * std::abs(y[at]));
      }
      std::vector<double> expected(kWide, 0.0);
      for (const cl_int2& each : upper) {
        for (std::size_t i = 0; i + at_size(each.s[1]) < rows; ++i) {
          const std::size_t j = i + at_size(each.s[1]);
          const double weight =
              static_cast<double>(matrix.values[at_size(each.s[0]) * problem.pitch() + i]) *
              problem.sqrt_degree[i] * problem.sqrt_degree[j];
          for (std::size_t c = 0; c < kWide; ++c) {
            const double difference = static_cast<double>(y[i * kWide + c]) - y[j * kWide + c];
            expected[c] += weight * difference * difference;
          }
        }
      }
      for (std::size_t c = 0; c < kWide; ++c) {
        // Positive terms; of each a difference's rounding counts twice beside some of products.
        const auto terms = static_cast<double>(upper.size());
        EXPECT_NEAR(found[c], expected[c], (8 + terms) * kEps * expected[c]) << c;
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
    const std::vector<float> b = random_values(kSegments * count, 2);
    const std::vector<float> vector = random_values(kSegments * each, 3);
    Guarded<float> b_in(context_, b);
    Guarded<float> vector_in(context_, vector);
    columns.insert(*vector_in, uploaded({5, 6, 1, 2, -3}), 2, kSegments, each, 7, *b_in);
    const std::vector<float> inserted = b_in.values();
    const float factors[] = {1, 2, -3};
    for (std::size_t at = 0; at < inserted.size(); ++at) {
      const bool in_column = at % kColumns == 7;
      ASSERT_EQ(inserted[at], in_column ? factors[at / count] * vector[at / kColumns] : b[at]);
    }
    // The middle one alone, its last column turned.
    const std::vector<std::int32_t> wanted = {1, 2, 3, -8, 1, 2, 3, 4, 5, 6, 7, 8,
                                              1, 2, 3, 4,  5, 6, 7, 8, 1, 1, 1, 1};
    Guarded<float> basis(context_, 2 * 96);
    columns.extract(*b_in, {each, each, Uploaded(context_, wanted), 2, 2}, 96, *basis);
    const std::vector<float> found = basis.values();
    for (std::size_t i = 0; i < 96; ++i) {
      ASSERT_EQ(found[i], i < each ? inserted[count + i * kColumns + 2] : 0);
      ASSERT_EQ(found[96 + i], i < each ? -inserted[count + i * kColumns + 7] : 0);
    }
  }
}

class BasisUpdateTest : public BlockTest {};

TEST_F(BasisUpdateTest, RotationsOfImagesWithFewerColumnsArePaddedAndEachIsItsOwn) {
  // Two images in a basis [X W P]: one corrects columns 2 and 5, the other one column 1.
  constexpr int kColumns = 8;
  const int width = 8;
  constexpr std::size_t kRows = 3;
  Workspace workspace(context_, kColumns, kRows,
                      std::make_shared<const ActiveSegments>(context_, 2));
  const std::vector<std::int32_t> selected[] = {{2, 5}, {1}};
  const std::vector<float> theta(std::size_t{2} * kColumns, 0.5F);
  std::vector<float> q[2];
  std::vector<ImageRotation> images;
  std::vector<float> padded;
  std::vector<std::int32_t> places;
  for (std::size_t k = 0; k < 2; ++k) {
    const std::size_t own = selected[k].size();
    q[k] = random_values((kColumns + 2 * own) * kColumns, static_cast<unsigned>(k) + 1);
    images.push_back({q[k], selected[k]});
    for (std::size_t row = 0; row < kColumns + 2 * width; ++row) {
      const std::size_t block = row < kColumns ? 0 : 1 + (row - kColumns) / width;
      const std::size_t place = block == 0 ? row : (row - kColumns) % width;
      const std::size_t from = block == 0 ? row : kColumns + (block - 1) * own + place;
      for (std::size_t c = 0; c < kColumns; ++c) {
        padded.push_back(block == 0 || place < own ? q[k][from * kColumns + c] : 0);
      }
    }
    for (int c = 0; c < kColumns; ++c) {
      const auto found = std::find(selected[k].begin(), selected[k].end(), c);
      places.push_back(
          found == selected[k].end() ? -1 : static_cast<std::int32_t>(found - selected[k].begin()));
    }
    places.push_back(static_cast<std::int32_t>(own));
  }
  const Rotation found = upload_rotation(workspace, theta, images, 3, width);
  const Rotation expected = upload_rotation(workspace, theta, places, padded);
  EXPECT_EQ(found.places, expected.places);
  EXPECT_EQ(found.rotation, expected.rotation);
  EXPECT_EQ(found.words.words().download(), expected.words.words().download());

  // Each image gets what it gets alone.
  const auto part = [](const auto& both, std::size_t k) {
    const auto half = static_cast<std::ptrdiff_t>(both.size() / 2);
    const auto begin = both.begin() + static_cast<std::ptrdiff_t>(k) * half;
    return std::decay_t<decltype(both)>(begin, begin + half);
  };
  const std::vector<float> blocks[] = {random_values(2 * kRows * kColumns, 5),
                                       random_values(2 * kRows * kColumns, 6),
                                       random_values(2 * kRows * kColumns, 7)};
  Guarded<float> x(context_, blocks[0]);
  const Guarded<float> w(context_, blocks[1]);
  const Guarded<float> directions(context_, blocks[2]);
  Guarded<float> next(context_, 2 * kRows * kColumns);
  update_basis(workspace, found, *x, &*w, &*directions, width, {kRows, kRows}, *next);
  for (std::size_t k = 0; k < 2; ++k) {
    Workspace alone(context_, kColumns, kRows);
    const Rotation own = upload_rotation(alone, part(theta, k), part(places, k), part(padded, k));
    Guarded<float> own_x(context_, part(blocks[0], k));
    const Guarded<float> own_w(context_, part(blocks[1], k));
    const Guarded<float> own_directions(context_, part(blocks[2], k));
    Guarded<float> own_next(context_, kRows * kColumns);
    update_basis(alone, own, *own_x, &*own_w, &*own_directions, width, {kRows, kRows}, *own_next);
    EXPECT_EQ(own_x.values(), part(x.values(), k)) << k;
    EXPECT_EQ(own_next.values(), part(next.values(), k)) << k;
  }
}

}  // namespace
}  // namespace diacut::testing
