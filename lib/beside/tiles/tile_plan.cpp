#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "diacut/version.hpp"
#include "map/picture_blocks.hpp"
#include "map/region_format.hpp"
#include "output/format.hpp"
#include "tiles/tile_steps.hpp"

namespace diacut {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "diacut tile plan";
constexpr int kFormatVersion = 3;
constexpr const char* kPlanFile = "plan.json";
constexpr int kLargestTile = 1 << 15;

/// Size and time of a file; zeros of what is no file.
std::pair<std::uint64_t, std::int64_t> stamp_of(const std::string& source) {
  std::error_code failed;
  const std::uint64_t bytes = fs::file_size(source, failed);
  if (failed) return {0, 0};
  const auto time = fs::last_write_time(source, failed).time_since_epoch().count();
  return {bytes, failed ? 0 : static_cast<std::int64_t>(time)};
}

void keep_to_tiles(Parameters& parameters, std::vector<std::string>& notes) {
  if (parameters.region.method != RegionMethod::kHierarchy) {
    throw ConfigError("tiles are segmented by --method hierarchy alone: leave out --tile-size");
  }
  if (parameters.region.merging == MergingRule::kLearned) {
    throw ConfigError(
        "--merging learned looks at whole regions, which tiles do not have: with --tile-size "
        "regions merge by --merging strength");
  }
  if (parameters.contour.spectral == SpectralUse::kFull) {
    throw ConfigError(
        "--spectral full needs eigenvectors of the whole picture: with --tile-size contours are "
        "made without them (--spectral never)");
  }
  if (parameters.boundary.kind == BoundaryKind::kLearned &&
      (parameters.boundary.turns != 1 || parameters.boundary.pose != NetworkPose::kGiven)) {
    throw ConfigError(
        "with --tile-size networks see the picture as it is: set boundary.turns to 1 and "
        "boundary.pose to given (--set boundary.turns=1 --set boundary.pose=given)");
  }
  if (parameters.image.detail != 0 || parameters.region.merging == MergingRule::kAuto ||
      parameters.contour.spectral == SpectralUse::kDecimated) {
    notes.emplace_back(
        "Tiles are segmented with --detail native --merging strength --spectral never.");
  }
  parameters.image.detail = 0;
  parameters.region.merging = MergingRule::kStrength;
  parameters.contour.spectral = SpectralUse::kNever;
}

/// The side of tiles that keeps within `memory`, a multiple of the blocks of most files.
int automatic_tile(const Parameters& parameters, std::uint64_t memory) {
  constexpr int kStep = 256;
  // Bytes that a pixel of a tile takes, with what is around it, and what a tile takes at least.
  const bool learned = parameters.boundary.kind == BoundaryKind::kLearned;
  const double a_pixel = learned ? 200 : 160;
  const double least = learned ? 1.2e9 : 0.2e9;
  const int most = learned ? 2048 : 4096;
  if (memory == 0) return most;
  const double pixels = std::max(static_cast<double>(memory) - least, 0.0) / a_pixel;
  const auto side = static_cast<int>(std::min(std::sqrt(pixels), double{kLargestTile}));
  return std::clamp(side / kStep * kStep, kStep, most);
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("{}: cannot be read: name the file of a plan", path));
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Calls visit(name, member) for what the plan's file holds beside its parameters.
template <class Plan, class Visit>
void each_member(Plan& plan, const Visit& visit) {
  visit("source", plan.source);
  visit("source_bytes", plan.source_bytes);
  visit("source_time", plan.source_time);
  visit("output", plan.output);
  visit("contours", plan.contours);
  visit("cloud_optimised", plan.cloud_optimised);
  visit("bands", plan.bands);
  visit("width", plan.width);
  visit("height", plan.height);
  visit("tile_size", plan.tile_size);
  visit("whole", plan.whole);
  visit("range", plan.range);
}

TilePlan from_json(const Json& json) {
  TilePlan plan;
  if (json.value("format", "") != kFormat) throw InputError("it is no plan of tiles");
  if (json.value("version", 0) != kFormatVersion || json.value("program", "") != kVersion) {
    throw InputError(
        fmt::format("it was made by diacut {}, and labels may differ between versions: make the "
                    "plan anew with this one ({})",
                    json.value("program", "of another version"), kVersion));
  }
  each_member(plan, [&](const char* name, auto& value) { json.at(name).get_to(value); });
  for (const auto& [key, value] : json.at("parameters").items()) {
    set_parameter(plan.parameters, key, value.get<std::string>());
  }
  if (plan.width < 1 || plan.height < 1 || plan.tile_size < 1 || plan.tile_size > kLargestTile ||
      plan.width > std::numeric_limits<int>::max() / 2 ||
      plan.height > std::numeric_limits<int>::max() / 2) {
    throw InputError(fmt::format("tiles of {} pixels do not fit a picture of {} x {}",
                                 plan.tile_size, plan.width, plan.height));
  }
  return plan;
}

}  // namespace

std::string folder_of(const std::string& plan_path) {
  const fs::path folder = fs::path(plan_path).parent_path();
  return folder.empty() ? "." : folder.string();
}

std::string plan_text(const TilePlan& plan) {
  Json parameters = Json::object();
  for (const auto& [key, value] : list_parameters(plan.parameters)) parameters[key] = value;
  Json json = {{"format", kFormat}, {"version", kFormatVersion}, {"program", kVersion}};
  each_member(plan, [&](const char* name, const auto& value) {
    json[name] = value;
    if (name == std::string_view("tile_size")) json["tiles"] = tiling_of(plan).tiles();
  });
  json["parameters"] = parameters;
  return json.dump(2) + "\n";
}

TilePlan complete_plan(TilePlan plan, std::uint64_t memory, std::vector<std::string>& notes) {
  keep_to_tiles(plan.parameters, notes);
  if (!plan.contours.empty()) check_extension(plan.contours, "contours in tiles", ".tif, .tiff");
  if (plan.tile_size == 0) plan.tile_size = automatic_tile(plan.parameters, memory);
  if (plan.tile_size < 1 || plan.tile_size > kLargestTile) {
    throw ConfigError(fmt::format("tiles of {} pixels: give a side of 1 to {} pixels",
                                  plan.tile_size, kLargestTile));
  }
  std::tie(plan.source_bytes, plan.source_time) = stamp_of(plan.source);
  const auto picture = open_picture(plan.source, plan.parameters.image, plan.bands);
  plan.width = picture->frame.width;
  plan.height = picture->frame.height;
  if (names_polygons(plan.output)) check_map_regions(plan.output, picture->frame);
  plan.range = picture->value_range(notes);
  notes.insert(notes.end(), picture->notes.begin(), picture->notes.end());
  plan.whole = picture->is_whole();
  return plan;
}

std::string write_tile_plan(const std::string& folder, const TilePlan& plan) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    throw InputError(fmt::format("{}: the folder cannot be made: {}", folder, failed.message()));
  }
  std::string path = (fs::path(folder) / kPlanFile).string();
  const std::string text = plan_text(plan);
  if (fs::exists(path)) {
    if (text_of(path) == text) return path;
    throw InputError(
        fmt::format("{}: it is the plan of another run: the picture, the options or the program "
                    "differ. Remove the folder, or name another one with --tiles-in",
                    path));
  }
  write_file(path, text);
  return path;
}

TilePlan read_tile_plan(const std::string& path) {
  try {
    return from_json(Json::parse(text_of(path)));
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format(
        "{}: it is no plan of tiles ({}): make it with segment --plan-only", path, error.what()));
  } catch (const InputError& error) {
    const std::string what = error.what();
    throw InputError(what.starts_with(path) ? what : fmt::format("{}: {}", path, what));
  } catch (const ConfigError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

void check_source(const TilePlan& plan) {
  if (std::pair(plan.source_bytes, plan.source_time) == stamp_of(plan.source)) return;
  throw InputError(
      fmt::format("{}: it is missing or has changed since the plan was made: put it back, or make "
                  "a new plan in another folder",
                  plan.source));
}

}  // namespace diacut
