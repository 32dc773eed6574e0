#pragma once

#include <cstddef>
#include <opencv2/core.hpp>
#include <vector>

#include "diacut/eigenvectors.hpp"

namespace diacut {

/// The generalized eigenvector y = z / sqrt_degree of eigenvectors.vectors[k], 0 without data.
std::vector<float> generalized(const Eigenvectors& eigenvectors, std::size_t k);

/// An eigenvector of width * height values as a picture (red, green, blue): blue below zero, light
/// grey at zero, red above; full colour from the value that 98% of the magnitudes are below. Pixels
/// where `sqrt_degree` is 0 have no data: mid-grey.
cv::Mat3b vector_picture(const std::vector<float>& y, const std::vector<float>& sqrt_degree,
                         int width, int height);

}  // namespace diacut
