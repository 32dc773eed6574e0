#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "diacut/eigenvectors.hpp"

namespace diacut::python {

/// EigenResolution::error of each eigenvector.
inline std::vector<double> error_bounds(const EigenReport& report) {
  std::vector<double> bounds;
  for (const EigenResolution& each : report.resolution) bounds.push_back(each.error);
  return bounds;
}

/// EigenResolution::angle of each eigenvector.
inline std::vector<double> angle_bounds(const EigenReport& report) {
  std::vector<double> bounds;
  for (const EigenResolution& each : report.resolution) bounds.push_back(each.angle);
  return bounds;
}

/// EigenResolution::resolved of each eigenvector.
inline nanobind::typed<nanobind::list, bool> resolved(const EigenReport& report) {
  nanobind::typed<nanobind::list, bool> all;
  for (const EigenResolution& each : report.resolution) all.append(each.resolved);
  return all;
}

}  // namespace diacut::python
