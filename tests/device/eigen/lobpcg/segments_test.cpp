// The kernels of LOBPCG on images that share launches, against each image alone.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "eigen/lobpcg/tile_products.hpp"
#include "eigen/lobpcg/workspace.hpp"
#include "guarded.hpp"

namespace diacut::testing {
namespace {

class SegmentsTest : public BlockPrecisionTest {};
INSTANTIATE_TEST_SUITE_P(Precision, SegmentsTest, ::testing::Bool(), precision_name);

TEST_P(SegmentsTest, GiveWhatEachGivesAlone) {
  constexpr int kColumns = 24;
  constexpr std::size_t kSegments = 3;
  constexpr std::size_t kGap = 5;
  unsigned seed = 70;
  for (const std::size_t each : {1U, 17U, 100U, 1301U}) {
    SCOPED_TRACE(each);
    const Segments segments{each, each + kGap};
    const std::size_t count = each * kColumns;
    const std::size_t pitch = segments.pitch * kColumns;
    Workspace together(context_, kColumns, segments.pitch,
                       std::make_shared<const ActiveSegments>(context_, kSegments));
    Workspace alone(context_, kColumns, each);
    TileProducts products_together(together);
    TileProducts products_alone(alone);
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
    const auto grams = products_together.gram_matrices({&*blocks[0], &*blocks[1], &*blocks[2]},
                                                       {&*blocks[3], &*blocks[4], &*blocks[5]},
                                                       kColumns, segments);
    const auto norms =
        ritz_residual_norms(together, *blocks[0], *blocks[3], Uploaded(context_, theta), segments);
    const auto peaks = column_peaks(together, *blocks[0], segments, *blocks[4]);
    std::vector<std::int32_t> places(kColumns + 1, 0);
    std::iota(places.begin(), places.end(), 0);
    std::vector<std::int32_t> all_places;
    for (std::size_t k = 0; k < kSegments; ++k) {
      all_places.insert(all_places.end(), places.begin(), places.end());
    }
    products_together.project(*blocks[0], kColumns, segments, *blocks[1]);
    const std::vector<float> projected = (*blocks[1]).download();
    update_basis(together, upload_rotation(together, theta, all_places, rotation), *blocks[0],
                 &*blocks[1], &*blocks[2], kColumns, segments, *blocks[5]);
    const std::vector<float> combined = (*blocks[0]).download();
    const std::vector<float> directions = (*blocks[5]).download();
    ASSERT_EQ(grams.size(), kSegments);
    for (std::size_t k = 0; k < kSegments; ++k) {
      std::vector<Guarded<float>> own;
      own.reserve(6);
      for (int b = 0; b < 6; ++b) {
        own.emplace_back(context_, part(host[at_size(b)], k * pitch, count));
      }
      const Segments one{each, each};
      const auto gram = products_alone
                            .gram_matrices({&*own[0], &*own[1], &*own[2]},
                                           {&*own[3], &*own[4], &*own[5]}, kColumns, one)
                            .front();
      EXPECT_EQ(grams[k].self, gram.self);
      EXPECT_EQ(grams[k].product, gram.product);
      const auto own_theta = part(theta, k * kColumns, kColumns);
      const auto own_norms =
          ritz_residual_norms(alone, *own[0], *own[3], Uploaded(context_, own_theta), one);
      const auto own_peaks = column_peaks(alone, *own[0], one, *own[4]);
      for (std::size_t c = 0; c < kColumns; ++c) {
        EXPECT_EQ(norms[k * kColumns + c], own_norms[c]);
        EXPECT_EQ(peaks[k * kColumns + c], own_peaks[c]);
      }
      products_alone.project(*own[0], kColumns, one, *own[1]);
      EXPECT_EQ(part(projected, k * pitch, count), own[1].values());
      const auto own_rotation =
          part(rotation, k * 3 * kColumns * kColumns, std::size_t{3} * kColumns * kColumns);
      update_basis(alone, upload_rotation(alone, own_theta, places, own_rotation), *own[0],
                   &*own[1], &*own[2], kColumns, one, *own[5]);
      EXPECT_EQ(part(combined, k * pitch, count), own[0].values());
      EXPECT_EQ(part(directions, k * pitch, count), own[5].values());
    }
  }
}

}  // namespace
}  // namespace diacut::testing
