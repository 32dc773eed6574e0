#include <cstddef>

#include "diacut/errors.hpp"
#include "diacut/output.hpp"
#include "output/format.hpp"
#include "output/npy.hpp"
#include "output/png.hpp"
#include "output/strength_rows.hpp"

namespace diacut {

UltrametricFormat ultrametric_format(const std::string& path) {
  const std::string extension = lower_extension(path);
  if (path == "-" || extension == ".png") return UltrametricFormat::kPng;
  if (extension == ".npy") return UltrametricFormat::kNpy;
  throw unknown_extension(path, "ultrametric maps", ".png, .npy");
}

namespace {

std::vector<std::uint8_t> encode_map(const std::vector<float>& map, int width, int height,
                                     UltrametricFormat format) {
  if (format == UltrametricFormat::kNpy) {
    return encode_npy<float>(map,
                             {static_cast<std::size_t>(height), static_cast<std::size_t>(width)});
  }
  PngExtras extras;
  extras.flat = true;
  return encode_png(width, height, grey_of_strength(map), extras);
}

}  // namespace

std::vector<std::uint8_t> encode_ultrametric(const Hierarchy& hierarchy, UltrametricFormat format) {
  return encode_map(ultrametric_map(hierarchy), 2 * hierarchy.leaves.width + 1,
                    2 * hierarchy.leaves.height + 1, format);
}

void write_ultrametric(const std::string& path, const Hierarchy& hierarchy) {
  const UltrametricFormat format = ultrametric_format(path);
  write_file(path, encode_for(path, [&] { return encode_ultrametric(hierarchy, format); }));
}

void write_contours(const std::string& path, const std::vector<float>& contours, int width,
                    int height) {
  const UltrametricFormat format = ultrametric_format(path);
  write_file(path, encode_for(path, [&] { return encode_map(contours, width, height, format); }));
}

}  // namespace diacut
