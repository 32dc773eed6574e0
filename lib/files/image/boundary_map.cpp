#include "diacut/boundary_map.hpp"

#include <fmt/format.h>

#include "core/npy.hpp"
#include "core/unit_range.hpp"
#include "diacut/errors.hpp"
#include "image/decoded.hpp"
#include "image/input_checks.hpp"
#include "image/naming.hpp"
#include "image/raster.hpp"

namespace diacut {

namespace {

/// What an array's elements of a type, as NumPy calls it, have for full strength.
double full_of(const std::string& type) {
  if (type.ends_with("u1")) return 255;
  if (type.ends_with("u2")) return 65'535;
  if (type.ends_with("f4") || type.ends_with("f8") || type.ends_with("b1")) return 1;
  throw InputError(fmt::format(
      "it holds elements of type '{}', expected bool, uint8, uint16, float32 or float64", type));
}

}  // namespace

void check_boundary_map(const BoundaryMap& map, int width, int height) {
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  if (map.width != width || map.height != height || map.strength.size() != pixels) {
    throw InputError(fmt::format(
        "the boundary map has {}x{} pixels, the image {}x{}: give one of the same size{}",
        map.width, map.height, width, height, turned_hint(map.width, map.height, width, height)));
  }
  if (const auto bad = value_outside_unit_range(map.strength)) {
    throw InputError(
        fmt::format("the boundary map holds the value {}, expected values from 0 to 1", *bad));
  }
}

BoundaryMap read_boundary_map(const std::string& path, const ImageParameters& parameters) {
  const std::vector<std::uint8_t> file = read_file(path);
  return naming(path, [&]() -> BoundaryMap {
    Raster raster;
    if (is_npy(file)) {
      raster = decode_raster(file, parameters);
      raster.full = full_of(parse_npy_header(file).type);
    } else {
      const DecodeTask task{DecodeTask::kStrength, {}};
      raster = raster_of(decode_file(path, file, parameters.max_pixels, task, parameters));
    }
    const std::vector<double> strength = strengths_of(raster);
    return {raster.width, raster.height, {strength.begin(), strength.end()}};
  });
}

}  // namespace diacut
