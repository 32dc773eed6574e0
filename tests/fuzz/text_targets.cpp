#include <array>
#include <cmath>
#include <string>

#include "device_profiles.hpp"
#include "diacut/parameters.hpp"
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
      {"matrix_market", read_matrix, matrix_seeds, {"lib/spmv/matrix_market.cpp"}},
  };
}

}  // namespace diacut::fuzz
