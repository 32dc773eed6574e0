// The next Ritz vectors and directions against plain loops in double.
#include "eigen/lobpcg/basis_update.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "block_problem.hpp"
#include "block_test.hpp"
#include "guarded.hpp"

namespace diacut {
namespace {

using testing::at_size;
using testing::BlockTest;
using testing::expect_near;
using testing::Guarded;
using testing::random_values;

class BasisUpdateTest : public BlockTest {};

TEST_F(BasisUpdateTest, AgreesWithPlainLoops) {
  for (const auto& [columns, wanted] :
       {std::pair(8, 8), std::pair(24, 24), std::pair(24, 3), std::pair(128, 128)}) {
    for (const std::size_t rows : {1U, 15U, 17U, 200U}) {
      const auto wide = at_size(columns);
      Workspace workspace(context_, columns, rows);
      BasisUpdate update(workspace);
      const auto width = at_size(workspace.narrow_columns(wanted));
      SCOPED_TRACE(::testing::Message()
                   << columns << " and " << width << " columns, " << rows << " rows");
      // Every other column, as long as there is room for another one.
      std::vector<std::int32_t> places(wide + 1, -1);
      std::int32_t kept = 0;
      for (std::size_t c = 1; c < wide && kept + 1 < static_cast<std::int32_t>(width); c += 2) {
        places[c] = kept++;
      }
      places[wide] = kept;
      for (int used = 1; used <= 3; ++used) {
        const std::vector<float> x = random_values(rows * wide, 1);
        const std::vector<float> w = random_values(rows * width, 2);
        std::vector<float> p = random_values(rows * width, 3);
        if (used < 3) std::fill(p.begin(), p.end(), NAN);
        const std::vector<float> q = random_values((wide + at_size(used - 1) * width) * wide, 4);
        Guarded<float> x_block(context_, x);
        Guarded<float> w_block(context_, w);
        Guarded<float> p_block(context_, p);
        Guarded<float> out(context_, rows * width);
        const Rotation rotation =
            upload_rotation(workspace, std::vector<float>(wide, NAN), places, q);
        update.apply(rotation, *x_block, used > 1 ? &*w_block : nullptr,
                     used > 2 ? &*p_block : nullptr, static_cast<int>(width), {rows, rows}, *out);
        std::vector<double> direction(rows * width, 0.0);
        std::vector<double> direction_magnitude(rows * width, 0.0);
        std::vector<double> sum(rows * wide, 0.0);
        std::vector<double> sum_magnitude(rows * wide, 0.0);
        for (std::size_t row = 0; row < rows; ++row) {
          for (std::size_t to = 0; to < wide; ++to) {
            const std::size_t at = row * wide + to;
            for (int b = 0; b < used; ++b) {
              const std::vector<float>& from = b == 0 ? x : b == 1 ? w : p;
              const std::size_t own = b == 0 ? wide : width;
              const std::size_t before = b == 0 ? 0 : wide + at_size(b - 1) * width;
              for (std::size_t c = 0; c < own; ++c) {
                const double term =
                    static_cast<double>(from[row * own + c]) * q[(before + c) * wide + to];
                sum[at] += term;
                sum_magnitude[at] += std::abs(term);
                if (b == 0 || places[to] < 0) continue;
                direction[row * width + at_size(places[to])] += term;
                direction_magnitude[row * width + at_size(places[to])] += std::abs(term);
              }
            }
          }
        }
        expect_near(x_block.values(), sum, sum_magnitude, 3.0 * columns + 2);
        EXPECT_EQ(w_block.values(), w);
        if (used > 1) {
          expect_near(out.values(), direction, direction_magnitude, 3.0 * columns + 2);
        }
      }
    }
  }
}

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
}  // namespace diacut
