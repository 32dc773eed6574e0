#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "image/bytes.hpp"
#include "image/format.hpp"
#include "map/gdal.hpp"
#include "map/plain_tiff.hpp"

namespace diacut {
namespace {

using std::string_view_literals::operator""sv;

/// A file of which a few parts are read, or one in memory.
class FileParts {
 public:
  explicit FileParts(const std::string& path) : stream_(path, std::ios::binary) {}
  explicit FileParts(Bytes file) : file_(file) {}

  /// Up to `count` bytes from `at` on; fewer at the file's end.
  std::vector<std::uint8_t> read(std::uint64_t at, std::size_t count) {
    if (!file_.empty()) {
      const Bytes rest = file_.subspan(std::min<std::uint64_t>(at, file_.size()));
      const Bytes part = rest.first(std::min(count, rest.size()));
      return {part.begin(), part.end()};
    }
    std::vector<std::uint8_t> bytes(count);
    stream_.clear();
    stream_.seekg(static_cast<std::streamoff>(at));
    stream_.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
    bytes.resize(stream_ || stream_.eof() ? static_cast<std::size_t>(stream_.gcount()) : 0);
    return bytes;
  }

  /// 0 beyond the file's end. `size`: 2, 4 or 8 bytes.
  std::uint64_t number(std::uint64_t at, std::size_t size, ByteOrder order) {
    const std::vector<std::uint8_t> bytes = read(at, size);
    if (bytes.size() < size) return 0;
    if (size < 8) return read_uint(bytes, 0, size, order);
    const std::uint64_t first = read_uint(bytes, 0, 4, order);
    const std::uint64_t second = read_uint(bytes, 4, 4, order);
    return order == ByteOrder::kBig ? first << 32 | second : second << 32 | first;
  }

 private:
  std::ifstream stream_;
  Bytes file_;
};

/// Tags of GeoTIFF 1.1, of a sensor's rational polynomials, and of GDAL's value for no data.
constexpr std::array<std::uint16_t, 6> kMapTags = {33550, 33922, 34264, 34735, 42113, 50844};
constexpr std::uint16_t kPhotometric = 262;
constexpr std::uint16_t kOrientation = 274;
constexpr std::uint16_t kSamplesPerPixel = 277;
constexpr std::uint16_t kColourProfile = 34675;
// Values of the tag kPhotometric.
constexpr std::uint32_t kBlackIsZero = 1;
constexpr std::uint32_t kRgb = 2;
constexpr std::uint32_t kInks = 5;  // Of which a picture may have any number.
constexpr std::uint32_t kMostSamplesOfPictures = 4;

/// What the first directory of a TIFF file says.
struct TiffTags {
  bool has_map_tags = false;
  bool has_profile = false;
  std::uint32_t samples = 1;
  std::uint32_t photometric = 0;
  std::uint32_t orientation = 1;

  bool is_map() const {
    return has_map_tags || (samples > kMostSamplesOfPictures && photometric != kInks);
  }
  bool is_plain() const {
    const bool grey = samples == 1 && photometric == kBlackIsZero;
    return !is_map() && !has_profile && orientation == 1 &&
           (grey || (samples == 3 && photometric == kRgb));
  }
};

TiffTags tiff_tags(FileParts& file, Bytes head) {
  const ByteOrder order = head[0] == 'I' ? ByteOrder::kLittle : ByteOrder::kBig;
  const bool big = read_uint(head, 2, 2, order) == 43;
  const std::size_t offset = big ? 8 : 4;  // Bytes of an offset.
  const std::size_t entry = big ? 20 : 12;
  const std::uint64_t directory = file.number(big ? 8 : 4, offset, order);
  const std::size_t counts = big ? 8 : 2;
  // A forged count costs no more than this.
  const std::uint64_t count = std::min<std::uint64_t>(file.number(directory, counts, order), 4096);
  const std::vector<std::uint8_t> entries =
      file.read(directory + counts, static_cast<std::size_t>(count) * entry);
  TiffTags tags;
  for (std::size_t at = 0; at + entry <= entries.size(); at += entry) {
    const auto tag = static_cast<std::uint16_t>(read_uint(entries, at, 2, order));
    if (std::find(kMapTags.begin(), kMapTags.end(), tag) != kMapTags.end()) {
      tags.has_map_tags = true;
    }
    const std::uint32_t value = read_uint(entries, at + (big ? 12 : 8), 2, order);
    if (tag == kSamplesPerPixel) tags.samples = value;
    if (tag == kPhotometric) tags.photometric = value;
    if (tag == kOrientation) tags.orientation = value;
    if (tag == kColourProfile) tags.has_profile = true;
  }
  return tags;
}

/// The head of a TIFF file is as long at least.
constexpr std::size_t kTiffHead = 16;

/// Whether a JPEG 2000 file has a GeoJP2 box, or one of GML (OGC 05-047r3).
bool is_map_jpeg2000(FileParts& file) {
  constexpr std::string_view kGeoJp2 =
      "\xb1\x4b\xf8\xbd\x08\x3d\x4b\x43\xa5\xae\x8c\xd7\xd5\xa6\xce\x03"sv;
  constexpr int kMostBoxes = 256;
  std::uint64_t at = 0;
  for (int box = 0; box < kMostBoxes; ++box) {
    const std::vector<std::uint8_t> head = file.read(at, 64);
    if (head.size() < 8) return false;
    if (has_text(head, 4, "uuid") && has_text(head, 8, kGeoJp2)) return true;
    const std::string_view start(reinterpret_cast<const char*>(head.data()), head.size());
    if (has_text(head, 4, "asoc") && start.find("gml.") != std::string_view::npos) return true;
    std::uint64_t size = read_uint(head, 0, 4, ByteOrder::kBig);
    if (size == 1) size = file.number(at + 8, 8, ByteOrder::kBig);
    if (size < 8) return false;  // The last box, or damage.
    at += size;
  }
  return false;
}

/// Whether a name begins with a driver's prefix, as "NETCDF:".
bool has_prefix(const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos || colon < 2) return false;
  return std::all_of(name.begin(), name.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isupper(byte) != 0 || std::isdigit(byte) != 0 || c == '_';
  });
}

/// Whether GDAL knows a format that read_image() does not know.
bool only_gdal_knows(const std::string& name) {
  const GdalMessages quiet;
  return has_raster_driver(name);
}

bool is_map_of_format(ImageFormat format, FileParts& file) {
  const std::vector<std::uint8_t> head = file.read(0, kFormatHead);
  if (format == ImageFormat::kTiff) {
    return head.size() >= kTiffHead && tiff_tags(file, head).is_map();
  }
  return format == ImageFormat::kJpeg2000 && is_map_jpeg2000(file);
}

}  // namespace

const std::vector<std::string>& map_extensions() {
  // Of formats that GDAL has in Debian and that hold little else than scenes.
  static const std::vector<std::string> extensions = {
      ".vrt", ".img", ".nc",  ".nc4", ".h5",  ".hdf", ".ntf", ".nitf", ".dem", ".dt0", ".dt1",
      ".dt2", ".hgt", ".asc", ".bil", ".bsq", ".bip", ".grb", ".grb2", ".grd", ".rst", ".kea"};
  return extensions;
}

bool is_plain_tiff(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;
  FileParts file(path);
  const std::vector<std::uint8_t> head = file.read(0, kFormatHead);
  try {
    return head.size() >= kTiffHead && identify_format(head) == ImageFormat::kTiff &&
           tiff_tags(file, head).is_plain();
  } catch (const InputError&) {
    return false;
  }
}

bool is_map(std::span<const std::uint8_t> file) {
  FileParts parts(file);
  return !file.empty() && is_map_of_format(identify_format(file), parts);
}

bool is_map(const std::string& name) {
  if (name == "-") return false;
  if (name.rfind("/vsi", 0) == 0) return true;
  std::error_code unknown;
  if (!std::filesystem::exists(name, unknown)) return has_prefix(name) && only_gdal_knows(name);
  // A pipe is read once only.
  if (!std::filesystem::is_regular_file(name, unknown)) return false;
  FileParts file(name);
  const std::vector<std::uint8_t> head = file.read(0, kFormatHead);
  if (head.empty()) return false;
  ImageFormat format;
  try {
    format = identify_format(head);
  } catch (const InputError&) {
    return only_gdal_knows(name);
  }
  return is_map_of_format(format, file);
}

}  // namespace diacut
