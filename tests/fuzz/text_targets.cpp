#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "device_profiles.hpp"
#include "diacut/errors.hpp"
#include "diacut/parameters.hpp"
#include "image/geojson_marks.hpp"
#include "matrix/device_profile.hpp"
#include "output/annotation_parts.hpp"
#include "region/tree/merging_weights.hpp"
#include "sparse_matrices.hpp"
#include "spmv/format_profile.hpp"
#include "spmv/matrix_market.hpp"
#include "spoilt.hpp"
#include "target.hpp"
#include "temp_folder.hpp"

/// Configurations, weights, profiles and matrices, which are text.
namespace diacut::fuzz {
namespace {

/// A file, or "set", a key and a value, as `segment --set` takes them.
Parameters parameters_of(const FileBytes& bytes) {
  const std::string text = text_of(bytes);
  constexpr std::string_view kSet = "set ";
  if (!text.starts_with(kSet)) return load_parameters(FileInMemory(bytes).path());
  const std::size_t space = std::min(text.find(' ', kSet.size()), text.size());
  Parameters parameters;
  set_parameter(parameters, text.substr(kSet.size(), space - kSet.size()),
                text.substr(std::min(space + 1, text.size())));
  return parameters;
}

void read_configuration(const FileBytes& bytes) {
  const Parameters parameters = parameters_of(bytes);
  const std::string printed = print_parameters(parameters);
  // Of parameters that were set one by one some may contradict others.
  const bool contradicts = [&] {
    try {
      validate(parameters);
      return false;
    } catch (const ConfigError&) {
      return true;
    }
  }();
  if (!contradicts) {
    require(print_parameters(parse_parameters(printed, "printed")) == printed,
            "a configuration is read as it was printed");
  }
  require(describe_parameters().size() == list_parameters(parameters).size(),
          "each parameter is described");
  Parameters listed;
  for (const auto& [key, value] : list_parameters(parameters)) set_parameter(listed, key, value);
  require(print_parameters(listed) == printed, "each parameter is set to what it is listed as");
  require(makes_hierarchy(parameters) || parameters.region.method != RegionMethod::kHierarchy,
          "the method hierarchy makes a hierarchy");
}

std::vector<FileBytes> configuration_seeds() {
  return {shipped("fast.toml"),
          shipped("nuclei.toml"),
          shipped("default.toml"),
          bytes_of("[eigen]\nvectors = 17\n"),
          bytes_of("# a comment alone\n"),
          bytes_of("[region]\nmethod = 'walker'\n[boundary]\nweights = 'a \\\\ b'\n"),
          bytes_of("[region]\nmethod = 'objects'\n[contour]\nspectral = 'never'\n"),
          bytes_of("[contour]\nspectral = 'full'\n"),
          bytes_of("set eigen.vectors 17"),
          bytes_of("set eigen.tolerance 1e-5"),
          bytes_of("set eigen.solver lanczos"),
          bytes_of("set image.untrusted true"),
          bytes_of("set image.untrusted false"),
          bytes_of("set region.min_size 0.1%"),
          bytes_of("set region.min_size 100"),
          bytes_of("set affinity.strides 1,2"),
          bytes_of("set boundary.weights my file"),
          bytes_of("[image]\nrange = 'data'\n[region]\nmin_size = '0.1%'\nregions = 0x10\n")};
}

void read_weights(const FileBytes& bytes) {
  const FileInMemory file(bytes);
  const MergingWeights weights = load_merging_weights(file.path());
  require(weights.threshold >= 0 && weights.threshold <= 1, "a probability lies in [0, 1]");
  for (const MergingModel* model : {&weights.colour, &weights.grey}) {
    for (const double value : {0.0, 1.0, -1e30, 1e30}) {
      PairFeatures features;
      features.fill(value);
      require(std::isfinite(model->logit(features)), "weights give a number");
    }
  }
}

std::vector<FileBytes> weight_seeds() { return {shipped("merging.json")}; }

/// Puts a file where the profile of a device is looked for.
class UserProfile {
 public:
  UserProfile(const DeviceInfo& device, const std::string& file) {
    static const testing::TempFolder home;
    ::setenv("XDG_DATA_HOME", (home / "").c_str(), 1);
    path_ = profile_path(device);
    std::filesystem::create_directories(std::filesystem::path(path_).parent_path());
    std::filesystem::remove(path_);
    std::filesystem::create_symlink(file, path_);
  }
  ~UserProfile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
    ::unsetenv("XDG_DATA_HOME");
  }
  UserProfile(const UserProfile&) = delete;
  UserProfile& operator=(const UserProfile&) = delete;

 private:
  std::string path_;
};

/// Profiles of the user that are damaged are passed over with a note.
void find_profiles(const FileBytes& bytes) {
  const FileInMemory file(bytes);
  const ProfiledDevice plausible = testing::plausible_device(DeviceKind::kCpu);
  DeviceInfo device;
  device.name = plausible.name;
  device.platform = plausible.platform;
  device.driver = plausible.driver;
  device.kind = plausible.kind;
  const UserProfile placed(device, file.path());
  const FoundProfile<MatvecProfile> matvec = find_matvec_profile(device);
  require(matvec.profile.has_value() != matvec.origin.source.empty(), "a profile has a source");
  require(matvec.profile || !matvec.origin.note.empty(), "a note tells of a profile passed over");
  const FoundProfile<FormatProfile> formats = find_format_profile(device);
  require(formats.profile || !formats.origin.note.empty(), "a note tells of a profile passed over");
  require(!formats.profile || formats.profile->device.driver == device.driver,
          "a profile is of its device");
}

void read_device_profile(const FileBytes& bytes) {
  find_profiles(bytes);
  const std::string text = text_of(bytes);
  const MatvecProfile matvec = parse_matvec_profile(text, "fuzzed");
  for (const MatvecProfile::Rate& rate : matvec.rates) {
    require(rate.gflops >= 0 && std::isfinite(rate.gflops), "a rate is a number");
  }
  matvec.fastest(1000, std::vector{MatvecStorage::kFloat32});
  const FormatProfile formats = parse_format_profile(text, "fuzzed");
  for (const FormatProfile::Rates& rates : formats.rates) {
    require(rates.gflops.size() == formats.rows.size() * formats.row_lengths.size(),
            "a table has a rate for each place");
    for (const double rows : {0.0, 1000.0, 1e5, 1e9}) {
      formats.expected_milliseconds(rates, rows, 5 * rows);
    }
  }
  const std::string written =
      profile_text(formats.device, {format_profile_part(formats), matvec_profile_part(matvec)});
  const FormatProfile again = parse_format_profile(written, "written");
  require(again.device == formats.device && again.rates.size() == formats.rates.size(),
          "a profile is read as it was written");
}

std::vector<FileBytes> text_targets_profile_seeds() {
  return {bytes_of(testing::plausible_profile_text(DeviceKind::kCpu)),
          shipped("profile-pocl.json")};
}

void read_matrix(const FileBytes& bytes) {
  const FileInMemory file(bytes);
  const CsrMatrix matrix = read_matrix_market(file.path());
  require(matrix.starts.size() == matrix.rows + 1, "each row of a matrix has a start");
  require(matrix.columns.size() == matrix.starts.back(), "each entry has a column");
  require(matrix.values.size() == matrix.starts.back(), "each entry has a value");
  // What is written takes a line for each row, which few bytes may announce many of.
  if (matrix.rows > static_cast<std::size_t>(kMostPixels)) return;
  const std::string written = matrix_market_text(matrix);
  require(parse_matrix_market(written, "written").columns == matrix.columns,
          "a matrix is read as it was written");
}

std::vector<FileBytes> matrix_seeds() {
  return {bytes_of("%%MatrixMarket matrix coordinate real general\n% a comment\n2 3 2\n"
                   "1 1 -2.5e1\n2 3 .5\n"),
          bytes_of("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n"),
          bytes_of("%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n2 1 7\n")};
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
  require(begins_as_json(bytes), "what is drawn is told by its beginning");
}

std::vector<FileBytes> geojson_seeds() {
  const auto feature = [](int label, const std::string& type, const std::string& coordinates) {
    return R"({"type":"Feature","properties":{"label":)" + std::to_string(label) +
           R"(},"geometry":{"type":")" + type + R"(","coordinates":)" + coordinates + "}}";
  };
  const std::string area = "[[[2,2],[9.5,3],[8,12],[2,2]],[[4,4],[5,4],[5,6],[4,4]]]";
  return {bytes_of(feature(1, "Point", "[3.5,4.5]")),
          bytes_of(feature(0, "Point", "[3.5,4.5]")),  // Lines need no label.
          bytes_of(feature(2, "MultiPoint", "[[1,1],[39.5,29.5]]")),
          bytes_of(feature(3, "LineString", "[[0,0],[39,29],[39,0]]")),
          bytes_of(feature(4, "MultiLineString", "[[[0,0],[3,9]],[[5,5],[20,5]]]")),
          bytes_of(feature(5, "Polygon", area)),
          bytes_of(R"({"type":"FeatureCollection","features":[)" +
                   feature(6, "MultiPolygon", "[" + area + "]") + "," +
                   feature(7, "Point", "[20,20]") + "]}")};
}

template <auto kLabels>
void read_drawn_labels(const FileBytes& bytes) {
  const LabelImage image = kLabels(bytes, "a.png", 1 << 20);
  const auto count = static_cast<std::int64_t>(image.numbers.size());
  require(image.labels.count == count, "each number is one label");
  for (const std::int32_t label : image.labels.values) {
    require(label >= 0 && label <= count, "a pixel has a label");
  }
}

std::vector<FileBytes> coco_seeds() {
  const auto file = [](const std::string& shape) {
    return bytes_of(R"({"images":[{"id":1,"file_name":"p/a.png","width":4,"height":3}],)"
                    R"("annotations":[{"id":1,"image_id":1,"attributes":{"label":7},)"
                    R"("segmentation":)" +
                    shape + "}]}");
  };
  return {file("[[0,0,2,0,2,2.5,0,2],[3,1,4,1,4,2]]"), file(R"({"size":[3,4],"counts":[2,3,7]})"),
          file(R"({"size":[3,4],"counts":"237"})")};
}

std::vector<FileBytes> cvat_seeds() {
  return {bytes_of(
      R"(<?xml version="1.0"?><annotations><image name="p/a.png" width="4" height="3">)"
      R"(<polygon points="0.0,0.0;2.0,0.0;2.0,2.5"><attribute name="label">7</attribute></polygon>)"
      R"(<mask rle="1, 3" left="2" top="1" width="2" height="2"/><box/></image></annotations>)")};
}

}  // namespace

std::vector<Target> text_targets() {
  return {
      {"configuration",
       read_configuration,
       configuration_seeds,
       {"lib/vision/parameters/parameters.cpp"},
       spoilt_configurations},
      {"merging_weights",
       read_weights,
       weight_seeds,
       {"lib/vision/region/tree/merging_weights.cpp"},
       spoilt_weights},
      {"device_profile",
       read_device_profile,
       text_targets_profile_seeds,
       {"lib/solver/matrix/device_profile.cpp", "lib/solver/spmv/format_profile.cpp"},
       spoilt_profiles},
      {"geojson",
       read_geojson,
       geojson_seeds,
       {"lib/files/image/geojson_marks.cpp"},
       spoilt_geojson},
      {"coco",
       read_drawn_labels<coco_labels>,
       coco_seeds,
       {"lib/files/output/drawn_labels.cpp"},
       spoilt_coco},
      {"cvat",
       read_drawn_labels<cvat_labels>,
       cvat_seeds,
       {"lib/files/output/drawn_labels.cpp"},
       spoilt_cvat},
      {"matrix_market",
       read_matrix,
       matrix_seeds,
       {"lib/solver/spmv/matrix_market.cpp"},
       spoilt_matrices},
  };
}

}  // namespace diacut::fuzz
