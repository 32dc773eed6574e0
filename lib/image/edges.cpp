#include "diacut/edges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <regex>

#include "diacut/errors.hpp"
#include "diacut/image.hpp"
#include "image/numbers.hpp"

namespace diacut {

namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kMaxNpyHeader = 65'536;

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw InputError(
      fmt::format("the edge map '{}' {}; expected boundary strengths in [0, 1]: a grey image of 8 "
                  "or 16 bits or floats, or a .npy file of two dimensions",
                  path, what));
}

/// What a .npy file says of its elements (NumPy, "NEP 1: a simple file format for NumPy arrays").
struct NpyHeader {
  std::string type;
  bool fortran_order = false;
  std::int64_t height = 0;
  std::int64_t width = 0;
};

std::optional<NpyHeader> read_npy_header(std::istream& stream) {
  const auto number = [&](int bytes) {
    std::size_t value = 0;
    for (int i = 0; i < bytes; ++i) {
      value |= static_cast<std::size_t>(stream.get() & 0xff) << (8 * i);
    }
    return value;
  };
  const std::size_t major = number(1);
  stream.get();
  const std::size_t length = number(major == 1 ? 2 : 4);
  if (!stream || length > kMaxNpyHeader) return std::nullopt;
  std::string text(length, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(length));
  if (!stream) return std::nullopt;
  std::smatch type;
  std::smatch order;
  std::smatch shape;
  static const std::regex kType(R"('descr'\s*:\s*'([<>|=]?\w+)')");
  static const std::regex kOrder(R"('fortran_order'\s*:\s*(True|False))");
  static const std::regex kShape(R"('shape'\s*:\s*\(\s*(\d{1,9})L?\s*,\s*(\d{1,9})L?\s*,?\s*\))");
  if (!std::regex_search(text, type, kType) || !std::regex_search(text, order, kOrder) ||
      !std::regex_search(text, shape, kShape)) {
    return std::nullopt;
  }
  return NpyHeader{type[1], order[1] == "True", std::stoll(shape[1]), std::stoll(shape[2])};
}

/// Reads elements of type T, each divided by `full`.
template <class T>
std::vector<float> read_elements(std::istream& stream, std::size_t count, double full) {
  std::vector<T> elements(count);
  const std::size_t bytes = count * sizeof(T);
  stream.read(reinterpret_cast<char*>(elements.data()), static_cast<std::streamsize>(bytes));
  if (static_cast<std::size_t>(stream.gcount()) != bytes) return {};
  std::vector<float> values(count);
  std::transform(elements.begin(), elements.end(), values.begin(), [full](T element) {
    return static_cast<float>(static_cast<double>(element) / full);
  });
  return values;
}

EdgeMap read_npy(std::istream& stream, const std::string& path, std::int64_t max_pixels) {
  static_assert(std::endian::native == std::endian::little);
  const std::optional<NpyHeader> header = read_npy_header(stream);
  if (!header) fail(path, "is no .npy file of two dimensions");
  if (header->fortran_order) fail(path, "is stored column by column (Fortran order)");
  if (header->width < 1 || header->height < 1) fail(path, "is empty");
  if (header->width > max_pixels / header->height) {
    fail(path, fmt::format("has {}x{} pixels, more than image.max_pixels, which is {}",
                           header->width, header->height, max_pixels));
  }
  EdgeMap map{static_cast<int>(header->width), static_cast<int>(header->height), {}};
  const auto count = static_cast<std::size_t>(header->width * header->height);
  if (header->type == "<f4") {
    map.strength = read_elements<float>(stream, count, 1);
  } else if (header->type == "<f8") {
    map.strength = read_elements<double>(stream, count, 1);
  } else if (header->type == "|u1") {
    map.strength = read_elements<std::uint8_t>(stream, count, 255);
  } else if (header->type == "<u2") {
    map.strength = read_elements<std::uint16_t>(stream, count, 65'535);
  } else if (header->type == "|b1") {
    map.strength = read_elements<std::uint8_t>(stream, count, 1);
  } else {
    fail(path, fmt::format("holds elements of type '{}'", header->type));
  }
  if (map.strength.empty()) fail(path, "is cut off");
  const auto bad = std::find_if(map.strength.begin(), map.strength.end(),
                                [](float value) { return !(value >= 0.0f && value <= 1.0f); });
  if (bad != map.strength.end()) fail(path, fmt::format("holds the value {}", *bad));
  return map;
}

}  // namespace

EdgeMap read_edges(const std::string& path, std::int64_t max_pixels) {
  std::ifstream stream(path, std::ios::binary);
  std::string magic(kNpyMagic.size(), '\0');
  stream.read(magic.data(), static_cast<std::streamsize>(magic.size()));
  if (stream && magic == kNpyMagic) return read_npy(stream, path, max_pixels);
  ImageParameters parameters;
  parameters.range = ValueRange::kType;
  parameters.max_pixels = max_pixels;
  Image image = read_numbers(path, parameters);
  if (image.channels != 1) fail(path, "has colours");
  if (!image.valid.empty()) fail(path, "has pixels that are transparent or not finite");
  return {image.width, image.height, std::move(image.pixels)};
}

}  // namespace diacut
