#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "boundary/boundary.hpp"
#include "diacut/device.hpp"
#include "diacut/image.hpp"
#include "diacut/parameters.hpp"
#include "opencl/context.hpp"
#include "pipeline/device_checks.hpp"

namespace diacut {

/// How far from a pixel other pixels count for its orientation.
inline constexpr int kOrientationReach = 6;

/// The stages from the image to the contours for parts of pictures, on one device: what Segmenter
/// computes of the whole picture, to the bit. Several threads may ask for parts: they take turns on
/// the device.
class PartMaps {
 public:
  /// Opens the device, as Segmenter does. Throws as its constructor does.
  PartMaps(const Parameters& parameters, const std::string& device, const std::string& kernel_dir);
  ~PartMaps();
  PartMaps(const PartMaps&) = delete;
  PartMaps& operator=(const PartMaps&) = delete;

  const DeviceInfo& device() const { return context_.info(); }
  /// As Segmenter::limit_device_memory().
  void limit_memory(std::uint64_t bytes) { context_.limit_memory(bytes); }
  /// As Segmenter::on_compiling().
  void on_compiling(std::function<void()> tell) { context_.on_slow_build(std::move(tell)); }

  /// The PartMap of a part of a picture. Throws DeviceError.
  PartMap map(const Image& image, const Grid& grid, const PictureView& view);

  /// The contours of a part of width * height pixels, of which those in the outer kOrientationReach
  /// rows and columns have another orientation than in the picture, unless the picture ends there.
  /// `part`: the values of map(); no numbers where there is no data. `full` as in
  /// part_boundary_map(). Throws DeviceError.
  Contours contours(std::vector<float> part, int width, int height, float full);

 private:
  Parameters parameters_;
  std::mutex turn_;
  Context context_;
  DeviceNetworks networks_;  // After the context, which must outlive it.
};

}  // namespace diacut
