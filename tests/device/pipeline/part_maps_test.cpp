// Parts of a picture that several threads ask of one device.
#include "pipeline/part_maps.hpp"

#include <gtest/gtest.h>

#include <future>
#include <vector>

#include "drawn_image.hpp"
#include "support.hpp"

namespace diacut::testing {
namespace {

TEST(SharedPartMaps, SeveralThreadsGetWhatOneGets) {
  Parameters parameters;
  parameters.boundary.kind = BoundaryKind::kGradient;
  PartMaps maps(parameters, test_device(), "");
  struct Asked {
    Image image;
    PartMap map;
    Contours contours;
  };
  const auto ask = [&](const Image& image) {
    const Grid grid{image.width, image.height};
    PartMap map = maps.map(image, grid, whole_picture(grid));
    Contours contours = maps.contours(map.values, image.width, image.height, 0.5F);
    return Asked{image, std::move(map), std::move(contours)};
  };
  std::vector<Asked> alone;
  for (const int width : {64, 81, 120, 203}) alone.push_back(ask(patches_image(width, 90, 3, 5)));
  std::vector<std::future<void>> threads;
  for (const Asked& expected : alone) {
    threads.push_back(std::async(std::launch::async, [&] {
      for (int round = 0; round < 10; ++round) {
        const Asked found = ask(expected.image);
        EXPECT_TRUE(found.map.values == expected.map.values);
        EXPECT_TRUE(found.contours.strength == expected.contours.strength);
        EXPECT_TRUE(found.contours.orientation == expected.contours.orientation);
      }
    }));
  }
  for (std::future<void>& thread : threads) thread.get();
}

}  // namespace
}  // namespace diacut::testing
