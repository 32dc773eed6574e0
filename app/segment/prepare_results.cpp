#include "prepare_results.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "diacut/output.hpp"
#include "diacut/page.hpp"
#include "map/region_format.hpp"
#include "output/format.hpp"
#include "paths.hpp"

namespace diacut::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEigenvectorsFile = "eigenvectors.npy";

/// Throws InputError if files cannot be made in a folder.
void check_takes_files(const std::string& folder) {
  check_writable((fs::path(folder) / kEigenvectorsFile).string());
}

void prepare_folder(const char* option, const std::string& folder) {
  if (folder.empty()) return;
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    throw InputError(
        fmt::format("{}: cannot create the folder '{}': {}", option, folder, failed.message()));
  }
  check_takes_files(folder);
}

void check_file(const char* option, const std::string& file) {
  if (file.back() == '/') {
    throw InputError(
        fmt::format("{}: the folder '{}' does not exist; create it first", option, file));
  }
  check_writable(file);
}

/// Throws InputError or ConfigError if a single image's result cannot be written to its place.
void prepare_single(const ResultInfo& info, const std::string& place, const Options& options) {
  if (info.result == Result::kEigenvectors) {
    check_folder_name(info.option, place);
    if (is_folder(place)) {
      check_takes_files(place);
    } else {
      const fs::path folder(place);
      check_writable((folder.has_filename() ? folder : folder.parent_path()).string());
    }
    return;
  }
  check_file(info.option, place);
  check_name(info.result, place, options.labels);
}

}  // namespace

void check_name(Result result, const std::string& place, const LabelStyle& labels) {
  switch (result) {
    case Result::kLabels:
      return check_labels_name(place, labels);
    case Result::kOverlay:
      picture_format(place);
      return;
    case Result::kUltrametric:
    case Result::kContours:
      return check_strength_name(place);
    case Result::kPage:
      return check_page_name(place);
    default:  // Of one format.
      return;
  }
}

void check_folder_name(const char* option, const std::string& path) {
  if (path.empty() || is_folder(path)) return;
  if (exists(path)) {
    throw InputError(fmt::format("{}: '{}' is a file; a folder is needed", option, path));
  }
  if (names_polygons(path)) {
    throw ConfigError(fmt::format(
        "{}: '{}' would hold the polygons of one scene; several images need a folder, in which "
        "each scene has its labels as a GeoTIFF: name a folder, or segment the scenes one by one",
        option, path));
  }
  if (has_image_extension(path)) {
    throw ConfigError(fmt::format("{}: '{}' is a file's name; a folder is needed", option, path));
  }
}

void prepare_results(const Options& options, const Plan& plan) {
  if (!options.json.empty()) check_writable(options.json);
  if (!plan.stack.empty()) check_file("-o", plan.stack);
  if (plan.batch) {
    for (const ResultInfo& info : kResults) {
      const std::string& place = plan.roots.results[info.result];
      if (!info.of_run(place)) {
        prepare_folder(info.option, place);
      } else if (!place.empty()) {
        check_file(info.option, place);
      }
    }
    return;
  }
  for (const Job& job : plan.jobs) {
    for (const ResultInfo& info : kResults) {
      const std::string& place = job.results[info.result];
      if (!place.empty()) prepare_single(info, place, options);
    }
  }
}

bool is_done(const Job& job) {
  if (!job.stack.empty() && !exists(job.stack)) return false;
  bool any = !job.stack.empty();
  for (const ResultInfo& info : kResults) {
    const std::string& place = job.results[info.result];
    if (place.empty()) continue;
    const bool folder = info.result == Result::kEigenvectors;
    const std::string file = folder ? (fs::path(place) / kEigenvectorsFile).string() : place;
    if (file == "-" || !exists(file)) return false;
    any = true;
  }
  return any;
}

}  // namespace diacut::app
