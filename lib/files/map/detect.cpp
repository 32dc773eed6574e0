#include "map/detect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
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

using std::string_literals::operator""s;
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

/// What the first directory of a TIFF file says: the values of its tags.
class TiffTags {
 public:
  explicit TiffTags(Bytes file) {
    const TiffDirectories tiff(file);
    for (const auto& entry : tiff.entries(tiff.first())) values_[entry.tag] = entry.value;
  }

  bool is_map() const {
    const auto has = [this](std::uint32_t tag) { return values_.contains(tag); };
    // GDAL turns nothing upright.
    return std::any_of(kMapTags.begin(), kMapTags.end(), has) ||
           (has(kNoDataTag) && value(kOrientation, 1) == 1) ||
           (value(kSamplesPerPixel, 1) > kMostSamplesOfPictures && value(kPhotometric, 0) != kInks);
  }
  bool is_plain() const {
    const std::uint32_t colours = value(kPhotometric, 0) == kBlackIsZero ? 1
                                  : value(kPhotometric, 0) == kRgb       ? 3
                                                                         : 0;
    const bool is_page = (value(kSubfileType, 0) & 5) == 0;  // Neither reduced nor a mask.
    return !is_map() && !values_.contains(kColourProfile) && is_page &&
           value(kOrientation, 1) == 1 && value(kSamplesPerPixel, 1) == colours;
  }

 private:
  std::uint32_t value(std::uint32_t tag, std::uint32_t otherwise) const {
    return values_.contains(tag) ? values_.at(tag) : otherwise;
  }

  std::map<std::uint32_t, std::uint32_t> values_;
};

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

bool is_map_of_format(const ImageFormat& format, Bytes file) {
  if (!format.may_hold(ImageFormat::kPlace)) return false;
  return format.id == "tiff" ? TiffTags(file).is_map() : is_map_jpeg2000(file);
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
    return file && identify_format(file->bytes()).id == "tiff" &&
           TiffTags(file->bytes()).is_plain();
  } catch (const InputError&) {
    return false;
  }
}

bool is_placed_beside(const std::string& name) {
  namespace fs = std::filesystem;
  const std::string own = fs::path(name).extension().string();
  if (own.size() < 2) return false;
  std::error_code unknown;
  for (std::string extension : {fmt::format(".{}{}w", own[1], own.back()), own + "w", ".wld"s}) {
    for (int is_upper = 0; is_upper < 2; ++is_upper) {
      if (fs::is_regular_file(fs::path(name).replace_extension(extension), unknown)) return true;
      std::transform(extension.begin(), extension.end(), extension.begin(), ::toupper);
    }
  }
  const auto beside = MappedFile::open(name + ".aux.xml", 1);
  if (!beside) return false;
  const std::string_view text(reinterpret_cast<const char*>(beside->bytes().data()),
                              beside->bytes().size());
  constexpr std::array kPlaces = {"<GeoTransform>", "<GCPList", "<NoDataValue"};
  return std::any_of(kPlaces.begin(), kPlaces.end(), [&](const char* element) {
    return text.find(element) != std::string_view::npos;
  });
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
  const ImageFormat* format = nullptr;
  try {
    format = &identify_format(file->bytes());
  } catch (const InputError&) {
    return gdal_knows(name);
  }
  return format->may_hold(ImageFormat::kPlace) &&
         (is_map_of_format(*format, file->bytes()) || is_placed_beside(name));
}

}  // namespace diacut
