// A V-cycle of two grids in one launch against plain loops in double, and against the launches that
// it takes the place of.
#include "eigen/multilevel/cycle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "block_problem.hpp"
#include "guarded.hpp"
#include "matrix/block.hpp"
#include "support.hpp"

namespace diacut {
namespace {

using testing::at_size;
using testing::column_of;
using testing::Guarded;
using testing::kEps;
using testing::random_values;
using testing::reference_interpolation;
using testing::test_device;
using Problem = testing::BlockProblem;

constexpr int kRadius = 5;
constexpr std::array<float, 2> kSmoother = {0.7F, 0.4F};
constexpr float kFactor = 1.5F;

std::vector<float> part(const std::vector<float>& whole, std::size_t first, std::size_t count) {
  const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

/// Elements between images of `image_height` rows that begin `segment_height` rows apart.
std::vector<std::size_t> gaps(int images, int image_height, int segment_height, int stride) {
  std::vector<std::size_t> rows;
  for (int y = 0; y < images * segment_height; ++y) {
    for (int x = 0; y % segment_height >= image_height && x < stride; ++x) {
      rows.push_back(at_size(y * stride + x));
    }
  }
  return rows;
}

/// Images one below the other, and all that a V-cycle over them takes, of norms about 1: what the
/// coarse grid does shows in the result.
struct CycleProblem {
  int images;
  int image_height;
  int segment_height;
  Problem fine;
  std::size_t coarse_rows;  ///< Of a segment.
  std::vector<float> gain;
  std::vector<float> inverse;

  CycleProblem(int width, int height, int padding, int images_in_all, int gap, unsigned seed)
      : images(images_in_all),
        image_height(height),
        segment_height(images == 1 ? height : height + gap),
        fine(width, images * segment_height, padding, kRadius, seed,
             gaps(images, height, segment_height, width + padding)),
        coarse_rows(at_size((width + 1) / 2 * ((segment_height + 1) / 2))),
        gain(random_values(fine.rows(), seed + 1)),
        inverse(random_values(at_size(images) * coarse_rows * coarse_rows, seed + 2)) {
    for (float& value : fine.matrix.values) value /= 80;
    for (std::size_t i = 0; i < gain.size(); ++i) {
      const std::size_t x = i % at_size(fine.stride());
      gain[i] = x < at_size(width) ? 8 + 4 * std::clamp(gain[i], -1.0F, 1.0F) : 0;
    }
    for (int image = 0; image < images; ++image) {
      float* own = inverse.data() + at_size(image) * coarse_rows * coarse_rows;
      for (std::size_t i = 0; i < coarse_rows; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
          own[i * coarse_rows + j] /= 2 * std::sqrt(static_cast<float>(coarse_rows));
          own[j * coarse_rows + i] = own[i * coarse_rows + j];
        }
      }
    }
  }

  Batch batch() const {
    return {{fine.grid.width, image_height, fine.stride()}, images, segment_height};
  }
  std::size_t segment_rows() const { return at_size(segment_height * fine.stride()); }
  std::size_t image_rows() const { return at_size(image_height * fine.stride()); }

  /// One image of it, alone.
  CycleProblem alone(int image) const {
    CycleProblem one(fine.grid.width, image_height, fine.stride() - fine.grid.width, 1, 0, 1);
    const std::size_t first = at_size(image) * segment_rows();
    for (std::size_t d = 0; d < fine.stencil.size(); ++d) {
      for (std::size_t i = 0; i < image_rows(); ++i) {
        one.fine.matrix.values[d * one.fine.pitch() + i] =
            fine.matrix.values[d * fine.pitch() + first + i];
      }
    }
    one.gain = part(gain, first, image_rows());
    for (std::size_t i = 0; i < one.coarse_rows; ++i) {
      for (std::size_t j = 0; j < one.coarse_rows; ++j) {
        one.inverse[i * one.coarse_rows + j] =
            inverse[(at_size(image) * coarse_rows + i) * coarse_rows + j];
      }
    }
    return one;
  }
};

/// Values, and how far off each may be in float, to first order.
struct Traced {
  std::vector<double> values;
  std::vector<double> error;

  explicit Traced(std::size_t count) : values(count, 0.0), error(count, 0.0) {}
  /// This += factor * other.
  void add(double factor, const Traced& other) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double term = factor * other.values[i];
      values[i] += term;
      error[i] += std::abs(factor) * other.error[i] + kEps * (std::abs(term) + std::abs(values[i]));
    }
  }
  /// Element i += a * element j of `other`, in a sum where a term has so many roundings.
  void add_one(std::size_t i, double a, const Traced& other, std::size_t j, double roundings) {
    const double term = a * other.values[j];
    values[i] += term;
    error[i] += std::abs(a) * other.error[j] + roundings * kEps * std::abs(term);
  }
};

/// The V-cycle of one column.
Traced reference_cycle(const CycleProblem& problem, const Eigen::MatrixXd& p,
                       const std::vector<double>& right_hand_side) {
  const std::size_t rows = problem.fine.rows();
  const std::size_t each = problem.coarse_rows;
  // A rounding a term, however a sum is cut, and few to join it.
  const double of_product = static_cast<double>(problem.fine.stencil.size()) + 4;
  const double of_dense = static_cast<double>(each) + 4;
  Traced b(rows);
  b.values = right_hand_side;
  Traced x(rows);
  const auto residual = [&] {
    Traced rest(rows);
    const HostDiaMatrix& a = problem.fine.matrix;
    for (std::size_t d = 0; d < a.shape.diagonals(); ++d) {
      for (std::size_t i = 0; i < rows; ++i) {
        const float value = a.values[d * a.shape.pitch + i];
        if (value == 0) continue;
        const auto j = static_cast<std::size_t>(static_cast<std::int64_t>(i) + a.shape.offsets[d]);
        rest.add_one(i, value, x, j, of_product);
      }
    }
    rest.add(-1, x);
    rest.add(1, b);
    return rest;
  };
  const auto smooth = [&] {
    for (const double weight : kSmoother) x.add(weight, residual());
  };
  smooth();
  const Traced rest = residual();
  Traced coarse(at_size(problem.images) * each);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < coarse.values.size(); ++j) {
      if (p(i, j) != 0) coarse.add_one(j, kFactor * p(i, j), rest, i, of_product);
    }
  }
  Traced solved(coarse.values.size());
  for (std::size_t row = 0; row < solved.values.size(); ++row) {
    for (std::size_t j = 0; j < each; ++j) {
      solved.add_one(row, problem.inverse[row * each + j], coarse, row / each * each + j, of_dense);
    }
  }
  Traced correction(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < solved.values.size(); ++j) {
      if (p(i, j) != 0) correction.add_one(i, p(i, j), solved, j, of_product);
    }
  }
  x.add(1, correction);
  smooth();
  return x;
}

/// Of a block.
Traced reference_cycle(const CycleProblem& problem, const std::vector<float>& b, int columns) {
  Traced result(b.size());
  const auto p = reference_interpolation(problem.fine, problem.gain);
  for (int c = 0; c < columns; ++c) {
    const Traced x = reference_cycle(problem, p, column_of(b, columns, c));
    for (std::size_t i = 0; i < x.values.size(); ++i) {
      result.values[i * at_size(columns) + at_size(c)] = x.values[i];
      result.error[i * at_size(columns) + at_size(c)] = x.error[i];
    }
  }
  return result;
}

void expect_within(const std::vector<float>& found, const double* expected, const double* error,
                   double factor) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_LE(std::abs(found[i] - expected[i]), factor * error[i])
        << "value " << i << ": " << found[i] << ", expected " << expected[i];
  }
}

/// A problem on a device.
class Cycle {
 public:
  Cycle(Context& context, const CycleProblem& problem, std::vector<std::int32_t> active)
      : context_(context),
        problem_(problem),
        places_(std::move(active)),
        active_(std::make_shared<ActiveSegments>(context, problem.images)),
        matrix_(matrix_of(context, problem.fine, problem.batch())),
        gain_(context, problem.gain),
        inverse_(context, problem.inverse) {
    active_->set(places_);
    context.finish();
  }

  std::vector<float> fused(const std::vector<float>& b, int columns,
                           const BlockCycle::Groups& groups) {
    BlockCycle cycle(context_, problem_.fine.stencil, groups, active_);
    Guarded<float> in(context_, b);
    Guarded<float> out(context_, b.size());
    cycle.launch({matrix_, *gain_, *inverse_, kSmoother, kFactor}, *in, *out, columns);
    return out.values();
  }

  std::vector<float> one_by_one(const std::vector<float>& b, int columns) {
    BlockProduct product(context_, problem_.fine.stencil, columns, MatrixForm::kDia, active_);
    BlockTransfer transfer(context_, problem_.fine.stencil, columns, MatrixForm::kDia, active_);
    DenseProduct dense(context_, columns, active_);
    const std::size_t coarse = at_size(problem_.images) * problem_.coarse_rows;
    Guarded<float> in(context_, b);
    Guarded<float> x(context_, std::vector<float>(b.size()));
    Guarded<float> t(context_, std::vector<float>(b.size()));
    Guarded<float> rest(context_, std::vector<float>(coarse * at_size(columns)));
    Guarded<float> solved(context_, std::vector<float>(coarse * at_size(columns)));
    const auto smooth = [&](float weight) {
      product.launch(matrix_, *x, *in, *t, weight, 1 - weight, weight, columns);
      std::swap(x, t);
    };
    for (const float weight : kSmoother) smooth(weight);
    product.launch(matrix_, *x, *in, *t, 1, -1, 1, columns);
    transfer.restrict_to(matrix_, *gain_, *t, kFactor, *rest, columns);
    dense.launch(*inverse_, problem_.coarse_rows, *rest, *solved, columns);
    transfer.prolong(matrix_, *gain_, *solved, true, *x, columns);
    for (const float weight : kSmoother) smooth(weight);
    return x.values();
  }

 private:
  Context& context_;
  const CycleProblem& problem_;
  std::vector<std::int32_t> places_;
  std::shared_ptr<ActiveSegments> active_;
  NormalizedMatrix matrix_;
  Guarded<float> gain_;
  Guarded<float> inverse_;
};

class BlockCycleTest : public ::testing::Test {
 protected:
  Context context_{test_device()};

  /// `b` with NaN between the images, which must not be read.
  static std::vector<float> with_nothing_between(const CycleProblem& problem, std::vector<float> b,
                                                 int columns, float nothing = NAN) {
    for (std::size_t at = 0; at < b.size(); ++at) {
      const std::size_t row = at / at_size(columns) % problem.segment_rows();
      if (row >= problem.image_rows()) b[at] = nothing;
    }
    return b;
  }

  /// One launch against plain loops, of one image or of those of three but the middle one; and
  /// against the launches that it stands for, unless it is `only` one.
  void check(int width, int height, int padding, int images, int columns,
             const BlockCycle::Groups& groups, bool only = false) {
    SCOPED_TRACE(::testing::Message()
                 << images << " of " << width << "x" << height << ", " << columns << " columns in "
                 << groups.columns << ", " << groups.items << " items");
    const CycleProblem problem(width, height, padding, images, 6 + height % 2, ++seed_);
    const auto wide = at_size(columns);
    const std::vector<float> b =
        with_nothing_between(problem, random_values(problem.fine.rows() * wide, ++seed_), columns);
    const std::vector<std::int32_t> active =
        images == 1 ? std::vector<std::int32_t>{0} : std::vector<std::int32_t>{0, 2};
    Cycle cycle(context_, problem, active);
    const std::vector<float> found = cycle.fused(b, columns, groups);
    const std::vector<float> zeros = with_nothing_between(problem, b, columns, 0);
    const Traced expected = reference_cycle(problem, zeros, columns);
    // The other kernels know no narrower blocks.
    const bool both = !only && columns % block_vector(context_.info(), columns) == 0;
    const std::vector<float> unfused =
        both ? cycle.one_by_one(zeros, columns) : std::vector<float>();
    const std::size_t each = problem.segment_rows() * wide;
    const std::size_t count = problem.image_rows() * wide;
    for (int image = 0; image < images; ++image) {
      const std::size_t first = at_size(image) * each;
      if (std::find(active.begin(), active.end(), image) == active.end()) {
        for (std::size_t at = first; at < first + each; ++at) ASSERT_TRUE(std::isnan(found[at]));
        continue;
      }
      const std::vector<float> own = part(found, first, count);
      expect_within(own, expected.values.data() + first, expected.error.data() + first, 1);
      if (both) {
        const std::vector<double> other(unfused.begin(), unfused.end());
        expect_within(own, other.data() + first, expected.error.data() + first, 2);
      }
      for (std::size_t at = first + count; at < first + each; ++at) ASSERT_EQ(found[at], 0.0F);
    }
  }

 private:
  unsigned seed_ = 0;
};

using TinyBlockCycle = BlockCycleTest;

TEST_F(TinyBlockCycle, AgreesWithPlainLoops) {
  check(3, 5, 2, 1, 4, {2, 64}, true);
  check(4, 3, 0, 3, 4, {4, 64}, true);
}

TEST_F(BlockCycleTest, OneImageAgreesWithPlainLoops) {
  for (const int columns : {4, 8, 24}) {
    check(1, 1, 0, 1, columns, {});
    check(1, 7, 0, 1, columns, {});
    check(7, 1, 1, 1, columns, {});
    check(2, 2, 0, 1, columns, {});
    check(13, 5, 3, 1, columns, {});
    check(31, 21, 0, 1, columns, {});
  }
}

TEST_F(BlockCycleTest, AsLargeAnImageAsThereMayBeAgreesWithPlainLoops) {
  check(32, 32, 0, 1, 4, {2, 256});
  check(127, 8, 1, 1, 4, {1, 256});
  check(5, 204, 0, 1, 4, {1, 1024});
}

TEST_F(BlockCycleTest, ImagesOfABatchAgreeWithPlainLoops) {
  for (const int columns : {4, 8, 24}) {
    check(1, 7, 0, 3, columns, {});
    check(13, 5, 3, 3, columns, {});
    check(31, 21, 0, 3, columns, {});
  }
}

TEST_F(BlockCycleTest, AnImageHasTheSameResultAloneAndInAnyGroups) {
  constexpr int kColumns = 24;
  for (const auto& [width, height] : {std::pair(31, 21), std::pair(14, 17)}) {
    const CycleProblem problem(width, height, 0, 3, 7, 90);
    const std::size_t each = problem.segment_rows() * kColumns;
    const std::size_t count = problem.image_rows() * kColumns;
    const std::vector<float> b =
        with_nothing_between(problem, random_values(3 * each, 91), kColumns);
    const std::vector<float> all = Cycle(context_, problem, {0, 1, 2}).fused(b, kColumns, {});
    const std::vector<float> last = Cycle(context_, problem, {2}).fused(b, kColumns, {});
    EXPECT_EQ(part(last, 2 * each, count), part(all, 2 * each, count));
    for (int image = 0; image < 3; ++image) {
      SCOPED_TRACE(image);
      const std::size_t first = at_size(image) * each;
      const std::vector<float> expected = part(all, first, count);
      const CycleProblem one = problem.alone(image);
      Cycle alone(context_, one, {0});
      for (const int columns : {1, 2, 4}) {
        EXPECT_EQ(alone.fused(part(b, first, count), kColumns, {columns}), expected);
      }
      // Eight columns of them, by themselves.
      std::vector<float> narrow;
      std::vector<float> narrow_expected;
      for (std::size_t row = 0; row < problem.image_rows(); ++row) {
        for (std::size_t c = 5; c < 13; ++c) {
          narrow.push_back(b[first + row * kColumns + c]);
          narrow_expected.push_back(expected[row * kColumns + c]);
        }
      }
      EXPECT_EQ(alone.fused(narrow, 8, {}), narrow_expected);
    }
  }
}

TEST(BlockCycle, FitsBySizeOfOneImage) {
  DeviceInfo device;
  device.local_memory = 48 << 10;
  device.max_work_group = 1024;
  const auto fits = [&](const Batch& batch, int columns) {
    return BlockCycle::fits(device, batch, kRadius, {columns, BlockCycle::kMostRows});
  };
  for (const int columns : {1, 2, 4}) {
    EXPECT_TRUE(fits(Batch({31, 21, 31}), columns));
    EXPECT_TRUE(fits(Batch({32, 32, 32}), columns));
    EXPECT_TRUE(fits({{32, 32, 32}, 50, 64}, columns));  // Other images' rows do not count.
    EXPECT_FALSE(fits(Batch({33, 32, 33}), columns));
    EXPECT_FALSE(fits(Batch({32, 33, 32}), columns));
    EXPECT_FALSE(fits(Batch({1, 1, 1025}), columns));
  }
  // 5 rows of zeros at either end: 11 * 512 + 10, 1024 and 256 vectors.
  EXPECT_FALSE(fits(Batch({512, 1, 512}), 2));
  EXPECT_TRUE(fits(Batch({512, 1, 512}), 1));
  device.max_work_group = 128;
  EXPECT_TRUE(fits(Batch({31, 21, 31}), 2));
  device.max_work_group = 127;
  EXPECT_FALSE(fits(Batch({31, 21, 31}), 2));
}

}  // namespace
}  // namespace diacut
