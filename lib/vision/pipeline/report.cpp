#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "core/enum_names.hpp"
#include "diacut/output.hpp"
#include "diacut/version.hpp"
#include "output/program_json.hpp"
#include "output/resolution_json.hpp"
#include "parameters/parameter_table.hpp"
#include "pipeline/working_image.hpp"

namespace diacut {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// The version of the report's layout, raised when a key changes its meaning or goes away.
constexpr int kSchema = 2;

OrderedJson parameters_json(const Parameters& parameters) {
  OrderedJson json = OrderedJson::object();
  for (const ParameterEntry& entry : parameter_table()) {
    OrderedJson& value = json[std::string(entry.table)][std::string(entry.name)];
    std::visit([&](const auto& typed) { value = typed; }, entry.get(parameters));
  }
  return json;
}

OrderedJson device_object(const DeviceInfo& device) {
  return {{"index", device.index()},
          {"name", device.name},
          {"vendor", device.vendor},
          {"platform", device.platform},
          {"kind", to_string(device.kind)},
          {"version", device.version},
          {"driver", device.driver},
          {"compute_units", device.compute_units},
          {"global_memory_bytes", device.global_memory},
          {"max_allocation_bytes", device.max_allocation},
          {"fp64", device.fp64},
          {"images", device.images}};
}

OrderedJson memory_json(const RunCosts& costs) {
  return {{"host_before_bytes", costs.host_before_bytes},
          {"host_announced_bytes", costs.announced.host_bytes},
          {"host_peak_bytes", costs.host_peak_bytes},
          {"device_announced_bytes", costs.announced.device_bytes},
          {"device_peak_bytes", costs.device_peak_bytes},
          {"device_kept_bytes", costs.device_kept_bytes}};
}

OrderedJson features_json(const Segmentation& segmentation, const Parameters& parameters) {
  const AffinityParameters& affinity = parameters.affinity;
  return {{"measure", std::string(enum_name(kFeatureMeasureNames, affinity.feature_measure))},
          {"scale", segmentation.feature_scale},
          {"automatic_scale", affinity.feature_scale == 0},
          {"with_boundary", affinity.with_boundary}};
}

OrderedJson eigen_json(const Eigenvectors& eigenvectors) {
  const MatrixReport& matrix = eigenvectors.report.matrix;
  OrderedJson json = {{"converged", eigenvectors.report.converged},
                      {"solver", eigenvectors.report.solver},
                      {"levels", eigenvectors.report.levels},
                      {"products", eigenvectors.report.products},
                      {"passes", eigenvectors.report.passes},
                      {"restarts", eigenvectors.report.restarts},
                      {"filter_degree", eigenvectors.report.filter_degree},
                      {"values", eigenvectors.values},
                      {"residuals", eigenvectors.report.residuals},
                      {"matrix",
                       {{"rows", matrix.rows},
                        {"pitch", matrix.pitch},
                        {"diagonals", matrix.diagonals},
                        {"bands", matrix.bands},
                        {"bytes", matrix.bytes},
                        {"form", matrix.form}}}};
  add_resolution(json, eigenvectors.report);
  return json;
}

std::string dumped(const OrderedJson& json) {
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace

std::string report_json(const Segmentation& segmentation, const Image& image,
                        const Parameters& parameters, const DeviceInfo& device,
                        const std::string& input_name, int page) {
  OrderedJson json = {{"schema", kSchema}, {"diacut", kVersion}, {"input", input_name}};
  if (page > 0) json["page"] = page;
  json["image"] = {{"width", image.width},
                   {"height", image.height},
                   {"channels", image.channels},
                   {"pixels_with_data", pixels_with_data(image)}};
  json["device"] = device_object(device);
  json["parameters"] = parameters_json(parameters);
  json["stages"] = OrderedJson::array();
  for (const auto& [stage, wall_ms, device_ms] : segmentation.costs.times) {
    json["stages"].push_back({{"stage", stage}, {"wall_ms", wall_ms}, {"device_ms", device_ms}});
  }
  const RunCosts& costs = segmentation.costs;
  json["memory"] = memory_json(costs);
  json["kernels"] = {{"programs", costs.programs_built}, {"build_ms", costs.programs_ms}};
  if (const auto* const cuts = dynamic_cast<const KwayCut*>(&segmentation)) {
    json["normalized_cut"] = cuts->normalized_cut;
  }
  if (segmentation.feature_scale > 0) json["features"] = features_json(segmentation, parameters);
  if (const auto* const growth = dynamic_cast<const SeedGrowth*>(&segmentation)) {
    const WalkReport& walk = growth->walk;
    json["walk"] = {{"converged", walk.converged},
                    {"labels", walk.labels},
                    {"iterations", walk.iterations},
                    {"error", walk.error}};
  } else if (!segmentation.eigenvectors.values.empty()) {
    json["matvec"] = segmentation.eigenvectors.report.matvec;
    json["eigen"] = eigen_json(segmentation.eigenvectors);
  }
  json["regions"] = {{"count", segmentation.labels.count}};
  json["notes"] = segmentation.notes;
  return dumped(json);
}

std::string device_json(const DeviceInfo& device) {
  return device_object(device).dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

std::string devices_json(const std::vector<DeviceInfo>& devices, const DeviceInfo* chosen) {
  OrderedJson json = OrderedJson::array();
  for (const DeviceInfo& device : devices) {
    json.push_back(device_object(device));
    json.back()["chosen"] = chosen != nullptr && device.index() == chosen->index();
  }
  return dumped(json);
}

}  // namespace diacut
