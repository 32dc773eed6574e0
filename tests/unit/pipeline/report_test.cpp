#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "diacut/output.hpp"
#include "diacut/version.hpp"
#include "matchers.hpp"

namespace diacut::testing {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// A segmentation of 4 x 3 pixels, the first of which has no data:
///   0 1 1 2
///   1 1 1 2
///   3 3 3 3
struct Sample {
  Image image{4, 3, 3, std::vector<float>(36, 0.25F), {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {}};
  KwayCut segmentation;
  Parameters parameters;
  DeviceInfo device;

  Sample() {
    segmentation.labels = {4, 3, 3, {0, 1, 1, 2, 1, 1, 1, 2, 3, 3, 3, 3}};
    segmentation.eigenvectors.values = {0, 1e-5, 2.5e-4};
    EigenReport& eigen = segmentation.eigenvectors.report;
    eigen.converged = true;
    eigen.solver = "multilevel";
    eigen.matvec = "block";
    eigen.products = 345;
    eigen.passes = 23;
    eigen.matrix = {12, 32, 81, 11, 10'368, "dia"};
    eigen.levels = 5;
    eigen.restarts = 6;
    eigen.filter_degree = 8;
    eigen.residuals = {1e-7, 2e-5, 9e-5};
    eigen.resolution = {{0, 0, true}, {2e-5, 1, false}, {4e-5, .5, true}};
    segmentation.costs.times = {{"read", 1.5, 0}, {"eigen", 200, 150.25}};
    segmentation.costs.announced = {6'100'000'000, 5000, 4000};
    segmentation.costs.host_before_bytes = 60'000'000;
    segmentation.costs.host_peak_bytes = 70'000'000;
    segmentation.costs.device_peak_bytes = 6'000'000'000;
    segmentation.costs.device_kept_bytes = 800'000'000;
    segmentation.costs.programs_built = 5;
    segmentation.costs.programs_ms = 12.5;
    segmentation.normalized_cut = 0.375;
    segmentation.notes = {"First note.", "Second note."};
    device.platform_index = 1;
    device.device_index = 2;
    device.name = "A device";
    device.kind = DeviceKind::kGpu;
    device.global_memory = 150'000'000'000;
  }
  std::string text(const std::string& name = "photo.jpg") const {
    return report_json(segmentation, image, parameters, device, name);
  }
  OrderedJson json() const { return OrderedJson::parse(text()); }
};

TEST(Report, TellsOfTheWholeRunInThisOrder) {
  const std::string text = Sample().text();
  EXPECT_THAT(text, EndsWith("}\n"));
  OrderedJson json = OrderedJson::parse(text);
  EXPECT_EQ(json["diacut"], kVersion);
  for (const char* other : {"diacut", "parameters"}) json[other] = nullptr;
  EXPECT_EQ(json, OrderedJson::parse(R"({
    "schema": 2, "diacut": null, "input": "photo.jpg",
    "image": {"width": 4, "height": 3, "channels": 3, "pixels_with_data": 11},
    "device": {"index": "1:2", "name": "A device", "vendor": "", "platform": "", "kind": "gpu",
               "version": "", "driver": "", "compute_units": 0,
               "global_memory_bytes": 150000000000, "max_allocation_bytes": 0, "fp64": false,
               "images": false},
    "parameters": null,
    "stages": [{"stage": "read", "wall_ms": 1.5, "device_ms": 0.0},
               {"stage": "eigen", "wall_ms": 200.0, "device_ms": 150.25}],
    "memory": {"host_before_bytes": 60000000, "host_announced_bytes": 5000,
               "host_peak_bytes": 70000000, "device_announced_bytes": 6100000000,
               "device_peak_bytes": 6000000000, "device_kept_bytes": 800000000},
    "kernels": {"programs": 5, "build_ms": 12.5}, "normalized_cut": 0.375, "matvec": "block",
    "eigen": {"converged": true, "solver": "multilevel", "levels": 5, "products": 345,
              "passes": 23, "restarts": 6, "filter_degree": 8, "values": [0.0, 1e-5, 2.5e-4],
              "residuals": [1e-7, 2e-5, 9e-5],
              "matrix": {"rows": 12, "pitch": 32, "diagonals": 81, "bands": 11, "bytes": 10368,
                         "form": "dia"},
              "error_bounds": [0.0, 2e-5, 4e-5], "angle_bounds": [0.0, 1.0, 0.5],
              "resolved": [true, false, true]},
    "regions": {"count": 3}, "notes": ["First note.", "Second note."]})"))
      << json.dump(1);
}

TEST(Report, GroupsTheParametersWithTheirTypes) {
  Sample run;
  run.parameters.affinity.scale = 2;
  run.parameters.eigen.vectors = 9;
  const OrderedJson parameters = run.json()["parameters"];
  EXPECT_EQ(parameters["eigen"]["vectors"].type(), OrderedJson(9u).type());
  EXPECT_EQ(parameters["eigen"]["vectors"], 9);
  EXPECT_TRUE(parameters["affinity"]["scale"].is_number_float());
  EXPECT_EQ(parameters["affinity"]["scale"], 2.0);
  EXPECT_EQ(parameters["boundary"]["thin"], true);
  EXPECT_EQ(parameters["matvec"]["kernel"], "auto");
  std::size_t count = 0;
  for (const auto& group : parameters) count += group.size();
  EXPECT_EQ(count, list_parameters(run.parameters).size());
}

TEST(Report, NumbersThatAreNotFiniteAreNull) {
  Sample run;
  run.segmentation.eigenvectors.report.residuals = {std::nan(""),
                                                    std::numeric_limits<double>::infinity(), 0};
  const OrderedJson json = run.json();
  EXPECT_TRUE(json["eigen"]["residuals"][0].is_null());
  EXPECT_TRUE(json["eigen"]["residuals"][1].is_null());
  EXPECT_EQ(json["eigen"]["residuals"][2], 0);
}

TEST(Report, NamesThatAreNoUtf8AreStillJson) {
  const OrderedJson json = OrderedJson::parse(Sample().text("caf\xe9 \"1\"\n.jpg"));
  EXPECT_EQ(json["input"], "caf\xEF\xBF\xBD \"1\"\n.jpg");
}

TEST(Report, OnePixelWithoutData) {
  Sample run;
  run.image = {1, 1, 1, {0.0F}, {0}, {}};
  Segmentation none;
  none.labels = {1, 1, 0, {0}};
  const OrderedJson json =
      OrderedJson::parse(report_json(none, run.image, run.parameters, run.device, "a.png"));
  EXPECT_EQ(json["image"]["pixels_with_data"], 0);
  EXPECT_EQ(json["regions"]["count"], 0);
  // No eigenvectors were computed.
  EXPECT_FALSE(json.contains("eigen"));
  EXPECT_FALSE(json.contains("matvec"));
  EXPECT_FALSE(json.contains("normalized_cut"));
}

}  // namespace
}  // namespace diacut::testing
