#include "image/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "core/split_text.hpp"
#include "diacut/errors.hpp"
#include "image/tiff_directory.hpp"

namespace diacut {

Decoder decode_bmp, decode_gif, decode_jpeg, decode_png, decode_pnm, decode_tiff;
// Decoders of the module (formats/calls.hpp): in the library these are null.
[[gnu::weak]] Decoder decode_heif, decode_jpeg2000, decode_jxl, decode_raw, decode_webp;

namespace {

using std::string_view_literals::operator""sv;

bool is_bmp(Bytes head) {
  if (!has_text(head, 0, "BM") || head.size() < 18) return false;
  // Two letters may begin anything: the size of the header that follows decides.
  const std::uint32_t size = read_uint(head, 14, 4, ByteOrder::kLittle);
  constexpr std::array<std::uint32_t, 8> kHeaderSizes = {12, 16, 40, 52, 56, 64, 108, 124};
  return std::find(kHeaderSizes.begin(), kHeaderSizes.end(), size) != kHeaderSizes.end();
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

using enum ImageFormat::Holds;

constexpr ImageFormat kImageFormats[] = {
    {"jpeg", "JPEG", ".jpg .jpeg .jpe", kPicture, decode_jpeg, {"\xff\xd8\xff"}},
    {"png", "PNG", ".png", kNumbers, decode_png, {"\x89PNG\r\n\x1a\n"}},
    {"heif",
     "HEIC, AVIF",
     ".heic .heif .hif .avif",
     kPages,
     decode_heif,
     {"????ftypavif", "????ftypavis", "????ftypheic", "????ftypheix", "????ftypheim",
      "????ftypheis", "????ftyphevc", "????ftyphevx", "????ftypmif1", "????ftypmsf1"}},
    {"jxl", "JPEG XL", ".jxl", kPages, decode_jxl, {"\xff\x0a", "\0\0\0\x0cJXL \r\n\x87\n"sv}},
    {"jpeg2000",
     "JPEG 2000",
     ".jp2 .j2k .j2c .jpc .jpf .jpx",
     kPlace,
     decode_jpeg2000,
     {"\xff\x4f\xff\x51", "\0\0\0\x0cjP  \r\n\x87\n"sv}},
    {"webp", "WebP", ".webp", kPicture, decode_webp, {"RIFF????WEBP"}},
    {"tiff",
     "TIFF",
     ".tiff .tif",
     kPages | kChannels | kNumbers | kPlace,
     decode_tiff,
     {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}},  // The latter: BigTIFF.
    {"raw",
     "raw camera files (DNG and others)",
     ".dng .cr2 .cr3 .crw .nef .nrw .arw .sr2 .srf .orf .rw2 .raf .pef .srw .rwl .3fr .iiq .erf "
     ".kdc .dcr .mrw .mef .mos .x3f",
     kPicture,
     decode_raw,
     // Canon after 2018 and before 2005, Fujifilm, Olympus, Panasonic and Leica, Minolta, Sigma;
     // others write TIFF.
     {"????ftypcrx ", "??????HEAPCCDR", "FUJIFILMCCD-RAW", "IIRO", "IIRS", "MMOR", "IIU\0"sv,
      "\0MRM"sv, "FOVb"}},
    {"gif", "GIF", ".gif", kPages, decode_gif, {"GIF87a", "GIF89a"}},
    {"bmp", "BMP", ".bmp .dib", kPicture, decode_bmp, {}, is_bmp},
    {"pnm", "PNM", ".pnm .pbm .pgm .ppm .pam", kPages, decode_pnm, {}, is_pnm},
};

bool matches(const ImageFormat& format, Bytes head) {
  const auto is_beginning = [&](std::string_view text) {
    return !text.empty() && text.size() <= head.size() &&
           std::equal(text.begin(), text.end(), head.begin(), [](char own, std::uint8_t byte) {
             return own == '?' || static_cast<std::uint8_t>(own) == byte;
           });
  };
  return std::any_of(format.beginnings.begin(), format.beginnings.end(), is_beginning) ||
         (format.matches != nullptr && format.matches(head));
}

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

/// Whether a file is TIFF, and one of its directories holds what a camera's sensor saw (ISO
/// 12234-2), as in DNG, NEF, ARW, CR2 and others.
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

}  // namespace

std::span<const ImageFormat> image_formats() { return kImageFormats; }

const ImageFormat& image_format(std::string_view id) {
  return *std::find_if(std::begin(kImageFormats), std::end(kImageFormats),
                       [&](const ImageFormat& each) { return each.id == id; });
}

const ImageFormat& identify_format(Bytes head) {
  if (head.empty()) throw InputError("empty, expected an image");
  for (const ImageFormat& each : kImageFormats) {
    if (matches(each, head)) return each;
  }
  throw InputError(fmt::format(
      "not an image that diacut reads: it seems to be {}. {} are read: convert it to one of them",
      seems_to_be(head.first(std::min(head.size(), kFormatHead))), image_format_names()));
}

const ImageFormat& format_of(Bytes file) {
  const ImageFormat& format = identify_format(file);
  return is_raw_tiff(file) ? image_format("raw") : format;
}

std::string image_format_names() {
  std::string names;
  for (const ImageFormat& each : kImageFormats) {
    const bool is_last = &each == std::end(kImageFormats) - 1;
    fmt::format_to(std::back_inserter(names), "{}{}",
                   names.empty() ? ""
                   : is_last     ? " and "
                                 : ", ",
                   each.name);
  }
  return names;
}

const std::vector<std::string>& image_extensions() {
  static const std::vector<std::string> extensions = [] {
    std::vector<std::string> all;
    for (const ImageFormat& each : kImageFormats) {
      for (const std::string_view one : split_text(each.extensions, ' ')) all.emplace_back(one);
    }
    return all;
  }();
  return extensions;
}

}  // namespace diacut
