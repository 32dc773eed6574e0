#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/features.hpp"
#include "diacut/image_file.hpp"
#include "diacut/parameters.hpp"

/// @file
/// The memory that a segmentation takes, known before any of it is taken.
namespace diacut {

/// The memory that is held at once in a phase of a segmentation.
struct MemoryPhase {
  std::string phase;               ///< The phase's name, as "eigenvectors".
  std::uint64_t device_bytes = 0;  ///< On the device, bytes.
  /// In main memory, bytes, beyond what the process holds before the image is read, with
  /// `device_bytes` where the device is a CPU.
  std::uint64_t host_bytes = 0;
};

/// The memory that a segmentation takes.
struct MemoryPlan {
  std::vector<MemoryPhase> phases;  ///< In their order.

  std::uint64_t device_bytes() const;  ///< The most of all phases.
  std::uint64_t host_bytes() const;    ///< The most of all phases.
};

/// What decides, beside Parameters, what a run computes and how much memory that takes.
struct PlannedResults {
  bool boundary_map = false;  ///< Whether the image comes with one (ImageToSegment::boundary_map).
  bool eigenvectors = true;   ///< As Segmenter::keep_eigenvectors().
  FeatureSize features = {};  ///< Of the features that the image comes with; else without channels.
  bool verified = false;      ///< As Segmenter::verify_results().
};

/// Plans the memory of segmenting an image, from reading it to writing its labels as PNG. It takes
/// no memory of the device. `limit`: as Segmenter::limit_device_memory() takes it. Throws
/// DeviceError when the image does not fit the device in any way; the message says what it would
/// take, what there is, and what to do.
MemoryPlan plan_memory(const ImageSize& image, const Parameters& parameters,
                       const DeviceInfo& device, std::uint64_t limit = 0,
                       const PlannedResults& results = {});

/// Main memory that this process could hold at once, with what it holds already: what is free or
/// can be freed, and swap, within the limits of its control group and of its address space (`ulimit
/// -v`). Returns bytes; 0 where the system does not tell.
std::uint64_t host_memory_available();

/// Throws InputError, in the same words, when a plan does not fit host_memory_available().
void check_host_memory(const MemoryPlan& plan, const ImageSize& image, const DeviceInfo& device);

}  // namespace diacut
