#pragma once

#include <cstdint>

#include "diacut/device.hpp"
#include "diacut/features.hpp"
#include "diacut/image_file.hpp"
#include "diacut/parameters.hpp"

/// @file
/// The memory that a segmentation takes, known before it starts.
namespace diacut {

/// The memory that a segmentation takes, from reading the image to writing its labels as PNG.
struct MemoryNeed {
  std::uint64_t device_bytes = 0;  ///< Peak on the device, bytes.
  /// Peak in main memory, bytes, beyond what the process holds before the image is read; includes
  /// `device_bytes` if the device is a CPU.
  std::uint64_t host_bytes = 0;
  /// Peak in main memory while another image has the device, bytes.
  std::uint64_t waiting_bytes = 0;
};

/// What a run computes in addition to what Parameters say.
struct WantedResults {
  bool boundary_map = false;  ///< Whether ImageToSegment::boundary_map is given.
  bool eigenvectors = false;  ///< As Segmenter::keep_eigenvectors().
  FeatureSize features = {};  ///< Size of the given features; no channels: none.
  bool verified = false;      ///< As Segmenter::verify_results().
};

/// The memory that segmenting an image takes, from a measured table of bytes a pixel. Allocates
/// nothing on the device. `limit`: as Segmenter::limit_device_memory() takes it. Throws
/// DeviceMemoryError when no form of the run fits the device, InputError when main memory is not
/// enough; messages say what it would take, what there is, and what to do.
MemoryNeed check_memory(const ImageSize& image, const Parameters& parameters,
                        const DeviceInfo& device, std::uint64_t limit = 0,
                        const WantedResults& results = {});

/// The main memory that this process could hold in all, bytes: what it holds, what is free or can
/// be freed, and swap, within the limits of its control group and of its address space (`ulimit
/// -v`). 0 if the system does not report it.
std::uint64_t host_memory_available();

}  // namespace diacut
