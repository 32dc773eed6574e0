// Boundary maps from networks.
#include <memory>
#include <random>

#include "boundary/boundary.hpp"
#include "boundary/network/load_network.hpp"
#include "boundary/network/reference_network.hpp"
#include "doctor/checks.hpp"

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

void check_networks(Trial& trial, DeviceNetworks& networks, const std::string& names,
                    const PictureSize& size) {
  const Image image = drawn_scene(size.width, size.height);
  const Grid grid{image.width, image.height};
  BoundaryParameters parameters;
  parameters.weights = names;
  parameters.scales = {1.0};
  parameters.border = 0;
  const DeviceBoundary map = boundary_map(trial.context(), image, grid, parameters, networks);
  std::vector<double> expected(grid.rows(), 0.0);
  const Networks loaded = load_networks(names);
  // Networks see the picture as it is.
  std::vector<float> seen;
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::size_t i = c; i < image.pixels.size(); i += 3) seen.push_back(image.pixels[i]);
  }
  for (const std::shared_ptr<const Network>& network : loaded) {
    // The boundary map comes first.
    const std::vector<double> one = reference_network(*network, seen, image.width, image.height);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      expected[i] += one[i] / static_cast<double>(loaded.size());
    }
  }
  // Some dozens of sums of up to 1500 products, one after the other, whose roundings grow by little
  // on their way, and the logistic function shrinks what is left by four.
  trial.expect_near("boundary map of a network", map.values.download(), expected, 1e-4);
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
          {"the network 'fast'", [](Trial& trial) { check_whole_network(trial, "fast"); }}};
}

}  // namespace diacut
