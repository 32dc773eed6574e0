#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diacut/segmenter.hpp"
#include "eigen/device_eigenvectors.hpp"
#include "opencl/context.hpp"
#include "opencl/kernel_file.hpp"

/// Bounds that results of a device keep for every image. A device that fails may report success and
/// leave numbers that it never computed. Every function throws DeviceError that names the stage.
namespace diacut {

/// The kernel of the checks that the device makes.
KernelFile range_kernels(Context& context);
/// kernels/pipeline/out_of_range.cl: one of the values of all buffers that are neither 0 nor in
/// [least, most]; 0 if there is none. Waits for the device.
float value_out_of_range(Context& context, const std::vector<const Buffer<float>*>& buffers,
                         double least, double most);

/// Boundary maps, and inside maps, are in [0, 1]: the device looks. Waits for it.
void check_computed_maps(Context& context, const std::vector<const Buffer<float>*>& maps);
void check_computed_map(const Context& context, const std::vector<float>& map);

/// A square root of a degree is at least 1, because each pixel's affinity with itself is 1, and 0
/// where there is no data: the device looks. Waits for it.
void check_computed_degrees(const Buffer<float>& sqrt_degree);

/// An eigenvalue of the normalized Laplacian is in [0, 2], and a residual norm is finite.
void check_eigenpairs(const Context& context, const DeviceEigenvectors& eigenvectors);

/// What a hierarchy is made from, on the host: a value for each pixel, row by row.
struct Contours {
  std::vector<float> strength;     ///< As Segmentation::contours.
  std::vector<float> orientation;  ///< As boundary_orientation() gives it.
};
/// Contours are in [0, 1], orientations in [0, pi].
void check_computed_contours(const Context& context, const Contours& contours);

/// A label of a random walk is one of `count` labels, or 0.
void check_walk(const Context& context, const std::vector<std::int32_t>& labels, int count);

/// Throws DeviceError, naming the device and what differs, unless two segmentations of one image
/// hold the same results, byte for byte.
void check_same_results(const Segmentation& first, const Segmentation& again,
                        const std::string& device);

}  // namespace diacut
