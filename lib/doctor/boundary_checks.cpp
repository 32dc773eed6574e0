// Boundary maps from the gradient and from networks, and the operations of networks.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

#include "boundary/boundary.hpp"
#include "boundary/gradient/gradient.hpp"
#include "boundary/gradient/reference_gradient.hpp"
#include "boundary/network/blend.hpp"
#include "boundary/network/input.hpp"
#include "boundary/network/load_network.hpp"
#include "boundary/network/output.hpp"
#include "boundary/network/resize.hpp"
#include "doctor/checks.hpp"
#include "doctor/network_problems.hpp"

namespace diacut {

void check_gradient(Trial& trial, const CueParameters& parameters) {
  Image image = drawn_scene(67, 41);
  image.valid.assign(image.pixel_count(), 1);
  for (std::size_t i = 0; i < image.pixel_count(); i += i < 1000 ? 1 : 7) {
    if (i >= 300 && i < 600) continue;
    image.valid[i] = 0;
    for (std::size_t c = 0; c < 3; ++c) image.pixels[3 * i + c] = 0;
  }
  const Grid grid{image.width, image.height, image.width};
  const BoundaryMap map = boundary_map(trial.context(), image, grid, parameters);
  // A derivative sums 2 (radius + 1) terms, and a few more roundings make it a value of the map.
  // Suppression multiplies an error by at most 1 / softness, once for each of the two magnitudes
  // that it compares.
  const double roundings = 2 * gradient_weights(parameters.sigma).radius() + 10;
  trial.expect_near("boundary strength", map.values.download(),
                    reference_gradient(image, parameters),
                    roundings * Trial::kEps * (parameters.thin ? 2 / kRidgeSoftness : 1));
}

namespace {

template <bool kThin>
void gradient(Trial& trial) {
  CueParameters parameters;
  parameters.kind = CueKind::kGradient;
  parameters.thin = kThin;
  check_gradient(trial, parameters);
}

}  // namespace

namespace {

void check_tensor(Trial& trial, std::string_view what, const Buffer<float>& found,
                  const NetworkPlanes& planes, const ReferenceTensor& expected,
                  const ReferenceTensor& allowed) {
  trial.expect_within(what, found.download(), elements_of(expected, planes),
                      elements_of(allowed, planes));
}

void check_convolution(Trial& trial, const ConvolutionCase& convolution,
                       const ConvolutionTile* tile = nullptr) {
  const ConvolutionProblem problem(convolution);
  std::vector<Buffer<float>> buffers;
  for (const ReferenceTensor& tensor : problem.inputs) {
    buffers.push_back(trial.uploaded(laid_out(tensor, problem.from)));
  }
  std::vector<const Buffer<float>*> tensors;
  for (const Buffer<float>& buffer : buffers) tensors.push_back(&buffer);
  const Buffer<float> added = trial.uploaded(laid_out(problem.added, problem.to));
  Buffer<float> out = trial.empty(problem.to.elements(problem.op.shape.outputs));
  problem.launch(trial.context(), tensors, convolution.add ? &added : nullptr, tile, out);
  check_tensor(trial, "convolution", out, problem.to, problem.expected, problem.allowed);
}

void convolutions(Trial& trial) {
  check_convolution(trial, {{3}, {.outputs = 16, .kernel = 3, .relu = true}, false, 97, 11});
  check_convolution(trial, {{5, 2, 1, 4}, {.outputs = 9, .kernel = 1}, true, 97, 11});
  check_convolution(trial, {{8, 3}, {.outputs = 8, .kernel = 3, .dilation = 2}, true, 67, 19});
}

void convolutions_in_rows(Trial& trial) {
  const bool cpu = trial.context().info().kind == DeviceKind::kCpu;
  const ConvolutionTile tile = cpu ? RowTile{8, 3, 1, 4} : RowTile{1, 4, 32};
  check_convolution(trial,
                    {{3, 4}, {.outputs = 9, .kernel = 3, .dilation = 2, .relu = true}, true, 33, 5},
                    &tile);
}

void convolutions_in_patches(Trial& trial) {
  const PatchTile patch{
      .channels = 4, .down = 2, .columns = 8, .rows = 8, .blocks = 2, .shares = 2, .depth = 6};
  ConvolutionShape shape{.outputs = 13, .kernel = 3, .dilation = 2, .relu = true};
  const DeviceInfo& device = trial.context().info();
  // A device that cannot hold the tile is never asked for it.
  if (patch.local_memory(shape) > device.local_memory ||
      static_cast<std::size_t>(patch.items()) > device.max_work_group) {
    return;
  }
  const ConvolutionTile tile = patch;
  check_convolution(trial, {{5, 14}, shape, true, 67, 19}, &tile);
}

void strided_convolutions(Trial& trial) {
  check_convolution(trial, {{7}, {.outputs = 9, .kernel = 3, .stride = 2}, true, 67, 19});
  check_convolution(
      trial,
      {{3}, {.outputs = 16, .kernel = 3, .stride = 2, .shift = 1, .relu = true}, false, 66, 20});
}

void depthwise_convolutions(Trial& trial) {
  check_convolution(trial, {{5}, {.outputs = 5, .kernel = 3, .relu = true}, true, 67, 19, true});
  check_convolution(
      trial,
      {{3}, {.outputs = 3, .kernel = 5, .stride = 2, .shift = 1, .most = 2}, false, 67, 19, true});
}

void resized_tensors(Trial& trial) {
  constexpr int kChannels = 3;
  std::mt19937 random(5);
  const NetworkPlanes fine = network_planes(67, 19, 2);
  const NetworkPlanes coarse = network_planes(34, 10, 1);
  ReferenceTensor tensor = random_tensor(kChannels, 67, 19, random);
  // Negative values, so that the zeros around them would show.
  for (double& value : tensor.values) value = static_cast<float>(value - 8);
  Buffer<float> pooled = trial.empty(coarse.elements(kChannels));
  launch_network_pool(trial.context(), fine, trial.uploaded(laid_out(tensor, fine)), coarse, pooled,
                      kChannels);
  NetworkOp op;
  op.kind = NetworkOpKind::kMaxPool;
  check_tensor(trial, "pooling", pooled, coarse, reference_operation(op, {&tensor}, nullptr, 0, 0),
               ReferenceTensor(kChannels, 34, 10));
  tensor = random_tensor(kChannels, 34, 10, random);
  Buffer<float> enlarged = trial.empty(fine.elements(kChannels));
  launch_network_upsample(trial.context(), coarse, trial.uploaded(laid_out(tensor, coarse)), fine,
                          enlarged, kChannels);
  op.kind = NetworkOpKind::kUpsample;
  const ReferenceTensor sizes = magnitudes(tensor);
  ReferenceTensor allowed = reference_operation(op, {&sizes}, nullptr, 67, 19);
  for (double& value : allowed.values) value *= 4 * Trial::kEps;  // Four products.
  check_tensor(trial, "enlarging", enlarged, fine,
               reference_operation(op, {&tensor}, nullptr, 67, 19), allowed);
}

void pictures_for_networks(Trial& trial) {
  constexpr int kBorder = 2;
  const Image image = drawn_scene(20, 9);
  const Buffer<float> pixels = trial.uploaded(image.pixels);
  const NetworkPlanes planes = network_planes(14, 9, 1);
  Buffer<float> out = trial.empty(planes.elements(3));
  launch_network_input(trial.context(), {pixels, 3, 20, 9, 10, 5, kBorder}, 0, 0, planes, out);
  const std::vector<float> seen = reference_picture(image, 10, 5, kBorder);
  ReferenceTensor expected(3, 14, 9);
  ReferenceTensor allowed(3, 14, 9);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    expected.values[i] = 4 * (static_cast<double>(seen[i]) - 0.5);
    // Up to 16 products, with weights of absolute sum below 2, of values up to 1.
    allowed.values[i] = 4 * 40 * Trial::kEps;
  }
  check_tensor(trial, "picture for a network", out, planes, expected, allowed);
}

void results_of_networks(Trial& trial) {
  std::mt19937 random(6);
  const NetworkPlanes planes = network_planes(9, 6, 3);
  const ReferenceTensor logits = random_tensor(2, 9, 6, random);
  Buffer<float> map = trial.uploaded(std::vector<float>(13 * 11, -1.0F));
  launch_network_output(trial.context(), planes, trial.uploaded(laid_out(logits, planes)), 1,
                        {2, 1, 5, 6, 4, 3}, {map, 13, 11});
  std::vector<double> expected(13 * 11, -1.0);
  for (int y = 6; y < 9; ++y) {
    for (int x = 5; x < 9; ++x) {
      expected[static_cast<std::size_t>(y * 13 + x)] =
          1 / (1 + std::exp(-logits.at(1, x - 5 + 2, y - 6 + 1)));
    }
  }
  trial.expect_near("logistic function", map.download(), expected, 8 * Trial::kEps);
}

/// A map of half the sides is enlarged bilinearly, with repeated edges, where there is data.
void blended_maps(Trial& trial) {
  const Grid grid{11, 7, 14};
  std::vector<std::uint8_t> valid(grid.rows(), 1);
  valid[15] = 0;
  const std::vector<float> values = trial.normal(6 * 4);
  Buffer<float> map = trial.uploaded(values);
  Buffer<float> boundary = trial.empty(grid.rows());
  launch_network_blend(trial.context(), {map, 6, 4}, {}, grid, trial.uploaded(valid), 0.25F, true,
                       boundary);
  const auto at = [&](int x, int y) {
    return static_cast<double>(
        values[static_cast<std::size_t>(std::min(y, 3) * 6 + std::min(x, 5))]);
  };
  const std::vector<float> found = boundary.download();
  for (int y = 0; y < grid.height; ++y) {
    for (int x = 0; x < grid.width; ++x) {
      const std::size_t element = static_cast<std::size_t>(y * grid.stride + x);
      const double u = std::clamp((x + 0.5) * 6 / 11 - 0.5, 0.0, 5.0);
      const double v = std::clamp((y + 0.5) * 4 / 7 - 0.5, 0.0, 3.0);
      const int left = static_cast<int>(u);
      const int top = static_cast<int>(v);
      const double above = std::lerp(at(left, top), at(left + 1, top), u - left);
      const double below = std::lerp(at(left, top + 1), at(left + 1, top + 1), u - left);
      const double expected = valid[element] != 0 ? 0.25 * std::lerp(above, below, v - top) : 0;
      // Positions up to 11 are off by a few roundings, values are about 1 and differ by as much.
      trial.expect_one("blended map", found[element], expected, 100 * Trial::kEps);
    }
  }
}

}  // namespace

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
  const std::vector<float> seen = reference_picture(image, image.width, image.height);
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
  return {
      {"boundary map from the gradient", gradient<false>},
      {"boundary map from the gradient, thinned", gradient<true>},
      {"convolutions", convolutions, true},
      {"convolutions in rows", convolutions_in_rows},
      {"convolutions in patches", convolutions_in_patches},
      {"convolutions of stride 2", strided_convolutions},
      {"convolutions of each channel by itself", depthwise_convolutions, true},
      {"pooling and enlarging", resized_tensors},
      {"pictures for networks", pictures_for_networks},
      {"results of networks", results_of_networks, true},
      {"maps blended", blended_maps},
      {"the network 'default' as a whole",
       [](Trial& trial) { check_whole_network(trial, "default"); }},
      {"the network 'fast' as a whole", [](Trial& trial) { check_whole_network(trial, "fast"); }}};
}

}  // namespace diacut
