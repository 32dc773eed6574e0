#include "map/detect.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes.hpp"
#include "core/file_bytes.hpp"
#include "diacut/errors.hpp"
#include "diacut/map.hpp"
#include "image/format.hpp"
#include "image/tiff_directory.hpp"

namespace diacut {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::uint16_t kSubfileType = 254;
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
  bool has_no_data = false;
  bool has_profile = false;
  bool is_page = true;  ///< Neither a reduced picture nor a mask.
  std::uint32_t samples = 1;
  std::uint32_t photometric = 0;
  std::uint32_t orientation = 1;

  bool is_map() const {
    // GDAL turns nothing upright.
    return has_map_tags || (has_no_data && orientation == 1) ||
           (samples > kMostSamplesOfPictures && photometric != kInks);
  }
  bool is_plain() const {
    const bool grey = samples == 1 && photometric == kBlackIsZero;
    return !is_map() && !has_profile && is_page && orientation == 1 &&
           (grey || (samples == 3 && photometric == kRgb));
  }
};

TiffTags tiff_tags(Bytes file) {
  const TiffDirectories tiff(file);
  TiffTags tags;
  for (const TiffDirectories::Entry& entry : tiff.entries(tiff.first())) {
    if (std::find(kMapTags.begin(), kMapTags.end(), entry.tag) != kMapTags.end()) {
      tags.has_map_tags = true;
    }
    if (entry.tag == kNoDataTag) tags.has_no_data = true;
    if (entry.tag == kSubfileType) tags.is_page = (entry.value & 5) == 0;
    if (entry.tag == kSamplesPerPixel) tags.samples = entry.value;
    if (entry.tag == kPhotometric) tags.photometric = entry.value;
    if (entry.tag == kOrientation) tags.orientation = entry.value;
    if (entry.tag == kColourProfile) tags.has_profile = true;
  }
  return tags;
}

/// Whether a JPEG 2000 file has a GeoJP2 box, or one of GML (OGC 05-047r3).
bool is_map_jpeg2000(Bytes file) {
  constexpr std::string_view kGeoJp2 =
      "\xb1\x4b\xf8\xbd\x08\x3d\x4b\x43\xa5\xae\x8c\xd7\xd5\xa6\xce\x03"sv;
  constexpr int kMostBoxes = 256;
  std::uint64_t at = 0;
  for (int box = 0; box < kMostBoxes; ++box) {
    if (at > file.size() || file.size() - at < 8) return false;
    const Bytes head = file.subspan(at, std::min<std::uint64_t>(64, file.size() - at));
    if (has_text(head, 4, "uuid") && has_text(head, 8, kGeoJp2)) return true;
    const std::string_view start(reinterpret_cast<const char*>(head.data()), head.size());
    if (has_text(head, 4, "asoc") && start.find("gml.") != std::string_view::npos) return true;
    const std::uint64_t size = box_size(head);
    if (size < 8) return false;  // The last box, or damage.
    at += size;
  }
  return false;
}

/// Whether a name begins with a driver's prefix, as "NETCDF:".
bool has_prefix(const std::string& name) {
  const std::size_t end = name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  return end != std::string::npos && end >= 2 && name[end] == ':';
}

bool is_map_of_format(ImageFormat format, Bytes file) {
  if (format == ImageFormat::kTiff) return tiff_tags(file).is_map();
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
  const auto file = MappedFile::open(path, 1);
  try {
    return file && identify_format(file->bytes()) == ImageFormat::kTiff &&
           tiff_tags(file->bytes()).is_plain();
  } catch (const InputError&) {
    return false;
  }
}

bool is_map(std::span<const std::uint8_t> file) {
  return !file.empty() && is_map_of_format(identify_format(file), file);
}

bool is_map(const std::string& name) {
  if (name == "-") return false;
  if (name.rfind("/vsi", 0) == 0) return true;
  std::error_code unknown;
  if (!std::filesystem::exists(name, unknown)) return has_prefix(name) && gdal_knows(name);
  const auto file = MappedFile::open(name, 1);  // A pipe is read once only.
  if (!file) return false;
  ImageFormat format;
  try {
    format = identify_format(file->bytes());
  } catch (const InputError&) {
    return gdal_knows(name);
  }
  return is_map_of_format(format, file->bytes());
}

}  // namespace diacut
