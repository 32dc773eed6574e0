#pragma once

#include <cstdint>

#include "diacut/device.hpp"
#include "diacut/features.hpp"
#include "diacut/image_file.hpp"
#include "diacut/parameters.hpp"

/// @file
/// The memory that a segmentation takes, known before any of it is taken.
namespace diacut {

/// The memory that a segmentation takes, from reading the image to writing its labels as PNG.
struct MemoryNeed {
  std::uint64_t device_bytes = 0;  ///< On the device, the most at once, bytes.
  /// In main memory, the most at once, bytes, beyond what the process holds before the image is
  /// read; with `device_bytes` where the device is a CPU.
  std::uint64_t host_bytes = 0;
  /// In main memory while another image has the device, the most at once, bytes.
  std::uint64_t waiting_bytes = 0;
};

/// What decides, beside Parameters, what a run computes and how much memory that takes.
struct WantedResults {
  bool boundary_map = false;  ///< Whether the image comes with one (ImageToSegment::boundary_map).
  bool eigenvectors = false;  ///< As Segmenter::keep_eigenvectors().
  FeatureSize features = {};  ///< Of the features that the image comes with; else without channels.
  bool verified = false;      ///< As Segmenter::verify_results().
};

/// The memory that segmenting an image takes, by a measured table of bytes a pixel. It takes no
/// memory of the device. `limit`: as Segmenter::limit_device_memory() takes it. Throws
/// DeviceMemoryError when no form of the run fits the device, InputError when main memory is not
/// enough; messages say what it would take, what there is, and what to do.
MemoryNeed check_memory(const ImageSize& image, const Parameters& parameters,
                        const DeviceInfo& device, std::uint64_t limit = 0,
                        const WantedResults& results = {});

/// Main memory that this process could hold at once, with what it holds already: what is free or
/// can be freed, and swap, within the limits of its control group and of its address space (`ulimit
/// -v`). Returns bytes; 0 where the system does not report it.
std::uint64_t host_memory_available();

}  // namespace diacut
