#include <fmt/format.h>
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <opencv2/imgproc.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"
#include "diacut/errors.hpp"
#include "image/decoded.hpp"
#include "image/tiff_directory.hpp"
#include "image/tiff_part.hpp"

namespace diacut {
namespace {

/// A file in memory as libtiff reads it, with the errors it meets.
class TiffReader {
 public:
  TiffReader(Bytes file, std::int64_t max_allocation) : file_(file) {
    const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(
        TIFFOpenOptionsAlloc(), &TIFFOpenOptionsFree);
    TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), max_allocation);
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), &TiffReader::on_error, this);
    TIFFOpenOptionsSetWarningHandlerExtR(options.get(), &TiffReader::on_warning, this);
    // "m": libtiff maps no file, because the bytes are in memory already.
    tiff_ = TIFFClientOpenExt("TIFF", "rm", this, &TiffReader::read, &TiffReader::write,
                              &TiffReader::seek, &TiffReader::close, &TiffReader::size, nullptr,
                              nullptr, options.get());
    // Where a directory is cut off, libtiff may make do with what it has.
    if (tiff_ == nullptr || has_read_past_end_) {
      if (tiff_ != nullptr) TIFFClose(tiff_);
      refuse();
    }
  }
  ~TiffReader() { TIFFClose(tiff_); }
  TiffReader(const TiffReader&) = delete;
  TiffReader& operator=(const TiffReader&) = delete;

  TIFF* tiff() const { return tiff_; }

  /// From now on samples are read so many bytes behind where the directory says they are.
  void shift(std::uint64_t bytes) { shift_ = bytes; }

  /// A tag's value, its default, or 0.
  template <typename Value>
  Value tag(std::uint32_t name) const {
    Value value = 0;
    TIFFGetFieldDefaulted(tiff_, name, &value);
    return value;
  }

  [[noreturn]] void refuse() const {
    refuse_damaged("TIFF", message_.empty() ? "its data end early" : message_);
  }
  void refuse_if_errors() const {
    if (!message_.empty()) refuse();
  }

 private:
  void keep_message(const char* module, const char* format, std::va_list arguments) {
    if (!message_.empty()) return;
    char text[300];
    std::vsnprintf(text, sizeof(text), format, arguments);
    message_ = module == nullptr ? text : fmt::format("{}: {}", module, text);
  }
  static int on_error(TIFF*, void* self, const char* module, const char* format,
                      std::va_list arguments) {
    static_cast<TiffReader*>(self)->keep_message(module, format, arguments);
    return 1;  // Makes libtiff not print the message.
  }
  static int on_warning(TIFF* tiff, void* self, const char* module, const char* format,
                        std::va_list arguments) {
    // Most warnings are about unknown tags. Those of the JPEG decoder are about damaged data, and
    // about pictures in strips that are smaller than the strip: of tiles only a part may be needed.
    const std::string_view from = module == nullptr ? "" : module;
    const bool too_small = from == "JPEGPreDecode" && tiff != nullptr && TIFFIsTiled(tiff) == 0 &&
                           std::string_view(format).starts_with("Improper");
    if (from == "JPEGLib" || too_small) {
      static_cast<TiffReader*>(self)->keep_message(module, format, arguments);
    }
    return 1;
  }

  static tmsize_t read(thandle_t handle, void* data, tmsize_t size) {
    auto* self = static_cast<TiffReader*>(handle);
    const std::uint64_t from = self->at_ + self->shift_;
    const std::uint64_t left = self->file_.size() - std::min(from, self->size_bytes());
    const auto count = static_cast<std::size_t>(std::min(left, static_cast<std::uint64_t>(size)));
    if (count > 0) std::memcpy(data, self->file_.data() + from, count);
    self->at_ += count;
    self->has_read_past_end_ = self->has_read_past_end_ || count < static_cast<std::size_t>(size);
    return static_cast<tmsize_t>(count);
  }
  static tmsize_t write(thandle_t, void*, tmsize_t) { return -1; }
  static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    auto* self = static_cast<TiffReader*>(handle);
    const std::uint64_t base = whence == SEEK_CUR   ? self->at_
                               : whence == SEEK_END ? self->size_bytes()
                                                    : 0;
    return self->at_ = base + offset;
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t handle) { return static_cast<TiffReader*>(handle)->size_bytes(); }
  std::uint64_t size_bytes() const { return file_.size(); }

  Bytes file_;
  std::uint64_t at_ = 0;
  std::uint64_t shift_ = 0;
  bool has_read_past_end_ = false;
  TIFF* tiff_ = nullptr;
  std::string message_;
};

/// What the first directory says of the picture.
struct Layout {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint16_t bits = 0;           ///< Bits of a sample.
  std::uint16_t samples = 0;        ///< Samples of a pixel.
  std::uint16_t sample_format = 0;  ///< SAMPLEFORMAT_...
  std::uint16_t photometric = 0;    ///< PHOTOMETRIC_...
  bool is_separate = false;         ///< Each sample has a plane of its own.

  explicit Layout(const TiffReader& reader)
      : width(reader.tag<std::uint32_t>(TIFFTAG_IMAGEWIDTH)),
        height(reader.tag<std::uint32_t>(TIFFTAG_IMAGELENGTH)),
        bits(reader.tag<std::uint16_t>(TIFFTAG_BITSPERSAMPLE)),
        samples(reader.tag<std::uint16_t>(TIFFTAG_SAMPLESPERPIXEL)),
        sample_format(reader.tag<std::uint16_t>(TIFFTAG_SAMPLEFORMAT)),
        photometric(reader.tag<std::uint16_t>(TIFFTAG_PHOTOMETRIC)),
        is_separate(reader.tag<std::uint16_t>(TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE) {}

  bool has_size_of(const cv::Mat& samples) const {
    return samples.rows == static_cast<int>(height) && samples.cols == static_cast<int>(width);
  }
  /// Whether it may be a level of a pyramid above another one: the same at half the size or less.
  bool is_level_of(const Layout& whole) const {
    const double across = static_cast<double>(whole.width) / width;
    const double down = static_cast<double>(whole.height) / height;
    const double rounding = 2 * std::max(across / width, down / height);
    return bits == whole.bits && samples == whole.samples && photometric == whole.photometric &&
           std::min(across, down) > 1.5 && std::abs(across - down) <= rounding;
  }
  bool is_grey() const {
    return photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
  }
};

/// A kind of sample that is kept as it is stored. OpenCV has no unsigned samples of 32 bits: they
/// are read as signed samples.
struct SampleKind {
  std::uint16_t format;
  std::uint16_t bits;
  int depth;
  TypeRange range = range_of(depth);
};

/// `as_stored`: indices of a palette and fewer than 8 bits too.
std::optional<SampleKind> find_sample_kind(const Layout& layout, bool as_stored) {
  static const SampleKind kinds[] = {
      {SAMPLEFORMAT_UINT, 8, CV_8U},
      {SAMPLEFORMAT_UINT, 32, CV_32S, std::pair{0.0, 4294967295.0}},
      {SAMPLEFORMAT_INT, 8, CV_8S},
      {SAMPLEFORMAT_INT, 16, CV_16S},
      {SAMPLEFORMAT_INT, 32, CV_32S},
      {SAMPLEFORMAT_IEEEFP, 16, CV_16F},
      {SAMPLEFORMAT_IEEEFP, 32, CV_32F},
      {SAMPLEFORMAT_IEEEFP, 64, CV_64F},
  };
  const bool indices = as_stored && (layout.photometric == PHOTOMETRIC_PALETTE ||
                                     layout.photometric == PHOTOMETRIC_MASK);
  if (!layout.is_grey() && layout.photometric != PHOTOMETRIC_RGB && !indices) return std::nullopt;
  const std::uint16_t format =
      layout.sample_format == SAMPLEFORMAT_VOID ? SAMPLEFORMAT_UINT : layout.sample_format;
  for (const SampleKind& kind : kinds) {
    if (kind.format == format && kind.bits == layout.bits) return kind;
  }
  // 1 to 7 and 9 to 15 bits lie packed in the file, and in 16 bits here.
  const int least = as_stored || layout.samples > 1 ? 1 : 8;
  if (format != SAMPLEFORMAT_UINT || layout.bits < least || layout.bits > 16) return std::nullopt;
  return SampleKind{format, layout.bits, CV_16U,
                    std::pair{0.0, static_cast<double>((1 << layout.bits) - 1)}};
}

/// Unpacks `count` samples of `bits` bits from a row, from sample `first` on, which lie there
/// without regard to the borders of bytes.
void unpack(const std::uint8_t* row, std::size_t first, std::size_t count, unsigned bits,
            std::uint16_t* to) {
  for (std::size_t k = 0; k < count; ++k) {
    std::uint32_t value = 0;
    for (std::size_t bit = (first + k) * bits; bit < (first + k + 1) * bits; ++bit) {
      value = value << 1 | (row[bit / 8] >> (7 - bit % 8) & 1U);
    }
    to[k] = static_cast<std::uint16_t>(value);
  }
}

/// Whether a file leaves out a strip or tile of zeros, as GDAL writes sparse files.
bool is_left_out(TIFF* tiff, std::uint32_t block) {
  return TIFFGetStrileOffset(tiff, block) == 0 && TIFFGetStrileByteCount(tiff, block) == 0;
}

/// Strips or tiles of `width` x `height` pixels each; at the right and lower edge they are cut off.
struct Blocks {
  bool are_tiles = false;
  std::size_t width = 0;
  std::size_t height = 0;
  tmsize_t bytes = 0;

  Blocks(const TiffReader& reader, const Layout& layout)
      : are_tiles(TIFFIsTiled(reader.tiff()) != 0),
        width(are_tiles ? reader.tag<std::uint32_t>(TIFFTAG_TILEWIDTH) : layout.width),
        height(are_tiles
                   ? reader.tag<std::uint32_t>(TIFFTAG_TILELENGTH)
                   : std::min(reader.tag<std::uint32_t>(TIFFTAG_ROWSPERSTRIP), layout.height)),
        bytes(are_tiles ? TIFFTileSize(reader.tiff()) : TIFFStripSize(reader.tiff())) {}

  /// Returns false if the file holds fewer than `needed` bytes of it.
  bool read(TIFF* tiff, std::size_t x, std::size_t y, std::size_t plane, std::uint8_t* buffer,
            std::size_t needed) const {
    const auto column = static_cast<std::uint32_t>(x);
    const auto row = static_cast<std::uint32_t>(y);
    const auto sample = static_cast<std::uint16_t>(plane);
    const std::uint32_t block = are_tiles ? TIFFComputeTile(tiff, column, row, 0, sample)
                                          : TIFFComputeStrip(tiff, row, sample);
    if (is_left_out(tiff, block)) {
      std::fill_n(buffer, bytes, std::uint8_t{0});
      return true;
    }
    const tmsize_t count = are_tiles ? TIFFReadEncodedTile(tiff, block, buffer, bytes)
                                     : TIFFReadEncodedStrip(tiff, block, buffer, bytes);
    return count >= 0 && static_cast<std::size_t>(count) >= needed;
  }
};

/// Refuses a compression that libtiff has no decoder for.
void check_compression(const TiffReader& reader) {
  const auto compression = reader.tag<std::uint16_t>(TIFFTAG_COMPRESSION);
  if (TIFFIsCODECConfigured(compression) != 0) return;
  static const std::map<int, const char*> names = {
      {33003, "JPEG 2000"}, {33005, "JPEG 2000"}, {34712, "JPEG 2000"}, {34933, "PNG"},
      {34934, "JPEG XR"},   {50002, "JPEG XL"},   {52546, "JPEG XL"}};
  const auto known = names.find(compression);
  throw InputError(fmt::format(
      "the TIFF file's compression, {} ({}), is not supported: save it with LZW, Deflate or none",
      known == names.end() ? "unknown" : known->second, compression));
}

/// The most bytes that a compression makes of one: of LZW the longest string of a code, of PackBits
/// a run, of Deflate what its authors say, of JPEG more than a block of 8 x 8 samples from the one
/// bit that it takes. 0: not known.
std::uint64_t most_fold(std::uint16_t compression) {
  static const std::map<int, std::uint64_t> folds = {
      {COMPRESSION_NONE, 1},    {COMPRESSION_PACKBITS, 64},        {COMPRESSION_LZW, 4096},
      {COMPRESSION_JPEG, 2048}, {COMPRESSION_ADOBE_DEFLATE, 1032}, {COMPRESSION_DEFLATE, 1032}};
  const auto found = folds.find(compression);
  return found == folds.end() ? 0 : found->second;
}

bool have_same_bits(const std::uint8_t* a, const std::uint8_t* b, std::size_t bits) {
  const std::size_t bytes = bits / 8;
  const unsigned rest = bits % 8;
  return std::equal(a, a + bytes, b) && (rest == 0 || (a[bytes] ^ b[bytes]) >> (8 - rest) == 0);
}

/// Refuses strips of the compressions of fax machines that hold fewer rows than they should, which
/// libtiff reads without a word: it leaves the memory of the others as it was.
void check_fax_rows(const TiffReader& reader, const Layout& layout) {
  const auto compression = reader.tag<std::uint16_t>(TIFFTAG_COMPRESSION);
  constexpr std::array kFax = {COMPRESSION_CCITTRLE, COMPRESSION_CCITTRLEW, COMPRESSION_CCITTFAX3,
                               COMPRESSION_CCITTFAX4};
  if (std::find(kFax.begin(), kFax.end(), compression) == kFax.end()) return;
  const Blocks blocks(reader, layout);
  if (blocks.are_tiles || blocks.bytes <= 0 || blocks.height == 0) return;
  // What fills a row up to whole bytes is not written.
  const std::size_t bits = std::size_t{layout.width} * layout.samples * layout.bits;
  std::vector<std::uint8_t> read[2];
  for (std::uint32_t y = 0; y < layout.height; y += static_cast<std::uint32_t>(blocks.height)) {
    for (std::size_t k = 0; k < 2; ++k) {
      read[k].assign(static_cast<std::size_t>(blocks.bytes), k == 0 ? 0x00 : 0xff);
      if (!blocks.read(reader.tiff(), 0, y, 0, read[k].data(), 0)) reader.refuse();
    }
    const std::size_t row_bytes = read[0].size() / blocks.height;
    const std::size_t rows = std::min<std::size_t>(blocks.height, layout.height - y);
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t at = row * row_bytes;
      if (!have_same_bits(&read[0][at], &read[1][at], bits)) reader.refuse();
    }
  }
}

/// How many strips or tiles a directory names.
std::uint64_t blocks_of(const TiffDirectories& tags, std::uint64_t directory) {
  for (const TiffDirectories::Entry& entry : tags.entries(directory)) {
    if (entry.tag == TIFFTAG_STRIPOFFSETS || entry.tag == TIFFTAG_TILEOFFSETS) return entry.count;
  }
  return 0;
}

/// Refuses a page that Deflate packs if one of its strips or tiles is damaged.
void check_sums(const TiffReader& reader, const Layout& layout, std::uint32_t count, Bytes file) {
  const auto compression = reader.tag<std::uint16_t>(TIFFTAG_COMPRESSION);
  const bool is_deflate =
      compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE;
  if (!is_deflate || reader.tag<std::uint16_t>(TIFFTAG_FILLORDER) != FILLORDER_MSB2LSB) return;
  const auto most = static_cast<std::size_t>(std::max<tmsize_t>(Blocks(reader, layout).bytes, 0));
  std::vector<Bytes> blocks;
  for (std::uint32_t block = 0; block < count; ++block) {
    const std::uint64_t at = TIFFGetStrileOffset(reader.tiff(), block);
    const std::uint64_t bytes = TIFFGetStrileByteCount(reader.tiff(), block);
    if (at < file.size() && bytes > 0) {
      blocks.push_back(file.subspan(at, std::min<std::uint64_t>(bytes, file.size() - at)));
    }
  }
  parallel_for(static_cast<int>(blocks.size()),
               [&](int block) { check_deflated(blocks[static_cast<std::size_t>(block)], most); });
}

/// Refuses a page of whose strips or tiles some are not in the file, in whose place libtiff reads
/// the file's beginning, and one whose strips or tiles cannot hold so many pixels. Returns how many
/// are left out. `directory`: where the page's stands.
std::uint32_t check_blocks(const TiffReader& reader, const Layout& layout, std::uint64_t directory,
                           Bytes file) {
  TIFF* const tiff = reader.tiff();
  const bool tiled = TIFFIsTiled(tiff) != 0;
  const std::uint32_t count = tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
  const std::uint64_t named = blocks_of(TiffDirectories(file), directory);
  std::uint32_t missing = 0;
  std::uint32_t left_out = 0;
  std::uint64_t stored = 0;
  for (std::uint32_t block = 0; block < count; ++block) {
    if (block < named && is_left_out(tiff, block)) {
      ++left_out;
    } else if (TIFFGetStrileOffset(tiff, block) == 0) {
      ++missing;
    }
    stored += std::min<std::uint64_t>(TIFFGetStrileByteCount(tiff, block), file.size());
  }
  if (missing > 0) {
    refuse_damaged(
        "TIFF", fmt::format("{} of {} {} are missing", missing, count, tiled ? "tiles" : "strips"));
  }
  const std::uint64_t needed =
      (tiled ? count * TIFFTileSize64(tiff) : TIFFVStripSize64(tiff, layout.height)) /
      std::max(count, 1U) * (count - left_out);
  const std::uint64_t fold = most_fold(reader.tag<std::uint16_t>(TIFFTAG_COMPRESSION));
  // Some programs write wrong lengths of uncompressed strips, which libtiff does not need.
  const std::uint64_t there = std::max<std::uint64_t>(stored, file.size());
  if (fold != 0 && needed / fold > there) {
    refuse_damaged("TIFF", fmt::format("{} bytes of data for {} x {} pixels", there, layout.width,
                                       layout.height));
  }
  check_fax_rows(reader, layout);
  check_sums(reader, layout, count, file);
  return left_out;
}

/// Reads samples of a page as they are stored: image.channels() of each pixel, from `first` on.
void read_stored(const TiffReader& reader, const Layout& layout, std::size_t first,
                 cv::Mat& image) {
  const Blocks blocks(reader, layout);
  const auto channels = static_cast<std::size_t>(image.channels());
  const std::size_t sample = image.elemSize1();
  const std::size_t planes = layout.is_separate ? channels : 1;
  // Samples side by side in the file, and those of them that are copied.
  const std::size_t stored = layout.is_separate ? 1 : layout.samples;
  const std::size_t copied = channels / planes;
  const std::size_t row_bytes = (blocks.width * stored * layout.bits + 7) / 8;
  if (blocks.width == 0 || blocks.height == 0 || blocks.bytes <= 0 ||
      static_cast<std::size_t>(blocks.bytes) / row_bytes != blocks.height) {
    throw InputError(
        "the TIFF file's tags contradict each other in the size of its strips or "
        "tiles: save it again");
  }
  const auto copy_row = [&](const std::uint8_t* from, std::size_t columns, std::uint8_t* to) {
    for (std::size_t column = 0; column < columns; ++column, to += channels * sample) {
      const std::size_t at = column * stored + (layout.is_separate ? 0 : first);
      if (layout.bits % 8 != 0) {
        unpack(from, at, copied, layout.bits, reinterpret_cast<std::uint16_t*>(to));
      } else {
        std::memcpy(to, from + at * sample, copied * sample);
      }
    }
  };
  // Not a vector, because filling it would take time that a forged size should not cost.
  const std::unique_ptr<std::uint8_t[]> block(
      new std::uint8_t[static_cast<std::size_t>(blocks.bytes)]);
  for (std::size_t plane = 0; plane < planes; ++plane) {
    for (std::size_t y = 0; y < layout.height; y += blocks.height) {
      const std::size_t rows = std::min<std::size_t>(blocks.height, layout.height - y);
      for (std::size_t x = 0; x < layout.width; x += blocks.width) {
        const std::size_t of_file = layout.is_separate ? first + plane : 0;
        if (!blocks.read(reader.tiff(), x, y, of_file, block.get(), rows * row_bytes)) {
          reader.refuse();
        }
        const std::size_t columns = std::min<std::size_t>(blocks.width, layout.width - x);
        for (std::size_t row = 0; row < rows; ++row) {
          copy_row(block.get() + row * row_bytes, columns,
                   image.ptr(static_cast<int>(y + row), static_cast<int>(x)) + plane * sample);
        }
      }
    }
  }
}

/// Palettes, fewer than 8 bits, CMYK, YCbCr, Lab: as 8 bits of RGB through libtiff's own
/// conversion.
cv::Mat read_converted(const TiffReader& reader, const Layout& layout) {
  char reason[1024] = "";
  if (TIFFRGBAImageOK(reader.tiff(), reason) == 0) {
    throw InputError(fmt::format(
        "a kind of TIFF that is not supported ({}; {} bits a sample, sample format {}, photometric "
        "interpretation {}): save it as grey or RGB with 8 or 16 bits or float",
        reason, layout.bits, layout.sample_format, layout.photometric));
  }
  static_assert(std::endian::native == std::endian::little);
  cv::Mat rgba(static_cast<int>(layout.height), static_cast<int>(layout.width), CV_8UC4);
  // libtiff gives the rows as they are stored if it is asked for the file's own orientation. It
  // stops at the first error.
  if (TIFFReadRGBAImageOriented(reader.tiff(), layout.width, layout.height,
                                rgba.ptr<std::uint32_t>(),
                                reader.tag<std::uint16_t>(TIFFTAG_ORIENTATION), 1) == 0) {
    reader.refuse();
  }
  cv::Mat image;
  if (layout.is_grey()) {
    cv::extractChannel(rgba, image, 0);
  } else {
    cv::cvtColor(rgba, image, cv::COLOR_RGBA2RGB);
  }
  return image;
}

/// Reads `channels` samples of each pixel, from `first` on.
void read_samples(const TiffReader& reader, const Layout& layout, const SampleKind& kind,
                  std::size_t first, int channels, Decoded& decoded) {
  decoded.samples.create(static_cast<int>(layout.height), static_cast<int>(layout.width),
                         CV_MAKETYPE(kind.depth, channels));
  read_stored(reader, layout, first, decoded.samples);
  decoded.type_range = kind.range;
  decoded.zero_is_white = layout.photometric == PHOTOMETRIC_MINISWHITE;
  if (kind.depth == CV_16F) {
    decoded.samples.convertTo(decoded.samples, CV_32F);
  } else if (kind.depth == CV_32S && kind.format == SAMPLEFORMAT_UINT) {
    decoded.samples.convertTo(decoded.samples, CV_64F);
    cv::Mat values = decoded.samples.reshape(1);
    cv::add(values, 4294967296.0, values, values < 0);
  }
}

/// Whether a fourth sample of which the file says nothing is alpha: more is opaque than in between.
bool looks_like_alpha(const Decoded& decoded) {
  cv::Mat alpha;
  cv::extractChannel(decoded.samples, alpha, 3);
  const int opaque = cv::countNonZero(alpha == full_alpha(decoded));
  return opaque > 0 && opaque >= cv::countNonZero(alpha) - opaque;
}

void decode_as_stored(const TiffReader& reader, const Layout& layout, const SampleKind& kind,
                      Decoded& decoded) {
  const int colours = layout.photometric == PHOTOMETRIC_RGB ? 3 : 1;
  std::uint16_t extra_count = 0;
  std::uint16_t* extra = nullptr;
  TIFFGetField(reader.tiff(), TIFFTAG_EXTRASAMPLES, &extra_count, &extra);
  if (layout.samples < colours) {
    throw InputError(fmt::format("the TIFF file has {} samples a pixel, expected at least {}",
                                 layout.samples, colours));
  }
  const std::uint16_t* const begin = extra;
  const auto* const end = begin + std::min<int>(extra_count, layout.samples - colours);
  const auto* const found = std::find_if(begin, end, [](std::uint16_t sample) {
    return sample == EXTRASAMPLE_ASSOCALPHA || sample == EXTRASAMPLE_UNASSALPHA;
  });
  // Many programs, OpenCV among them, write alpha without saying so.
  const bool is_unsaid = extra_count == 0 && layout.samples == 4 && colours == 3;
  decoded.has_alpha = found != end || is_unsaid;
  decoded.premultiplied = found != end && *found == EXTRASAMPLE_ASSOCALPHA;
  const bool is_behind = found == begin || is_unsaid;  // The colours.
  read_samples(reader, layout, kind, 0, colours + (decoded.has_alpha && is_behind ? 1 : 0),
               decoded);
  cv::Mat& samples = decoded.samples;
  if (is_unsaid && !looks_like_alpha(decoded)) {
    decoded.has_alpha = false;
    cv::Mat rgb(samples.size(), CV_MAKETYPE(samples.depth(), colours));
    cv::mixChannels(samples, rgb, {0, 0, 1, 1, 2, 2});
    samples = rgb;
  } else if (decoded.has_alpha && !is_behind) {
    Decoded alpha;
    read_samples(reader, layout, kind, static_cast<std::size_t>(colours + (found - begin)), 1,
                 alpha);
    cv::merge(std::vector<cv::Mat>{samples, alpha.samples}, samples);
  }
  decoded.left_out = layout.samples - samples.channels();
  if (decoded.left_out == 0) return;
  decoded.notes.push_back(
      fmt::format("Of {} samples a pixel the first {}{} were read: the file does not say that the "
                  "others are colour or alpha (--channel N reads one).",
                  layout.samples, is_behind ? samples.channels() : colours,
                  is_behind || !decoded.has_alpha ? "" : " and alpha"));
}

/// Reads one channel as grey.
void decode_channel(const TiffReader& reader, const Layout& layout,
                    const std::optional<SampleKind>& kind, int number, Decoded& decoded) {
  if (number > layout.samples) {
    throw InputError(
        fmt::format("it has no channel {}: its channels are 1 to {}", number, layout.samples));
  }
  if (!kind) {
    throw InputError(
        fmt::format("a kind of TIFF whose channels cannot be read one by one ({} bits a sample, "
                    "photometric interpretation {}): leave out --channel",
                    layout.bits, layout.photometric));
  }
  read_samples(reader, layout, *kind, static_cast<std::size_t>(number - 1), 1, decoded);
}

void read_profile(const TiffReader& reader, Decoded& decoded) {
  std::uint32_t size = 0;
  const std::uint8_t* bytes = nullptr;
  if (TIFFGetField(reader.tiff(), TIFFTAG_ICCPROFILE, &size, &bytes) != 0) {
    decoded.profile.assign(bytes, bytes + size);
  }
}

void go_to(const TiffReader& reader, int directory) {
  if (TIFFCurrentDirectory(reader.tiff()) == static_cast<tdir_t>(directory)) return;
  if (TIFFSetDirectory(reader.tiff(), static_cast<tdir_t>(directory)) == 0) reader.refuse();
  reader.refuse_if_errors();
}

std::string description_of(const TiffReader& reader) {
  const char* text = nullptr;
  TIFFGetField(reader.tiff(), TIFFTAG_IMAGEDESCRIPTION, &text);
  return text == nullptr ? "" : text;
}

/// A picture of a file.
struct Picture {
  int directory = 0;
  std::uint64_t place = 0;  ///< Of the directory in the file.
  int mask = -1;            ///< Its directory; -1: it has none.
  std::uint64_t shift = 0;  ///< Bytes from the samples that the directory names to its own.
};

/// The pictures of a file, without reduced ones. Goes to the directory of the first.
std::vector<Picture> pictures_of(const TiffReader& reader, Bytes file) {
  std::vector<Picture> pictures;
  int directory = 0;
  const Layout first(reader);
  const bool is_tiled = TIFFIsTiled(reader.tiff()) != 0;
  const std::string description = description_of(reader);
  const bool is_slide = description.starts_with("Aperio");  // Of which all else is beside it.
  const bool is_told = is_stack(description);
  do {
    const auto kind = reader.tag<std::uint32_t>(TIFFTAG_SUBFILETYPE);
    const bool is_level = is_tiled && !is_told && directory > 0 &&
                          TIFFIsTiled(reader.tiff()) != 0 && Layout(reader).is_level_of(first);
    const bool is_reduced =
        (kind & FILETYPE_REDUCEDIMAGE) != 0 || is_level || (is_slide && directory > 0);
    if ((kind & FILETYPE_MASK) != 0 && !pictures.empty()) {
      if (!is_reduced && pictures.back().mask < 0) pictures.back().mask = directory;
    } else if (!is_reduced) {
      pictures.push_back({directory, TIFFCurrentDirOffset(reader.tiff())});
    }
    ++directory;
  } while (TIFFReadDirectory(reader.tiff()) != 0);
  if (pictures.empty()) pictures.push_back({0, TiffDirectories(file).first()});
  go_to(reader, pictures.front().directory);
  // ImageJ writes large stacks with one directory, and their planes one behind the other.
  const int planes = imagej_planes(description);
  const double bytes = std::ceil(first.bits / 8.0 * first.samples * first.width) * first.height;
  // Not by libtiff, which reports a large strip in parts.
  const TiffDirectories tags(file);
  const bool are_there = directory == 1 && !is_tiled && blocks_of(tags, tags.first()) == 1 &&
                         reader.tag<std::uint16_t>(TIFFTAG_COMPRESSION) == COMPRESSION_NONE &&
                         bytes > 0 && bytes * planes <= static_cast<double>(file.size());
  for (int k = 1; are_there && k < planes; ++k) {
    pictures.push_back(pictures.front());
    pictures.back().shift = static_cast<std::uint64_t>(bytes) * static_cast<unsigned>(k);
  }
  return pictures;
}

/// Leaves out the pixels one of whose stored numbers is GDAL's value for no data. `are_stored`:
/// whether the samples are these numbers, and not the colours of a palette.
void leave_out_no_data(const TiffReader& reader, const Layout& layout, const std::string& text,
                       bool are_stored, Decoded& decoded) {
  const std::optional<SampleKind> kind = find_sample_kind(layout, true);
  if (!kind) return;
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return;
  Decoded stored;
  if (!are_stored) read_samples(reader, layout, *kind, 0, 1, stored);
  const Decoded& numbers = are_stored ? decoded : stored;
  if (numbers.samples.depth() == CV_32F) value = static_cast<float>(value);
  cv::Mat only;
  for (int channel = 0; channel < numbers.colours(); ++channel) {
    cv::extractChannel(numbers.samples, only, channel);
    leave_out(only != value, decoded);
  }
  decoded.hidden = "masked, or hold the value of no data";
}

/// Leaves out what the mask in this directory does.
void apply_mask(const TiffReader& reader, int directory, Bytes file, Decoded& decoded) {
  go_to(reader, directory);
  const Layout layout(reader);
  const std::optional<SampleKind> kind = find_sample_kind(layout, true);
  Decoded mask;
  if (!kind || !layout.has_size_of(decoded.samples)) {
    refuse_damaged("TIFF", "its mask has another size or kind than the picture");
  }
  check_compression(reader);
  check_blocks(reader, layout, TIFFCurrentDirOffset(reader.tiff()), file);
  read_samples(reader, layout, *kind, 0, 1, mask);
  leave_out(mask.samples, decoded);
  decoded.hidden = "masked";
}

/// Whether the samples of a directory are colours, and not channels. A second sample beside grey is
/// a channel unless it is said to be alpha.
bool are_colours(const TiffReader& reader, const Layout& layout) {
  const int colours = layout.photometric == PHOTOMETRIC_RGB ? 3 : 1;
  std::uint16_t count = 0;
  std::uint16_t* extra = nullptr;
  TIFFGetField(reader.tiff(), TIFFTAG_EXTRASAMPLES, &count, &extra);
  const bool has_alpha = colours == 3 || (count > 0 && extra[0] != EXTRASAMPLE_UNSPECIFIED);
  return layout.samples <= colours + (has_alpha ? 1 : 0) || layout.photometric > PHOTOMETRIC_RGB;
}

Resolution resolution_of(const TiffReader& reader) {
  const auto unit = reader.tag<std::uint16_t>(TIFFTAG_RESOLUTIONUNIT);
  return {reader.tag<float>(TIFFTAG_XRESOLUTION), reader.tag<float>(TIFFTAG_YRESOLUTION),
          unit == RESUNIT_INCH         ? 25400.0
          : unit == RESUNIT_CENTIMETER ? 1e4
                                       : 0.0};
}

}  // namespace

Decoded decode_tiff(Bytes file, const SizeLimit& limit, const DecodeTask& task) {
  const ImagePart& part = task.part;
  const bool as_stored = task.purpose == DecodeTask::kNumbers;
  // libtiff needs no memory beyond that of the largest picture of doubles.
  TiffReader reader(file, limit.max_pixels * 32 + (1 << 20));
  const std::vector<Picture> pictures = pictures_of(reader, file);
  const std::string description = description_of(reader);
  const Layout first(reader);
  Resolution resolution = resolution_of(reader);
  Decoded decoded;
  // In place of directories it has places among the pictures.
  const TiffPart found = find_tiff_part(description, static_cast<int>(pictures.size()),
                                        first.samples, are_colours(reader, first), part, task.name);
  const bool only_facts = task.purpose == DecodeTask::kFacts;
  decoded.pages = found.pages();
  decoded.notes = found.notes;
  decoded.facts = found.facts;
  const int number = only_facts ? std::min(part.page, found.pages()) : part.page;
  const auto page = static_cast<std::size_t>(choose_page(number, found.pages()));
  const Picture& picture = pictures[static_cast<std::size_t>(found.directories[page - 1])];
  go_to(reader, picture.directory);
  // ImageJ writes it for the first page alone.
  if (!description.starts_with("ImageJ=")) resolution = resolution_of(reader);
  add_resolution(description, resolution, decoded.facts);
  if (only_facts) return decoded;
  reader.shift(picture.shift);
  const Layout layout(reader);
  check_size(layout.width, layout.height, limit);
  check_compression(reader);
  if (const std::uint32_t left_out = check_blocks(reader, layout, picture.place, file);
      left_out > 0) {
    decoded.notes.push_back(fmt::format(
        "{} of its strips or tiles are left out of the file: their pixels are 0.", left_out));
  }
  const std::optional<SampleKind> kind = find_sample_kind(layout, as_stored);
  if (found.sample > 0) {
    decode_channel(reader, layout, kind, found.sample, decoded);
  } else if (kind) {
    decode_as_stored(reader, layout, *kind, decoded);
    decoded.indexed = layout.photometric == PHOTOMETRIC_PALETTE;
    read_profile(reader, decoded);
  } else if (as_stored) {
    throw InputError(fmt::format(
        "it is a TIFF of inks, of another colour space, or of rare samples ({} bits, photometric "
        "interpretation {}): expected grey, or indices of a palette",
        layout.bits, layout.photometric));
  } else {
    decoded.samples = read_converted(reader, layout);
    if (layout.bits > 8) decoded.notes.emplace_back("Its colours were reduced to 8 bits.");
    read_profile(reader, decoded);
  }
  int orientation = reader.tag<std::uint16_t>(TIFFTAG_ORIENTATION);
  // Not by libtiff, which knows these tags only after GDAL has declared them.
  const TiffDirectories tags(file);
  for (const TiffDirectories::Entry& entry : tags.entries(picture.place)) {
    if (entry.tag == kNoDataTag) {
      leave_out_no_data(reader, layout, tags.text(entry), kind.has_value(), decoded);
    }
    if (std::find(kMapTags.begin(), kMapTags.end(), entry.tag) != kMapTags.end()) orientation = 1;
  }
  reader.refuse_if_errors();
  if (orientation >= 1 && orientation <= 8) decoded.orientation = orientation;
  if (picture.mask >= 0) apply_mask(reader, picture.mask, file, decoded);
  return decoded;
}

}  // namespace diacut
