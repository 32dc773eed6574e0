// Boundary maps by networks as a whole: against plain loops in double, and against OpenCV's dnn
// module.
#include "boundary/network/network_boundary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <opencv2/imgproc.hpp>

#include "boundary/boundary.hpp"
#include "boundary/network/reference_network.hpp"
#include "dnn_network.hpp"
#include "drawn_image.hpp"
#include "network_boundary_map.hpp"
#include "network_file.hpp"
#include "turned_picture.hpp"

namespace diacut::testing {
namespace {

double largest_difference(const std::vector<float>& a, const auto& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max<double>(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

/// The mean over the scales of a network's maps of the picture, resized and mirrored beyond its
/// edges, in double.
std::vector<double> reference_map(const Network& network, const Image& image,
                                  const BoundaryParameters& parameters) {
  cv::Mat mean = cv::Mat::zeros(image.height, image.width, CV_64F);
  const int border = parameters.border;
  for (const double scale : parameters.scales) {
    const cv::Size inner(scaled_side(image.width, scale), scaled_side(image.height, scale));
    const cv::Size size(inner.width + 2 * border, inner.height + 2 * border);
    std::vector<double> seen =
        reference_network(network, reference_picture(image, inner.width, inner.height, border),
                          size.width, size.height)[network.output()]
            .values;
    cv::Mat map(size, CV_64F, seen.data());
    cv::resize(map(cv::Rect({border, border}, inner)), map, mean.size(), 0, 0, cv::INTER_LINEAR);
    mean += map / static_cast<double>(parameters.scales.size());
  }
  return {mean.begin<double>(), mean.end<double>()};
}

TEST_F(NetworkBoundaryMap, MatchesTheReferenceAndDnn) {
  const NetworkFile files[] = {small_network(1), small_network(2, false), strided_network(1)};
  for (std::size_t k = 0; k < std::size(files); ++k) {
    const std::shared_ptr<const Network> network = use(files[k]);
    // Smaller images than what a pixel sees are among the sizes.
    ASSERT_GT(network->reach(), 20);
    DnnNetwork dnn(*network);
    int compared = 0;
    for (const auto& [width, height] : kSizes) {
      for (const int channels : {1, 3}) {
        SCOPED_TRACE(::testing::Message()
                     << "network " << k << ", " << width << "x" << height << "x" << channels);
        const Image image = noise_image(width, height, channels, 5);
        const std::vector<float> found = values_of(image);
        expect_near(found, reference_map(*network, image, parameters_), kRoundings);
        // OpenCV 4.6 refuses to pool a side of one pixel, and 4.10 alone is off by 1.5e-4 where one
        // side, but not the other, is a single pixel.
        if (std::min(width, height) > 2) {
          const std::vector<float> planes = reference_picture(image, width, height);
          expect_near(found, dnn.run(planes, width, height), kRoundings);
          ++compared;
        }
        if (width * height > 100) {
          // A network that ignored the image would match itself.
          const auto [least, greatest] = std::minmax_element(found.begin(), found.end());
          EXPECT_GT(*greatest - *least, 0.05f);
        }
      }
    }
    EXPECT_EQ(compared, 8);
  }
}

class NetworkBoundaryTiles : public NetworkBoundaryMap,
                             public ::testing::WithParamInterface<bool> {};

INSTANTIATE_TEST_SUITE_P(PlainAndStrided, NetworkBoundaryTiles, ::testing::Bool());

TEST_P(NetworkBoundaryTiles, DoNotChangeTheResult) {
  const std::shared_ptr<const Network> network =
      use(GetParam() ? strided_network(3) : small_network(3));
  for (const auto& [width, height] :
       {std::pair(500, 410), std::pair(129, 64), std::pair(65, 333)}) {
    SCOPED_TRACE(::testing::Message() << width << "x" << height);
    const Image image = noise_image(width, height, 3, 9);
    parameters_.tile = 1024;
    context_.reset_memory_peak();
    const std::vector<float> whole = values_of(image);
    const std::uint64_t peak = context_.memory_peak();
    parameters_.tile = 64;
    context_.reset_memory_peak();
    const std::vector<float> tiled = values_of(image);
    expect_near(tiled, whole, 1e-6);
    if (width == 500) {
      EXPECT_LT(context_.memory_peak(), peak);
    }
  }
}

/// Cubic convolution weighs pixels by polynomials whose terms reach 15, two such weights on each of
/// two axes: some 80 roundings of 6e-8, times 4 in the tensor, divided by 4 in the logistic
/// function.
constexpr double kResizing = 5e-6;

TEST_F(NetworkBoundaryMap, ScalesAndBordersMatchTheReference) {
  context_.guard_allocations();
  const std::shared_ptr<const Network> network = use(small_network(4));
  for (const auto& [width, height] : kSizes) {
    for (const int channels : {1, 3}) {
      const Image image = noise_image(width, height, channels, 3);
      for (const std::vector<double>& scales :
           {std::vector<double>{0.5}, {0.37}, {1.8}, {0.5, 1.0, 1.5}}) {
        for (const int border : {0, 1, 8, 40}) {
          if (border > 8 && width > 64) continue;
          SCOPED_TRACE(::testing::Message() << width << "x" << height << "x" << channels << " from "
                                            << scales.front() << " on, border " << border);
          parameters_.scales = scales;
          parameters_.border = border;
          expect_near(values_of(image), reference_map(*network, image, parameters_),
                      kRoundings + kResizing);
        }
      }
    }
  }
  EXPECT_FALSE(context_.overrun());
}

TEST_F(NetworkBoundaryMap, TurnsCommuteWithTurnsOfTheImage) {
  use(small_network(10));
  parameters_.scales = {0.5, 1.0};
  parameters_.border = 5;
  for (const auto& [width, height] : {std::pair(61, 43), std::pair(33, 70), std::pair(17, 17)}) {
    Image image = noise_image(width, height, 3, 7);
    const cv::Mat picture(height, width, CV_32FC3, image.pixels.data());
    for (const auto& [turns, pose] :
         {std::pair(1, NetworkPose::kGiven), std::pair(2, NetworkPose::kGiven),
          std::pair(4, NetworkPose::kGiven), std::pair(8, NetworkPose::kGiven),
          std::pair(1, NetworkPose::kCanonical), std::pair(4, NetworkPose::kCanonical)}) {
      parameters_.turns = turns;
      parameters_.pose = pose;
      std::vector<float> upright = values_of(image);
      const cv::Mat map(height, width, CV_32F, upright.data());
      for (const int rotation : {-1, 0, 1, 2}) {
        for (const bool mirrored : {false, true}) {
          SCOPED_TRACE(::testing::Message()
                       << width << "x" << height << ", " << turns << " turns, "
                       << (pose == NetworkPose::kGiven ? "given, " : "canonical, ") << rotation
                       << (mirrored ? " mirrored" : ""));
          const cv::Mat expected = turned(map, rotation, mirrored);
          const std::vector<float> wanted(expected.ptr<float>(),
                                          expected.ptr<float>() + expected.total());
          const std::vector<float> found = values_of(image_of(turned(picture, rotation, mirrored)));
          // Mirrored left to right alone, or turned alone.
          const bool exact = pose == NetworkPose::kCanonical || turns == 8 ||
                             (turns == 4 && !mirrored) || (turns == 2 && rotation < 0) ||
                             (rotation < 0 && !mirrored);
          if (exact) {
            expect_near(found, wanted, kRoundings);
          } else {
            EXPECT_GT(largest_difference(found, wanted), 100 * kRoundings);
          }
        }
      }
    }
  }
}

TEST_F(NetworkBoundaryMap, TurnsAreAveraged) {
  use(small_network(4));
  Image image = noise_image(50, 31, 3, 3);
  const cv::Mat picture(31, 50, CV_32FC3, image.pixels.data());
  cv::Mat mean = cv::Mat::zeros(31, 50, CV_32F);
  parameters_.pose = NetworkPose::kGiven;
  for (const bool mirrored : {false, true}) {
    std::vector<float> one = values_of(image_of(turned(picture, -1, mirrored)));
    const cv::Mat map(31, 50, CV_32F, one.data());
    mean += 0.5f * turned(map, -1, mirrored);
  }
  parameters_.turns = 2;
  expect_near(values_of(image), std::vector<float>(mean.ptr<float>(), mean.ptr<float>() + 50 * 31),
              1e-6);
}

TEST_F(NetworkBoundaryMap, NetworksAreAveraged) {
  const std::string first = folder_ / "first.safetensors";
  const std::string second = folder_ / "second.safetensors";
  small_network(4).write(first);
  small_network(11).write(second);
  const Image image = noise_image(61, 43, 3, 3);
  parameters_.scales = {0.5, 1.0};
  std::vector<double> mean(image.pixel_count(), 0.0);
  std::vector<float> each;
  for (const std::string& file : {first, second}) {
    parameters_.weights = file;
    each = values_of(image);
    for (std::size_t i = 0; i < each.size(); ++i) mean[i] += each[i] / 2.0;
  }
  EXPECT_GT(largest_difference(each, mean), 0.01);  // Either alone would be no mean.
  parameters_.weights = first + "," + second;
  expect_near(values_of(image), mean, 1e-6);

  // What is planned is for each in its turn, not for both.
  const Grid grid{image.width, image.height};
  const std::uint64_t planned =
      network_map_memory(grid, 1, load_networks(parameters_.weights), parameters_).total;
  DeviceNetworks networks;
  boundary_map(context_, image, grid, parameters_, networks);
  networks.tensors().clear();
  const std::uint64_t weights = context_.memory_in_use();
  // The next image of the size finds the tensors there.
  for (int i = 0; i < 2; ++i) {
    context_.reset_memory_peak();
    boundary_map(context_, image, grid, parameters_, networks);
    EXPECT_EQ(context_.memory_peak(), weights + planned + grid.rows());  // And the mask.
  }
  EXPECT_GT(context_.memory_in_use(), weights);
}

TEST_F(NetworkBoundaryMap, HugeSumsAreStrengthsToo) {
  NetworkFile file(1, false);
  file.conv("sum", "image", 3, 1, {.kernel = 1, .relu = false});
  file.sigmoid("sum");
  const float weights[] = {100, 100, 100};
  std::memcpy(file.data().data(), weights, sizeof weights);
  use(file);
  Image image = grey_image(9, 6);
  std::vector<float> expected(54, 0.0F);
  image.pixels[40] = expected[40] = 1;
  EXPECT_EQ(values_of(image), expected);
}

TEST_F(NetworkBoundaryMap, WithoutDataThereIsNoBoundary) {
  use(small_network(6));
  Image image = noise_image(37, 25, 3, 2);
  for (std::size_t i = 0; i < image.pixel_count(); i += 3) mask_out(image, i);
  const std::vector<float> found = values_of(image);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (image.valid[i] == 0) {
      ASSERT_EQ(found[i], 0.0f);
    } else {
      ASSERT_GT(found[i], 0.0f);
    }
  }
  for (std::size_t i = 0; i < image.pixel_count(); ++i) mask_out(image, i);
  for (const float value : values_of(image)) EXPECT_EQ(value, 0.0f);
}

TEST_F(NetworkBoundaryMap, AMaskMakesNoBoundary) {
  use(small_network(7));
  // Two flat halves, and holes within each: the nearest pixel has the colour that is missing.
  Image image = noise_image(60, 40, 3, 1);
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = (i / 3) % 60 < 30 ? 0.2f : 0.7f;
  }
  const std::vector<float> whole = values_of(image);
  for (int y = 10; y < 30; ++y) {
    for (const int x : {0, 1, 8, 9, 10, 27, 33, 50, 59}) {
      mask_out(image, static_cast<std::size_t>(y * 60 + x));
    }
  }
  const std::vector<float> found = values_of(image);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i], image.valid[i] == 0 ? 0.0f : whole[i]) << i % 60 << ", " << i / 60;
  }
}

TEST_F(NetworkBoundaryMap, ImagesTogetherHaveTheBitsOfEachAlone) {
  constexpr Grid kGrid{70, 51};
  std::vector<Image> images;
  for (unsigned seed = 1; seed <= 7; ++seed) {
    images.push_back(noise_image(kGrid.width, kGrid.height, seed % 3 == 0 ? 1 : 3, seed));
  }
  for (std::size_t i = 0; i < images[1].pixel_count(); i += 3) mask_out(images[1], i);
  for (std::size_t i = 0; i < images[4].pixel_count(); ++i) mask_out(images[4], i);
  std::vector<BoundaryInput> inputs;
  for (const Image& image : images) inputs.push_back({image});
  NetworkFile file = strided_network(1);
  file.graph()["embedding"] = "d3";
  use(file);
  parameters_.scales = {1.0, 0.5};
  parameters_.border = 4;
  for (const DeviceKind kind : {DeviceKind::kCpu, DeviceKind::kGpu}) {
    for (const NetworkPose pose : {NetworkPose::kGiven, NetworkPose::kCanonical}) {
      for (const int tile : {1024, 16}) {
        SCOPED_TRACE(::testing::Message() << tile << (pose == NetworkPose::kGiven ? " given" : ""));
        parameters_.pose = pose;
        parameters_.tile = tile;
        Context context(test_device());
        context.treat_as(kind);
        DeviceNetworks networks;
        const auto together = boundary_maps(context, inputs, kGrid, parameters_, networks, true);
        for (std::size_t k = 0; k < images.size(); ++k) {
          const DeviceBoundary alone =
              boundary_map(context, images[k], kGrid, parameters_, networks, true);
          ASSERT_EQ(together[k].values.download(), alone.values.download()) << k;
          EXPECT_EQ(together[k].embedding.download().values, alone.embedding.download().values);
        }
        EXPECT_NE(together[0].values.download(), together[3].values.download());
      }
    }
  }
}

TEST_F(NetworkBoundaryMap, KeepsItsNetworksForTheNextImage) {
  const std::string first = folder_ / "first.safetensors";
  const std::string second = folder_ / "second.safetensors";
  small_network(4).write(first);
  small_network(11, true).write(second);
  const Image image = noise_image(41, 33, 3, 5);
  const Image other = noise_image(97, 20, 1, 6);
  DeviceNetworks networks;
  const auto kept = [&](const Image& seen) {
    return boundary_map(context_, seen, {seen.width, seen.height}, parameters_, networks)
        .values.download();
  };
  for (const std::string& names : {first, first + "," + second, second}) {
    SCOPED_TRACE(names);
    parameters_.weights = names;
    Context apart{test_device()};
    DeviceNetworks alone;
    alone.get(apart, names);
    const std::uint64_t weights = apart.memory_in_use();
    std::uint64_t most = 0;
    for (const auto& network : load_networks(names)) most += DeviceNetwork::memory(*network);
    EXPECT_LE(weights, most);
    EXPECT_GT(weights, most / 3);
    for (const Image* seen : {&image, &other, &image}) {
      const std::vector<float> expected = values_of(*seen);
      EXPECT_EQ(kept(*seen), expected);
      // In the tensors of the last image of this size.
      const std::uint64_t held = context_.memory_in_use();
      EXPECT_GT(held, weights);
      EXPECT_EQ(kept(*seen), expected);
      EXPECT_EQ(context_.memory_in_use(), held);
      networks.tensors().clear();
      // The weights of these networks and nothing else, once.
      EXPECT_EQ(context_.memory_in_use(), weights);
    }
  }
  // They are read no more.
  std::filesystem::remove(second);
  EXPECT_FALSE(kept(image).empty());
  networks.clear();
  EXPECT_EQ(context_.memory_in_use(), 0u);
}

// Small enough for a simulated device that watches every access: by the kernels for both kinds.
class TinyNetworkBoundaryMap : public NetworkBoundaryMap {
 protected:
  void expect_reference(DeviceKind kind) {
    context_.treat_as(kind);
    context_.guard_allocations();
    const Image image = noise_image(7, 5, 3, 1);
    parameters_.border = 2;
    parameters_.scales = {1.0, 0.5, 1.3};
    for (const NetworkFile& file : {strided_network(1), small_network(1)}) {
      const std::shared_ptr<const Network> network = use(file);
      expect_near(values_of(image), reference_map(*network, image, parameters_), kRoundings);
    }
    parameters_.scales = {1.0};
    parameters_.turns = 8;
    EXPECT_FALSE(values_of(image).empty());
    EXPECT_FALSE(context_.overrun());
  }
};
class TinyNetworkOnCpus : public TinyNetworkBoundaryMap {};

TEST_F(TinyNetworkBoundaryMap, MatchesTheReference) { expect_reference(DeviceKind::kGpu); }

TEST_F(TinyNetworkOnCpus, MatchesTheReference) { expect_reference(DeviceKind::kCpu); }

}  // namespace
}  // namespace diacut::testing
