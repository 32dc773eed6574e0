#pragma once

#include <fmt/format.h>
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "image/decoded.hpp"

namespace diacut {

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
    return 1;  // Tells libtiff not to print the message.
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
  bool is_grey() const {
    return photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
  }
};

}  // namespace diacut
