#pragma once

#include <string>

#include "diacut/segmenter.hpp"

namespace diacut {

/// Throws DeviceError, naming the device and what differs, unless two segmentations of one image
/// hold the same results, byte for byte.
void check_same_results(const Segmentation& first, const Segmentation& again,
                        const std::string& device);

}  // namespace diacut
