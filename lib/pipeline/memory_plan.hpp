#pragma once

#include <span>

#include "diacut/device.hpp"
#include "diacut/memory_plan.hpp"
#include "image/resize.hpp"
#include "pipeline/segmentation_plan.hpp"

namespace diacut {

/// What main memory holds of an image.
struct HostImage {
  PictureSize full;
  int channels = 3;
  bool masked = false;           ///< Whether there are pixels without data.
  std::uint64_t file_bytes = 0;  ///< As ImageSize::file_bytes.
  FeatureSize features = {};     ///< Of the image's features; else without channels.
  bool verified = false;         ///< As Segmenter::verify_results().
};

/// The memory of a run by this plan, that of the images themselves included. `images`: as many as
/// the plan is for.
MemoryPlan memory_plan(const SegmentationPlan& plan, std::span<const HostImage> images,
                       const DeviceInfo& device);

}  // namespace diacut
