// The next Ritz vectors and directions against plain loops in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "eigen/lobpcg/block_kernels.hpp"
#include "guarded.hpp"

namespace diacut::testing {
namespace {

class BasisUpdateTest : public BlockTest {};

TEST_F(BasisUpdateTest, RotationsOfImagesWithFewerColumnsArePadded) {
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
}

}  // namespace
}  // namespace diacut::testing
