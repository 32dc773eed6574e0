// The kernels of a Rayleigh-Ritz step on images that share launches.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "eigen/lobpcg/block_ritz.hpp"
#include "guarded.hpp"

namespace diacut {
namespace {

using testing::at_size;
using testing::BlockPrecisionTest;
using testing::BlockTest;
using testing::Guarded;
using testing::kEps;
using testing::precision_name;
using testing::random_values;

class BlockRitzSegmentsTest : public BlockTest {};
class BlockRitzSegmentsPrecisionTest : public BlockPrecisionTest {};
INSTANTIATE_TEST_SUITE_P(Precision, BlockRitzSegmentsPrecisionTest, ::testing::Bool(),
                         precision_name);

TEST_F(BlockRitzSegmentsTest, GatheredColumnsAreThoseAskedFor) {
  constexpr int kColumns = 24;
  constexpr std::size_t kSegments = 3;
  for (const std::size_t each : {1U, 17U, 130U}) {
    SCOPED_TRACE(each);
    const Segments segments{each, each + 5};
    auto active = std::make_shared<ActiveSegments>(context_, static_cast<int>(kSegments));
    BlockRitz kernels(context_, kColumns, segments.pitch, active);
    active->set({0, 2});
    const auto to = at_size(kernels.correction_columns(7));
    const std::vector<float> in = random_values(kSegments * segments.pitch * kColumns, 1);
    std::vector<std::int32_t> columns(2 * to, -1);
    for (std::size_t k = 0; k < 6; ++k) columns[k] = static_cast<std::int32_t>(3 * k + 1);
    columns[to] = 23;
    Guarded<float> block(context_, in);
    Guarded<float> out(context_, kSegments * segments.pitch * to);
    // Those of rest() are others.
    const std::vector<std::int32_t> reversed(columns.rbegin(), columns.rend());
    kernels.choose(reversed, columns);
    kernels.gather(*block, kColumns, static_cast<int>(to), segments, *out);
    const std::vector<float> found = out.values();

    const std::vector<float> theta = random_values(kSegments * kColumns, 2);
    const std::vector<float> x = random_values(in.size(), 3);
    Guarded<float> x_in(context_, x);
    Guarded<float> rest(context_, found.size());
    kernels.step(theta);
    kernels.rest(*x_in, *block, static_cast<int>(to), segments, *rest);
    const std::vector<float> rests = rest.values();
    EXPECT_EQ(block.values(), in);
    EXPECT_EQ(x_in.values(), x);
    for (std::size_t at = 0; at < found.size(); ++at) {
      const std::size_t segment = at / to / segments.pitch;
      const std::size_t row = at / to;
      if (segment == 1) {
        ASSERT_TRUE(std::isnan(found[at]));  // As it was.
        ASSERT_TRUE(std::isnan(rests[at]));
        continue;
      }
      const std::int32_t column = columns[segment / 2 * to + at % to];
      const bool exists = column >= 0 && row % segments.pitch < each;
      ASSERT_EQ(found[at], exists ? in[row * kColumns + at_size(column)] : 0);
      const std::int32_t of_rest = reversed[segment / 2 * to + at % to];
      if (of_rest < 0 || row % segments.pitch >= each) {
        ASSERT_EQ(rests[at], 0);
        continue;
      }
      const std::size_t from = row * kColumns + at_size(of_rest);
      const double part =
          static_cast<double>(theta[segment * kColumns + at_size(of_rest)]) * x[from];
      ASSERT_LE(std::abs(rests[at] - (in[from] - part)),
                2 * kEps * (std::abs(part) + std::abs(in[from])));
    }
  }
}

TEST_F(BlockRitzSegmentsTest, PeaksAreTheFirstOfEquals) {
  constexpr int kColumns = 8;
  constexpr std::size_t kSegments = 2;
  for (const std::size_t each : {1U, 65U, 10007U}) {
    SCOPED_TRACE(each);
    const Segments segments{each, each + 3};
    BlockRitz kernels(context_, kColumns, segments.pitch,
                      std::make_shared<const ActiveSegments>(context_, kSegments));
    // Few values, the largest ones late.
    std::vector<float> x = random_values(kSegments * segments.pitch * kColumns, 17);
    for (std::size_t at = 0; at < x.size(); ++at) {
      const std::size_t row = at / kColumns % segments.pitch;
      x[at] = row < each ? std::round(std::clamp(x[at], -1.0F, 1.0F)) : NAN;
      if (row < each && row >= each / 3 * 2) x[at] *= 2;
    }
    Guarded<float> in(context_, x);
    Guarded<float> spare(context_, x.size());
    const std::vector<float> found = kernels.peaks(*in, segments, *spare);
    ASSERT_EQ(found.size(), kSegments * kColumns);
    for (std::size_t k = 0; k < kSegments; ++k) {
      for (std::size_t c = 0; c < kColumns; ++c) {
        float peak = 0;
        for (std::size_t i = 0; i < each; ++i) {
          const float value = x[(k * segments.pitch + i) * kColumns + c];
          if (std::abs(value) > std::abs(peak)) peak = value;
        }
        EXPECT_EQ(found[k * kColumns + c], peak) << k << ", " << c;
      }
    }
  }
}

TEST_P(BlockRitzSegmentsPrecisionTest, SegmentsAreWorkedOnAsIfEachWereAlone) {
  constexpr int kColumns = 24;
  constexpr std::size_t kSegments = 3;
  constexpr std::size_t kGap = 5;
  unsigned seed = 70;
  for (const std::size_t each : {1U, 17U, 100U, 1301U}) {
    SCOPED_TRACE(each);
    const Segments segments{each, each + kGap};
    const std::size_t count = each * kColumns;
    const std::size_t pitch = segments.pitch * kColumns;
    BlockRitz together(context_, kColumns, segments.pitch,
                       std::make_shared<const ActiveSegments>(context_, kSegments));
    BlockRitz alone(context_, kColumns, each);
    std::vector<std::vector<float>> host;
    std::vector<Guarded<float>> blocks;
    blocks.reserve(6);
    for (int b = 0; b < 6; ++b) {
      host.push_back(random_values(kSegments * pitch, ++seed));
      for (std::size_t at = 0; at < host.back().size(); ++at) {
        if (at % pitch >= count) host.back()[at] = NAN;  // Nobody's business.
      }
      blocks.emplace_back(context_, host.back());
    }
    const auto part = [](const std::vector<float>& whole, std::size_t first, std::size_t size) {
      const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(first);
      return std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(size));
    };
    const std::vector<float> theta = random_values(kSegments * kColumns, ++seed);
    const std::vector<float> rotation = random_values(kSegments * 3 * kColumns * kColumns, ++seed);
    const std::array<Buffer<float>*, 3> s = {&*blocks[0], &*blocks[1], &*blocks[2]};
    const std::array<Buffer<float>*, 3> as = {&*blocks[3], &*blocks[4], &*blocks[5]};
    const auto grams = together.gram(s, as, 3, kColumns, segments);
    together.step(theta);
    const auto norms = together.residual(*s[0], segments, *blocks[3]);
    const auto peaks = together.peaks(*s[0], segments, *blocks[4]);
    std::vector<std::int32_t> places(kColumns + 1, 0);
    std::iota(places.begin(), places.end(), 0);
    std::vector<std::int32_t> all_places;
    for (std::size_t k = 0; k < kSegments; ++k) {
      all_places.insert(all_places.end(), places.begin(), places.end());
    }
    together.project(*s[0], kColumns, segments, *s[1]);
    const std::vector<float> projected = s[1]->download();
    together.step(theta, all_places, rotation);
    together.combine(s, 3, kColumns, segments, *blocks[5]);
    const std::vector<float> combined = (*blocks[0]).download();
    const std::vector<float> directions = (*blocks[5]).download();
    ASSERT_EQ(grams.size(), kSegments);
    for (std::size_t k = 0; k < kSegments; ++k) {
      std::vector<Guarded<float>> own;
      own.reserve(6);
      for (int b = 0; b < 6; ++b) {
        own.emplace_back(context_, part(host[at_size(b)], k * pitch, count));
      }
      const std::array<Buffer<float>*, 3> own_s = {&*own[0], &*own[1], &*own[2]};
      const auto gram =
          alone.gram(own_s, {&*own[3], &*own[4], &*own[5]}, 3, kColumns, {each, each}).front();
      EXPECT_EQ(grams[k].with_self, gram.with_self);
      EXPECT_EQ(grams[k].with_product, gram.with_product);
      const auto own_theta = part(theta, k * kColumns, kColumns);
      alone.step(own_theta);
      const auto own_norms = alone.residual(*own[0], {each, each}, *own[3]);
      const auto own_peaks = alone.peaks(*own[0], {each, each}, *own[4]);
      for (std::size_t c = 0; c < kColumns; ++c) {
        EXPECT_EQ(norms[k * kColumns + c], own_norms[c]);
        EXPECT_EQ(peaks[k * kColumns + c], own_peaks[c]);
      }
      alone.project(*own[0], kColumns, {each, each}, *own[1]);
      EXPECT_EQ(part(projected, k * pitch, count), own[1].values());
      const auto own_rotation =
          part(rotation, k * 3 * kColumns * kColumns, std::size_t{3} * kColumns * kColumns);
      alone.step(own_theta, places, own_rotation);
      alone.combine(own_s, 3, kColumns, {each, each}, *own[5]);
      EXPECT_EQ(part(combined, k * pitch, count), own[0].values());
      EXPECT_EQ(part(directions, k * pitch, count), own[5].values());
    }
  }
}

TEST_F(BlockRitzSegmentsTest, SegmentsHaveMatricesAndFactorsOfTheirOwn) {
  constexpr int kColumns = 8;
  constexpr std::size_t kSegments = 3;
  for (const std::size_t each : {1U, 30U, 77U}) {
    SCOPED_TRACE(each);
    const std::size_t count = each * kColumns;
    BlockRitz kernels(context_, kColumns, each,
                      std::make_shared<const ActiveSegments>(context_, kSegments));
    std::vector<float> matrices = random_values(kSegments * each * each, 1);
    for (std::size_t k = 0; k < kSegments; ++k) {
      float* own = matrices.data() + k * each * each;
      for (std::size_t i = 0; i < each; ++i) {
        for (std::size_t j = 0; j < i; ++j) own[i * each + j] = own[j * each + i];
      }
    }
    const std::vector<float> b = random_values(kSegments * count, 2);
    const std::vector<float> vector = random_values(kSegments * each, 3);
    Guarded<float> m_in(context_, matrices);
    Guarded<float> b_in(context_, b);
    Guarded<float> out(context_, kSegments * count);
    kernels.dense(*m_in, kSegments * each, *b_in, *out, kColumns);
    const std::vector<float> product = out.values();
    kernels.insert(*Guarded<float>(context_, vector), uploaded({5, 6, 1, 2, -3}), 2,
                   kSegments * each, 7, *b_in);
    const std::vector<float> inserted = b_in.values();
    const float factors[] = {1, 2, -3};
    for (std::size_t at = 0; at < product.size(); ++at) {
      const std::size_t k = at / count;
      const std::size_t row = at / kColumns % each;
      const std::size_t c = at % kColumns;
      double expected = 0;
      double magnitude = 0;
      for (std::size_t j = 0; j < each; ++j) {
        const double term = static_cast<double>(matrices[(k * each + row) * each + j]) *
                            b[k * count + j * kColumns + c];
        expected += term;
        magnitude += std::abs(term);
      }
      ASSERT_NEAR(product[at], expected, (static_cast<double>(each) + 2) * kEps * magnitude);
      ASSERT_EQ(inserted[at], c == 7 ? factors[k] * vector[at / kColumns] : b[at]);
    }
    // The middle one alone, its last column turned.
    const std::vector<std::int32_t> wanted = {1, 2, 3, -8, 1, 2, 3, 4, 5, 6, 7, 8,
                                              1, 2, 3, 4,  5, 6, 7, 8, 1, 1, 1, 1};
    kernels.columns_wanted(wanted);
    Guarded<float> basis(context_, 2 * 96);
    kernels.extract(*b_in, each, each, 2, 2, 96, *basis);
    const std::vector<float> found = basis.values();
    for (std::size_t i = 0; i < each; ++i) {
      ASSERT_EQ(found[i], inserted[count + i * kColumns + 2]);
      ASSERT_EQ(found[96 + i], -inserted[count + i * kColumns + 7]);
    }
  }
}

}  // namespace
}  // namespace diacut
