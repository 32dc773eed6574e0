#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "bindings.hpp"
#include "diacut/segmenter.hpp"
#include "released.hpp"

namespace diacut::python {

using namespace nb::literals;

namespace {

Segmentation& of(nb::handle_t<Segmentation> self) { return nb::cast<Segmentation&>(self); }

Array2<std::int32_t> labels(nb::handle_t<Segmentation> self) {
  Labels& found = of(self).labels;
  return view(found.values.data(), found.height, found.width, self);
}

template <std::vector<float> Segmentation::*Map>
std::optional<Array2<float>> map_of(nb::handle_t<Segmentation> self) {
  Segmentation& result = of(self);
  std::vector<float>& map = result.*Map;
  if (map.empty()) return std::nullopt;
  return view(map.data(), result.labels.height, result.labels.width, self);
}

/// One view for each plane.
std::vector<Array2<float>> views(std::vector<std::vector<float>>& planes, int height, int width,
                                 nb::handle owner) {
  std::vector<Array2<float>> all;
  for (std::vector<float>& each : planes) all.push_back(view(each.data(), height, width, owner));
  return all;
}

/// One view for each label of the seeds.
std::vector<Array2<float>> probabilities(nb::handle_t<Segmentation> self) {
  Segmentation& result = of(self);
  return views(result.probabilities, result.labels.height, result.labels.width, self);
}

Array1<double> eigenvalues(nb::handle_t<Segmentation> self) {
  std::vector<double>& values = of(self).eigenvectors.values;
  return view(values.data(), values.size(), self);
}

/// z = D^1/2 y for each eigenvalue, each over the result's own memory.
std::vector<Array2<float>> normalized_eigenvectors(nb::handle_t<Segmentation> self) {
  Eigenvectors& eigen = of(self).eigenvectors;
  return views(eigen.vectors, eigen.height, eigen.width, self);
}

Array2<float> sqrt_degree(nb::handle_t<Segmentation> self) {
  Eigenvectors& eigen = of(self).eigenvectors;
  return view(eigen.sqrt_degree.data(), eigen.height, eigen.width, self);
}

/// y = z / sqrt_degree, 0 without data, as eigenvectors.npy holds it.
Array3<float> eigenvectors(const Segmentation& result) {
  const Eigenvectors& eigen = result.eigenvectors;
  const std::size_t count = eigen.vectors.size();
  std::vector<float> y;
  {
    const Released release;
    y.resize(count * eigen.sqrt_degree.size());
    auto out = y.begin();
    for (const std::vector<float>& z : eigen.vectors) {
      out = std::transform(z.begin(), z.end(), eigen.sqrt_degree.begin(), out,
                           [](float value, float root) { return root > 0 ? value / root : 0.0F; });
    }
  }
  const auto [data, owner] = taken(std::move(y));
  return {data,
          {count, static_cast<std::size_t>(eigen.height), static_cast<std::size_t>(eigen.width)},
          owner};
}

}  // namespace

void bind_segmentation(nb::module_& module) {
  nb::class_<Segmentation>(module, "Segmentation", "All results for one image, as they were made.")
      .def_prop_ro("labels", &labels)
      .def_prop_ro("count", [](const Segmentation& result) { return result.labels.count; })
      .def_ro("seed_labels", &Segmentation::seed_labels)
      .def_ro("normalized_cut", &Segmentation::normalized_cut)
      .def_ro("feature_scale", &Segmentation::feature_scale)
      .def_prop_ro("probabilities", &probabilities)
      .def_prop_ro("contours", &map_of<&Segmentation::contours>)
      .def_prop_ro("inside", &map_of<&Segmentation::inside>)
      .def_prop_ro(
          "hierarchy",
          [](Segmentation& result) { return result.hierarchy ? &*result.hierarchy : nullptr; },
          nb::rv_policy::reference_internal, nb::sig("def hierarchy(self) -> MergeTree | None"))
      .def_prop_ro("eigenvalues", &eigenvalues)
      .def_prop_ro("has_eigenvectors",
                   [](const Segmentation& result) { return !result.eigenvectors.vectors.empty(); })
      .def("eigenvectors", &eigenvectors)
      .def("normalized_eigenvectors", &normalized_eigenvectors)
      .def("sqrt_degree", &sqrt_degree)
      .def_prop_ro("residuals",
                   [](const Segmentation& result) { return result.eigenvectors.report.residuals; })
      .def_prop_ro("error_bounds",
                   [](const Segmentation& result) {
                     return bounds(result.eigenvectors.report, &EigenResolution::error);
                   })
      .def_prop_ro("angle_bounds",
                   [](const Segmentation& result) {
                     return bounds(result.eigenvectors.report, &EigenResolution::angle);
                   })
      .def_prop_ro("resolved",
                   [](const Segmentation& result) { return resolved(result.eigenvectors.report); })
      .def_prop_ro("converged",
                   [](const Segmentation& result) {
                     return result.walk ? result.walk->converged
                                        : result.eigenvectors.report.converged;
                   })
      .def_prop_ro("solver",
                   [](const Segmentation& result) { return result.eigenvectors.report.solver; })
      .def_prop_ro("times",
                   [](const Segmentation& result) {
                     std::vector<std::pair<std::string, double>> times;
                     for (const StageTime& time : result.costs.times) {
                       times.emplace_back(time.stage, time.wall_ms);
                     }
                     return times;
                   })
      .def_prop_ro("device_peak_bytes",
                   [](const Segmentation& result) { return result.costs.device_peak_bytes; })
      .def_ro("notes", &Segmentation::notes);
}

}  // namespace diacut::python
