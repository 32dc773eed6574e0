#include <png.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string_view>

#include "image/decoded.hpp"

namespace diacut {
namespace {

/// libpng leaves a function that fails by longjmp: the members that do call it hold nothing that
/// would need a destructor, and return false.
class PngReader {
 public:
  explicit PngReader(Bytes file) : file_(file) {
    png_ = png_create_read_struct(
        PNG_LIBPNG_VER_STRING, this,
        [](png_structp png, png_const_charp message) {
          auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
          std::snprintf(self->message_, sizeof(self->message_), "%s", message);
          png_longjmp(png, 1);
        },
        [](png_structp png, png_const_charp message) {
          auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
          const std::string_view text(message);
          self->dropped_profile_ = self->dropped_profile_ || text.starts_with("iCCP");
        });
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      png_destroy_read_struct(&png_, nullptr, nullptr);
      throw std::bad_alloc();
    }
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  /// Reads everything before the picture's data. Allocates no memory for the picture.
  bool read_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    // libpng allocates what a text or a profile claims to hold, before it reads it.
    constexpr std::size_t kUsualChunk = 8'000'000;
    png_set_chunk_malloc_max(png_, std::max(kUsualChunk, file_.size()));
    png_set_read_fn(png_, this, [](png_structp png, png_bytep data, std::size_t size) {
      auto* self = static_cast<PngReader*>(png_get_io_ptr(png));
      if (size > self->file_.size() - self->at_) png_error(png, "the data end early");
      std::copy_n(self->file_.data() + self->at_, size, data);
      self->at_ += size;
    });
    png_read_info(png_, info_);
    return true;
  }

  /// Asks for 8 or 16 bits a sample in this machine's byte order, palettes as colours, and
  /// transparent colours as alpha; info() then describes these. With `as_stored` palettes stay, and
  /// samples of fewer bits keep their numbers.
  bool choose_layout(bool as_stored) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    if (as_stored) {
      png_set_packing(png_);
    } else {
      png_set_expand(png_);
    }
    if (std::endian::native == std::endian::little) png_set_swap(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return true;
  }

  /// Leaves out what the file calls transparent in samples of which choose_layout() made no alpha.
  void leave_out_transparent(Decoded& decoded) {
    png_bytep alpha = nullptr;
    int count = 0;
    png_color_16p key = nullptr;
    if (png_get_tRNS(png_, info_, &alpha, &count, &key) == 0) return;
    if (decoded.indexed) {
      cv::Mat1b kept(1, 256, std::uint8_t{1});
      for (int k = 0; k < count; ++k) kept(k) = alpha[k];
      cv::Mat pixels;
      cv::LUT(decoded.samples, kept, pixels);
      leave_out(pixels, decoded);
    } else {
      const bool grey = decoded.samples.channels() == 1;
      const cv::Scalar colour(grey ? key->gray : key->red, key->green, key->blue);
      cv::Mat gone;
      cv::inRange(decoded.samples, colour, colour, gone);
      leave_out(~gone, decoded);
    }
  }

  /// `rows` has room for all rows, as long as png_get_rowbytes() says.
  bool read_rows(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_image(png_, rows);
    png_read_end(png_, info_);
    return true;
  }

  int orientation() {
    png_bytep block = nullptr;
    png_uint_32 size = 0;
    if (png_get_eXIf_1(png_, info_, &size, &block) == 0) return 1;
    return exif_orientation(Bytes(block, size));
  }

  /// The colour profile; empty where there is none or libpng has dropped it.
  Bytes profile() {
    png_charp name = nullptr;
    int compression = 0;
    png_bytep bytes = nullptr;
    png_uint_32 size = 0;
    if (png_get_iCCP(png_, info_, &name, &compression, &bytes, &size) == 0) return {};
    return {bytes, size};
  }
  /// Whether the file has a colour profile that libpng has dropped.
  bool has_dropped_profile() { return dropped_profile_ && profile().empty(); }

  png_structp png() const { return png_; }
  png_infop info() const { return info_; }
  const char* message() const { return message_; }

 private:
  Bytes file_;
  std::size_t at_ = 0;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  char message_[200]{};
  bool dropped_profile_ = false;
};

[[noreturn]] void refuse(const PngReader& reader) {
  // As libpng and zlib say it; the file may be whole.
  if (std::strstr(reader.message(), "nsufficient memory") != nullptr) throw std::bad_alloc();
  refuse_damaged("PNG", reader.message());
}

/// Whether a chunk of animations (APNG) comes before the picture's data.
bool is_animated(Bytes file) {
  for (std::size_t at = 8; at + 12 <= file.size() && !has_text(file, at + 4, "IDAT");) {
    if (has_text(file, at + 4, "acTL") && at + 16 <= file.size()) {
      return read_uint(file, at + 8, 4, ByteOrder::kBig) > 1;
    }
    at += 12 + std::size_t{read_uint(file, at, 4, ByteOrder::kBig)};
  }
  return false;
}

}  // namespace

Decoded decode_png(Bytes file, const SizeLimit& limit, const DecodeTask& task) {
  const bool as_stored = task.purpose == DecodeTask::kNumbers;
  PngReader reader(file);
  if (!reader.read_header()) refuse(reader);
  const int width = static_cast<int>(png_get_image_width(reader.png(), reader.info()));
  const int height = static_cast<int>(png_get_image_height(reader.png(), reader.info()));
  const bool is_colour =
      (png_get_color_type(reader.png(), reader.info()) & PNG_COLOR_MASK_COLOR) != 0;
  check_size(width, height, limit, is_colour ? 3 : 1);
  const int bits = png_get_bit_depth(reader.png(), reader.info());
  if (!reader.choose_layout(as_stored)) refuse(reader);
  const int channels = png_get_channels(reader.png(), reader.info());
  const int depth = png_get_bit_depth(reader.png(), reader.info());
  Decoded decoded;
  decoded.samples.create(height, width, CV_MAKETYPE(depth == 16 ? CV_16U : CV_8U, channels));
  decoded.has_alpha = channels % 2 == 0;
  decoded.indexed = png_get_color_type(reader.png(), reader.info()) == PNG_COLOR_TYPE_PALETTE;
  decoded.type_range = std::pair{0.0, std::ldexp(1.0, as_stored ? bits : depth) - 1};
  std::vector<png_bytep> rows(static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y) rows[static_cast<std::size_t>(y)] = decoded.samples.ptr(y);
  if (!reader.read_rows(rows.data())) refuse(reader);
  if (as_stored) reader.leave_out_transparent(decoded);
  if (is_animated(file)) note_animation(task.part.page, decoded);
  // Only now, because the block may follow the picture.
  decoded.orientation = reader.orientation();
  const Bytes profile = reader.profile();
  decoded.profile.assign(profile.begin(), profile.end());
  if (reader.has_dropped_profile()) {
    decoded.notes.emplace_back("Its colour profile is damaged: its colours were read as sRGB.");
  }
  return decoded;
}

}  // namespace diacut
