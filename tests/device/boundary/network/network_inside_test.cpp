// Networks of two outputs, a boundary map and the inside of objects: against plain loops in double,
// and against networks of one of the outputs.
#include <gtest/gtest.h>

#include <array>

#include "boundary/network/reference_network.hpp"
#include "drawn_image.hpp"
#include "network_boundary_map.hpp"

namespace diacut::testing {
namespace {

class NetworkInsideMap : public NetworkBoundaryMap {};

TEST_F(NetworkInsideMap, TwoOutputsMatchTheReference) {
  const std::shared_ptr<const Network> network = use(small_network(1, true, 2));
  for (const auto& [width, height] : kSizes) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height);
    const Image image = noise_image(width, height, 3, 5);
    const std::array found = both_of(image);
    const std::vector<double> planes =
        reference_network(*network, reference_picture(image, width, height), width,
                          height)[network->output()]
            .values;
    const auto pixels = static_cast<std::ptrdiff_t>(image.pixel_count());
    const std::vector<double> boundary(planes.begin(), planes.begin() + pixels);
    const std::vector<double> inside(planes.begin() + pixels, planes.end());
    expect_near(found[0], boundary, kRoundings);
    expect_near(found[1], inside, kRoundings);
    if (width * height > 100) {
      EXPECT_NE(found[0], found[1]);
    }
  }
}

TEST_F(NetworkInsideMap, ScalesTurnsTilesAndBordersTreatTheInsideAsTheBoundary) {
  parameters_.scales = {0.5, 1.0, 1.3};
  parameters_.turns = 8;
  parameters_.tile = 64;
  parameters_.border = 7;
  Image image = noise_image(150, 97, 3, 4);
  for (std::size_t i = 0; i < image.pixel_count(); i += 5) mask_out(image, i);
  use(small_network(3, true, 2));
  const std::array found = both_of(image);
  for (const int output : {0, 1}) {
    SCOPED_TRACE(output);
    use(one_output_of_two(3, output));
    expect_near(found[output], values_of(image), 1e-6);
  }
}

TEST_F(NetworkInsideMap, WithoutDataThereIsNoInside) {
  use(small_network(6, true, 2));
  Image image = noise_image(37, 25, 3, 2);
  for (std::size_t i = 0; i < image.pixel_count(); ++i) mask_out(image, i);
  const std::array found = both_of(image);
  EXPECT_EQ(found[1], std::vector<float>(image.pixel_count(), 0.0f));
}

}  // namespace
}  // namespace diacut::testing
