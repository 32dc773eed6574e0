#include "image/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "diacut/errors.hpp"

namespace diacut {
namespace {

using std::string_view_literals::operator""sv;

bool is_bmp(Bytes head) {
  if (!has_text(head, 0, "BM") || head.size() < 18) return false;
  // Two letters may begin anything: the size of the header that follows decides.
  const std::uint32_t size = read_uint(head, 14, 4, ByteOrder::kLittle);
  constexpr std::array<std::uint32_t, 8> kHeaderSizes = {12, 16, 40, 52, 56, 64, 108, 124};
  return std::find(kHeaderSizes.begin(), kHeaderSizes.end(), size) != kHeaderSizes.end();
}

bool is_tiff(Bytes head) {
  // 42: classic; 43: BigTIFF.
  for (std::string_view start : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {
    if (has_text(head, 0, start)) return true;
  }
  return false;
}

/// Precondition: the head is not empty.
bool is_text(Bytes head) {
  if (head[0] >= 0x80 && head[0] < 0xc2) return false;  // No character of UTF-8 begins so.
  return std::all_of(head.begin(), head.end(), [](std::uint8_t byte) {
    return byte >= 0x20 ? byte != 0x7f : byte == '\t' || byte == '\n' || byte == '\r';
  });
}

struct Signature {
  std::size_t at;
  std::string_view text;
  std::string_view name;
};

constexpr Signature kOtherFormats[] = {
    {0, "GIF8", "a GIF"},
    {4, "ftypavif", "an AVIF picture"},
    {4, "ftypavis", "an AVIF picture"},
    {4, "ftyphei", "a HEIC picture"},
    {4, "ftyphev", "a HEIC picture"},
    {4, "ftypmif1", "a HEIF picture"},
    {4, "ftypmsf1", "a HEIF picture"},
    {4, "ftypcrx", "a raw camera file (CR3)"},
    {4, "ftyp", "a video (MP4 or QuickTime)"},
    {0, "%PDF", "a PDF"},
    {0, "%!PS", "a PostScript file"},
    {0, "\0\0\0\x0cjP  "sv, "a JPEG 2000 picture"},
    {0, "\xff\x4f\xff\x51"sv, "a JPEG 2000 picture"},
    {0, "\0\0\0\x0cJXL "sv, "a JPEG XL picture"},
    {0, "\xff\x0a"sv, "a JPEG XL picture"},
    {0, "8BPS", "a Photoshop file"},
    {0, "gimp xcf", "a GIMP file"},
    {0, "\x76\x2f\x31\x01"sv, "an OpenEXR picture"},
    {0, "#?RADIANCE", "a Radiance HDR picture"},
    {0, "\0\0\1\0"sv, "a Windows icon"},
    {128, "DICM", "a DICOM file"},
    {0, "SIMPLE  =", "a FITS file"},
    {0, "\x93NUMPY", "a NumPy array"},
    {0, "\x89HDF", "an HDF5 file"},
    {0, "FUJIFILMCCD-RAW", "a raw camera file (RAF)"},
    {0, "PK\x03\x04", "a ZIP archive"},
    {0, "\x1f\x8b", "a gzip archive"},
    {8, "AVI ", "a video (AVI)"},
    {0, "\x1a\x45\xdf\xa3", "a video (Matroska or WebM)"},
};

std::string seems_to_be(Bytes head) {
  for (const Signature& other : kOtherFormats) {
    if (has_text(head, other.at, other.text)) return std::string(other.name);
  }
  if (head.size() > 2 && head[0] == 'P' && head[1] >= '1' && head[1] <= '7' && head[2] <= ' ') {
    return "a PNM picture (PBM, PGM, PPM or PAM)";
  }
  if (is_text(head)) return "a text file";
  std::string start;
  for (std::uint8_t byte : head.first(std::min<std::size_t>(head.size(), 8))) {
    fmt::format_to(std::back_inserter(start), " {:02x}", byte);
  }
  return "of an unknown format (its first bytes are" + start + ")";
}

}  // namespace

ImageFormat identify_format(Bytes head) {
  if (head.empty()) throw InputError("empty, expected an image");
  if (has_text(head, 0, "\x89PNG\r\n\x1a\n")) return ImageFormat::kPng;
  if (has_text(head, 0, "\xff\xd8\xff")) return ImageFormat::kJpeg;
  if (has_text(head, 0, "RIFF") && has_text(head, 8, "WEBP")) return ImageFormat::kWebp;
  if (is_tiff(head)) return ImageFormat::kTiff;
  if (is_bmp(head)) return ImageFormat::kBmp;
  throw InputError(
      fmt::format("not an image that diacut reads: it seems to be {}. JPEG, PNG, BMP, WebP and "
                  "TIFF are read: convert it to one of them",
                  seems_to_be(head.first(std::min(head.size(), kFormatHead)))));
}

}  // namespace diacut
