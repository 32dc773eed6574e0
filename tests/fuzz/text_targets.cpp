#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "device_profiles.hpp"
#include "diacut/parameters.hpp"
#include "image/geojson_marks.hpp"
#include "matrix/matvec_profile.hpp"
#include "region/merging_weights.hpp"
#include "source_text.hpp"
#include "spmv/format_profile.hpp"
#include "spmv/matrix_market.hpp"
#include "target.hpp"
#include "temp_folder.hpp"

/// Configurations, weights, profiles and matrices, which are text.
namespace diacut::fuzz {
namespace {

FileBytes shipped(const std::string& name) {
  return bytes_of(testing::read_bytes(std::string(DIACUT_SOURCE_DIR "/configs/") + name));
}

void read_configuration(const FileBytes& text) {
  const Parameters parameters = parse_parameters(text_of(text), "fuzzed");
  const std::string printed = print_parameters(parameters);
  require(print_parameters(parse_parameters(printed, "printed")) == printed,
          "a configuration is read as it was printed");
}

std::vector<FileBytes> configuration_seeds() {
  return {shipped("fast.toml"), shipped("nuclei.toml"), bytes_of("[eigen]\nvectors = 17\n"),
          bytes_of("[image]\nrange = 'data'\n[region]\nmin_size = '0.1%'\nregions = 0x10\n")};
}

void read_weights(const FileBytes& text) {
  const MergingWeights weights = parse_merging_weights(text_of(text), "fuzzed");
  require(weights.threshold >= 0 && weights.threshold <= 1, "a probability lies in [0, 1]");
  for (const MergingModel* model : {&weights.colour, &weights.grey}) {
    require(std::isfinite(model->bias), "weights are finite");
  }
}

std::vector<FileBytes> weight_seeds() { return {shipped("merging.json")}; }

void read_device_profile(const FileBytes& bytes) {
  const std::string text = text_of(bytes);
  const MatvecProfile matvec = parse_matvec_profile(text, "fuzzed");
  for (const MatvecProfile::Rate& rate : matvec.rates) {
    require(rate.gflops >= 0 && std::isfinite(rate.gflops), "a rate is a number");
  }
  matvec.fastest(1000);
  const FormatProfile formats = parse_format_profile(text, "fuzzed");
  for (const FormatProfile::Rates& rates : formats.rates) {
    require(rates.gflops.size() == formats.rows.size() * formats.row_lengths.size(),
            "a table has a rate for each place");
    formats.expected_milliseconds(rates, 1000, 5000);
  }
}

std::vector<FileBytes> profile_seeds() {
  return {bytes_of(testing::plausible_profile_text(DeviceKind::kCpu)),
          shipped("profile-pocl.json")};
}

void read_matrix(const FileBytes& bytes) {
  const std::string text = text_of(bytes);
  const CsrMatrix matrix = parse_matrix_market(text, "fuzzed").matrix;
  require(matrix.starts.size() == matrix.rows + 1, "each row of a matrix has a start");
  require(matrix.columns.size() == matrix.starts.back(), "each entry has a column");
  require(matrix.values.size() == matrix.starts.back(), "each entry has a value");
}

std::vector<FileBytes> matrix_seeds() {
  return {bytes_of("%%MatrixMarket matrix coordinate real general\n% a comment\n2 3 2\n"
                   "1 1 -2.5e1\n2 3 .5\n"),
          bytes_of("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n"),
          bytes_of("%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n2 1 7\n"),
          bytes_of("%%MatrixMarket matrix array real general\n2 2\n1\n0\n0\n4\n"),
          bytes_of("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n4\n")};
}

void read_geojson(const FileBytes& bytes) {
  constexpr int kWidth = 40;
  constexpr int kHeight = 30;
  const auto draw = [&](MarkedBy by) {
    draw_geojson(bytes, kWidth, kHeight, by, [&](std::size_t pixel, std::int32_t label) {
      require(pixel < std::size_t{kWidth} * kHeight, "a mark lies in the picture");
      require(label >= 1 && (by == MarkedBy::kLabels || label == 1), "a mark has a label");
    });
  };
  read_by_any({[&] { draw(MarkedBy::kLabels); }, [&] { draw(MarkedBy::kLines); }});
}

std::vector<FileBytes> geojson_seeds() {
  const auto feature = [](int label, const std::string& type, const std::string& coordinates) {
    return R"({"type":"Feature","properties":{"label":)" + std::to_string(label) +
           R"(},"geometry":{"type":")" + type + R"(","coordinates":)" + coordinates + "}}";
  };
  const std::string area = "[[[2,2],[9.5,3],[8,12],[2,2]],[[4,4],[5,4],[5,6],[4,4]]]";
  return {bytes_of(feature(1, "Point", "[3.5,4.5]")),
          bytes_of(feature(2, "MultiPoint", "[[1,1],[39.5,29.5]]")),
          bytes_of(feature(3, "LineString", "[[0,0],[39,29],[39,0]]")),
          bytes_of(feature(4, "MultiLineString", "[[[0,0],[3,9]],[[5,5],[20,5]]]")),
          bytes_of(feature(5, "Polygon", area)),
          bytes_of(R"({"type":"FeatureCollection","features":[)" +
                   feature(6, "MultiPolygon", "[" + area + "]") + "," +
                   feature(7, "Point", "[20,20]") + "]}")};
}

}  // namespace

std::vector<Target> text_targets() {
  return {
      {"configuration", read_configuration, configuration_seeds, {"lib/core/parameters.cpp"}},
      {"merging_weights", read_weights, weight_seeds, {"lib/region/merging_weights.cpp"}},
      {"device_profile",
       read_device_profile,
       profile_seeds,
       {"lib/matrix/device_profile.cpp", "lib/matrix/matvec_profile.cpp",
        "lib/spmv/format_profile.cpp"}},
      {"geojson", read_geojson, geojson_seeds, {"lib/image/geojson_marks.cpp"}},
      {"matrix_market", read_matrix, matrix_seeds, {"lib/spmv/matrix_market.cpp"}},
  };
}

}  // namespace diacut::fuzz
