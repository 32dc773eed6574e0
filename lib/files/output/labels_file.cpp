#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "core/extension.hpp"
#include "diacut/errors.hpp"
#include "diacut/label_stack.hpp"
#include "diacut/output.hpp"
#include "output/format.hpp"
#include "output/npy.hpp"
#include "output/picture.hpp"
#include "output/png.hpp"

namespace diacut {
namespace {

template <typename T>
std::vector<T> narrow(const Labels& labels) {
  return std::vector<T>(labels.values.begin(), labels.values.end());
}

void require_at_most(std::int64_t most, const Labels& labels, const char* format,
                     const char* instead) {
  if (labels.count <= most) return;
  throw InputError(fmt::format("{} regions do not fit in {}, which holds {}; {}", labels.count,
                               format, most, instead));
}

}  // namespace

bool names_tiff(const std::string& path) { return has_extension(path, ".tif, .tiff"); }

LabelFormat label_format(const std::string& path, bool indexed) {
  if (path == "-" || has_extension(path, ".png")) {
    return indexed ? LabelFormat::kIndexedPng : LabelFormat::kGreyPng;
  }
  check_extension(path, "labels", ".png, .tif, .tiff, .npy");
  if (indexed) {
    throw ConfigError(path +
                      ": labels as palette indices are written as .png only; name it so, or "
                      "leave the indices out");
  }
  return names_tiff(path) ? LabelFormat::kTiff : LabelFormat::kNpy;
}

std::vector<std::uint8_t> encode_labels(const Labels& labels, LabelFormat format,
                                        const PictureFacts& facts) {
  switch (format) {
    case LabelFormat::kGreyPng:
      require_at_most(65'535, labels, "a 16-bit PNG",
                      "write them as .npy or .tif (32-bit integers)");
      return encode_png(labels.width, labels.height, narrow<std::uint16_t>(labels), {.flat = true});
    case LabelFormat::kIndexedPng:
      require_at_most(255, labels, "an indexed PNG",
                      "write 16-bit labels (up to 65535 regions), or .npy or .tif (any number)");
      return encode_png(
          labels.width, labels.height, 1, narrow<std::uint8_t>(labels),
          {.palette = distinct_colours(static_cast<int>(labels.count) + 1), .flat = true});
    case LabelFormat::kTiff: {
      LabelStack file;
      file.add(labels, facts);
      return file.finish();
    }
    case LabelFormat::kNpy:
      return encode_npy<std::int32_t>(labels.values, {static_cast<std::size_t>(labels.height),
                                                      static_cast<std::size_t>(labels.width)});
  }
  return {};
}

void write_labels(const std::string& path, const Labels& labels, bool indexed,
                  const PictureFacts& facts) {
  const LabelFormat format = label_format(path, indexed);
  write_file(path, encode_for(path, [&] { return encode_labels(labels, format, facts); }));
}

void write_contours(const std::string& path, const std::vector<float>& contours, int width,
                    int height) {
  if (has_extension(path, ".npy")) {
    return write_file(path, encode_npy<float>(contours, {static_cast<std::size_t>(height),
                                                         static_cast<std::size_t>(width)}));
  }
  if (path != "-") check_extension(path, "maps of boundary strength", ".png, .npy");
  std::vector<std::uint16_t> grey(contours.size());
  std::transform(contours.begin(), contours.end(), grey.begin(), [](float value) {
    return static_cast<std::uint16_t>(std::lround(std::min(value, 1.0F) * 65535.0F));
  });
  write_file(path, encode_png(width, height, grey, {.flat = true}));
}

void write_probabilities(const std::string& path,
                         const std::vector<std::vector<float>>& probabilities, int width,
                         int height) {
  std::vector<float> all;
  for (const std::vector<float>& each : probabilities)
    all.insert(all.end(), each.begin(), each.end());
  write_file(path, encode_npy(std::span<const float>(all),
                              {probabilities.size(), static_cast<std::size_t>(height),
                               static_cast<std::size_t>(width)}));
}

}  // namespace diacut
