// Embeddings of pictures by networks that name one, against plain loops in double.
#include <gtest/gtest.h>

#include "boundary/network/reference_network.hpp"
#include "drawn_image.hpp"
#include "network_boundary_map.hpp"

namespace diacut::testing {
namespace {

class NetworkEmbedding : public NetworkBoundaryMap {
 protected:
  std::shared_ptr<const Network> use_with(NetworkFile file, const std::string& tensor) {
    file.graph()["embedding"] = tensor;
    return use(file);
  }

  Embedding embedding_of(const Image& image, std::vector<float>* boundary = nullptr) {
    DeviceNetworks networks;
    const Grid grid{image.width, image.height};
    const DeviceBoundary map = boundary_map(context_, image, grid, parameters_, networks, true);
    if (boundary != nullptr) *boundary = map.values.download();
    return map.embedding.download();
  }
};

/// In units of Embedding::values: that of rounding, and of the network's own roundings.
constexpr double kRounded = 0.5 + 1e-4 / kEmbeddingUnit;

TEST_F(NetworkEmbedding, MatchesTheReferenceAndLeavesTheBoundaryAsItIs) {
  for (const auto& [file, tensor] :
       {std::pair(small_network(1), "c2"), std::pair(small_network(2), "b1"),
        std::pair(strided_network(1), "d3")}) {
    const std::shared_ptr<const Network> network = use_with(file, tensor);
    const NetworkTensor& described = network->tensors[network->embedding];
    for (const auto& [width, height] : kSizes) {
      SCOPED_TRACE(::testing::Message() << tensor << " " << width << "x" << height);
      const Image image = noise_image(width, height, 3, 5);
      std::vector<float> boundary;
      const Embedding found = embedding_of(image, &boundary);
      EXPECT_EQ(boundary, values_of(image));
      const int columns = network_side(width, described.level);
      const int rows = network_side(height, described.level);
      ASSERT_EQ(found.channels, described.channels);
      ASSERT_EQ(found.columns, columns);
      const std::vector<double> wanted =
          reference_network(*network, reference_picture(image, width, height), width,
                            height)[network->embedding]
              .values;
      ASSERT_EQ(found.values.size(), wanted.size());
      for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
          const int cell = (y >> described.level) * columns + (x >> described.level);
          for (int c = 0; c < found.channels; ++c) {
            ASSERT_NEAR(found.at(static_cast<std::size_t>(x), static_cast<std::size_t>(y))[c],
                        wanted[c * rows * columns + cell] / kEmbeddingUnit, kRounded);
          }
        }
      }
    }
  }
}

TEST_F(NetworkEmbedding, IsOfTheScaleNearestToOneWithItsBorder) {
  use_with(small_network(3), "c2");
  const Image image = noise_image(90, 60, 3, 4);
  parameters_.border = 12;
  parameters_.turns = 8;
  const Embedding whole = embedding_of(image);
  parameters_.scales = {0.5, 1.0, 1.5};
  const Embedding of_scales = embedding_of(image);
  EXPECT_EQ(of_scales.values, whole.values);
  EXPECT_EQ(of_scales.column_of, whole.column_of);
  EXPECT_EQ(whole.columns, (90 + 24 + 3) / 4);
  EXPECT_EQ(whole.column_of.front(), 3);
  EXPECT_EQ(whole.column_of.back(), (89 + 12) / 4);
  EXPECT_EQ(whole.row_of.back(), (59 + 12) / 4);
  parameters_.scales = {0.5};
  const Embedding half = embedding_of(image);
  EXPECT_EQ(half.columns, (45 + 24 + 3) / 4);
  EXPECT_EQ(half.column_of.back(), (44 + 12) / 4);
}

TEST_F(NetworkEmbedding, TilesDoNotChangeIt) {
  use_with(strided_network(3), "d3");
  const Image image = noise_image(300, 210, 3, 9);
  parameters_.tile = 1024;
  const Embedding whole = embedding_of(image);
  parameters_.tile = 64;
  const Embedding tiled = embedding_of(image);
  ASSERT_EQ(tiled.values.size(), whole.values.size());
  for (std::size_t i = 0; i < whole.values.size(); ++i) {
    ASSERT_NEAR(tiled.values[i], whole.values[i], 1);
  }
}

TEST_F(NetworkEmbedding, IsThereWhereANetworkHasItAndSeesThePictureAsItIs) {
  const Image image = noise_image(40, 30, 3, 1);
  use(small_network(4));
  EXPECT_FALSE(gives_embedding(parameters_));
  EXPECT_FALSE(embedding_of(image));
  const std::string without = folder_ / "without.safetensors";
  small_network(4).write(without);
  use_with(small_network(5), "c2");
  EXPECT_TRUE(gives_embedding(parameters_));
  const Embedding alone = embedding_of(image);
  ASSERT_TRUE(alone);
  parameters_.weights = without + "," + parameters_.weights;
  EXPECT_TRUE(gives_embedding(parameters_));
  EXPECT_EQ(embedding_of(image).values, alone.values);
  parameters_.pose = NetworkPose::kCanonical;
  EXPECT_FALSE(gives_embedding(parameters_));
  EXPECT_FALSE(embedding_of(image));
}

}  // namespace
}  // namespace diacut::testing
