#include "evaluate/ground_truth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>

#include "core/extension.hpp"
#include "diacut/errors.hpp"
#include "evaluate/mat_file.hpp"
#include "evaluate/result.hpp"
#include "image/naming.hpp"

namespace diacut {

namespace {

/// Whether a pixel is removed, by the code of its neighbours: bit k is the neighbour k eighths of a
/// turn counterclockwise from the right one.
using Rule = std::array<bool, 256>;

Rule rule(bool second_pass) {
  Rule goes{};
  for (unsigned code = 0; code < goes.size(); ++code) {
    const auto x = [code](unsigned k) { return (code >> (k % 8) & 1U) != 0; };
    int crossings = 0;
    int pairs_from_even = 0;
    int pairs_from_odd = 0;
    for (unsigned k = 0; k < 8; k += 2) {
      if (!x(k) && (x(k + 1) || x(k + 2))) ++crossings;
      if (x(k) || x(k + 1)) ++pairs_from_even;
      if (x(k + 1) || x(k + 2)) ++pairs_from_odd;
    }
    const int neighbours = std::min(pairs_from_even, pairs_from_odd);
    // The second pass tests the neighbours on the opposite side.
    const unsigned turn = second_pass ? 4 : 0;
    const bool inner = (x(turn + 1) || x(turn + 2) || !x(turn + 7)) && x(turn);
    goes[code] = crossings == 1 && neighbours >= 2 && neighbours <= 3 && !inner;
  }
  return goes;
}

namespace fs = std::filesystem;

/// "a" for "a_12"; nothing for a name without a number.
std::optional<std::string> without_number(const std::string& stem) {
  const std::size_t last = stem.find_last_not_of("0123456789");
  if (last == std::string::npos || last == 0 || last + 1 == stem.size() || stem[last] != '_') {
    return std::nullopt;
  }
  return stem.substr(0, last);
}

/// Orders names by length first, so that a_10 comes after a_9.
bool in_order(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

std::vector<std::string> label_files(const fs::path& folder) {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : list_folder(folder.string())) {
    if (entry.is_regular_file() && has_extension(entry.path(), kRasterExtensions)) {
      paths.push_back(entry.path().string());
    }
  }
  std::sort(paths.begin(), paths.end(), in_order);
  return paths;
}

void check_same_size(const Raster& raster, GroundTruth& truth, const std::string& path) {
  if (truth.width == 0) {
    truth.width = raster.width;
    truth.height = raster.height;
  }
  if (raster.width != truth.width || raster.height != truth.height) {
    throw InputError(fmt::format("{}: is {} x {} pixels, another annotation of the image {} x {}",
                                 path, raster.width, raster.height, truth.width, truth.height));
  }
}

void read_mat(const std::string& path, GroundTruth& truth) {
  for (const std::vector<Raster>& fields :
       read_mat_cells(path, "groundTruth", {"Segmentation", "Boundaries"})) {
    const Raster& boundaries = fields[1];
    check_same_size(fields[0], truth, path);
    check_same_size(boundaries, truth, path);
    Annotation annotation;
    annotation.labels = naming(path, [&] { return labels_of(fields[0]); });
    for (const double value : boundaries.values) annotation.boundaries.push_back(value != 0);
    truth.annotations.push_back(std::move(annotation));
  }
}

}  // namespace

std::vector<std::uint8_t> thin(std::span<const std::uint8_t> mask, int width, int height) {
  static const std::array<Rule, 2> rules = {rule(false), rule(true)};
  const auto w = static_cast<std::size_t>(width);
  const auto h = static_cast<std::size_t>(height);
  const std::size_t stride = w + 2;  // A frame that is not set, so that every pixel has neighbours.
  std::vector<std::uint8_t> framed(stride * (h + 2), 0);
  std::vector<std::size_t> set;
  for (std::size_t y = 0; y < h; ++y) {
    for (std::size_t x = 0; x < w; ++x) {
      if (mask[y * w + x] == 0) continue;
      set.push_back((y + 1) * stride + x + 1);
      framed[set.back()] = 1;
    }
  }
  const auto code_of = [&](std::size_t at) {
    const std::uint8_t* above = framed.data() + at - stride;
    const std::uint8_t* here = framed.data() + at;
    const std::uint8_t* below = framed.data() + at + stride;
    return static_cast<std::size_t>(here[1] | above[1] << 1 | above[0] << 2 | above[-1] << 3 |
                                    here[-1] << 4 | below[-1] << 5 | below[0] << 6 | below[1] << 7);
  };
  std::vector<std::size_t> gone;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Rule& goes : rules) {
      gone.clear();
      for (const std::size_t at : set) {
        if (goes[code_of(at)]) gone.push_back(at);
      }
      if (gone.empty()) continue;
      changed = true;
      for (const std::size_t at : gone) framed[at] = 0;
      std::erase_if(set, [&](std::size_t at) { return framed[at] == 0; });
    }
  }
  std::vector<std::uint8_t> result(w * h, 0);
  for (const std::size_t at : set) result[(at / stride - 1) * w + at % stride - 1] = 1;
  return result;
}

std::vector<std::uint8_t> boundaries_of(std::span<const std::int32_t> labels, int width,
                                        int height) {
  const auto w = static_cast<std::size_t>(width);
  const auto h = static_cast<std::size_t>(height);
  std::vector<std::uint8_t> boundaries(w * h, 0);
  for (std::size_t y = 0; y < h; ++y) {
    for (std::size_t x = 0; x < w; ++x) {
      const std::size_t right = x + 1 < w ? 1 : 0;
      const std::size_t below = y + 1 < h ? w : 0;
      const std::int32_t* here = labels.data() + y * w + x;
      boundaries[y * w + x] =
          here[right] != *here || here[below] != *here || here[below + right] != *here ? 1 : 0;
    }
  }
  return boundaries;
}

std::vector<TruthEntry> find_ground_truth(const std::string& folder,
                                          const std::vector<std::string>& wanted) {
  const auto is_wanted = [&](const std::string& name) {
    return std::binary_search(wanted.begin(), wanted.end(), name);
  };
  struct Found {
    std::vector<std::string> whole;     ///< Each file is the whole ground truth of the name.
    std::vector<std::string> numbered;  ///< Each file is the work of one annotator.
  };
  std::map<std::string, Found> found;
  for (const fs::directory_entry& entry : list_folder(folder)) {
    const fs::path& path = entry.path();
    if (entry.is_directory()) {
      if (!label_files(path).empty())
        found[path.filename().string()].whole.push_back(path.string());
      continue;
    }
    if (!is_scored(path)) continue;
    const std::string stem = path.stem().string();
    const std::optional<std::string> prefix = without_number(stem);
    // Where the names of the results do not decide, "a_7" is an annotation of "a", and "a_007" a
    // name.
    const bool padded =
        prefix && stem.size() > prefix->size() + 2 && stem[prefix->size() + 1] == '0';
    const bool numbered = prefix && !has_extension(path, ".mat") && !is_wanted(stem) &&
                          (is_wanted(*prefix) || !padded);
    if (numbered) {
      found[*prefix].numbered.push_back(path.string());
    } else {
      found[stem].whole.push_back(path.string());
    }
  }
  std::vector<TruthEntry> entries;
  for (auto& [name, files] : found) {
    if (files.whole.size() + (files.numbered.empty() ? 0 : 1) > 1) {
      throw InputError(fmt::format(
          "{}: has more than one ground truth for '{}', {} and {}: keep one", folder, name,
          files.whole[0], files.whole.size() > 1 ? files.whole[1] : files.numbered[0]));
    }
    TruthEntry entry{name, {}};
    if (!files.numbered.empty()) {
      std::sort(files.numbered.begin(), files.numbered.end(), in_order);
      entry.paths = files.numbered;
    } else if (fs::is_directory(files.whole[0])) {
      entry.paths = label_files(files.whole[0]);
    } else {
      entry.paths = files.whole;
    }
    entries.push_back(std::move(entry));
  }
  if (entries.empty()) {
    throw InputError(
        fmt::format("{}: holds no ground truth: expected NAME.mat, NAME.png, NAME_0.png, ... or "
                    "folders NAME of "
                    "label images",
                    folder));
  }
  return entries;
}

GroundTruth read_ground_truth(const TruthEntry& entry) {
  GroundTruth truth;
  for (const std::string& path : entry.paths) {
    if (has_extension(path, ".mat")) {
      read_mat(path, truth);
      continue;
    }
    const Raster raster = read_raster(path);
    check_same_size(raster, truth, path);
    Annotation annotation;
    annotation.labels = naming(path, [&] { return labels_of(raster); });
    annotation.boundaries = thin(boundaries_of(annotation.labels, raster.width, raster.height),
                                 raster.width, raster.height);
    truth.annotations.push_back(std::move(annotation));
  }
  return truth;
}

}  // namespace diacut
