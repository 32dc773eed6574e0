#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <vector>

#include "diacut/eigenvectors.hpp"

namespace diacut::python {

/// A bound, &EigenResolution::error or &EigenResolution::angle, of each eigenvector.
inline std::vector<double> bounds(const EigenReport& report, double EigenResolution::*bound) {
  std::vector<double> all;
  for (const EigenResolution& each : report.resolution) all.push_back(each.*bound);
  return all;
}

/// EigenResolution::resolved of each eigenvector.
inline nanobind::typed<nanobind::list, bool> resolved(const EigenReport& report) {
  nanobind::typed<nanobind::list, bool> all;
  for (const EigenResolution& each : report.resolution) all.append(each.resolved);
  return all;
}

}  // namespace diacut::python
