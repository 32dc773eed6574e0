#include "image/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "core/split_text.hpp"
#include "diacut/errors.hpp"
#include "image/tiff_directory.hpp"

namespace diacut {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::array<ImageFormatInfo, 11> kImageFormats = {{
    {ImageFormat::kJpeg, "JPEG", ".jpg .jpeg .jpe", false, decode_jpeg},
    {ImageFormat::kPng, "PNG", ".png", false, decode_png},
    {ImageFormat::kHeif, "HEIC, AVIF", ".heic .heif .hif .avif", true, decode_heif},
    {ImageFormat::kJxl, "JPEG XL", ".jxl", true, decode_jxl},
    {ImageFormat::kJpeg2000, "JPEG 2000", ".jp2 .j2k .j2c .jpc .jpf .jpx", false, decode_jpeg2000},
    {ImageFormat::kWebp, "WebP", ".webp", false, decode_webp},
    {ImageFormat::kTiff, "TIFF", ".tiff .tif", true, decode_tiff},
    {ImageFormat::kRaw, "raw camera files (DNG and others)",
     ".dng .cr2 .cr3 .crw .nef .nrw .arw .sr2 .srf .orf .rw2 .raf .pef .srw .rwl .3fr .iiq .erf "
     ".kdc .dcr .mrw .mef .mos .x3f",
     false, decode_raw},
    {ImageFormat::kGif, "GIF", ".gif", true, decode_gif},
    {ImageFormat::kBmp, "BMP", ".bmp .dib", false, decode_bmp},
    {ImageFormat::kPnm, "PNM", ".pnm .pbm .pgm .ppm .pam", true, decode_pnm},
}};

bool is_bmp(Bytes head) {
  if (!has_text(head, 0, "BM") || head.size() < 18) return false;
  // Two letters may begin anything: the size of the header that follows decides.
  const std::uint32_t size = read_uint(head, 14, 4, ByteOrder::kLittle);
  constexpr std::array<std::uint32_t, 8> kHeaderSizes = {12, 16, 40, 52, 56, 64, 108, 124};
  return std::find(kHeaderSizes.begin(), kHeaderSizes.end(), size) != kHeaderSizes.end();
}

/// Whether the first box names a brand of HEIF.
bool is_heif(Bytes head) {
  constexpr std::array<std::string_view, 10> kBrands = {"avif", "avis", "heic", "heix", "heim",
                                                        "heis", "hevc", "hevx", "mif1", "msf1"};
  return has_text(head, 4, "ftyp") &&
         std::any_of(kBrands.begin(), kBrands.end(),
                     [&](std::string_view brand) { return has_text(head, 8, brand); });
}

/// Precondition: the head is not empty.
bool is_text(Bytes head) {
  if (head[0] >= 0x80 && head[0] < 0xc2) return false;  // No character of UTF-8 begins so.
  return std::all_of(head.begin(), head.end(), [](std::uint8_t byte) {
    return byte >= 0x20 ? byte != 0x7f : byte == '\t' || byte == '\n' || byte == '\r';
  });
}

/// Two letters may begin anything: the white space after them decides, and that text is no number.
bool is_pnm(Bytes head) {
  if (head.size() < 3 || head[0] != 'P' || head[1] < '1' || head[1] > '7') return false;
  const bool is_space = head[2] == ' ' || (head[2] >= '\t' && head[2] <= '\r');
  if (!is_space || head[1] == '7') return is_space && has_text(head, 0, "P7\n");
  for (const std::uint8_t byte : head.subspan(3)) {
    if (byte == ' ' || (byte >= '\t' && byte <= '\r')) continue;
    return byte == '#' || (byte >= '0' && byte <= '9');
  }
  return false;
}

struct Signature {
  std::size_t at;
  std::string_view text;
  ImageFormat format;
};

constexpr Signature kFormats[] = {
    {0, "\x89PNG\r\n\x1a\n", ImageFormat::kPng},
    {0, "\xff\xd8\xff", ImageFormat::kJpeg},
    {0, "GIF87a", ImageFormat::kGif},
    {0, "GIF89a", ImageFormat::kGif},
    {4, "ftypcrx ", ImageFormat::kRaw},
    {0, "\0\0\0\x0cjP  \r\n\x87\n"sv, ImageFormat::kJpeg2000},
    {0, "\xff\x4f\xff\x51", ImageFormat::kJpeg2000},
    {0, "\0\0\0\x0cJXL \r\n\x87\n"sv, ImageFormat::kJxl},
    {0, "\xff\x0a", ImageFormat::kJxl},
    {0, "FUJIFILMCCD-RAW", ImageFormat::kRaw},
    {0, "IIRO", ImageFormat::kRaw},      // Olympus.
    {0, "IIRS", ImageFormat::kRaw},      // Olympus.
    {0, "MMOR", ImageFormat::kRaw},      // Olympus.
    {0, "IIU\0"sv, ImageFormat::kRaw},   // Panasonic and Leica.
    {0, "\0MRM"sv, ImageFormat::kRaw},   // Minolta.
    {0, "FOVb", ImageFormat::kRaw},      // Sigma.
    {6, "HEAPCCDR", ImageFormat::kRaw},  // Canon, before 2005.
    {0, "II*\0"sv, ImageFormat::kTiff},
    {0, "MM\0*"sv, ImageFormat::kTiff},
    {0, "II+\0"sv, ImageFormat::kTiff},  // BigTIFF.
    {0, "MM\0+"sv, ImageFormat::kTiff},  // BigTIFF.
};

struct OtherFormat {
  std::size_t at;
  std::string_view text;
  std::string_view name;
  std::string_view advice = {};  ///< How to convert it.
};

constexpr std::string_view kMicroscope =
    "save its pictures as OME-TIFF, as with Fiji or bfconvert of Bio-Formats";
constexpr std::string_view kVolume =
    "regions are found in planes: save its slices as a TIFF of several pages, for --page all "
    "--link";

constexpr OtherFormat kOtherFormats[] = {
    {0, "ZISRAWFILE", "a Zeiss CZI file", kMicroscope},
    {0, "\xda\xce\xbe\x0a", "a Nikon ND2 file", kMicroscope},
    {0, "\x70\0\0\0"sv, "a Leica LIF file", kMicroscope},
    {0, "\xd0\xcf\x11\xe0", "an OLE file, as microscopes write (OIB, ZVI)", kMicroscope},
    {344, "n+1\0"sv, "a NIfTI volume", kVolume},
    {344, "n+2\0"sv, "a NIfTI volume", kVolume},
    {0, "NRRD", "an NRRD volume", kVolume},
    {4, "ftyp", "a video (MP4 or QuickTime)"},
    {0, "%PDF", "a PDF"},
    {0, "%!PS", "a PostScript file"},
    {0, "8BPS", "a Photoshop file"},
    {0, "gimp xcf", "a GIMP file"},
    {0, "\x76\x2f\x31\x01"sv, "an OpenEXR picture"},
    {0, "#?RADIANCE", "a Radiance HDR picture"},
    {0, "\0\0\1\0"sv, "a Windows icon"},
    {128, "DICM", "a DICOM file",
     "save it as PNG or TIFF of 16 bits, as with dcm2img of DCMTK or with Fiji"},
    {0, "SIMPLE  =", "a FITS file"},
    {0, "\x93NUMPY", "a NumPy array"},
    {0, "\x89HDF", "an HDF5 file"},
    {0, "PK\x03\x04", "a ZIP archive"},
    {0, "\x1f\x8b", "a gzip archive"},
    {8, "AVI ", "a video (AVI)"},
    {0, "\x1a\x45\xdf\xa3", "a video (Matroska or WebM)"},
};

std::string seems_to_be(Bytes head) {
  for (const OtherFormat& other : kOtherFormats) {
    if (!has_text(head, other.at, other.text)) continue;
    return other.advice.empty() ? std::string(other.name)
                                : fmt::format("{} ({})", other.name, other.advice);
  }
  if (is_text(head)) return "a text file";
  std::string start;
  for (std::uint8_t byte : head.first(std::min<std::size_t>(head.size(), 8))) {
    fmt::format_to(std::back_inserter(start), " {:02x}", byte);
  }
  return "of an unknown format (its first bytes are" + start + ")";
}

/// "JPEG, PNG, ... and PNM".
std::string image_format_names() {
  std::vector<std::string_view> names;
  for (const ImageFormatInfo& each : kImageFormats) names.push_back(each.name);
  const std::string_view last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

}  // namespace

ImageFormat identify_format(Bytes head) {
  if (head.empty()) throw InputError("empty, expected an image");
  for (const Signature& each : kFormats) {
    if (has_text(head, each.at, each.text)) return each.format;
  }
  if (is_heif(head)) return ImageFormat::kHeif;
  if (has_text(head, 0, "RIFF") && has_text(head, 8, "WEBP")) return ImageFormat::kWebp;
  if (is_bmp(head)) return ImageFormat::kBmp;
  if (is_pnm(head)) return ImageFormat::kPnm;
  throw InputError(fmt::format(
      "not an image that diacut reads: it seems to be {}. {} are read: convert it to one of them",
      seems_to_be(head.first(std::min(head.size(), kFormatHead))), image_format_names()));
}

const ImageFormatInfo& info_of(ImageFormat format) {
  return kImageFormats[static_cast<std::size_t>(format)];
}

const std::vector<std::string>& image_extensions() {
  static const std::vector<std::string> extensions = [] {
    std::vector<std::string> all;
    for (const ImageFormatInfo& each : kImageFormats) {
      for (const std::string_view one : split_text(each.extensions, ' ')) all.emplace_back(one);
    }
    return all;
  }();
  return extensions;
}

bool is_raw_tiff(Bytes file) {
  enum Tag : std::uint32_t { kPhotometric = 262, kSubDirectories = 330, kDngVersion = 50706 };
  enum Photometric : std::uint32_t { kColourFilterArray = 32803, kLinearRaw = 34892 };
  // Files of cameras have a few directories; a chain may lead back to itself.
  constexpr std::size_t kMost = 64;
  constexpr std::uint64_t kMostWithin = 16;
  if (!has_text(file, 0, "II*\0"sv) && !has_text(file, 0, "MM\0*"sv)) return false;
  const TiffDirectories tiff(file);
  std::vector<std::uint64_t> waiting = {tiff.first()};
  for (std::size_t next = 0; next < std::min(waiting.size(), kMost); ++next) {
    const std::uint64_t directory = waiting[next];
    if (directory == 0) continue;
    for (const TiffDirectories::Entry& entry : tiff.entries(directory)) {
      if (entry.tag == kDngVersion) return true;
      if (entry.tag == kPhotometric &&
          (entry.value == kColourFilterArray || entry.value == kLinearRaw)) {
        return true;
      }
      if (entry.tag != kSubDirectories) continue;
      const std::uint64_t list = entry.count == 1 ? entry.at : tiff.offset(entry.at);
      for (std::uint64_t k = 0; k < std::min(entry.count, kMostWithin); ++k) {
        waiting.push_back(tiff.offset(list + 4 * k));
      }
    }
    waiting.push_back(tiff.next(directory));
  }
  return false;
}

}  // namespace diacut
