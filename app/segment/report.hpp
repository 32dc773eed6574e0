#pragma once

#include <string>
#include <vector>

#include "diacut/device.hpp"
#include "diacut/segmenter.hpp"

namespace diacut::app {

/// The largest residual of the eigenvectors; 0 without any.
double largest_residual(const EigenReport& report);

/// What --verbose prints about a run: the stages' times, the work of the eigensolver, the memory.
std::string describe_run(const Segmentation& segmentation);

/// A table of devices, in which the chosen device, if not null, has a mark.
std::string device_table(const std::vector<DeviceInfo>& devices, const DeviceInfo* chosen);

/// A number of bytes for people, as "1.5 GiB".
std::string bytes_text(double bytes);

}  // namespace diacut::app
