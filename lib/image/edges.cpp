#include "diacut/edges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "core/unit_range.hpp"
#include "diacut/errors.hpp"
#include "diacut/image.hpp"
#include "image/decode.hpp"
#include "image/edge_check.hpp"
#include "image/npy.hpp"

namespace diacut {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw InputError(
      fmt::format("the edge map '{}': {}; expected boundary strengths in [0, 1]: a grey image of 8 "
                  "or 16 bits or floats, or a .npy file of two dimensions",
                  path, what));
}

/// Reads elements of type T, each divided by `full`.
template <class T>
std::vector<float> read_elements(NpyFile& file, double full) {
  const std::size_t count = npy_elements(file.header, sizeof(T), file.available);
  const std::vector<T> elements = read_npy_elements<T>(file.stream, count);
  std::vector<float> values(count);
  std::transform(elements.begin(), elements.end(), values.begin(), [full](T element) {
    return static_cast<float>(static_cast<double>(element) / full);
  });
  return values;
}

std::vector<float> read_strengths(NpyFile& file) {
  const std::string& type = file.header.type;
  if (type == "<f4") return read_elements<float>(file, 1);
  if (type == "<f8") return read_elements<double>(file, 1);
  if (type == "|u1") return read_elements<std::uint8_t>(file, 255);
  if (type == "<u2") return read_elements<std::uint16_t>(file, 65'535);
  if (type == "|b1") return read_elements<std::uint8_t>(file, 1);
  throw InputError(fmt::format("it holds elements of type '{}'", type));
}

/// Throws InputError, whose message does not name the file.
EdgeMap read_npy(NpyFile& file, std::int64_t max_pixels) {
  static_assert(std::endian::native == std::endian::little);
  const std::vector<std::uint64_t>& shape = file.header.shape;
  if (shape.size() != 2) {
    throw InputError(fmt::format("its array has {} dimensions, not two", shape.size()));
  }
  if (file.header.fortran_order) {
    throw InputError("it is stored column by column (Fortran order)");
  }
  const std::uint64_t height = shape[0];
  const std::uint64_t width = shape[1];
  if (width < 1 || height < 1) throw InputError("it is empty");
  if (width > static_cast<std::uint64_t>(max_pixels) / height) {
    throw InputError(fmt::format("it has {}x{} pixels, more than image.max_pixels, which is {}",
                                 width, height, max_pixels));
  }
  EdgeMap map{static_cast<int>(width), static_cast<int>(height), read_strengths(file)};
  if (const auto bad = value_outside_unit_range(map.strength)) {
    throw InputError(fmt::format("it holds the value {}", *bad));
  }
  return map;
}

/// The map of a .npy file; nothing if the file is of another kind.
std::optional<EdgeMap> read_if_npy(const std::string& path, std::int64_t max_pixels) {
  try {
    std::optional<NpyFile> file = open_npy(path);
    if (!file) return std::nullopt;
    return read_npy(*file, max_pixels);
  } catch (const InputError& error) {
    fail(path, error.what());
  }
}

}  // namespace

void check_edges(const EdgeMap& edges, int width, int height) {
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  if (edges.width != width || edges.height != height || edges.strength.size() != pixels) {
    throw InputError(
        fmt::format("the edge map has {}x{} pixels, the image {}x{}: give one of the same size",
                    edges.width, edges.height, width, height));
  }
  if (const auto bad = value_outside_unit_range(edges.strength)) {
    throw InputError(
        fmt::format("the edge map holds the value {}, expected values from 0 to 1", *bad));
  }
}

EdgeMap read_edges(const std::string& path, const ImageParameters& parameters) {
  if (auto map = read_if_npy(path, parameters.max_pixels)) return std::move(*map);
  ImageParameters whole_range = parameters;
  whole_range.range = ValueRange::kType;
  Image image = read_numbers(path, whole_range);
  if (image.channels != 1) fail(path, "it has colours");
  if (!image.valid.empty()) fail(path, "it has pixels that are transparent or not finite");
  return {image.width, image.height, std::move(image.pixels)};
}

}  // namespace diacut
