#include "evaluate/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/extension.hpp"
#include "diacut/errors.hpp"
#include "evaluate/mat_file.hpp"

namespace diacut {

namespace {

namespace fs = std::filesystem;

bool is_doubled(const Raster& result, int width, int height) {
  return result.width == 2 * width + 1 && result.height == 2 * height + 1;
}

bool has_size(const Raster& result, int width, int height) {
  return result.width == width && result.height == height;
}

/// Whether the values of a grey picture are numbers of regions.
bool numbers_regions(const Raster& result) {
  std::vector<std::int64_t> count(static_cast<std::size_t>(result.full) + 1, 0);
  std::size_t alike = 0;
  const std::vector<std::int64_t> values = whole_numbers(result, 0, result.full, "grey");
  for (std::size_t i = 0; i < values.size(); ++i) {
    ++count[static_cast<std::size_t>(values[i])];
    const bool row_goes_on = (i + 1) % static_cast<std::size_t>(result.width) != 0;
    if (!row_goes_on || values[i] == values[i + 1]) ++alike;
  }
  if (count.back() != 0) return false;
  std::size_t greatest = count.size() - 1;
  while (greatest > 0 && count[greatest] == 0) --greatest;
  for (std::size_t value = 1; value <= greatest; ++value) {
    if (count[value] == 0) return false;
  }
  const auto zeros = static_cast<std::size_t>(count[0]);
  return 2 * zeros < values.size() && 3 * alike > 2 * values.size();
}

}  // namespace

std::string to_string(ResultKind kind) {
  return kind == ResultKind::kContours ? "contours"
         : kind == ResultKind::kLabels ? "labels"
                                       : "ultrametric";
}

std::vector<fs::directory_entry> list_folder(const std::string& folder) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!at->path().filename().string().starts_with('.')) entries.push_back(*at);
  }
  if (error) {
    throw InputError(fmt::format("{}: cannot be read as a folder: {}", folder, error.message()));
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

bool is_scored(const fs::path& path) {
  return has_extension(path, kRasterExtensions) || has_extension(path, ".mat");
}

std::vector<ResultFile> find_results(const std::string& folder) {
  std::vector<ResultFile> results;
  for (const fs::directory_entry& entry : list_folder(folder)) {
    if (entry.is_directory() || !is_scored(entry.path())) continue;
    results.push_back({entry.path().stem().string(), entry.path().string()});
  }
  std::sort(results.begin(), results.end(),
            [](const ResultFile& a, const ResultFile& b) { return a.name < b.name; });
  const auto same =
      std::adjacent_find(results.begin(), results.end(),
                         [](const ResultFile& a, const ResultFile& b) { return a.name == b.name; });
  if (same != results.end()) {
    throw InputError(fmt::format("{}: two results have the name '{}', {} and {}: keep one", folder,
                                 same->name, same->path, std::next(same)->path));
  }
  if (results.empty()) {
    throw InputError(fmt::format(
        "{}: holds no results: expected .png, .tif, .npy or .mat files, one an image", folder));
  }
  return results;
}

Raster read_result(const std::string& path) {
  if (has_extension(path, ".mat")) return read_mat_matrix(path, {"ucm2", "ucm"});
  return read_raster(path);
}

ResultKind detect_kind(const Raster& result, int width, int height) {
  if (is_doubled(result, width, height)) return ResultKind::kUltrametric;
  check_result_size(result, ResultKind::kContours, width, height);
  if (!result.is_integer) return ResultKind::kContours;
  if (result.is_indexed || !result.is_grey) return ResultKind::kLabels;
  return numbers_regions(result) ? ResultKind::kLabels : ResultKind::kContours;
}

void check_result_size(const Raster& result, ResultKind kind, int width, int height) {
  if (kind == ResultKind::kUltrametric ? is_doubled(result, width, height)
                                       : has_size(result, width, height)) {
    return;
  }
  const std::string found = fmt::format("is {} x {}", result.width, result.height);
  if (kind == ResultKind::kUltrametric) {
    throw InputError(fmt::format("{}, its ground truth {} x {}: an ultrametric map has {} x {}",
                                 found, width, height, 2 * width + 1, 2 * height + 1));
  }
  throw InputError(fmt::format("{}, its ground truth {} x {}: expected the same size{}", found,
                               width, height,
                               has_size(result, height, width) ? " (is it turned?)" : ""));
}

std::vector<std::int32_t> labels_of(const Raster& result) {
  using Limits = std::numeric_limits<std::int32_t>;
  const std::vector<std::int64_t> numbers = whole_numbers(
      result, Limits::min(), Limits::max(), "the number of a region, of at most 32 bits");
  return {numbers.begin(), numbers.end()};
}

std::vector<double> contours_of_ultrametric(const std::vector<double>& strength, int width,
                                            int height) {
  const auto w = static_cast<std::size_t>(width);
  const auto h = static_cast<std::size_t>(height);
  std::vector<double> contours;
  contours.reserve(w * h);
  for (std::size_t y = 0; y < h; ++y) {
    for (std::size_t x = 0; x < w; ++x) {
      contours.push_back(strength[(2 * y + 2) * (2 * w + 1) + 2 * x + 2]);
    }
  }
  return contours;
}

}  // namespace diacut
