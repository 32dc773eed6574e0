#include "eigen/multilevel/level_degrees.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "opencl/arguments.hpp"
#include "opencl/device_sums.hpp"

namespace diacut {

namespace {

constexpr char kLevelDegreesFile[] = "eigen/multilevel/level_degrees.cl";

/// Elements that a work-group sums. They depend on the image alone, so that an image has the same
/// sums in every batch.
std::size_t chunk_for(std::size_t image_pixels) {
  constexpr std::size_t kLeast = 2048;
  constexpr std::size_t kMostGroups = 512;
  return std::max(kLeast, (image_pixels + kMostGroups - 1) / kMostGroups);
}

std::size_t groups_for(std::size_t image_pixels) {
  const std::size_t chunk = chunk_for(image_pixels);
  return (image_pixels + chunk - 1) / chunk;
}

}  // namespace

DegreeKernels::DegreeKernels(Context& context)
    : group(context.info().kind == DeviceKind::kCpu
                ? 1
                : std::bit_floor(std::clamp<std::size_t>(context.info().max_work_group, 1, 256))),
      partial(context.kernel(kLevelDegreesFile, "level_degrees_partial",
                             fmt::format("-DGROUP={}", group))),
      join(context.kernel(kLevelDegreesFile, "level_degrees_join",
                          fmt::format("-DGROUP={}", group))) {}

LevelDegrees level_degrees(Context& context, const Batch& batch, const Buffer<float>& sqrt_degree,
                           int levels) {
  DegreeKernels kernels(context);
  const Grid& image = batch.image;
  const std::size_t groups = groups_for(image.pixels());
  const auto each_level = static_cast<std::size_t>(batch.count);
  const auto all_levels = static_cast<std::size_t>(levels);
  const std::size_t all = each_level * all_levels;
  LevelDegrees result{context.allocate<float>(all, "norms of the degrees"),
                      context.allocate<std::uint32_t>(all, "numbers of elements with data")};
  const DeviceSums squares(context, all * groups, "partial norms of the degrees");
  const auto counts =
      context.allocate<std::uint32_t>(all * groups, "partial numbers of elements with data");
  set_arguments(kernels.partial, sqrt_degree, image.width, image.height, image.stride,
                batch.segment(), chunk_for(image.pixels()), squares, counts);
  set_arguments(kernels.join, squares, counts, static_cast<int>(groups), result.scales,
                result.counts);
  context.launch(kernels.partial, cl::NDRange(groups * kernels.group, each_level, all_levels),
                 cl::NDRange(kernels.group, 1, 1));
  context.launch(kernels.join, cl::NDRange(each_level * kernels.group, all_levels),
                 cl::NDRange(kernels.group, 1));
  return result;
}

}  // namespace diacut
