// Boundary maps from networks.
#include <algorithm>
#include <memory>
#include <random>

#include "boundary/boundary.hpp"
#include "boundary/network/load_network.hpp"
#include "boundary/network/picture_kernels.hpp"
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
  const Grid grid{image.width, image.height, image.width};
  CueParameters parameters;
  parameters.weights = names;
  parameters.scales = {1.0};
  parameters.border = 0;
  const BoundaryMap map = boundary_map(trial.context(), image, grid, parameters, networks);
  std::vector<double> expected(grid.pixels(), 0.0);
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

/// No network that is built in has pooling.
void check_pooling(Trial& trial) {
  const NetworkPlanes fine = network_planes(12, 8, 1);
  const NetworkPlanes coarse = network_planes(6, 4, 1);
  const std::vector<float> values = trial.uniform(fine.elements(1));
  Buffer<float> out = trial.empty(coarse.elements(1));
  launch_network_pool(trial.context(), fine, trial.uploaded(values), coarse, out, 1);
  const std::vector<float> found = out.download();
  for (int y = 0; y < coarse.height; ++y) {
    for (int x = 0; x < coarse.width; ++x) {
      const float* const at =
          &values[static_cast<std::size_t>((2 * y + fine.margin + 1) * fine.stride + 2 * x)];
      const float* const below = at + fine.stride;
      const auto to = static_cast<std::size_t>((y + coarse.margin + 1) * coarse.stride + x);
      trial.expect_one("largest of 2x2 pixels", found[to],
                       std::max({at[0], at[1], below[0], below[1]}), 0);
    }
  }
}

}  // namespace

std::vector<DeviceCheck> boundary_checks() {
  return {{"the network 'default'", [](Trial& trial) { check_whole_network(trial, "default"); }},
          {"the network 'fast'", [](Trial& trial) { check_whole_network(trial, "fast"); }},
          {"pooling of networks", check_pooling}};
}

}  // namespace diacut
