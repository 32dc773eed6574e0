#include "boundary/network/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace diacut {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 24;

/// The value of an IEEE 754 binary16 number; NaN for infinities too. Subnormal numbers are counted
/// in their unit: to scale them as floats takes a processor a hundred times as long.
float value_of(std::uint16_t bits) {
  const std::uint32_t magnitude = bits & 0x7fff;
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  constexpr std::uint32_t kBias = (127 - 15) << 23;
  const auto small = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24f);
  const std::uint32_t value = magnitude < 0x0400   ? small
                              : magnitude < 0x7c00 ? (magnitude << 13) + kBias
                                                   : 0x7fc00000;
  return std::bit_cast<float>(value | sign);
}

float value_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// The numbers that little-endian `Word`s stand for.
template <class Word>
std::vector<float> floats_of(std::span<const std::byte> bytes) {
  static_assert(std::endian::native == std::endian::little);
  std::vector<float> floats(bytes.size() / sizeof(Word));
  for (std::size_t i = 0; i < floats.size(); ++i) {
    Word word = 0;
    std::memcpy(&word, bytes.data() + i * sizeof(Word), sizeof(Word));
    floats[i] = value_of(word);
  }
  return floats;
}

/// The list of sizes under the key `name` of an object that messages call `where`.
std::vector<std::size_t> numbers(const Json& object, const char* name, const std::string& where) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) {
    reject_network("{} has no list \"{}\"", where, name);
  }
  std::vector<std::size_t> values;
  for (const Json& value : *found) {
    if (!value.is_number_unsigned()) {
      reject_network("\"{}\" of {} holds something else than sizes", name, where);
    }
    values.push_back(value.get<std::size_t>());
  }
  return values;
}

}  // namespace

std::string shape_text(const std::vector<std::size_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Safetensors::Safetensors(std::span<const std::byte> file) {
  constexpr std::size_t kLength = 8;
  std::uint64_t length = 0;
  if (file.size() < kLength) {
    reject_network("it has {} bytes, too few for a safetensors file", file.size());
  }
  for (std::size_t i = 0; i < kLength; ++i) {
    length |= std::to_integer<std::uint64_t>(file[i]) << (8 * i);
  }
  if (length > kMaxHeaderBytes || length > file.size() - kLength) {
    reject_network(
        "its header is said to have {} bytes, but {} are left: it is truncated, or "
        "no safetensors file",
        length, file.size() - kLength);
  }
  const auto* text = reinterpret_cast<const char*>(file.data()) + kLength;
  header_ = Json::parse(text, text + length, nullptr, false);
  if (!header_.is_object())
    reject_network("its header is not a JSON object: it is no safetensors file");
  data_ = file.subspan(kLength + length);
  check_layout();
}

const Json& Safetensors::metadata() const {
  static const Json none = Json::object();
  const auto found = header_.find("__metadata__");
  return found != header_.end() && found->is_object() ? *found : none;
}

StoredTensor Safetensors::read(const std::string& name) const {
  const auto found = header_.find(name);
  if (found == header_.end() || name == "__metadata__") {
    reject_network("the tensor \"{}\" is missing", name);
  }
  const Extent extent = extent_of(name, *found);
  StoredTensor tensor;
  tensor.shape = extent.shape;
  const std::span<const std::byte> bytes = data_.subspan(extent.begin, extent.end - extent.begin);
  tensor.values =
      extent.element == 4 ? floats_of<std::uint32_t>(bytes) : floats_of<std::uint16_t>(bytes);
  if (!std::all_of(tensor.values.begin(), tensor.values.end(),
                   [](float value) { return std::isfinite(value); })) {
    reject_network("the tensor \"{}\" holds values that are not finite", name);
  }
  return tensor;
}

Safetensors::Extent Safetensors::extent_of(const std::string& name, const Json& entry) const {
  const std::string where = fmt::format("the tensor \"{}\"", name);
  if (!entry.is_object()) reject_network("{} is described by no object", where);
  const auto type = required_field<std::string>(entry, "dtype", where);
  if (type != "F16" && type != "F32") {
    reject_network("{} has the type {}, expected F16 or F32", where, type);
  }
  Extent extent{name, numbers(entry, "shape", where), type == "F32" ? 4u : 2u, 0, 0};
  const std::vector<std::size_t> offsets = numbers(entry, "data_offsets", where);
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    reject_network("\"data_offsets\" of {} are no begin and end", where);
  }
  if (offsets[1] > data_.size()) {
    reject_network("{} ends at byte {} of the data, of which there are {}: it is truncated", where,
                   offsets[1], data_.size());
  }
  std::size_t bytes = extent.element;
  for (const std::size_t size : extent.shape) {
    if (size > kMaxNetworkFileBytes || bytes > kMaxNetworkFileBytes)
      reject_network("{} is too large", where);
    bytes *= size;
  }
  if (bytes != offsets[1] - offsets[0]) {
    reject_network("{} of shape {} takes {} bytes, but its offsets span {}", where,
                   shape_text(extent.shape), bytes, offsets[1] - offsets[0]);
  }
  extent.begin = offsets[0];
  extent.end = offsets[1];
  return extent;
}

// Every byte of the data has to belong to exactly one tensor.
void Safetensors::check_layout() const {
  std::vector<Extent> extents;
  for (const auto& [name, entry] : header_.items()) {
    if (name != "__metadata__") extents.push_back(extent_of(name, entry));
  }
  std::stable_sort(extents.begin(), extents.end(),
                   [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  std::size_t at = 0;
  for (const Extent& extent : extents) {
    if (extent.begin < at) {
      reject_network("the tensor \"{}\" overlaps another one", extent.name);
    }
    if (extent.begin > at) {
      reject_network("bytes {} to {} of the data belong to no tensor", at, extent.begin);
    }
    at = extent.end;
  }
  if (at != data_.size()) {
    reject_network("the last {} bytes belong to no tensor", data_.size() - at);
  }
}

}  // namespace diacut
