// Boundary maps from networks.
#include <algorithm>
#include <memory>
#include <random>

#include "boundary/boundary.hpp"
#include "boundary/network/load_network.hpp"
#include "boundary/network/reference_network.hpp"
#include "doctor/checks.hpp"
#include "pipeline/device_checks.hpp"

namespace diacut {

Image drawn_scene(int width, int height) {
  constexpr int kPatches = 16;
  constexpr int kChannels = 3;
  Image image{width, height, kChannels, {}, {}, {}};
  std::mt19937 random(3);
  std::uniform_real_distribution<float> uniform(0.0F, 1.0F);
  std::vector<float> patches(kPatches * kChannels);
  for (float& patch : patches) patch = uniform(random);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const int patch = (x / 9 + 5 * ((y + x / 3) / 11)) % kPatches;
      for (int c = 0; c < kChannels; ++c) {
        image.pixels.push_back(0.8F * patches[static_cast<std::size_t>(patch * kChannels + c)] +
                               0.2F * uniform(random));
      }
    }
  }
  return image;
}

namespace {

/// Holds an embedding to its planes.
void expect_embedding(Trial& trial, const Embedding& found, const std::vector<double>& planes) {
  const auto channels = static_cast<std::size_t>(found.channels);
  const std::size_t cells = planes.size() / channels;
  std::vector<float> values;
  std::vector<double> expected;
  for (std::size_t i = 0; i < planes.size(); ++i) {
    values.push_back(static_cast<float>(found.values[i] * kEmbeddingUnit));
    expected.push_back(planes[i % channels * cells + i / channels]);
  }
  trial.expect_near("embedding of a network", values, expected, kEmbeddingUnit / 2 + 1e-3);
}

}  // namespace

void check_networks(Trial& trial, DeviceNetworks& networks, const std::string& names,
                    const PictureSize& size) {
  const Image image = drawn_scene(size.width, size.height);
  const Grid grid{image.width, image.height};
  BoundaryParameters parameters;
  parameters.weights = names;
  parameters.scales = {1.0};
  parameters.border = 0;
  const DeviceBoundary map = boundary_map(trial.context(), image, grid, parameters, networks, true);
  std::vector<double> expected(grid.rows(), 0.0);
  const Networks loaded = load_networks(names);
  // Networks see the picture as it is.
  std::vector<float> seen;
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = c; i < image.pixels.size(); i += 3) seen.push_back(image.pixels[i]);
  }
  std::vector<double> embedded;  // By the first network that embeds.
  for (const std::shared_ptr<const Network>& network : loaded) {
    const auto tensors = reference_network(*network, seen, image.width, image.height);
    // The boundary map comes first.
    const std::vector<double>& one = tensors[network->output()].values;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] += one[i] / static_cast<double>(loaded.size());
    }
    if (embedded.empty() && network->embedding >= 0) embedded = tensors[network->embedding].values;
  }
  // Some dozens of sums of up to 1500 products, one after the other, whose roundings grow by little
  // on their way, and the logistic function shrinks what is left by four.
  trial.expect_near("boundary map of a network", map.values.download(), expected, 1e-4);
  if (map.embedding.cells) expect_embedding(trial, map.embedding.download(), embedded);
}

void check_ranges(Trial& trial) {
  constexpr std::size_t kSize = 1000;
  const Buffer<float> good = trial.uploaded(std::vector<float>(kSize, 0.5F));
  std::vector<float> found;
  std::vector<double> expected;
  for (const std::size_t at : {std::size_t{0}, kSize / 3, kSize - 1}) {
    std::vector<float> values(kSize, 0.5F);
    values[at] = 2;
    const Buffer<float> bad = trial.uploaded(values);
    found.push_back(value_out_of_range(trial.context(), {&good}, 0.25, 1));
    found.push_back(value_out_of_range(trial.context(), {&good, &bad}, 0.25, 1));
    expected.insert(expected.end(), {0, 2});
  }
  trial.expect("a value out of range", found, expected, expected, 0);
}

namespace {

/// Kept on the device for this one check.
void check_whole_network(Trial& trial, const std::string& name) {
  DeviceNetworks networks;
  check_networks(trial, networks, name, {48, 36});
}

}  // namespace

std::vector<DeviceCheck> boundary_checks() {
  return {{"the network 'default'", [](Trial& trial) { check_whole_network(trial, "default"); }},
          {"the network 'fast'", [](Trial& trial) { check_whole_network(trial, "fast"); }},
          {"values out of range", check_ranges}};
}

}  // namespace diacut
