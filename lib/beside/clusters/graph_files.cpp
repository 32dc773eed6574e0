#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "clusters/clusters.hpp"
#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "output/atomic_file.hpp"
#include "output/npy.hpp"
#include "output/resolution_json.hpp"

namespace diacut {

namespace {

using Json = nlohmann::ordered_json;

Json report_json(const EigenReport& report, const std::vector<double>& values) {
  Json json = {{"solver", report.solver},       {"converged", report.converged},
               {"levels", report.levels},       {"iterations", report.restarts},
               {"passes", report.passes},       {"products", report.products},
               {"residuals", report.residuals}, {"eigenvalues", values}};
  add_resolution(json, report);
  return json;
}

}  // namespace

void check_graph_file(const std::string& path) {
  if (std::filesystem::path(path).extension() == ".npy") return;
  throw ConfigError(
      fmt::format("'{}': vectors and labels of a graph are written as .npy files", path));
}

void write_graph_eigenvectors(const std::string& path, const GraphEigenvectors& eigenvectors) {
  check_graph_file(path);
  AtomicFile file(path);
  const std::vector<std::uint8_t> header =
      npy_header<float>({eigenvectors.vectors.size(), eigenvectors.sqrt_degree.size()});
  file.write(header.data(), header.size());
  for (const std::vector<float>& vector : eigenvectors.vectors) {
    file.write(vector.data(), vector.size() * sizeof(float));
  }
  file.commit();
}

void write_graph_labels(const std::string& path, const GraphLabels& labels) {
  check_graph_file(path);
  write_file(path, encode_npy<std::int32_t>(labels.labels, {labels.labels.size()}));
}

std::string graph_json(const Graph& graph, const GraphEigenvectors* eigenvectors,
                       const GraphLabels* labels, const DeviceInfo& device, double milliseconds) {
  Json json = {{"nodes", graph.nodes()},
               {"entries", graph.columns.size()},
               {"device", {{"name", device.name}, {"platform", device.platform}}},
               {"milliseconds", milliseconds}};
  if (eigenvectors != nullptr) {
    json["components"] = eigenvectors->components;
    json["isolated"] = eigenvectors->isolated;
    json["eigenvectors"] = report_json(eigenvectors->report, eigenvectors->values);
  }
  if (labels != nullptr) {
    json["clusters"] = {{"count", labels->count}, {"normalized_cut", labels->normalized_cut}};
    json["clusters"].update(report_json(labels->report, labels->values));
  }
  return json.dump(2) + "\n";
}

}  // namespace diacut
